//! How much memory can be taken without driving the system out of it.

/// Bytes that the system says can be used without swapping (`MemAvailable` of `proc(5)`), less a
/// reserve for everybody else; none where the system does not say.
pub fn bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let available = parse(&text)?;
    Some(available.saturating_sub(available / 32 + (8 << 20)))
}

fn parse(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_proc_meminfo_is_read() {
        let text = "MemTotal:       24683820 kB\nMemFree:        1000 kB\n\
                    MemAvailable:     606044 kB\nBuffers:  1 kB\n";
        assert_eq!(parse(text), Some(606_044 * 1024));
        assert_eq!(parse("MemTotal: 5 kB\n"), None);
        assert_eq!(parse("MemAvailable: much\n"), None);
    }
}
