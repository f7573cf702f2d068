//! The project file on the command line: found, and refused with its errors.

use std::io::Write as _;
use std::path::Path;

use karat::cards::CardText;
use karat::project::{NAME, Project, find};

use karat_terminal::diagnostics::refuse;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::input::read_text;
use karat_terminal::output::{Color, FAINT, Screen};

/// Reads a project file; if it is refused, its errors go to standard error. One that is trusted may name files anywhere.
pub fn open(path: &Path, trusts: bool, color: Color) -> Result<Project, Failure> {
    if !trusts {
        Project::refuse_link(path)?;
    }
    let name = path.display().to_string();
    let text = read_text(&name, "a project file", Exit::CouldNotRun)?;
    match Project::parse(&text, path) {
        Ok(project) => {
            if !trusts {
                project.refuse_outside()?;
            }
            project.refuse_endless()?;
            Ok(project)
        }
        Err(found) => {
            refuse(&CardText { name, text }, &found, color)?;
            Err(Failure::Shown(Exit::CouldNotRun))
        }
    }
}

/// Reads the project file of this folder or above; says how to get one if there is no file.
pub fn need(trusts: bool, color: Color) -> Result<Project, Failure> {
    let Some(path) = find() else {
        return Err(Failure::new(format!("there is no `{NAME}` here or in a folder above"))
            .help("write one from your data: karat init FILE")
            .help("or name card and files: karat leaderboard -c CARD FILE"));
    };
    open(&path, trusts, color)
}

/// Says that a project file was used.
pub fn tell(project: &Project, what: &str, color: Color) -> Result<(), Failure> {
    writeln!(Screen::stderr(color), "{FAINT}{what} from {}{FAINT:#}", project.path)?;
    Ok(())
}
