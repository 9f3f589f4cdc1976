//! The counters that are read beside each sample.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// How much one sample's batch moved each counter; the names are those of the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Delta {
    /// CPU time in user mode of this process and of the children it has waited for, in ns.
    /// Linux measures the sum with the scheduler's clock and splits it into user and system by
    /// sampling: the sum is exact to 1 us, the split may be off by a tick.
    pub cpu_user_ns: Option<u64>,
    /// The same in kernel mode.
    pub cpu_system_ns: Option<u64>,
    /// Context switches because the process waited for something.
    pub voluntary_switches: Option<u64>,
    /// Context switches because the scheduler took the CPU away.
    pub involuntary_switches: Option<u64>,
    /// Page faults answered without input or output.
    pub minor_faults: Option<u64>,
    /// Page faults that needed input or output.
    pub major_faults: Option<u64>,
    /// Time that the hypervisor gave to others while a CPU of this machine wanted to run, summed
    /// over all its CPUs, in ns (in ticks of usually 10 ms).
    pub steal_ns: Option<u64>,
    /// Interrupts that the machine has served, on all its CPUs.
    pub interrupts: Option<u64>,
    /// Frequency of the CPU that the reading was taken on, at the end of the batch, in kHz.
    pub frequency_khz: Option<u64>,
    /// Cycles of the CPU that this process and its children took, by the processor's own count.
    pub cycles: Option<u64>,
    /// Instructions that they retired.
    pub instructions: Option<u64>,
}

/// The names of the counters, in the protocol's order.
pub const COUNTERS: [&str; 11] = [
    "cpu_user_ns",
    "cpu_system_ns",
    "voluntary_switches",
    "involuntary_switches",
    "minor_faults",
    "major_faults",
    "steal_ns",
    "interrupts",
    "frequency_khz",
    "cycles",
    "instructions",
];

/// Which counters this system keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Support {
    pub supported: Vec<&'static str>,
    /// Counter to reason.
    pub unsupported: BTreeMap<&'static str, String>,
    /// The smallest step of the counters of time, in ns.
    pub resolution_ns: BTreeMap<&'static str, u64>,
    /// What the processor's counters count: `user and kernel`, or `user` where the system allows
    /// no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'static str>,
}

impl Support {
    /// What is not named here is supported.
    pub fn new(
        mut unsupported: BTreeMap<&'static str, String>,
        resolution_ns: BTreeMap<&'static str, u64>,
        scope: Option<&'static str>,
    ) -> Self {
        unsupported.retain(|name, _| COUNTERS.contains(name));
        Self {
            supported: COUNTERS
                .into_iter()
                .filter(|name| !unsupported.contains_key(name))
                .collect(),
            resolution_ns: resolution_ns
                .into_iter()
                .filter(|(name, _)| !unsupported.contains_key(name))
                .collect(),
            unsupported,
            scope,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_s_names_are_the_fields_names() {
        let fields = serde_json::to_value(Delta::default()).unwrap();
        let names: Vec<&str> = fields
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(names, COUNTERS);
    }

    #[test]
    fn every_counter_is_supported_or_refused_and_never_both() {
        let reasons = BTreeMap::from([("steal_ns", "none".to_owned()), ("nonsense", "x".into())]);
        let support = Support::new(reasons, BTreeMap::from([("steal_ns", 5)]), None);
        assert_eq!(support.supported.len(), 10);
        assert!(!support.supported.contains(&"steal_ns"));
        assert_eq!(support.unsupported.len(), 1);
        assert!(support.resolution_ns.is_empty());
    }
}
