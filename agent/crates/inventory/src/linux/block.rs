//! Block devices: what they are and how the kernel queues for them (block/queue-sysfs.rst).

use super::{drivers, text};
use crate::leaf::{first, leaf, Reason, Reported};
use crate::source::Source;
use serde_json::{json, Value};

/// By name, all block devices that hold something: a loop device without a file and a drive without a
/// medium have the size 0 and are left out.
pub fn collect(source: &Source) -> Reported<Value> {
    let names = source.names("/sys/block")?;
    Ok(names
        .iter()
        .filter(|name| source.number::<u64>(&format!("/sys/block/{name}/size")) != Ok(0))
        .map(|name| (name.clone(), device(source, name)))
        .collect())
}

fn device(source: &Source, name: &str) -> Value {
    let base = format!("/sys/block/{name}");
    let at = |file: &str| format!("{base}/{file}");
    let queue = |file: &str| leaf(source.number::<u64>(&at(&format!("queue/{file}"))));
    // 512 bytes each, whatever the device's own block.
    let size = source.number::<u64>(&at("size")).and_then(|sectors| {
        let bytes = sectors.checked_mul(512);
        bytes.ok_or_else(|| Reason::new(format!("{base}/size is larger than any device")))
    });
    let scheduler = source.text(&at("queue/scheduler"));
    let driver = driver(source, &base);
    json!({
        "model": leaf(first([
            source.string(&at("device/model")),
            source.string(&at("device/name")),
            source.string(&at("dm/name")),
        ])),
        "vendor": leaf(source.string(&at("device/vendor"))),
        "firmware": leaf(first([
            source.string(&at("device/firmware_rev")),
            source.string(&at("device/rev")),
            source.string(&at("device/fwrev")),
        ])),
        "interface": leaf(interface(source, name)),
        "size_bytes": leaf(size),
        "logical_block_bytes": queue("logical_block_size"),
        "physical_block_bytes": queue("physical_block_size"),
        "rotational": leaf(source.flag(&at("queue/rotational"))),
        "removable": leaf(source.flag(&at("removable"))),
        "read_only": leaf(source.flag(&at("ro"))),
        "scheduler": leaf(scheduler.clone().and_then(|text| {
            let chosen = text::chosen(&text).map(str::to_owned);
            chosen.ok_or_else(|| Reason::new(format!("{base}/queue/scheduler marks no choice")))
        })),
        "schedulers": leaf(scheduler.map(|text| text::choices(&text))),
        "read_ahead_kb": queue("read_ahead_kb"),
        "queue_requests": queue("nr_requests"),
        "queue_depth": leaf(first([
            source.number::<u64>(&at("device/queue_depth")),
            source.number::<u64>(&at("device/sqsize")),
        ])),
        "hardware_queues": leaf(source.names(&at("mq")).map(|queues| queues.len())),
        "max_request_kb": queue("max_sectors_kb"),
        "merges_off": queue("nomerges"),
        "completion_affinity": queue("rq_affinity"),
        "polling": queue("io_poll"),
        "writeback_throttle_us": queue("wbt_lat_usec"),
        "write_cache": leaf(source.string(&at("queue/write_cache"))),
        "fua": leaf(source.flag(&at("queue/fua"))),
        "discard_bytes": queue("discard_max_bytes"),
        "driver": leaf(driver.clone()),
        "driver_version": drivers::version(source, driver),
    })
}

/// The driver of the device below, which is one step further for a controller's namespaces and
/// disks.
fn driver(source: &Source, base: &str) -> Reported<String> {
    let places = ["device/driver", "device/device/driver"];
    first(places.map(|place| source.target(&format!("{base}/{place}")))).map_err(|refusal| {
        match source.exists(&format!("{base}/device")) {
            true => refusal,
            false => Reason::new(format!(
                "{base} has no device below it: the kernel makes it up"
            )),
        }
    })
}

/// How the device is attached, from its place in the tree of devices.
fn interface(source: &Source, name: &str) -> Reported<&'static str> {
    let link = source.link(&format!("/sys/block/{name}"))?;
    let parts: Vec<&str> = link.split('/').collect();
    let within = |start: &str| {
        parts.iter().any(|part| {
            part.strip_prefix(start)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    };
    let known = [
        ("usb", "usb"),
        ("nvme", "nvme"),
        ("mmc", "mmc"),
        ("ata", "ata"),
        ("virtio", "virtio"),
        ("vbd-", "xen"),
        ("session", "iscsi"),
        ("host", "scsi"),
    ];
    let virtual_device = parts.contains(&"virtual");
    known
        .iter()
        .find(|(start, _)| within(start) && !virtual_device)
        .map(|&(_, word)| word)
        .or(virtual_device.then_some("virtual"))
        .ok_or_else(|| Reason::new(format!("the place {link:?} reports no interface")))
}
