//! The harness of an agent: its fingerprint, and the warning when another one was used.

use karat_core::facts::Digest;
use serde::{Deserialize, Serialize};

use karat_evidence::json::problem::quoted;

/// The parts of a harness that make its structure. Description, version, name and model are not part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Harness {
    /// The framework it is built on.
    pub base_framework: Option<String>,
    /// Kind of loop.
    pub loop_type: Option<String>,
    /// Content of the context.
    pub context_strategy: Option<String>,
    /// Treatment of errors.
    pub error_strategy: Option<String>,
    /// Its tools, in any order; one that is named twice counts twice.
    pub tools: Option<Vec<String>>,
}

impl Harness {
    /// Returns the first 16 hexadecimal digits of the SHA-256 of the five parts as compact JSON, in their order, `null`
    /// for what is not given, tools in the order of their UTF-16 code units (Clawdiators, harness fingerprint).
    pub fn structural_hash(&self) -> String {
        let mut sorted = self.clone();
        let tools = sorted.tools.iter_mut();
        tools.for_each(|tools| tools.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16())));
        // Texts always have a JSON form.
        let text = serde_json::to_vec(&sorted).unwrap_or_default();
        let digest = Digest::of(&text).to_string();
        let digits = digest.split_once(':').map_or(digest.as_str(), |(_, digits)| digits);
        digits.chars().take(16).collect()
    }

    /// Returns the name of a harness that gives no name: framework and [`Harness::structural_hash`].
    pub fn id(&self) -> Option<String> {
        self.base_framework.as_ref().map(|framework| format!("{framework}-{}", self.structural_hash()))
    }
}

/// Returns a warning if an agent submits with a harness other than the registered one, or with one though none is
/// registered. Nothing to say where no harness is named.
pub fn harness_warning(registered: Option<&str>, submitted: Option<&str>) -> Option<String> {
    let submitted = submitted.filter(|id| !id.is_empty())?;
    match registered {
        Some(registered) if registered == submitted => None,
        Some(registered) => {
            Some(format!("played with harness {}, registered is {}", quoted(submitted), quoted(registered)))
        }
        None => Some(format!("played with harness {}, none is registered", quoted(submitted))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn the_hash_is_that_of_the_arena() {
        let tools = |tools: &[&str]| Some(tools.iter().map(|&tool| tool.to_owned()).collect());
        let harness = Harness {
            base_framework: text("claude-code"),
            loop_type: text("single-agent"),
            context_strategy: text("progressive-disclosure"),
            error_strategy: text("model-driven"),
            tools: tools(&["write", "bash", "read"]),
        };
        assert_eq!(harness.structural_hash(), "a59be15c8f6f88d7");
        assert_eq!(harness.id(), text("claude-code-a59be15c8f6f88d7"));
        let sorted = Harness { tools: tools(&["bash", "read", "write"]), ..harness.clone() };
        assert_eq!(sorted.structural_hash(), harness.structural_hash());
        let twice = Harness { tools: tools(&["bash", "bash", "read", "write"]), ..harness.clone() };
        assert_ne!(twice.structural_hash(), harness.structural_hash());
        // In UTF-16 a crab (two surrogates) comes before the last private letter, in UTF-8 after it.
        let [a, b] = [&["\u{f8ff}", "🦀"], &["🦀", "\u{f8ff}"]];
        let hash = |order: &[&str]| Harness { tools: tools(order), ..harness.clone() }.structural_hash();
        assert_eq!(hash(a), hash(b));
    }

    #[test]
    fn another_harness_is_told() {
        assert_eq!(harness_warning(Some("h-1"), Some("h-1")), None);
        assert_eq!(harness_warning(Some("h-1"), None), None);
        assert_eq!(harness_warning(None, None), None);
        assert!(harness_warning(None, Some("h-2")).unwrap().contains("none is registered"));
        assert!(harness_warning(Some("h-1"), Some("h-2")).unwrap().contains("`h-1`"));
    }
}
