//! `karat.toml`, the project file: scorecard, inputs, baseline and gates of a folder, found there or above.

mod read;
mod take;

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};

use karat::cards::CardText;
use karat::text::clean;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::read_text;
use crate::output::{Color, FAINT, Screen};
use crate::render::diagnostics::refuse;
use karat::ask::AsOf;
use karat::gate::Gate;
use karat::renames::Rename;
use karat::rows::filter::Filter;

pub use take::take;

/// The name of the project file.
pub const NAME: &str = "karat.toml";

/// The project file. Paths are relative to the current folder.
#[derive(Debug)]
pub struct Project {
    /// Its path.
    pub path: String,
    /// The scorecard: a released id, or a file.
    pub card: String,
    /// The evidence: files, folders and patterns.
    pub inputs: Vec<String>,
    /// The field that names the subject.
    pub subject: Option<String>,
    /// The field that names the task.
    pub task: Option<String>,
    /// The evidence of the run to compare with.
    pub baseline: Vec<String>,
    /// The conditions that items must meet.
    pub filters: Vec<Filter>,
    /// Subjects with two names.
    pub renames: Vec<Rename>,
    /// The time of the verdict.
    pub as_of: Option<AsOf>,
    /// The conditions that the run must reach.
    pub gate: Gate,
}

/// Returns the project file of the current folder, or of the nearest above.
pub fn find() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    let found = here.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())?;
    Some(relative(&found, &here))
}

/// Reads a project file; if it is refused, its errors go to standard error.
pub fn open(path: &Path, color: Color) -> Result<Project, Failure> {
    let name = path.display().to_string();
    let text = read_text(&name, "a project file", Exit::CouldNotRun)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    match read::read(&text, folder) {
        Ok(project) => {
            refuse_endless(&project, &name)?;
            Ok(Project { path: name, ..project })
        }
        Err(found) => {
            refuse(&CardText { name, text }, &found, color)?;
            Err(Failure::Shown(Exit::CouldNotRun))
        }
    }
}

/// Refuses pipes and devices as files: reading them would wait for ever, and give something else each time.
fn refuse_endless(project: &Project, name: &str) -> Result<(), Failure> {
    for path in project.inputs.iter().chain(&project.baseline) {
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Err(Failure::new(format!("{name}: `{}` is neither a file nor a folder", clean(path)))
                .help("a project reads files; write to one first what comes out of a pipe"));
        }
    }
    Ok(())
}

/// Returns the project in a text, if it is one.
pub fn parse(text: &str, path: &Path) -> Option<Project> {
    read::read(text, path.parent().unwrap_or(Path::new(""))).ok()
}

/// Reads the project file of this folder or above; says how to get one if there is no file.
pub fn need(color: Color) -> Result<Project, Failure> {
    let Some(path) = find() else {
        return Err(Failure::new(format!("there is no `{NAME}` here or in a folder above"))
            .help("write one from your data: karat init FILE")
            .help("or name card and files: karat leaderboard -c CARD FILE"));
    };
    open(&path, color)
}

/// Says that a project file was used.
pub fn tell(project: &Project, what: &str, color: Color) -> Result<(), Failure> {
    writeln!(Screen::stderr(color), "{FAINT}{what} from {}{FAINT:#}", project.path)?;
    Ok(())
}

/// Returns a path as it is seen from the folder `here`, both absolute: `../x` for what is above.
fn relative(path: &Path, here: &Path) -> PathBuf {
    let shared = path.components().zip(here.components()).take_while(|(one, other)| one == other).count();
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect()
}

/// Returns the files of a baseline that are not there.
pub fn absent(baseline: &[String]) -> Vec<&String> {
    let is_pattern = |path: &str| path.contains(['*', '?', '[']);
    baseline.iter().filter(|path| !is_pattern(path) && fs::metadata(path).is_err()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_seen_from_the_current_folder() {
        for (path, here, seen) in [
            ("/a/karat.toml", "/a", "karat.toml"),
            ("/a/karat.toml", "/a/b/c", "../../karat.toml"),
            ("/x/karat.toml", "/a/b", "../../x/karat.toml"),
        ] {
            assert_eq!(relative(Path::new(path), Path::new(here)), Path::new(seen));
        }
    }
}
