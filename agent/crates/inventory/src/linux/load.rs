//! How busy the system was when the inventory was taken.

use super::text::finite;
use crate::leaf::{leaf, Reason, Reported};
use crate::source::Source;
use serde_json::{json, Value};

pub fn collect(source: &Source) -> Value {
    let average = |index: usize| {
        let text = source.text("/proc/loadavg")?;
        let word = text.split_whitespace().nth(index);
        word.and_then(finite).ok_or_else(|| {
            Reason::new(format!(
                "/proc/loadavg has no number in field {}",
                index + 1
            ))
        })
    };
    // "2/345": runnable and all scheduling entities; gVisor says 0/0, though this process runs.
    let entities = |index: usize| {
        let text = source.text("/proc/loadavg")?;
        let counts: Vec<u64> = text
            .split_whitespace()
            .nth(3)
            .map(|word| word.split('/').filter_map(|n| n.parse().ok()).collect())
            .unwrap_or_default();
        match counts[..] {
            [_, total] if total > 0 => Ok(counts[index]),
            _ => Err(Reason::new("/proc/loadavg counts no thread at all")),
        }
    };
    let all = entities(1);
    // Where no thread is counted, averages of zero say nothing.
    let averages = |index| all.clone().and_then(|_| average(index));
    json!({
        "average_1_min": leaf(averages(0)),
        "average_5_min": leaf(averages(1)),
        "average_15_min": leaf(averages(2)),
        "running_threads": leaf(entities(0)),
        "threads": leaf(all.clone()),
        "uptime_s": leaf(uptime(source)),
        "logged_in": leaf(logged_in(source)),
        "pressure_percent_10_s": {
            "cpu": leaf(pressure(source, "cpu")),
            "memory": leaf(pressure(source, "memory")),
            "io": leaf(pressure(source, "io")),
        },
    })
}

pub fn uptime(source: &Source) -> Reported<f64> {
    let text = source.text("/proc/uptime")?;
    text.split_whitespace()
        .next()
        .and_then(finite)
        .ok_or_else(|| Reason::new("/proc/uptime has no number"))
}

/// How many sessions of users the system has on record (utmp(5)); never who they are.
pub fn logged_in(source: &Source) -> Reported<u64> {
    /// Length of a record on 64-bit Linux, and the type of a user's session.
    const RECORD: usize = 384;
    const USER_PROCESS: i16 = 7;
    let path = "/run/utmp";
    let bytes = match source.bytes(path) {
        Ok(bytes) => bytes,
        // Systems without utmp: one file for each session of logind.
        Err(refusal) => {
            let sessions = source.names("/run/systemd/sessions").map_err(|_| refusal)?;
            let files = sessions.iter().filter(|name| !name.ends_with(".ref"));
            return Ok(files.count() as u64);
        }
    };
    if bytes.len() % RECORD != 0 {
        return Err(Reason::new(format!(
            "{path} is not made of records of {RECORD} bytes"
        )));
    }
    let users = bytes
        .chunks_exact(RECORD)
        .filter(|record| i16::from_le_bytes([record[0], record[1]]) == USER_PROCESS);
    Ok(users.count() as u64)
}

/// Share of the last 10 s in which some task waited for the resource (accounting/psi.rst).
fn pressure(source: &Source, resource: &str) -> Reported<f64> {
    let path = format!("/proc/pressure/{resource}");
    let text = source.text(&path)?;
    let number = |line: &str| {
        let rest = line.strip_prefix("some avg10=")?;
        rest.split(' ').next()?.parse::<f64>().ok()
    };
    text.lines()
        .find_map(number)
        .filter(|percent| percent.is_finite())
        .ok_or_else(|| Reason::new(format!("{path} has no avg10")))
}
