//! Applies the request's CPUs, scheduling policy and nice value, and reports what is in force.

use pentathlon_harness::measure::Failure;
use pentathlon_os::placement as sys;
use pentathlon_protocol::Placement;
use serde_json::{json, Value};

const POLICIES: &[(&str, i32)] = &[
    ("other", libc::SCHED_OTHER),
    ("fifo", libc::SCHED_FIFO),
    ("rr", libc::SCHED_RR),
    #[cfg(target_os = "linux")]
    ("batch", libc::SCHED_BATCH),
    #[cfg(target_os = "linux")]
    ("idle", libc::SCHED_IDLE),
];

/// The mark of a policy that children do not inherit, which the kernel keeps in the same word.
#[cfg(target_os = "linux")]
const NOT_INHERITED: i32 = libc::SCHED_RESET_ON_FORK;
#[cfg(not(target_os = "linux"))]
const NOT_INHERITED: i32 = 0;

/// Puts this process where it was asked to be; children inherit it.
pub fn apply(placement: &Placement) -> Result<(), Failure> {
    if let Some(cpus) = &placement.cpus {
        sys::set_cpus(cpus)
            .map_err(|e| Failure::system(&format!("running on CPUs {cpus:?}"), &e))?;
    }
    if let Some(nice) = placement.nice {
        sys::set_nice(nice).map_err(|e| Failure::system(&format!("nice value {nice}"), &e))?;
    }
    if let Some(name) = &placement.policy {
        let Some(&(_, policy)) = POLICIES.iter().find(|(known, _)| known == name) else {
            let known: Vec<_> = POLICIES.iter().map(|(known, _)| *known).collect();
            return Err(Failure::Failed(format!(
                "there is no scheduling policy '{name}'; known are: {}",
                known.join(", ")
            )));
        };
        let real_time = matches!(policy, libc::SCHED_FIFO | libc::SCHED_RR);
        let priority = placement.priority.unwrap_or(i32::from(real_time));
        sys::set_policy(policy, priority).map_err(|e| {
            Failure::system(
                &format!("scheduling policy {name} with priority {priority}"),
                &e,
            )
        })?;
    }
    Ok(())
}

/// What is in force now, for the record.
pub fn in_force() -> Value {
    let unsupported = |error: std::io::Error| json!({ "unsupported": error.to_string() });
    let (policy, priority) = match sys::policy() {
        Ok((number, priority)) => {
            let number = number & !NOT_INHERITED;
            let name = POLICIES.iter().find(|(_, n)| *n == number);
            (
                json!(name.map_or_else(|| format!("policy {number}"), |(n, _)| (*n).to_string())),
                json!(priority),
            )
        }
        Err(error) => {
            let reason = unsupported(error);
            (reason.clone(), reason)
        }
    };
    json!({
        "cpus": sys::cpus().map_or_else(unsupported, |cpus| json!(cpus)),
        "policy": policy,
        "priority": priority,
        "nice": sys::nice(),
    })
}
