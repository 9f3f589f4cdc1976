//! The drivers at work, and the versions of those and of all modules that have one (the
//! component, driver provider and driver version of martinovic2012, Tab. 18 and 20).

use crate::leaf::{leaf, unsupported, Reason, Reported};
use crate::source::Source;
use serde_json::{json, Map, Value};

pub fn collect(source: &Source) -> Value {
    json!({
        "devices": leaf(devices(source)),
        "module_versions": leaf(module_versions(source)),
    })
}

/// The version of a driver. Few drivers of the kernel's own tree have one: theirs is the kernel's.
pub fn version(source: &Source, driver: Reported<String>) -> Value {
    let driver = match driver {
        Ok(driver) => driver,
        Err(reason) => return unsupported(reason),
    };
    let module = driver.replace('-', "_");
    leaf(
        source
            .string(&format!("/sys/module/{module}/version"))
            .map_err(|_| {
                Reason::new(format!(
                    "{driver} has no version of its own beside the kernel's release"
                ))
            }),
    )
}

/// By bus and address, every device of a bus that reports real or emulated hardware.
fn devices(source: &Source) -> Reported<Map<String, Value>> {
    let mut found = Map::new();
    let mut refusal = None;
    for bus in ["pci", "virtio", "usb", "vmbus", "xen", "scsi", "nd", "mmc"] {
        let directory = format!("/sys/bus/{bus}/devices");
        match source.names(&directory) {
            Ok(names) => found.extend(
                names
                    .iter()
                    // An interface or a hub of USB is a part of a device, not one.
                    .filter(|name| bus != "usb" || !name.contains(':'))
                    .map(|name| (format!("{bus} {name}"), device(source, bus, name))),
            ),
            Err(reason) => {
                refusal.get_or_insert(reason);
            }
        }
    }
    match refusal {
        Some(reason) if found.is_empty() => Err(reason),
        _ => Ok(found),
    }
}

fn device(source: &Source, bus: &str, name: &str) -> Value {
    let base = format!("/sys/bus/{bus}/devices/{name}");
    let at = |file: &str| format!("{base}/{file}");
    let driver = match source.target(&at("driver")) {
        Ok(driver) => Ok(driver),
        Err(_) if source.exists(&base) => Err(Reason::new("no driver is bound to it")),
        Err(reason) => Err(reason),
    };
    let file =
        |pci: &str, usb: &str| leaf(source.string(&at(if bus == "usb" { usb } else { pci })));
    // The driver may be built of several modules; the first of them is what loaded it.
    let module = source.target(&at("driver/module"));
    json!({
        "component": leaf(component(source, bus, &base)),
        "vendor": file("vendor", "idVendor"),
        "device": file("device", "idProduct"),
        "driver": leaf(driver.clone()),
        "driver_version": match &module {
            Ok(module) => version(source, Ok(module.clone())),
            Err(_) => version(source, driver.clone()),
        },
        "provider": leaf(provider(source, driver, module)),
    })
}

/// Who the driver comes from: the kernel's tree, or elsewhere, which taints the module with O.
fn provider(
    source: &Source,
    driver: Reported<String>,
    module: Reported<String>,
) -> Reported<&'static str> {
    let driver = driver?;
    let module = module.unwrap_or_else(|_| driver.replace('-', "_"));
    match source.string(&format!("/sys/module/{module}/taint")) {
        Ok(letters) if letters.contains('O') => Ok("out of the kernel's tree"),
        // Empty, or absent because the driver is built in.
        _ => Ok("the kernel"),
    }
}

/// What the device is for: the class of a PCI device, the kind of a virtio or USB device.
fn component(source: &Source, bus: &str, base: &str) -> Reported<String> {
    match bus {
        "pci" => {
            let class = source.text(&format!("{base}/class"))?;
            let code = hexadecimal(&class)
                .ok_or_else(|| Reason::new(format!("{base}/class is no class code")))?;
            Ok(pci_class(code).map_or_else(|| format!("class {code:06x}"), str::to_owned))
        }
        "virtio" => {
            let kind = source.text(&format!("{base}/device"))?;
            Ok(hexadecimal(&kind)
                .and_then(virtio_kind)
                .map_or_else(|| format!("device {kind}"), str::to_owned))
        }
        "usb" => source.string(&format!("{base}/product")),
        _ => Ok(bus.to_owned()),
    }
}

/// A number such as `0x010802`.
fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// The class codes of the PCI specification that a comparison needs.
fn pci_class(code: u32) -> Option<&'static str> {
    Some(match code >> 8 {
        0x0106 => "SATA controller",
        0x0108 => "NVMe controller",
        0x0100..=0x01FF => "storage controller",
        0x0200 => "Ethernet controller",
        0x0201..=0x02FF => "network controller",
        0x0300..=0x03FF => "graphics",
        0x0403 => "audio device",
        0x0400..=0x04FF => "multimedia controller",
        0x0500..=0x05FF => "memory controller",
        0x0600 => "host bridge",
        0x0601 => "ISA bridge",
        0x0604 => "PCI bridge",
        0x0602..=0x06FF => "bridge",
        0x0C03 => "USB controller",
        0x0C05 => "SMBus",
        0x0C00..=0x0CFF => "serial bus controller",
        0x1200..=0x12FF => "accelerator",
        _ => return None,
    })
}

/// The device numbers of the virtio specification, section 5.
fn virtio_kind(code: u32) -> Option<&'static str> {
    Some(match code {
        1 => "network card",
        2 => "block device",
        3 => "console",
        4 => "entropy source",
        5 => "memory balloon",
        8 => "SCSI host",
        9 => "9P transport",
        16 => "graphics",
        18 => "input device",
        19 => "socket device",
        24 => "memory device",
        25 => "audio device",
        26 => "file system device",
        27 => "persistent memory",
        _ => return None,
    })
}

/// Modules, loaded or built in, that have a version of their own.
fn module_versions(source: &Source) -> Reported<Map<String, Value>> {
    let modules = source.names("/sys/module")?;
    Ok(modules
        .into_iter()
        .filter_map(|name| {
            let version = source.string(&format!("/sys/module/{name}/version")).ok()?;
            Some((name, version.into()))
        })
        .collect())
}
