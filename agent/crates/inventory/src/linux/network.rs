//! Network devices with their drivers and offloads, and the settings of the network stack.
//! Addresses are not read: whether a device has one is all that is reported.

use super::{drivers, text::words};
use crate::leaf::{leaf, Reason, Reported};
use crate::source::Source;
use pentathlon_os::ethtool::Ethtool;
use pentathlon_os::{interface, qdisc};
use serde_json::{json, Map, Value};
use std::collections::BTreeMap;

const NET: &str = "/sys/class/net";

/// All devices of this network namespace, by name.
pub fn devices(source: &Source) -> Reported<Value> {
    let ask = Ask {
        ethtool: source.ask("SIOCETHTOOL", || {
            Ethtool::open()
                .map_err(|error| Reason::new(format!("no socket to ask through: {error}")))
        }),
        qdiscs: source.ask("RTM_GETQDISC", || {
            qdisc::roots().map_err(|error| Reason::new(format!("RTM_GETQDISC failed: {error}")))
        }),
    };
    let named = |(index, name): (i32, String)| {
        let device = device(source, index, &name, &ask);
        (name, device)
    };
    Ok(names(source)?.into_iter().map(named).collect())
}

/// Index and name of each device: from `/sys`, or from the system call where that is missing.
fn names(source: &Source) -> Reported<Vec<(i32, String)>> {
    let refusal = match source.names(NET) {
        Ok(names) => {
            let indexed = names.into_iter().filter_map(|name| {
                // The directory may hold plain files too (bonding_masters).
                let index = source.number(&format!("{NET}/{name}/ifindex")).ok()?;
                Some((index, name))
            });
            return Ok(indexed.collect());
        }
        Err(reason) => reason,
    };
    let listed = source.ask("RTM_GETLINK", || {
        interface::list().map_err(|error| Reason::new(format!("RTM_GETLINK failed: {error}")))
    });
    match listed {
        Ok(list) if !list.is_empty() => {
            let indexed = list.into_iter();
            Ok(indexed.map(|(index, name)| (index as i32, name)).collect())
        }
        _ => Err(refusal),
    }
}

/// The ways to ask the kernel about devices beside `/sys`.
struct Ask {
    ethtool: Reported<Ethtool>,
    qdiscs: Reported<BTreeMap<i32, String>>,
}

fn device(source: &Source, index: i32, name: &str, ask: &Ask) -> Value {
    let at = |file: &str| format!("{NET}/{name}/{file}");
    let number = |file: &str| leaf(source.number::<u64>(&at(file)));
    let queues = |direction: &str| {
        let names = source.names(&at("queues"))?;
        Ok(names
            .iter()
            .filter(|queue| queue.starts_with(direction))
            .count())
    };
    let qdisc = ask.qdiscs.as_ref().map_err(Clone::clone).and_then(|roots| {
        let root = roots.get(&index).cloned();
        root.ok_or_else(|| Reason::new("the kernel lists no root queueing discipline for it"))
    });
    let mtu = source.number::<u64>(&at("mtu")).or_else(|refusal| {
        let requested =
            || interface::mtu_bytes(name).map_err(|error| Reason::new(error.to_string()));
        source.ask("RTM_GETLINK", requested).map_err(|_| refusal)
    });
    let mut entry = json!({
        "kind": leaf(kind(source, name)),
        "state": leaf(source.string(&at("operstate"))),
        "mtu_bytes": leaf(mtu),
        "speed_mbit": leaf(speed(source, name)),
        "duplex": leaf(source.string(&at("duplex")).and_then(|duplex| match duplex.as_str() {
            "unknown" => Err(Reason::new(format!("{} says unknown", at("duplex")))),
            _ => Ok(duplex),
        })),
        "has_hardware_address": leaf(hardware_address(source, name)),
        "receive_queues": leaf(queues("rx-")),
        "send_queues": leaf(queues("tx-")),
        "send_queue_length": number("tx_queue_len"),
        "queueing_discipline": leaf(qdisc),
        "threaded_polling": leaf(source.flag(&at("threaded"))),
        "gro_flush_timeout_ns": number("gro_flush_timeout"),
        "deferred_interrupts": number("napi_defer_hard_irqs"),
    });
    for (key, value) in settings(source, name, &ask.ethtool) {
        entry[key] = value;
    }
    entry
}

/// What only the driver knows.
fn settings(
    source: &Source,
    name: &str,
    ethtool: &Reported<Ethtool>,
) -> [(&'static str, Value); 6] {
    fn requested<T>(
        ethtool: &Reported<Ethtool>,
        what: &str,
        call: impl FnOnce(&Ethtool) -> std::io::Result<T>,
    ) -> Reported<T> {
        let ethtool = ethtool.as_ref().map_err(Clone::clone)?;
        call(ethtool).map_err(|error| {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or(&text);
            Reason::new(format!("the driver does not report {what}: {text}"))
        })
    }
    let info = requested(ethtool, "its name", |ethtool| ethtool.driver(name));
    let stated = |text: Reported<String>, what: &str| match text {
        // "N/A": no device that could have firmware.
        Ok(text) if text.is_empty() || text == "N/A" => {
            Err(Reason::new(format!("the driver leaves its {what} empty")))
        }
        other => other,
    };
    let link = source.target(&format!("{NET}/{name}/device/driver"));
    let driver = stated(info.clone().map(|info| info.driver), "name");
    let driver = driver.or_else(|refusal| link.map_err(|_| refusal));
    let version = match stated(info.clone().map(|info| info.version), "version") {
        Ok(version) => version.into(),
        Err(_) => drivers::version(source, driver.clone()),
    };
    let features = requested(ethtool, "its offloads", |ethtool| ethtool.features(name));
    let offloads = features.map(|features| {
        let map: Map<String, Value> = features
            .into_iter()
            .map(|(name, active)| (name, active.into()))
            .collect();
        map
    });
    let moderation = requested(ethtool, "its interrupt moderation", |e| e.coalescing(name));
    let moderation = moderation.map(|set| {
        json!({
            "receive_us": set.receive_us,
            "receive_frames": set.receive_frames,
            "send_us": set.send_us,
            "send_frames": set.send_frames,
            "adaptive_receive": set.adaptive_receive,
            "adaptive_send": set.adaptive_send,
        })
    });
    let rings = requested(ethtool, "its rings", |ethtool| ethtool.rings(name)).map(|rings| {
        json!({
            "receive": rings.receive,
            "receive_most": rings.receive_most,
            "send": rings.send,
            "send_most": rings.send_most,
        })
    });
    [
        ("driver", leaf(driver)),
        ("driver_version", version),
        (
            "firmware",
            leaf(stated(info.map(|info| info.firmware), "firmware")),
        ),
        ("offloads", leaf(offloads)),
        ("interrupt_moderation", leaf(moderation)),
        ("rings", leaf(rings)),
    ]
}

/// DEVTYPE where the kernel has one, else the kind of its addresses (linux/if_arp.h).
fn kind(source: &Source, name: &str) -> Reported<String> {
    let event = source.text(&format!("{NET}/{name}/uevent"));
    let reported = event.ok().and_then(|text| {
        let kind = text.lines().find_map(|line| line.strip_prefix("DEVTYPE="));
        kind.map(str::to_owned)
    });
    if let Some(kind) = reported {
        return Ok(kind);
    }
    let kind: u64 = source.number(&format!("{NET}/{name}/type"))?;
    Ok(match kind {
        1 => "ethernet".into(),
        32 => "infiniband".into(),
        512 => "ppp".into(),
        768..=769 | 776 | 778 => "tunnel".into(),
        772 => "loopback".into(),
        801..=803 => "wireless".into(),
        65534 => "none".into(),
        other => format!("hardware type {other}"),
    })
}

fn speed(source: &Source, name: &str) -> Reported<u64> {
    let path = format!("{NET}/{name}/speed");
    match source.number::<i64>(&path)? {
        known @ 1.. => Ok(known.unsigned_abs()),
        _ => Err(Reason::new(format!(
            "{path} says that the speed is not known"
        ))),
    }
}

fn hardware_address(source: &Source, name: &str) -> Reported<bool> {
    let path = format!("{NET}/{name}/address");
    if source.bytes(&path)?.iter().all(u8::is_ascii_whitespace) {
        return Ok(false);
    }
    let text = source.text(&path)?;
    Ok(text.chars().any(|c| c.is_ascii_hexdigit() && c != '0'))
}

/// Settings of the stack, of this network namespace (networking/ip-sysctl.rst).
pub fn stack(source: &Source) -> Value {
    const CORE: [&str; 14] = [
        "busy_poll",
        "busy_read",
        "default_qdisc",
        "dev_weight",
        "flow_limit_table_len",
        "netdev_budget",
        "netdev_budget_usecs",
        "netdev_max_backlog",
        "optmem_max",
        "rmem_default",
        "rmem_max",
        "somaxconn",
        "wmem_default",
        "wmem_max",
    ];
    const IPV4: [&str; 19] = [
        "ip_forward",
        "ip_local_port_range",
        "tcp_adv_win_scale",
        "tcp_autocorking",
        "tcp_base_mss",
        "tcp_ecn",
        "tcp_fastopen",
        "tcp_limit_output_bytes",
        "tcp_mem",
        "tcp_mtu_probing",
        "tcp_no_metrics_save",
        "tcp_pacing_ss_ratio",
        "tcp_rmem",
        "tcp_sack",
        "tcp_slow_start_after_idle",
        "tcp_timestamps",
        "tcp_window_scaling",
        "tcp_wmem",
        "udp_mem",
    ];
    let controls = source.text("/proc/sys/net/ipv4/tcp_available_congestion_control");
    json!({
        "congestion_control": leaf(source.string("/proc/sys/net/ipv4/tcp_congestion_control")),
        "congestion_controls": leaf(controls.map(|text| words(&text))),
        "ipv6_off": leaf(source.flag("/proc/sys/net/ipv6/conf/all/disable_ipv6")),
        "core": super::sysctl(source, "/proc/sys/net/core", &CORE),
        "ipv4": super::sysctl(source, "/proc/sys/net/ipv4", &IPV4),
    })
}
