//! Tasks on a terminal: shares won and completed, difficulty, and whether they are still useful.

use std::fmt::Write as _;

use karat_standing::lifecycle::TaskStatus;
use karat_standing::stand::{Lived, Period, Rate, TaskStanding};
use unicode_width::UnicodeWidthStr as _;

use crate::output::{BAR, CARE, FAINT, LOSS, STRONG};
use karat::draw::interval::Span;
use karat::draw::interval::interval;
use karat::estimate::{percent, whole_percent};
use karat::standing::notes::untimed;
use karat::standing::tasks::Answer;
use karat::standing::written;
use karat::text::{count, fit, wrap};

const GAP: &str = "  ";
/// Columns of the share that was completed.
const COMPLETED: usize = "completed".len();
/// Columns of the share that was won.
const WON: usize = 4;
/// Columns of a difficulty: the longest is `contender`.
const DIFFICULTY: usize = 10;
/// Columns of a status.
const STATUS: usize = 11;

/// Returns the table of all tasks.
pub fn table(answer: &Answer<'_>, width: usize) -> String {
    let mut text = head(answer, width);
    let tasks = &answer.standings.tasks;
    let widest =
        |of: &dyn Fn(&TaskStanding) -> usize, least: usize| tasks.iter().map(of).fold(least, usize::max);
    let (has_difficulty, has_status) = (answer.rules.calibration.is_some(), has_status(answer));
    let tried = widest(&|task| task.results.attempts.to_string().len(), "tried".len());
    let marks = [(has_difficulty, DIFFICULTY), (has_status, STATUS)];
    let marks: usize = marks.iter().filter(|(is_there, _)| *is_there).map(|(_, it)| it + GAP.len()).sum();
    let free = width.saturating_sub(tried + COMPLETED + WON + marks + 4 * GAP.len());
    let name = widest(&|task| task.task.width(), "task".len()).clamp(4, free.saturating_sub(12).max(12));
    let bar = free.saturating_sub(name).clamp(8, 40);
    let mut row = |style: anstyle::Style, cells: [&str; 7]| {
        let [task, attempts, completed, won, drawn, difficulty, status] = cells;
        let before = format!(
            "{}{GAP}{attempts:>tried$}{GAP}{completed:>COMPLETED$}{GAP}{won:>WON$}{GAP}",
            fit(task, name)
        );
        let mut after = String::new();
        if has_difficulty {
            let _ = write!(after, "{GAP}{}", fit(difficulty, DIFFICULTY));
        }
        if has_status {
            let _ = write!(after, "{GAP}{}", fit(status, STATUS));
        }
        let (bar, after) = (if style == FAINT { FAINT } else { BAR }, after.trim_end());
        let drawn = if after.is_empty() { drawn.trim_end() } else { drawn };
        let _ = writeln!(text, "{style}{before}{style:#}{bar}{drawn}{bar:#}{style}{after}{style:#}");
    };
    let axis = format!("0%{:>1$}", "100%", bar.saturating_sub(2));
    row(FAINT, ["task", "tried", "completed", "won", &axis, "difficulty", "status"]);
    let mut noted = Vec::with_capacity(tasks.len());
    for task in tasks {
        let drawn = span(&task.won).map_or_else(|| " ".repeat(bar), |it| interval(it, &(0.0..=1.0), bar));
        let difficulty = task.calibrated.as_ref().and_then(|it| it.difficulty).map_or("-", |it| it.name());
        let status = task.life.as_ref().map_or("-", |it| it.life.status.name());
        let (attempts, completed, won) =
            (task.results.attempts.to_string(), shown(&task.completed), shown(&task.won));
        row(anstyle::Style::new(), [&task.task, &attempts, &completed, &won, &drawn, difficulty, status]);
        noted.push(notes(answer, task));
    }
    let head = text.lines().count().saturating_sub(tasks.len());
    let mut whole = String::new();
    for (at, line) in text.lines().enumerate() {
        let _ = writeln!(whole, "{line}");
        let own = at.checked_sub(head).and_then(|at| noted.get(at));
        for (style, note) in own.into_iter().flatten() {
            for (place, part) in wrap(note, width.saturating_sub(4)).iter().enumerate() {
                let indent = if place == 0 { "  " } else { "    " };
                let _ = writeln!(whole, "{indent}{style}{part}{style:#}");
            }
        }
    }
    for part in foot(answer).iter().flat_map(|note| wrap(note, width)) {
        let _ = writeln!(whole, "{FAINT}{part}{FAINT:#}");
    }
    whole
}

fn has_status(answer: &Answer<'_>) -> bool {
    answer.rules.lifecycle.is_some() && !answer.standings.by_id
}

fn head(answer: &Answer<'_>, width: usize) -> String {
    let Answer { card, rows, standings, as_of, level, .. } = answer;
    let mut text = format!("{STRONG}{}{STRONG:#}  tasks at {as_of}\n", card.name());
    let mut line = format!(
        "{} at {}; {} intervals of the win rate",
        count(rows.rows.len(), "attempt"),
        count(standings.tasks.len(), "task"),
        percent(*level)
    );
    let left_out = [(standings.after, "after the moment"), (rows.filtered, "by the filters")];
    for (number, why) in left_out.into_iter().filter(|(number, _)| *number > 0) {
        let _ = write!(line, "; {} left out, {why}", count(number as usize, "item"));
    }
    if rows.repeated > 0 {
        let _ = write!(line, "; {} given again, which count once", count(rows.repeated as usize, "item"));
    }
    for part in wrap(&line, width) {
        let _ = writeln!(text, "{FAINT}{part}{FAINT:#}");
    }
    text
}

/// Returns the notes on a row.
fn notes(answer: &Answer<'_>, task: &TaskStanding) -> Vec<(anstyle::Style, String)> {
    let mut notes = Vec::new();
    if let Some((rules, life)) = answer.rules.lifecycle.zip(task.life.as_ref()) {
        let end = |period: &Period| period.start_seconds.saturating_add(i64::from(rules.period_seconds));
        let status = life.life.status;
        if let Some(period) = since(life).filter(|_| status != TaskStatus::Active) {
            let style = if status == TaskStatus::Quarantined { CARE } else { LOSS };
            notes.push((style, format!("{} since {}", status.name(), written(end(period)))));
        }
        if let Some(ahead) = life.ahead {
            let (what, how) = match ahead.is_solved {
                true => ("solved", ahead.status.name()),
                // It was broken for so long that it is removed.
                false if ahead.status == TaskStatus::Deprecated => ("failed", "removed"),
                false => ("failed", ahead.status.name()),
            };
            let row = if ahead.is_solved { life.life.solved_periods } else { life.life.failed_periods };
            let so_far = count(row as usize, "period");
            notes.push((
                CARE,
                format!("{what} by most in {so_far} in a row; {how} after {} more", ahead.periods),
            ));
        }
        // Changes without effect are only in the lines of JSON.
        notes.extend(life.running.filter(|running| running.outcome.after != status).map(|running| {
            let outcome = running.outcome;
            let (name, from) = (outcome.after.name(), written(running.start_seconds));
            let of = count(outcome.scores, "subject");
            let (solved, failed) = (outcome.solved, outcome.failed);
            let text = format!(
                "{name} if the period since {from} ended now: {solved} solved, {failed} failed of {of}"
            );
            (FAINT, text)
        }));
    }
    if let Some((rules, found)) = answer.rules.calibration.as_ref().zip(task.calibrated.as_ref())
        && found.completed_missing > 0
    {
        let (completed, needed) = (task.results.completed, rules.completed_min);
        notes.push((FAINT, format!("no difficulty yet: {completed} of {needed} completed")));
    }
    if task.results.undecided > 0 {
        let left_out = count(task.results.undecided as usize, "item");
        notes.push((CARE, format!("{left_out} in no rate: their outcome is unknown")));
    }
    notes
}

/// Returns the period that gave the task its status.
fn since(life: &Lived) -> Option<&Period> {
    life.periods.iter().rev().find(|period| period.outcome.before != period.outcome.after)
}

/// Returns the notes on all tasks.
fn foot(answer: &Answer<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(life) = answer.rules.lifecycle {
        let rules = life.rules;
        notes.push(if answer.standings.by_id {
            "no item has a time, so periods are unknown, and whether tasks are still useful".to_owned()
        } else {
            format!(
                "solved: above {}; failed: below {}; by most: more than {} of the subjects of a period",
                rules.solved_above, rules.failed_below, rules.share_above
            )
        });
    }
    let excluded: u64 = answer.standings.tasks.iter().map(|task| task.results.excluded).sum();
    if excluded > 0 {
        notes.push(format!("{} excluded because of the outcome", count(excluded as usize, "item")));
    }
    notes.extend(untimed(answer.rows, &answer.standings.without_time));
    notes
}

fn span(rate: &Rate) -> Option<Span> {
    let (point, interval) = rate.of.share().zip(rate.interval.as_ref())?;
    Some(Span { low: interval.low, point, high: interval.high })
}

fn shown(rate: &Rate) -> String {
    rate.of.share().map_or_else(|| "-".to_owned(), whole_percent)
}
