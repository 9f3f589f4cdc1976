//! Requests: each is one that can be served, or is refused with one sentence.

use pentathlon_harness::Workload;
use pentathlon_hostile::{attack, corpus, damaged};
use pentathlon_protocol::catalog::{Parameter, Parameters};
use pentathlon_protocol::Request;
use pentathlon_session::read_document;
use std::collections::HashMap;

/// What the supervisor and its workers look at before anything is measured.
fn checked(
    text: &[u8],
    known: &HashMap<&str, (&'static dyn Workload, Vec<Parameter>)>,
) -> Result<Request, String> {
    let request: Request = read_document(text).inspect_err(|reason| {
        // It is printed too.
        assert!(!reason.contains(char::is_control), "{reason}");
    })?;
    request.validate()?;
    for task in &request.workloads {
        let (workload, declared) = known.get(task.id.as_str()).ok_or("there is no such one")?;
        let parameters = Parameters::resolve(declared, &task.parameters)?;
        workload.check(&parameters)?;
    }
    Ok(request)
}

#[test]
fn a_number_with_17_digits_is_the_same_after_it_was_passed_on() {
    let text = "3.9223318446744075";
    let read: f64 = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
}

#[test]
fn no_damaged_request_is_anything_but_taken_or_refused() {
    let known = pentathlon_workloads::all()
        .into_iter()
        .map(|workload| {
            let described = workload.describe();
            (described.id, (workload, described.parameters))
        })
        .collect();
    let pieces = corpus("requests", ".json");
    for piece in &pieces {
        checked(piece, &known).unwrap();
    }
    attack("requests", |random| {
        match checked(&damaged(&pieces, random), &known) {
            Ok(request) => {
                let text = serde_json::to_vec(&request).unwrap();
                let again: Request = read_document(&text[..]).unwrap();
                assert_eq!(text, serde_json::to_vec(&again).unwrap());
                true
            }
            Err(reason) => {
                assert!(!reason.is_empty());
                false
            }
        }
    });
}
