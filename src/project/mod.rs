//! `karat.toml`, the project file: scorecard, inputs, baseline and gates of a folder, found there or above.

mod baseline;
mod read;
#[cfg(test)]
mod tests;
mod within;

use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use karat_core::diagnostic::Diagnostic;

use crate::ask::{AsOf, Attempts, Fields, Items};
use crate::card::CompiledCard;
use crate::engine::Options;
use crate::error::{Code, Error};
use crate::gate::{BASELINE, Baseline, Gate, RUN};
use crate::inputs::{Door, Inputs, is_pattern};
use crate::loaded::{Loaded, Source};
use crate::text::clean;

pub use baseline::{Kept, digest_file};

/// The name of the project file.
pub const NAME: &str = "karat.toml";

/// The project file. Paths are relative to the current folder.
#[derive(Debug, Clone)]
pub struct Project {
    /// Its path.
    pub path: String,
    /// The scorecard: a released id, or a file.
    pub card: String,
    /// The evidence: files, folders and patterns.
    pub inputs: Vec<String>,
    /// The evidence of the run to compare with.
    pub baseline: Vec<String>,
    /// The items that count.
    pub items: Items,
    /// The conditions that the run must reach.
    pub gate: Gate,
}

/// Returns the project file of the current folder, or of the nearest above.
pub fn find() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let found = here.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())?;
    Some(relative(&found, &here))
}

/// Returns a path as it is seen from the folder `here`, both absolute: `../x` for what is above.
fn relative(path: &Path, here: &Path) -> PathBuf {
    let shared = path.components().zip(here.components()).take_while(|(one, other)| one == other).count();
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect()
}

impl Project {
    /// Reads a project file that names nothing outside of its folder.
    ///
    /// # Errors
    /// If it cannot be read, names something there, or has faults: all of them, each with its line.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::refuse_link(path.as_ref())?;
        let project = Self::open_trusted(path)?;
        project.refuse_outside()?;
        Ok(project)
    }

    /// Reads a project file that may name files anywhere: of someone who may read what this program may read.
    ///
    /// # Errors
    /// If it cannot be read, or has faults: all of them, each with its line.
    pub fn open_trusted(path: impl AsRef<Path>) -> Result<Self, Error> {
        let name = path.as_ref().display().to_string();
        let text = fs::read_to_string(&path).map_err(|error| Error::reading(&name, &error))?;
        let project = Self::parse(&text, path.as_ref());
        let project = project.map_err(|found| Error::refused_project(&name, &text, &found))?;
        project.refuse_endless()?;
        Ok(project)
    }

    /// Reads the text of the project file at `path`.
    ///
    /// # Errors
    /// If it has faults: all of them.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Vec<Diagnostic>> {
        let project = read::read(text, path.parent().unwrap_or(Path::new("")))?;
        Ok(Self { path: path.display().to_string(), ..project })
    }

    /// Refuses pipes and devices as files: reading them would wait for ever, and give something else each time.
    ///
    /// # Errors
    /// If there is one.
    pub fn refuse_endless(&self) -> Result<(), Error> {
        for path in self.inputs.iter().chain(&self.baseline) {
            if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
                let message = format!("{}: `{}` is neither a file nor a folder", self.path, clean(path));
                return Err(Error::new(Code::InvalidOption, message)
                    .hint("a project reads files; write to one first what comes out of a pipe"));
            }
        }
        Ok(())
    }

    /// Finds the inputs, and with them the files of the baseline, if it exists.
    ///
    /// # Errors
    /// If a file does not exist or is given twice.
    pub fn inputs(&self) -> Result<(Inputs, Baseline), Error> {
        if self.baseline.is_empty() {
            return Ok((Inputs::new(&self.inputs)?, Baseline::Unnamed));
        }
        let is_absent = |path: &&String| !is_pattern(path) && fs::metadata(path).is_err();
        let name = self.baseline.join(", ");
        if let Some(first) = self.baseline.iter().find(is_absent) {
            let line = format!(
                "there is no baseline `{}`; `karat check --update-baseline` keeps this run",
                clean(first)
            );
            return Ok((Inputs::new(&self.inputs)?, Baseline::Absent { name, line }));
        }
        let inputs = Inputs::of_sides([(BASELINE, self.baseline.as_slice()), (RUN, self.inputs.as_slice())])?;
        Ok((inputs.digested(), Baseline::Loaded(name)))
    }

    /// Reads and scores the items of the inputs, each once.
    ///
    /// # Errors
    /// If an item is refused, a field that the project names is of no item, or the baseline is another one than the digest beside
    /// it says.
    pub fn load(
        &self,
        inputs: &Inputs,
        card: Arc<CompiledCard>,
        options: Options,
        door: &dyn Door,
    ) -> Result<Loaded, Error> {
        let alone = (!inputs.sides().is_empty()).then_some(RUN);
        let kept = Attempts::kept(self.gate.attempts);
        let source =
            Source { alone, kept: &kept, ..Source::new(&self.items, Some((card, self.named(options)))) };
        let loaded = source.load(inputs, door);
        // A baseline that was changed is refused as that, whatever else is wrong with it.
        baseline::check_digests(inputs)?;
        loaded
    }

    /// Returns options with the fields that the project names.
    fn named(&self, options: Options) -> Options {
        let Fields { subject_field, task_field } = self.items.fields.clone();
        Options { subject_field, task_field, ..options }
    }

    /// Returns the items of the inputs as a baseline keeps them.
    ///
    /// # Errors
    /// If the project names no such file, or an item is refused.
    pub fn kept(
        &self,
        inputs: &Inputs,
        card: Arc<CompiledCard>,
        options: Options,
        door: &dyn Door,
    ) -> Result<Kept, Error> {
        let as_of = self.items.as_of.as_ref().map(AsOf::written);
        baseline::kept(inputs, card, self.named(options), as_of, door)
    }

    /// Returns the file of the baseline, if it is one that can be written.
    ///
    /// # Errors
    /// If the project names none or several, or it is not a file of JSON lines.
    pub fn baseline_file(&self) -> Result<&str, Error> {
        let refused = |message: String| {
            Err(Error::new(Code::InvalidOption, message).hint("baseline = \"baseline.jsonl\""))
        };
        match self.baseline.as_slice() {
            [] => refused(format!("{} names no baseline", self.path)),
            [path] if is_pattern(path) || !path.ends_with(".jsonl") => {
                refused(format!("the baseline `{}` is not the name of a file of JSON lines", clean(path)))
            }
            [path] => Ok(path),
            many => refused(format!("{} names {} baselines, and one is written", self.path, many.len())),
        }
    }
}
