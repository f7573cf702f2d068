//! Those whose signatures count, each by a public key that an administrator registers and revokes: harnesses, which run agents and
//! sign what they saw, and recorders, which run plans and sign the recordings.

use karat_store::log::VerifyingKey;

use crate::basics::*;
use crate::content::Place;

const ID_MAX_BYTES: usize = 100;
/// Form of an id that [`is_id`] accepts.
pub(crate) const ID: &str = "1 to 100 letters, digits, dots, hyphens and low lines";

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

/// A validator whose signed recordings count, with its public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Recorder {
    /// Its id: 1 to 100 letters, digits, dots, hyphens and low lines.
    #[schema(example = "validator-2")]
    pub recorder_id: String,
    /// The key that its recordings are checked with, `NAME+ID+KEY` after C2SP `signed-note`, with Ed25519.
    #[schema(example = "validator.example/runs+1e711c4d+ARtdyKm9SkcG20uqIePCXfNRLttI++KS21jK/YsLjHnT")]
    pub key: String,
    /// The time of registration.
    pub registered_at: String,
    /// The time from which it is drawn no more and its signatures count no more; null while they do.
    pub revoked_at: Option<String>,
}

impl Harness {
    /// Returns the key, if the harness was in force at that moment.
    pub(crate) fn key_at(&self, moment: Timestamp) -> Option<VerifyingKey> {
        let revoked = self.revoked_at.as_deref();
        let was_revoked = revoked.is_some_and(|at| Timestamp::parse(at).is_ok_and(|at| at <= moment));
        if was_revoked { None } else { self.key.parse().ok() }
    }
}

impl Recorder {
    pub fn verifying_key(&self) -> Option<VerifyingKey> {
        self.key.parse().ok()
    }
}

/// A kind of signer.
pub trait Signer: Clone + Send + Sync + 'static {
    const NAME: &'static str;
    /// True if no two may have one key: who had two ids would be drawn twice.
    const IS_ALONE: bool;

    fn new(id: String, key: String, registered_at: String) -> Self;
    /// Returns id, key, and the time at which it was revoked.
    fn parts(&self) -> (&str, &str, Option<&str>);
    fn revoked(&self, at: String) -> Self;

    fn place(&self) -> Place {
        let (id, _, revoked_at) = self.parts();
        let registered = format!("{}/{id}", Self::NAME);
        match revoked_at {
            None => Place { id: registered, ..Place::default() },
            Some(_) => {
                Place { id: format!("{registered}/revoked"), replaces: Some(registered), ..Place::default() }
            }
        }
    }
}

macro_rules! signer {
    ($type:ident, $id:ident, $name:literal, $is_alone:literal) => {
        impl Signer for $type {
            const NAME: &'static str = $name;
            const IS_ALONE: bool = $is_alone;

            fn new($id: String, key: String, registered_at: String) -> Self {
                Self { $id, key, registered_at, revoked_at: None }
            }

            fn parts(&self) -> (&str, &str, Option<&str>) {
                (&self.$id, &self.key, self.revoked_at.as_deref())
            }

            fn revoked(&self, at: String) -> Self {
                Self { revoked_at: Some(at), ..self.clone() }
            }
        }
    };
}

signer!(Harness, harness_id, "harness", false);
signer!(Recorder, recorder_id, "recorder", true);

/// Returns true if `id` can name a signer: 1 to 100 letters, digits, dots, hyphens and low lines of ASCII.
pub(crate) fn is_id(id: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=ID_MAX_BYTES).contains(&id.len()) && id.bytes().all(is_inner)
}

#[cfg(test)]
mod tests {
    #[test]
    fn ids_of_signers() {
        for (id, expected) in [("loop-2", true), ("claude-code-a59be15c8f6f88d7", true), ("a.b_C", true)] {
            assert_eq!(super::is_id(id), expected, "{id}");
        }
        for id in ["", "a/b", "a b", "é", "a%2Fb", &"a".repeat(101)] {
            assert!(!super::is_id(id), "{id}");
        }
    }
}
