//! What a workload is given: settings, clock, counters, and the way to report.

use super::histogram::{Histogram, SIGNIFICANT_DIGITS};
use super::{batch, turns, Body, Failure, Quantity};
use crate::clock::Clock;
use crate::counters::{Counters, Options};
use crate::Emitter;
use pentathlon_protocol::catalog::{self, Parameters, Workload};
use pentathlon_protocol::command::Command;
use pentathlon_protocol::{
    Calibration, Case, Delta, Event, Gate, HistogramSample, Phase, Sample, SizedBatch,
};
use std::io::{BufRead, Write};
use std::path::PathBuf;

/// A batch is taken to last at least so long, in ns.
const SHORTEST_NS: f64 = 1.0;

/// Repetitions and length of the timed batches.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub iterations: u32,
    pub warmup: u32,
    /// Wanted length of one batch, in ns.
    pub sample_ns: f64,
}

impl Settings {
    /// The rounds of a case in their order: those of warm-up, then those that count.
    pub(super) fn phases(self) -> impl Iterator<Item = (Phase, u32)> {
        (0..self.warmup)
            .map(|iteration| (Phase::Warmup, iteration))
            .chain((0..self.iterations).map(|iteration| (Phase::Measure, iteration)))
    }
}

/// One run of one workload in one process.
pub struct Context<'a> {
    pub workload: Workload,
    pub parameters: Parameters,
    pub settings: Settings,
    pub seed: u64,
    /// Directory for the workload's files, private to this run.
    pub scratch: PathBuf,
    /// The user's own command that is to run, and where its files are.
    pub command: Option<Command>,
    pub files: Option<PathBuf>,
    /// What waits for the experimenter, on standard input.
    pub gate: Option<Gate>,
    /// Buffers that the workload goes over, as in the catalog.
    pub buffers: u8,
    /// Batches that an earlier boot has sized.
    pub batches: Vec<SizedBatch>,
    pub(super) index: usize,
    count: usize,
    pub(super) process: u32,
    calibration: Calibration,
    pub(super) clock: Clock,
    pub(super) counters: Counters,
    pub(super) emitter: &'a mut Emitter<Box<dyn Write>>,
}

/// One value that a round measured itself.
#[derive(Debug, Clone)]
pub struct Reading {
    pub metric: &'static str,
    pub case: Case,
    pub value: f64,
    pub operations: u64,
    pub elapsed_ns: f64,
    pub checksum: u64,
}

/// Many values that a round took, such as latencies.
#[derive(Debug, Clone)]
pub struct Distribution {
    /// The catalog's entry.
    pub of: catalog::Histogram,
    pub case: Case,
    pub values: Histogram,
    pub elapsed_ns: f64,
    pub checksum: u64,
}

/// What a round yields.
#[derive(Debug, Clone)]
pub enum Outcome {
    Reading(Reading),
    Distribution(Distribution),
}

impl From<Reading> for Outcome {
    fn from(reading: Reading) -> Self {
        Self::Reading(reading)
    }
}

impl From<Distribution> for Outcome {
    fn from(distribution: Distribution) -> Self {
        Self::Distribution(distribution)
    }
}

/// Place of a run in its session.
pub struct Place {
    pub index: usize,
    pub count: usize,
    pub process: u32,
}

impl<'a> Context<'a> {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        workload: Workload,
        parameters: Parameters,
        settings: Settings,
        seed: u64,
        scratch: PathBuf,
        place: Place,
        options: Options,
        calibration: Calibration,
        emitter: &'a mut Emitter<Box<dyn Write>>,
    ) -> Self {
        Self {
            workload,
            parameters,
            settings,
            seed,
            scratch,
            command: None,
            files: None,
            gate: None,
            buffers: 0,
            batches: Vec::new(),
            index: place.index,
            count: place.count,
            process: place.process,
            clock: Clock::of(&calibration),
            calibration,
            counters: Counters::with(options),
            emitter,
        }
    }

    /// Measures one metric of one case. A case that cannot be measured is reported and does not
    /// end the workload.
    pub fn measure(&mut self, metric: &str, case: &Case, quantity: Quantity, body: &mut dyn Body) {
        self.progress(case);
        if let Err(failure) = self.try_measure(metric, case, quantity, body) {
            self.fail(Some(case), &failure);
        }
        // Written between the cases, never between the batches of one.
        self.emitter.flush().ok();
    }

    fn try_measure(
        &mut self,
        metric: &str,
        case: &Case,
        quantity: Quantity,
        body: &mut dyn Body,
    ) -> Result<(), Failure> {
        let target_ns = self
            .settings
            .sample_ns
            .max(self.calibration.shortest_batch_ns());
        let mut warmups = 0;
        let Settings {
            warmup, iterations, ..
        } = self.settings;
        let known = turns::known_batch(&self.batches, metric, case);
        let turns = turns::taken(self.gate, self.buffers, case);
        let mut time = |operations| {
            let iteration = warmups;
            warmups += 1;
            let phase = Phase::Warmup;
            self.sample(metric, case, quantity, body, operations, phase, iteration)
        };
        let kept = match known {
            Some(operations) => batch::keep(operations, target_ns, &mut time)?,
            None => None,
        };
        let operations = match kept {
            Some(operations) => operations,
            None => batch::size(target_ns, &mut time)?,
        };
        // The batch by which a known size was checked is one of warm-up like any other.
        let left = warmup.saturating_sub(kept.is_some().into());
        for _ in 0..left {
            time(operations)?;
        }
        for iteration in 0..iterations {
            if turns {
                self.wait(case, Some(iteration));
                // The caches are then as its own batches leave them.
                let refill = turns::refill(operations, target_ns);
                body.prepare(refill)?;
                let returned = std::hint::black_box(body.batch(std::hint::black_box(refill)));
                body.verify(refill, returned)?;
            }
            self.sample(
                metric,
                case,
                quantity,
                body,
                operations,
                Phase::Measure,
                iteration,
            )?;
        }
        Ok(())
    }

    /// Waits until the experimenter lets a case, or a measured batch of it, begin.
    pub(super) fn wait(&mut self, case: &Case, iteration: Option<u32>) {
        self.emitter.push(&Event::Ready {
            workload: self.workload.id.into(),
            index: self.index,
            process: self.process,
            case: Some(case.clone()),
            iteration,
        });
        self.emitter.flush().ok();
        let mut release = Vec::new();
        let read = std::io::stdin().lock().read_until(b'\n', &mut release);
        if !matches!(read, Ok(1..)) {
            // The supervisor has ended: it measures for nobody.
            std::process::exit(1);
        }
    }

    /// Times one batch and queues its sample; returns the elapsed time in ns.
    #[allow(clippy::too_many_arguments)]
    fn sample(
        &mut self,
        metric: &str,
        case: &Case,
        quantity: Quantity,
        body: &mut dyn Body,
        operations: u64,
        phase: Phase,
        iteration: u32,
    ) -> Result<f64, Failure> {
        body.prepare(operations)?;
        let before = self.counters.before();
        let from = self.clock.ticks();
        let returned = std::hint::black_box(body.batch(std::hint::black_box(operations)));
        let to = self.clock.ticks();
        let after = self.counters.after();
        let elapsed_ns = self.clock.elapsed_ns(from, to);
        let checksum = body.verify(operations, returned)?;
        let reading = Reading {
            metric: self.workload.metric(metric).id,
            case: case.clone(),
            // A first batch can end within one tick of the clock, and a rate has to be a number.
            value: quantity.value(operations, elapsed_ns.max(SHORTEST_NS)),
            operations,
            elapsed_ns,
            checksum,
        };
        self.outcome(reading.into(), phase, iteration, &after.delta(&before));
        Ok(elapsed_ns)
    }

    /// Measures what cannot be had from one timed batch: each round times itself and yields the
    /// values of several metrics or cases, such as the rates of tasks that run at once, or
    /// distributions of many values. Whatever a round yields carries the counters of the whole
    /// round.
    pub fn rounds<O: Into<Outcome>>(
        &mut self,
        case: &Case,
        mut round: impl FnMut(&Clock, f64) -> Result<Vec<O>, Failure>,
    ) {
        self.progress(case);
        for (phase, iteration) in self.settings.phases() {
            let before = self.counters.before();
            let outcomes = round(&self.clock, self.settings.sample_ns);
            let counters = self.counters.after().delta(&before);
            match outcomes {
                Ok(outcomes) => {
                    for outcome in outcomes {
                        self.outcome(outcome.into(), phase, iteration, &counters);
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

    fn outcome(&mut self, outcome: Outcome, phase: Phase, iteration: u32, counters: &Delta) {
        let event = match outcome {
            Outcome::Reading(reading) => {
                let metric = self.workload.metric(reading.metric);
                Event::Sample(Box::new(Sample {
                    workload: self.workload.id,
                    index: self.index,
                    metric: metric.id,
                    case: reading.case,
                    unit: metric.unit,
                    direction: metric.direction,
                    phase,
                    process: self.process,
                    iteration,
                    value: reading.value,
                    batch: reading.operations,
                    elapsed_ns: reading.elapsed_ns as u64,
                    checksum: format!("{:#x}", reading.checksum),
                    counters: *counters,
                }))
            }
            Outcome::Distribution(Distribution {
                of,
                case,
                values,
                elapsed_ns,
                checksum,
            }) => {
                let (lowest, highest) = values.limits();
                Event::Histogram(Box::new(HistogramSample {
                    workload: self.workload.id,
                    index: self.index,
                    metric: of.id,
                    case,
                    unit: of.unit,
                    direction: of.direction,
                    phase,
                    process: self.process,
                    iteration,
                    count: values.count(),
                    lowest,
                    highest,
                    significant_digits: SIGNIFICANT_DIGITS,
                    buckets: values.buckets(),
                    elapsed_ns: elapsed_ns as u64,
                    checksum: format!("{checksum:#x}"),
                    counters: *counters,
                }))
            }
        };
        self.emitter.push(&event);
    }

    /// Says that one case, or with `None` the whole workload, yields no value, and why.
    pub fn fail(&mut self, case: Option<&Case>, failure: &Failure) {
        let (kind, reason) = failure.kind_and_reason();
        self.emitter.push(&Event::Error {
            workload: Some(self.workload.id.into()),
            index: Some(self.index),
            process: Some(self.process),
            kind,
            reason: reason.into(),
            case: case.cloned(),
        });
    }

    pub(super) fn progress(&mut self, case: &Case) {
        if self.gate.is_some() {
            self.wait(case, None);
        }
        self.emitter.push(&Event::Progress {
            workload: self.workload.id.into(),
            index: self.index,
            count: self.count,
            process: self.process,
            state: "case",
            case: Some(case.clone()),
        });
        self.emitter.flush().ok();
    }

    /// A small picture (a JPEG file in Base64) of what a case drew; once, in the first process.
    pub fn picture(&mut self, case: &Case, width: u32, height: u32, jpeg: String) {
        if self.process == 0 {
            self.emitter.push(&Event::Picture {
                workload: self.workload.id,
                index: self.index,
                process: self.process,
                case: case.clone(),
                width,
                height,
                jpeg,
            });
        }
    }

    /// A reading beside the samples, such as the shares behind a deviation.
    pub fn counter(&mut self, name: String, value: serde_json::Value) {
        self.emitter.push(&Event::Counter { name, value });
    }

    /// A remark for the record, such as which instructions were chosen.
    pub fn log(&mut self, message: String) {
        self.emitter.push(&Event::Log {
            level: "info",
            message,
        });
    }
}
