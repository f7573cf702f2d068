//! The lines of gates that fail, on standard error: each with who, what, how far, and the status.

use std::io::Write as _;

use anstyle::Style;
use karat::gate::Verdict;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{CARE, Color, LOSS, Screen};

/// Most lines that are written; the others are counted.
const LINES: usize = 20;

/// Writes why gates fail, and returns the status.
pub fn tell(verdict: &Verdict, color: Color) -> Result<Exit, Failure> {
    let mut screen = Screen::stderr(color);
    let mut list = |style: Style, word: &str, lines: &[String], end: &str| {
        let more = lines.len().saturating_sub(LINES);
        let more = (more > 0).then(|| format!("and {more} more"));
        lines
            .iter()
            .take(LINES)
            .chain(&more)
            .try_for_each(|line| writeln!(screen, "{style}{word}{style:#}: {line}{end}"))
    };
    list(CARE, "warning", verdict.warnings(), "")?;
    for (status, lines) in verdict.failures() {
        let exit = Exit::from(*status);
        let word = if exit == Exit::Inconclusive { "inconclusive" } else { "failed" };
        list(LOSS, word, lines, &format!("; status {}", exit as u8))?;
    }
    Ok(Exit::from(verdict.status()))
}
