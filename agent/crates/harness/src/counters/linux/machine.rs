//! Counters of the whole machine, from `/proc/stat` (proc(5)).

use crate::counters::Delta;
use pentathlon_inventory::linux::layer::{Kernel, Layers};
use pentathlon_os::kernel;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The file stays open and the buffer is kept: a reading is one `pread(2)`.
#[derive(Debug, Default)]
pub struct Machine {
    file: Option<File>,
    buffer: Vec<u8>,
    tick_ns: u64,
    steal: bool,
    interrupts: bool,
}

impl Machine {
    pub fn open(layers: &Layers, unsupported: &mut BTreeMap<&'static str, String>) -> Self {
        match Self::try_open() {
            Ok((mut machine, stat)) => {
                let mut judge = |name, verdict: Result<(), String>| match verdict {
                    Ok(()) => true,
                    Err(reason) => {
                        unsupported.insert(name, reason);
                        false
                    }
                };
                machine.steal = judge("steal_ns", steal_support(&stat, layers));
                machine.interrupts = judge("interrupts", interrupt_support(&stat));
                machine
            }
            Err(reason) => {
                for name in ["steal_ns", "interrupts"] {
                    unsupported.insert(name, reason.clone());
                }
                Self::default()
            }
        }
    }

    fn try_open() -> Result<(Self, Stat), String> {
        let tick_ns = tick_ns().ok_or("sysconf(_SC_CLK_TCK) reports no tick")?;
        let file = File::open("/proc/stat").map_err(|error| format!("/proc/stat: {error}"))?;
        let whole = std::fs::read("/proc/stat").map_err(|error| format!("/proc/stat: {error}"))?;
        // As far as the total of the interrupts, which stands before the long list of each, with
        // room for the numbers of all the lines before it to grow.
        let reach = find_line(&whole, b"intr ").unwrap_or(whole.len());
        let lines = whole[..reach].iter().filter(|&&byte| byte == b'\n').count();
        let machine = Self {
            file: Some(file),
            buffer: vec![0; reach + (lines + 1) * 64],
            tick_ns,
            steal: false,
            interrupts: false,
        };
        Ok((machine, Stat::parse(&whole)))
    }

    pub fn read(&mut self, into: &mut Delta) {
        let Some(file) = self.file.as_ref().filter(|_| self.steal || self.interrupts) else {
            return;
        };
        let Ok(length) = file.read_at(&mut self.buffer, 0) else {
            return;
        };
        let stat = Stat::parse(&self.buffer[..length]);
        if self.steal {
            into.steal_ns = stat.steal_ticks.map(|ticks| ticks * self.tick_ns);
        }
        if self.interrupts {
            into.interrupts = stat.interrupts;
        }
    }
}

/// The unit of the times in `/proc/stat`, in ns.
pub fn tick_ns() -> Option<u64> {
    kernel::ticks_per_second().map(|ticks| 1_000_000_000 / ticks)
}

/// What is read of `/proc/stat`; a field that is missing or is no number is none.
#[derive(Debug, Default, PartialEq, Eq)]
struct Stat {
    /// All the time of all CPUs that the kernel has accounted for.
    ticks: Option<u64>,
    steal_ticks: Option<u64>,
    interrupts: Option<u64>,
}

impl Stat {
    fn parse(text: &[u8]) -> Self {
        let cpu = || find_line(text, b"cpu ").map(|at| &text[at + 4..]);
        Self {
            ticks: cpu().and_then(|rest| {
                (0..8)
                    .map(|field| number(rest, field))
                    .try_fold(0_u64, |sum, ticks| sum.checked_add(ticks?))
            }),
            // user nice system idle iowait irq softirq steal
            steal_ticks: cpu().and_then(|rest| number(rest, 7)),
            interrupts: find_line(text, b"intr ").and_then(|at| number(&text[at + 5..], 0)),
        }
    }
}

/// Where the line that starts with `word` begins.
fn find_line(text: &[u8], word: &[u8]) -> Option<usize> {
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with(word) {
            return Some(at);
        }
        at += text[at..].iter().position(|&byte| byte == b'\n')? + 1;
    }
    None
}

/// The number at `index` of the rest of a line. A number that the buffer's end cuts off is none.
fn number(rest: &[u8], index: usize) -> Option<u64> {
    let end = rest.iter().position(|&byte| byte == b'\n');
    let line = &rest[..end.unwrap_or(rest.len())];
    let mut at = 0;
    for field in 0.. {
        at += line[at..].iter().position(|byte| *byte != b' ')?;
        let length = line[at..].iter().position(|byte| *byte == b' ');
        let word = &line[at..at + length.unwrap_or(line.len() - at)];
        if field == index {
            if length.is_none() && end.is_none() {
                return None;
            }
            return decimal(word);
        }
        at += word.len();
    }
    None
}

fn decimal(word: &[u8]) -> Option<u64> {
    word.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.checked_sub(b'0').filter(|&digit| digit < 10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Whether the steal counter can move on this system.
fn steal_support(stat: &Stat, layers: &Layers) -> Result<(), String> {
    match (stat.ticks, stat.steal_ticks) {
        (_, None) => return Err("/proc/stat has no steal field in its first line".into()),
        (Some(0), _) => return Err("/proc/stat counts no time at all".into()),
        (_, Some(1..)) => return Ok(()),
        _ => {}
    }
    if layers.kernel == Kernel::Uml {
        return Err("user-mode Linux does not know how long its host kept it waiting".into());
    }
    match &layers.hypervisor {
        // Nobody is there to take time away: zero is the truth.
        Ok(None) => Ok(()),
        Ok(Some(hypervisor)) if hypervisor.tells_steal => Ok(()),
        Ok(Some(hypervisor)) => Err(format!(
            "the hypervisor {:?} does not offer it, and none was counted since the system started",
            hypervisor.vendor
        )),
        Err(_) => Err(
            "none was counted since the system started, and whether there is a \
                       hypervisor that could is not known"
                .into(),
        ),
    }
}

/// Whether the interrupt counter can move: every system has served one before a program runs.
fn interrupt_support(stat: &Stat) -> Result<(), String> {
    match stat.interrupts {
        Some(1..) => Ok(()),
        Some(0) => Err("/proc/stat has counted no interrupt since the system started".into()),
        None => Err("/proc/stat has no line that starts with intr".into()),
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
