//! Which part of a region huge pages really back: `/proc/PID/smaps` of `proc(5)`.

use std::ops::Range;

/// Bytes of `addresses` in transparent huge pages; none where the system does not report.
pub fn huge_bytes(addresses: &Range<usize>) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/smaps").ok()?;
    parse(&text, addresses)
}

/// Adds up `AnonHugePages` of every mapping that begins inside `addresses` or contains its start.
fn parse(smaps: &str, addresses: &Range<usize>) -> Option<u64> {
    let mut inside = false;
    let mut kib = None;
    for line in smaps.lines() {
        if let Some(mapping) = mapping(line) {
            inside = mapping.start < addresses.end && addresses.start < mapping.end;
        } else if let (true, Some(value)) = (inside, line.strip_prefix("AnonHugePages:")) {
            let value: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
            kib = Some(kib.unwrap_or(0) + value);
        }
    }
    kib.map(|kib| kib * 1024)
}

/// The addresses of a mapping's first line, `7f00-7f80 rw-p ...`.
fn mapping(line: &str) -> Option<Range<usize>> {
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(address(start)?..address(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
7f0000000000-7f0000200000 rw-p 00000000 00:00 0
Size:               2048 kB
AnonHugePages:      2048 kB
VmFlags: rd wr mr mw me ac sd hg
7f0000200000-7f0000800000 rw-p 00000000 00:00 0 [anon: x]
Size:               6144 kB
AnonHugePages:      4096 kB
7f0000800000-7f0000a00000 r--p 00000000 08:01 12 /usr/lib/x-y.so
AnonHugePages:         0 kB
";

    #[test]
    fn only_the_mappings_of_the_region_count() {
        let at = 0x7f00_0000_0000;
        assert_eq!(parse(SMAPS, &(at..at + 0x20_0000)), Some(2 << 20));
        assert_eq!(parse(SMAPS, &(at..at + 0x80_0000)), Some(6 << 20));
        assert_eq!(
            parse(SMAPS, &(at + 0x20_0000..at + 0x80_0000)),
            Some(4 << 20)
        );
        assert_eq!(parse(SMAPS, &(at + 0x80_0000..at + 0x90_0000)), Some(0));
    }

    #[test]
    fn a_system_that_does_not_count_huge_pages_reports_nothing() {
        assert_eq!(
            parse("7f00-7f80 rw-p 0 00:00 0\nSize: 4 kB\n", &(0x7f00..0x7f80)),
            None
        );
        assert_eq!(parse(SMAPS, &(0..1)), None);
    }

    #[test]
    fn a_region_that_grows_in_small_steps_keeps_its_huge_pages() {
        use pentathlon_os::region::{Pages, Region};
        const BYTES: usize = 8 << 20;
        let touched = |steps: &[usize]| {
            let mut region = Region::reserve(BYTES, Pages::Huge).ok()?;
            for &bytes in steps {
                region.touch(bytes).ok()?;
            }
            huge_bytes(&region.addresses())
        };
        match touched(&[BYTES]) {
            Some(huge) if huge == BYTES as u64 => {
                assert_eq!(touched(&[4096, 1 << 20, 3 << 20, BYTES]), Some(huge));
            }
            found => eprintln!("skipped: no huge pages here ({found:?} B)"),
        }
    }
}
