//! Programs that are run as a whole, one after the other: each run is timed from its start to its
//! end and reported with what it wrote.

use super::{turns, Context, Failure};
use crate::clock::Clock;
use pentathlon_protocol::{command, Case, Delta, Event, Phase};
use std::time::{Duration, Instant};

/// Runs that end within so long are reported together.
const TOGETHER: Duration = Duration::from_millis(50);

/// What the system accounted to a program and to those of its children that it has waited for; none
/// where it does not report it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accounts {
    pub user_ns: Option<u64>,
    pub system_ns: Option<u64>,
    pub minor_faults: Option<u64>,
    pub major_faults: Option<u64>,
    pub voluntary_switches: Option<u64>,
    pub involuntary_switches: Option<u64>,
    pub peak_memory_bytes: Option<u64>,
}

/// One run of a program.
#[derive(Debug, Clone)]
pub struct Execution {
    pub wall_ns: f64,
    pub status: i32,
    pub accounts: Accounts,
    /// The end of its standard output, and how much there was.
    pub output: (String, u64),
    /// The same of its standard error.
    pub error: (String, u64),
}

/// What is run again and again.
pub trait Runs {
    /// Before a run, outside of its time.
    fn prepare(&mut self) -> Result<(), Failure>;

    /// One run.
    fn run(&mut self, clock: &Clock) -> Result<Execution, Failure>;

    /// After a run, also after one that failed.
    fn finish(&mut self) -> Result<(), Failure>;
}

impl Context<'_> {
    /// Runs a program as often as the settings say and reports each run; the first failure ends the
    /// case. With a gate for batches each measured run waits for its turn. What is done before a run
    /// comes after that wait: nothing of another system lies between the two.
    pub fn executions(&mut self, case: &Case, runs: &mut dyn Runs) {
        self.progress(case);
        let turns = turns::of_programs(self.gate);
        let mut reported = Instant::now();
        for (phase, iteration) in self.settings.phases() {
            if turns && phase == Phase::Measure {
                self.wait(case, Some(iteration));
            }
            let done = runs.prepare().and_then(|()| {
                let before = self.counters.before();
                let run = runs.run(&self.clock)?;
                Ok((run, self.counters.after().delta(&before)))
            });
            let finished = runs.finish();
            match done.and_then(|one| finished.map(|()| one)) {
                Ok((run, machine)) => {
                    let accounts = run.accounts;
                    self.emitter
                        .push(&Event::Execution(Box::new(command::Execution {
                            workload: self.workload.id,
                            index: self.index,
                            case: case.clone(),
                            phase,
                            process: self.process,
                            iteration,
                            wall_ns: run.wall_ns as u64,
                            status: run.status,
                            peak_memory_bytes: accounts.peak_memory_bytes,
                            output: run.output.0,
                            output_bytes: run.output.1,
                            error: run.error.0,
                            error_bytes: run.error.1,
                            counters: Delta {
                                cpu_user_ns: accounts.user_ns,
                                cpu_system_ns: accounts.system_ns,
                                voluntary_switches: accounts.voluntary_switches,
                                involuntary_switches: accounts.involuntary_switches,
                                minor_faults: accounts.minor_faults,
                                major_faults: accounts.major_faults,
                                cycles: None,
                                instructions: None,
                                ..machine
                            },
                        })));
                    // Whoever listens works on what is written while the next run takes place, so
                    // that short runs are reported together; a long one does not wait for the next.
                    if reported.elapsed() >= TOGETHER {
                        self.emitter.flush().ok();
                        reported = Instant::now();
                    }
                }
                Err(failure) => {
                    self.fail(Some(case), &failure);
                    break;
                }
            }
        }
        self.emitter.flush().ok();
    }
}
