//! What crosses the boundary, as one JSON Schema (2020-12), made from the types that read and write
//! it.

use crate::endpoint::{Answered, Command};
use pentathlon_packets::join;
use pentathlon_protocol::{catalog, Line, Release, Request, VERSION};
use schemars::generate::SchemaSettings;
use serde_json::{json, Map, Value};

/// What the types do not say, so that nobody takes its absence for a promise.
const NOT_DESCRIBED: &str = "Not described, so any value passes: the inventory (`system` of an \
    `inventory` event), `placement` of that event, `detail` of a `step` event, `value` of a \
    `counter` event, a workload's parameters, which its catalog entry declares, and the case of a \
    competitor's batch. Ranges of a request's numbers are checked by the agent.";

/// The whole document. Each message is one of `$defs`: `Request`, `Release`, `Event`, `Command`,
/// `Answer`, `JoinRequest`, `Joined` and `Catalog`.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12;
    // What is left out of a request has its default; what is written is always there.
    let mut read = settings().for_deserialize().into_generator();
    let mut written = settings().for_serialize().into_generator();
    let messages = [
        read.subschema_for::<Request>(),
        read.subschema_for::<Release>(),
        written.subschema_for::<Line>(),
        read.subschema_for::<Command>(),
        read.subschema_for::<join::Request>(),
        written.subschema_for::<Answered>(),
        written.subschema_for::<join::Joined>(),
        written.subschema_for::<catalog::Document>(),
    ];
    let mut types = Map::new();
    for (name, schema) in [&mut read, &mut written]
        .into_iter()
        .flat_map(|generator| generator.take_definitions(true))
    {
        let before = types.insert(name.clone(), schema);
        assert!(before.is_none(), "two types have the name {name}");
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Protocol {VERSION} of pentathlon-agent"),
        "$comment": NOT_DESCRIBED,
        "anyOf": messages,
        "$defs": types,
    })
}

#[cfg(test)]
#[path = "../tests/program/checker.rs"]
mod checker;

#[cfg(test)]
mod tests {
    use super::checker::Checker;
    use super::*;
    use serde::de::DeserializeOwned;

    fn requests() -> Vec<Value> {
        vec![
            json!({"protocol": 2, "workloads": [{"id": "test.spin"}]}),
            json!({
                "protocol": 2, "session": "5f", "seed": 1, "scratch": "/tmp", "inventory": true,
                "files": "/run/files",
                "placement": {"cpus": [1], "policy": "fifo", "priority": 10, "nice": 0},
                "prepare": [
                    {"do": "idle", "tasks": ["sync"]},
                    {"do": "settle", "after_boot_s": 0, "quiet_s": 1, "limit_s": 5,
                     "cpu_percent": 5, "disk_kb_per_s": 100, "network_packets_per_s": 50,
                     "temperature_c": 2, "frequency_percent": 5, "users": 0},
                ],
                "workloads": [
                    {"id": "memory.read", "parameters": {"block_bytes": [1024]}, "iterations": 5,
                     "warmup": 1, "sample_ms": 5.0, "processes": 1, "timeout_s": 120},
                    {"id": "my.x", "command": {
                        "files": "my.x", "setup": ["a"], "timeout_s": 1.5, "any_status": true,
                        "largest_file_bytes": 1024,
                        "cases": [{"case": {"size": 4, "mode": "x"}, "command": ["./a", "4"],
                                   "prepare": ["b"], "cleanup": ["c"]}]}},
                ],
            }),
        ]
    }

    fn joins() -> Vec<Value> {
        vec![json!({
            "sent": "/tmp/a", "received": "/tmp/b", "delay_shares": [0.5], "late_shares": [0.99],
            "clocks": {"origin_ns": 0, "offset_ns": 7.5e12, "drift": 2e-5},
        })]
    }

    fn commands() -> Vec<Value> {
        #[cfg(target_os = "linux")]
        let way = json!({
            "rate_bps": 1e6, "burst_bytes": 0, "overhead_bytes": -4, "delay_ns": 5,
            "jitter": {"model": "normal", "mean": 1, "sd": 2}, "keep_order": true,
            "loss": {"model": "gilbert", "p": 0.1, "r": 0.2, "loss_good": 0, "loss_bad": 1},
            "reorder": 0, "duplicate": 0, "mtu_bytes": 1500,
            "queue": {"bytes": 9, "frames": 9, "codel": {"target_ns": 5, "interval_ns": 9}},
        });
        #[cfg(target_os = "linux")]
        let plain = json!({"queue": {}, "mtu_bytes": 1500, "jitter": {"quantiles": [1, 2]}});
        let placement = json!({"cpus": [0]});
        let works = [
            json!({"work": "soak", "threads": 1, "placement": placement}),
            json!({"work": "watch", "period_ms": 5}),
            json!({"work": "ping", "peer": "::1", "period_ms": 5}),
            json!({"work": "program", "command": ["a"], "environment": {"A": "b"},
                   "directory": "/", "input": "x"}),
            json!({"work": "compete", "workload": "w", "parameters": {"a": 1}, "copies": 1,
                   "placement": placement}),
            #[cfg(target_os = "linux")]
            json!({"work": "emulate", "interfaces": ["a", "b"], "namespaces": [null, "/run/n"],
                   "ways": [way, plain], "seed": 1, "spin_us": 5, "lead_ns": 0}),
            #[cfg(target_os = "linux")]
            json!({"work": "probe", "local": "127.0.0.1:1", "peer": "[::1]:1", "mark": 1,
                   "send": {"count": 1, "size_bytes": 9, "period_ns": 9, "after_ns": 0,
                            "answer": true}}),
        ];
        let mut all = vec![
            json!({"do": "listen", "trial": "t", "session": "5f", "address": "127.0.0.1",
                   "flows": [{"flow": 1, "protocol": "udp", "address": "127.0.0.1", "port": 0,
                              "role": "echo", "spinning": true, "reader": "ring", "transmit_backend": "gso",
                              "buffer_bytes": 9, "group": "224.0.0.1", "hears": 0,
                              "stamps": true}]}),
            json!({"do": "send", "trial": "t", "session": "5f", "seed": 1, "quiet_ms": 5,
                   "exchange": {"address": "::1", "port": 9},
                   "flows": [{"flow": 1, "protocol": "tcp", "peer": "::1", "port": 9,
                              "size": {"model": "constant", "value": 64},
                              "gap": {"of": {"model": "poisson", "mean": 5, "unit": 2},
                                      "rate": true, "hold_s": 1,
                                      "on": {"model": "trace", "values": [1, 2]},
                                      "off": {"model": "uniform", "minimum": 1, "maximum": 2}},
                              "duration_s": 1, "packets": 9, "start_s": 0, "transmit_backend": "send",
                              "echo": false, "buffer_bytes": null, "source": "::1",
                              "stamps": false}]}),
            json!({"do": "finish", "trial": "t", "quiet_ms": 5}),
            json!({"do": "fetch", "trial": "t"}),
            json!({"do": "address", "interface": "a", "addresses": ["198.18.0.1/24"]}),
            json!({"do": "clock", "after_ms": 5, "to_ns": 5}),
            json!({"do": "forward", "on": true}),
            json!({"do": "tune", "budget": 0, "routes": {"count": 9, "via": "::1"},
                   "firewall": {"rules": 9, "ip_version": 4},
                   "polling": {"interface": "a", "threaded": true}}),
            json!({"do": "order", "job": "j", "order": "cut"}),
            json!({"do": "stop", "job": "j"}),
            json!({"do": "capture", "trial": "t", "interface": "a"}),
            json!({"do": "captured", "trial": "t"}),
            json!({"do": "perform", "program": {"command": ["a"]}, "timeout_s": 5}),
            json!({"do": "set", "values": {"/proc/sys/a": "1"}}),
            json!({"do": "quit"}),
        ];
        let start = |work| json!({"do": "start", "job": "j", "what": work});
        all.extend(works.into_iter().map(start));
        all
    }

    /// The places of all values in a document, as JSON pointers.
    fn places(value: &Value, at: &str, found: &mut Vec<String>) {
        found.push(at.to_owned());
        match value {
            Value::Object(all) => all.iter().for_each(|(key, one)| {
                places(one, &format!("{at}/{}", key.replace('/', "~1")), found)
            }),
            Value::Array(all) => all
                .iter()
                .enumerate()
                .for_each(|(index, one)| places(one, &format!("{at}/{index}"), found)),
            _ => {}
        }
    }

    /// Compares the schema with what is read, for each document and for it with one value changed,
    /// added or taken away.
    fn agrees<T: DeserializeOwned>(name: &str, documents: &[Value]) {
        let checker = Checker::new(&document());
        let same = |changed: &Value| {
            let read = serde_json::from_value::<T>(changed.clone()).map(|_| ());
            let described = checker.check(name, changed);
            assert_eq!(
                read.is_ok(),
                described.is_ok(),
                "{changed}: {read:?}, {described:?}"
            );
        };
        for good in documents {
            checker.check(name, good).expect("a message");
            serde_json::from_value::<T>(good.clone()).expect("a message");
            let mut all = Vec::new();
            places(good, "", &mut all);
            for place in &all {
                for other in [Value::Null, json!(-1), json!(0.5), json!(true), json!({})] {
                    let mut changed = good.clone();
                    *changed.pointer_mut(place).expect("a place") = other;
                    same(&changed);
                }
                if let Some(whole) = good.pointer(place).and_then(Value::as_object) {
                    let mut more = good.clone();
                    more.pointer_mut(place).expect("a place")["made_up"] = json!([]);
                    same(&more);
                    for key in whole.keys() {
                        let mut less = good.clone();
                        let part = less.pointer_mut(place).and_then(Value::as_object_mut);
                        part.expect("an object").remove(key);
                        same(&less);
                    }
                }
            }
        }
    }

    #[test]
    fn a_request_is_read_as_the_schema_states() {
        agrees::<Request>("Request", &requests());
    }

    #[test]
    fn a_command_is_read_as_the_schema_states() {
        agrees::<Command>("Command", &commands());
    }

    #[test]
    fn a_join_is_read_as_the_schema_states() {
        agrees::<join::Request>("JoinRequest", &joins());
    }

    #[test]
    fn the_examples_are_of_every_command() {
        let forms = document()["$defs"]["Command"]["oneOf"].clone();
        let described = forms.as_array().expect("a list").iter().map(|one| {
            let name = &one["properties"]["do"]["const"];
            name.as_str().expect("a name").to_owned()
        });
        let shown = commands()
            .into_iter()
            .map(|one| one["do"].as_str().expect("a name").to_owned());
        let [described, shown] = [described.collect(), shown.collect()]
            .map(|all: Vec<String>| all.into_iter().collect::<std::collections::BTreeSet<_>>());
        assert_eq!(described, shown);
    }

    #[test]
    fn every_type_has_a_name_of_its_own() {
        // schemars puts a number after a name that another type has.
        let document = document();
        for name in document["$defs"].as_object().expect("an object").keys() {
            assert!(!name.ends_with(char::is_numeric), "{name}");
        }
    }
}
