//! Systems that report little, or nonsense: the inventory always ends, always has its form, and
//! names a reason for everything that it does not know.

use super::{check_form, collect, leaves, machines, reason};
use pentathlon_planted::Tree;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A generator for repeatable damage (xorshift64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }
}

fn files(tree: &Tree) -> Vec<PathBuf> {
    fn walk(directory: PathBuf, found: &mut Vec<PathBuf>) {
        let mut entries: Vec<_> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap())
            .collect();
        entries.sort_by_key(|entry| entry.path());
        for entry in entries {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => walk(entry.path(), found),
                kind if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    walk(tree.path().to_owned(), &mut found);
    found
}

/// The paths of leaves outside lists and maps whose keys the system gives.
fn fixed(tree: &serde_json::Value) -> BTreeSet<String> {
    let open = [
        "mitigations",
        "block_devices",
        "network_devices",
        "drivers.devices",
        "drivers.module_versions",
        "limits.resources.",
        "kernel.configuration.",
    ];
    leaves(tree)
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| !path.contains("[]") && !open.iter().any(|start| path.starts_with(start)))
        .collect()
}

#[test]
fn an_empty_root_reports_nothing_and_reports_why() {
    let inventory = collect(&Tree::empty(), machines::Cpuid::new());
    // What is known without asking the system.
    let given = [
        "cpu.architecture",
        "cpu.instruction_level",
        "filesystems.scratch.path",
        "filesystems.root.path",
        "virtualization.layer",
        "virtualization.layers",
        "virtualization.evidence[]",
        "virtualization.kernel",
    ];
    for (path, value) in leaves(&inventory) {
        if !given.contains(&path.as_str()) {
            assert!(reason(value).is_some(), "{path} is {value}");
        }
    }
}

#[test]
fn no_leaf_is_left_out_on_a_system_that_does_not_report_it() {
    let (tree, cpuid) = machines::desktop();
    let rich = fixed(&collect(&tree, cpuid));
    let poor = collect(&Tree::empty(), machines::Cpuid::new());
    let reported: BTreeSet<String> = leaves(&poor).into_iter().map(|(path, _)| path).collect();
    for path in rich {
        // A refusal higher up stands for all below it.
        let covered = reported
            .iter()
            .any(|leaf| path == *leaf || path.starts_with(&format!("{leaf}.")));
        assert!(
            covered,
            "{path} is missing where the system does not report it"
        );
    }
}

#[test]
fn any_one_file_may_be_missing_empty_or_nonsense() {
    let (tree, cpuid) = machines::desktop_of(1);
    let whole = collect(&tree, cpuid.clone());
    for path in files(&tree) {
        let text = fs::read(&path).unwrap();
        let damages: [&[u8]; 3] = [b"\n", b"\xff\xfe\0\x01", b"-99999999999999999999 x\n"];
        for damage in damages {
            fs::write(&path, damage).unwrap();
            collect(&tree, cpuid.clone());
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        collect(&tree, cpuid.clone());
        fs::remove_dir(&path).unwrap();
        collect(&tree, cpuid.clone());
        fs::write(&path, text).unwrap();
    }
    assert_eq!(collect(&tree, cpuid), whole, "the damage was not put back");
}

#[test]
fn random_damage_everywhere_is_survived() {
    let (tree, cpuid) = machines::desktop_of(1);
    let texts: Vec<(PathBuf, Vec<u8>)> = files(&tree)
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    let mut chance = Chance(0x0DDB_1A5E_5BAD_5EED);
    for _ in 0..40 {
        for (path, text) in &texts {
            let mut text = text.clone();
            for _ in 0..chance.below(4) {
                let at = chance.below(text.len());
                text[at] = chance.below(256) as u8;
            }
            if chance.below(4) == 0 {
                text.truncate(chance.below(text.len() + 1));
            }
            fs::write(path, text).unwrap();
        }
        let mut cpuid = cpuid.clone();
        for registers in cpuid.values_mut() {
            if chance.below(3) == 0 {
                registers[chance.below(4)] = chance.below(usize::MAX) as u32;
            }
        }
        collect(&tree, cpuid);
    }
}

#[test]
fn a_processor_that_answers_every_leaf_alike_does_not_hold_the_inventory() {
    use pentathlon_inventory::{linux, source::Source};
    let tree = Tree::empty();
    for value in [0, 1, 0x21, u32::MAX] {
        let source = Source::planted(tree.path(), move |_, _| Some([value; 4]));
        check_form(&linux::collect(&source, "/".as_ref()));
    }
}

#[test]
fn what_would_block_or_never_end_does_not_hold_the_inventory() {
    let tree = Tree::empty();
    tree.link("proc/meminfo", "/dev/zero")
        .link("proc/self/status", "status")
        .link("proc/loadavg", "/nowhere/at/all")
        .link("sys/devices/system/cpu/online", "/dev/tty");
    let fifo = tree.path().join("proc/cpuinfo");
    let made = Command::new("mkfifo").arg(&fifo).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("no mkfifo here: tested without a FIFO");
    }
    let inventory = collect(&tree, machines::Cpuid::new());
    assert!(reason(&inventory["memory"]["total_bytes"]).is_some());
    assert!(reason(&inventory["cpu"]["cores"]).is_some());
}
