//! The counters of Windows: `GetProcessTimes`, `GetProcessMemoryInfo`, `NtQuerySystemInformation`.

use super::{clock_step::clock_step_ns, Options};
use pentathlon_os::machine::Interrupts;
use pentathlon_os::{system, usage};
use pentathlon_protocol::{Delta, Support};
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Platform {
    cpu: bool,
    faults: bool,
    interrupts: Option<Interrupts>,
    unsupported: BTreeMap<&'static str, String>,
}

impl Platform {
    pub fn open(options: Options) -> Self {
        let mut unsupported = BTreeMap::new();
        let mut refuse = |name, reason: String| {
            unsupported.insert(name, reason);
        };
        let provider = match system::wine() {
            Some(wine) => format!("Wine {}", wine.version),
            None => "Windows".to_owned(),
        };
        let cpu = usage::own();
        if let Err(error) = &cpu {
            for name in ["cpu_user_ns", "cpu_system_ns", "minor_faults"] {
                refuse(
                    name,
                    format!("GetProcessTimes or GetProcessMemoryInfo: {error}"),
                );
            }
        }
        let faults = cpu.is_ok() && counts_faults();
        if cpu.is_ok() && !faults {
            refuse(
                "minor_faults",
                format!("{provider} did not count writing to new pages as page faults"),
            );
        }
        refuse(
            "major_faults",
            "the system counts the page faults of a process together: all are in minor_faults"
                .into(),
        );
        for name in ["voluntary_switches", "involuntary_switches"] {
            refuse(
                name,
                "the system does not report why a thread gave its CPU up".into(),
            );
        }
        refuse("steal_ns", "the system has no count of stolen time".into());
        refuse(
            "frequency_khz",
            "the system reports the nominal frequency, not the present one".into(),
        );
        for name in ["cycles", "instructions"] {
            refuse(
                name,
                "the system gives the processor's counters to kernel drivers alone".into(),
            );
        }
        let interrupts = if options.only_process {
            Err("too costly to read beside every sample here".to_owned())
        } else {
            counted_interrupts(&provider)
        };
        if let Err(reason) = &interrupts {
            refuse("interrupts", reason.clone());
        }
        Self {
            cpu: cpu.is_ok(),
            faults,
            interrupts: interrupts.ok(),
            unsupported,
        }
    }

    pub fn read_machine(&mut self, into: &mut Delta) {
        into.interrupts = self.interrupts.as_mut().and_then(|all| all.read().ok());
    }

    pub fn read_process(&mut self, into: &mut Delta) {
        if !self.cpu {
            return;
        }
        let Ok(own) = usage::own() else { return };
        into.cpu_user_ns = Some(own.user_ns);
        into.cpu_system_ns = Some(own.kernel_ns);
        into.minor_faults = self.faults.then_some(u64::from(own.page_faults));
    }

    pub fn support(&self) -> Support {
        let mut resolution = BTreeMap::new();
        let step = clock_step_ns(|| {
            let usage = usage::own().ok()?;
            Some(usage.user_ns + usage.kernel_ns)
        });
        if let Some(step) = step {
            resolution.insert("cpu_user_ns", step);
            resolution.insert("cpu_system_ns", step);
        }
        Support::new(self.unsupported.clone(), resolution, None)
    }
}

/// Whether the first writes to new pages show as page faults.
fn counts_faults() -> bool {
    let before = usage::own();
    let mut pages = vec![0_u8; 64 * 4096];
    for page in pages.chunks_mut(4096) {
        page[0] = 1;
    }
    std::hint::black_box(&pages);
    matches!((before, usage::own()), (Ok(before), Ok(after)) if after.page_faults > before.page_faults)
}

/// The reader of interrupts, if there were any since the machine was started.
fn counted_interrupts(provider: &str) -> Result<Interrupts, String> {
    let mut interrupts = Interrupts::new();
    match interrupts.read() {
        Ok(0) => Err(format!("{provider} counts no interrupts")),
        Ok(_) => Ok(interrupts),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_as_cpu_time() {
        let mut platform = Platform::open(Options::default());
        let (mut before, mut after) = (Delta::default(), Delta::default());
        platform.read_process(&mut before);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(60) {
            std::hint::spin_loop();
        }
        platform.read_process(&mut after);
        let total = |delta: &Delta| delta.cpu_user_ns.unwrap() + delta.cpu_system_ns.unwrap();
        assert!(total(&after) > total(&before));
    }
}
