//! Whether the timed loops do the work that they are asked for: four times the work takes about
//! four times the CPU time. This is one test in a program of its own, because the CPU time is that
//! of the whole process.

#![cfg(unix)]

use pentathlon_agent::measure::Body;
use pentathlon_agent::sys::region::{Pages, Region};
use pentathlon_agent::sys::rusage;
use pentathlon_agent::workloads::arithmetic::{kernels::Rate, Chains, Kind, Operation};
use pentathlon_agent::workloads::memory::kernels::{self, Chain};

/// Enough to be measured well.
const LEAST_NS: u64 = 300_000;
const READINGS: u32 = 5;

/// User and system time that `work` takes, in ns: the least of several readings, because a
/// neighbour on the same core slows single ones down.
fn least_cpu_ns(mut work: impl FnMut(), readings: u32) -> u64 {
    let now = || {
        let usage = rusage::own().expect("the system counts CPU time");
        usage.user_ns + usage.system_ns
    };
    (0..readings)
        .map(|_| {
            let before = now();
            work();
            now() - before
        })
        .min()
        .expect("at least one")
}

/// How much longer four times the work takes, or why that cannot be told.
fn growth(mut work: impl FnMut(u64)) -> Result<f64, String> {
    let mut count = 1;
    while least_cpu_ns(|| work(count), 1) < LEAST_NS {
        count *= 2;
        if count > 1 << 40 {
            return Err(format!("{count} operations take no time"));
        }
    }
    let once = least_cpu_ns(|| work(count), READINGS).max(1);
    let four_times = least_cpu_ns(|| work(4 * count), READINGS);
    Ok(four_times as f64 / once as f64)
}

fn assert_scales(name: &str, work: impl FnMut(u64)) {
    match growth(work) {
        Ok(growth) => assert!(
            (2.0..=8.0).contains(&growth),
            "{name}: four times the work takes {growth:.2} times as long"
        ),
        Err(reason) => panic!("{name}: {reason}"),
    }
}

#[test]
fn time_grows_with_the_work_of_every_loop() {
    // The check itself finds a loop that was removed, and one that ignores its count.
    assert!(growth(|_| ()).is_err());
    let ignores = growth(|_| {
        let mut state = 1u64;
        for _ in 0..20_000_000 {
            state = std::hint::black_box(state.wrapping_mul(3));
        }
    });
    assert!(ignores.is_ok_and(|growth| growth < 2.0));

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
