//! The small formats that the kernel writes.

/// The CPUs of a list such as `0-3,8,10-11`.
pub fn cpu_list(text: &str) -> Option<Vec<usize>> {
    /// No machine has more CPUs; a longer range is nonsense.
    const MOST: usize = 1 << 16;
    let mut cpus = Vec::new();
    for range in text.split(',').map(str::trim) {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
        if to < from || to >= MOST {
            return None;
        }
        cpus.extend(from..=to);
    }
    Some(cpus)
}

/// The choice in brackets: `always [madvise] never`; a lone word is its own choice.
pub fn chosen(text: &str) -> Option<&str> {
    let bracketed = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    bracketed.or_else(|| {
        let mut words = text.split_whitespace();
        words.next().filter(|_| words.next().is_none())
    })
}

/// All choices of such a text, without the brackets.
pub fn choices(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.trim_matches(['[', ']']).to_owned())
        .collect()
}

/// Bytes of a size such as `32K`, `1M` or `512`.
pub fn bytes(text: &str) -> Option<u64> {
    let (number, factor) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    number.trim().parse::<u64>().ok()?.checked_mul(factor)
}

/// The words of a text.
pub fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The number that a text is.
pub fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The value of a line `Key:   12 kB` of a file such as `/proc/meminfo`, in bytes where the line
/// has a unit.
pub fn keyed(text: &str, key: &str) -> Option<u64> {
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let mut words = value.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    match words.next() {
        None => Some(number),
        Some("kB") => number.checked_mul(1024),
        Some(_) => None,
    }
}

/// The text of a line `Key:\tvalue`.
pub fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpu_list("0"), Some(vec![0]));
        assert_eq!(cpu_list("0-2,5, 7-8"), Some(vec![0, 1, 2, 5, 7, 8]));
        for wrong in [
            "",
            "a",
            "3-1",
            "0-",
            "-1",
            "0-99999999999",
            "0-9999999",
            "1;2",
        ] {
            assert_eq!(cpu_list(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn choices_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("none"), Some("none"));
        assert_eq!(chosen("a b"), None);
        assert_eq!(chosen(""), None);
        assert_eq!(choices("[none] mq-deadline"), ["none", "mq-deadline"]);
    }

    #[test]
    fn sizes() {
        assert_eq!(bytes("32K"), Some(32768));
        assert_eq!(bytes("1M"), Some(1 << 20));
        assert_eq!(bytes("7"), Some(7));
        for wrong in [
            "",
            "K",
            "1T",
            "-1K",
            "99999999999999999999K",
            "18446744073709551615G",
            "é",
        ] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn keyed_lines() {
        let text = "MemTotal:  2 kB\nHugePages_Total:   5\nMemFree:\nOdd: 5 MB\nBig: 18446744073709551615 kB";
        assert_eq!(keyed(text, "MemTotal"), Some(2048));
        assert_eq!(keyed(text, "HugePages_Total"), Some(5));
        for missing in ["MemFree", "Mem", "Odd", "Big", "Absent"] {
            assert_eq!(keyed(text, missing), None, "{missing}");
        }
        assert_eq!(field("Name:\tcat\nSeccomp:\t2", "Seccomp"), Some("2"));
    }
}
