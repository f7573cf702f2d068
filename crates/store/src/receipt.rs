//! A receipt: an item, its place in the log, and the signed head that covers it. With the log's key it is checked
//! offline, with nothing else.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use karat_core::facts::Digest;
use karat_core::json;

use crate::item::Entry;
use crate::kind::Kind;
use crate::log::{Checkpoint, Hash, Keys, Rotation, VerifyingKey, verify_inclusion};
use crate::members::Members;

/// Schema of a receipt.
const SCHEMA: &str = "karat/receipt/1";

/// An item that a log keeps, with the proof that it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The content of the item: of a record, its canonical JSON.
    pub content: String,
    /// The entry of the item in the log; of a record, the digests of its evidence are its sources.
    pub entry: Entry,
    /// The place of the entry in the log.
    pub index: u64,
    /// The inclusion proof, from the sibling of the leaf up.
    pub path: Vec<Hash>,
    /// The signed checkpoint of the tree that the proof leads to.
    pub checkpoint: String,
}

impl Receipt {
    /// Returns the receipt as canonical JSON after RFC 8785, one line without its end.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.content.len() + 2048);
        out.extend_from_slice(b"{\"checkpoint\":");
        json::write_string(&mut out, &self.checkpoint);
        out.extend_from_slice(b",\"content\":");
        json::write_string(&mut out, &self.content);
        out.extend_from_slice(b",\"entry\":");
        out.extend_from_slice(&self.entry.to_json());
        out.extend_from_slice(b",\"index\":");
        out.extend_from_slice(self.index.to_string().as_bytes());
        out.extend_from_slice(b",\"path\":[");
        for (place, hash) in self.path.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            json::write_string(&mut out, &STANDARD.encode(hash.0));
        }
        out.extend_from_slice(b"],\"schema\":");
        json::write_string(&mut out, SCHEMA);
        out.push(b'}');
        out
    }

    /// Reads a receipt. White space and the order of members do not matter.
    ///
    /// # Errors
    /// If it is not a receipt; the error says why.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let refused = |error: String| format!("this is not a receipt: {error}");
        let mut members = Members::read(bytes).map_err(refused)?;
        let mut text = |name: &str| members.text(name).map_err(refused);
        let (checkpoint, content, schema) = (text("checkpoint")?, text("content")?, text("schema")?);
        let index = members.whole("index").map_err(refused)?;
        let path = members.texts("path").map_err(refused)?;
        let entry = members.need("entry").map_err(refused)?;
        members.end().map_err(refused)?;
        if schema != SCHEMA {
            let found = schema.escape_debug();
            return Err(format!("the schema of this receipt is `{found}`, expected `{SCHEMA}`"));
        }
        let path = path.iter().enumerate().map(|(place, text)| {
            let hash = STANDARD.decode(text).ok().and_then(|bytes| Hash::from_bytes(&bytes));
            hash.ok_or_else(|| format!("`path[{place}]` is `{}`, not a hash in base 64", text.escape_debug()))
        });
        let path = path.collect::<Result<_, _>>()?;
        let entry = Members::read(entry.as_bytes()).and_then(Entry::of);
        let entry = entry.map_err(|problem| format!("`entry`: {problem}"))?;
        Ok(Self { content, entry, index, path, checkpoint })
    }

    /// Checks everything that can be checked with the key of the log alone. Whether the score follows from the evidence is
    /// another question: the record answers it.
    pub fn verify(&self, key: &VerifyingKey) -> Verification {
        self.verify_with(&key.clone().into())
    }

    /// Does the same with all keys that the log had so far.
    pub fn verify_with(&self, keys: &Keys) -> Verification {
        let opened = keys.open(&self.checkpoint);
        self.against(opened.map(|(checkpoint, _)| checkpoint).map_err(|error| error.to_string()))
    }

    /// Does the same without a key: the checkpoint is trusted as given. The result counts only if someone else vouches
    /// for the checkpoint; alone it proves nothing, as anyone can write such a receipt.
    pub fn verify_unsigned(&self) -> Verification {
        let claimed = Checkpoint::claimed(&self.checkpoint).map(|(_, checkpoint)| checkpoint);
        self.against(claimed.map_err(|error| error.to_string()))
    }

    /// Returns the change of the key of the log that this is the receipt of, with its position. The signature of the
    /// checkpoint is not checked: [`Keys::open_after`] does so once all changes are known.
    ///
    /// # Errors
    /// If it is the receipt of something else, or if something in it was changed.
    pub fn rotation(&self) -> Result<(u64, Rotation), String> {
        let verification = self.verify_unsigned();
        if !verification.holds() {
            return Err(verification.to_string());
        }
        let is_key = self.entry.kind == Kind::Key;
        let change = if is_key { Rotation::parse(self.content.as_bytes())? } else { None };
        let other = || {
            format!(
                "it is the receipt of another item, the {} `{}`",
                self.entry.kind,
                self.entry.id.escape_debug()
            )
        };
        Ok((self.index, change.ok_or_else(other)?))
    }

    /// Returns the keys of the log of which `trusted` is one, from the receipts of changes of its key. Each must be of a
    /// head that the key after the change signed, or a later one.
    ///
    /// # Errors
    /// If a receipt is not one of a change, or if the changes do not follow each other or have nothing to do with
    /// `trusted`.
    pub fn keys(trusted: &VerifyingKey, rotations: &[Self]) -> Result<Keys, String> {
        let mut changes = rotations.iter().map(Self::rotation).collect::<Result<Vec<_>, _>>()?;
        let keys = Keys::follow(trusted, &changes)?;
        changes.sort_by_key(|(position, _)| *position);
        changes.dedup();
        for receipt in rotations {
            let number = changes.iter().position(|(position, _)| *position == receipt.index);
            let number = number.map_or(0, |place| place + 1);
            let opened = keys.open_after(number, &receipt.checkpoint);
            opened.map_err(|error| format!("the change of the key in entry {}: {error}", receipt.index))?;
        }
        Ok(keys)
    }

    fn against(&self, checkpoint: Result<Checkpoint, String>) -> Verification {
        let inclusion = match &checkpoint {
            Ok(Checkpoint { size, root }) => {
                let leaf = Hash::of_leaf(&self.entry.to_json());
                verify_inclusion(leaf, self.index, *size, &self.path, *root)
                    .map_err(|error| error.to_string())
            }
            Err(_) => Err(String::from("there is no signed root that it could be checked against")),
        };
        let digest = Digest::of(self.content.as_bytes());
        let content = if digest == self.entry.content {
            Ok(())
        } else {
            Err(format!("the content has the digest {digest}, the log has {}", self.entry.content))
        };
        Verification { checkpoint, inclusion, content, evidence: self.evidence() }
    }

    /// Checks that the evidence that the record names is among the sources that the log has for it.
    fn evidence(&self) -> Result<(), String> {
        if self.entry.kind != Kind::Record {
            return Ok(());
        }
        let named = Members::read(self.content.as_bytes())
            .and_then(|mut record| Members::read(record.need("evidence")?.as_bytes())?.text("digest"))
            .map_err(|error| format!("the record does not name its evidence: {error}"))?;
        match Digest::parse(&named) {
            Some(digest) if self.entry.sources.contains(&digest) => Ok(()),
            _ => Err(format!("the record names the evidence `{}`, the log does not", named.escape_debug())),
        }
    }
}

/// The result of each check of a receipt, and for each that failed, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The trusted key signed the checkpoint: what it says.
    pub checkpoint: Result<Checkpoint, String>,
    /// The entry is at its place in the tree of the checkpoint.
    pub inclusion: Result<(), String>,
    /// The content is the one of the entry.
    pub content: Result<(), String>,
    /// A record was made from the evidence that the entry says; always so for items of other kinds.
    pub evidence: Result<(), String>,
}

impl Verification {
    /// Returns whether all checks passed.
    pub fn holds(&self) -> bool {
        self.problems().next().is_none()
    }

    /// Returns the checks that failed: name and reason.
    pub fn problems(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("signature", self.checkpoint.as_ref().err()),
            ("inclusion", self.inclusion.as_ref().err()),
            ("content", self.content.as_ref().err()),
            ("evidence", self.evidence.as_ref().err()),
        ]
        .into_iter()
        .filter_map(|(name, problem)| problem.map(|problem| (name, problem.as_str())))
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.holds() {
            return f.write_str("the receipt is valid");
        }
        let problems: Vec<_> = self.problems().map(|(name, problem)| format!("{name}: {problem}")).collect();
        f.write_str(&problems.join("; "))
    }
}
