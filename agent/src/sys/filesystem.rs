//! The file system under a directory: `statfs(2)`, `statvfs(3)`.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What decides how files in a directory behave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystem {
    /// The usual name of its type; the number in hexadecimal if it is not known here.
    pub kind: String,
    /// Programs on it cannot be executed.
    pub no_execution: bool,
}

/// Types by their magic number (`statfs(2)`, `linux/magic.h`; hostfs: `fs/hostfs/hostfs_kern.c`).
const KINDS: [(u32, &str); 22] = [
    (0x0000_ef53, "ext2/ext3/ext4"),
    (0x0102_1994, "tmpfs"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x794c_7630, "overlay"),
    (0x00c0_ffee, "hostfs"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "fuse"),
    (0x6a65_6a63, "virtiofs"),
    (0x0000_6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x8584_58f6, "ramfs"),
    (0xf2f5_2010, "f2fs"),
    (0x2fc1_2fc1, "zfs"),
    (0x0000_4d44, "vfat"),
    (0x2011_bab0, "exfat"),
    (0x7366_746e, "ntfs3"),
    (0x5265_4973, "reiserfs"),
    (0x3153_464a, "jfs"),
    (0xca45_1a4e, "bcachefs"),
    (0x7371_7368, "squashfs"),
];

/// The file system that `directory` lies on.
#[cfg(target_os = "linux")]
pub fn under(directory: &Path) -> io::Result<FileSystem> {
    let path = CString::new(directory.as_os_str().as_bytes())?;
    // SAFETY: the path lives to the end of both calls; the structures are plain integers, for which
    // all zeros is a value, and the calls fill them in.
    unsafe {
        let mut kind: libc::statfs = std::mem::zeroed();
        let mut flags: libc::statvfs = std::mem::zeroed();
        if libc::statfs(path.as_ptr(), &mut kind) != 0
            || libc::statvfs(path.as_ptr(), &mut flags) != 0
        {
            return Err(io::Error::last_os_error());
        }
        Ok(FileSystem {
            kind: name(kind.f_type as u32),
            no_execution: flags.f_flag & libc::ST_NOEXEC != 0,
        })
    }
}

fn name(magic: u32) -> String {
    KINDS
        .iter()
        .find(|(known, _)| *known == magic)
        .map_or_else(|| format!("type {magic:#x}"), |(_, kind)| (*kind).into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_the_one_that_the_mount_table_names() {
        let table = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let mut checked = 0;
        for line in table.lines() {
            let fields: Vec<_> = line.split(' ').collect();
            let (directory, kind) = (fields[1], fields[2]);
            // A later mount can hide an earlier one.
            let last = table
                .lines()
                .rfind(|l| l.split(' ').nth(1) == Some(directory));
            if last != Some(line) || !["tmpfs", "ext4", "xfs", "btrfs", "overlay"].contains(&kind) {
                continue;
            }
            let Ok(found) = under(Path::new(directory)) else {
                continue;
            };
            assert!(
                found.kind.split('/').any(|k| k == kind),
                "{line}: {found:?}"
            );
            let options: Vec<_> = fields[3].split(',').collect();
            assert_eq!(found.no_execution, options.contains(&"noexec"), "{line}");
            checked += 1;
        }
        assert!(checked > 0, "no mount of a known type: {table}");
    }

    #[test]
    fn an_unknown_type_is_told_by_its_number() {
        assert_eq!(name(0x1234), "type 0x1234");
    }
}
