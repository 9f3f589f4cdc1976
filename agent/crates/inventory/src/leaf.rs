//! A leaf of the inventory: a value, or why there is none.

use serde_json::{json, Value};
use std::fmt;

/// Why a system does not report something: one short sentence, without its full stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(String);

pub type Reported<T> = Result<T, Reason>;

impl Reason {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `{"unsupported": reason}`.
pub fn unsupported(reason: impl fmt::Display) -> Value {
    json!({ "unsupported": reason.to_string() })
}

/// The value, or `{"unsupported": reason}`.
pub fn leaf<T: Into<Value>>(reported: Reported<T>) -> Value {
    match reported {
        Ok(value) => value.into(),
        Err(reason) => unsupported(reason),
    }
}

/// The value, or `{"unsupported": reason}` with the reason for there being none.
pub fn leaf_or<T: Into<Value>>(value: Option<T>, reason: &str) -> Value {
    value.map_or_else(|| unsupported(reason), Into::into)
}

/// The list, or the reason for it being empty.
pub fn some<T>(list: Vec<T>, none: impl Into<String>) -> Reported<Vec<T>> {
    if list.is_empty() {
        return Err(Reason::new(none));
    }
    Ok(list)
}

/// The first that is reported; otherwise the reason of the first.
pub fn first<T>(reported: impl IntoIterator<Item = Reported<T>>) -> Reported<T> {
    let mut refusal = None;
    for attempt in reported {
        match attempt {
            Ok(value) => return Ok(value),
            Err(reason) => {
                refusal.get_or_insert(reason);
            }
        }
    }
    Err(refusal.unwrap_or_else(|| Reason::new("nothing to ask for it")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_is_a_value_or_a_reason() {
        assert_eq!(leaf(Ok(5_u64)), json!(5));
        assert_eq!(
            leaf::<u64>(Err(Reason::new("no such file"))),
            json!({"unsupported": "no such file"})
        );
        assert_eq!(leaf_or(Some("x"), "never"), json!("x"));
        assert_eq!(leaf_or::<u64>(None, "gone"), json!({"unsupported": "gone"}));
    }

    #[test]
    fn the_first_answer_wins_and_the_first_refusal_is_kept() {
        let refuse = |text: &str| Err::<u64, _>(Reason::new(text));
        assert_eq!(first([refuse("a"), Ok(2), Ok(3)]), Ok(2));
        assert_eq!(first([refuse("a"), refuse("b")]), refuse("a"));
        assert!(first(Vec::<Reported<u64>>::new()).is_err());
    }
}
