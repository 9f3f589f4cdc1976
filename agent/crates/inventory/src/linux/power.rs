//! What may slow the processor down: idle states, heat, power limits, the battery.

use crate::leaf::{leaf, some, Reported};
use crate::source::Source;
use serde_json::{json, Value};

const IDLE: &str = "/sys/devices/system/cpu/cpuidle";
const STATES: &str = "/sys/devices/system/cpu/cpu0/cpuidle";

pub fn collect(source: &Source) -> Value {
    let throttled = "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";
    json!({
        "idle_driver": leaf(source.string(&format!("{IDLE}/current_driver"))),
        "idle_governor": leaf(source.string(&format!("{IDLE}/current_governor"))),
        "idle_states": leaf(idle_states(source)),
        "platform_profile": leaf(source.string("/sys/firmware/acpi/platform_profile")),
        "thermal_throttles": leaf(source.number::<u64>(throttled)),
        "temperatures": listed(source, "/sys/class/thermal", "thermal_zone", |base| {
            let milli = source.number::<i64>(&format!("{base}/temp"));
            json!({
                "zone": leaf(source.string(&format!("{base}/type"))),
                "degrees_celsius": leaf(milli.map(|milli| milli as f64 / 1000.0)),
            })
        }),
        "limits": listed(source, "/sys/class/powercap", "intel-rapl:", |base| json!({
            "domain": leaf(source.string(&format!("{base}/name"))),
            "long_term_uw": leaf(
                source.number::<u64>(&format!("{base}/constraint_0_power_limit_uw"))
            ),
            "short_term_uw": leaf(
                source.number::<u64>(&format!("{base}/constraint_1_power_limit_uw"))
            ),
        })),
        "supplies": listed(source, "/sys/class/power_supply", "", |base| json!({
            "type": leaf(source.string(&format!("{base}/type"))),
            "online": leaf(source.flag(&format!("{base}/online"))),
            "status": leaf(source.string(&format!("{base}/status"))),
            "capacity_percent": leaf(source.number::<u64>(&format!("{base}/capacity"))),
        })),
    })
}

/// One entry for each name in a directory that starts with `start`.
fn listed(source: &Source, directory: &str, start: &str, entry: impl Fn(&str) -> Value) -> Value {
    let entry = |name: &String| {
        let mut entry = entry(&format!("{directory}/{name}"));
        entry["name"] = name.as_str().into();
        entry
    };
    let list = |names: Vec<String>| -> Value {
        let wanted = names.iter().filter(|name| name.starts_with(start));
        wanted.map(entry).collect()
    };
    leaf(source.names(directory).map(list))
}

/// The idle states of the first CPU, with the time to wake from each.
fn idle_states(source: &Source) -> Reported<Vec<Value>> {
    let names = source.names(STATES)?;
    let states: Vec<Value> = names
        .iter()
        .filter(|name| name.starts_with("state"))
        .map(|name| {
            let at = |file: &str| format!("{STATES}/{name}/{file}");
            json!({
                "name": leaf(source.string(&at("name"))),
                "wake_us": leaf(source.number::<u64>(&at("latency"))),
                "off": leaf(source.flag(&at("disable"))),
            })
        })
        .collect();
    some(states, format!("{STATES} lists no state"))
}
