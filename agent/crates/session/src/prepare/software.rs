//! What is installed, and whether the system learns from use.

#[cfg(not(any(target_os = "linux", windows)))]
use super::unsupported;
use super::Answer;
#[cfg(target_os = "linux")]
use pentathlon_inventory::leaf::{leaf, leaf_or, Reason};
#[cfg(target_os = "linux")]
use serde_json::json;

#[cfg(windows)]
pub fn record() -> Answer {
    super::software_windows::record()
}

#[cfg(not(any(target_os = "linux", windows)))]
pub fn record() -> Answer {
    unsupported(format!(
        "installed software is not listed on {} yet",
        std::env::consts::OS
    ))
}

#[cfg(target_os = "linux")]
pub fn record() -> Answer {
    let root = std::path::Path::new("/");
    let software = linux::packages(root);
    let updated = linux::updated_s(root);
    Answer {
        outcome: "done",
        reason: None,
        detail: json!({
            "software": leaf(software.map_err(Reason::new)),
            "last_update_unix_s": leaf_or(updated, "no package database is here"),
            "learns_from_use": linux::learns(std::path::Path::new("/proc")),
        }),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use serde_json::{json, Value};
    use std::path::Path;

    const DPKG: &str = "/var/lib/dpkg/status";
    const APK: &str = "/lib/apk/db/installed";
    const PACMAN: &str = "/var/lib/pacman/local";

    /// Daemons that load in advance what was used before, by the name of their process.
    const LEARNERS: [&str; 4] = ["preload", "ureadahead", "systemd-readahe", "prelockd"];

    /// Packages with versions, sorted, from the database that is there.
    pub fn packages(root: &Path) -> Result<Value, String> {
        let (manager, mut found) = if let Ok(bytes) = std::fs::read(root.join(&DPKG[1..])) {
            ("dpkg", dpkg(&String::from_utf8_lossy(&bytes)))
        } else if let Ok(bytes) = std::fs::read(root.join(&APK[1..])) {
            ("apk", apk(&String::from_utf8_lossy(&bytes)))
        } else if let Ok(entries) = std::fs::read_dir(root.join(&PACMAN[1..])) {
            let names = entries
                .flatten()
                .map(|e| e.file_name().to_string_lossy().into_owned());
            (
                "pacman",
                names.filter(|name| name != "ALPM_DB_VERSION").collect(),
            )
        } else {
            ("rpm", rpm()?)
        };
        found.sort();
        Ok(json!({
            "manager": manager,
            "count": found.len(),
            // Equal hashes: equal packages in equal versions.
            "fnv1a": format!("{:016x}", fnv1a(found.join("\n").as_bytes())),
            "packages": found,
        }))
    }

    /// 64-bit FNV-1a (Fowler, Noll, Vo) over bytes.
    fn fnv1a(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    /// deb-control(5): paragraphs with Package, Version and Status.
    pub fn dpkg(text: &str) -> Vec<String> {
        text.split("\n\n")
            .filter_map(|paragraph| {
                let field = |name: &str| {
                    paragraph
                        .lines()
                        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                };
                let installed = field("Status")?.ends_with(" installed");
                let (name, version) = (field("Package")?, field("Version")?);
                installed.then(|| format!("{name} {version}"))
            })
            .collect()
    }

    /// The apk database: `P:` name and `V:` version of each paragraph.
    pub fn apk(text: &str) -> Vec<String> {
        text.split("\n\n")
            .filter_map(|paragraph| {
                let field = |name: &str| paragraph.lines().find_map(|line| line.strip_prefix(name));
                Some(format!("{} {}", field("P:")?, field("V:")?))
            })
            .collect()
    }

    /// rpm's database is no text, so rpm(8) itself is asked.
    fn rpm() -> Result<Vec<String>, String> {
        let output = std::process::Command::new("rpm")
            .args(["-qa", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\\n"])
            .output()
            .map_err(|_| "there is no database of dpkg, apk or pacman, and no rpm".to_owned())?;
        if !output.status.success() {
            return Err(format!("rpm -qa ended with {}", output.status));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// When a package was last installed, updated or removed, in seconds since 1970.
    pub fn updated_s(root: &Path) -> Option<u64> {
        [DPKG, APK, PACMAN, "/var/lib/rpm"]
            .iter()
            .filter_map(|path| root.join(&path[1..]).metadata().ok()?.modified().ok())
            .filter_map(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .map(|age| age.as_secs())
            .max()
    }

    /// Whether a program that learns from use is running, and which.
    pub fn learns(proc: &Path) -> Value {
        let Ok(entries) = std::fs::read_dir(proc) else {
            return json!({ "unsupported": "/proc is not there" });
        };
        let found: Vec<String> = entries
            .flatten()
            .filter_map(|entry| std::fs::read_to_string(entry.path().join("comm")).ok())
            .map(|name| name.trim().to_owned())
            .filter(|name| LEARNERS.contains(&name.as_str()))
            .collect();
        json!({ "value": !found.is_empty(), "evidence": found })
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use pentathlon_planted::Tree;

        const STATUS: &str = "Package: zlib1g\nStatus: install ok installed\nVersion: 1:1.2-1\n\nPackage: gone\nStatus: deinstall ok config-files\nVersion: 2\n\nPackage: bash\nStatus: hold ok installed\nDescription: a shell\n Version: not this\nVersion: 5.2-1\n";

        #[test]
        fn packages_that_are_installed_are_listed_in_order() {
            let tree = Tree::empty();
            tree.file("var/lib/dpkg/status", STATUS);
            let reported = packages(tree.path()).unwrap();
            assert_eq!(reported["manager"], "dpkg");
            assert_eq!(
                reported["packages"],
                json!(["bash 5.2-1", "zlib1g 1:1.2-1"])
            );
            assert_eq!(reported["count"], 2);
            assert!(updated_s(tree.path()).unwrap() > 1_600_000_000);
        }

        #[test]
        fn another_version_is_another_hash() {
            let hash = |text: &str| {
                let tree = Tree::empty();
                tree.file("var/lib/dpkg/status", text);
                packages(tree.path()).unwrap()["fnv1a"].clone()
            };
            assert_eq!(hash(STATUS), hash(STATUS));
            assert_ne!(hash(STATUS), hash(&STATUS.replace("5.2-1", "5.2-2")));
            // The test vector of the authors.
            assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        }

        #[test]
        fn an_apk_database_is_read() {
            assert_eq!(
                apk("C:Q1\nP:musl\nV:1.2.5-r0\n\nP:busybox\nV:1.36\n"),
                ["musl 1.2.5-r0", "busybox 1.36"]
            );
        }

        #[test]
        fn a_learning_daemon_is_found() {
            let tree = Tree::empty();
            tree.file("12/comm", "bash\n").file("13/comm", "preload\n");
            assert_eq!(
                learns(tree.path()),
                json!({"value": true, "evidence": ["preload"]})
            );
            let still = Tree::empty();
            still.file("12/comm", "bash\n");
            assert_eq!(learns(still.path())["value"], false);
        }
    }
}
