//! The clock that the kernel keeps time with.

use crate::leaf::leaf;
use crate::source::Source;
use pentathlon_os::kernel;
use serde_json::{json, Value};

pub fn collect(source: &Source) -> Value {
    let directory = "/sys/devices/system/clocksource/clocksource0";
    let event = "/sys/devices/system/clockevents/clockevent0/current_device";
    let available = source.text(&format!("{directory}/available_clocksource"));
    json!({
        "current": leaf(source.string(&format!("{directory}/current_clocksource"))),
        "available": leaf(available.map(|text| super::text::words(&text))),
        "event_device": leaf(source.string(event)),
        "vdso": leaf(source.ask("getauxval(AT_SYSINFO_EHDR)", || Ok(kernel::has_vdso()))),
    })
}
