//! The parameters of one run: the catalog's defaults with the request's values over them, checked.

use super::{Parameter, Type};
use serde_json::{Map, Value};

/// Checked values, one for each declared parameter.
#[derive(Debug, Clone)]
pub struct Parameters(Map<String, Value>);

impl Parameters {
    /// Lays `given` over the defaults. The error is one sentence: what is wrong and what would be
    /// right.
    pub fn resolve(declared: &[Parameter], given: &Map<String, Value>) -> Result<Self, String> {
        for name in given.keys() {
            if !declared.iter().any(|p| p.name == name) {
                let known: Vec<_> = declared.iter().map(|p| p.name).collect();
                return Err(format!(
                    "there is no parameter '{name}'; known are: {}",
                    if known.is_empty() {
                        "none".into()
                    } else {
                        known.join(", ")
                    }
                ));
            }
        }
        let mut values = Map::new();
        for parameter in declared {
            let value = given.get(parameter.name).unwrap_or(&parameter.default);
            check(parameter, value)?;
            values.insert(parameter.name.into(), value.clone());
        }
        Ok(Self(values))
    }

    fn get(&self, name: &str) -> &Value {
        self.0
            .get(name)
            .unwrap_or_else(|| panic!("the workload reads the undeclared parameter {name}"))
    }

    pub fn integer(&self, name: &str) -> u64 {
        self.get(name).as_u64().expect("checked on resolve")
    }

    pub fn number(&self, name: &str) -> f64 {
        self.get(name).as_f64().expect("checked on resolve")
    }

    pub fn boolean(&self, name: &str) -> bool {
        self.get(name).as_bool().expect("checked on resolve")
    }

    pub fn text(&self, name: &str) -> &str {
        self.get(name).as_str().expect("checked on resolve")
    }

    pub fn integers(&self, name: &str) -> Vec<u64> {
        let list = self.get(name).as_array().expect("checked on resolve");
        list.iter()
            .map(|v| v.as_u64().expect("checked on resolve"))
            .collect()
    }

    pub fn texts(&self, name: &str) -> Vec<&str> {
        let list = self.get(name).as_array().expect("checked on resolve");
        list.iter()
            .map(|v| v.as_str().expect("checked on resolve"))
            .collect()
    }
}

fn check(parameter: &Parameter, value: &Value) -> Result<(), String> {
    let name = parameter.name;
    match parameter.kind {
        Type::Integer => check_integer(parameter, value),
        Type::Number => match value.as_f64() {
            Some(number) => check_range(parameter, number),
            None => Err(format!("'{name}' is {value}, it must be a number")),
        },
        Type::Boolean if value.is_boolean() => Ok(()),
        Type::Boolean => Err(format!("'{name}' is {value}, it must be true or false")),
        Type::Text => check_text(parameter, value),
        Type::Integers => check_list(parameter, value, check_integer),
        Type::Texts => check_list(parameter, value, check_text),
    }
}

fn check_list(
    parameter: &Parameter,
    value: &Value,
    item: fn(&Parameter, &Value) -> Result<(), String>,
) -> Result<(), String> {
    match value.as_array() {
        Some(list) if !list.is_empty() => list.iter().try_for_each(|v| item(parameter, v)),
        _ => Err(format!(
            "'{}' is {value}, it must be a list with at least one value",
            parameter.name
        )),
    }
}

fn check_integer(parameter: &Parameter, value: &Value) -> Result<(), String> {
    match value.as_u64() {
        Some(number) => check_range(parameter, number as f64),
        None => Err(format!(
            "'{}' is {value}, it must be a whole number of 0 or more",
            parameter.name
        )),
    }
}

fn check_text(parameter: &Parameter, value: &Value) -> Result<(), String> {
    let name = parameter.name;
    let Some(text) = value.as_str() else {
        return Err(format!("'{name}' is {value}, it must be a text"));
    };
    match &parameter.choices {
        Some(choices) if !choices.contains(&text) => Err(format!(
            "'{name}' is '{text}', it must be one of: {}",
            choices.join(", ")
        )),
        _ => Ok(()),
    }
}

fn check_range(parameter: &Parameter, number: f64) -> Result<(), String> {
    let unit = parameter.unit.map(|u| format!(" {u}")).unwrap_or_default();
    let name = parameter.name;
    if let Some(minimum) = parameter.minimum.filter(|&m| number < m) {
        return Err(format!(
            "'{name}' is {number}{unit}, it must be at least {minimum}{unit}"
        ));
    }
    if let Some(maximum) = parameter.maximum.filter(|&m| number > m) {
        return Err(format!(
            "'{name}' is {number}{unit}, it must be at most {maximum}{unit}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn declared() -> Vec<Parameter> {
        vec![Parameter {
            name: "block_bytes",
            kind: Type::Integers,
            default: json!([1024]),
            unit: Some("B"),
            minimum: Some(1024.0),
            maximum: Some(4096.0),
            choices: None,
            description: "",
        }]
    }

    fn resolve(given: Value) -> Result<Parameters, String> {
        Parameters::resolve(&declared(), given.as_object().expect("an object"))
    }

    #[test]
    fn the_default_holds_where_nothing_is_given() {
        assert_eq!(resolve(json!({})).unwrap().integers("block_bytes"), [1024]);
    }

    #[test]
    fn each_wrong_value_is_named_with_what_would_be_right() {
        for (given, expected) in [
            (json!({"blok": 1}), "known are: block_bytes"),
            (json!({"block_bytes": 1024}), "must be a list"),
            (json!({"block_bytes": []}), "at least one value"),
            (json!({"block_bytes": [512]}), "at least 1024 B"),
            (json!({"block_bytes": [8192]}), "at most 4096 B"),
            (json!({"block_bytes": [-1]}), "whole number"),
            (json!({"block_bytes": ["1k"]}), "whole number"),
        ] {
            let error = resolve(given.clone()).unwrap_err();
            assert!(error.contains(expected), "{given}: {error}");
        }
    }
}
