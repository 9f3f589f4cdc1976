//! A system whose counters this agent cannot read yet.

use super::Options;
use pentathlon_protocol::{Delta, Support, COUNTERS};

#[derive(Debug)]
pub struct Platform;

impl Platform {
    pub fn open(_: Options) -> Self {
        Self
    }

    pub fn read_machine(&mut self, _into: &mut Delta) {}

    pub fn read_process(&mut self, _into: &mut Delta) {}

    pub fn support(&self) -> Support {
        let reason = format!("not read on {} yet", std::env::consts::OS);
        let unsupported = COUNTERS
            .iter()
            .map(|&name| (name, reason.clone()))
            .collect();
        Support::new(unsupported, std::collections::BTreeMap::new(), None)
    }
}
