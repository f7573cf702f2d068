//! The head of a tree as a text that a log signs, after C2SP `tlog-checkpoint`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::note::parts;
use super::{Hash, NoteError, Signer, VerifyingKey};

/// The size and the root of a tree; its origin is the name of the key that signs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// The number of leaves of the tree.
    pub size: u64,
    /// The hash of the whole tree.
    pub root: Hash,
}

impl Checkpoint {
    /// Returns the signed text: origin, size, root in base 64, an empty line, the signature.
    ///
    /// # Errors
    /// If the name is not one that a key can have.
    pub fn sign(&self, signer: &Signer) -> Result<String, NoteError> {
        let origin = signer.verifying_key().name();
        signer.sign(&format!("{origin}\n{}\n{}\n", self.size, STANDARD.encode(self.root.0)))
    }

    /// Returns the checkpoint in `note`, if `key` signed it and it is of the log that `key` is named after. Lines after
    /// the root are signed with it and not read.
    ///
    /// # Errors
    /// If it is not a checkpoint of that log, or was changed.
    pub fn open(note: &str, key: &VerifyingKey) -> Result<Self, NoteError> {
        let (name, checkpoint) = Self::read(key.open(note)?)?;
        if name != key.name() {
            return Err(NoteError::Malformed("its first line is not the name of the log"));
        }
        Ok(checkpoint)
    }

    /// Returns the name of the log and the checkpoint that `note` claims. The signature is not checked, so anyone may
    /// have written it.
    ///
    /// # Errors
    /// If it is not a checkpoint.
    pub fn claimed(note: &str) -> Result<(&str, Self), NoteError> {
        Self::read(parts(note)?.0)
    }

    /// Reads the name of the log and the checkpoint in the text of a note.
    fn read(text: &str) -> Result<(&str, Self), NoteError> {
        let mut lines = text.lines();
        let name = lines.next().unwrap_or_default();
        let size =
            lines.next().and_then(|line| line.parse::<u64>().ok().filter(|size| size.to_string() == line));
        let size = size.ok_or(NoteError::Malformed("its second line is not the size of a tree"))?;
        let root = lines.next().and_then(|line| Hash::from_bytes(&STANDARD.decode(line).ok()?));
        let root = root.ok_or(NoteError::Malformed("its third line is not the root of a tree"))?;
        Ok((name, Self { size, root }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_checkpoints_of_the_log_open() {
        let signer = Signer::new("log", &[1; 32]).unwrap();
        let root = STANDARD.encode([5; 32]);
        let open = |text: &str| Checkpoint::open(&signer.sign(text).unwrap(), signer.verifying_key());
        assert_eq!(open(&format!("log\n12\n{root}\n")), Ok(Checkpoint { size: 12, root: Hash([5; 32]) }));
        assert!(open(&format!("log\n12\n{root}\nmore\n")).is_ok());
        // Without a key, a note shows what it claims, and whose it claims to be.
        let other = signer.sign(&format!("other\n12\n{root}\n")).unwrap();
        let claimed = Checkpoint { size: 12, root: Hash([5; 32]) };
        assert_eq!(Checkpoint::claimed(&other), Ok(("other", claimed)));
        assert!(Checkpoint::claimed(&other[..other.len() - 2]).is_err());
        for text in [
            format!("other\n12\n{root}\n"),
            format!("log\n012\n{root}\n"),
            format!("log\n+1\n{root}\n"),
            format!("log\n-1\n{root}\n"),
            format!("log\n\n{root}\n"),
            "log\n12\nAAAA\n".to_owned(),
            "log\n".to_owned(),
            format!("log\n18446744073709551616\n{root}\n"),
        ] {
            assert!(matches!(open(&text), Err(NoteError::Malformed(_))), "{text}");
        }
    }
}
