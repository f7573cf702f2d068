//! The baseline of a project: the evidence of a run that later runs are compared with, and its digest.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::PoisonError;

use karat::engine::{Engine, Wanted};
use karat::record::Record;
use karat::rows::problems::Problems;
use karat::text::{clean, count};
use karat_core::facts::Digest;

use crate::args::Cli;
use crate::cards;
use crate::evidence::{Digests, Files, Flow};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::graders;
use crate::output::{Screen, replace};
use crate::progress::Progress;
use crate::project::Project;
use karat::ask::{AsOf, Fields};

/// Writes the items of the inputs as the baseline: JSON lines, each in canonical form; at every moment it is either the old
/// one or the new one, complete.
pub fn update(project: &Project, is_quiet: bool, cli: &Cli) -> Result<Exit, Failure> {
    let [path] = project.baseline.as_slice() else {
        let message = match project.baseline.len() {
            0 => format!("{} names no baseline", project.path),
            many => format!("{} names {many} baselines, and one is written", project.path),
        };
        return Err(Failure::new(message).help("baseline = \"baseline.jsonl\""));
    };
    if path.contains(['*', '?', '[']) || !path.ends_with(".jsonl") {
        let message = format!("the baseline `{}` is not the name of a file of JSON lines", clean(path));
        return Err(Failure::new(message).help("baseline = \"baseline.jsonl\""));
    }
    let card = cards::compiled(&cards::named(&project.card, &project.inputs, cli.color)?, cli.color)?;
    let fields = Fields { subject_field: project.subject.clone(), task_field: project.task.clone() };
    let options = graders::options(card.card(), &Default::default(), &fields, cli.portable)?;
    let mut engine = Engine::new(card, options)?;
    engine.set_as_of_written(project.as_of.as_ref().map(AsOf::written));
    let wanted: Wanted = engine.wanted();
    let files = Files::new(&project.inputs, cli.color)?;
    let progress = Progress::new(files.bytes(), is_quiet);
    let (mut text, mut items, mut problems) = (Vec::new(), 0, Problems::default());
    files.each(&wanted, &progress, &mut |place, bytes| {
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
            Err(error) => problems.add_error(&place.to_string(), &error),
        }
        Ok(Flow::Continue)
    })?;
    drop(progress);
    problems.end("the baseline is unchanged: correct what is refused, or leave it out")?;
    let digest = Digest::of(&text);
    let beside = digest_file(path);
    // Without it any baseline counts, so that no moment has a digest of another file.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(Failure::writing(&beside, &error)),
        _ => replace(path, &text)?,
    }
    let name =
        Path::new(path).file_name().map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned());
    let hex = digest.to_string();
    let line = format!("{}  {name}\n", hex.trim_start_matches("sha256:"));
    replace(&beside, line.as_bytes())?;
    let mut out = Screen::stdout(cli.color);
    writeln!(out, "wrote {} with {}, {digest}", clean(path), count(items, "item"))?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Refuses a baseline that is not the one whose digest stands beside it. `found` has the digests of files that were read.
pub fn check_digests(files: &[String], found: &Digests) -> Result<(), Failure> {
    for path in files {
        let beside = digest_file(path);
        // Only where nothing is there, nothing is stated: a link to nowhere is something.
        let line = match fs::symlink_metadata(&beside) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            _ => fs::read_to_string(&beside).map_err(|error| Failure::reading(&beside, &error))?,
        };
        let known = found.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied();
        let found = match known {
            Some(digest) => digest,
            // An importer reads logs as it needs them; what is refused is not read to its end.
            None => Digest::of(&fs::read(path).map_err(|error| Failure::reading(path, &error))?),
        };
        let stated = line.split_whitespace().next().unwrap_or_default();
        let found = found.to_string();
        if found.trim_start_matches("sha256:") != stated {
            let message =
                format!("the baseline `{}` is not the one that `{}` names", clean(path), clean(&beside));
            return Err(Failure::new(message)
                .help(format!("it is {found}"))
                .help("restore it, or keep this run as the baseline: karat check --update-baseline"));
        }
    }
    Ok(())
}

/// Returns the file with the digest of a baseline, which `sha256sum --check` reads.
fn digest_file(path: &str) -> String {
    format!("{path}.sha256")
}
