//! The document of the same items under two scorecards.

use super::rescore::shown;
use super::{Cell, Column, Document, Kind, Part, Row, Table};
use crate::answers::diff::Diff;
use crate::answers::rescored::Mover;
use crate::number::{points, signed};
use crate::text::{Tone, count, own_name};

/// Returns the document of who moves from one scorecard to another, and why.
pub fn diff(diff: &Diff) -> Document {
    let (up, down) = diff.tally();
    let (items, same) = (count(diff.items(), "item"), diff.items() - up - down);
    let row = |mover: &Mover| {
        let [from, to] = diff.ranks(mover);
        let (moved, change) = (&mover.moved, mover.moved.change());
        let badge = |badge: &Option<String>| badge.clone().unwrap_or_else(|| String::from("-"));
        let badges = (badge(&moved.before.badge), badge(&moved.after.badge));
        let badges = (badges.0 != badges.1).then(|| format!("{} -> {}", badges.0, badges.1));
        let reasons =
            mover.reasons.iter().map(|(name, change)| format!("{name} {}", signed(*change, diff.scale)));
        let why: Vec<String> = badges.into_iter().chain(reasons).collect();
        Row::from(vec![
            Cell::text(&mover.subject),
            Cell::of_text(own_name(&mover.subject, &mover.item)),
            shown(&moved.before),
            shown(&moved.after),
            Cell::Number(points(change.to_f64(), diff.scale), signed(change, diff.scale)),
            Cell::Count(from),
            Cell::Count(to),
            Cell::Notes(vec![(Tone::Plain, why.join(", "))]),
        ])
    };
    let numbers = ["before", "after", "difference", "rank_before", "rank_after"].map(Column::number);
    let mut columns = vec![Column::name("subject"), Column::text("item")];
    columns.extend(numbers);
    columns.push(Column::new("why", Kind::Notes));
    let badges = diff.badges_changed;
    let counts =
        format!("{items}: {up} up, {down} down, {same} unchanged; {badges} with another band or tier");
    Document {
        name: "diff",
        title: format!("{} -> {}", diff.before, diff.after),
        lines: vec![counts],
        parts: vec![Part::Table(Table::new(
            "Largest movers",
            columns,
            diff.movers.iter().map(row).collect(),
        ))],
        ..Document::default()
    }
}
