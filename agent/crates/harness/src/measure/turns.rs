//! What the experimenter asks of the batches of a case: whether they wait for their turns, and how
//! large they were in an earlier boot.

use pentathlon_protocol::{Case, CaseValue, Gate, SizedBatch};
use serde_json::Value;

/// Work that is not timed before a measured batch that took its turn, in ns: enough to read the
/// largest working set that takes turns (at most half of a second-level cache) from the third level
/// several times, and to run the longest system call of such a case several times.
const REFILL_NS: f64 = 300_000.0;
/// Most of a batch that is not worth timing.
const LARGEST_REFILL: f64 = 0.5;

/// Operations that are not timed before a batch of so many, which takes about `target_ns`.
pub fn refill(operations: u64, target_ns: f64) -> u64 {
    let share = (REFILL_NS / target_ns).min(LARGEST_REFILL);
    ((operations as f64 * share) as u64).max(1)
}

/// Whether each measured batch of a case waits for its release: the workload says what it goes over,
/// and that is no larger than the gate's limit.
pub fn taken(gate: Option<Gate>, buffers: u8, case: &Case) -> bool {
    let Some(most) = gate.and_then(|gate| gate.batches_up_to_bytes) else {
        return false;
    };
    buffers > 0
        && case.0.iter().all(|(factor, value)| match value {
            CaseValue::Integer(size) if *factor == "bytes" || factor.ends_with("_bytes") => {
                size.saturating_mul(buffers.into()) <= most
            }
            _ => true,
        })
}

/// Whether each measured run of a program of the user's own waits for its release. Every run starts
/// anew, so what it goes over is no matter.
pub fn of_programs(gate: Option<Gate>) -> bool {
    gate.is_some_and(|gate| gate.batches_up_to_bytes.is_some())
}

/// The operations of a batch of that metric and case in an earlier boot.
pub fn known_batch(batches: &[SizedBatch], metric: &str, case: &Case) -> Option<u64> {
    if batches.is_empty() {
        return None;
    }
    let case = serde_json::to_value(case).ok()?;
    let Value::Object(case) = case else {
        return None;
    };
    let known = batches
        .iter()
        .find(|batch| batch.metric == metric && batch.case == case);
    known.map(|batch| batch.operations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(bytes: u64) -> Case {
        Case::new().with("block_bytes", bytes).with("variant", "v")
    }

    #[test]
    fn programs_take_turns_whatever_the_limit() {
        let gate = |most| {
            Some(Gate {
                batches_up_to_bytes: most,
            })
        };
        assert!(of_programs(gate(Some(0))));
        assert!(!of_programs(gate(None)));
        assert!(!of_programs(None));
    }

    #[test]
    fn a_refill_has_a_length_of_its_own_and_is_no_longer_than_half_a_batch() {
        assert_eq!(refill(1000, 3e6), 100);
        assert_eq!(refill(1000, 2e6), 150);
        assert_eq!(refill(1000, 1e5), 500);
        assert_eq!(refill(1, 2e6), 1);
    }

    #[test]
    fn turns_are_for_buffers_that_fit() {
        let gate = |most| {
            Some(Gate {
                batches_up_to_bytes: most,
            })
        };
        assert!(taken(gate(Some(4096)), 1, &case(4096)));
        assert!(!taken(gate(Some(4096)), 1, &case(4097)));
        assert!(!taken(gate(Some(4096)), 2, &case(4096)));
        assert!(!taken(gate(Some(4096)), 0, &case(1)));
        assert!(!taken(gate(None), 1, &case(1)));
        assert!(!taken(None, 1, &case(1)));
        let named = Case::new().with("bytes", 1u64 << 40);
        assert!(!taken(gate(Some(4096)), 1, &named));
        assert!(taken(
            gate(Some(4096)),
            1,
            &Case::new().with("pages", 1u64 << 40)
        ));
    }

    #[test]
    fn a_batch_is_known_by_metric_and_case() {
        let batches = [SizedBatch {
            metric: "time".into(),
            case: serde_json::from_str(r#"{"variant":"v","block_bytes":4096}"#).unwrap(),
            operations: 7,
        }];
        assert_eq!(known_batch(&batches, "time", &case(4096)), Some(7));
        assert_eq!(known_batch(&batches, "time", &case(1)), None);
        assert_eq!(known_batch(&batches, "other", &case(4096)), None);
    }
}
