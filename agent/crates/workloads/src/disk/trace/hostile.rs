//! Texts of traces: each is read, or refused with one sentence that names a line.

use super::format::Trace;
use pentathlon_hostile::{attack, corpus, damaged};

#[test]
fn no_damaged_trace_is_anything_but_read_or_refused() {
    let pieces = corpus("traces", ".jsonl");
    for piece in &pieces {
        Trace::parse(std::str::from_utf8(piece).unwrap()).unwrap();
    }
    attack("traces", |random| {
        let text = damaged(&pieces, random);
        match Trace::parse(&String::from_utf8_lossy(&text)) {
            Ok(trace) => {
                assert_eq!(Trace::parse(&trace.text()).unwrap(), trace);
                true
            }
            Err(reason) => {
                assert!(!reason.is_empty());
                false
            }
        }
    });
}
