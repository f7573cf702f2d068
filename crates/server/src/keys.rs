//! Keys and their scopes. A key is 32 random bytes, shown once; the store has its SHA-256, which is enough for a secret
//! that cannot be guessed, and the states of a key are items of the log like all others.

use std::fmt;

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use karat_core::scorecard::Reporter;
use karat_evidence::names::{self, NameFault};
use subtle::ConstantTimeEq as _;

use crate::basics::*;
use crate::problem::{Code, Problem};
use crate::stored::Trust;

/// The sender of what no key sent: the server itself. No id of a key is written so.
pub const SERVER: &str = "server";
/// The prefix of every key, by which a leaked one is recognised.
const PREFIX: &str = "karat_";
const SCHEMA: &str = "karat/key/1";
const WITHDRAWAL: &str = "karat/withdrawal/1";
/// The suffix of the id of an item that revokes a key.
const REVOKED: &str = "/revoked";
pub const NAME_MAX_CHARACTERS: usize = 100;

karat_core::words! {
    /// A permission of a key.
    pub enum Scope {
        /// Read everything but keys.
        Read = "read",
        /// Send evidence, and propose weights.
        WriteEvidence = "write:evidence",
        /// Decide on reviews and on proposed weights.
        Review = "review",
        /// Publish scorecards, create and revoke keys; includes all other scopes.
        Admin = "admin",
    }
}

/// A key without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The id: the first sixteen digits of the hash.
    pub id: String,
    /// The name of the holder; no two active keys have the same name.
    pub name: String,
    pub scopes: BTreeSet<Scope>,
    /// The only subject for which it may act, if limited to one.
    pub subject: Option<String>,
    /// The provenances of the facts that it may report; empty if it may report all.
    pub reports: BTreeSet<String>,
    hash: [u8; 32],
}

/// A new secret, with the key that the store keeps of it.
pub struct NewKey {
    pub secret: String,
    /// The key without the secret.
    pub key: Key,
}

impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey").field("key", &self.key).finish_non_exhaustive()
    }
}

/// The request to create a key.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct KeyRequest {
    /// The name of the holder, in up to 100 characters.
    #[schema(example = "ci of team blue")]
    pub name: String,
    /// The scopes that it grants.
    pub scopes: BTreeSet<Scope>,
    /// The only subject for which it may act. Such a key reports only facts of the subject and of its
    /// operator.
    #[serde(default)]
    pub subject: Option<String>,
    /// The provenances of the facts that it may report, as in `from` of a scorecard: `harness`, `task`, `subject`,
    /// `judge`, `operator`, `third-party`. If not given: `subject` for a key of a subject, all for others.
    #[serde(default)]
    pub reports: Option<BTreeSet<String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    schema: String,
    name: String,
    hash: String,
    scopes: BTreeSet<Scope>,
    subject: Option<String>,
    reports: BTreeSet<String>,
    revoked: bool,
}

impl KeyRequest {
    /// Returns the request for a key of an administrator.
    pub fn admin(name: &str) -> Self {
        let scopes = [Scope::Admin].into();
        Self { name: name.to_owned(), scopes, subject: None, reports: None }
    }

    pub fn make(self, random: [u8; 32]) -> Result<NewKey, Problem> {
        let refused = |field: &str, detail: String| Err(Problem::new(Code::BadRequest, detail).at(field));
        let Self { name, scopes, subject, reports } = self;
        if name.chars().count() > NAME_MAX_CHARACTERS {
            return refused("$.name", format!("expected at most {NAME_MAX_CHARACTERS} characters"));
        }
        for (field, name) in [("$.name", Some(&name)), ("$.subject", subject.as_ref())] {
            if let Some(NameFault { expected, hint }) = name.and_then(|name| names::fault(name)) {
                return refused(field, format!("expected {expected}: {hint}"));
            }
        }
        if scopes.is_empty() {
            let why = "expected at least one of read, write:evidence, review, admin";
            return refused("$.scopes", why.to_owned());
        }
        if subject.is_some() && scopes.iter().any(|scope| matches!(scope, Scope::Review | Scope::Admin)) {
            let why = "a key of a subject may read and send evidence, not review or administer";
            return refused("$.scopes", String::from(why));
        }
        let own = [Reporter::Subject, Reporter::Operator];
        let all = Reporter::STATED;
        let allowed: &[Reporter] = if subject.is_some() { &own } else { &all };
        let reports =
            reports.unwrap_or_else(|| subject.iter().map(|_| Reporter::Subject.name().to_owned()).collect());
        if let Some(other) = reports.iter().find(|it| allowed.iter().all(|known| known.name() != *it)) {
            let names: Vec<&str> = allowed.iter().map(|reporter| reporter.name()).collect();
            let found = other.escape_debug();
            return refused("$.reports", format!("found `{found}`, expected some of {}", names.join(", ")));
        }
        let secret = format!("{PREFIX}{}", BASE32_NOPAD.encode(&random).to_ascii_lowercase());
        let Digest(hash) = Digest::of(secret.as_bytes());
        Ok(NewKey { secret, key: Key { id: id_of(&hash), name, scopes, subject, reports, hash } })
    }
}

impl Key {
    pub(crate) fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }

    /// Returns true if it may report a fact whose provenance is `reporter`. If the scorecard states none, only a key
    /// that may report all facts may report it.
    pub(crate) fn may_report(&self, reporter: Reporter) -> bool {
        self.reports.is_empty() && self.subject.is_none() || self.reports.contains(reporter.name())
    }

    /// Returns the item that stores its creation or revocation.
    pub fn item(&self, revoked: bool) -> NewItem {
        let stored = Stored {
            schema: SCHEMA.to_owned(),
            name: self.name.clone(),
            hash: Digest(self.hash).to_string(),
            scopes: self.scopes.clone(),
            subject: self.subject.clone(),
            reports: self.reports.clone(),
            revoked,
        };
        let content = serde_json::to_value(&stored).map(|value| canonical_json(&value)).unwrap_or_default();
        let id = if revoked { Self::revocation(&self.id) } else { self.id.clone() };
        NewItem {
            subject: self.subject.clone(),
            replaces: revoked.then(|| self.id.clone()),
            ..NewItem::new(Kind::Key, id, content)
        }
    }

    /// Returns the id of the item that revokes the key with that id.
    pub fn revocation(id: &str) -> String {
        format!("{id}{REVOKED}")
    }

    /// Reads the key from an item of the store that creates or revokes it.
    pub fn parse(content: &[u8]) -> Result<(Self, bool), String> {
        let stored: Stored = serde_json::from_slice(content).map_err(|error| error.to_string())?;
        if stored.schema != SCHEMA {
            return Err(format!("its schema is `{}`, expected `{SCHEMA}`", stored.schema.escape_debug()));
        }
        let Some(Digest(hash)) = Digest::parse(&stored.hash) else {
            return Err(String::from("its hash is not a SHA-256"));
        };
        let Stored { name, scopes, subject, reports, revoked, .. } = stored;
        Ok((Self { id: id_of(&hash), name, scopes, subject, reports, hash }, revoked))
    }
}

/// The withdrawal of what a revoked key sent, as stored: its evidence and records at this position or later do not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withdrawal {
    schema: String,
    pub key: String,
    /// The moment from which on it is withdrawn, as asked for.
    pub since: String,
    /// The position of the first entry at that moment or later.
    pub from: u64,
    pub reason: String,
}

impl Withdrawal {
    /// Creates the withdrawal of what `key` sent at `from` or later.
    pub fn new(key: &str, since: &str, from: u64, reason: &str) -> Self {
        let [schema, key, since, reason] = [WITHDRAWAL, key, since, reason].map(str::to_owned);
        Self { schema, key, since, from, reason }
    }

    /// Returns the item that stores it. It takes the place of the revocation, so that there is one for a key.
    pub fn item(&self) -> NewItem {
        let content = serde_json::to_value(self).map(|value| canonical_json(&value)).unwrap_or_default();
        let replaces = Some(Key::revocation(&self.key));
        NewItem { replaces, ..NewItem::new(Kind::Key, format!("{}/withdrawn", self.key), content) }
    }

    /// Reads it from an item of the store; `None` if the item is another state of a key.
    pub fn parse(content: &[u8]) -> Option<Self> {
        serde_json::from_slice(content).ok().filter(|it: &Self| it.schema == WITHDRAWAL)
    }

    /// Returns true if it withdraws the entry at `position` of `sender`.
    pub fn covers(&self, sender: Option<&str>, position: u64) -> bool {
        sender == Some(&self.key) && position >= self.from
    }
}

#[derive(Debug, Default, Clone)]
pub struct Keys {
    by_id: BTreeMap<String, Arc<Key>>,
    /// The ids of the keys of subjects, revoked ones included: what they sent stays theirs.
    of_subjects: BTreeSet<String>,
    /// The highest trust class of what each sends or sent, by id, revoked ones included.
    ceilings: BTreeMap<String, Trust>,
    revoked: BTreeSet<String>,
}

impl Keys {
    /// Adds a new key, or removes a revoked one.
    pub fn set(&mut self, key: Key, is_revoked: bool) {
        if key.subject.is_some() {
            self.of_subjects.insert(key.id.clone());
        }
        self.ceilings.insert(key.id.clone(), Trust::ceiling(&key.reports));
        if is_revoked {
            self.by_id.remove(&key.id);
            self.revoked.insert(key.id);
        } else {
            self.by_id.insert(key.id.clone(), Arc::new(key));
        }
    }

    /// Returns the key with that secret. It is looked up by a part of its hash, which reveals nothing about the secret;
    /// the hashes are compared in constant time.
    pub(crate) fn authenticate(&self, secret: &str) -> Option<Arc<Key>> {
        let Digest(hash) = Digest::of(secret.as_bytes());
        let key = self.by_id.get(&id_of(&hash))?;
        bool::from(key.hash.ct_eq(&hash)).then(|| Arc::clone(key))
    }

    pub fn get(&self, id: &str) -> Option<Arc<Key>> {
        self.by_id.get(id).map(Arc::clone)
    }

    pub(crate) fn is_revoked(&self, id: &str) -> bool {
        self.revoked.contains(id)
    }

    pub(crate) fn is_of_subject(&self, id: &str) -> bool {
        self.of_subjects.contains(id)
    }

    /// Returns the highest trust class of a record of that sender, who may be a revoked key, the server itself, or not known.
    pub(crate) fn ceiling(&self, sender: Option<&str>) -> Trust {
        match sender {
            Some(SERVER) => Trust::Measured,
            Some(key) => self.ceilings.get(key).copied().unwrap_or(Trust::Claimed),
            None => Trust::Claimed,
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Key>> {
        self.by_id.values()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

fn id_of(hash: &[u8; 32]) -> String {
    let (half, _) = hash.split_at(8);
    HEXLOWER.encode(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> KeyRequest {
        let scopes = [Scope::WriteEvidence].into();
        KeyRequest { name: "a".to_owned(), scopes, subject: None, reports: None }
    }

    #[test]
    fn a_key_is_known_by_its_secret_until_it_is_revoked() {
        let made = request().make([7; 32]).unwrap();
        assert_eq!(made.secret.len(), PREFIX.len() + 52);
        let (read, revoked) = Key::parse(&made.key.item(false).content).unwrap();
        assert_eq!((&read, revoked), (&made.key, false));
        let mut keys = Keys::default();
        keys.set(read, false);
        assert_eq!(keys.authenticate(&made.secret).as_deref(), Some(&made.key));
        assert_eq!(keys.authenticate(&made.secret.to_uppercase()), None);
        let (gone, revoked) = Key::parse(&made.key.item(true).content).unwrap();
        keys.set(gone, revoked);
        assert_eq!(keys.authenticate(&made.secret), None);
    }

    #[test]
    fn the_store_has_no_secret() {
        let made = request().make([7; 32]).unwrap();
        let content = String::from_utf8(made.key.item(false).content).unwrap();
        assert!(!content.contains(made.secret.trim_start_matches(PREFIX)));
        assert!(!format!("{made:?}").contains(&made.secret));
    }

    #[test]
    fn a_key_of_a_subject_reports_for_nobody_else() {
        let made = KeyRequest { subject: Some("bot".to_owned()), ..request() }.make([1; 32]).unwrap();
        assert!(made.key.may_report(Reporter::Subject));
        for other in [Reporter::Harness, Reporter::Task, Reporter::Operator, Reporter::Unstated] {
            assert!(!made.key.may_report(other), "{}", other.name());
        }
        let reports = Some(["harness".to_owned()].into());
        let refused = KeyRequest { subject: Some("bot".to_owned()), reports, ..request() }.make([1; 32]);
        assert_eq!(refused.unwrap_err().field.as_deref(), Some("$.reports"));
        let made = request().make([1; 32]).unwrap();
        assert!(made.key.may_report(Reporter::Harness) && made.key.may_report(Reporter::Unstated));
    }

    #[test]
    fn what_a_key_cannot_be_is_refused_with_its_member() {
        let with_subject = KeyRequest { subject: Some("bot".to_owned()), ..request() };
        for (request, field) in [
            (KeyRequest { name: "\u{1b}".to_owned(), ..request() }, "$.name"),
            (KeyRequest { scopes: BTreeSet::new(), ..request() }, "$.scopes"),
            (KeyRequest { scopes: [Scope::Admin].into(), ..with_subject }, "$.scopes"),
            (KeyRequest { subject: Some(String::new()), ..request() }, "$.subject"),
        ] {
            assert_eq!(request.make([1; 32]).unwrap_err().field.as_deref(), Some(field));
        }
    }
}
