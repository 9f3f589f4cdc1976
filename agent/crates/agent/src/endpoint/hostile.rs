//! Commands: each is one that can be obeyed, or is refused with one sentence. Obeying is left out:
//! of flows their packets are planned, of lines frames are carried.

use super::command::Command;
use super::command_line;
use super::jobs::Work;
use pentathlon_hostile::{attack, corpus, damaged};
use pentathlon_packets::send::Packets;

/// What the endpoint looks at before it opens anything.
fn checked(text: &[u8]) -> Result<Command, String> {
    let line = command_line(&mut &*text).map_err(|e| e.to_string())?;
    let line = line.ok_or("there is no command")?;
    let command: Command = serde_json::from_str(&line).map_err(|e| e.to_string())?;
    command.check()?;
    match &command {
        Command::Send(send) => {
            for flow in &send.flows {
                if let Some(reason) = flow.too_short() {
                    return Err(reason);
                }
                let mut packets = Packets::new(flow, send.seed, 0)?;
                for _ in 0..300 {
                    packets.take(u64::MAX);
                }
            }
        }
        Command::Start {
            what: Work::Emulate(line),
            ..
        } => {
            for (way, which) in line.ways.iter().zip([0, 1]) {
                pentathlon_link_emulator::direction::Direction::<()>::new(way, line.seed, which)?;
            }
        }
        _ => {}
    }
    Ok(command)
}

#[test]
fn no_damaged_command_is_anything_but_taken_or_refused() {
    let pieces = corpus("commands", ".json");
    for piece in &pieces {
        checked(piece).unwrap();
    }
    attack("commands", |random| {
        let outcome = checked(&damaged(&pieces, random));
        outcome
            .map_err(|reason| assert!(!reason.is_empty()))
            .is_ok()
    });
}

#[test]
fn times_that_no_clock_reaches_are_refused() {
    for (command, expected) in [
        (
            r#"{"do":"finish","trial":"t","quiet_ms":18446744073709551615}"#,
            "'quiet_ms' is",
        ),
        (
            r#"{"do":"clock","after_ms":18446744073709551615,"to_ns":1}"#,
            "'after_ms' is",
        ),
        (
            r#"{"do":"send","trial":"t","session":"1","exchange":{"address":"::1","port":9},"flows":[
            {"flow":1,"protocol":"udp","peer":"::1","port":9,"size":{"model":"imix"},
             "gap":{"of":{"model":"imix"}},"duration_s":1e300}]}"#,
            "'duration_s' is",
        ),
    ] {
        let reason = checked(command.replace('\n', "").as_bytes()).unwrap_err();
        assert!(reason.contains(expected), "{reason}");
    }
}
