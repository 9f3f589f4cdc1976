//! The data caches of the CPU that runs this: what the system lists, or CPUID where it does not.

use pentathlon_os::cpuid;
use std::path::Path;

/// A data or unified cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    pub level: u64,
    pub bytes: usize,
    /// CPUs that share it; from CPUID the most that could.
    pub sharing: usize,
}

/// Every data cache, by level, and which source reported it. The error is a sentence.
pub fn find() -> Result<(Vec<Cache>, &'static str), String> {
    if let Some(caches) = listed(Path::new("/sys/devices/system/cpu/cpu0/cache")) {
        return Ok((caches, "sysfs"));
    }
    match from_cpuid(cpuid::read) {
        Some(caches) => Ok((caches, "CPUID")),
        None => Err(
            "neither /sys/devices/system/cpu/cpu0/cache nor CPUID reports any data cache".into(),
        ),
    }
}

/// `/sys/devices/system/cpu/cpu*/cache` (admin-guide/cputopology.rst).
fn listed(directory: &Path) -> Option<Vec<Cache>> {
    let mut caches = Vec::new();
    for entry in std::fs::read_dir(directory).ok()?.flatten() {
        let text = |file: &str| std::fs::read_to_string(entry.path().join(file)).ok();
        let Some(kind) = text("type") else { continue };
        if kind.trim() == "Instruction" {
            continue;
        }
        let (Some(level), Some(size)) = (text("level"), text("size")) else {
            continue;
        };
        caches.push(Cache {
            level: level.trim().parse().ok()?,
            bytes: bytes(size.trim())?,
            sharing: text("shared_cpu_list").map_or(1, |list| members(list.trim())),
        });
    }
    sorted(caches)
}

/// The deterministic cache parameters: leaf 4 (Intel) or 8000001Dh (AMD).
fn from_cpuid(read: impl Fn(u32, u32) -> Option<cpuid::Registers>) -> Option<Vec<Cache>> {
    [4, 0x8000_001D].into_iter().find_map(|leaf| {
        let mut caches = Vec::new();
        // No processor has 16 caches; a hypervisor may answer every subleaf alike.
        for subleaf in 0..16 {
            let [a, b, c, _] = read(leaf, subleaf)?;
            let kind = a & 0x1F;
            if kind == 0 {
                break;
            }
            if kind == 2 {
                continue;
            }
            let (ways, partitions) = ((b >> 22 & 0x3FF) + 1, (b >> 12 & 0x3FF) + 1);
            let line = (b & 0xFFF) + 1;
            caches.push(Cache {
                level: u64::from(a >> 5 & 0x7),
                bytes: ways as usize * partitions as usize * line as usize * (c as usize + 1),
                sharing: (a >> 14 & 0xFFF) as usize + 1,
            });
        }
        sorted(caches)
    })
}

fn sorted(mut caches: Vec<Cache>) -> Option<Vec<Cache>> {
    caches.sort_by_key(|cache| cache.level);
    (!caches.is_empty()).then_some(caches)
}

/// `48K` or `2048K`.
fn bytes(size: &str) -> Option<usize> {
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &size[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        _ => return None,
    };
    Some(digits.parse::<usize>().ok()? << unit)
}

/// How many CPUs a list such as `0-3,8` names; at least one.
fn members(list: &str) -> usize {
    let range = |part: &str| -> Option<usize> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(last.checked_sub(first)? + 1)
    };
    list.split(',').filter_map(range).sum::<usize>().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listed_data_caches_are_found_by_level() {
        let root = std::env::temp_dir().join(format!("caches-{}", std::process::id()));
        let plant = |index: &str, files: [(&str, &str); 4]| {
            let directory = root.join(index);
            std::fs::create_dir_all(&directory).unwrap();
            for (name, text) in files {
                std::fs::write(directory.join(name), format!("{text}\n")).unwrap();
            }
        };
        let files = |level, kind, size, shared| {
            [
                ("level", level),
                ("type", kind),
                ("size", size),
                ("shared_cpu_list", shared),
            ]
        };
        plant("index0", files("2", "Unified", "2048K", "0-1"));
        plant("index1", files("1", "Data", "48K", "0"));
        plant("index2", files("1", "Instruction", "64K", "0"));
        plant("index3", files("3", "Unified", "30M", "0-3,8,10-11"));
        let found = listed(&root);
        std::fs::remove_dir_all(&root).unwrap();
        let cache = |level, bytes, sharing| Cache {
            level,
            bytes,
            sharing,
        };
        assert_eq!(
            found,
            Some(vec![
                cache(1, 48 << 10, 1),
                cache(2, 2 << 20, 2),
                cache(3, 30 << 20, 7)
            ])
        );
        assert_eq!(listed(&root), None, "nothing is listed");
    }

    #[test]
    fn cpuid_reports_data_and_unified_caches_and_ends() {
        // A Core i7-940: 32 KiB data, 32 KiB instructions, 256 KiB, 8 MiB for 16 threads.
        let answers = [
            [0x1C00_4121, 0x01C0_003F, 0x3F, 0],
            [0x1C00_4122, 0x00C0_003F, 0x7F, 0],
            [0x1C00_4143, 0x01C0_003F, 0x1FF, 0],
            [0x1C03_C163, 0x03C0_003F, 0x1FFF, 2],
        ];
        let read = |leaf, subleaf: u32| {
            (leaf == 4).then(|| answers.get(subleaf as usize).copied().unwrap_or_default())
        };
        let found = from_cpuid(read).unwrap();
        let sizes: Vec<_> = found.iter().map(|c| (c.level, c.bytes)).collect();
        assert_eq!(sizes, [(1, 32 << 10), (2, 256 << 10), (3, 8 << 20)]);
        assert_eq!(found[2].sharing, 16);
        assert_eq!(from_cpuid(|_, _| None), None);
        assert_eq!(from_cpuid(|_, _| Some([0; 4])), None, "no cache at all");
    }

    #[test]
    fn this_machine_s_caches_grow_with_their_level() {
        match find() {
            Ok((caches, _)) => {
                assert!(caches.windows(2).all(|pair| pair[0].bytes < pair[1].bytes));
            }
            Err(reason) => assert!(reason.contains("CPUID"), "{reason}"),
        }
    }
}
