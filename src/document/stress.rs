//! The document of a stress test: how often each subject keeps its rank, what other choices change, what drives the score.

use std::ops::RangeInclusive;

use super::leaderboard::{cards, items};
use super::{Cell, Column, Document, Kind, Part, Table, about};
use crate::answers::stress::words::{effect, other_choices, rank_1};
use crate::answers::stress::{Driver, Robustness, Stress, SubjectRobustness, Swap, WeightRobustness};
use crate::document::figure::Figure;
use crate::estimate::{Writing, ranks, whole_percent};
use crate::headline;
use crate::text::{Tone, short};

/// The most subjects whose ranks are drawn.
const MOST_SUBJECTS: usize = 500;
/// The most ranks with a column each.
const MOST_RANKS: u32 = 12;
/// The largest number of pairs, and of names, that are listed.
const LISTED: usize = 5;

/// Returns the document of a stress test, with the sentences on items that are odd.
pub fn stress(answer: &Stress, gaps: &[String]) -> Document {
    let mut document = Document {
        name: "stress",
        headline: headline::stress(answer),
        title: format!("{}: how far ranks depend on the scorecard", cards(&answer.basis)),
        lines: vec![items(&answer.basis, true)],
        about: about(&answer.basis),
        ..Document::default()
    };
    document.note(Tone::Care, gaps.iter().cloned());
    document.parts.extend(robustness(answer.basis.scale, &answer.robustness));
    document
}

/// Returns the parts on the ranks under other weights, other choices, what drives the composite, and what rank 1 depends on.
pub(super) fn robustness(scale: u32, found: &Robustness) -> Vec<Part> {
    let note = |text: String| Part::Note(Tone::Plain, text);
    let mut parts = vec![
        Part::Heading(String::from("Other weights")),
        Part::Table(weights(scale, found)),
        note(String::from("ranks by the composite of mean values, without rules and gates of the scorecard")),
        note(swaps(&found.weights_around.swaps)),
        drawn(
            &found.weights_around,
            "Share of random weights by rank: weights around those of the scorecard",
        ),
        drawn(&found.weights_any, "Share of random weights by rank: any weights"),
        Part::Heading(String::from("Other choices")),
        Part::Table(choices(found)),
        Part::Heading(String::from("What drives the composite")),
        Part::Table(drivers(&found.drivers)),
    ];
    parts.extend(alike(found).map(note));
    parts.push(Part::Heading(String::from("Rank 1")));
    parts.extend(rank_1(found).into_iter().map(note));
    parts
}

fn weights(scale: u32, found: &Robustness) -> Table {
    let writing = Writing::points(scale);
    let row = |it: &SubjectRobustness| {
        let any = found.weights_any.subjects.iter().find(|other| other.subject == it.subject);
        let range = |[best, worst]: [u32; 2]| Cell::Text(ranks([best, worst]));
        vec![
            Cell::Number(it.rank[0].into(), ranks(it.rank)),
            Cell::text(&it.subject),
            Cell::of_number(it.composite, |it| writing.number(it)),
            Cell::Share(it.chance_of_same_rank),
            Cell::Share(it.chance_of_rank_1),
            range(it.rank_range),
            Cell::of_share(any.map(|it| it.chance_of_same_rank)),
            Cell::of_share(any.map(|it| it.chance_of_rank_1)),
            any.map_or(Cell::Absent, |it| range(it.rank_range)),
        ]
        .into()
    };
    let columns = vec![
        Column::new("rank", Kind::Rank),
        Column::name("subject"),
        Column::number("composite").explained(),
        Column::new("chance_of_same_rank", Kind::Share).explained(),
        Column::new("chance_of_rank_1", Kind::Share).explained().wide(),
        Column::text("rank_range"),
        Column::new("chance_of_same_rank_any_weights", Kind::Share),
        Column::new("chance_of_rank_1_any_weights", Kind::Share).wide(),
        Column::text("rank_range_any_weights"),
    ];
    let rows = found.weights_around.subjects.iter().map(row).collect();
    Table::new("Under random weights: around those of the scorecard, and any", columns, rows)
}

fn swaps(swaps: &[Swap]) -> String {
    let named = swaps.iter().take(LISTED).map(|swap| {
        format!("{} and {} in {}", short(&swap.ahead), short(&swap.behind), whole_percent(swap.chance))
    });
    match named.collect::<Vec<_>>().as_slice() {
        [] => String::from("around the weights of the scorecard no pair ever swaps"),
        named => format!("around the weights of the scorecard swap most: {}", named.join("; ")),
    }
}

/// Returns how often each subject takes each rank, for a page.
fn drawn(found: &WeightRobustness, caption: &str) -> Part {
    let (shown, all) = (found.subjects.len().min(MOST_SUBJECTS), found.subjects.len());
    let worst = found.subjects.iter().flat_map(|it| &it.ranks).map(|it| it.rank).max().unwrap_or(1);
    let mut ranks_shown: Vec<(String, RangeInclusive<u32>)> =
        (1..=worst.min(MOST_RANKS)).map(|rank| (rank.to_string(), rank..=rank)).collect();
    if worst > MOST_RANKS {
        ranks_shown.push((format!("{} to {worst}", MOST_RANKS + 1), MOST_RANKS + 1..=worst));
    }
    let share = |it: &SubjectRobustness, ranks: &RangeInclusive<u32>| {
        let taken = it.ranks.iter().filter(|it| ranks.contains(&it.rank)).map(|it| it.chance).sum();
        if taken > 0.0 { Cell::Share(taken) } else { Cell::text("") }
    };
    let row = |it: &SubjectRobustness| {
        let own = [
            Cell::text(&it.subject),
            Cell::text(ranks(it.rank)),
            Cell::text(whole_percent(it.chance_of_same_rank)),
        ];
        own.into_iter()
            .chain(ranks_shown.iter().map(|(_, ranks)| share(it, ranks)))
            .collect::<Vec<_>>()
            .into()
    };
    let mut columns = vec![Column::name("subject"), Column::number("rank"), Column::number("keeps it")];
    columns.extend(ranks_shown.iter().map(|(label, _)| Column::new("", Kind::Shade).labelled(label)));
    let mut caption = format!("{caption}; ranks that are shared count as the best of them");
    if shown < all {
        caption.push_str(&format!("; the first {shown} of {all} subjects, JSON has all"));
    }
    let rows = found.subjects.iter().take(shown).map(row).collect();
    Figure::Table(Table::new(caption, columns, rows)).into()
}

fn choices(found: &Robustness) -> Table {
    let rows = other_choices(found).map(|(label, choice)| {
        let effect = match choice.moved.is_empty() {
            true => String::from("no rank changes"),
            false => effect(choice),
        };
        vec![Cell::Text(label), Cell::Text(effect)].into()
    });
    let columns = vec![Column::name("choice"), Column::text("effect")];
    Table::new("Each dimension left out in turn, and other means", columns, rows.collect())
}

fn drivers(drivers: &[Driver]) -> Table {
    let mut order: Vec<&Driver> = drivers.iter().collect();
    let importance = |driver: &Driver| driver.importance.unwrap_or(-1.0);
    order.sort_by(|a, b| importance(b).total_cmp(&importance(a)));
    let row = |driver: &Driver| {
        vec![
            Cell::text(&driver.dimension),
            Cell::Share(driver.weight),
            Cell::of_share(driver.importance),
            Cell::of_number(driver.correlation.spearman, |rho| format!("{rho:+.2}")),
        ]
        .into()
    };
    let columns = vec![
        Column::name("dimension"),
        Column::new("weight", Kind::Share),
        Column::new("importance", Kind::Share).explained(),
        Column::number("rank_correlation").explained(),
    ];
    let caption = "The weight of each dimension, and how much of the composite it drives";
    Table::new(caption, columns, order.into_iter().map(row).collect())
}

/// Names the dimensions that measure nearly the same.
fn alike(found: &Robustness) -> Option<String> {
    let strong = found.correlations.iter().filter_map(|it| {
        let rho = it.correlation.spearman.filter(|rho| rho.abs() >= 0.9)?;
        let [one, other] = &it.dimensions;
        Some(format!("{one} and {other} ({rho:+.2})"))
    });
    let strong: Vec<String> = strong.take(LISTED).collect();
    (!strong.is_empty()).then(|| format!("measure nearly the same: {}", strong.join(", ")))
}
