//! `cpu.scheduling.switch`: two threads on one CPU that hand a token to and fro.

use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::{JoinHandle, Thread};

const MECHANISMS: [&str; 2] = ["futex", "pipe"];
/// Parity of the token says whose turn it is: even, the measuring thread's.
const TOKEN: u64 = 0x7e70_0000;

pub struct Switch;

impl Workload for Switch {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "cpu.scheduling.switch",
            title: "Context switch",
            summary: "Two threads bound to one CPU wake each other in turn; the time of one \
                      hand-over, which is a wake-up, a wait and a switch.",
            source: "martinovic2012 §3 (CPU scheduling); after lmbench lat_ctx and lat_pipe",
            parameters: vec![Parameter::texts_of("mechanism", &MECHANISMS)
                .described("how the threads wait for each other")],
            factors: vec![Factor::category("mechanism", "mechanism")],
            metrics: vec![Metric::lower("time", "Time per hand-over", "ns")],
            checksum: "token after one hand-over to the other thread",
            semantics: Semantics {
                linux: "futex(2) of the standard library's park and unpark; pipe(2) with one \
                        byte; sched_setaffinity(2) binds both threads to one CPU",
                windows:
                    "WaitOnAddress of the standard library's park and unpark; CreatePipe with \
                          one byte; SetProcessAffinityMask binds both threads to one CPU",
            },
        }
    }

    fn switches(&self) -> bool {
        true
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let cpu = super::bind()?;
        context.log(format!("both threads are bound to CPU {cpu}"));
        let parameters = context.parameters.clone();
        for mechanism in parameters.texts("mechanism") {
            let case = Case::new().with("mechanism", mechanism);
            let quantity = Quantity::NsPer { parts: 2.0 };
            if mechanism == "pipe" {
                match Pipes::new() {
                    Ok(mut pipes) => context.measure("time", &case, quantity, &mut pipes),
                    Err(error) => context.fail(Some(&case), &Failure::system("pipe", &error)),
                }
            } else {
                context.measure("time", &case, quantity, &mut Parked::new());
            }
        }
        Ok(())
    }
}

/// Says whether the partner took part in every operation.
fn judge(operations: u64, taken: u64) -> Result<u64, Failure> {
    if taken == operations {
        return Ok(TOKEN + 1);
    }
    Err(Failure::Invalid(format!(
        "the other thread took the token {taken} times in {operations} rounds"
    )))
}

/// Threads that wait for each other by park and unpark.
struct Parked {
    shared: Arc<Shared>,
    partner: Option<JoinHandle<()>>,
}

struct Shared {
    token: AtomicU64,
    taken: AtomicU64,
    over: AtomicBool,
    first: Thread,
}

impl Parked {
    /// The calling thread is the measuring one; the other inherits its CPU.
    fn new() -> Self {
        let shared = Arc::new(Shared {
            token: AtomicU64::new(TOKEN),
            taken: AtomicU64::new(0),
            over: AtomicBool::new(false),
            first: std::thread::current(),
        });
        let theirs = Arc::clone(&shared);
        let partner = std::thread::spawn(move || {
            while !theirs.over.load(Ordering::Acquire) {
                if theirs.token.load(Ordering::Acquire).is_multiple_of(2) {
                    std::thread::park();
                    continue;
                }
                theirs.taken.fetch_add(1, Ordering::Relaxed);
                theirs.token.store(TOKEN, Ordering::Release);
                theirs.first.unpark();
            }
        });
        Self {
            shared,
            partner: Some(partner),
        }
    }
}

impl Body for Parked {
    fn batch(&mut self, operations: u64) -> u64 {
        let before = self.shared.taken.load(Ordering::Relaxed);
        let partner = self.partner.as_ref().map(JoinHandle::thread);
        let partner = partner.expect("it runs until the end");
        for _ in 0..operations {
            self.shared.token.store(TOKEN + 1, Ordering::Release);
            partner.unpark();
            while self.shared.token.load(Ordering::Acquire) % 2 == 1 {
                std::thread::park();
            }
        }
        self.shared.taken.load(Ordering::Relaxed) - before
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        judge(operations, returned)
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        if let Some(partner) = self.partner.take() {
            partner.thread().unpark();
            partner.join().ok();
        }
    }
}

/// Threads that wait for each other's bytes.
struct Pipes {
    to_partner: Option<PipeWriter>,
    from_partner: PipeReader,
    partner: Option<JoinHandle<()>>,
}

impl Pipes {
    fn new() -> std::io::Result<Self> {
        let (mut theirs, to_partner) = std::io::pipe()?;
        let (from_partner, mut back) = std::io::pipe()?;
        let partner = std::thread::spawn(move || {
            let mut token = [0];
            // The other end's closing ends it.
            while theirs.read_exact(&mut token).is_ok() {
                token[0] = token[0].wrapping_add(1);
                if back.write_all(&token).is_err() {
                    break;
                }
            }
        });
        Ok(Self {
            to_partner: Some(to_partner),
            from_partner,
            partner: Some(partner),
        })
    }
}

impl Body for Pipes {
    fn batch(&mut self, operations: u64) -> u64 {
        let to_partner = self.to_partner.as_mut().expect("open until the end");
        let mut taken = 0;
        for operation in 0..operations {
            let mut token = [operation as u8];
            let sent = to_partner.write_all(&token);
            let came = sent.and_then(|()| self.from_partner.read_exact(&mut token));
            if came.is_err() {
                break;
            }
            taken += u64::from(token[0] == (operation as u8).wrapping_add(1));
        }
        taken
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        judge(operations, returned)
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        drop(self.to_partner.take());
        if let Some(partner) = self.partner.take() {
            partner.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_thread_takes_the_token_in_every_round() {
        let mut parked = Parked::new();
        let mut pipes = Pipes::new().unwrap();
        for body in [&mut parked as &mut dyn Body, &mut pipes] {
            for operations in [1, 100] {
                let returned = body.batch(operations);
                assert_eq!(returned, operations);
                assert_eq!(body.verify(operations, returned), Ok(TOKEN + 1));
            }
        }
    }

    #[test]
    fn a_round_without_the_other_thread_is_invalid() {
        assert!(matches!(judge(10, 9), Err(Failure::Invalid(_))));
    }
}
