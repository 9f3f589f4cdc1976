//! The counters of the machine that runs the tests.

use crate::counters::{Counters, Delta, Options};
use pentathlon_os::{pages, rusage};
use pentathlon_protocol::COUNTERS;
use std::process::Command;

/// Set in the copies of this test program that play a role.
const ROLE: &str = "PENTATHLON_TEST_ROLE";
const CHILD_USER_NS: u64 = 50_000_000;

fn values(delta: &Delta) -> Vec<(&'static str, Option<u64>)> {
    let fields = serde_json::to_value(delta).unwrap();
    COUNTERS
        .iter()
        .map(|&name| (name, fields[name].as_u64()))
        .collect()
}

#[test]
fn a_reading_has_exactly_the_supported_counters() {
    let mut counters = Counters::open();
    let support = counters.support();
    let before = counters.before();
    let delta = counters.after().delta(&before);
    for (name, value) in values(&delta) {
        assert_eq!(
            value.is_some(),
            support.supported.contains(&name),
            "{name}: {value:?}, {support:?}"
        );
    }
}

#[test]
fn the_counters_of_the_machine_can_be_left_out() {
    let mut counters = Counters::with(Options {
        only_process: true,
        ..Options::default()
    });
    let before = counters.before();
    let delta = counters.after().delta(&before);
    assert_eq!(delta.interrupts, None);
    assert!(counters.support().unsupported["interrupts"].contains("costly"));
    assert!(delta.cpu_user_ns.is_some());
}

#[test]
fn new_pages_are_counted_as_minor_faults() {
    let mut counters = Counters::open();
    if !counters.support().supported.contains(&"minor_faults") {
        eprintln!("skipped: this system does not count page faults");
        return;
    }
    let before = counters.before();
    // A kernel with large folios maps up to 16 pages by one fault; a huge page needs 512.
    pages::touch_new(256, 4096).unwrap();
    let delta = counters.after().delta(&before);
    assert!(delta.minor_faults >= Some(16), "{delta:?}");
}

#[test]
fn sleeps_are_counted_as_voluntary_switches() {
    let mut counters = Counters::open();
    if !counters.support().supported.contains(&"voluntary_switches") {
        eprintln!("skipped: this system does not count context switches");
        return;
    }
    let before = counters.before();
    for _ in 0..10 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let delta = counters.after().delta(&before);
    assert!(delta.voluntary_switches >= Some(10), "{delta:?}");
}

/// Runs this test program again with only the test below, in the given role.
fn play(role: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "counters::platform::tests::the_cpu_time_of_children_is_counted",
        ])
        .env(ROLE, role)
        .output()
        .unwrap();
    let stated = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && stated.contains("1 passed"),
        "{stated}"
    );
    stated
}

#[test]
fn the_cpu_time_of_children_is_counted() {
    match std::env::var(ROLE).as_deref() {
        Ok("child") => {
            let mut sum = 1_u64;
            while rusage::own().unwrap().user_ns < CHILD_USER_NS {
                for step in 0..100_000 {
                    sum = std::hint::black_box(sum.wrapping_mul(3) + step);
                }
            }
        }
        // A process of its own, in which no other test uses CPU time meanwhile.
        Ok("parent") => {
            let mut counters = Counters::open();
            let before = counters.before();
            play("child");
            let delta = counters.after().delta(&before);
            // The child ended no sooner than its own clock states, and it was waited for.
            assert!(delta.cpu_user_ns >= Some(CHILD_USER_NS), "{delta:?}");
        }
        _ => {
            play("parent");
        }
    }
}

#[test]
fn the_cpu_clock_has_a_step() {
    let step = super::process::clock_step_ns();
    assert!(step.is_some_and(|ns| ns > 0), "{step:?}");
}
