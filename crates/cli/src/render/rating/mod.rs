//! The screen of ratings: a table for each pool, then omissions, predictions, and judges beside people.

pub mod below;
pub mod rows;
mod solo;
pub mod table;

use std::fmt::Write as _;

use crate::output::{FAINT, STRONG};
use crate::rating::{Board, Careers, Intervals, Report, described, named};
use below::{forecasts, judges};
use karat::estimate::{percent, tenth_percent};
use karat::text::{clean, count, wrap};
use table::{Columns, points};

/// Returns the whole screen. `top` is the number of rows of a table; 0 is all.
pub fn screen(report: &Report, width: usize, top: usize) -> String {
    let mut text = String::new();
    for (place, board) in report.boards.iter().enumerate() {
        if place > 0 {
            text.push('\n');
        }
        text.push_str(&pool(report, board, width, top));
    }
    for note in notes(report) {
        text.push_str(&lines(&note, width));
    }
    for (board, holdout) in report.boards.iter().filter_map(|board| Some((board, board.holdout.as_ref()?))) {
        text.push('\n');
        text.push_str(&forecasts(board.category.as_deref(), holdout, width));
    }
    if let Some(careers) = &report.careers {
        text.push_str(&solo::skills(careers, width, top));
        text.push_str(&solo::matches(careers, width, top));
    }
    if let Some(agreement) = &report.agreement {
        text.push('\n');
        text.push_str(&judges(agreement, report.level, width));
    }
    text
}

/// Returns one pool.
fn pool(report: &Report, board: &Board, width: usize, top: usize) -> String {
    let mut text = String::new();
    let mut about = vec![count(board.lines.len(), "competitor"), rated(std::slice::from_ref(board))];
    if let Some(groups) = board.groups {
        about.push(count(groups as usize, "group"));
    }
    let title = title(report, board);
    let _ = writeln!(text, "{STRONG}{title}{STRONG:#}  {}", about.join(", "));
    text.push_str(&lines(&described(&report.chosen.settings()), width));
    let rows = if top == 0 { board.lines.len() } else { top };
    let columns = Columns::new(board, board.lines.iter().take(rows), width);
    let _ = writeln!(text, "{FAINT}{}{FAINT:#}", columns.head());
    let mut above = None;
    for line in board.lines.iter().take(rows) {
        text.push_str(&columns.row(line, line.group != above));
        above = line.group;
    }
    let more = board.lines.len().saturating_sub(rows);
    if more > 0 {
        let _ = writeln!(text, "{FAINT}and {more} more; --top 0 shows all{FAINT:#}");
    }
    for note in about_pool(board, columns.places) {
        text.push_str(&lines(&note, width));
    }
    text
}

/// Returns the system, and the category if there are several.
pub fn title(report: &Report, board: &Board) -> String {
    match &board.category {
        Some(category) => format!("{}, {}", report.chosen.name(), clean(category)),
        None => report.chosen.name().to_owned(),
    }
}

/// Returns the number of matches that the ratings rest on, and of how many if some were left out; also for a page.
pub fn rated(boards: &[Board]) -> String {
    let all = boards.iter().map(|board| board.input.matches).sum();
    match boards.iter().map(|board| board.left_out_matches).sum() {
        0 => matches(all),
        left_out => format!("{} of {}", u64::saturating_sub(all, left_out), matches(all)),
    }
}

fn matches(number: u64) -> String {
    format!("{number} {}", if number == 1 { "match" } else { "matches" })
}

/// Returns a faint text in lines of at most `width` columns.
fn lines(text: &str, width: usize) -> String {
    wrap(text, width).into_iter().map(|line| format!("{FAINT}{line}{FAINT:#}\n")).collect()
}

/// Returns the notes on one pool, also for a page.
pub fn about_pool(board: &Board, places: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(drift) = board.drift {
        let moved = points(drift.points(), places.max(1));
        notes.push(format!(
            "mean of the pool: {} points, moved by {moved}",
            points(drift.mean_after, places.max(1)),
        ));
    }
    if let Some(tie) = board.tie.filter(|tie| *tie > 0.0) {
        notes.push(format!(
            "two of equal strength draw {} of their matches",
            tenth_percent(tie / (2.0 + tie))
        ));
    }
    if !board.left_out.is_empty() {
        notes.push(format!(
            "left out, as no match compares them with the others both ways: {} in {}: {}",
            count(board.left_out.len(), "competitor"),
            matches(board.left_out_matches),
            named(&board.left_out)
        ));
    }
    if let Some(resamples) = board.resamples_without_fit.filter(|resamples| *resamples > 0) {
        notes.push(format!("{} without a fit", count(resamples as usize, "resample")));
    }
    if let Some(parts) = board.parts.filter(|parts| *parts > 1) {
        notes.push(format!(
            "no match connects {} of the pool: only the prior compares their ratings",
            count(parts, "part")
        ));
    }
    if !board.one_sided.is_empty() {
        notes.push(format!(
            "all matches of one kind, so that resamples cannot show how sure they are and their intervals are too \
             narrow: {}",
            named(&board.one_sided)
        ));
    }
    if board.input.repeated > 0 {
        notes.push(format!("rows that repeat another one, and count once: {}", board.input.repeated));
    }
    notes
}

/// Returns the notes on all pools, also for a page.
pub fn notes(report: &Report) -> Vec<String> {
    let level = percent(report.level);
    let mut notes = Vec::new();
    let groups = "a group is tied with its leader; ranks show the possible range";
    match report.intervals {
        Intervals::None => {
            notes.push(String::from(
                "Elo does not estimate its uncertainty: there are no intervals and no groups",
            ));
        }
        Intervals::Deviation => notes.push(format!("intervals of {level} from the deviations; {groups}")),
        Intervals::Sandwich => {
            notes.push(format!("intervals of {level} by the sandwich estimator; {groups}"))
        }
        Intervals::Posterior => {
            notes.push(format!("intervals of {level} from the posterior, as a normal distribution; {groups}"))
        }
        Intervals::Bootstrap { resamples, seed, of_pairs } => {
            let drawn = if of_pairs { "of pairs with all their votes" } else { "of matches" };
            notes.push(format!(
                "intervals of {level} from {resamples} resamples {drawn}, seed {seed}; {groups}"
            ));
        }
    }
    if let Some(prior) = report.chosen.prior() {
        notes.push(format!(
            "the prior is gaussian: before any match, every strength lies around the mean of the pool with a deviation of \
             {} points. That is worth {:.2} draws against an opponent of the mean, and pulls ratings towards it",
            prior.points, prior.draws
        ));
    }
    let votes: u64 = report.boards.iter().map(|board| board.input.matches).sum();
    let has_clusters = report.agreement.as_ref().is_some_and(|agreement| agreement.pairs < votes);
    if has_clusters && matches!(report.intervals, Intervals::Sandwich | Intervals::Posterior) {
        notes.push(String::from(
            "several votes on one pair count as independent matches; --bootstrap resamples whole pairs, in case they are \
             correlated",
        ));
    }
    notes.extend(report.careers.iter().flat_map(Careers::notes));
    if report.skipped > 0 {
        notes.push(format!("rows that are no match: {}", report.skipped));
    }
    if report.late > 0 {
        notes.push(format!("rows after a row of a later time, sorted by time: {}", report.late));
    }
    notes
}
