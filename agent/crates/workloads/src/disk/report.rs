//! How the workloads of this area report: rates, and beside each case who answered its reads.

use super::served::Observation;
use super::sweep::Pass;
use pentathlon_harness::clock::Clock;
use pentathlon_harness::measure::{Context, Failure, Outcome, Reading};
use pentathlon_protocol::Case;
use serde_json::{json, Value};

/// The reading of a pass as a rate.
pub fn rate(metric: &'static str, case: &Case, pass: &Pass, checksum: u64) -> Reading {
    Reading {
        metric,
        case: case.clone(),
        value: pass.rate(),
        operations: pass.chunks,
        elapsed_ns: pass.elapsed_ns,
        checksum,
    }
}

/// Measures the rounds of a case, which note who answered their reads.
pub fn rounds<O: Into<Outcome>>(
    context: &mut Context<'_>,
    case: &Case,
    mut round: impl FnMut(&Clock, &mut Seen) -> Result<Vec<O>, Failure>,
) {
    let mut seen = Seen::new(context.workload.id, case);
    context.rounds(case, |clock, _| round(clock, &mut seen));
    seen.report(context);
}

/// Who answered the timed reads of a case, round by round (warm-up first); reported after the case as
/// one counter event, `disk.served`.
pub struct Seen {
    workload: &'static str,
    case: Value,
    rounds: Vec<Value>,
}

impl Seen {
    fn new(workload: &'static str, case: &Case) -> Self {
        Self {
            workload,
            case: json!(case),
            rounds: Vec::new(),
        }
    }

    pub fn note(&mut self, metric: &'static str, seen: Observation) {
        let mut value = json!(seen);
        value["metric"] = metric.into();
        self.rounds.push(value);
    }

    fn report(self, context: &mut Context<'_>) {
        if !self.rounds.is_empty() {
            let value = json!({
                "workload": self.workload, "case": self.case, "reads": self.rounds,
            });
            context.counter("disk.served".into(), value);
        }
    }
}
