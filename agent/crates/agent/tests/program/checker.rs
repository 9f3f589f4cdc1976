//! As much of JSON Schema (2020-12) as the agent's document uses. A keyword that it does not know is
//! a panic, so that no rule is passed over.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Keywords that refuse nothing here. Formats are annotations, as 2020-12 has them by default.
const ANNOTATIONS: [&str; 5] = ["title", "description", "default", "format", "$comment"];

pub struct Checker {
    types: Map<String, Value>,
}

impl Checker {
    /// Of a document whose messages are its `$defs`.
    pub fn new(document: &Value) -> Self {
        let types = document["$defs"].as_object().expect("an object").clone();
        Self { types }
    }

    /// Why `value` is no message of the type `name`.
    pub fn check(&self, name: &str, value: &Value) -> Result<(), String> {
        self.evaluate(self.named(name), value, name).map(|_| ())
    }

    fn named(&self, name: &str) -> &Value {
        let found = self.types.get(name);
        found.unwrap_or_else(|| panic!("there is no type {name}"))
    }

    /// The members of `value` that a rule has looked at, which `unevaluatedProperties` requests.
    fn evaluate(&self, rules: &Value, value: &Value, at: &str) -> Result<BTreeSet<String>, String> {
        let Some(rules) = rules.as_object() else {
            return match rules {
                Value::Bool(true) => Ok(BTreeSet::new()),
                _ => Err(format!("{at}: nothing may be here")),
            };
        };
        let mut seen = BTreeSet::new();
        let refuse = |why: String| Err(format!("{at}: {why}, it is {value}"));
        let list = |rule: &Value| rule.as_array().expect("a list").clone();
        let members = value.as_object();
        let elements = value.as_array();
        for (keyword, rule) in rules {
            match keyword.as_str() {
                "$ref" => {
                    let name = rule.as_str().and_then(|text| text.strip_prefix("#/$defs/"));
                    let name = name.expect("a reference to a type");
                    seen.extend(self.evaluate(self.named(name), value, at)?);
                }
                "type" if !types(rule).iter().any(|one| is(value, one)) => {
                    return refuse(format!("it must be {rule}"));
                }
                "const" if value != rule => return refuse(format!("it must be {rule}")),
                "enum" if !list(rule).contains(value) => {
                    return refuse(format!("it must be one of {rule}"))
                }
                "minimum" if value.as_f64() < rule.as_f64() && value.is_number() => {
                    return refuse(format!("it must be at least {rule}"))
                }
                "maximum" if value.as_f64() > rule.as_f64() => {
                    return refuse(format!("it must be at most {rule}"))
                }
                "minItems" if elements.is_some_and(|all| (all.len() as u64) < number(rule)) => {
                    return refuse(format!("it must have {rule} elements"))
                }
                "maxItems" if elements.is_some_and(|all| (all.len() as u64) > number(rule)) => {
                    return refuse(format!("it must have {rule} elements"))
                }
                "required" => {
                    for name in list(rule) {
                        let name = name.as_str().expect("a name").to_owned();
                        if members.is_some_and(|all| !all.contains_key(&name)) {
                            return refuse(format!("{name} is missing"));
                        }
                    }
                }
                "properties" => {
                    for (name, rule) in rule.as_object().expect("an object") {
                        if let Some(member) = members.and_then(|all| all.get(name)) {
                            self.evaluate(rule, member, &format!("{at}.{name}"))?;
                            seen.insert(name.clone());
                        }
                    }
                }
                "prefixItems" => {
                    for (rule, element) in list(rule).iter().zip(elements.into_iter().flatten()) {
                        self.evaluate(rule, element, at)?;
                    }
                }
                "items" => {
                    let before = rules
                        .get("prefixItems")
                        .map_or(0, |first| list(first).len());
                    for element in elements.into_iter().flatten().skip(before) {
                        self.evaluate(rule, element, at)?;
                    }
                }
                "allOf" => {
                    for rule in &list(rule) {
                        seen.extend(self.evaluate(rule, value, at)?);
                    }
                }
                "anyOf" | "oneOf" => {
                    let results = list(rule);
                    let results = results.iter().map(|rule| self.evaluate(rule, value, at));
                    let (fits, reasons): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);
                    if fits.is_empty() || (keyword == "oneOf" && fits.len() > 1) {
                        let reasons: Vec<_> = reasons.into_iter().filter_map(Result::err).collect();
                        let count = fits.len();
                        return refuse(format!("{count} forms fit ({})", reasons.join("; ")));
                    }
                    seen.extend(fits.into_iter().flatten().flatten());
                }
                "type" | "const" | "enum" | "minimum" | "maximum" | "minItems" | "maxItems" => {}
                "additionalProperties" | "unevaluatedProperties" => {}
                other => assert!(ANNOTATIONS.contains(&other), "{at}: the keyword {other}"),
            }
        }
        // These look at what the others have left.
        let own = rules.get("properties").and_then(Value::as_object);
        for (keyword, rule) in rules {
            for (name, member) in members.into_iter().flatten() {
                let left = match keyword.as_str() {
                    "additionalProperties" => !own.is_some_and(|own| own.contains_key(name)),
                    "unevaluatedProperties" => !seen.contains(name),
                    _ => false,
                };
                if left {
                    self.evaluate(rule, member, &format!("{at}.{name}"))?;
                    seen.insert(name.clone());
                }
            }
        }
        Ok(seen)
    }
}

fn number(rule: &Value) -> u64 {
    rule.as_u64().expect("a count")
}

fn types(rule: &Value) -> Vec<&str> {
    match rule {
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        // 1.0 is no whole number to serde.
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type {other}"),
    }
}
