//! `cpu.two_at_once` and `cpu.four_at_once`: different tasks at the same time, each with a thread
//! and a rate of its own.

use super::alone::Task;
use super::job::Job;
use super::parameters;
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Reading};
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// A set of tasks that run at once.
pub struct Together {
    pub id: &'static str,
    pub title: &'static str,
    pub tasks: &'static [Task],
}

/// What one thread did.
struct Done {
    operations: u64,
    elapsed_ns: f64,
    checksum: u64,
}

impl Workload for Together {
    fn describe(&self) -> catalog::Workload {
        let mut parameters = parameters::of(self.tasks);
        parameters.push(
            Parameter::integer("window_ms", 250)
                .unit("ms")
                .limits(1.0, 60_000.0)
                .described("shortest time for which the tasks run side by side"),
        );
        catalog::Workload {
            id: self.id,
            title: self.title,
            summary: "Each task repeats its work in a thread of its own until the time is over \
                      and every task has finished at least once; each rate is its own.",
            source: "martinovic2012 §4.1, Tab. 5 and 12 (PCMark05 CPU suite, multithreaded)",
            parameters,
            factors: vec![Factor::category("task", "task")],
            metrics: self.metrics(),
            checksum: "the task's own, as of the workload with its name",
            semantics: Semantics::alike("threads that the scheduler places among the CPUs allowed"),
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let parameters = context.parameters.clone();
        let mut jobs = Vec::new();
        for task in self.tasks {
            // Of a list of variants, the first.
            let variant = task.variants().map_or("", |name| parameters.texts(name)[0]);
            jobs.push(task.job(&parameters, variant, context.seed)?);
        }
        let window = Duration::from_millis(parameters.integer("window_ms"));
        let case = Case::new().with("task", "all");
        context.rounds(&case, |clock, sample_ns| {
            let window = window.max(Duration::from_nanos(sample_ns as u64));
            let done = side_by_side(&mut jobs, window, clock)?;
            let readings = self.tasks.iter().zip(&jobs).zip(done);
            Ok(readings
                .map(|((task, job), done)| Reading {
                    metric: metric(*task),
                    case: Case::new().with("task", task.name()),
                    value: done.operations as f64 * job.units() / done.elapsed_ns * 1e3,
                    operations: done.operations,
                    elapsed_ns: done.elapsed_ns,
                    checksum: done.checksum,
                })
                .collect())
        });
        Ok(())
    }
}

impl Together {
    fn metrics(&self) -> Vec<Metric> {
        let mut metrics = vec![Metric::higher("rate", "Rate of the task", "MB/s")];
        if self.tasks.contains(&Task::ImageDecompress) {
            metrics.push(Metric::higher(
                "pixel_rate",
                "Rate of the image task",
                Task::ImageDecompress.unit(),
            ));
        }
        metrics
    }
}

fn metric(task: Task) -> &'static str {
    if task == Task::ImageDecompress {
        "pixel_rate"
    } else {
        "rate"
    }
}

/// Runs every job in a thread, all at once, until the window is over and each has finished once.
fn side_by_side(
    jobs: &mut [Box<dyn Job>],
    window: Duration,
    clock: &Clock,
) -> Result<Vec<Done>, Failure> {
    let start = Barrier::new(jobs.len());
    let unfinished = AtomicUsize::new(jobs.len());
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads: Vec<_> = jobs
            .iter_mut()
            .map(|job| {
                scope.spawn(|| {
                    start.wait();
                    let deadline = Instant::now() + window;
                    let from = clock.ticks();
                    let mut operations = 0;
                    loop {
                        if let Err(failure) = job.run() {
                            failed.store(true, Ordering::Release);
                            return Err(failure);
                        }
                        operations += 1;
                        if operations == 1 {
                            unfinished.fetch_sub(1, Ordering::AcqRel);
                        }
                        let over =
                            Instant::now() >= deadline && unfinished.load(Ordering::Acquire) == 0;
                        if over || failed.load(Ordering::Acquire) {
                            break;
                        }
                    }
                    let elapsed_ns = clock.elapsed_ns(from, clock.ticks());
                    Ok(Done {
                        operations,
                        elapsed_ns,
                        checksum: job.check()?,
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(Failure::Failed("a task's thread panicked".into())))
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pentathlon_harness::clock::calibrate;

    struct Count(u64, Option<u64>);

    impl Job for Count {
        fn units(&self) -> f64 {
            1.0
        }
        fn run(&mut self) -> Result<(), Failure> {
            self.0 += 1;
            match self.1 {
                Some(last) if self.0 > last => Err(Failure::Failed("planted".into())),
                _ => Ok(()),
            }
        }
        fn check(&mut self) -> Result<u64, Failure> {
            Ok(self.0)
        }
    }

    #[test]
    fn every_task_does_something_and_its_operations_are_counted() {
        let clock = Clock::of(&calibrate());
        let mut jobs: Vec<Box<dyn Job>> = (0..4).map(|_| Box::new(Count(0, None)) as _).collect();
        let done = side_by_side(&mut jobs, Duration::from_millis(2), &clock).unwrap();
        assert_eq!(done.len(), 4);
        for done in done {
            assert!(done.operations > 0);
            assert_eq!(done.checksum, done.operations);
            assert!(done.elapsed_ns > 0.0);
        }
    }

    #[test]
    fn one_failing_task_ends_the_round_with_its_reason() {
        let clock = Clock::of(&calibrate());
        let mut jobs: Vec<Box<dyn Job>> =
            vec![Box::new(Count(0, None)), Box::new(Count(0, Some(3)))];
        let outcome = side_by_side(&mut jobs, Duration::from_secs(60), &clock);
        assert_eq!(outcome.err(), Some(Failure::Failed("planted".into())));
    }
}
