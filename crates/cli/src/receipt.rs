//! The keys of logs and of witnesses on the command line, and receipts of changes of a key.

use std::fs;
use std::io;
use std::str::FromStr;

use karat::receipt::TrustedKeys;
use karat::text::clean;
use karat_store::Receipt;
use karat_store::log::{NoteError, VerifyingKey, WitnessKey};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;

use karat_terminal::input::read_text;

/// Reads the key of a log: `NAME+ID+KEY`, or a file with nothing else in it.
pub fn key(given: &str) -> Result<VerifyingKey, Failure> {
    read(given, "the public key of a log", "of the log")
}

/// Reads the key of a witness, in the same forms.
pub fn witness(given: &str) -> Result<WitnessKey, Failure> {
    read(given, "the public key of a witness", "of the witness")
}

fn read<T: FromStr<Err = NoteError>>(given: &str, what: &str, whose: &str) -> Result<T, Failure> {
    let other_use = |error: NoteError| Failure::new(clean(&error.to_string()).into_owned());
    match given.parse() {
        Ok(key) => return Ok(key),
        Err(error @ NoteError::OtherUse { .. }) => return Err(other_use(error)),
        Err(_) => {}
    }
    let hint = format!("expected `NAME+ID+KEY` as the operator {whose} publishes it, or a file with that");
    match fs::metadata(given) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Failure::new(format!("`{}` is neither {what} nor a file", clean(given))).help(hint))
        }
        _ => {
            let text = read_text(given, what, Exit::CouldNotRun)?;
            text.trim().parse().map_err(|error| match error {
                NoteError::OtherUse { .. } => other_use(error),
                _ => Failure::new(format!("`{}` is not {what}", clean(given))).help(hint),
            })
        }
    }
}

/// Reads what receipts are checked with: a key of the log, the receipts of changes of it, and witnesses.
pub fn trust(key: Option<&str>, rotations: &[String], witnesses: &[String]) -> Result<TrustedKeys, Failure> {
    let key = key.map(self::key).transpose()?;
    let witnesses = witnesses.iter().map(|given| witness(given)).collect::<Result<_, _>>()?;
    let trust = TrustedKeys::new(key.clone()).with_witnesses(witnesses);
    let Some(key) = key.filter(|_| !rotations.is_empty()) else { return Ok(trust) };
    let mut receipts = Ok(Vec::new());
    for path in rotations {
        let read = match read_text(path, "a receipt", Exit::VerificationFailed) {
            Ok(text) => Receipt::parse(text.as_bytes()).map_err(|problem| format!("`{path}`: {problem}")),
            Err(failure) if failure.exit() == Exit::VerificationFailed => Err(failure.to_string()),
            Err(failure) => return Err(failure),
        };
        receipts = receipts.and_then(|mut all: Vec<Receipt>| {
            all.push(read?);
            Ok(all)
        });
    }
    Ok(trust.with_rotations(&key, receipts))
}
