//! What crosses the boundary, as one JSON Schema (2020-12), made from the types that read and write
//! it.

use crate::endpoint::Command;
use pentathlon_packets::join;
use pentathlon_protocol::{catalog, Line, Request, VERSION};
use schemars::generate::SchemaSettings;
use serde_json::{json, Map, Value};

/// What the types do not say, so that nobody takes its absence for a promise.
const NOT_DESCRIBED: &str = "Not described, so any value passes: the inventory (`system` of an \
    `inventory` event), `placement` of that event, `detail` of a `step` event, `value` of a \
    `counter` event, a workload's parameters, which its catalog entry declares. Not in this \
    document: the answers of an endpoint, the inventory's own document, what `join` prints. Ranges \
    of a request's numbers are checked by the agent.";

/// The whole document. Each message is one of `$defs`: `Request`, `Event`, `Command`, `JoinRequest`
/// and `Catalog`.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12;
    // What is left out of a request has its default; what is written is always there.
    let mut read = settings().for_deserialize().into_generator();
    let mut written = settings().for_serialize().into_generator();
    let messages = [
        read.subschema_for::<Request>(),
        written.subschema_for::<Line>(),
        read.subschema_for::<Command>(),
        read.subschema_for::<join::Request>(),
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
