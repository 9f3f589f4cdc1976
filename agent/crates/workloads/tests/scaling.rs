//! Whether the timed loops do the work that is requested of them: four times the work takes about
//! four times the CPU time. This is one test in a program of its own, because the CPU time is that
//! of the whole process.

#![cfg(unix)]

use pentathlon_harness::measure::Body;
use pentathlon_os::region::{Pages, Region};
use pentathlon_os::rusage;
use pentathlon_workloads::arithmetic::{kernels::Rate, Chains, Kind, Operation};
use pentathlon_workloads::memory::kernels::{self, Chain};

/// Enough to be measured well.
const LEAST_NS: u64 = 300_000;
const READINGS: u32 = 5;
/// Neighbours slow a core down several times, for longer than all readings of one loop take.
const ATTEMPTS: u32 = 5;

/// User and system time that `work` takes, in ns.
fn cpu_ns(work: impl FnOnce()) -> u64 {
    let now = || {
        let usage = rusage::own().expect("the system counts CPU time");
        usage.user_ns + usage.system_ns
    };
    let before = now();
    work();
    now() - before
}

/// How much longer four times the work takes, or why that cannot be determined. Of several readings of
/// each in turn the least, because a neighbour on the same core slows single ones down.
fn growth(work: &mut impl FnMut(u64)) -> Result<f64, String> {
    let mut count = 1;
    while cpu_ns(|| work(count)) < LEAST_NS {
        count *= 2;
        if count > 1 << 40 {
            return Err(format!("{count} operations take no time"));
        }
    }
    let (mut once, mut four_times) = (u64::MAX, u64::MAX);
    for _ in 0..READINGS {
        once = once.min(cpu_ns(|| work(count)));
        four_times = four_times.min(cpu_ns(|| work(4 * count)));
    }
    Ok(four_times as f64 / once.max(1) as f64)
}

/// Whether four times the work takes about four times as long, in one attempt at least: a loop that
/// does not do its work does not in any. The error states what the last one found.
fn scales(mut work: impl FnMut(u64)) -> Result<(), String> {
    let mut found = Ok(());
    for _ in 0..ATTEMPTS {
        found = match growth(&mut work)? {
            growth if (2.0..=8.0).contains(&growth) => return Ok(()),
            growth => Err(format!(
                "four times the work takes {growth:.2} times as long"
            )),
        };
    }
    found
}

fn assert_scales(name: &str, work: impl FnMut(u64)) {
    if let Err(reason) = scales(work) {
        panic!("{name}: {reason}");
    }
}

#[test]
fn time_grows_with_the_work_of_every_loop() {
    // The check itself finds a loop that was removed, and one that ignores its count.
    assert!(growth(&mut |_| ()).is_err());
    let mut ignores = |_| {
        let mut state = 1u64;
        for _ in 0..20_000_000 {
            state = std::hint::black_box(state.wrapping_mul(3));
        }
    };
    assert!((0..ATTEMPTS).any(|_| growth(&mut ignores).is_ok_and(|growth| growth < 2.0)));

    bandwidth();
    latency();
    arithmetic();
}

fn bandwidth() {
    const BYTES: usize = 1 << 20;
    let mut region = Region::reserve(2 * BYTES, Pages::Default).expect("2 MiB");
    region.touch(2 * BYTES).expect("2 MiB");
    let (block, copy) = region.words().split_at_mut(BYTES / 8);
    let all = kernels::NAMES
        .iter()
        .filter_map(|name| kernels::named(name).ok());
    for kernels in all.chain([kernels::portable()]) {
        for words in [1024 / 8, BYTES / 8] {
            let name = format!("{} {} B", kernels.name, words * 8);
            assert_scales(&format!("read {name}"), |passes| {
                std::hint::black_box(kernels.read(&block[..words], passes));
            });
            assert_scales(&format!("write {name}"), |passes| {
                kernels.write(&mut block[..words], 1, passes);
            });
            assert_scales(&format!("copy {name}"), |passes| {
                kernels.copy(&mut copy[..words], &block[..words], passes);
            });
        }
    }
}

fn latency() {
    let mut words = vec![0; (64 << 10) / 8];
    let mut chain = Chain::build(&mut words, 8, 1);
    assert_scales("chain", |steps| {
        let address = chain.walk(steps);
        chain.arrive(steps, address).expect("the walk was taken");
    });
}

fn arithmetic() {
    for operation in Operation::ALL {
        for kind in Kind::ALL {
            for rate in [Rate::Throughput, Rate::Latency] {
                let mut chains = Chains::new(operation, kind, rate).expect("it computes");
                let name = format!("{operation:?} {kind:?} {rate:?}");
                assert_scales(&name, |blocks| {
                    chains.prepare(blocks).expect("a start");
                    let returned = chains.batch(blocks);
                    chains.verify(blocks, returned).expect("it computes");
                });
            }
        }
    }
}
