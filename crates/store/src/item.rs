//! Stored items of ten kinds, and the entry of each in the log.

use std::cmp::Ordering;

use karat_core::facts::Digest;
use karat_core::json;
use karat_core::timestamp::Timestamp;
use sha2::{Digest as _, Sha256};

use crate::error::Problem;
use crate::kind::Kind;
use crate::log::Hash;
use crate::members::{Members, text};

/// Schema of an entry without a sender: the only one that there was before senders were kept.
const WITHOUT_SENDER: &str = "karat/entry/1";
/// Schema of an entry with a sender.
const WITH_SENDER: &str = "karat/entry/2";
/// The longest id or subject, in bytes.
pub const NAME_MAX_BYTES: usize = 1024;
/// Most sources of one item. With the longest names an entry still fits into a bundle of entries.
pub const SOURCES_MAX: usize = 512;
/// The largest content, in bytes.
pub const CONTENT_MAX_BYTES: usize = 64 << 20;

/// The largest distance of a moment from 1970, which is 100 million days.
const MOMENT_MAX_MILLISECONDS: i64 = 8_640_000_000_000_000;

/// An item that is to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewItem {
    /// Its kind.
    pub kind: Kind,
    /// Its id, unique within its kind.
    pub id: String,
    /// The subject that it is about, if there is one.
    pub subject: Option<String>,
    /// Digests of what it was made from: of a record, its evidence; of a review, the record. They need not be stored here.
    pub sources: Vec<Digest>,
    /// The id of the item of the same kind that it corrects. An item is replaced once at most; the next correction
    /// replaces the correction.
    pub replaces: Option<String>,
    /// The sender: of a server, the public id of a key. It is kept of the first who sends the item.
    pub sender: Option<String>,
    /// The bytes.
    pub content: Vec<u8>,
}

impl NewItem {
    /// Creates an item that is about no subject, was made from nothing stored here and corrects nothing.
    pub fn new(kind: Kind, id: String, content: impl Into<Vec<u8>>) -> Self {
        let content = content.into();
        Self { kind, id, subject: None, sources: Vec::new(), replaces: None, sender: None, content }
    }
}

/// The entry of an item in the log: everything but its content, of which it has the digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its kind.
    pub kind: Kind,
    /// Its id.
    pub id: String,
    /// The subject that it is about, if there is one.
    pub subject: Option<String>,
    /// Digests of what it was made from.
    pub sources: Vec<Digest>,
    /// The id of the item that it corrects.
    pub replaces: Option<String>,
    /// The sender, if the entry says who it was.
    pub sender: Option<String>,
    /// The digest of its content.
    pub content: Digest,
    /// The time at which it was handed in, as the caller said.
    pub moment: Timestamp,
}

impl Entry {
    /// Returns the entry as canonical JSON after RFC 8785: these bytes are hashed into the log.
    pub fn to_json(&self) -> Vec<u8> {
        // All but the names, and those where nothing in them is escaped.
        let names = [Some(&self.id), self.subject.as_ref(), self.replaces.as_ref(), self.sender.as_ref()];
        let names: usize = names.into_iter().flatten().map(String::len).sum();
        let mut out = Vec::with_capacity(256 + names + 74 * self.sources.len());
        out.extend_from_slice(b"{\"content\":");
        json::write_digest(&mut out, self.content);
        out.extend_from_slice(b",\"id\":");
        json::write_string(&mut out, &self.id);
        out.extend_from_slice(b",\"kind\":");
        json::write_string(&mut out, self.kind.name());
        out.extend_from_slice(b",\"moment_milliseconds\":");
        json::write_integer(&mut out, self.moment.milliseconds);
        out.extend_from_slice(b",\"replaces\":");
        write_optional(&mut out, self.replaces.as_deref());
        out.extend_from_slice(b",\"schema\":");
        json::write_string(&mut out, self.schema());
        if let Some(sender) = &self.sender {
            out.extend_from_slice(b",\"sender\":");
            json::write_string(&mut out, sender);
        }
        out.extend_from_slice(b",\"sources\":[");
        for (place, source) in self.sources.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            json::write_digest(&mut out, *source);
        }
        out.extend_from_slice(b"],\"subject\":");
        write_optional(&mut out, self.subject.as_deref());
        out.push(b'}');
        out
    }

    const fn schema(&self) -> &'static str {
        if self.sender.is_some() { WITH_SENDER } else { WITHOUT_SENDER }
    }

    /// Reads the entry in `bytes`, which must be exactly as [`Self::to_json`] writes it.
    ///
    /// # Errors
    /// If they are not written so, with the reason.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let members =
            Members::read(bytes).map_err(|error| format!("it is not an entry of a log: {error}"))?;
        let entry = Self::of(members)?;
        if entry.to_json() == bytes {
            Ok(entry)
        } else {
            Err(String::from("it is not written in canonical form (RFC 8785)"))
        }
    }

    /// Returns every term under which it is found.
    pub fn terms(&self) -> Vec<Term> {
        self.terms_with(Term::id(self.kind, &self.id))
    }

    /// Returns the same, with the term of its id given.
    fn terms_with(&self, id: Term) -> Vec<Term> {
        let mut terms = Vec::with_capacity(2);
        terms.push(id);
        if self.kind.is_listed() {
            terms.push(Term::kind(self.kind));
            terms.extend(self.subject.as_deref().map(|subject| Term::subject(self.kind, subject)));
        }
        terms.extend(self.replaces.as_deref().map(|old| Term::replaced(self.kind, old)));
        terms
    }

    /// Returns the first member, other than moment and sender, in which it differs from `other`.
    pub(crate) fn difference(&self, other: &Self) -> Option<&'static str> {
        [
            ("content", self.content != other.content),
            ("subject", self.subject != other.subject),
            ("list of sources", self.sources != other.sources),
            ("item to replace", self.replaces != other.replaces),
        ]
        .into_iter()
        .find_map(|(member, differs)| differs.then_some(member))
    }
}

impl Entry {
    /// Reads an entry from its members, which must be exactly these.
    pub(crate) fn of(mut members: Members<'_>) -> Result<Self, String> {
        let sender =
            members.take("sender").map(text).transpose().map_err(|error| format!("`sender`: {error}"))?;
        let schema = members.text("schema")?;
        match (schema.as_str(), &sender) {
            (WITH_SENDER, Some(_)) | (WITHOUT_SENDER, None) => {}
            (WITH_SENDER, None) => return Err(String::from("it has no `sender`")),
            (WITHOUT_SENDER, Some(_)) => {
                return Err(format!("it has a `sender`, which `{WITHOUT_SENDER}` has not"));
            }
            (other, _) => {
                let found = other.escape_debug();
                return Err(format!(
                    "its schema is `{found}`, expected `{WITHOUT_SENDER}` or `{WITH_SENDER}`"
                ));
            }
        }
        let digest = |text: &str| {
            Digest::parse(text).ok_or_else(|| format!("`{}` is not a digest", text.escape_debug()))
        };
        let named = members.text("kind")?;
        let kind = Kind::from_name(&named)
            .ok_or_else(|| format!("`{}` is not a kind of item", named.escape_debug()))?;
        let entry = Self {
            kind,
            id: members.text("id")?,
            subject: members.text_or_null("subject")?,
            sources: members
                .texts("sources")?
                .iter()
                .map(|source| digest(source))
                .collect::<Result<_, _>>()?,
            replaces: members.text_or_null("replaces")?,
            sender,
            content: digest(&members.text("content")?)?,
            moment: Timestamp { milliseconds: members.whole("moment_milliseconds")? },
        };
        members.end()?;
        Ok(entry)
    }
}

fn write_optional(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => json::write_string(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

/// A key that finds items: 16 bytes of a SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Term(pub [u8; 16]);

impl Ord for Term {
    /// Compares their bytes as one number: they are put in order millions at a time.
    fn cmp(&self, other: &Self) -> Ordering {
        u128::from_be_bytes(self.0).cmp(&u128::from_be_bytes(other.0))
    }
}

impl PartialOrd for Term {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Term {
    /// Makes the term of the item of that kind with that id.
    pub fn id(kind: Kind, id: &str) -> Self {
        Self::of(b"id", kind.name(), id.as_bytes())
    }

    /// Makes the term of every item of that kind, if it [is listed](Kind::is_listed).
    pub fn kind(kind: Kind) -> Self {
        Self::of(b"kind", kind.name(), b"")
    }

    /// Makes the term of every item of that kind about that subject, if the kind [is listed](Kind::is_listed).
    pub fn subject(kind: Kind, subject: &str) -> Self {
        Self::of(b"subject", kind.name(), subject.as_bytes())
    }

    /// Makes the term of the item that replaced the one with the id `old`.
    pub fn replaced(kind: Kind, old: &str) -> Self {
        Self::of(b"replaced", kind.name(), old.as_bytes())
    }

    /// Hashes tag, kind and name. A zero byte ends tag and kind, which have none, so that no two terms hash the same
    /// bytes.
    fn of(tag: &[u8], kind: &str, name: &[u8]) -> Self {
        let hash = Sha256::new()
            .chain_update(tag)
            .chain_update([0])
            .chain_update(kind)
            .chain_update([0])
            .chain_update(name)
            .finalize();
        let mut term = [0; 16];
        term.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        Self(term)
    }
}

/// An item with everything worked out that does not depend on what is stored, so that the writer need not do it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub entry: Entry,
    pub bytes: Vec<u8>,
    pub leaf: Hash,
    /// The term of its id.
    pub id: Term,
    /// All its terms.
    pub terms: Vec<Term>,
    pub content: Vec<u8>,
}

impl Prepared {
    pub fn new(item: NewItem, moment: Timestamp) -> Self {
        let NewItem { kind, id, subject, sources, replaces, sender, content } = item;
        let entry =
            Entry { kind, id, subject, sources, replaces, sender, content: Digest::of(&content), moment };
        let (bytes, id) = (entry.to_json(), Term::id(entry.kind, &entry.id));
        Self { leaf: Hash::of_leaf(&bytes), id, terms: entry.terms_with(id), bytes, entry, content }
    }

    /// Changes its moment.
    pub fn at(mut self, moment: Timestamp) -> Self {
        if self.entry.moment != moment {
            self.entry.moment = moment;
            self.bytes = self.entry.to_json();
            self.leaf = Hash::of_leaf(&self.bytes);
        }
        self
    }
}

/// Returns the limit that `item` breaks first, if any.
pub(crate) fn limit_broken(item: &NewItem, moment: Timestamp) -> Option<Problem> {
    let names = [
        ("id", Some(&item.id)),
        ("subject", item.subject.as_ref()),
        ("id to replace", item.replaces.as_ref()),
        ("sender", item.sender.as_ref()),
    ];
    let name = names.into_iter().find_map(|(member, name)| {
        let problem = match name? {
            name if name.is_empty() => String::from("is empty"),
            name if name.len() > NAME_MAX_BYTES => {
                format!("has {} bytes, and at most {NAME_MAX_BYTES} are allowed", name.len())
            }
            name if has_control(name) => String::from("has a control character"),
            _ => return None,
        };
        Some(format!("its {member} {problem}"))
    });
    let rest = || {
        if item.sources.len() > SOURCES_MAX {
            Some(format!("it has {} sources, and at most {SOURCES_MAX} are allowed", item.sources.len()))
        } else if item.content.len() > CONTENT_MAX_BYTES {
            let bytes = item.content.len();
            Some(format!("its content has {bytes} bytes, and at most {CONTENT_MAX_BYTES} are allowed"))
        } else if moment.milliseconds.unsigned_abs() > MOMENT_MAX_MILLISECONDS.unsigned_abs() {
            Some(format!("the moment {} is beyond the calendar", moment.milliseconds))
        } else {
            None
        }
    };
    name.or_else(rest).map(Problem::Malformed)
}

fn has_control(name: &str) -> bool {
    // Most names are of ASCII, whose characters need not be put together first.
    if name.is_ascii() {
        name.bytes().any(|byte| byte.is_ascii_control())
    } else {
        name.chars().any(char::is_control)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::log::BUNDLE_ENTRY_MAX_BYTES;

    fn entry() -> Entry {
        Entry {
            kind: Kind::Record,
            id: "r-1".to_owned(),
            subject: Some("agent \"é\"".to_owned()),
            sources: vec![Digest::of(b"evidence")],
            replaces: None,
            sender: None,
            content: Digest::of(b"record"),
            moment: Timestamp { milliseconds: 1_763_700_000_000 },
        }
    }

    #[test]
    fn an_entry_is_canonical_json() {
        let value: serde_json::Value = serde_json::from_slice(&entry().to_json()).unwrap();
        // Without its feature for order, serde_json keeps members sorted: here the same as by UTF-16, all being ASCII.
        assert_eq!(serde_json::to_vec(&value).unwrap(), entry().to_json());
        assert_eq!(Entry::parse(&entry().to_json()), Ok(entry()));
    }

    #[test]
    fn an_entry_is_as_it_was_before_it_could_have_a_sender() {
        let entry = Entry { subject: None, sources: Vec::new(), ..entry() };
        let (content, moment) = (entry.content, entry.moment.milliseconds);
        let (before, after) = (
            format!(r#"{{"content":"{content}","id":"r-1","kind":"record","moment_milliseconds":{moment},"#),
            r#""sources":[],"subject":null}"#,
        );
        let without = format!(r#"{before}"replaces":null,"schema":"karat/entry/1",{after}"#);
        assert_eq!(String::from_utf8(entry.to_json()).unwrap(), without);
        let sent = Entry { sender: Some("0123456789abcdef".to_owned()), ..entry };
        let with = format!(
            r#"{before}"replaces":null,"schema":"karat/entry/2","sender":"0123456789abcdef",{after}"#
        );
        assert_eq!(String::from_utf8(sent.to_json()).unwrap(), with);
        assert_eq!(Entry::parse(with.as_bytes()), Ok(sent));
        for (from, to) in
            [("entry/2", "entry/1"), ("\"0123456789abcdef\"", "null"), ("er\":\"0", "er\":0,\"s\":\"0")]
        {
            assert!(Entry::parse(with.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
        }
    }

    #[test]
    fn other_entries_are_refused() {
        let text = String::from_utf8(entry().to_json()).unwrap();
        for (from, to) in [
            ("entry/1", "entry/2"),
            ("entry/1", "entry/3"),
            ("entry/1\"", "entry/1\",\"sender\":\"k\""),
            ("entry/1\"", "entry/1\",\"sender\":null"),
            ("\"replaces\":null,", ""),
            (",\"subject\":\"agent \\\"é\\\"\"", ""),
            ("\"record\"", "\"recorder\""),
            ("sha256:", "sha512:"),
            ("1763700000000", "1763700000000.0"),
            (":null", ": null"),
            ("\"id\"", "\"name\""),
            ("agent", "\\u0061gent"),
            ("{", "{\"more\":1,"),
        ] {
            assert_ne!(text, text.replacen(from, to, 1), "{from}");
            assert!(Entry::parse(text.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
        }
    }

    #[test]
    fn the_longest_entry_fits_into_a_bundle() {
        let name = "\"".repeat(NAME_MAX_BYTES);
        let item = NewItem {
            kind: Kind::Scorecard,
            id: name.clone(),
            subject: Some(name.clone()),
            sources: vec![Digest::of(b""); SOURCES_MAX],
            replaces: Some(name.clone()),
            sender: Some(name),
            content: Vec::new(),
        };
        assert_eq!(limit_broken(&item, Timestamp { milliseconds: MOMENT_MAX_MILLISECONDS }), None);
        assert!(
            Prepared::new(item, Timestamp { milliseconds: -MOMENT_MAX_MILLISECONDS }).bytes.len()
                <= BUNDLE_ENTRY_MAX_BYTES
        );
    }

    #[test]
    fn limits_are_told() {
        let good = NewItem {
            kind: Kind::Key,
            id: "k".to_owned(),
            subject: None,
            sources: Vec::new(),
            replaces: None,
            sender: None,
            content: Vec::new(),
        };
        let broken = |item: &NewItem| {
            limit_broken(item, Timestamp { milliseconds: 0 }).map(|problem| problem.to_string())
        };
        assert_eq!(broken(&good), None);
        for (item, says) in [
            (NewItem { id: String::new(), ..good.clone() }, "its id is empty"),
            (NewItem { subject: Some("a\u{7f}".to_owned()), ..good.clone() }, "its subject has a control"),
            (NewItem { subject: Some("é\u{9f}".to_owned()), ..good.clone() }, "its subject has a control"),
            (
                NewItem { replaces: Some("x".repeat(1025)), ..good.clone() },
                "its id to replace has 1025 bytes",
            ),
            (NewItem { sources: vec![Digest::of(b""); 513], ..good.clone() }, "513 sources"),
            (NewItem { sender: Some(String::new()), ..good.clone() }, "its sender is empty"),
        ] {
            assert!(broken(&item).unwrap().contains(says), "{says}");
        }
        assert!(limit_broken(&good, Timestamp { milliseconds: i64::MIN }).is_some());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn terms_have_the_order_of_their_bytes(one: [u8; 16], other: [u8; 16]) {
            prop_assert_eq!(Term(one).cmp(&Term(other)), one.cmp(&other));
        }

        #[test]
        fn entries_read_back(id in ".{1,40}", subject in proptest::option::of(".{1,20}"), sender in proptest::option::of(".{1,20}"), moment: i64, kind in 0usize..6) {
            let moment = Timestamp { milliseconds: moment % MOMENT_MAX_MILLISECONDS };
            let entry = Entry { id, subject, sender, moment, kind: Kind::ALL[kind], ..entry() };
            prop_assert_eq!(Entry::parse(&entry.to_json()), Ok(entry));
        }
    }
}
