//! The present frequency of the CPU that runs us.

use crate::counters::Delta;
use pentathlon_inventory::source::Source;
use pentathlon_os::kernel;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Longer than this, `/proc/cpuinfo` takes too long to read beside every sample.
const CPUINFO_BYTES: usize = 64 * 1024;

#[derive(Debug, Default)]
pub enum Frequency {
    #[default]
    Untold,
    /// `scaling_cur_freq` of each CPU, opened when the CPU is first met.
    Scaling(Vec<Option<File>>),
    /// `cpu MHz` in `/proc/cpuinfo`.
    Cpuinfo(File, Vec<u8>),
}

impl Frequency {
    pub fn open(source: &Source, unsupported: &mut BTreeMap<&'static str, String>) -> Self {
        let scaling = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq";
        let refusal = match source.number::<u64>(scaling) {
            Ok(_) => return Self::Scaling(Vec::new()),
            Err(reason) => reason,
        };
        match Self::cpuinfo(source) {
            Ok(frequency) => frequency,
            Err(reason) => {
                unsupported.insert("frequency_khz", format!("{refusal}; {reason}"));
                Self::Untold
            }
        }
    }

    /// `cpu MHz` is measured only where the processor has the APERF and MPERF counters; elsewhere
    /// it is a constant from the start of the system.
    fn cpuinfo(source: &Source) -> Result<Self, String> {
        let text = source
            .text("/proc/cpuinfo")
            .map_err(|reason| reason.to_string())?;
        let measured = text
            .lines()
            .any(|line| line.starts_with("flags") && line.split(' ').any(|f| f == "aperfmperf"));
        if !measured {
            return Err(
                "without the processor's aperfmperf, /proc/cpuinfo shows a constant at best".into(),
            );
        }
        if text.len() > CPUINFO_BYTES {
            return Err(format!(
                "/proc/cpuinfo is too long here ({} bytes) to be read beside every sample",
                text.len()
            ));
        }
        if megahertz(text.as_bytes(), 0).is_none() {
            return Err("/proc/cpuinfo has no cpu MHz".into());
        }
        let file =
            File::open("/proc/cpuinfo").map_err(|error| format!("/proc/cpuinfo: {error}"))?;
        Ok(Self::Cpuinfo(file, vec![0; text.len() * 2]))
    }

    pub fn read(&mut self, into: &mut Delta) {
        into.frequency_khz = match self {
            Self::Untold => None,
            Self::Scaling(files) => kernel::current_cpu().and_then(|cpu| scaling(files, cpu)),
            Self::Cpuinfo(file, buffer) => kernel::current_cpu().and_then(|cpu| {
                let length = fill(file, buffer)?;
                megahertz(&buffer[..length], cpu)
            }),
        };
    }
}

fn scaling(files: &mut Vec<Option<File>>, cpu: usize) -> Option<u64> {
    if files.len() <= cpu {
        files.resize_with(cpu + 1, || None);
    }
    if files[cpu].is_none() {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
        files[cpu] = Some(File::open(path).ok()?);
    }
    let mut text = [0; 32];
    let length = files[cpu].as_ref()?.read_at(&mut text, 0).ok()?;
    std::str::from_utf8(&text[..length])
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// `/proc/cpuinfo` is given in pieces.
fn fill(file: &File, buffer: &mut [u8]) -> Option<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], length as u64).ok()? {
            0 => break,
            count => length += count,
        }
    }
    Some(length)
}

/// `cpu MHz` of the processor numbered `cpu`, in kHz.
fn megahertz(cpuinfo: &[u8], cpu: usize) -> Option<u64> {
    let text = std::str::from_utf8(cpuinfo).ok()?;
    let mut here = false;
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        match key.trim() {
            "processor" => here = value.trim().parse() == Ok(cpu),
            "cpu MHz" if here => {
                let megahertz: f64 = value.trim().parse().ok()?;
                let khz = megahertz * 1000.0;
                return (khz.is_finite() && khz >= 1.0).then_some(khz as u64);
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const CPUINFO: &str = "processor\t: 0\ncpu MHz\t\t: 2300.500\nflags\t\t: fpu aperfmperf\n\n\
                           processor\t: 10\ncpu MHz\t\t: 3100.000\nflags\t\t: fpu aperfmperf\n";

    fn open(root: &Path) -> (Frequency, BTreeMap<&'static str, String>) {
        let source = Source::planted(root, |_, _| None);
        let mut unsupported = BTreeMap::new();
        let frequency = Frequency::open(&source, &mut unsupported);
        (frequency, unsupported)
    }

    #[test]
    fn each_processor_has_its_own() {
        assert_eq!(megahertz(CPUINFO.as_bytes(), 0), Some(2_300_500));
        assert_eq!(megahertz(CPUINFO.as_bytes(), 10), Some(3_100_000));
        assert_eq!(megahertz(CPUINFO.as_bytes(), 1), None);
    }

    #[test]
    fn nonsense_is_none() {
        for line in ["unknown", "", "NaN", "inf", "-1", "0.000"] {
            let text = format!("processor: 0\ncpu MHz: {line}\n");
            assert_eq!(megahertz(text.as_bytes(), 0), None, "{line}");
        }
        assert_eq!(megahertz(b"\xff\xfe", 0), None);
    }

    #[test]
    fn a_constant_is_not_taken_for_a_measurement() {
        let root = pentathlon_planted::Tree::empty();
        root.file("proc/cpuinfo", CPUINFO.replace("aperfmperf", "tsc"));
        let (frequency, unsupported) = open(root.path());
        assert!(matches!(frequency, Frequency::Untold));
        assert!(unsupported["frequency_khz"].contains("aperfmperf"));
    }

    #[test]
    fn cpufreq_comes_first() {
        let root = pentathlon_planted::Tree::empty();
        root.file(
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
            "2300000\n",
        );
        root.file("proc/cpuinfo", CPUINFO);
        let (frequency, unsupported) = open(root.path());
        assert!(matches!(frequency, Frequency::Scaling(_)));
        assert!(unsupported.is_empty());
    }
}
