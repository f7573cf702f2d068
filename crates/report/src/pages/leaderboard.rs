//! The leaderboard as a page: places and intervals, dimensions, history, and what the ranks hang on.

use std::collections::BTreeSet;

use karat_stats::bootstrap::Estimate;
use karat_stats::leaderboard::Row;

use super::{axis, column, estimate, history, name, page, profiles, stress, text};
use crate::board::attempts::AttemptsAt;
use crate::board::notes::notes;
use crate::board::stress::Stress;
use crate::board::{Board, By, Settings};
use crate::estimate::{Writing, letter, places};
use crate::page::model::{self, Cell, Figure, Kind, Page, Section, Table};
use crate::page::scale::per_cent;
use crate::rows::Rows;
use crate::text::Tone;

/// The boards, each with what its ranks hang on where that was asked for.
pub fn leaderboard<'b>(
    rows: &Rows,
    boards: impl Iterator<Item = (&'b Board, Option<&'b Stress>)>,
    settings: &Settings,
) -> Page {
    let mut page = page("Leaderboard", rows, settings);
    let mut subjects = Vec::new();
    for (board, stressed) in boards {
        let about = |heading: &str| match &board.group {
            Some(group) => format!("{heading}: {group}"),
            None => heading.to_owned(),
        };
        subjects.extend(board.leaderboard.rows.iter().map(|row| row.subject));
        let (care, faint): (Vec<_>, Vec<_>) =
            notes(rows, board, settings).into_iter().partition(|(tone, _)| *tone == Tone::Care);
        page.notes.extend(care.into_iter().map(|(_, line)| line));
        let mut figures = vec![Figure::Table(places_table(rows, board, settings))];
        figures.extend(attempts(rows, board).into_iter().map(Figure::Table));
        let faint = faint.into_iter().map(|(_, line)| line).collect();
        let own = Section { heading: about("Places"), text: faint, figures };
        let more = profiles(rows, board)
            .into_iter()
            .chain(stressed.into_iter().flat_map(|it| stress::sections(rows, it)));
        page.sections.push(own);
        page.sections.extend(more.map(|it| Section { heading: about(&it.heading), ..it }));
    }
    // A subject may stand on several boards.
    let mut seen = BTreeSet::new();
    subjects.retain(|&subject| seen.insert(subject));
    page.sections.extend(history(rows, &subjects, settings));
    page
}

/// The places of a board.
pub fn places_table(rows: &Rows, board: &Board, settings: &Settings) -> Table {
    let (writing, what) = match settings.by {
        By::Score => (Writing::of(rows.scale), "score"),
        By::Dimension(at) => (Writing::shares(), rows.dimensions.get(at).map_or("", |(key, _)| key.as_str())),
    };
    // In another order a group is no band of neighbours; the letters stay.
    let in_order = board.leaderboard.rows.is_sorted_by_key(|row| row.group);
    let row = |row: &Row| model::Row {
        cells: vec![
            text(places(row.rank_range)),
            text(letter(row.group)),
            text(name(rows, row.subject)),
            Cell::Interval(estimate(&row.estimate, writing)),
            Cell::Share(row.share_first, per_cent(row.share_first)),
            text(row.estimate.tasks.to_string()),
        ],
        group: in_order.then_some(row.group),
    };
    Table {
        caption: String::from(
            "Subjects by place; shaded and unshaded neighbours cannot be told apart from the first of theirs",
        ),
        columns: vec![
            column("place", Kind::Number),
            column("tied", Kind::Text),
            column("subject", Kind::Name),
            column(what, Kind::Interval(axis(writing, settings))),
            column("first in draws", Kind::Share),
            column("tasks", Kind::Number),
        ],
        rows: board.leaderboard.rows.iter().map(row).collect(),
    }
}

/// One of the chances of so many attempts.
type Chance = fn(&AttemptsAt) -> &Option<Estimate>;

/// The chances of repeated attempts, if they were asked for: that all pass, and that one does.
fn attempts(rows: &Rows, board: &Board) -> Vec<Table> {
    let most = board.attempts.iter().map(|of| of.by_k.len()).max().unwrap_or(0);
    let kinds: [(&str, &str, Chance); 2] = [
        ("pass^", "The chance that all of k attempts pass", |at| &at.pass_hat),
        ("pass@", "The chance that one of k attempts passes", |at| &at.pass_at),
    ];
    let table = |(label, caption, of): (&str, &str, Chance)| {
        let writing = Writing::shares();
        let cell = |at: &AttemptsAt| match of(at) {
            Some(found) => text(format!("{} ({})", writing.number(found.mean), writing.ends(found))),
            None => Cell::Absent(String::from("too few")),
        };
        let row = |subject: usize| {
            let by_k = board.attempts.get(subject).into_iter().flat_map(|of| &of.by_k).map(cell);
            let cells = std::iter::once(text(name(rows, subject))).chain(by_k).collect();
            model::Row { cells, group: None }
        };
        let by_k = (1..=most).map(|k| column(&format!("{label}{k}"), Kind::Number));
        Table {
            caption: caption.to_owned(),
            columns: std::iter::once(column("subject", Kind::Name)).chain(by_k).collect(),
            rows: board.leaderboard.rows.iter().map(|it| row(it.subject)).collect(),
        }
    };
    if most == 0 { Vec::new() } else { kinds.into_iter().map(table).collect() }
}
