//! What a request asks to be done on the system before anything is measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One step of a request, in the order of the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Step {
    /// Lists the installed software and says whether the system learns from use.
    Record,
    /// Runs tasks that the system would otherwise run in an idle moment, maybe while it is measured.
    Idle { tasks: Vec<IdleTask> },
    /// Waits until the system is quiet, at most `limit_s`.
    Settle(Limits),
}

impl Step {
    /// Its name in requests and events.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Idle { .. } => "idle",
            Self::Settle(_) => "settle",
        }
    }

    /// Checks what the types cannot say. The error is one sentence.
    pub fn validate(&self) -> Result<(), String> {
        match self {
            Self::Settle(limits) => limits.validate(),
            Self::Idle { tasks } if tasks.is_empty() => {
                Err("a step \"idle\" names no task; leave the step out".into())
            }
            _ => Ok(()),
        }
    }
}

/// A task that a system keeps for idle moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdleTask {
    /// Write what waits for the disk, sync(2).
    Sync,
    /// Tell the disk which blocks are free, as fstrim(8) does.
    Fstrim,
    /// Forget clean pages, directory entries and inodes, kernel documentation admin-guide/sysctl/vm.
    DropCaches,
    /// `rundll32.exe advapi32.dll,ProcessIdleTasks`.
    ProcessIdleTasks,
}

/// What counts as quiet. Every limit is inclusive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The system has to be up for so long before quiet is looked for, s.
    pub after_boot_s: f64,
    /// It has to be quiet for so long without a break, s.
    pub quiet_s: f64,
    /// Longest wait for quiet, counted from `after_boot_s` on, s.
    pub limit_s: f64,
    /// CPU time of all CPUs, %.
    pub cpu_percent: f64,
    /// Data to and from block devices, kB/s.
    pub disk_kb_per_s: f64,
    /// Packets of all interfaces but loopback, 1/s.
    pub network_packets_per_s: f64,
    /// Change of the hottest sensor over the quiet time, °C.
    pub temperature_c: f64,
    /// Change of the mean frequency over the quiet time, %.
    pub frequency_percent: f64,
    /// People logged in.
    pub users: u64,
}

impl Limits {
    pub fn validate(&self) -> Result<(), String> {
        for (name, value, least) in [
            ("after_boot_s", self.after_boot_s, 0.0),
            ("quiet_s", self.quiet_s, 0.1),
            ("limit_s", self.limit_s, 0.1),
            ("cpu_percent", self.cpu_percent, 0.0),
            ("disk_kb_per_s", self.disk_kb_per_s, 0.0),
            ("network_packets_per_s", self.network_packets_per_s, 0.0),
            ("temperature_c", self.temperature_c, 0.0),
            ("frequency_percent", self.frequency_percent, 0.0),
        ] {
            if !(value >= least && value <= 1e9) {
                return Err(format!(
                    "{name} of a step \"settle\" is {value}, it must be at least {least}"
                ));
            }
        }
        if self.limit_s < self.quiet_s {
            return Err(format!(
                "limit_s of a step \"settle\" is {}, shorter than its quiet_s of {}",
                self.limit_s, self.quiet_s
            ));
        }
        Ok(())
    }
}
