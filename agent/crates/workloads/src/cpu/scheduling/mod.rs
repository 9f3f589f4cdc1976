//! What the scheduler of the system costs and grants: context switches, wake-ups, sleeps, shares.

mod fairness;
mod sleep;
mod switch;
mod wakeup;

use pentathlon_harness::measure::Failure;
use pentathlon_harness::Workload;
use pentathlon_protocol::catalog::Metric;

pub const WORKLOADS: &[&dyn Workload] = &[
    &switch::Switch,
    &wakeup::WakeUp,
    &sleep::Sleep,
    &fairness::Fairness,
];

/// What is derived from a histogram of times.
const QUANTILES: &[(&str, f64)] = &[
    ("median", 0.5),
    ("p99", 0.99),
    ("p999", 0.999),
    ("maximum", 1.0),
];

/// The metrics of `QUANTILES`.
fn quantiles() -> Vec<Metric> {
    let titles = [
        ("median", "Median"),
        ("p99", "99th percentile"),
        ("p999", "99.9th percentile"),
        ("maximum", "Maximum"),
    ];
    let metric = |(id, title)| Metric::lower(id, title, "ns");
    titles.map(metric).into()
}

/// Binds this thread, and those it starts from now on, to the first CPU it may run on.
#[cfg(any(target_os = "linux", windows))]
fn bind() -> Result<usize, Failure> {
    let cpu = allowed()?[0];
    pentathlon_os::placement::set_cpus(&[cpu])
        .map_err(|e| Failure::system("binding threads to one CPU", &e))?;
    match allowed()?[..] {
        [only] if only == cpu => Ok(cpu),
        _ => Err(Failure::Unsupported(format!(
            "the system did not bind the threads to CPU {cpu} when asked to"
        ))),
    }
}

#[cfg(not(any(target_os = "linux", windows)))]
fn bind() -> Result<usize, Failure> {
    Err(Failure::Unsupported(
        "threads are not bound to a CPU on this system".into(),
    ))
}

/// The CPUs this thread may run on: at least one.
#[cfg(any(target_os = "linux", windows))]
fn allowed() -> Result<Vec<usize>, Failure> {
    pentathlon_os::placement::cpus().map_err(|e| Failure::system("reading the CPUs allowed", &e))
}

#[cfg(not(any(target_os = "linux", windows)))]
fn allowed() -> Result<Vec<usize>, Failure> {
    let count = std::thread::available_parallelism()
        .map_err(|e| Failure::system("counting the CPUs", &e))?;
    Ok((0..count.get()).collect())
}

/// Threads that never sleep would starve the others under a real-time policy.
#[cfg(target_os = "linux")]
fn time_shared() -> Result<(), Failure> {
    let (policy, _) = pentathlon_os::placement::policy()
        .map_err(|e| Failure::system("reading the scheduling policy", &e))?;
    match policy & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_OTHER | libc::SCHED_BATCH | libc::SCHED_IDLE => Ok(()),
        _ => Err(Failure::Unsupported(
            "under a real-time policy threads that never sleep would starve the others".into(),
        )),
    }
}

#[cfg(windows)]
fn time_shared() -> Result<(), Failure> {
    use pentathlon_os::placement::{class, CLASSES};
    let class = class().map_err(|e| Failure::system("reading the priority class", &e))?;
    if CLASSES.contains(&("realtime", class)) {
        return Err(Failure::Unsupported(
            "in the realtime class threads that never sleep would starve the others".into(),
        ));
    }
    Ok(())
}

#[cfg(not(any(target_os = "linux", windows)))]
fn time_shared() -> Result<(), Failure> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn nice() -> i32 {
    pentathlon_os::placement::nice()
}

#[cfg(not(target_os = "linux"))]
fn nice() -> i32 {
    0
}

/// Gives this thread, which ends soon, a nice value `difference` above `base`.
#[cfg(target_os = "linux")]
fn make_nicer(base: i32, difference: i32) -> Result<(), Failure> {
    if difference == 0 {
        return Ok(());
    }
    let wanted = base + difference;
    pentathlon_os::placement::set_nice(wanted)
        .map_err(|e| Failure::system("a higher nice value", &e))?;
    match nice() {
        found if found == wanted => Ok(()),
        found => Err(Failure::Unsupported(format!(
            "the system left the thread at nice value {found} when asked for {wanted}"
        ))),
    }
}

#[cfg(not(target_os = "linux"))]
fn make_nicer(_base: i32, _difference: i32) -> Result<(), Failure> {
    Err(Failure::Unsupported(
        "nice values of threads are not weights on this system".into(),
    ))
}
