//! Firmware and board (`/sys/class/dmi/id`, `/sys/firmware`). Serial numbers and UUIDs are not read.

use super::smbios::{self, Module, Processor};
use crate::leaf::{first, leaf, leaf_or, some, Reason, Reported};
use crate::source::Source;
use serde_json::{json, Map, Value};

pub fn collect(source: &Source) -> Value {
    const DMI: [(&str, &str); 11] = [
        ("vendor", "bios_vendor"),
        ("version", "bios_version"),
        ("date", "bios_date"),
        ("release", "bios_release"),
        ("board_vendor", "board_vendor"),
        ("board_name", "board_name"),
        ("board_version", "board_version"),
        ("system_vendor", "sys_vendor"),
        ("system_name", "product_name"),
        ("system_version", "product_version"),
        ("chassis_type", "chassis_type"),
    ];
    let mut section: Map<String, Value> = DMI
        .iter()
        .map(|(key, file)| {
            let reported = source.string(&format!("/sys/class/dmi/id/{file}"));
            ((*key).to_owned(), leaf(reported))
        })
        .collect();
    let boot = has(source, "efi").map(|efi| if efi { "UEFI" } else { "not UEFI" });
    section.insert("boot".into(), leaf(boot));
    section.insert("secure_boot".into(), leaf(secure_boot(source)));
    section.insert("acpi".into(), leaf(has(source, "acpi")));
    section.insert("processors".into(), leaf(processors(source)));
    let model = first(
        [
            "/proc/device-tree/model",
            "/sys/firmware/devicetree/base/model",
        ]
        .map(|path| source.string(path)),
    );
    section.insert("device_tree_model".into(), leaf(model));
    Value::Object(section)
}

/// Whether the kernel lists a part of the firmware's interface.
fn has(source: &Source, part: &str) -> Reported<bool> {
    match source.exists("/sys/firmware") {
        false => Err(Reason::new("/sys/firmware does not exist")),
        true => Ok(source.exists(&format!("/sys/firmware/{part}"))),
    }
}

/// The variable of UEFI 2.10, clause 3.3: four bytes of attributes, then 0 or 1.
fn secure_boot(source: &Source) -> Reported<bool> {
    let path = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
    match source.bytes(path)?[..] {
        [_, _, _, _, on] => Ok(on == 1),
        _ => Err(Reason::new(format!("{path} is not five bytes long"))),
    }
}

fn table(source: &Source) -> Reported<Vec<u8>> {
    source.bytes("/sys/firmware/dmi/tables/DMI")
}

const NOT_TOLD: &str = "the firmware leaves it empty";

/// The processors' sockets as the firmware describes them (external clock and voltage of
/// martinovic2012, Tab. 17).
fn processors(source: &Source) -> Reported<Vec<Value>> {
    let table = table(source)?;
    let khz = |mhz: Option<u16>| leaf_or(mhz.map(|mhz| u64::from(mhz) * 1000), NOT_TOLD);
    let processors: Vec<Value> = smbios::structures(&table)
        .iter()
        .filter_map(Processor::read)
        .map(|processor| {
            json!({
                "socket": leaf_or(processor.socket, NOT_TOLD),
                "version": leaf_or(processor.version, NOT_TOLD),
                "external_clock_khz": khz(processor.external_clock_mhz),
                "max_khz": khz(processor.max_mhz),
                "current_khz": khz(processor.current_mhz),
                "millivolts": leaf_or(processor.millivolts, NOT_TOLD),
            })
        })
        .collect();
    some(processors, "the firmware's tables list no processor")
}

/// The memory modules as the firmware describes them.
pub fn memory_modules(source: &Source) -> Reported<Vec<Value>> {
    let table = table(source)?;
    let modules: Vec<Value> = smbios::structures(&table)
        .iter()
        .filter_map(Module::read)
        .map(|module| {
            json!({
                "slot": leaf_or(module.locator, NOT_TOLD),
                "type": leaf_or(module.kind, NOT_TOLD),
                "size_bytes": module.size_bytes,
                "speed_mt_s": leaf_or(module.speed_mt_s, NOT_TOLD),
                "configured_mt_s": leaf_or(module.configured_mt_s, NOT_TOLD),
                "millivolts": leaf_or(module.millivolts, NOT_TOLD),
                "manufacturer": leaf_or(module.manufacturer, NOT_TOLD),
                "part": leaf_or(module.part, NOT_TOLD),
            })
        })
        .collect();
    some(modules, "the firmware's tables list no memory module")
}
