//! A timed body that makes one call after another and counts the correct ones.

use crate::measure::{Body, Failure};

/// Makes a body of `call`, which says whether the call did what it should, and `proof`, which looks
/// at what the batch left behind (outside the timed region).
pub struct Calls<C, P> {
    call: C,
    proof: P,
    failure: Option<Failure>,
}

impl<C, P> Calls<C, P>
where
    C: FnMut() -> Result<bool, Failure>,
    P: FnMut() -> Result<(), String>,
{
    pub fn new(call: C, proof: P) -> Self {
        Self {
            call,
            proof,
            failure: None,
        }
    }
}

/// For calls that leave nothing behind.
pub fn nothing_left() -> Result<(), String> {
    Ok(())
}

impl<C, P> Body for Calls<C, P>
where
    C: FnMut() -> Result<bool, Failure>,
    P: FnMut() -> Result<(), String>,
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
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if correct != operations {
            return Err(Failure::Invalid(format!(
                "{correct} of {operations} calls did what they should"
            )));
        }
        (self.proof)().map_err(Failure::Invalid)?;
        Ok(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_does_not_depend_on_the_batch() {
        let mut body = Calls::new(|| Ok(true), nothing_left);
        for operations in [1, 7, 1000] {
            let correct = body.batch(operations);
            assert_eq!(body.verify(operations, correct), Ok(1));
        }
    }

    #[test]
    fn one_wrong_call_in_a_thousand_is_found() {
        let mut calls = 0;
        let mut body = Calls::new(
            || {
                calls += 1;
                Ok(calls != 500)
            },
            nothing_left,
        );
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
        let mut body = Calls::new(
            || {
                calls += 1;
                if calls == 3 {
                    Err(refusal.clone())
                } else {
                    Ok(true)
                }
            },
            nothing_left,
        );
        let correct = body.batch(1000);
        assert_eq!(correct, 2);
        assert_eq!(body.verify(1000, correct), Err(refusal.clone()));
        drop(body);
        assert_eq!(calls, 3);
    }

    #[test]
    fn what_a_batch_leaves_behind_is_looked_at() {
        let mut body = Calls::new(|| Ok(true), || Err("the file is still there".to_owned()));
        let correct = body.batch(10);
        let found = body.verify(10, correct);
        assert_eq!(
            found,
            Err(Failure::Invalid("the file is still there".into()))
        );
    }
}
