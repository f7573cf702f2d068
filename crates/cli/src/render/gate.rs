//! The lines of gates that fail, on standard error: each with who, what, how far, and the status.

use std::io::Write as _;

use karat::gate::Verdict;

use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{CARE, Color, LOSS, Screen};

/// Most lines that are written; the others are counted.
const LINES: usize = 20;

/// Writes why gates fail, a line each; `lines` are in the order of the answer.
fn failed(lines: &[String], exit: Exit, color: Color) -> Result<(), Failure> {
    let mut screen = Screen::stderr(color);
    for line in lines.iter().take(LINES) {
        writeln!(screen, "{LOSS}failed{LOSS:#}: {line}; status {}", exit as u8)?;
    }
    if lines.len() > LINES {
        writeln!(screen, "{LOSS}failed{LOSS:#}: and {} more; status {}", lines.len() - LINES, exit as u8)?;
    }
    Ok(())
}

/// Writes why gates fail, and returns the status.
pub fn tell(verdict: &Verdict, color: Color) -> Result<Exit, Failure> {
    let unseen = verdict.warnings();
    let mut screen = Screen::stderr(color);
    for line in unseen.iter().take(LINES) {
        writeln!(screen, "{CARE}warning{CARE:#}: {line}")?;
    }
    if unseen.len() > LINES {
        writeln!(screen, "{CARE}warning{CARE:#}: and {} more", unseen.len() - LINES)?;
    }
    drop(screen);
    verdict.failures().iter().try_for_each(|(status, lines)| failed(lines, Exit::from(*status), color))?;
    Ok(Exit::from(verdict.status()))
}
