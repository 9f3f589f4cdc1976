//! Timed bodies that make one call after another and count the correct ones.

use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_protocol::Case;

/// Measures single calls that leave nothing behind; the call reports whether it did what it should.
pub fn measure<C>(context: &mut Context<'_>, case: &Case, call: C)
where
    C: FnMut() -> Result<bool, Failure>,
{
    context.measure("time", case, Quantity::NS, &mut Calls::new(call));
}

/// Measures a loop that makes all calls of a batch, as [`Looped`] has it.
pub fn measure_loop<L, P>(context: &mut Context<'_>, case: &Case, calls: L, proof: P)
where
    L: FnMut(u64) -> Result<u64, Failure>,
    P: FnMut() -> Result<(), String>,
{
    context.measure("time", case, Quantity::NS, &mut Looped::new(calls, proof));
}

struct Calls<C> {
    call: C,
    failure: Option<Failure>,
}

impl<C> Calls<C> {
    fn new(call: C) -> Self {
        Self {
            call,
            failure: None,
        }
    }
}

/// For calls that leave nothing behind.
pub fn nothing_left() -> Result<(), String> {
    Ok(())
}

impl<C> Body for Calls<C>
where
    C: FnMut() -> Result<bool, Failure>,
{
    #[inline]
    fn batch(&mut self, operations: u64) -> u64 {
        let mut correct = 0;
        for _ in 0..operations {
            match (self.call)() {
                Ok(right) => correct += u64::from(right),
                Err(failure) => {
                    self.failure = Some(failure);
                    break;
                }
            }
        }
        correct
    }

    fn verify(&mut self, operations: u64, correct: u64) -> Result<u64, Failure> {
        judge(self.failure.take(), operations, correct, nothing_left)
    }
}

fn judge(
    failure: Option<Failure>,
    operations: u64,
    correct: u64,
    proof: impl FnOnce() -> Result<(), String>,
) -> Result<u64, Failure> {
    if let Some(failure) = failure {
        return Err(failure);
    }
    if correct != operations {
        return Err(Failure::Invalid(format!(
            "{correct} of {operations} calls did what they should"
        )));
    }
    proof().map_err(Failure::Invalid)?;
    Ok(1)
}

/// A loop that makes all calls of a batch itself: it is given their number and returns how many did what
/// they should. `proof` looks at what the batch left behind (outside the timed region).
struct Looped<L, P> {
    calls: L,
    proof: P,
    failure: Option<Failure>,
}

impl<L, P> Looped<L, P> {
    fn new(calls: L, proof: P) -> Self {
        Self {
            calls,
            proof,
            failure: None,
        }
    }
}

impl<L, P> Body for Looped<L, P>
where
    L: FnMut(u64) -> Result<u64, Failure>,
    P: FnMut() -> Result<(), String>,
{
    #[inline]
    fn batch(&mut self, operations: u64) -> u64 {
        (self.calls)(operations).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            0
        })
    }

    fn verify(&mut self, operations: u64, correct: u64) -> Result<u64, Failure> {
        judge(self.failure.take(), operations, correct, &mut self.proof)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_does_not_depend_on_the_batch() {
        let mut body = Calls::new(|| Ok(true));
        for operations in [1, 7, 1000] {
            let correct = body.batch(operations);
            assert_eq!(body.verify(operations, correct), Ok(1));
        }
    }

    #[test]
    fn one_wrong_call_in_a_thousand_is_found() {
        let mut calls = 0;
        let mut body = Calls::new(|| {
            calls += 1;
            Ok(calls != 500)
        });
        let correct = body.batch(1000);
        let found = body.verify(1000, correct);
        assert_eq!(
            found,
            Err(Failure::Invalid(
                "999 of 1000 calls did what they should".into()
            ))
        );
    }

    #[test]
    fn a_refused_call_ends_the_batch_with_its_reason() {
        let refusal = Failure::Unsupported("no".into());
        let mut calls = 0;
        let mut body = Calls::new(|| {
            calls += 1;
            if calls == 3 {
                Err(refusal.clone())
            } else {
                Ok(true)
            }
        });
        let correct = body.batch(1000);
        assert_eq!(correct, 2);
        assert_eq!(body.verify(1000, correct), Err(refusal.clone()));
        drop(body);
        assert_eq!(calls, 3);
    }

    #[test]
    fn what_a_batch_leaves_behind_is_looked_at() {
        let mut body = Looped::new(Ok, || Err("the file is still there".to_owned()));
        let correct = body.batch(10);
        let found = body.verify(10, correct);
        assert_eq!(
            found,
            Err(Failure::Invalid("the file is still there".into()))
        );
    }

    #[test]
    fn a_loop_that_stops_or_miscounts_is_found() {
        let refusal = Failure::Failed("no".into());
        let mut body = Looped::new(
            |operations| match operations {
                3 => Err(refusal.clone()),
                _ => Ok(operations.min(5)),
            },
            nothing_left,
        );
        for (operations, wanted) in [
            (3, Err(refusal.clone())),
            (5, Ok(1)),
            (
                6,
                Err(Failure::Invalid("5 of 6 calls did what they should".into())),
            ),
        ] {
            let correct = body.batch(operations);
            assert_eq!(body.verify(operations, correct), wanted);
        }
    }
}
