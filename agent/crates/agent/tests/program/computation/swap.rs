//! A little swap space for one test, in a file that nothing else uses. It is put back however the
//! test ends: what does so is a shell of its own, which waits for the end of its standard input,
//! and that comes even if the test is killed.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

/// Swap space that lasts until this is dropped.
pub struct Space {
    keeper: Child,
    input: Option<ChildStdin>,
}

/// Takes the file and reads a line before it ends or is stopped: what went wrong, or nothing.
const KEEPER: &str = r#"
file=$1
trap '' INT TERM HUP
if said=$(mkswap "$file" 2>&1 && swapon "$file" 2>&1); then echo; else echo "$said" | tail -n 1; fi
read -r _
swapoff "$file" 2>/dev/null
rm -f "$file"
"#;

impl Space {
    /// The error is a sentence: why this system lets the test have none.
    pub fn take(bytes: u64) -> Result<Self, String> {
        if !cfg!(target_os = "linux") {
            return Err("only Linux has swap files".into());
        }
        let path = file(bytes)?;
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "sh"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut keeper = match keeper {
            Ok(keeper) => keeper,
            Err(error) => {
                std::fs::remove_file(&path).ok();
                return Err(format!("no shell runs: {error}"));
            }
        };
        let mut space = Self {
            input: keeper.stdin.take(),
            keeper,
        };
        let mut stated = String::new();
        let output = space.keeper.stdout.take().expect("stdout is piped");
        BufReader::new(output)
            .read_line(&mut stated)
            .map_err(|e| format!("the shell does not answer: {e}"))?;
        match stated.trim() {
            "" => Ok(space),
            why => Err(format!("swapon(8) is refused: {why}")),
        }
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        drop(self.input.take());
        self.keeper.wait().ok();
    }
}

/// A file without holes, which swap space may not have.
fn file(bytes: u64) -> Result<PathBuf, String> {
    // Not the temporary directory's memory file system, which refuses swap.
    let path = ["/var/tmp", "/tmp"]
        .iter()
        .map(|directory| PathBuf::from(directory).join(format!("swap-test-{}", std::process::id())))
        .find(|path| std::fs::File::create_new(path).is_ok())
        .ok_or("neither /var/tmp nor /tmp takes a file")?;
    let fill = || -> std::io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
        }
        let mut file = std::fs::File::create(&path)?;
        let zeros = vec![0; 1 << 20];
        for _ in 0..bytes >> 20 {
            file.write_all(&zeros)?;
        }
        file.sync_all()
    };
    fill().map_err(|error| {
        std::fs::remove_file(&path).ok();
        format!("{bytes} B cannot be written: {error}")
    })?;
    Ok(path)
}

/// All swap space of the system in KiB, 0 where it reports none.
pub fn total_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("SwapTotal:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// The control groups that `memory.regions` made and whose process is no more.
pub fn deserted() -> BTreeSet<PathBuf> {
    const PREFIX: &str = "pentathlon-regions-";
    let mut waiting = vec![PathBuf::from("/sys/fs/cgroup")];
    let mut found = BTreeSet::new();
    while let Some(directory) = waiting.pop() {
        let entries = std::fs::read_dir(directory).into_iter().flatten();
        let inner = entries.flatten().filter(|e| {
            // Of a link this is the link's own.
            e.file_type().is_ok_and(|kind| kind.is_dir())
        });
        for entry in inner {
            let name = entry.file_name();
            if let Some(process) = name.to_string_lossy().strip_prefix(PREFIX) {
                if !Path::new("/proc").join(process).exists() {
                    found.insert(entry.path());
                }
            }
            waiting.push(entry.path());
        }
    }
    found
}
