//! File services between two hosts: a client of the system under test does what an office does with
//! a server at the other end of a link. The experimenter drives both ends; here stands what the
//! catalog says of it.

mod metrics;
mod parameters;
mod task;

use task::{Kind, Task};

pub const WORKLOADS: &[&dyn super::Workload] = &[
    &Task(Kind::Copy),
    &Task(Kind::Open),
    &Task(Kind::Roaming),
    &Task(Kind::Portal),
];
