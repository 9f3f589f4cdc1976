//! The processor: what it is (CPUID, `/proc/cpuinfo`) and how the system drives it
//! (`/sys/devices/system/cpu`, admin-guide/pm/cpufreq.rst).

use super::cpuinfo::Cpuinfo;
use super::identity::Identity;
use super::text;
use crate::leaf::{first, leaf, leaf_or, Reason, Reported};
use crate::source::Source;
use pentathlon_os::kernel;
use serde_json::{json, Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const CPU: &str = "/sys/devices/system/cpu";

pub fn collect(source: &Source) -> Value {
    let cpuinfo = Cpuinfo::read(source);
    let identity = Identity::read(source);
    let id = |field: fn(&Identity) -> Reported<Value>| match &identity {
        Ok(identity) => field(identity),
        Err(reason) => Err(reason.clone()),
    };
    let numbered = |field: fn(&Identity) -> Reported<Value>, key: &str| {
        leaf(id(field).or_else(|_| cpuinfo.number(key).map(Value::from)))
    };
    let named = |field: fn(&Identity) -> Reported<Value>, keys: &[&str]| {
        let listed = first(keys.iter().map(|key| cpuinfo.string(key)));
        leaf(id(field).or_else(|_| listed.map(Value::from)))
    };
    let topology = cpuinfo.topology().or_else(|_| topology(source));
    json!({
        "architecture": std::env::consts::ARCH,
        "vendor": named(|i| Ok(i.vendor.clone().into()), &["vendor_id", "CPU implementer"]),
        "model_name": named(
            |i| i.model_name.clone().map(Into::into),
            &["model name", "Model", "cpu", "CPU part"],
        ),
        "family": numbered(|i| Ok(i.family.into()), "cpu family"),
        "model": numbered(|i| Ok(i.model.into()), "model"),
        "stepping": numbered(|i| Ok(i.stepping.into()), "stepping"),
        "microcode": leaf(first([
            cpuinfo.string("microcode"),
            source.string(&format!("{CPU}/cpu0/microcode/version")),
        ])),
        "kernel_view": {
            "vendor": leaf(cpuinfo.string("vendor_id")),
            "model_name": leaf(cpuinfo.string("model name")),
            // User-mode Linux: the kernel below, with the name of its node left out.
            "host_kernel": leaf(cpuinfo.get("host").map(without_node)),
        },
        "sockets": leaf(topology.clone().map(|(sockets, _)| sockets)),
        "cores": leaf(topology.map(|(_, cores)| cores)),
        "threads": leaf(threads(source, &cpuinfo)),
        "online_cpus": leaf(source.string(&format!("{CPU}/online"))),
        "offline_cpus": leaf(list(source, "offline")),
        "isolated_cpus": leaf(list(source, "isolated")),
        "tickless_cpus": leaf(list(source, "nohz_full")),
        "address_bits": leaf(cpuinfo.string("address sizes")),
        "flags": leaf(first([words(&cpuinfo, "flags"), words(&cpuinfo, "Features")])),
        "bugs": leaf(words(&cpuinfo, "bugs")),
        "instruction_level": leaf(super::identity::level()),
        "bogomips": leaf(bogomips(&cpuinfo)),
        "frequency": frequency(source, &cpuinfo),
        "smt": {
            "control": leaf(source.string(&format!("{CPU}/smt/control"))),
            "active": leaf(source.flag(&format!("{CPU}/smt/active"))),
        },
        "tsc": {
            "invariant": leaf(super::identity::tsc_invariant(source)),
            "frequency_khz": leaf(super::identity::tsc_khz(source)),
        },
    })
}

/// "Linux node 6.18 #1 ..." without the node.
fn without_node(text: &str) -> String {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > 2 {
        words.remove(1);
    }
    words.join(" ")
}

fn threads(source: &Source, cpuinfo: &Cpuinfo) -> Reported<u64> {
    let requested = source.ask("sysconf(_SC_NPROCESSORS_ONLN)", || {
        kernel::online_cpus().ok_or_else(|| Reason::new("sysconf(3) reports no count of CPUs"))
    });
    requested.or_else(|_| {
        let online = source.text(&format!("{CPU}/online"));
        match online.map(|list| text::cpu_list(&list).map(|cpus| cpus.len())) {
            Ok(Some(count)) => Ok(count as u64),
            _ => cpuinfo.processors().map(|count| count as u64),
        }
    })
}

/// Sockets and cores as `/sys` knows them, for systems whose `/proc/cpuinfo` does not.
fn topology(source: &Source) -> Reported<(usize, usize)> {
    let online = source.text(&format!("{CPU}/online"))?;
    let cpus = text::cpu_list(&online)
        .ok_or_else(|| Reason::new(format!("{CPU}/online is not a list of CPUs")))?;
    let mut cores = BTreeSet::new();
    for cpu in cpus {
        let place = format!("{CPU}/cpu{cpu}/topology");
        let socket: i64 = source.number(&format!("{place}/physical_package_id"))?;
        let core: i64 = source.number(&format!("{place}/core_id"))?;
        cores.insert((socket, core));
    }
    let sockets: BTreeSet<_> = cores.iter().map(|&(socket, _)| socket).collect();
    Ok((sockets.len(), cores.len()))
}

/// A list of CPUs that is usually empty, which is then the answer.
fn list(source: &Source, name: &str) -> Reported<String> {
    let path = format!("{CPU}/{name}");
    match source.bytes(&path)?.iter().all(u8::is_ascii_whitespace) {
        true => Ok(String::new()),
        false => source.string(&path),
    }
}

fn words(cpuinfo: &Cpuinfo, key: &str) -> Reported<Vec<String>> {
    cpuinfo.get(key).map(text::words)
}

fn bogomips(cpuinfo: &Cpuinfo) -> Reported<f64> {
    let text = first([cpuinfo.get("bogomips"), cpuinfo.get("BogoMIPS")])?;
    text::finite(text).ok_or_else(|| Reason::new("bogomips of /proc/cpuinfo is not a number"))
}

fn frequency(source: &Source, cpuinfo: &Cpuinfo) -> Value {
    let listed = cpuinfo.get("cpu MHz").and_then(|text| {
        text::finite(text)
            .filter(|mhz| *mhz > 0.0)
            .map(|mhz| (mhz * 1000.0) as u64)
            .ok_or_else(|| Reason::new("\"cpu MHz\" of /proc/cpuinfo is not a frequency"))
    });
    let current = source.number::<u64>(&format!("{CPU}/cpu0/cpufreq/scaling_cur_freq"));
    // CPUID 16h gives MHz: base, maximum, bus ("external clock"); zero where it does not say.
    let leaf_16 = |register: usize, what: &str| {
        let registers = source.cpuid(0x16, 0)?;
        match registers[register] & 0xFFFF {
            0 => Err(Reason::new(format!(
                "CPUID leaf 16h leaves the {what} frequency empty"
            ))),
            mhz => Ok(u64::from(mhz) * 1000),
        }
    };
    let cpufreq = |name: &str| source.number::<u64>(&format!("{CPU}/cpu0/cpufreq/{name}"));
    json!({
        // A constant from the start of the system where nothing scales the frequency and the
        // processor does not count its cycles.
        "current_source": leaf(match (&current, &listed) {
            (Ok(_), _) => Ok("scaling_cur_freq"),
            (_, Ok(_)) => Ok("/proc/cpuinfo"),
            (Err(reason), _) => Err(reason.clone()),
        }),
        "current_khz": leaf(first([current, listed])),
        "min_khz": leaf(cpufreq("cpuinfo_min_freq")),
        "max_khz": leaf(first([cpufreq("cpuinfo_max_freq"), leaf_16(1, "maximum")])),
        "base_khz": leaf(first([cpufreq("base_frequency"), leaf_16(0, "base")])),
        "external_clock_khz": leaf(leaf_16(2, "bus")),
        "driver": leaf(source.string(&format!("{CPU}/cpu0/cpufreq/scaling_driver"))),
        "governor": leaf(source.string(&format!("{CPU}/cpu0/cpufreq/scaling_governor"))),
        "policies": leaf(policies(source)),
        "turbo": leaf(turbo(source)),
    })
}

/// The settings of cpufreq, one entry for all CPUs that share them.
fn policies(source: &Source) -> Reported<Vec<Value>> {
    const FILES: [(&str, &str); 5] = [
        ("governor", "scaling_governor"),
        ("driver", "scaling_driver"),
        ("min_khz", "scaling_min_freq"),
        ("max_khz", "scaling_max_freq"),
        ("energy_preference", "energy_performance_preference"),
    ];
    let directory = format!("{CPU}/cpufreq");
    let mut found: BTreeMap<Vec<Option<String>>, Vec<String>> = BTreeMap::new();
    for name in source.names(&directory)? {
        if !name.starts_with("policy") {
            continue;
        }
        let at = |file: &str| source.string(&format!("{directory}/{name}/{file}"));
        let settings = FILES.iter().map(|(_, file)| at(file).ok()).collect();
        let cpus = at("affected_cpus").unwrap_or(name.clone());
        found.entry(settings).or_default().push(cpus);
    }
    if found.is_empty() {
        return Err(Reason::new(format!(
            "{directory} has no policies: nothing scales frequencies"
        )));
    }
    let entry = |(settings, cpus): (Vec<Option<String>>, Vec<String>)| {
        let mut entry = Map::new();
        entry.insert("cpus".into(), cpus.join(" ").into());
        for ((key, file), value) in FILES.iter().zip(settings) {
            // Numbers as numbers: the keys that end in khz.
            let value = value.map(|text| text.parse::<u64>().map_or(text.into(), Value::from));
            let reason = format!("the policies have no {file}");
            entry.insert((*key).to_owned(), leaf_or(value, &reason));
        }
        Value::Object(entry)
    };
    Ok(found.into_iter().map(entry).collect())
}

/// Whether frequencies above the base are allowed.
fn turbo(source: &Source) -> Reported<bool> {
    let off = source
        .flag(&format!("{CPU}/intel_pstate/no_turbo"))
        .map(|off| !off);
    first([off, source.flag(&format!("{CPU}/cpufreq/boost"))])
}
