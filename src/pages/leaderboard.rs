//! The page of a leaderboard: ranks and intervals, dimensions, history, and what the ranks depend on.

use std::collections::BTreeSet;

use super::{axis, column, estimate, history, page, profiles, stress, text};
use crate::answers::LeaderboardMethod;
use crate::answers::basis::{Basis, Estimate};
use crate::answers::leaderboard::notes::notes;
use crate::answers::leaderboard::{Attempts, Leaderboard, LeaderboardAnswer, LeaderboardRow, OFFICIAL};
use crate::estimate::{Writing, plain, ranks, whole_percent};
use crate::leaderboard::Settings;
use crate::page::model::{self, Cell, Figure, Kind, Page, Section, Table};
use crate::rows::Rows;
use crate::text::Tone;

/// Returns the page of a leaderboard of the items of `rows`.
#[must_use]
pub fn leaderboard(rows: &Rows, answer: &LeaderboardAnswer, settings: &Settings) -> Page {
    let mut page = page("Leaderboard", rows, &answer.basis, settings);
    let mut subjects = Vec::new();
    for board in &answer.leaderboards {
        let about = |heading: &str| match &board.group {
            Some(group) => format!("{heading}: {group}"),
            None => heading.to_owned(),
        };
        subjects.extend(board.rows.iter().filter_map(|row| rows.subject(&row.subject)));
        let (care, faint): (Vec<_>, Vec<_>) =
            notes(&answer.basis, answer.method, board).into_iter().partition(|(tone, _)| *tone == Tone::Care);
        page.notes.extend(care.into_iter().map(|(_, line)| line));
        let mut figures = vec![Figure::Table(ranks_table(&answer.basis, answer.method, board))];
        figures.extend(bridge_table(&answer.basis, board).map(Figure::Table));
        figures.extend(attempts(board).into_iter().map(Figure::Table));
        let faint = faint.into_iter().map(|(_, line)| line).collect();
        let own = Section { heading: about("Ranks"), text: faint, figures };
        let more =
            profiles(rows, board).into_iter().chain(board.robustness.iter().flat_map(stress::sections));
        page.sections.push(own);
        page.sections.extend(more.map(|it| Section { heading: about(&it.heading), ..it }));
    }
    // A subject may be on several leaderboards.
    let mut seen = BTreeSet::new();
    subjects.retain(|&subject| seen.insert(subject));
    page.sections.extend(history(rows, &subjects, settings));
    page
}

/// Returns the ranks of a leaderboard as a table.
#[must_use]
pub fn ranks_table(basis: &Basis, method: LeaderboardMethod, board: &Leaderboard) -> Table {
    let writing = board.writing(basis.scale);
    let is_official = board.by == OFFICIAL;
    let has_letters = board.rows.iter().any(|row| !row.ties().is_empty());
    let has_chances = board.rows.iter().any(|row| row.chance_of_rank_1.is_some());
    let has_bounds = board.rows.iter().any(|row| row.bounds.is_some());
    let row = |row: &LeaderboardRow| {
        let mut cells = vec![text(ranks(row.shown_ranks()))];
        cells.extend(has_letters.then(|| text(row.ties())));
        cells.push(text(row.subject.clone()));
        cells.extend(is_official.then(|| text(writing.number(row.score.mean))));
        cells.push(match row.mean() {
            Some(mean) => Cell::Interval(estimate(mean, writing)),
            None => Cell::Absent(String::from("none")),
        });
        cells.extend(has_bounds.then(|| match row.bounds {
            Some(bounds) => text(writing.ends(Some((bounds.low, bounds.high)))),
            None => Cell::Absent(String::from("none")),
        }));
        let chance = row.chance_of_rank_1.unwrap_or_default();
        cells.extend(has_chances.then(|| Cell::Share(chance, whole_percent(chance))));
        cells.push(text(row.tasks.to_string()));
        cells.extend(board.columns.iter().map(|key| match row.column(key) {
            Some(value) => text(plain(value)),
            None => Cell::Absent(String::from("none")),
        }));
        model::Row { cells, group: None }
    };
    let mut columns = vec![column("rank", Kind::Number)];
    columns.extend(has_letters.then(|| column("tied", Kind::Text)));
    columns.push(column("subject", Kind::Name));
    columns.extend(is_official.then(|| column(OFFICIAL, Kind::Leading)));
    let mean = if is_official { "mean of runs" } else { &board.by };
    columns.push(column(mean, Kind::Interval(axis(writing, basis.level))));
    columns.extend(has_bounds.then(|| column("possible", Kind::Text)));
    columns.extend(has_chances.then(|| column("chance of rank 1", Kind::Share)));
    columns.push(column("tasks", Kind::Number));
    columns.extend(board.columns.iter().map(|key| column(key, Kind::Number)));
    let at = board.as_of.as_ref().map_or_else(String::new, |as_of| format!(" at {as_of}"));
    let caption = match method {
        _ if is_official => format!("Subjects by official score{at}"),
        LeaderboardMethod::Bootstrap if has_letters => {
            String::from("Subjects by rank; two that share a letter are not separated by a comparison")
        }
        LeaderboardMethod::Bootstrap | LeaderboardMethod::Census => String::from("Subjects by mean"),
        LeaderboardMethod::Student => {
            String::from("Subjects by mean; the ranks are those that the intervals leave open")
        }
    };
    Table { caption, columns, rows: board.rows.iter().map(row).collect() }
}

/// Returns the way from the mean of runs to each official score as a table, if a step changes one, or there are tiers.
#[must_use]
pub fn bridge_table(basis: &Basis, board: &Leaderboard) -> Option<Table> {
    let writing = Writing::of(basis.scale);
    let steps = board.bridge_steps(writing);
    let has_tiers = board.rows.iter().any(|row| row.official.as_ref().is_some_and(|it| it.tier.is_some()));
    let in_points = |points: f64| points / writing.value(1.0);
    let none = || Cell::Absent(String::from("none"));
    let row = |row: &LeaderboardRow| {
        let official = row.official.as_ref()?;
        let mut cells = vec![text(row.subject.clone())];
        cells.push(row.runs.map_or_else(none, |runs| text(writing.number(runs.mean))));
        cells.extend(steps.iter().map(|step| match official.change(*step, writing) {
            None => Cell::Absent(String::from("no change")),
            Some(change) => text(change),
        }));
        cells.push(text(writing.number(in_points(official.points))));
        cells.extend(has_tiers.then(|| official.tier.clone().map_or_else(none, text)));
        Some(model::Row { cells, group: None })
    };
    let mut columns = vec![column("subject", Kind::Name), column("mean of runs", Kind::Number)];
    columns.extend(steps.iter().map(|step| column(step.name(), Kind::Number)));
    columns.push(column(OFFICIAL, Kind::Number));
    columns.extend(has_tiers.then(|| column("tier", Kind::Text)));
    let caption = String::from("From the mean of runs to the official score");
    let rows: Vec<model::Row> = board.rows.iter().filter_map(row).collect();
    (!rows.is_empty() && (has_tiers || !steps.is_empty())).then_some(Table { caption, columns, rows })
}

/// One of the chances of k attempts.
type Chance = fn(&Attempts) -> Option<&Estimate>;

/// Returns the chances of repeated attempts, if they were asked for: that all pass, and that one does.
fn attempts(board: &Leaderboard) -> Vec<Table> {
    let most = board.rows.iter().filter_map(|row| row.attempts.as_ref()).map(Vec::len).max().unwrap_or(0);
    let kinds: [(&str, &str, Chance); 2] = [
        ("pass^", "The chance that all of k attempts pass", |at| at.pass_hat.as_ref()),
        ("pass@", "The chance that one of k attempts passes", |at| at.pass_at.as_ref()),
    ];
    let table = |(label, caption, of): (&str, &str, Chance)| {
        let writing = Writing::shares();
        let cell = |at: &Attempts| match of(at) {
            Some(found) => {
                text(format!("{} ({})", writing.number(found.mean), writing.ends(found.interval())))
            }
            None => Cell::Absent(String::from("too few")),
        };
        let row = |row: &LeaderboardRow| {
            let by_k = row.attempts.iter().flatten().map(cell);
            let cells = std::iter::once(text(row.subject.clone())).chain(by_k).collect();
            model::Row { cells, group: None }
        };
        let by_k = (1..=most).map(|k| column(&format!("{label}{k}"), Kind::Number));
        Table {
            caption: caption.to_owned(),
            columns: std::iter::once(column("subject", Kind::Name)).chain(by_k).collect(),
            rows: board.rows.iter().map(row).collect(),
        }
    };
    if most == 0 { Vec::new() } else { kinds.into_iter().map(table).collect() }
}
