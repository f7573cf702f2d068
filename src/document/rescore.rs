//! The document of records that were scored again: who moves, and the parts due to scorecard, evidence and engine.

use karat_core::number::Score;

use super::{Cell, Column, Document, Part, Row, Table};
use crate::answers::rescore::RankChange;
use crate::answers::rescored::{Mover, Summary};
use crate::estimate::plain;
use crate::number::{points, signed_steps, steps};
use crate::rescore::{Parts, Rescored, Verdict};
use crate::text::{Tone, count, own_name};

/// The most changes of a band or tier that are listed.
const LISTED: usize = 10;

/// Returns the document of the records by the cards `of` beside their scores by `card`.
pub fn rescored(summary: &Summary, of: &str, card: &str) -> Document {
    let (up, down) = (summary.up, summary.down);
    let same = summary.records - up - down - summary.unscored;
    let records = count(summary.records, "record");
    let mut counts = format!("{records}: {up} up, {down} down, {same} unchanged");
    if summary.unscored > 0 {
        counts.push_str(&format!(", {} without a score before or after", summary.unscored));
    }
    let mut document = Document {
        name: "rescore",
        title: format!("{of} -> {card}"),
        lines: vec![counts],
        parts: vec![Part::Table(movers(&summary.movers))],
        ..Document::default()
    };
    let ranks = summary.ranks();
    let moved: Vec<_> = ranks.iter().filter(|rank| rank.before != rank.after).collect();
    if moved.is_empty() {
        let subjects = count(summary.subjects(), "subject");
        document.note(Tone::Plain, [format!("none of {subjects} changes rank by the mean")]);
    } else {
        let who = format!("{} of {}", moved.len(), count(ranks.len(), "subject"));
        let row = |it: &&RankChange| {
            Row::from(vec![Cell::text(&it.subject), Cell::Count(it.before), Cell::Count(it.after)])
        };
        let columns = vec![Column::name("subject"), Column::number("before"), Column::number("after")];
        let caption = format!("Rank by the mean: {who} move");
        let table = Table::new(caption, columns, moved.iter().map(row).collect());
        document.parts.push(Part::Table(Table { is_list: true, ..table }));
    }
    if !summary.badges.is_empty() {
        let row = |((before, after), records): (&(String, String), &usize)| {
            Row::from(vec![Cell::text(before), Cell::text(after), Cell::Count(*records as u64)])
        };
        let columns = vec![Column::name("before"), Column::text("after"), Column::number("records")];
        let rows = summary.badges.iter().take(LISTED).map(row).collect();
        document.parts.push(Part::Table(Table::new("Band or tier", columns, rows)));
    }
    document
}

fn movers(movers: &[Mover]) -> Table {
    let row = |Mover { subject, item, moved, .. }: &Mover| {
        let [whole, scorecard, evidence, engine] = differences(moved);
        Row::from(vec![
            Cell::text(subject),
            Cell::of_text(own_name(subject, item)),
            shown(&moved.before),
            shown(&moved.after),
            whole,
            scorecard,
            evidence,
            engine,
        ])
    };
    let names = ["old", "new", "difference", "scorecard", "evidence", "engine"];
    let columns = [Column::name("subject"), Column::text("item")];
    let columns = columns.into_iter().chain(names.map(Column::number)).collect();
    Table::new("Largest movers", columns, movers.iter().map(row).collect())
}

/// Returns the whole difference in points and its parts from scorecard, evidence and engine, which add up as shown; no value if a
/// score appeared or disappeared.
fn differences(moved: &Rescored) -> [Cell; 4] {
    let none = || [Cell::Absent, Cell::Absent, Cell::Absent];
    let (Some(before), Some(after)) = (moved.before.score, moved.after.score) else {
        return [const { Cell::Absent }; 4];
    };
    let between = |from: Score, to: Score| {
        let difference = points(to.minus(from).to_f64(), moved.scale);
        Cell::Number(difference, signed_steps(steps(to, moved.scale) - steps(from, moved.scale), moved.scale))
    };
    let [scorecard, evidence, engine] =
        moved.parts.map_or_else(none, |Parts { scorecard, evidence, .. }| {
            let now = after.minus(scorecard);
            let today = now.minus(evidence);
            [between(now, after), between(today, now), between(before, today)]
        });
    [between(before, after), scorecard, evidence, engine]
}

/// Returns the published score, or the reason for which it is missing.
pub(super) fn shown(verdict: &Verdict) -> Cell {
    match verdict.published {
        Some(published) => Cell::Number(published, plain(published)),
        None => Cell::text(verdict.status.name()),
    }
}
