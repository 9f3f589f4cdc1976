//! The file systems that the workloads' files and the system's programs lie on.

use crate::leaf::{leaf, Reason, Reported};
use crate::source::Source;
use pentathlon_os::filesystem::named;
use pentathlon_os::statfs::{self, Statfs};
use serde_json::{json, Value};
use std::path::{Path, PathBuf};

pub fn collect(source: &Source, scratch: &Path) -> Value {
    json!({
        "scratch": entry(source, scratch),
        "root": entry(source, Path::new("/")),
    })
}

/// No file system is larger; gVisor's overlay claims all that the number can hold.
const ENDLESS: u64 = 1 << 62;

fn entry(source: &Source, path: &Path) -> Value {
    let whole = source
        .ask("realpath(3)", || {
            std::fs::canonicalize(path).map_err(|error| {
                Reason::new(format!("{} cannot be found: {error}", path.display()))
            })
        })
        .unwrap_or_else(|_| path.to_owned());
    let mount = source
        .text("/proc/self/mountinfo")
        .and_then(|text| Mount::of(&text, &whole));
    let size = source.ask("statfs(2)", || {
        statfs::statfs(&whole)
            .map_err(|error| Reason::new(format!("{} cannot be asked: {error}", whole.display())))
    });
    let mounted = |field: fn(&Mount) -> &String| {
        leaf(
            mount
                .as_ref()
                .map(|mount| field(mount).clone())
                .map_err(Clone::clone),
        )
    };
    let counted = |field: fn(&Statfs) -> u64, refuse: fn(&Statfs) -> Option<&'static str>| {
        let size = size.as_ref().map_err(Clone::clone);
        leaf(size.and_then(|size| match refuse(size) {
            Some(reason) => Err(Reason::new(reason)),
            None => Ok(field(size)),
        }))
    };
    let sized = |field| {
        counted(field, |size| match size.bytes() {
            0 => Some("the file system counts no blocks"),
            ENDLESS.. => Some("the file system claims to be without end"),
            _ => None,
        })
    };
    let inodes = |field| {
        counted(field, |size| {
            (size.inodes == 0).then_some("the file system does not count inodes")
        })
    };
    let kind = mount
        .as_ref()
        .map(|mount| mount.kind.clone())
        .map_err(Clone::clone);
    let kind = kind.or_else(|refusal| {
        let magic = size.as_ref().map_err(|_| refusal.clone())?.magic;
        named(magic).map(str::to_owned).ok_or(refusal)
    });
    json!({
        "path": whole.to_string_lossy(),
        "mount_point": leaf(
            mount.as_ref().map(|m| m.point.to_string_lossy().into_owned()).map_err(Clone::clone)
        ),
        "type": leaf(kind),
        "device": mounted(|mount| &mount.device),
        "block_device": leaf(mount.as_ref().map_err(Clone::clone).and_then(|mount| {
            source.target(&format!("/sys/dev/block/{}", mount.number))
        })),
        "mount_options": mounted(|mount| &mount.options),
        "filesystem_options": mounted(|mount| &mount.super_options),
        "block_bytes": sized(|size| size.block_bytes),
        "size_bytes": sized(Statfs::bytes),
        "free_bytes": sized(|size| size.available_blocks.saturating_mul(size.block_bytes)),
        "inodes": inodes(|size| size.inodes),
        "free_inodes": inodes(|size| size.free_inodes),
    })
}

/// One line of `/proc/self/mountinfo` (proc(5)).
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// `major:minor` of the device.
    number: String,
    point: PathBuf,
    options: String,
    kind: String,
    device: String,
    super_options: String,
}

impl Mount {
    /// The mount that `path` lies on: the longest mount point above it; of mounts on one point, the
    /// last covers the others.
    fn of(text: &str, path: &Path) -> Reported<Self> {
        let mut best: Option<Self> = None;
        for mount in text.lines().filter_map(Self::parse) {
            let depth = |mount: &Self| mount.point.components().count();
            if path.starts_with(&mount.point)
                && best
                    .as_ref()
                    .is_none_or(|best| depth(&mount) >= depth(best))
            {
                best = Some(mount);
            }
        }
        best.ok_or_else(|| {
            Reason::new(format!(
                "/proc/self/mountinfo has no mount for {}",
                path.display()
            ))
        })
    }

    /// `36 35 98:0 /root /point rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
    fn parse(line: &str) -> Option<Self> {
        let (front, back) = line.split_once(" - ")?;
        let front: Vec<&str> = front.split(' ').collect();
        let mut back = back.split(' ');
        let [_, _, number, _, point, options, ..] = front[..] else {
            return None;
        };
        Some(Self {
            number: number.to_owned(),
            point: PathBuf::from(unescaped(point)),
            options: options.to_owned(),
            kind: back.next()?.to_owned(),
            device: unescaped(back.next()?),
            super_options: back.next().unwrap_or_default().to_owned(),
        })
    }
}

/// Blanks and backslashes of a path are written as three octal digits.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let code = after
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                plain.push(code as char);
                rest = &after[3..];
            }
            None => {
                plain.push('\\');
                rest = after;
            }
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
        23 22 0:5 / /tmp rw,nosuid shared:2 master:1 - tmpfs tmpfs rw,size=5k\n\
        24 22 0:6 / /tmp ro - tmpfs upper\\040one rw\n\
        nonsense\n25 22 0:7\n\
        26 22 0:8 / /tmpdir rw - xfs /dev/vdb rw\n";

    fn of(path: &str) -> Mount {
        Mount::of(TABLE, Path::new(path)).unwrap()
    }

    #[test]
    fn the_last_mount_on_the_longest_point_counts() {
        assert_eq!(of("/home/x").device, "/dev/vda");
        assert_eq!(of("/tmp/a/b").device, "upper one");
        assert_eq!(of("/tmp").options, "ro");
        assert_eq!(of("/tmpdir/x").kind, "xfs");
        assert_eq!(of("/tmpdirectory").kind, "ext4");
        assert_eq!(of("/").super_options, "rw,discard");
        assert_eq!(of("/tmpdir").number, "0:8");
    }

    #[test]
    fn no_mount_is_a_reason() {
        assert!(Mount::of("", Path::new("/tmp")).is_err());
        assert!(Mount::of("a b - c\n- - -\n", Path::new("/")).is_err());
    }

    #[test]
    fn octal_escapes() {
        assert_eq!(unescaped("a\\040b\\134c\\011"), "a b\\c\t");
        assert_eq!(unescaped("\\"), "\\");
        assert_eq!(unescaped("\\99 \\777é\\04"), "\\99 \\777é\\04");
    }
}
