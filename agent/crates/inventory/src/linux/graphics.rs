//! Graphics hardware as the kernel sees it, with its driver (martinovic2012, Tab. 17: memory and
//! clocks). what OpenGL and Vulkan offer is known only to a program that loads them.

use super::drivers;
use crate::leaf::{first, leaf, Reason, Reported};
use crate::source::Source;
use serde_json::{json, Value};

pub fn collect(source: &Source) -> Value {
    json!({
        "cards": leaf(cards(source)),
        "nvidia": leaf(source.string("/proc/driver/nvidia/version")),
        "frame_buffers": leaf(frame_buffers(source)),
    })
}

fn cards(source: &Source) -> Reported<Value> {
    let names = source.names("/sys/class/drm")?;
    // card0 is a card, card0-HDMI-A-1 one of its connectors.
    let (connectors, cards): (Vec<&String>, Vec<&String>) = names
        .iter()
        .filter(|name| name.starts_with("card"))
        .partition(|name| name.contains('-'));
    Ok(cards
        .into_iter()
        .map(|card| {
            let own = connectors.iter().filter(|name| {
                name.strip_prefix(card.as_str())
                    .is_some_and(|rest| rest.starts_with('-'))
            });
            let displays: Vec<Value> = own.map(|name| display(source, name)).collect();
            describe(source, card, displays)
        })
        .collect())
}

fn describe(source: &Source, card: &str, displays: Vec<Value>) -> Value {
    let base = format!("/sys/class/drm/{card}");
    let at = |file: &str| format!("{base}/{file}");
    let driver = source.target(&at("device/driver"));
    let clock = |files: [&str; 2]| {
        leaf(first(files.map(|file| source.number::<u64>(&at(file)))).map(|mhz| mhz * 1000))
    };
    json!({
        "name": card,
        "vendor": leaf(source.string(&at("device/vendor"))),
        "device": leaf(source.string(&at("device/device"))),
        "driver": leaf(driver.clone()),
        "driver_version": drivers::version(source, driver),
        "memory_bytes": leaf(source.number::<u64>(&at("device/mem_info_vram_total"))),
        "max_khz": clock(["gt_max_freq_mhz", "gt/gt0/rps_max_freq_mhz"]),
        "min_khz": clock(["gt_min_freq_mhz", "gt/gt0/rps_min_freq_mhz"]),
        "firmware": leaf(source.string(&at("device/vbios_version"))),
        "displays": displays,
    })
}

fn display(source: &Source, name: &str) -> Value {
    let at = |file: &str| format!("/sys/class/drm/{name}/{file}");
    let mode = source.text(&at("modes")).and_then(|modes| {
        let first = modes.lines().next().map(str::to_owned);
        first.ok_or_else(|| Reason::new(format!("{} is empty", at("modes"))))
    });
    json!({
        "connector": name,
        "status": leaf(source.string(&at("status"))),
        "preferred_mode": leaf(mode),
    })
}

fn frame_buffers(source: &Source) -> Reported<Vec<String>> {
    let directory = "/sys/class/graphics";
    let names = source.names(directory)?;
    Ok(names
        .iter()
        .filter(|name| name.starts_with("fb") && *name != "fbcon")
        .map(|name| {
            let file = format!("{directory}/{name}/name");
            source.string(&file).unwrap_or_else(|_| name.clone())
        })
        .collect())
}
