//! Harnesses: programs that run agents, and sign what they saw.

use karat_core::timestamp::Timestamp;
use karat_store::log::VerifyingKey;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The longest id of a harness.
pub const HARNESS_MAX_BYTES: usize = 100;

/// A harness whose signature counts, with its public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Harness {
    /// Its id, as in `harness_id` of agents and submissions.
    #[schema(example = "loop-2")]
    pub harness_id: String,
    /// The key that its statements are checked with, `NAME+ID+KEY` after C2SP `signed-note`, with Ed25519.
    #[schema(example = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")]
    pub key: String,
    /// The time of registration.
    pub registered_at: String,
    /// The time from which its signatures no longer count; null while they do.
    pub revoked_at: Option<String>,
}

impl Harness {
    /// Returns the id of the item with this state.
    #[must_use]
    pub fn item_id(&self) -> String {
        let registered = format!("harness/{}", self.harness_id);
        if self.revoked_at.is_some() { format!("{registered}/revoked") } else { registered }
    }

    pub(super) fn replaced_id(&self) -> Option<String> {
        self.revoked_at.as_ref().map(|_| format!("harness/{}", self.harness_id))
    }

    /// Returns the key, if the harness was in force at that moment.
    #[must_use]
    pub fn key_at(&self, moment: Timestamp) -> Option<VerifyingKey> {
        let revoked = self.revoked_at.as_deref();
        let was_revoked = revoked.is_some_and(|at| Timestamp::parse(at).is_ok_and(|at| at <= moment));
        if was_revoked { None } else { self.key.parse().ok() }
    }
}

/// Returns true if `id` can name a harness whose key is registered: 1 to 100 letters, digits, dots, hyphens and low lines of
/// ASCII.
#[must_use]
pub fn is_harness(id: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=HARNESS_MAX_BYTES).contains(&id.len()) && id.bytes().all(is_inner)
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_of_harnesses() {
        for (id, expected) in [("loop-2", true), ("claude-code-a59be15c8f6f88d7", true), ("a.b_C", true)] {
            assert_eq!(super::is_harness(id), expected, "{id}");
        }
        for id in ["", "a/b", "a b", "é", "a%2Fb", &"a".repeat(101)] {
            assert!(!super::is_harness(id), "{id}");
        }
    }
}
