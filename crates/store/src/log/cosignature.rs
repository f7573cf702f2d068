//! Cosignatures after C2SP `tlog-cosignature`, with Ed25519 keys: a witness states that the log went on without changing
//! its past, up to a checkpoint and a time.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signer as _, SigningKey};

use super::note::{COSIGNATURE, NamedKey, written};
use super::{Checkpoint, NoteError};

/// The latest time that the format allows.
const SECONDS_MAX: u64 = i64::MAX.unsigned_abs();
/// Bytes of the time before a signature.
const TIME_BYTES: usize = 8;

/// A name and the secret key of a witness. The key is wiped from memory when it is dropped, and never printed.
#[derive(Clone)]
pub struct Witness {
    key: SigningKey,
    public: WitnessKey,
}

impl Witness {
    /// Makes the key of 32 secret bytes, which the caller must draw at random and use for nothing else, under a `name`
    /// that only this witness has, best an address without its scheme: `witness.example.org/w1`.
    ///
    /// # Errors
    /// If `name` cannot be the name of a key.
    pub fn new(name: &str, secret: &[u8; 32]) -> Result<Self, NoteError> {
        let key = SigningKey::from_bytes(secret);
        let public = WitnessKey(NamedKey::new(name, COSIGNATURE, key.verifying_key())?);
        Ok(Self { key, public })
    }

    /// Returns the key that others need to check its cosignatures.
    pub fn verifying_key(&self) -> &WitnessKey {
        &self.public
    }

    /// Adds a cosignature of the time `seconds` since 1970 to the checkpoint `note`. The caller must have checked that
    /// the log signed it, and that it follows every checkpoint that this witness cosigned before.
    ///
    /// # Errors
    /// If `note` is not a checkpoint, or if the time is beyond the format.
    pub fn cosign(&self, note: &str, seconds: u64) -> Result<String, NoteError> {
        Checkpoint::claimed(note)?;
        if seconds > SECONDS_MAX {
            return Err(NoteError::Malformed("the time of a cosignature is beyond 63 bits"));
        }
        let (text, _) = self.public.0.signatures(note)?;
        let mut bytes = seconds.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.key.sign(message(text, seconds).as_bytes()).to_bytes());
        Ok(format!("{note}{}", self.public.0.line(&bytes)))
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Witness").field("public", &self.public).finish_non_exhaustive()
    }
}

/// A name and the public key of a witness, written `NAME+ID+KEY` as that of a log, with another type of signature.
#[derive(Clone, PartialEq, Eq)]
pub struct WitnessKey(NamedKey);

impl WitnessKey {
    /// Returns the name of the witness.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns when this witness cosigned the checkpoint `note`, in seconds since 1970; of several times the latest.
    ///
    /// # Errors
    /// If it is not a note, if this witness did not cosign it, or if text, time or signature was changed since.
    pub fn open(&self, note: &str) -> Result<u64, NoteError> {
        Ok(self.cosignature(note)?.0)
    }

    /// Returns the time as [`Self::open`] does, and the line of the note with that cosignature.
    ///
    /// # Errors
    /// If [`Self::open`] fails.
    pub fn cosignature(&self, note: &str) -> Result<(u64, String), NoteError> {
        let (text, signatures) = self.0.signatures(note)?;
        let mut latest = None;
        for bytes in &signatures {
            let (time, signature) = bytes.split_first_chunk::<TIME_BYTES>().ok_or_else(|| self.0.wrong())?;
            let seconds = u64::from_be_bytes(*time);
            if seconds > SECONDS_MAX {
                return Err(self.0.wrong());
            }
            self.0.check(&message(text, seconds), signature)?;
            latest = latest.max(Some((seconds, bytes)));
        }
        let (seconds, bytes) = latest.ok_or_else(|| self.0.not_signed())?;
        Ok((seconds, self.0.line(bytes)))
    }
}

/// Returns what a witness signs.
fn message(text: &str, seconds: u64) -> String {
    format!("cosignature/v1\ntime {seconds}\n{text}")
}

written!(WitnessKey, COSIGNATURE);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Hash, Signer};
    use proptest::prelude::*;

    /// The example of the specification: a checkpoint that its log and a witness signed. Their keys are not published.
    const PUBLISHED: &str = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
        \u{2014} example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
        \u{2014} witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";
    /// The checkpoint of the example, cosigned at its time with the first secret key of RFC 8032 by a program in Python
    /// that was written from the specification.
    const KEY: &str = "witness.example.com/w1+7e6f4aaa+BNdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";

    const LINE: &str = "\u{2014} witness.example.com/w1 fm9KqgAAAABkGFDL+TPmh4BYuAjsYRoqMJCWb/gWJaeRF/kmm5tlCr9sJ57DLErur7K0yDXc2ArN+TIuotuB/HbuL3AJsp3bv/aNCQ==\n";

    fn head(size: u64) -> String {
        let log = Signer::new("karat.example/log", &[7; 32]).unwrap();
        Checkpoint { size, root: Hash([5; 32]) }.sign(&log).unwrap()
    }

    #[test]
    fn the_example_of_the_specification_is_read() {
        let (name, checkpoint) = Checkpoint::claimed(PUBLISHED).unwrap();
        assert_eq!((name, checkpoint.size), ("example.com/behind-the-sofa", 20_852_163));
        let (text, signatures) = crate::log::note::parts(PUBLISHED).unwrap();
        let (name, bytes) = &signatures[1];
        assert_eq!((*name, &bytes[..4]), ("witness.example.com/w1", [0x8d, 0x66, 0xcf, 0x3f].as_slice()));
        assert_eq!(u64::from_be_bytes(bytes[4..12].try_into().unwrap()), 1_679_315_147);
        assert_eq!(bytes.len(), 4 + 8 + 64);
        let written = "cosignature/v1\ntime 1679315147\nexample.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
        assert_eq!(message(text, 1_679_315_147), written);
        // Another key of the same name did not cosign it.
        let key: WitnessKey = KEY.parse().unwrap();
        assert_eq!(
            key.open(PUBLISHED),
            Err(NoteError::NotSigned { by: "witness.example.com/w1".to_owned() })
        );
    }

    #[test]
    fn another_implementation_cosigns_the_same() {
        let secret = [
            0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4,
            0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
        ];
        let witness = Witness::new("witness.example.com/w1", &secret).unwrap();
        assert_eq!(witness.verifying_key().to_string(), KEY);
        let cosigned = witness.cosign(PUBLISHED, 1_679_315_147).unwrap();
        let line = cosigned.strip_prefix(PUBLISHED).unwrap();
        assert_eq!(line, LINE);
        assert_eq!(KEY.parse::<WitnessKey>().unwrap().open(&cosigned), Ok(1_679_315_147));
    }

    #[test]
    fn of_several_cosignatures_the_latest_counts_and_all_must_hold() {
        let witness = Witness::new("w", &[1; 32]).unwrap();
        let twice = witness.cosign(&witness.cosign(&head(3), 20).unwrap(), 10).unwrap();
        let (seconds, line) = witness.verifying_key().cosignature(&twice).unwrap();
        assert_eq!(seconds, 20);
        assert_eq!(format!("{}{line}", head(3)), witness.cosign(&head(3), 20).unwrap());
        let other = witness.cosign(&head(4), 30).unwrap();
        let foreign = other.lines().last().unwrap();
        let wrong = Err(NoteError::WrongSignature { by: "w".to_owned() });
        assert_eq!(witness.verifying_key().open(&format!("{twice}{foreign}\n")), wrong);
        // A witness of the same name with another key does not disturb.
        let namesake = Witness::new("w", &[2; 32]).unwrap();
        assert_eq!(witness.verifying_key().open(&namesake.cosign(&twice, 40).unwrap()), Ok(20));
    }

    #[test]
    fn keys_of_logs_and_of_witnesses_are_not_mistaken_for_each_other() {
        let witness = Witness::new("same", &[1; 32]).unwrap();
        let log = Signer::new("same", &[1; 32]).unwrap();
        let refused = log.verifying_key().to_string().parse::<WitnessKey>().unwrap_err();
        assert!(refused.to_string().ends_with("is a key of a log, expected one of a witness"), "{refused}");
        let text = witness.verifying_key().to_string();
        let refused = text.parse::<crate::log::VerifyingKey>().unwrap_err();
        assert!(refused.to_string().ends_with("is a key of a witness, expected one of a log"), "{refused}");
        for changed in [text.replace("same", "some"), text[1..].to_owned(), text.replace("+BIq", "+BIr")] {
            assert!(changed == text || changed.parse::<WitnessKey>().is_err(), "{changed}");
        }
        let note = Checkpoint { size: 1, root: Hash([1; 32]) }.sign(&log).unwrap();
        assert!(witness.verifying_key().open(&note).is_err());
    }

    #[test]
    fn only_checkpoints_within_the_times_of_the_format_are_cosigned() {
        let witness = Witness::new("w", &[1; 32]).unwrap();
        assert!(witness.cosign(&head(1), SECONDS_MAX).is_ok());
        assert!(witness.cosign(&head(1), SECONDS_MAX + 1).is_err());
        let note = Signer::new("log", &[7; 32]).unwrap().sign("no checkpoint\n").unwrap();
        assert!(witness.cosign(&note, 1).is_err());
        assert!(witness.cosign("log\n1\n", 1).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_changed_text_time_signature_or_key_fails(size: u64, seconds in 0..=SECONDS_MAX, at: prop::sample::Index, bit in 0u8..7, other in 2u8..) {
            let witness = Witness::new("w", &[1; 32]).unwrap();
            let note = witness.cosign(&head(size), seconds).unwrap();
            prop_assert_eq!(witness.verifying_key().open(&note), Ok(seconds));
            let mut bytes = note.clone().into_bytes();
            let place = at.index(bytes.len());
            bytes[place] ^= 1 << bit;
            if let Ok(changed) = String::from_utf8(bytes) {
                let log = head(size);
                let of_log = log.rfind("\n\n").unwrap() + 2..log.len();
                // The line of the log is not what the witness signed.
                let is_other_line = of_log.contains(&place) && witness.verifying_key().open(&changed) == Ok(seconds);
                prop_assert!(is_other_line || witness.verifying_key().open(&changed).is_err(), "{}", changed);
            }
            let stranger = Witness::new("w", &[other; 32]).unwrap();
            prop_assert!(stranger.verifying_key().open(&note).is_err());
        }
    }
}
