//! The kind of the file system under a directory, and whether programs can be started from it:
//! `statfs(2)`, `statvfs(3)`.

use crate::statfs::statfs;
use rustix::fs::{statvfs, StatVfsMountFlags};
use std::io;
use std::path::Path;

/// The kind of the file system that `directory` lies on; its magic number if that is not known.
#[inline(never)]
pub fn kind(directory: &Path) -> io::Result<String> {
    let magic = statfs(directory)?.magic;
    Ok(named(magic).map_or_else(|| format!("type {magic:#x}"), str::to_owned))
}

/// The name that belongs to a magic number (`statfs(2)`, `linux/magic.h`). The numbers of ext2,
/// ext3 and ext4 are one.
pub fn named(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0xEF53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683E => "btrfs",
        0xCA45_1A4E => "bcachefs",
        0xF2F5_2010 => "f2fs",
        0x2FC1_2FC1 => "zfs",
        0x0102_1994 => "tmpfs",
        0x8584_58F6 => "ramfs",
        0x794C_7630 => "overlay",
        0x7371_7368 => "squashfs",
        0xE0F5_E1E2 => "erofs",
        0x00C0_FFEE => "hostfs",
        0x0102_1997 => "9p",
        0x6A65_6A63 => "virtiofs",
        0x6573_5546 => "fuse",
        0x6969 => "nfs",
        0xFE53_4D42 | 0xFF53_4D42 => "cifs",
        0x4D44 => "vfat",
        0x2011_BAB0 => "exfat",
        _ => return None,
    })
}

/// Whether the file system that `directory` lies on is mounted so that no program can be started
/// from it (`noexec`).
#[inline(never)]
pub fn forbids_execution(directory: &Path) -> io::Result<bool> {
    let flags = statvfs(directory)?.f_flag;
    Ok(flags.contains(StatVfsMountFlags::NOEXEC))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_and_noexec_are_those_that_the_mount_table_reports() {
        let table = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let mut checked = 0;
        for line in table.lines() {
            let fields: Vec<_> = line.split(' ').collect();
            let (directory, expected) = (fields[1], fields[2]);
            // A later mount can hide an earlier one.
            let last = table
                .lines()
                .rfind(|l| l.split(' ').nth(1) == Some(directory));
            if last != Some(line) || !["tmpfs", "ext4", "xfs", "overlay"].contains(&expected) {
                continue;
            }
            let path = Path::new(directory);
            if let (Ok(kind), Ok(forbidden)) = (kind(path), forbids_execution(path)) {
                assert_eq!(kind, expected, "{line}");
                let options: Vec<_> = fields[3].split(',').collect();
                assert_eq!(forbidden, options.contains(&"noexec"), "{line}");
                checked += 1;
            }
        }
        assert!(checked > 0, "no mount of a known kind: {table}");
    }
}
