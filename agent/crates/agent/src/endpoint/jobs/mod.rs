//! What an endpoint does beside the trials, from one command to another: it soaks up the CPU time
//! that is left, watches the host's counters, asks another host for echoes, runs a competitor, or
//! emulates and probes a link.

mod compete;
mod cpu_hog;
#[cfg(target_os = "linux")]
mod emulated_link;
#[cfg(not(target_os = "linux"))]
#[path = "emulated_link_absent.rs"]
mod emulated_link;
mod ping;
mod watch;

use super::answer::{Answer, Yield};
use super::program::{self, Program};
pub use emulated_link::{Line, Order, Probed};
use pentathlon_packets::Timer;
use pentathlon_protocol::{Calibration, Placement};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;

/// A piece of work in the background.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "work", rename_all = "lowercase")]
pub enum Work {
    /// Counts units of computation that the CPUs have room for.
    Soak {
        /// One for each CPU of the agent if not given.
        #[serde(default)]
        threads: Option<usize>,
        #[serde(default)]
        placement: Placement,
    },
    /// Reads the host's counters every `period_ms`.
    Watch { period_ms: u64 },
    /// Sends ICMP echo requests to `peer` and writes down when their replies come.
    Ping { peer: IpAddr, period_ms: u64 },
    /// Runs another program, such as a server, until it is stopped.
    Program(Program),
    /// Runs a workload of the catalog again and again, in `copies` processes at once.
    Compete {
        workload: String,
        #[serde(default)]
        parameters: serde_json::Map<String, Value>,
        #[serde(default = "one")]
        copies: u32,
        #[serde(default)]
        placement: Placement,
    },
    /// Carries frames between two interfaces as a link would.
    #[cfg_attr(not(target_os = "linux"), schemars(with = "Value"))]
    Emulate(Box<emulated_link::Link>),
    /// Sends probes and writes down those that come.
    #[cfg_attr(not(target_os = "linux"), schemars(with = "Value"))]
    Probe(emulated_link::Probes),
}

fn one() -> u32 {
    1
}

type Outcome = Result<Yield, String>;

struct Job {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Outcome>>,
    orders: Option<emulated_link::Orders>,
    started_ns: u64,
}

/// The pieces of work in progress, by name.
pub struct Jobs {
    calibration: Calibration,
    timer: Timer,
    scratch: PathBuf,
    running: HashMap<String, Job>,
}

impl Jobs {
    pub fn new(calibration: Calibration, timer: Timer, scratch: PathBuf) -> Self {
        Self {
            calibration,
            timer,
            scratch,
            running: HashMap::new(),
        }
    }

    /// Starts a piece of work; the `started` event.
    pub fn start(&mut self, name: &str, work: Work) -> Result<Answer, String> {
        if self.running.contains_key(name) {
            return Err(format!("the job '{name}' is running already"));
        }
        let over = Arc::new(AtomicBool::new(false));
        let started_ns = pentathlon_harness::clock::monotonic_ns();
        let mut orders = None;
        let threads = match work {
            Work::Soak { threads, placement } => {
                cpu_hog::start(threads, &placement, &over, self.timer)?
            }
            Work::Watch { period_ms } => vec![watch::start(period_ms, &over, self.timer)],
            Work::Ping { peer, period_ms } => vec![ping::start(peer, period_ms, &over)?],
            Work::Program(what) => vec![program::start(&what, &over)?],
            Work::Compete {
                workload,
                parameters,
                copies,
                placement,
            } => {
                let competitor = compete::Competitor::new(
                    &workload,
                    parameters,
                    placement,
                    self.calibration.clone(),
                    started_ns,
                )?;
                (0..copies)
                    .map(|copy| competitor.start(copy, &self.scratch, &over))
                    .collect()
            }
            Work::Emulate(request) => {
                let (thread, link) = emulated_link::emulate(&request, &over)?;
                orders = Some(link);
                vec![thread]
            }
            Work::Probe(request) => vec![emulated_link::probe(request, &over)?],
        };
        let job = Job {
            over,
            threads,
            orders,
            started_ns,
        };
        self.running.insert(name.to_owned(), job);
        Ok(Answer::Started {
            job: name.to_owned(),
        })
    }

    /// Sends an order to a link in use; its answer, the `line` event.
    pub fn order(&self, name: &str, order: Order) -> Result<Answer, String> {
        let orders = self.running.get(name).and_then(|job| job.orders.as_ref());
        emulated_link::ask(
            orders.ok_or_else(|| format!("there is no link '{name}' in use"))?,
            order,
        )
        .map(Answer::Line)
    }

    /// Ends a piece of work; the `stopped` event, with what each of its threads yielded.
    pub fn stop(&mut self, name: &str) -> Result<Answer, String> {
        let job = self
            .running
            .remove(name)
            .ok_or_else(|| format!("there is no job '{name}' in progress"))?;
        job.over.store(true, Ordering::Relaxed);
        let elapsed_ns = pentathlon_harness::clock::monotonic_ns() - job.started_ns;
        let yields = job
            .threads
            .into_iter()
            .map(|thread| match thread.join() {
                Ok(outcome) => outcome,
                Err(_) => Err("it panicked".to_owned()),
            })
            .collect::<Result<_, _>>()
            .map_err(|reason| format!("the job '{name}' failed: {reason}"))?;
        Ok(Answer::Stopped {
            job: name.to_owned(),
            elapsed_ns,
            yields,
        })
    }
}

impl Drop for Jobs {
    /// Nothing outlives the endpoint.
    fn drop(&mut self) {
        for job in self.running.values() {
            job.over.store(true, Ordering::Relaxed);
        }
        for (_, job) in self.running.drain() {
            for thread in job.threads {
                thread.join().ok();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;
    use serde_json::json;
    use std::time::Duration;

    fn jobs(name: &str) -> Jobs {
        let scratch = std::env::temp_dir().join(format!("jobs-{name}-{}", std::process::id()));
        let calibration = calibrate();
        let timer = Timer::start(&calibration);
        Jobs::new(calibration, timer, scratch)
    }

    /// What a job of two threads yields that ran for so long.
    fn yields_of(jobs: &mut Jobs, time: Duration) -> serde_json::Value {
        let work = serde_json::from_value(json!({"work": "soak", "threads": 2})).unwrap();
        jobs.start("s", work).unwrap();
        let again = serde_json::from_value(json!({"work": "watch", "period_ms": 10})).unwrap();
        assert!(jobs.start("s", again).unwrap_err().contains("already"));
        std::thread::sleep(time);
        let stopped = json!(jobs.stop("s").unwrap());
        assert!(jobs.stop("s").unwrap_err().contains("no job 's'"));
        stopped["yields"].clone()
    }

    #[test]
    fn a_job_yields_when_it_is_stopped_and_only_once() {
        let mut jobs = jobs("soak");
        // On a busy machine its threads may not have run at all in a short time.
        let worked = [30, 300, 3_000, 30_000].into_iter().any(|time_ms| {
            let yields = yields_of(&mut jobs, Duration::from_millis(time_ms));
            assert_eq!(yields.as_array().unwrap().len(), 2);
            let notes = yields[0]["progress"].as_array().unwrap();
            let of = |place: usize| -> Vec<u64> {
                let column = notes.iter().map(|note| note[place].as_u64().unwrap());
                column.collect()
            };
            assert!(of(0).is_sorted() && of(1).is_sorted());
            of(1).last() > of(1).first()
        });
        assert!(worked);
    }

    #[test]
    fn a_competitor_that_does_not_exist_is_refused() {
        let work = json!({"work": "compete", "workload": "cpu.nothing"});
        let error = jobs("none")
            .start("c", serde_json::from_value(work).unwrap())
            .unwrap_err();
        assert!(error.contains("cpu.nothing"), "{error}");
    }
}
