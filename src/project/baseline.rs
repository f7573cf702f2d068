//! The baseline of a project: the evidence of a run that later runs are compared with, and its digest.

use std::fs;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use karat_core::facts::Digest;
use karat_core::timestamp::WrittenTimestamp;

use crate::card::CompiledCard;
use crate::engine::{Engine, Options};
use crate::error::{Code, Error};
use crate::gate::BASELINE;
use crate::inputs::{Door, Inputs};
use crate::record::Record;
use crate::rows::problems::Problems;
use crate::text::clean;

/// Items as a baseline keeps them: JSON lines, each in canonical form.
#[derive(Debug)]
pub struct Kept {
    /// The lines.
    pub text: Vec<u8>,
    /// The number of items.
    pub items: usize,
    /// The digest of the lines.
    pub digest: Digest,
}

impl Kept {
    /// Returns the line for the file with the digest of the baseline at `path`, which `sha256sum --check` reads.
    pub fn digest_line(&self, path: &str) -> String {
        let name = Path::new(path).file_name();
        let name = name.map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned());
        format!("{}  {name}\n", self.digest.to_string().trim_start_matches("sha256:"))
    }
}

pub(super) fn kept(
    inputs: &Inputs,
    card: Arc<CompiledCard>,
    options: Options,
    as_of: Option<WrittenTimestamp<'_>>,
    door: &dyn Door,
) -> Result<Kept, Error> {
    let mut engine = Engine::new(card, options)?;
    engine.set_as_of_written(as_of);
    let (mut text, mut items, mut problems) = (Vec::new(), 0, Problems::default());
    inputs.each(&engine.wanted(), door, |place, bytes| {
        let found = bytes.and_then(|bytes| match Record::parse(bytes)? {
            Some(record) => Ok(record.as_bytes().to_vec()),
            None => engine.visit_at(place, bytes, |scored| scored.evidence().to_vec()),
        });
        match found {
            Ok(item) => {
                text.extend_from_slice(&item);
                text.push(b'\n');
                items += 1;
            }
            Err(error) => problems.add_error(place, &error),
        }
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    problems.end("the baseline is unchanged: correct what is refused, or leave it out")?;
    engine.refuse_unfound()?;
    Ok(Kept { digest: Digest::of(&text), text, items })
}

/// Refuses a baseline that is not the one whose digest stands beside it.
pub(super) fn check_digests(inputs: &Inputs) -> Result<(), Error> {
    for (path, _) in inputs.sides().iter().filter(|(_, side)| side == BASELINE) {
        let beside = digest_file(path);
        // Only where nothing is there, nothing is stated: a link to nowhere is something.
        let line = match fs::symlink_metadata(&beside) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            _ => fs::read_to_string(&beside).map_err(|error| Error::reading(&beside, &error))?,
        };
        let stated = line.split_whitespace().next().unwrap_or_default();
        let found = inputs.digest(path)?.to_string();
        if found.trim_start_matches("sha256:") != stated {
            let message =
                format!("the baseline `{}` is not the one that `{}` names", clean(path), clean(&beside));
            return Err(Error::new(Code::InvalidOption, message)
                .hint(format!("it is {found}"))
                .hint("restore it, or keep this run as the baseline: karat check --update-baseline"));
        }
    }
    Ok(())
}

/// Returns the file with the digest of a baseline.
pub fn digest_file(path: &str) -> String {
    format!("{path}.sha256")
}
