//! The limits that control groups set (admin-guide/cgroup-v1/, admin-guide/cgroup-v2.rst).

use crate::leaf::{first, leaf, Reason, Reported};
use crate::source::Source;
use serde_json::{json, Value};
use std::rc::Rc;

/// What this process and all groups above it may use: the tightest of the limits on the way to the
/// root.
pub fn collect(source: &Source) -> Reported<Value> {
    let text = source.text("/proc/self/cgroup")?;
    let groups = Groups { source, text };
    let quota = groups.cpu_quota();
    let limit = |reported: Reported<Option<u64>>| {
        leaf(reported.map(|limit| limit.map_or(Value::from("unlimited"), Value::from)))
    };
    Ok(json!({
        "version": if groups.unified_only() { 2 } else { 1 },
        "cpu_quota_us": limit(quota.clone().map(|quota| quota.map(|(quota, _)| quota))),
        "cpu_period_us": limit(quota.map(|quota| quota.map(|(_, period)| period))),
        "cpu_weight": leaf(groups.own("cpu", "cpu.shares", "cpu.weight", Source::number::<u64>)),
        "memory_max_bytes": limit(groups.least("memory", "memory.limit_in_bytes", "memory.max")),
        "pids_max": limit(groups.least("pids", "pids.max", "pids.max")),
        "cpus": leaf(groups.own("cpuset", "cpuset.cpus", "cpuset.cpus.effective", Source::string)),
    }))
}

struct Groups<'a> {
    source: &'a Source,
    /// `/proc/self/cgroup`.
    text: Rc<str>,
}

impl Groups<'_> {
    fn unified_only(&self) -> bool {
        self.text.lines().all(|line| line.starts_with("0::"))
    }

    /// The directories of the group that limits `controller`, from its own to the root, and whether
    /// they are of version 1.
    fn directories(&self, controller: &str) -> Reported<(Vec<String>, bool)> {
        let entry = |line: &str| {
            let mut parts = line.splitn(3, ':').skip(1);
            let controllers = parts.next()?.to_owned();
            Some((controllers, parts.next()?.to_owned()))
        };
        let entries: Vec<(String, String)> = self.text.lines().filter_map(entry).collect();
        let v1 = entries
            .iter()
            .find(|(names, _)| names.split(',').any(|name| name == controller));
        let v2 = entries.iter().find(|(names, _)| names.is_empty());
        let (root, path) = match (v1, v2) {
            (Some((_, path)), _) => (format!("/sys/fs/cgroup/{controller}"), path),
            (None, Some((_, path))) => ("/sys/fs/cgroup".to_owned(), path),
            (None, None) => {
                return Err(Reason::new(format!("no control group limits {controller}")));
            }
        };
        let mut directories = Vec::new();
        let mut path = path.trim_end_matches('/');
        while let Some((above, _)) = path.rsplit_once('/') {
            directories.push(format!("{root}{path}"));
            path = above;
        }
        directories.push(root);
        Ok((directories, v1.is_some()))
    }

    /// The value of the innermost group that has the file: inside a container the path may name
    /// groups that are not mounted there.
    fn own<T>(
        &self,
        controller: &str,
        v1: &str,
        v2: &str,
        read: impl Fn(&Source, &str) -> Reported<T>,
    ) -> Reported<T> {
        let (directories, old) = self.directories(controller)?;
        let file = if old { v1 } else { v2 };
        let places = directories.iter();
        first(places.map(|directory| read(self.source, &format!("{directory}/{file}"))))
    }

    /// The least of the limits from the group to the root.
    fn least(&self, controller: &str, v1: &str, v2: &str) -> Reported<Option<u64>> {
        /// Version 1 writes "no limit" as the largest whole number of pages.
        const NO_LIMIT: u64 = 1 << 62;
        let (directories, old) = self.directories(controller)?;
        let file = if old { v1 } else { v2 };
        let limits = directories.iter().map(|directory| {
            let path = format!("{directory}/{file}");
            match &*self.source.text(&path)? {
                "max" => Ok(None),
                _ => Ok(Some(self.source.number::<u64>(&path)?).filter(|&limit| limit < NO_LIMIT)),
            }
        });
        tightest(limits, |limit| *limit as f64)
    }

    /// CPU time in us for each period in us.
    fn cpu_quota(&self) -> Reported<Option<(u64, u64)>> {
        let (directories, old) = self.directories("cpu")?;
        let quotas = directories.iter().map(|directory| {
            if !old {
                let path = format!("{directory}/cpu.max");
                let text = self.source.text(&path)?;
                return pair(&text)
                    .ok_or_else(|| Reason::new(format!("{path} is not a quota and a period")));
            }
            let quota: i64 = self
                .source
                .number(&format!("{directory}/cpu.cfs_quota_us"))?;
            let period: u64 = self
                .source
                .number(&format!("{directory}/cpu.cfs_period_us"))?;
            Ok(u64::try_from(quota).ok().map(|quota| (quota, period)))
        });
        tightest(quotas, |&(quota, period)| {
            quota as f64 / period.max(1) as f64
        })
    }
}

/// "50000 100000" or "max 100000".
fn pair(text: &str) -> Option<Option<(u64, u64)>> {
    let (quota, period) = text.split_once(' ')?;
    let period = period.trim().parse().ok()?;
    match quota {
        "max" => Some(None),
        _ => Some(Some((quota.parse().ok()?, period))),
    }
}

/// The tightest of the limits that are reported; the first refusal where none is.
fn tightest<T>(
    limits: impl Iterator<Item = Reported<Option<T>>>,
    size: impl Fn(&T) -> f64,
) -> Reported<Option<T>> {
    let mut best: Option<T> = None;
    let mut refusal = None;
    let mut reported = false;
    for limit in limits {
        match limit {
            Ok(limit) => {
                reported = true;
                if let Some(limit) = limit {
                    if best.as_ref().is_none_or(|best| size(&limit) < size(best)) {
                        best = Some(limit);
                    }
                }
            }
            Err(reason) => {
                refusal.get_or_insert(reason);
            }
        }
    }
    match refusal {
        Some(reason) if !reported => Err(reason),
        _ => Ok(best),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_planted::Tree;

    fn collected(tree: &Tree) -> Value {
        collect(&Source::planted(tree.path(), |_, _| None)).unwrap()
    }

    #[test]
    fn the_tightest_limit_on_the_way_to_the_root_counts() {
        let tree = Tree::empty();
        tree.file("proc/self/cgroup", "0::/a/b\n")
            .file("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
            .file("sys/fs/cgroup/a/cpu.max", "50000 100000\n")
            .file("sys/fs/cgroup/a/b/cpu.weight", "100\n")
            .file("sys/fs/cgroup/a/b/memory.max", "2048\n")
            .file("sys/fs/cgroup/a/memory.max", "1024\n")
            .file("sys/fs/cgroup/a/b/pids.max", "max\n");
        let found = collected(&tree);
        assert_eq!(found["version"], 2);
        assert_eq!(found["cpu_quota_us"], 50000);
        assert_eq!(found["cpu_period_us"], 100_000);
        assert_eq!(found["cpu_weight"], 100);
        assert_eq!(found["memory_max_bytes"], 1024);
        assert_eq!(found["pids_max"], "unlimited");
        assert!(found["cpus"]["unsupported"].is_string());
    }

    #[test]
    fn version_1_has_a_tree_for_each_controller() {
        let tree = Tree::empty();
        tree.file(
            "proc/self/cgroup",
            "4:memory:/x\n3:cpu,cpuacct:/docker/id\n0::/\n",
        )
        .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
        .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
        .file("sys/fs/cgroup/cpu/cpu.shares", "1024\n")
        .file(
            "sys/fs/cgroup/memory/x/memory.limit_in_bytes",
            "9223372036854771712\n",
        );
        let found = collected(&tree);
        assert_eq!(found["version"], 1);
        assert_eq!(found["cpu_quota_us"], "unlimited");
        assert_eq!(found["cpu_weight"], 1024);
        assert_eq!(found["memory_max_bytes"], "unlimited");
        // No controller of version 1, and the root of version 2 limits nothing.
        assert!(found["pids_max"]["unsupported"].is_string());
    }

    #[test]
    fn nonsense_is_a_reason() {
        let tree = Tree::empty();
        tree.file("proc/self/cgroup", "0::/a\n")
            .file("sys/fs/cgroup/a/cpu.max", "many\n")
            .file("sys/fs/cgroup/a/memory.max", "-5\n");
        let found = collected(&tree);
        assert!(found["cpu_quota_us"]["unsupported"].is_string());
        assert!(found["memory_max_bytes"]["unsupported"].is_string());
    }
}
