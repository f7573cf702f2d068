//! Secrets of executors: taken by name from the environment, given to executors, and seen nowhere else.

use std::fmt;

use serde_json::Value;

/// A secret with the name that it has in the environment.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret {
    pub name: String,
    value: String,
}

impl Secret {
    /// The fewest bytes of a secret. A shorter one would be found in many an honest answer, and can be guessed.
    pub(crate) const BYTES_MIN: usize = 8;

    pub(crate) fn new(name: &str, value: String) -> Self {
        Self { name: name.to_owned(), value }
    }

    /// Returns the secret itself, for the executor.
    pub(crate) fn expose(&self) -> &str {
        &self.value
    }

    /// Returns whether the secret is anywhere in an answer.
    pub(crate) fn is_in(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => text.contains(&self.value),
            Value::Array(elements) => elements.iter().any(|element| self.is_in(element)),
            Value::Object(members) => {
                members.iter().any(|(key, member)| key.contains(&self.value) || self.is_in(member))
            }
            Value::Number(number) => number.to_string().contains(&self.value),
            Value::Null | Value::Bool(_) => false,
        }
    }

    /// Returns whether the secret is in a text.
    pub(crate) fn is_in_text(&self, text: &str) -> bool {
        text.contains(&self.value)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("name", &self.name).finish_non_exhaustive()
    }
}
