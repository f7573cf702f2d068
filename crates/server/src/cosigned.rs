//! Heads of the log that witnesses cosigned: the newest of each witness, and those that more of them agree on. In a file
//! beside the store: an entry of the log would change the head, and what is lost here witnesses send again.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use karat_store::Error;
use karat_store::log::{Checkpoint, Keys, NoteError, VerifyingKey, WitnessKey};
use karat_store::port::Head;
use karat_store::secret::replace;

use crate::basics::*;
use crate::problem::{Code, Problem, refuse};

const SCHEMA: &str = "karat/cosigned/1";

#[derive(Debug, Default)]
pub struct Cosigned {
    witnesses: Vec<WitnessKey>,
    path: Option<PathBuf>,
    heads: Mutex<Heads>,
}

/// The newest head that a witness cosigned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WitnessedHead {
    /// The key of the witness, `NAME+ID+KEY`.
    pub witness: String,
    /// The number of entries of the head.
    pub size: u64,
    /// The time of the cosignature, by the clock of the witness.
    pub moment: String,
}

/// A head and its cosignatures, in the order of the keys of the witnesses.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WitnessedNote {
    size: u64,
    /// The checkpoint with the signature of the log alone.
    note: String,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    witness: String,
    seconds: u64,
    line: String,
}

impl WitnessedNote {
    fn whole(&self) -> String {
        let lines: String = self.lines.iter().map(|line| line.line.as_str()).collect();
        format!("{}{lines}", self.note)
    }

    fn has(&self, witness: &str) -> bool {
        self.lines.iter().any(|line| line.witness == witness)
    }
}

/// Heads that witnesses cosigned, without those that newer ones outdo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heads {
    /// The newest first.
    all: Vec<WitnessedNote>,
}

impl Heads {
    /// Reads the file at `path`, and checks each head against the log and each cosignature against its key: those of
    /// `trusted`, or, if there is no such list, those that the file names.
    ///
    /// # Errors
    /// If it cannot be read, or has a head that is not one of this log: then the log went back, or was replaced.
    pub fn read(
        path: &Path,
        trusted: Option<&[WitnessKey]>,
        key: &VerifyingKey,
        reader: &mut Reader,
    ) -> Result<Self, Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Stored {
            heads: Vec<String>,
            schema: String,
            witnesses: Vec<String>,
        }
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            read => {
                read.map_err(|error| Error::Failed(format!("cannot read `{}`: {error}", path.display())))?
            }
        };
        let wrong = |problem: String| {
            Error::Failed(format!(
                "`{}`: {problem}; if that is expected, delete it: witnesses send their cosignatures again",
                path.display()
            ))
        };
        let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
        if stored.schema != SCHEMA {
            return Err(wrong(format!(
                "its schema is `{}`, expected `{SCHEMA}`",
                stored.schema.escape_debug()
            )));
        }
        let named = stored.witnesses.iter().map(|witness| witness.parse());
        let named =
            named.collect::<Result<Vec<WitnessKey>, _>>().map_err(|error| wrong(error.to_string()))?;
        let mut heads = Self::default();
        for note in &stored.heads {
            let found = read_note(note, trusted.unwrap_or(&named), key, reader)?;
            if let Some(found) = found.map_err(|(_, refused)| wrong(refused))? {
                heads.add(found);
            }
        }
        Ok(heads)
    }

    /// Adds a head, together with what is known of it, and forgets what is outdone.
    fn add(&mut self, new: WitnessedNote) {
        match self.all.iter_mut().find(|head| head.size == new.size) {
            Some(known) => {
                for line in new.lines {
                    match known.lines.iter_mut().find(|old| old.witness == line.witness) {
                        Some(old) if old.seconds >= line.seconds => {}
                        Some(old) => *old = line,
                        None => known.lines.push(line),
                    }
                }
                known.lines.sort_by(|one, other| one.witness.cmp(&other.witness));
            }
            None => self.all.push(new),
        }
        self.all.sort_by_key(|head| std::cmp::Reverse(head.size));
        // A head counts if it is the newest of a witness, or if more witnesses cosigned it than any newer one.
        let mut kept: Vec<WitnessedNote> = Vec::new();
        for head in std::mem::take(&mut self.all) {
            let is_newest = head.lines.iter().any(|line| kept.iter().all(|newer| !newer.has(&line.witness)));
            let is_more = kept.iter().all(|newer| newer.lines.len() < head.lines.len());
            if is_newest || is_more {
                kept.push(head);
            }
        }
        self.all = kept;
    }

    /// Returns the newest head that at least this many witnesses cosigned, its checkpoint with their lines.
    pub fn newest(&self, witnesses: usize) -> Option<Head> {
        let found = self.all.iter().find(|head| head.lines.len() >= witnesses.max(1))?;
        Some(Head { size: found.size, checkpoint: found.whole() })
    }

    /// Returns the newest head of each witness, by key.
    pub(crate) fn of_witnesses(&self) -> Vec<WitnessedHead> {
        let mut found: Vec<WitnessedHead> = Vec::new();
        for head in &self.all {
            for Line { witness, seconds, .. } in &head.lines {
                if found.iter().all(|known| known.witness != *witness) {
                    let seconds = i64::try_from(*seconds).unwrap_or(i64::MAX);
                    let moment = Timestamp::from_seconds(seconds).to_string();
                    found.push(WitnessedHead { witness: witness.clone(), size: head.size, moment });
                }
            }
        }
        found.sort_by(|one, other| one.witness.cmp(&other.witness));
        found
    }

    fn text(&self) -> String {
        let heads: Vec<String> = self.all.iter().map(WitnessedNote::whole).collect();
        let witnesses: Vec<String> = self.of_witnesses().into_iter().map(|head| head.witness).collect();
        canonical_json(&json!({"heads": heads, "schema": SCHEMA, "witnesses": witnesses})) + "\n"
    }
}

/// The reason why a cosigned head is refused: the code and the text of a problem.
type Refused = (Code, String);

/// Reads a cosigned head and checks it against the log. Returns none if no trusted witness cosigned it.
fn read_note(
    note: &str,
    trusted: &[WitnessKey],
    key: &VerifyingKey,
    reader: &mut Reader,
) -> Result<Result<Option<WitnessedNote>, Refused>, Error> {
    if let Err(error) = Checkpoint::claimed(note) {
        return Ok(Err((Code::BadRequest, error.to_string())));
    }
    let now = reader.head()?.size;
    let keys = Keys::follow(key, &reader.rotations(now)?).map_err(Error::Damaged)?;
    let (Checkpoint { size, root }, signer) = match keys.open(note) {
        Ok(opened) => opened,
        Err(error) => return Ok(Err((Code::Forbidden, format!("this log did not sign the head: {error}")))),
    };
    if size > now || reader.root(size)? != root {
        let of = format!("of {size} entries was signed and cosigned");
        let refused = match size > now {
            true => format!("a head {of}, and the log has {now}: it went back"),
            false => format!("another tree {of}: its key signed two histories"),
        };
        return Ok(Err((Code::Conflict, refused)));
    }
    let alone = signer.alone(note)?;
    let mut lines = Vec::new();
    for witness in trusted {
        match witness.cosignature(note) {
            Ok((seconds, line)) => lines.push(Line { witness: witness.to_string(), seconds, line }),
            Err(NoteError::NotSigned { .. }) => {}
            Err(error) => return Ok(Err((Code::Forbidden, error.to_string()))),
        }
    }
    lines.sort_by(|one, other| one.witness.cmp(&other.witness));
    lines.dedup_by(|one, other| one.witness == other.witness);
    Ok(Ok((!lines.is_empty()).then_some(WitnessedNote { size, note: alone, lines })))
}

impl Cosigned {
    /// Opens the file at `path`, if there is one, for those witnesses.
    ///
    /// # Errors
    /// If the file has a head that is not one of this log.
    pub(crate) fn open(
        path: Option<PathBuf>,
        witnesses: &[WitnessKey],
        key: &VerifyingKey,
        reader: &mut Reader,
    ) -> Result<Self, Error> {
        let heads = match &path {
            Some(path) => Heads::read(path, Some(witnesses), key, reader)?,
            None => Heads::default(),
        };
        Ok(Self { witnesses: witnesses.to_vec(), path, heads: Mutex::new(heads) })
    }

    fn lock(&self) -> MutexGuard<'_, Heads> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn heads(&self) -> Heads {
        self.lock().clone()
    }

    /// Takes a head that witnesses cosigned, and returns the newest of each witness. A valid cosignature by a trusted
    /// witness is all that it takes: who brings it does not matter.
    ///
    /// # Errors
    /// If this log did not sign it, if no trusted witness cosigned it, or if it cannot be kept.
    pub(crate) fn take(
        &self,
        note: &str,
        key: &VerifyingKey,
        reader: &mut Reader,
    ) -> Result<Vec<WitnessedHead>, Problem> {
        let found = read_note(note, &self.witnesses, key, reader)?.map_err(|(code, refused)| {
            if code == Code::Conflict {
                tracing::error!(refused, "a witness has another history of this log");
            }
            Problem::new(code, refused)
        })?;
        let Some(found) = found else {
            let names: Vec<&str> = self.witnesses.iter().map(WitnessKey::name).collect();
            let expected = if names.is_empty() {
                String::from("this server trusts none: `karat serve --witness KEY` names one")
            } else {
                format!("expected a cosignature of {}", names.join(", "))
            };
            refuse!(Forbidden, "no trusted witness cosigned the head; {expected}");
        };
        let mut heads = self.lock();
        let mut next = heads.clone();
        next.add(found);
        if next != *heads {
            if let Some(path) = &self.path {
                replace(path, &next.text(), false)?;
            }
            *heads = next;
        }
        Ok(heads.of_witnesses())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(size: u64, witnesses: &[(&str, u64)]) -> WitnessedNote {
        let line = |(witness, seconds): &(&str, u64)| Line {
            witness: (*witness).to_owned(),
            seconds: *seconds,
            line: format!("{witness}@{seconds}\n"),
        };
        WitnessedNote { size, note: format!("{size}:"), lines: witnesses.iter().map(line).collect() }
    }

    #[test]
    fn the_newest_of_each_witness_and_the_heads_that_more_agree_on_are_kept() {
        let mut heads = Heads::default();
        for (size, witnesses) in [
            (3, vec![("a", 1)]),
            (5, vec![("a", 2)]),
            (5, vec![("b", 2)]),
            (7, vec![("a", 3)]),
            (6, vec![("c", 9)]),
            (4, vec![("a", 4), ("b", 4)]),
        ] {
            heads.add(head(size, &witnesses));
        }
        let kept: Vec<(u64, usize)> = heads.all.iter().map(|head| (head.size, head.lines.len())).collect();
        assert_eq!(kept, [(7, 1), (6, 1), (5, 2)]);
        let newest = |witnesses| heads.newest(witnesses).map(|head| head.checkpoint);
        assert_eq!(newest(0), newest(1));
        assert_eq!(newest(1).as_deref(), Some("7:a@3\n"));
        assert_eq!(newest(2).as_deref(), Some("5:a@2\nb@2\n"));
        assert_eq!(newest(3), None);
        let found: Vec<(String, u64)> =
            heads.of_witnesses().into_iter().map(|it| (it.witness, it.size)).collect();
        assert_eq!(found, [("a".to_owned(), 7), ("b".to_owned(), 5), ("c".to_owned(), 6)]);
        // The same head again: the later time counts, whichever comes first.
        let before = heads.clone();
        heads.add(head(7, &[("a", 2)]));
        assert_eq!(heads, before);
        heads.add(head(7, &[("a", 8)]));
        assert_eq!(heads.newest(1).unwrap().checkpoint, "7:a@8\n");
    }
}
