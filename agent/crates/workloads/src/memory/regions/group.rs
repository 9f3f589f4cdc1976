//! A memory control group for this process alone, in which it may swap without driving the machine
//! out of memory (admin-guide/cgroup-v1/memory.rst, admin-guide/cgroup-v2.rst).

use super::super::available;
use pentathlon_harness::also_remove;
use pentathlon_harness::measure::Failure;
use std::fs::{read_to_string, write};
use std::path::{Path, PathBuf};

/// The process is a member of the group; dropped, it goes back to where it came from and the group
/// is removed. If the process dies, its supervisor removes the group.
pub struct Group {
    directory: PathBuf,
    home: PathBuf,
    limit: u64,
}

const PREFIX: &str = "pentathlon-regions-";

/// Where groups can be made, and the names that the version uses.
#[derive(Debug, PartialEq)]
struct Tree {
    /// The group of this process.
    home: PathBuf,
    /// Groups of which a new one can be the child, the nearest first.
    parents: Vec<PathBuf>,
    limit: &'static str,
}

impl Group {
    /// Makes the group and moves this process into it. Nothing is changed unless the swap space
    /// holds twice the limit and the memory holds it too.
    pub fn enter(limit: u64, scratch: &Path) -> Result<Self, Failure> {
        room(limit).map_err(Failure::Unsupported)?;
        let tree = tree(Path::new("/")).map_err(Failure::Unsupported)?;
        Self::make(&tree, limit, scratch)
    }

    fn make(tree: &Tree, limit: u64, scratch: &Path) -> Result<Self, Failure> {
        let name = format!("{PREFIX}{}", std::process::id());
        let mut refusal = String::from("no group above this process delegates memory");
        for parent in &tree.parents {
            remove_deserted(parent);
            let directory = parent.join(&name);
            // Noted before it exists: nothing may be left if the process dies in between.
            also_remove(scratch, &directory)
                .map_err(|e| Failure::system("noting the control group for removal", &e))?;
            if let Err(error) = std::fs::create_dir(&directory) {
                refusal = format!("{}: {error}", directory.display());
                continue;
            }
            let group = Self {
                directory,
                home: tree.home.clone(),
                limit,
            };
            match group.fill(tree.limit) {
                Ok(()) => return Ok(group),
                Err(error) => refusal = error,
            }
        }
        Err(Failure::Unsupported(format!(
            "swap is measured in a control group only, and none could be made: {refusal}"
        )))
    }

    fn fill(&self, limit: &str) -> Result<(), String> {
        let file = self.directory.join(limit);
        let say = |path: &Path, error| format!("{}: {error}", path.display());
        write(&file, self.limit.to_string()).map_err(|e| say(&file, e))?;
        let reported = read_to_string(&file).map_err(|e| say(&file, e))?;
        // Rounded to whole pages by the system.
        match reported.trim().parse::<u64>() {
            Ok(reported) if reported.abs_diff(self.limit) < 1 << 16 => {}
            _ => {
                return Err(format!(
                    "{} is {} afterwards",
                    file.display(),
                    reported.trim()
                ))
            }
        }
        let members = self.directory.join("cgroup.procs");
        write(&members, std::process::id().to_string()).map_err(|e| say(&members, e))
    }

    /// The limit, in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        write(
            self.home.join("cgroup.procs"),
            std::process::id().to_string(),
        )
        .ok();
        std::fs::remove_dir(&self.directory).ok();
    }
}

/// Removes what a session left behind that was killed as a whole. A group with a member stays.
fn remove_deserted(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            std::fs::remove_dir(entry.path()).ok();
        }
    }
}

/// Whether swap space and memory are there. The error is a sentence.
fn room(limit: u64) -> Result<(), String> {
    let text = read_to_string("/proc/meminfo").map_err(|e| format!("/proc/meminfo: {e}"))?;
    enough(&text, limit, available::bytes())
}

fn enough(meminfo: &str, limit: u64, spare: Option<u64>) -> Result<(), String> {
    let kib = |name: &str| available::field(meminfo, name).unwrap_or(0);
    if kib("SwapTotal:") == 0 {
        return Err("the system has no swap space".into());
    }
    let free = kib("SwapFree:") * 1024;
    if free < 2 * limit {
        return Err(format!(
            "the swap space has {free} B free; twice the limit of the control group, {} B, must be",
            2 * limit
        ));
    }
    match spare {
        Some(spare) if limit > spare => Err(format!(
            "the control group's limit is {limit} B, the system can spare {spare} B"
        )),
        _ => Ok(()),
    }
}

/// Finds the tree of the memory controller from `/proc/self/cgroup`. The error is a sentence.
fn tree(root: &Path) -> Result<Tree, String> {
    let file = root.join("proc/self/cgroup");
    let text = read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
    let above = |top: PathBuf, path: &str| -> Vec<PathBuf> {
        Path::new(path.trim_start_matches('/'))
            .ancestors()
            .map(|group| top.join(group))
            .collect()
    };
    if let Some(path) = available::group_of(&text, "memory") {
        let parents = above(root.join("sys/fs/cgroup/memory"), path);
        return Ok(Tree {
            home: parents[0].clone(),
            parents: parents.into_iter().take(1).collect(),
            limit: "memory.limit_in_bytes",
        });
    }
    let Some(path) = available::group_of(&text, "") else {
        return Err("this process belongs to no control group".into());
    };
    let groups = above(root.join("sys/fs/cgroup"), path);
    // Only the children of a group that delegates the controller have limits.
    let delegates = |group: &PathBuf| {
        read_to_string(group.join("cgroup.subtree_control"))
            .is_ok_and(|text| text.split_whitespace().any(|name| name == "memory"))
    };
    Ok(Tree {
        home: groups[0].clone(),
        parents: groups.into_iter().filter(delegates).collect(),
        limit: "memory.max",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_is_refused_without_swap_space_or_room() {
        let meminfo = |total, free| format!("SwapTotal: {total} kB\nSwapFree:   {free} kB\n");
        let limit = 100 << 20;
        let none = enough(&meminfo(0, 0), limit, None);
        assert_eq!(none, Err("the system has no swap space".into()));
        let little = enough(&meminfo(300_000, 200_000), limit, None).unwrap_err();
        assert!(little.contains("204800000 B free"), "{little}");
        let plenty = meminfo(300_000, 250_000);
        assert_eq!(enough(&plenty, limit, Some(limit)), Ok(()));
        assert!(enough(&plenty, limit, Some(limit - 1)).is_err());
        assert!(enough("", limit, None).is_err());
    }

    fn planted(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("group-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn version_1_makes_a_child_of_its_own_group() {
        let root = planted("v1", &[("proc/self/cgroup", "4:memory:/x/y\n0::/z\n")]);
        let tree = tree(&root);
        std::fs::remove_dir_all(&root).unwrap();
        let own = root.join("sys/fs/cgroup/memory/x/y");
        assert_eq!(
            tree,
            Ok(Tree {
                home: own.clone(),
                parents: vec![own],
                limit: "memory.limit_in_bytes",
            })
        );
    }

    #[test]
    fn version_2_makes_a_child_of_a_group_that_delegates_memory() {
        let root = planted(
            "v2",
            &[
                ("proc/self/cgroup", "0::/a/b\n"),
                ("sys/fs/cgroup/a/b/cgroup.subtree_control", "\n"),
                ("sys/fs/cgroup/a/cgroup.subtree_control", "cpu memory\n"),
                (
                    "sys/fs/cgroup/cgroup.subtree_control",
                    "cpu io memory pids\n",
                ),
            ],
        );
        let tree = tree(&root).unwrap();
        std::fs::remove_dir_all(&root).unwrap();
        let top = root.join("sys/fs/cgroup");
        assert_eq!(tree.home, top.join("a/b"));
        assert_eq!(tree.parents, [top.join("a"), top]);
        assert_eq!(tree.limit, "memory.max");
    }

    #[test]
    fn a_group_that_takes_no_limit_is_removed_again() {
        let root = planted("plain", &[("home/cgroup.procs", "")]);
        let tree = Tree {
            home: root.join("home"),
            parents: vec![root.join("missing"), root.join("home")],
            limit: "no/such/file",
        };
        let refusal = Group::make(&tree, 64 << 20, &root).err();
        let left: Vec<_> = std::fs::read_dir(root.join("home")).unwrap().collect();
        std::fs::remove_dir_all(&root).unwrap();
        assert!(
            matches!(refusal, Some(Failure::Unsupported(_))),
            "{refusal:?}"
        );
        assert_eq!(left.len(), 1, "only cgroup.procs: {left:?}");
    }

    #[test]
    fn a_real_group_holds_this_process_and_lets_it_go() {
        const LIMIT: u64 = 4 << 30;
        let scratch = planted("real", &[("x", "")]);
        let before = read_to_string("/proc/self/cgroup").unwrap_or_default();
        let outcome = tree(Path::new("/"))
            .map_err(Failure::Unsupported)
            .and_then(|tree| Group::make(&tree, LIMIT, &scratch));
        let group = match outcome {
            Ok(group) => group,
            Err(reason) => {
                std::fs::remove_dir_all(&scratch).unwrap();
                eprintln!("skipped: {reason:?}");
                return;
            }
        };
        let inside = read_to_string("/proc/self/cgroup").unwrap();
        let directory = group.directory.clone();
        assert!(inside.contains("pentathlon-regions-"), "{inside}");
        assert!(available::bytes().unwrap() < LIMIT, "the limit holds");
        drop(group);
        std::fs::remove_dir_all(&scratch).unwrap();
        assert_eq!(read_to_string("/proc/self/cgroup").unwrap(), before);
        assert!(!directory.exists());
    }
}
