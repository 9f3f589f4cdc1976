//! Telemetry beside each sample (first version; being replaced by the counters helper).
use serde::Serialize;
use std::collections::BTreeMap;
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Delta {
    pub cpu_user_ns: Option<u64>,
}
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Support {
    pub supported: Vec<&'static str>,
    pub unsupported: BTreeMap<&'static str, String>,
}
pub struct Reading;
impl Reading {
    pub fn delta(&self, _before: &Reading) -> Delta {
        Delta::default()
    }
}
pub struct Counters;
impl Counters {
    pub fn open() -> Self {
        Self
    }
    pub fn read(&mut self) -> Reading {
        Reading
    }
    pub fn support(&self) -> Support {
        Support::default()
    }
}
