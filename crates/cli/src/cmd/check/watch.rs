//! `karat check --watch`: checks again when an input, the scorecard or the project file changes.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use karat_core::timestamp::Timestamp;

use super::{once, project_of};
use crate::args::{CheckProjectArgs, Cli};
use karat::project::{NAME, Project, find};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::Chosen;
use karat_terminal::output::{self, FAINT, Screen};

/// The time between two looks at the files, and between two looks at whether to stop.
const PAUSE: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(50);

/// Checks until Ctrl-C; ends with the status of the last check.
pub fn run(args: &CheckProjectArgs, cli: &Cli) -> Result<Exit, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let cannot = |error: io::Error| Failure::new(format!("cannot wait for signals: {error}"));
    karat_process::on_stop(move || asked.store(true, Ordering::SeqCst)).map_err(cannot)?;
    let mut exit = Exit::Done;
    let mut checks = 0;
    while !stop.load(Ordering::SeqCst) {
        clear()?;
        let project = project_of(args, cli);
        let before = files(args, project.as_ref().ok());
        exit = match project.and_then(|project| once(args, &project, Chosen::Screen, cli)) {
            Ok(exit) => exit,
            Err(Failure::ReaderGone) => return Err(Failure::ReaderGone),
            Err(failure) => {
                output::tell(cli.color, &failure);
                failure.exit()
            }
        };
        checks += 1;
        let mut screen = Screen::stdout(cli.color);
        writeln!(screen, "\n{FAINT}checked at {}, status {}; Ctrl-C ends{FAINT:#}", now(), exit as u8)?;
        screen.flush()?;
        drop(screen);
        if args.times.is_some_and(|times| checks >= times) {
            break;
        }
        wait(args, &before, &stop);
    }
    Ok(exit)
}

/// Waits until the files are others than they were and then stay as they are, or until it is to stop.
fn wait(args: &CheckProjectArgs, before: &[File], stop: &AtomicBool) {
    let mut last = None;
    while !stop.load(Ordering::SeqCst) {
        pause(stop);
        // A project file that cannot be read now is read, and told of, when it changes.
        let project = quiet(args);
        let now = files(args, project.as_ref());
        // Who writes a large file is not done at the first change.
        if now != before && last.as_ref() == Some(&now) {
            return;
        }
        last = Some(now);
    }
}

/// Returns the project, and says nothing about one that is refused.
fn quiet(args: &CheckProjectArgs) -> Option<Project> {
    let path = path(args);
    let text = fs::read_to_string(&path).ok()?;
    Project::parse(&text, &path).ok()
}

fn pause(stop: &AtomicBool) {
    let mut left = PAUSE;
    while !left.is_zero() && !stop.load(Ordering::SeqCst) {
        sleep(STEP);
        left = left.saturating_sub(STEP);
    }
}

/// A file, its size and when it was changed.
type File = (String, Option<(u64, SystemTime)>);

fn path(args: &CheckProjectArgs) -> PathBuf {
    args.project.as_ref().map(PathBuf::from).or_else(find).unwrap_or_else(|| NAME.into())
}

/// Returns the files of a project as they are now.
fn files(args: &CheckProjectArgs, project: Option<&Project>) -> Vec<File> {
    let mut paths = vec![path(args).display().to_string()];
    if let Some(project) = project {
        paths.push(project.card.clone());
        for input in project.paths() {
            match karat::inputs::files(std::slice::from_ref(input)) {
                Ok(found) => paths.extend(found.into_iter().map(|file| file.path)),
                Err(_) => paths.push(input.clone()),
            }
        }
    }
    let about = |path: &String| {
        let about = fs::metadata(path).ok()?;
        Some((about.len(), about.modified().unwrap_or(UNIX_EPOCH)))
    };
    paths
        .into_iter()
        .map(|path| {
            let about = about(&path);
            (path, about)
        })
        .collect()
}

/// Clears the screen of a terminal.
fn clear() -> Result<(), Failure> {
    let mut out = io::stdout();
    if out.is_terminal() {
        out.write_all(b"\x1b[2J\x1b[3J\x1b[H")?;
        out.flush()?;
    }
    Ok(())
}

/// Returns the time by the clock, for people.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_seconds(i64::try_from(since.as_secs()).unwrap_or_default()).to_string()
}
