//! The screen of ratings: a table for each pool, then omissions, predictions, and judges beside people.

pub mod below;
pub mod rows;
mod solo;
pub mod table;

use std::fmt::Write as _;

use crate::output::{FAINT, STRONG};
use below::{forecasts, judges};
use karat::estimate::{percent, tenth_percent};
use karat::ratings::{Board, Drawn, IntervalSource, Rating};
use karat::text::{clean, count, named, wrap};
use table::{Columns, points};

/// Returns the whole screen. `top` is the number of rows of a table; 0 is all.
pub fn screen(report: &Rating, width: usize, top: usize) -> String {
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
    if let Some(careers) = &report.arena {
        text.push_str(&solo::skills(careers, width, top));
        text.push_str(&solo::matches(careers, width, top));
    }
    if let Some(agreement) = &report.judges {
        text.push('\n');
        text.push_str(&judges(agreement, report.level, width));
    }
    text
}

/// Returns one pool.
fn pool(report: &Rating, board: &Board, width: usize, top: usize) -> String {
    let mut text = String::new();
    let mut about = vec![count(board.competitors.len(), "competitor"), rated(std::slice::from_ref(board))];
    if let Some(groups) = board.groups {
        about.push(count(groups as usize, "group"));
    }
    let title = title(report, board);
    let _ = writeln!(text, "{STRONG}{title}{STRONG:#}  {}", about.join(", "));
    text.push_str(&lines(&report.described_settings(), width));
    let rows = if top == 0 { board.competitors.len() } else { top };
    let columns = Columns::new(board, board.competitors.iter().take(rows), width);
    let _ = writeln!(text, "{FAINT}{}{FAINT:#}", columns.head());
    let mut above = None;
    for line in board.competitors.iter().take(rows) {
        text.push_str(&columns.row(line, line.group != above));
        above = line.group;
    }
    let more = board.competitors.len().saturating_sub(rows);
    if more > 0 {
        let _ = writeln!(text, "{FAINT}and {more} more; --top 0 shows all{FAINT:#}");
    }
    for note in about_pool(board, columns.places) {
        text.push_str(&lines(&note, width));
    }
    text
}

/// Returns the system, and the category if there are several.
pub fn title(report: &Rating, board: &Board) -> String {
    match &board.category {
        Some(category) => format!("{}, {}", report.system.name(), clean(category)),
        None => report.system.name().to_owned(),
    }
}

/// Returns the number of matches that the ratings rest on, and of how many if some were left out; also for a page.
pub fn rated(boards: &[Board]) -> String {
    let all = boards.iter().map(|board| board.input.matches).sum();
    match boards.iter().map(|board| board.left_out.matches).sum() {
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
        let moved = points(drift.points, places.max(1));
        notes.push(format!(
            "mean of the pool: {} points, moved by {moved}",
            points(drift.mean_after_points, places.max(1)),
        ));
    }
    if let Some(tie) = board.tie.filter(|tie| *tie > 0.0) {
        notes.push(format!(
            "two of equal strength draw {} of their matches",
            tenth_percent(tie / (2.0 + tie))
        ));
    }
    if let Some(names) = named(&board.left_out.competitors) {
        notes.push(format!(
            "left out, as no match compares them with the others both ways: {} in {}: {names}",
            count(board.left_out.competitors.len(), "competitor"),
            matches(board.left_out.matches)
        ));
    }
    if let Some(resamples) = board.resamples_without_fit.filter(|resamples| *resamples > 0) {
        notes.push(format!("{} without a fit", count(resamples as usize, "resample")));
    }
    if let Some(parts) = board.parts.filter(|parts| *parts > 1) {
        notes.push(format!(
            "no match connects {} of the pool: only the prior compares their ratings",
            count(parts as usize, "part")
        ));
    }
    if let Some(names) = named(&board.one_sided) {
        notes.push(format!(
            "all matches of one kind, so that resamples cannot show how sure they are and their intervals are too \
             narrow: {names}"
        ));
    }
    if board.input.repeated_rows > 0 {
        notes.push(format!("rows that repeat another one, and count once: {}", board.input.repeated_rows));
    }
    notes
}

/// Returns the notes on all pools, also for a page.
pub fn notes(report: &Rating) -> Vec<String> {
    let level = percent(report.level);
    let mut notes = Vec::new();
    let groups = "a group is tied with its leader; ranks show the possible range";
    match report.intervals {
        IntervalSource::None => {
            notes.push(String::from(
                "Elo does not estimate its uncertainty: there are no intervals and no groups",
            ));
        }
        IntervalSource::Deviation => {
            notes.push(format!("intervals of {level} from the deviations; {groups}"))
        }
        IntervalSource::Sandwich => {
            notes.push(format!("intervals of {level} by the sandwich estimator; {groups}"))
        }
        IntervalSource::Posterior => {
            notes.push(format!("intervals of {level} from the posterior, as a normal distribution; {groups}"))
        }
        IntervalSource::Bootstrap => {
            let (resamples, seed) = (report.resamples.unwrap_or_default(), report.seed.unwrap_or_default());
            let is_of_pairs = report.drawn == Some(Drawn::Pairs);
            let drawn = if is_of_pairs { "of pairs with all their votes" } else { "of matches" };
            notes.push(format!(
                "intervals of {level} from {resamples} resamples {drawn}, seed {seed}; {groups}"
            ));
        }
    }
    if let Some((deviation, draws)) = report.prior() {
        notes.push(format!(
            "the prior is gaussian: before any match, every strength lies around the mean of the pool with a deviation of \
             {deviation} points. That is worth {draws:.2} draws against an opponent of the mean, and pulls ratings towards it"
        ));
    }
    let votes: u64 = report.boards.iter().map(|board| board.input.matches).sum();
    let has_clusters = report.judges.as_ref().is_some_and(|agreement| agreement.pairs < votes);
    if has_clusters && matches!(report.intervals, IntervalSource::Sandwich | IntervalSource::Posterior) {
        notes.push(String::from(
            "several votes on one pair count as independent matches; --bootstrap resamples whole pairs, in case they are \
             correlated",
        ));
    }
    notes.extend(report.arena.iter().flat_map(|careers| careers.notes.clone()));
    if report.skipped_rows > 0 {
        notes.push(format!("rows that are no match: {}", report.skipped_rows));
    }
    if report.late_rows > 0 {
        notes.push(format!("rows after a row of a later time, sorted by time: {}", report.late_rows));
    }
    notes
}
