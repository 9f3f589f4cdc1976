//! The request's CPUs, policy and nice value on Windows, which has affinity masks and priority
//! classes: every value is a class by its name, and one without a counterpart is refused.

use pentathlon_harness::measure::Failure;
use pentathlon_os::placement as sys;
use pentathlon_protocol::Placement;
use serde_json::{json, Value};

/// Puts this process where it was asked to be; workers apply the placement themselves.
pub fn apply(placement: &Placement) -> Result<(), Failure> {
    if let Some(cpus) = &placement.cpus {
        sys::set_cpus(cpus)
            .map_err(|e| Failure::system(&format!("running on CPUs {cpus:?}"), &e))?;
    }
    match (placement.nice, placement.policy.as_deref()) {
        (None, None) => Ok(()),
        (nice, Some("other")) => set_class(of_nice(nice.unwrap_or(0))),
        (Some(nice), None) => set_class(of_nice(nice)),
        (_, Some("idle")) => set_class("idle"),
        (_, Some("fifo" | "rr")) => set_class("realtime"),
        (_, Some("batch")) => Err(Failure::Unsupported(
            "Windows has no counterpart of the scheduling policy batch".into(),
        )),
        (_, Some(other)) => Err(Failure::Failed(format!(
            "there is no scheduling policy '{other}'; known are: other, fifo, rr, batch, idle"
        ))),
    }
}

/// The class in the place of a nice value. Classes are strict priorities, not weights.
fn of_nice(nice: i32) -> &'static str {
    match nice {
        ..=-11 => "high",
        -10..=-1 => "above_normal",
        0 => "normal",
        1..=14 => "below_normal",
        15.. => "idle",
    }
}

fn set_class(name: &'static str) -> Result<(), Failure> {
    let what = format!("priority class {name}");
    let wanted = sys::CLASSES.iter().find(|(known, _)| *known == name);
    let (_, wanted) = wanted.expect("the names are those of the table");
    sys::set_class(*wanted).map_err(|e| Failure::system(&what, &e))?;
    match sys::class() {
        Ok(found) if found == *wanted => Ok(()),
        Ok(found) => Err(Failure::Unsupported(format!(
            "{what}: the system gave the class {} instead",
            class_name(found)
        ))),
        Err(error) => Err(Failure::system(&what, &error)),
    }
}

fn class_name(class: u32) -> String {
    let known = sys::CLASSES.iter().find(|(_, number)| *number == class);
    known.map_or_else(|| format!("{class:#x}"), |(name, _)| (*name).to_owned())
}

/// What is in force now, for the record.
pub fn in_force() -> Value {
    let unsupported = |error: std::io::Error| json!({ "unsupported": error.to_string() });
    let no_counterpart = json!({ "unsupported": "Windows has priority classes" });
    json!({
        "cpus": sys::cpus().map_or_else(unsupported, |cpus| json!(cpus)),
        "policy": no_counterpart,
        "priority": no_counterpart,
        "nice": no_counterpart,
        "priority_class": sys::class().map_or_else(unsupported, |class| json!(class_name(class))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nicer_process_never_has_a_higher_class() {
        let rank = |nice| {
            let name = of_nice(nice);
            sys::CLASSES
                .iter()
                .position(|(known, _)| *known == name)
                .unwrap()
        };
        assert!((-20..19).all(|nice| rank(nice) >= rank(nice + 1)));
        assert_eq!(of_nice(0), "normal");
    }
}
