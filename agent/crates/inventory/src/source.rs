//! Where the inventory reads: the running system, or a tree of planted files in a test.

use super::leaf::{Reason, Reported};
use pentathlon_os::cpuid::{self, Registers};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::str::FromStr;

/// Files longer than this are cut: nothing that the inventory reads as text is longer, and a
/// device node in the place of a file may never end.
const MAX_BYTES: usize = 1 << 20;

type CpuidReader = Box<dyn Fn(u32, u32) -> Option<Registers>>;

pub struct Source {
    root: PathBuf,
    live: bool,
    cpuid: CpuidReader,
    /// What was read: several sections look at the same few files, and under some systems a read
    /// costs 100 us.
    seen: RefCell<HashMap<String, Reported<Rc<str>>>>,
}

impl Source {
    /// The running system.
    pub fn system() -> Self {
        Self {
            root: PathBuf::from("/"),
            live: true,
            cpuid: Box::new(cpuid::read),
            seen: RefCell::default(),
        }
    }

    /// Files planted under `root`, on a processor that answers CPUID as `cpuid` does. System
    /// calls are not made for such a source: they would report another system.
    pub fn planted(
        root: impl Into<PathBuf>,
        cpuid: impl Fn(u32, u32) -> Option<Registers> + 'static,
    ) -> Self {
        Self {
            root: root.into(),
            live: false,
            cpuid: Box::new(cpuid),
            seen: RefCell::default(),
        }
    }

    /// Asks the running system by a system call.
    pub fn ask<T>(&self, what: &str, call: impl FnOnce() -> Reported<T>) -> Reported<T> {
        if self.live {
            call()
        } else {
            Err(Reason::new(format!(
                "{what} is not asked for planted files"
            )))
        }
    }

    /// A leaf of CPUID.
    pub fn cpuid(&self, leaf: u32, subleaf: u32) -> Reported<Registers> {
        (self.cpuid)(leaf, subleaf).ok_or_else(|| {
            Reason::new(if cfg!(target_arch = "x86_64") {
                format!("the processor has no CPUID leaf {leaf:X}h")
            } else {
                "this processor has no CPUID instruction".to_owned()
            })
        })
    }

    /// The trimmed text of a file. An empty file reports nothing.
    pub fn text(&self, path: &str) -> Reported<Rc<str>> {
        if let Some(reported) = self.seen.borrow().get(path) {
            return reported.clone();
        }
        let reported = self.bytes(path).and_then(|bytes| {
            // Device-tree and CPUID strings end with NUL.
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
            if text.is_empty() {
                Err(Reason::new(format!("{path} is empty")))
            } else {
                Ok(Rc::from(text))
            }
        });
        self.seen
            .borrow_mut()
            .insert(path.to_owned(), reported.clone());
        reported
    }

    /// The text of a file as a value of the tree.
    pub fn string(&self, path: &str) -> Reported<String> {
        self.text(path).map(|text| text.to_string())
    }

    /// The number that a file holds.
    pub fn number<T: FromStr>(&self, path: &str) -> Reported<T> {
        let text = self.text(path)?;
        text.parse()
            .map_err(|_| Reason::new(format!("{path} holds {}, not a number", quoted(&text))))
    }

    /// A file that holds 0 or 1 (also N or Y).
    pub fn flag(&self, path: &str) -> Reported<bool> {
        let text = self.text(path)?;
        match &*text {
            "0" | "N" | "n" => Ok(false),
            "1" | "Y" | "y" => Ok(true),
            other => Err(Reason::new(format!(
                "{path} holds {}, not 0 or 1",
                quoted(other)
            ))),
        }
    }

    /// The whole of a file, at most 1 MiB.
    pub fn bytes(&self, path: &str) -> Reported<Vec<u8>> {
        let refuse = |error: std::io::Error| refusal(path, &error);
        let mut file = self.open(path).map_err(refuse)?;
        let mut bytes = vec![0; 8 * 1024];
        let mut length = 0;
        loop {
            if length == bytes.len() {
                if length >= MAX_BYTES {
                    break;
                }
                bytes.resize(length * 2, 0);
            }
            match file.read(&mut bytes[length..]) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(refuse(error)),
            }
            // An attribute of sysfs is given whole by one read (at most a page): a second one
            // would only say that this was the end.
            if path.starts_with("/sys/") && length < 4096 {
                break;
            }
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    /// The first `length` bytes, as text, from where `start` is found in a file of at most 16 MiB.
    pub fn find(&self, path: &str, start: &[u8], length: usize) -> Reported<Option<String>> {
        let file = self.open(path).map_err(|error| refusal(path, &error))?;
        let mut bytes = Vec::new();
        file.take(16 << 20)
            .read_to_end(&mut bytes)
            .map_err(|error| refusal(path, &error))?;
        Ok(memchr::memmem::find(&bytes, start).map(|at| {
            let end = bytes.len().min(at + length);
            String::from_utf8_lossy(&bytes[at..end]).into_owned()
        }))
    }

    /// The names in a directory, sorted as a person would: vda2 before vda10.
    pub fn names(&self, path: &str) -> Reported<Vec<String>> {
        let entries = std::fs::read_dir(self.path(path)).map_err(|error| refusal(path, &error))?;
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort_by_cached_key(|name| natural(name));
        Ok(names)
    }

    /// The last part of what a symbolic link points at: the name of a driver, a bus, a device.
    pub fn target(&self, path: &str) -> Reported<String> {
        let target = std::fs::read_link(self.path(path)).map_err(|error| refusal(path, &error))?;
        target
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .ok_or_else(|| Reason::new(format!("{path} points at no name")))
    }

    /// The whole of what a symbolic link points at.
    pub fn link(&self, path: &str) -> Reported<String> {
        std::fs::read_link(self.path(path))
            .map(|target| target.to_string_lossy().into_owned())
            .map_err(|error| refusal(path, &error))
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    /// A FIFO or a terminal in the place of a file must not hold the inventory up.
    fn open(&self, path: &str) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(
            &mut options,
            libc::O_NONBLOCK | libc::O_NOCTTY,
        );
        options.open(self.path(path))
    }

    fn path(&self, path: &str) -> PathBuf {
        if self.live {
            PathBuf::from(path)
        } else {
            self.root.join(Path::new(path.trim_start_matches('/')))
        }
    }
}

/// Text for a reason: short, and never with control characters.
pub fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("{short:?}")
}

fn refusal(path: &str, error: &std::io::Error) -> Reason {
    Reason::new(match error.kind() {
        ErrorKind::NotFound => format!("{path} does not exist"),
        ErrorKind::PermissionDenied => format!("permission denied for {path}"),
        _ => {
            let text = error.to_string();
            // "(os error 22)" adds nothing for a reader.
            let text = text.split(" (os error").next().unwrap_or(&text);
            format!("{path} cannot be read: {text}")
        }
    })
}

/// A key that orders names with numbers in them by the numbers' values.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (text, tail) = rest.split_at(digits);
        let end = tail
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(tail.len());
        let (number, tail) = tail.split_at(end);
        parts.push((text.to_owned(), number.parse().unwrap_or(0)));
        rest = tail;
    }
    parts
}
