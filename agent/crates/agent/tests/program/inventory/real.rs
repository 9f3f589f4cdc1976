//! The inventory of the machine that runs the tests, against other ways to ask it.

use super::{check_form, leaves, reason};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn inventory() -> Value {
    pentathlon_inventory::collect(Path::new("/tmp"))
}

/// What a program of the system says; none where it is missing.
fn stated(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[test]
fn the_form_holds() {
    check_form(&inventory());
}

#[test]
fn the_kernel_reports_the_same_as_uname() {
    let inventory = inventory();
    for (key, option) in [
        ("name", "-s"),
        ("release", "-r"),
        ("version", "-v"),
        ("machine", "-m"),
    ] {
        let Some(expected) = stated("uname", &[option]) else {
            eprintln!("skipped: no uname here");
            return;
        };
        assert_eq!(inventory["kernel"][key], expected, "{key}");
    }
}

#[test]
fn the_processor_reports_the_same_as_other_programs() {
    let cpu = &inventory()["cpu"];
    if let Some(threads) = stated("getconf", &["_NPROCESSORS_ONLN"]) {
        assert_eq!(cpu["threads"].to_string(), threads);
    }
    if let Some(bytes) = stated("getconf", &["PAGESIZE"]) {
        assert_eq!(inventory()["memory"]["page_bytes"].to_string(), bytes);
    }
    assert!(cpu["vendor"].is_string() || reason(&cpu["vendor"]).is_some());
}

#[test]
fn the_caches_are_those_that_lscpu_lists() {
    let Some(listed) = stated("lscpu", &["-B", "-C=NAME,ONE-SIZE"]) else {
        eprintln!("skipped: no lscpu with caches here");
        return;
    };
    let inventory = inventory();
    let Some(caches) = inventory["caches"].as_array() else {
        assert_eq!(listed.lines().count(), 0, "lscpu lists caches");
        return;
    };
    for line in listed.lines().skip(1) {
        let (name, size) = line.split_once(' ').unwrap();
        let kind = match name.as_bytes() {
            [.., b'd'] => "data",
            [.., b'i'] => "instruction",
            _ => "unified",
        };
        let level: u64 = name[1..2].parse().unwrap();
        let size: u64 = size.trim().parse().unwrap();
        let found = caches.iter().any(|cache| {
            cache["level"] == level && cache["type"] == kind && cache["size_bytes"] == size
        });
        assert!(found, "{line} is not among {caches:?}");
    }
}

#[test]
fn sysfs_and_cpuid_agree_on_the_caches() {
    use pentathlon_inventory::{linux, source::Source};
    use pentathlon_os::cpuid;
    let listed = inventory();
    let empty = pentathlon_planted::Tree::empty();
    let reported = linux::collect(&Source::planted(empty.path(), cpuid::read), Path::new("/"));
    let sizes = |tree: &Value| -> Option<Vec<(u64, String, u64)>> {
        let caches = tree["caches"].as_array()?;
        caches
            .iter()
            .map(|cache| {
                let kind = cache["type"].as_str()?.to_owned();
                Some((
                    cache["level"].as_u64()?,
                    kind,
                    cache["size_bytes"].as_u64()?,
                ))
            })
            .collect()
    };
    let (Some(listed), Some(reported)) = (sizes(&listed), sizes(&reported)) else {
        eprintln!("skipped: only one of /sys and CPUID lists caches here");
        return;
    };
    // A hybrid processor lists caches of two kinds in /sys; CPUID reports one core's.
    for cache in reported {
        assert!(listed.contains(&cache), "{cache:?} is not among {listed:?}");
    }
}

#[test]
fn the_scratch_directory_lies_where_df_reports() {
    let Some(df) = stated("df", &["--output=fstype,target", "/tmp"]) else {
        eprintln!("skipped: no df with --output here");
        return;
    };
    let scratch = &inventory()["filesystems"]["scratch"];
    let last = df.lines().last().unwrap_or_default();
    let (kind, point) = last.split_once(' ').unwrap();
    assert_eq!(scratch["type"], kind);
    assert_eq!(scratch["mount_point"], point.trim());
    assert!(scratch["size_bytes"].as_u64() > Some(0));
}

#[test]
fn no_hardware_address_of_this_machine_is_reported() {
    let text = inventory().to_string().to_lowercase();
    let Ok(devices) = std::fs::read_dir("/sys/class/net") else {
        eprintln!("skipped: no /sys/class/net here");
        return;
    };
    for device in devices.flatten() {
        let address = std::fs::read_to_string(device.path().join("address")).unwrap_or_default();
        let address = address.trim();
        if address.chars().any(|c| c.is_ascii_hexdigit() && c != '0') {
            assert!(!text.contains(address), "{address}");
        }
    }
}

/// The agent's own file in an empty root directory: needs root, and a static agent.
#[test]
fn an_empty_root_directory_is_enough_for_the_program() {
    let agent = env!("CARGO_BIN_EXE_pentathlon-agent");
    let root = pentathlon_planted::Tree::empty();
    std::fs::copy(agent, root.path().join("agent")).unwrap();
    let run = |program: &str| -> Option<Output> {
        Command::new("chroot")
            .arg(root.path())
            .args([program, "inventory"])
            .output()
            .ok()
    };
    let Some(output) =
        run("/agent").filter(|output| !matches!(output.status.code(), Some(125..=127)))
    else {
        eprintln!("skipped: chroot needs root and the agent must be linked statically");
        return;
    };
    let stated = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stated}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    check_form(&document["system"]);
    let reported = leaves(&document["system"]);
    let memory = reported
        .iter()
        .find(|(path, _)| path == "memory.total_bytes")
        .unwrap();
    assert!(reason(memory.1).unwrap().contains("/proc/meminfo"));
    assert!(document["system"]["kernel"]["release"].is_string());
}
