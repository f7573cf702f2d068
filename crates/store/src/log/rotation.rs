//! The change of the key of a log: the old key signs the new one, the new one signs that it goes on, and the statement is
//! an entry of the log. And the keys of a log one after the other, each with the heads that it may sign.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use karat_core::json;
use serde::Deserialize;

use super::{Checkpoint, NoteError, Signer, VerifyingKey};

/// Schema of the statement.
const SCHEMA: &str = "karat/log-key/1";
/// The start of the ids of the entries with such statements; the number of the change follows, from 1.
const ID_START: &str = "log-key/";

/// A change of the key of a log, with signatures by both keys that were checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// The key before.
    pub old: VerifyingKey,
    /// The key after.
    pub new: VerifyingKey,
}

/// The statement as it is stored.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Statement {
    new: String,
    old: String,
    schema: String,
    signature_by_new: String,
    signature_by_old: String,
}

impl Statement {
    fn written(&self) -> Vec<u8> {
        let members = [
            ("new", &self.new),
            ("old", &self.old),
            ("schema", &self.schema),
            ("signature_by_new", &self.signature_by_new),
            ("signature_by_old", &self.signature_by_old),
        ];
        let mut out = Vec::with_capacity(1024);
        for (place, (name, value)) in members.into_iter().enumerate() {
            out.push(if place > 0 { b',' } else { b'{' });
            json::write_string(&mut out, name);
            out.push(b':');
            json::write_string(&mut out, value);
        }
        out.push(b'}');
        out
    }
}

impl Rotation {
    /// Returns the statement that `new` follows `old`, as canonical JSON: what both sign are the schema and both keys,
    /// each on a line. No checkpoint has such a second line, so neither signature can be taken for one over a head.
    ///
    /// # Errors
    /// If the keys have different names, or are the same.
    pub fn state(old: &Signer, new: &Signer) -> Result<Vec<u8>, NoteError> {
        let (before, after) = (old.verifying_key(), new.verifying_key());
        allowed(before, after).map_err(NoteError::Malformed)?;
        let text = text(&before.to_string(), &after.to_string());
        let sign = |signer: &Signer| STANDARD.encode(signer.signature(&text));
        let (signature_by_new, signature_by_old) = (sign(new), sign(old));
        let (new, old, schema) = (after.to_string(), before.to_string(), SCHEMA.to_owned());
        Ok(Statement { new, old, schema, signature_by_new, signature_by_old }.written())
    }

    /// Reads the content of an entry of kind `key`. Returns none if it is another state of a key.
    ///
    /// # Errors
    /// If it is such a statement, and is not written in canonical form or not signed by both keys.
    pub fn parse(content: &[u8]) -> Result<Option<Self>, String> {
        #[derive(Deserialize)]
        struct Schema {
            schema: Option<String>,
        }
        let is_one = serde_json::from_slice::<Schema>(content)
            .is_ok_and(|found| found.schema.as_deref() == Some(SCHEMA));
        if !is_one {
            return Ok(None);
        }
        let read: Statement = serde_json::from_slice(content)
            .map_err(|error| format!("this is not a change of the key of a log: {error}"))?;
        if read.written() != content {
            return Err(String::from("the change of the key is not written in canonical form (RFC 8785)"));
        }
        let key = |text: &str| text.parse::<VerifyingKey>().map_err(|error| error.to_string());
        let (old, new) = (key(&read.old)?, key(&read.new)?);
        allowed(&old, &new)?;
        let text = text(&read.old, &read.new);
        for (key, signature) in [(&old, &read.signature_by_old), (&new, &read.signature_by_new)] {
            let bytes = STANDARD.decode(signature).unwrap_or_default();
            key.check(&text, &bytes)
                .map_err(|_| format!("the change of the key is not signed by its key `{key}`"))?;
        }
        Ok(Some(Self { old, new }))
    }

    /// Returns the id of the entry with the change of that number, from 1.
    pub fn id(number: u64) -> String {
        format!("{ID_START}{number}")
    }
}

/// Refuses a change that changes nothing, or the name.
fn allowed(old: &VerifyingKey, new: &VerifyingKey) -> Result<(), &'static str> {
    if old.name() != new.name() {
        Err("a log keeps its name when its key changes")
    } else if old.bytes() == new.bytes() {
        Err("the new key of a log is not the old one")
    } else {
        Ok(())
    }
}

fn text(old: &str, new: &str) -> String {
    format!("{SCHEMA}\n{old}\n{new}\n")
}

/// The keys of one log, from the oldest to the newest that is known. A key signs the heads from the change that made it
/// the key of the log up to the change that replaced it; the head of the change itself is signed by both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    links: Vec<Link>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Link {
    key: VerifyingKey,
    /// The sizes of the heads that it may sign.
    from: u64,
    to: u64,
}

impl From<VerifyingKey> for Keys {
    /// Makes the keys of a log whose key never changed, or of which no change is known.
    fn from(key: VerifyingKey) -> Self {
        Self { links: vec![Link { key, from: 0, to: u64::MAX }] }
    }
}

impl Keys {
    /// Makes the keys of a log of which `trusted` is one, from its changes, each with the position of its entry. Each
    /// change is signed by both of its keys, so that one key of them vouches for all others.
    ///
    /// # Errors
    /// If the changes do not follow each other without a gap, or if `trusted` is not among their keys.
    pub fn follow(trusted: &VerifyingKey, changes: &[(u64, Rotation)]) -> Result<Self, String> {
        let mut changes: Vec<&(u64, Rotation)> = changes.iter().collect();
        changes.sort_by_key(|(position, _)| *position);
        changes.dedup();
        let Some((_, first)) = changes.first() else { return Ok(trusted.clone().into()) };
        let mut keys = Self::from(first.old.clone());
        for (position, change) in changes {
            keys.change(*position, change)?;
        }
        if keys.links.iter().all(|link| link.key != *trusted) {
            return Err(format!("the changes of the key do not lead to or from the trusted key `{trusted}`"));
        }
        Ok(keys)
    }

    /// Goes on after the change whose entry has that position.
    fn change(&mut self, position: u64, change: &Rotation) -> Result<(), String> {
        let size = position.saturating_add(1);
        let is_known = self.links.iter().any(|link| link.key == change.new);
        match self.links.last_mut() {
            Some(last) if last.key == change.old && last.from < size && !is_known => last.to = size,
            _ => {
                return Err(format!(
                    "the change of the key in entry {position}, from `{}` to `{}`, does not follow the one before it",
                    change.old, change.new
                ));
            }
        }
        self.links.push(Link { key: change.new.clone(), from: size, to: u64::MAX });
        Ok(())
    }

    /// Returns the newest key.
    pub fn newest(&self) -> Option<&VerifyingKey> {
        self.links.last().map(|link| &link.key)
    }

    /// Returns the number of changes.
    pub fn changes(&self) -> usize {
        self.links.len().saturating_sub(1)
    }

    /// Returns the checkpoint in `note` and the key that signed it, if one of the keys did and may have.
    ///
    /// # Errors
    /// If it is not a checkpoint of that log, was changed, or was signed by a key when it was not the key of the log.
    pub fn open(&self, note: &str) -> Result<(Checkpoint, &VerifyingKey), NoteError> {
        self.open_after(0, note)
    }

    /// Does the same for the head over the entry of the change with that number, from 1, which the key after that change
    /// must have signed, or a later one.
    ///
    /// # Errors
    /// If [`Self::open`] fails, or if only keys from before the change signed it.
    pub fn open_after(&self, number: usize, note: &str) -> Result<(Checkpoint, &VerifyingKey), NoteError> {
        let mut refused = None;
        let mut opened = None;
        for Link { key, from, to } in self.links.iter().skip(number) {
            match Checkpoint::open(note, key) {
                Ok(checkpoint) if (*from..=*to).contains(&checkpoint.size) => {
                    opened = Some((checkpoint, key))
                }
                Ok(Checkpoint { size, .. }) => {
                    let (key, from, to) = (key.to_string(), *from, *to);
                    refused = Some(NoteError::OutOfTurn { key, size, from, to });
                }
                Err(error @ NoteError::NotSigned { .. }) => refused = refused.or(Some(error)),
                // A signature that is wrong, or no note at all: no other key makes that good.
                Err(error) => return Err(error),
            }
        }
        match (opened, refused) {
            (Some(opened), _) => Ok(opened),
            (None, Some(error)) => Err(error),
            (None, None) => Err(NoteError::NotSigned { by: String::new() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Hash;

    fn signer(secret: u8) -> Signer {
        Signer::new("log", &[secret; 32]).unwrap()
    }

    fn change(old: u8, new: u8) -> Rotation {
        Rotation::parse(&Rotation::state(&signer(old), &signer(new)).unwrap()).unwrap().unwrap()
    }

    fn head(size: u64, secret: u8) -> String {
        Checkpoint { size, root: Hash([5; 32]) }.sign(&signer(secret)).unwrap()
    }

    #[test]
    fn a_statement_reads_back_and_any_change_of_it_does_not() {
        let content = Rotation::state(&signer(1), &signer(2)).unwrap();
        let read = Rotation::parse(&content).unwrap().unwrap();
        assert_eq!((&read.old, &read.new), (signer(1).verifying_key(), signer(2).verifying_key()));
        let value: serde_json::Value = serde_json::from_slice(&content).unwrap();
        assert_eq!(serde_json::to_vec(&value).unwrap(), content, "it is canonical");
        for at in 0..content.len() {
            let mut changed = content.clone();
            changed[at] ^= 1;
            assert!(!matches!(Rotation::parse(&changed), Ok(Some(_))), "{at}");
        }
        for other in ["", "[]", "{}", r#"{"schema":"karat/key/1"}"#, r#"{"schema":7}"#, "{\"schema\":null}"] {
            assert_eq!(Rotation::parse(other.as_bytes()), Ok(None), "{other}");
        }
        let text = String::from_utf8(content).unwrap();
        for changed in [
            text.replace("{\"new\"", "{ \"new\""),
            text.replace("{\"new\"", "{\"more\":1,\"new\""),
            text.replace("signature_by_old", "signature_by_new"),
            text.replacen("signature_by_new", "signature_by_old", 1)
                .replacen("signature_by_old", "signature_by_new", 2),
        ] {
            assert!(changed == text || Rotation::parse(changed.as_bytes()).is_err(), "{changed}");
        }
    }

    #[test]
    fn names_stay_and_keys_change() {
        let other = Signer::new("other", &[2; 32]).unwrap();
        assert!(Rotation::state(&signer(1), &other).is_err());
        assert!(Rotation::state(&signer(1), &signer(1)).is_err());
    }

    #[test]
    fn each_key_opens_the_heads_of_its_time_whichever_is_trusted() {
        let changes = [(4, change(1, 2)), (9, change(2, 3))];
        for trusted in 1..=3 {
            // In any order, and one of them twice.
            let given = [changes[1].clone(), changes[0].clone(), changes[1].clone()];
            let keys = Keys::follow(signer(trusted).verifying_key(), &given).unwrap();
            assert_eq!((keys.newest(), keys.changes()), (Some(signer(3).verifying_key()), 2));
            for (secret, from, to) in [(1, 0, 5), (2, 5, 10), (3, 10, 100)] {
                for size in [0, 1, 4, 5, 6, 9, 10, 11, 100] {
                    let opened = keys.open(&head(size, secret));
                    assert_eq!(opened.is_ok(), (from..=to).contains(&size), "{secret} {size}: {opened:?}");
                }
            }
            assert!(matches!(keys.open(&head(5, 4)), Err(NoteError::NotSigned { .. })));
            // The head of a change has both signatures; the new key must be among them.
            let both = signer(1).sign_too(&head(5, 2)).unwrap();
            assert!(keys.open(&both).is_ok() && keys.open_after(1, &both).is_ok());
            assert!(keys.open_after(1, &head(5, 1)).is_err());
            assert!(keys.open_after(1, &head(50, 3)).is_ok());
        }
        let alone = Keys::from(signer(1).verifying_key().clone());
        assert!(alone.open(&head(100, 1)).is_ok() && alone.open(&head(100, 2)).is_err());
    }

    #[test]
    fn changes_that_do_not_follow_each_other_are_refused() {
        let trusted = signer(1);
        let follow = |changes: &[(u64, Rotation)]| Keys::follow(trusted.verifying_key(), changes);
        for changes in [
            // A gap, a fork, a circle, the wrong order, the same place, and keys of strangers.
            vec![(4, change(1, 2)), (9, change(3, 4))],
            vec![(4, change(1, 2)), (9, change(1, 3))],
            vec![(4, change(1, 2)), (9, change(2, 1))],
            vec![(9, change(1, 2)), (4, change(2, 3))],
            vec![(4, change(1, 2)), (4, change(2, 3))],
            vec![(4, change(2, 3))],
        ] {
            assert!(follow(&changes).is_err(), "{changes:?}");
        }
    }
}
