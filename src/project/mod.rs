//! `karat.toml`, the project file: scorecard, inputs, baseline and gates of a folder, found there or above.

mod baseline;
mod read;
#[cfg(test)]
mod tests;
mod within;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use karat_core::diagnostic::Diagnostic;

use crate::ask::{AsOf, Fields, Items};
use crate::card::CompiledCard;
use crate::engine::Options;
use crate::error::{Code, Error};
use crate::gate::{BASELINE, Baseline, Gate, RUN};
use crate::inputs::{Door, Inputs, files, is_pattern};
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
    /// The evidence of earlier runs, for alarms and flaky tasks.
    pub history: Vec<String>,
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
        for path in self.paths() {
            if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
                let message = format!("{}: `{}` is neither a file nor a folder", self.path, clean(path));
                return Err(Error::new(Code::InvalidOption, message)
                    .hint("a project reads files; write to one first what comes out of a pipe"));
            }
        }
        Ok(())
    }

    /// Returns all files, folders and patterns of evidence.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        self.inputs.iter().chain(&self.baseline).chain(&self.history)
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

    /// Reads and scores the items of the inputs, each once, and those of the history.
    ///
    /// # Errors
    /// If an item is refused, a field that the project names is of no item, the baseline is another one than the digest beside
    /// it says, or it is not clear which run of a history is this one.
    pub fn load(
        &self,
        inputs: &Inputs,
        card: Arc<CompiledCard>,
        options: Options,
        door: &dyn Door,
    ) -> Result<Loaded, Error> {
        let alone = (!inputs.sides().is_empty()).then_some(RUN);
        let kept = self.gate.kept();
        let options = self.named(options);
        let how = || Some((Arc::clone(&card), options.clone()));
        let loaded = Source { alone, kept: &kept, ..Source::new(&self.items, how()) }.load(inputs, door);
        // A baseline that was changed is refused as that, whatever else is wrong with it.
        baseline::check_digests(inputs)?;
        let mut loaded = loaded?;
        if let Some(all) = self.history_inputs()? {
            let kept = self.gate.kept_of_history();
            // Without a gate on runs each file is one as well.
            let files = all.paths().len();
            let by_run = self.gate.trend.as_ref().map_or(files > 1, |asked| asked.is_by_file(files));
            let source = Source { kept: &kept, by_run, ..Source::new(&self.items, how()) };
            loaded.history = Some(source.load(&all, door)?.rows);
        }
        Ok(loaded)
    }

    /// Returns the files of the history and of the inputs, each once, as patterns and folders name them.
    ///
    /// # Errors
    /// If one of them does not exist. A pattern of the history that matches nothing yet is the history of the first run.
    pub fn all_files(&self) -> Result<Vec<String>, Error> {
        if self.history.is_empty() {
            return Ok(self.inputs.clone());
        }
        let mut paths = BTreeSet::new();
        for path in &self.history {
            match files(std::slice::from_ref(path)) {
                Ok(found) => paths.extend(found.into_iter().map(|file| file.path)),
                Err(_) if is_pattern(path) => {}
                Err(error) => return Err(error),
            }
        }
        paths.extend(files(&self.inputs)?.into_iter().map(|file| file.path));
        Ok(paths.into_iter().collect())
    }

    /// Returns the files of the history and of this run, each once; none if nothing asks for them.
    fn history_inputs(&self) -> Result<Option<Inputs>, Error> {
        let asked = self.gate.trend.as_ref();
        if self.history.is_empty() && asked.is_none() {
            return Ok(None);
        }
        let own = files(&self.inputs)?;
        let by_file = asked.is_some_and(|it| it.is_by_file(2));
        if by_file && own.len() > 1 && !self.history.is_empty() {
            let message = format!(
                "{}: this run is in {} files, and each file of a history is a run",
                self.path,
                own.len()
            );
            return Err(Error::new(Code::InvalidOption, message)
                .hint("name the field that says which run an item is of: run = \"night\" in [gate.trend]"));
        }
        Inputs::new(&self.all_files()?).map(Some)
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
