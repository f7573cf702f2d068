//! Signed notes after C2SP `signed-note`, with Ed25519 keys: a text, an empty line, and signature lines.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, Signer as _, SigningKey};
use sha2::{Digest as _, Sha256};

/// The type of signature that a key id and a key begin with: Ed25519.
const ED25519: u8 = 1;
/// The same for a witness: Ed25519 over a checkpoint and a time.
pub(super) const COSIGNATURE: u8 = 4;
/// Bytes of the id of a key.
const ID_BYTES: usize = 4;
/// The longest note that is read, in bytes: enough for some hundred signatures.
const NOTE_MAX_BYTES: usize = 64 * 1024;
/// The start of every line with a signature.
const SIGNATURE_LINE: &str = "\u{2014} ";

/// The reason why a key or a note is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoteError {
    /// The name of a key is empty, or has a space, a plus sign or a control character.
    #[error("`{}` cannot name a key: expected a text without spaces, `+` and control characters", .0.escape_debug())]
    Name(String),
    /// The text is not a key.
    #[error("`{}` is not a key: expected `NAME+ID+KEY`", .0.escape_debug())]
    Key(String),
    /// The text is a key for another type of signature.
    #[error("`{}` is a key {}, expected one {}", .text.escape_debug(), holder(*.found), holder(*.expected))]
    OtherUse {
        /// The text.
        text: String,
        /// The type that is needed: 1 for the key of a log, 4 for the key of a witness.
        expected: u8,
        /// The type of the key.
        found: u8,
    },
    /// The text is not a signed note.
    #[error("this is not a signed note: {0}")]
    Malformed(&'static str),
    /// No signature is by the key that is trusted.
    #[error("no signature is by the trusted key `{by}`")]
    NotSigned {
        /// The name of the trusted key.
        by: String,
    },
    /// A key signed a head when it was not the key of the log.
    #[error("`{key}` signed a head of {size} entries, and was the key of the log from {from} {}", until(*.to))]
    OutOfTurn {
        /// The key.
        key: String,
        /// The number of entries of the head.
        size: u64,
        /// The smallest head that the key may sign.
        from: u64,
        /// The largest head that it may sign.
        to: u64,
    },
    /// A signature that claims to be by the trusted key is not.
    #[error("the signature in the name of `{by}` is not by the trusted key, or the text was changed")]
    WrongSignature {
        /// The name of the trusted key.
        by: String,
    },
}

/// Returns whose key is one for signatures of that type.
fn holder(kind: u8) -> String {
    match kind {
        ED25519 => String::from("of a log"),
        COSIGNATURE => String::from("of a witness"),
        other => format!("of type {other}"),
    }
}

fn until(to: u64) -> String {
    if to == u64::MAX {
        String::from("entries on")
    } else {
        format!("to {to} entries: another key followed it")
    }
}

/// A name and a secret key. The key is wiped from memory when it is dropped, and never printed.
#[derive(Clone)]
pub struct Signer {
    key: SigningKey,
    public: VerifyingKey,
}

impl Signer {
    /// Makes the key of 32 secret bytes, which the caller must draw at random, under a `name` that only this log has,
    /// best an address without its scheme: `scores.example.org/main`.
    ///
    /// # Errors
    /// If `name` cannot be the name of a key.
    pub fn new(name: &str, secret: &[u8; 32]) -> Result<Self, NoteError> {
        let key = SigningKey::from_bytes(secret);
        let public = VerifyingKey(NamedKey::new(name, ED25519, key.verifying_key())?);
        Ok(Self { key, public })
    }

    /// Returns the key that others need to check its signatures.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.public
    }

    /// Signs `text`, which must end in a line feed, and returns the note.
    ///
    /// # Errors
    /// If the text cannot be that of a note.
    pub fn sign(&self, text: &str) -> Result<String, NoteError> {
        check_text(text)?;
        Ok(format!("{text}\n{}", self.public.0.line(&self.signature(text))))
    }

    /// Adds a second signature to a note of [`Self::sign`] by another key: this one.
    ///
    /// # Errors
    /// If it is not a note.
    pub(crate) fn sign_too(&self, note: &str) -> Result<String, NoteError> {
        let (text, _) = parts(note)?;
        Ok(format!("{note}{}", self.public.0.line(&self.signature(text))))
    }

    /// Returns the signature over `text` alone.
    pub(super) fn signature(&self, text: &str) -> [u8; 64] {
        self.key.sign(text.as_bytes()).to_bytes()
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("public", &self.public).finish_non_exhaustive()
    }
}

/// A name and a public key, written `NAME+ID+KEY`: the id in hexadecimal, the key in base 64.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifyingKey(NamedKey);

impl VerifyingKey {
    /// Returns the name of the key.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the text of `note`, if this key signed it. Signatures by other keys are not looked at.
    ///
    /// # Errors
    /// If it is not a note, if this key did not sign it, or if something was changed since.
    pub fn open<'a>(&self, note: &'a str) -> Result<&'a str, NoteError> {
        let (text, signatures) = self.0.signatures(note)?;
        for signature in &signatures {
            self.0.check(text, signature)?;
        }
        if signatures.is_empty() { Err(self.0.not_signed()) } else { Ok(text) }
    }

    /// Returns `note` with the signatures of this key and no others.
    ///
    /// # Errors
    /// If [`Self::open`] fails.
    pub fn alone(&self, note: &str) -> Result<String, NoteError> {
        let text = self.open(note)?;
        let (_, signatures) = self.0.signatures(note)?;
        let lines: String = signatures.iter().map(|signature| self.0.line(signature)).collect();
        Ok(format!("{text}\n{lines}"))
    }

    /// Returns whether another key has the same bytes, whatever name it has.
    pub fn is_same_key(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }

    /// Checks a signature over `text` that stands by itself, outside of a note.
    ///
    /// # Errors
    /// If it is not by this key, or if the text was changed.
    pub(super) fn check(&self, text: &str, signature: &[u8]) -> Result<(), NoteError> {
        self.0.check(text, signature)
    }

    /// Returns the 32 bytes of the key.
    pub(super) fn bytes(&self) -> &[u8; 32] {
        self.0.key.as_bytes()
    }
}

/// A public key of Ed25519 for one type of signature, and the name of its holder.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct NamedKey {
    name: String,
    id: [u8; ID_BYTES],
    /// The type of the signatures, which the id depends on.
    algorithm: u8,
    key: ed25519_dalek::VerifyingKey,
}

impl NamedKey {
    pub fn new(name: &str, algorithm: u8, key: ed25519_dalek::VerifyingKey) -> Result<Self, NoteError> {
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+') {
            return Err(NoteError::Name(name.to_owned()));
        }
        let digest = Sha256::new()
            .chain_update(name)
            .chain_update([b'\n', algorithm])
            .chain_update(key.as_bytes())
            .finalize();
        let mut id = [0; ID_BYTES];
        id.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Ok(Self { name: name.to_owned(), id, algorithm, key })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the line of a note with a signature by this key.
    pub fn line(&self, signature: &[u8]) -> String {
        let mut bytes = self.id.to_vec();
        bytes.extend_from_slice(signature);
        format!("{SIGNATURE_LINE}{} {}\n", self.name, STANDARD.encode(bytes))
    }

    /// Returns the text of `note`, and the signatures in it that claim to be by this key, without its id.
    pub fn signatures<'a>(&self, note: &'a str) -> Result<(&'a str, Vec<Vec<u8>>), NoteError> {
        let (text, signatures) = parts(note)?;
        let own = signatures.into_iter().filter_map(|(name, bytes)| {
            let (id, signature) = bytes.split_first_chunk::<ID_BYTES>()?;
            (name == self.name && *id == self.id).then(|| signature.to_vec())
        });
        Ok((text, own.collect()))
    }

    /// Checks a signature over `message`.
    pub fn check(&self, message: &str, signature: &[u8]) -> Result<(), NoteError> {
        let signature = Signature::from_slice(signature).map_err(|_| self.wrong())?;
        self.key.verify_strict(message.as_bytes(), &signature).map_err(|_| self.wrong())
    }

    pub fn wrong(&self) -> NoteError {
        NoteError::WrongSignature { by: self.name.clone() }
    }

    pub fn not_signed(&self) -> NoteError {
        NoteError::NotSigned { by: self.name.clone() }
    }

    /// Reads a key for this type of signature.
    pub fn parse(text: &str, algorithm: u8) -> Result<Self, NoteError> {
        let refused = || NoteError::Key(text.to_owned());
        // Neither a name nor an id has a plus sign; base 64 may have some.
        let (name, rest) = text.split_once('+').ok_or_else(refused)?;
        let (id, key) = rest.split_once('+').ok_or_else(refused)?;
        let bytes = STANDARD.decode(key).map_err(|_| refused())?;
        let (found, bytes) = bytes.split_first().ok_or_else(refused)?;
        let bytes: &[u8; 32] = bytes.try_into().map_err(|_| refused())?;
        if *found != algorithm {
            return Err(NoteError::OtherUse { text: text.to_owned(), expected: algorithm, found: *found });
        }
        let key = ed25519_dalek::VerifyingKey::from_bytes(bytes).map_err(|_| refused())?;
        let key = Self::new(name, algorithm, key).map_err(|_| refused())?;
        if format!("{:08x}", u32::from_be_bytes(key.id)) == id { Ok(key) } else { Err(refused()) }
    }
}

impl fmt::Display for NamedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![self.algorithm];
        bytes.extend_from_slice(self.key.as_bytes());
        write!(f, "{}+{:08x}+{}", self.name, u32::from_be_bytes(self.id), STANDARD.encode(bytes))
    }
}

/// The error for a line that should be a signature.
const NOT_A_SIGNATURE: NoteError = NoteError::Malformed("a line after the empty one is not a signature");

/// The name that a signature is in, and the id of the key with the bytes that it made.
type NamedSignature<'a> = (&'a str, Vec<u8>);

/// Returns the text of a note, and its signatures, which are not checked.
pub(super) fn parts(note: &str) -> Result<(&str, Vec<NamedSignature<'_>>), NoteError> {
    if note.len() > NOTE_MAX_BYTES {
        return Err(NoteError::Malformed("it is longer than 65,536 bytes"));
    }
    let (text, lines) =
        note.rsplit_once("\n\n").ok_or(NoteError::Malformed("no empty line ends its text"))?;
    // The text has its last line feed.
    let text = note.get(..=text.len()).unwrap_or_default();
    check_text(text)?;
    let lines = lines.strip_suffix('\n').ok_or(NoteError::Malformed("its last line has no end"))?;
    let signatures = lines.split('\n').map(|line| {
        let (name, bytes) =
            line.strip_prefix(SIGNATURE_LINE)?.split_once(' ').filter(|(name, _)| !name.is_empty())?;
        Some((name, STANDARD.decode(bytes).ok().filter(|bytes| bytes.len() > ID_BYTES)?))
    });
    Ok((text, signatures.collect::<Option<_>>().ok_or(NOT_A_SIGNATURE)?))
}

fn check_text(text: &str) -> Result<(), NoteError> {
    if text.contains(|c: char| c < ' ' && c != '\n') {
        return Err(NoteError::Malformed("its text has a control character"));
    }
    if text.ends_with('\n') {
        Ok(())
    } else {
        Err(NoteError::Malformed("its text does not end in a line feed"))
    }
}

/// Writes a key as `NAME+ID+KEY`, and reads one for signatures of that type.
macro_rules! written {
    ($key:ident, $algorithm:expr) => {
        impl fmt::Display for $key {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $key {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $key {
            type Err = NoteError;

            fn from_str(text: &str) -> Result<Self, NoteError> {
                NamedKey::parse(text, $algorithm).map(Self)
            }
        }
    };
}
pub(super) use written;

written!(VerifyingKey, ED25519);

#[cfg(test)]
mod tests {
    use super::*;

    /// The key, text and signature in the documentation of Go's package `note`.
    const KEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    const TEXT: &str = "If you think cryptography is the answer to your problem,\n\
                        then you don't know what your problem is.\n";
    const SIGNATURE: &str = "\u{2014} PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

    #[test]
    fn a_published_note_opens() {
        let key: VerifyingKey = KEY.parse().unwrap();
        assert_eq!(key.name(), "PeterNeumann");
        assert_eq!(key.open(&format!("{TEXT}\n{SIGNATURE}")), Ok(TEXT));
        let other = format!("\u{2014} somebody {}\n", STANDARD.encode([9; 70]));
        assert_eq!(key.open(&format!("{TEXT}\n{other}{SIGNATURE}")), Ok(TEXT));
        assert_eq!(key.alone(&format!("{TEXT}\n{other}{SIGNATURE}")), Ok(format!("{TEXT}\n{SIGNATURE}")));
        assert_eq!(
            key.open(&format!("{TEXT}\n{other}")),
            Err(NoteError::NotSigned { by: "PeterNeumann".to_owned() })
        );
    }

    #[test]
    fn what_was_signed_opens_and_what_was_changed_does_not() {
        let signer = Signer::new("karat.example/log", &[7; 32]).unwrap();
        let key: VerifyingKey = signer.verifying_key().to_string().parse().unwrap();
        assert_eq!(&key, signer.verifying_key());
        let text = "a\n\nb\n";
        let note = signer.sign(text).unwrap();
        assert_eq!(key.open(&note), Ok(text));
        for at in 0..note.len() {
            let mut bytes = note.clone().into_bytes();
            bytes[at] ^= 1;
            if let Ok(changed) = String::from_utf8(bytes) {
                assert!(key.open(&changed).is_err(), "{changed}");
            }
        }
        for end in (0..note.len()).filter(|end| note.is_char_boundary(*end)) {
            assert!(key.open(&note[..end]).is_err());
        }
    }

    #[test]
    fn malformed_keys_notes_and_names_are_refused() {
        for text in [
            "",
            "+",
            "a+b",
            "a+00000000+",
            &KEY.replace("c74f", "c74e"),
            &KEY.replace("Peter", "peter"),
            &KEY[1..],
        ] {
            assert!(text.parse::<VerifyingKey>().is_err(), "{text}");
        }
        let key: VerifyingKey = KEY.parse().unwrap();
        for note in [
            "", "\n", "\n\n", "text\n", "text\n\nx\n", "text\n\n\u{2014} a\n", "text\n\n\u{2014} a !\n",
            "text\n\n\u{2014} a AAA=\n",
        ] {
            assert!(matches!(key.open(note), Err(NoteError::Malformed(_))), "{note}");
        }
        assert!(key.open(&"\n".repeat(NOTE_MAX_BYTES + 1)).is_err());
        for name in ["", "a b", "a+b", "a\u{2003}b", "a\nb"] {
            assert_eq!(Signer::new(name, &[1; 32]).err(), Some(NoteError::Name(name.to_owned())));
        }
        let signer = Signer::new("a", &[1; 32]).unwrap();
        assert!(signer.sign("no end").is_err());
        assert!(signer.sign("tab\t\n").is_err());
        assert!(!format!("{signer:?}").contains("0101"));
    }
}
