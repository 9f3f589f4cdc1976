//! How much memory can be taken without driving the system, or this control group, out of it.

// The files of Linux are not read on Windows, and the tests of their reader run there too.
#![cfg_attr(windows, allow(dead_code))]

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Bytes that can be used without swapping, less a reserve for everybody else; none where the
/// system does not say.
pub fn bytes() -> Option<u64> {
    #[cfg(windows)]
    return pentathlon_os::machine::memory()
        .ok()
        .map(|memory| less_reserve(memory.available));
    #[cfg(not(windows))]
    below(Path::new("/"))
}

fn less_reserve(available: u64) -> u64 {
    available.saturating_sub(available / 32 + (8 << 20))
}

/// Bytes of memory that the system has; none where it does not say.
pub fn total() -> Option<u64> {
    #[cfg(windows)]
    return pentathlon_os::machine::memory()
        .ok()
        .map(|memory| memory.total);
    #[cfg(not(windows))]
    field(&read_to_string("/proc/meminfo").ok()?, "MemTotal:").map(|kib| kib * 1024)
}

fn below(root: &Path) -> Option<u64> {
    let system = read_to_string(root.join("proc/meminfo"))
        .ok()
        .and_then(|text| field(&text, "MemAvailable:"))
        .map(|kib| kib * 1024);
    let available = groups(root).into_iter().filter_map(|(limit, used)| {
        let directory = limit.parent()?;
        let limit = number(&limit).filter(|&limit| limit < NO_LIMIT)?;
        let used = number(&directory.join(used))?.saturating_sub(cached(directory));
        Some(limit.saturating_sub(used))
    });
    let available = available.chain(system).min()?;
    Some(less_reserve(available))
}

/// Version 1 of the control groups writes "no limit" as the largest whole number of pages.
const NO_LIMIT: u64 = 1 << 62;

/// The files that state limit and use of the group of this process and of those above it
/// (`cgroups(7)`; admin-guide/cgroup-v1/memory.rst, admin-guide/cgroup-v2.rst).
fn groups(root: &Path) -> Vec<(PathBuf, &'static str)> {
    let text = read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let (tree, path, limit, used) = match (group_of(&text, "memory"), group_of(&text, "")) {
        (Some(path), _) => (
            "sys/fs/cgroup/memory",
            path,
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
        ),
        (None, Some(path)) => ("sys/fs/cgroup", path, "memory.max", "memory.current"),
        (None, None) => return Vec::new(),
    };
    Path::new(path.trim_start_matches('/'))
        .ancestors()
        .map(|group| (root.join(tree).join(group).join(limit), used))
        .collect()
}

/// The path of the group that /proc/self/cgroup names for a controller; "" is version 2.
pub(super) fn group_of<'a>(text: &'a str, controller: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let named = parts.next()?.split(',').any(|name| name == controller);
        parts.next().filter(|_| named)
    })
}

/// Bytes of files that a group counts as used and that the system drops when memory is needed.
fn cached(directory: &Path) -> u64 {
    let text = read_to_string(directory.join("memory.stat")).unwrap_or_default();
    let total = |name: &str| {
        field(&text, &format!("total_{name} ")).or_else(|| field(&text, &format!("{name} ")))
    };
    total("inactive_file").unwrap_or(0) + total("active_file").unwrap_or(0)
}

fn number(file: &Path) -> Option<u64> {
    read_to_string(file).ok()?.trim().parse().ok()
}

/// The number after `name` at the start of a line.
pub(super) fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of planted files, removed at the end.
    struct Planted(PathBuf);

    impl Planted {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root =
                std::env::temp_dir().join(format!("available-{name}-{}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Self(root)
        }
    }

    impl Drop for Planted {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).ok();
        }
    }

    const GIB: u64 = 1 << 30;
    const MEMINFO: (&str, &str) = (
        "proc/meminfo",
        "MemTotal:  9999999 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\nBuffers: 1 kB\n",
    );

    fn spared(bytes: u64) -> Option<u64> {
        Some(bytes - bytes / 32 - (8 << 20))
    }

    #[test]
    fn the_system_reports_what_is_available() {
        let root = Planted::new("system", &[MEMINFO]);
        assert_eq!(below(&root.0), spared(8 * GIB));
        let silent = Planted::new("silent", &[("proc/meminfo", "MemTotal: 5 kB\n")]);
        assert_eq!(below(&silent.0), None);
    }

    #[test]
    fn the_tightest_control_group_of_version_2_counts() {
        let root = Planted::new(
            "v2",
            &[
                MEMINFO,
                ("proc/self/cgroup", "0::/a/b\n"),
                ("sys/fs/cgroup/a/b/memory.max", "max\n"),
                ("sys/fs/cgroup/a/memory.max", "3221225472\n"),
                ("sys/fs/cgroup/a/memory.current", "2147483648\n"),
                (
                    "sys/fs/cgroup/a/memory.stat",
                    "anon 5\nactive_file 536870912\ninactive_file 536870912\n",
                ),
            ],
        );
        // 3 GiB allowed, 2 GiB used, of which 1 GiB is cached files.
        assert_eq!(below(&root.0), spared(2 * GIB));
    }

    #[test]
    fn version_1_counts_with_the_totals_of_its_tree() {
        let root = Planted::new(
            "v1",
            &[
                MEMINFO,
                ("proc/self/cgroup", "4:memory:/x\n3:cpu:/\n0::/\n"),
                (
                    "sys/fs/cgroup/memory/memory.limit_in_bytes",
                    "9223372036854771712\n",
                ),
                ("sys/fs/cgroup/memory/memory.usage_in_bytes", "99\n"),
                (
                    "sys/fs/cgroup/memory/x/memory.limit_in_bytes",
                    "1073741824\n",
                ),
                (
                    "sys/fs/cgroup/memory/x/memory.usage_in_bytes",
                    "536870912\n",
                ),
                (
                    "sys/fs/cgroup/memory/x/memory.stat",
                    "inactive_file 1\ntotal_inactive_file 268435456\ntotal_active_file 0\n",
                ),
            ],
        );
        assert_eq!(below(&root.0), spared(GIB / 4 * 3));
    }

    #[test]
    fn a_group_above_its_limit_has_nothing_to_spare() {
        let root = Planted::new(
            "full",
            &[
                MEMINFO,
                ("proc/self/cgroup", "0::/a\n"),
                ("sys/fs/cgroup/a/memory.max", "1000\n"),
                ("sys/fs/cgroup/a/memory.current", "5000\n"),
            ],
        );
        assert_eq!(below(&root.0), Some(0));
    }
}
