//! Other weights on trial: the ranks and their robustness beside those of the scorecard, the same on a server and in a browser.

use std::collections::BTreeMap;

use karat_core::number::Decimal;
use karat_core::scorecard::{Dimension, Scorecard};
use karat_stats::StatisticsError;
use karat_stats::ranks::RankRange;
use serde::{Deserialize, Serialize};

use super::{Cell, Column, Kind, Row, Table};
use crate::leaderboard::Settings;
use crate::leaderboard::stress::weights;
use crate::leaderboard::what_if::{MeanValues, WhatIf};
use crate::text::{Writing, clean, count, ranks, short, whole_percent};

/// The beginning of the name of a weight, before the key of its dimension.
pub const FIELD: &str = "w.";
/// The largest number of rows.
const SHOWN: usize = 50;
/// The number of ranks that random weights may take, with the fewest weights.
const RANKED_MAX: usize = 300_000;
const DRAWS_MIN: usize = 50;
const MOST: i64 = 1_000_000_000_000;

/// The subjects that are ranked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subjects {
    /// Names and mean values.
    pub means: MeanValues,
    /// The address of the page of each.
    pub links: Vec<String>,
    /// The official rank of each, for a scorecard with standings.
    pub officials: Option<Vec<Option<[u32; 2]>>>,
}

/// The ranking under other weights.
#[derive(Debug, Clone)]
pub struct Tried {
    /// The outcome in parts of a sentence; true if a part is a name or number that matters.
    pub sentence: Vec<(bool, String)>,
    /// A row for each subject.
    pub ranking: Table,
    /// A row for each weight.
    pub shares: Table,
}

/// Returns the weights that are asked for by name, with those of the card where none is given.
///
/// # Errors
/// If there is no such weight, or it is not a number: its name, and what is wrong with it.
pub fn asked_weights(
    card: &Scorecard,
    asked: &BTreeMap<String, String>,
) -> Result<Vec<Decimal>, (String, String)> {
    let is_known = |name: &str| {
        name.strip_prefix(FIELD)
            .is_some_and(|key| card.dimensions.iter().any(|dimension| dimension.key == key))
    };
    if let Some(other) = asked.keys().find(|name| !is_known(name)) {
        let other = other.escape_debug();
        let known: Vec<String> = card.dimensions.iter().map(|it| format!("`{FIELD}{}`", it.key)).collect();
        let detail =
            format!("there is no weight `{other}`; those of this scorecard are {}", known.join(", "));
        return Err((String::from("query"), detail));
    }
    let weight = |(key, own): (&str, Decimal)| {
        let name = format!("{FIELD}{key}");
        let Some(text) = asked.get(&name).map(|text| text.trim()).filter(|text| !text.is_empty()) else {
            return Ok(own);
        };
        let read = Decimal::parse(text)
            .ok()
            .filter(|(weight, is_exact)| *is_exact && (0..=MOST).contains(&weight.millionths()));
        read.map(|(weight, _)| weight).ok_or_else(|| {
            let found = text.escape_debug();
            (name, format!("found `{found}`, expected a number from 0 to 1000000 with at most six decimals"))
        })
    };
    card.dimensions.iter().map(|it| it.key.as_str()).zip(weights(card)).map(weight).collect()
}

/// Ranks subjects by these weights.
///
/// # Errors
/// If all weights are 0, or nothing was measured.
pub fn what_if(subjects: &Subjects, card: &Scorecard, wanted: &[Decimal]) -> Result<Tried, StatisticsError> {
    let settings = Settings::usual_for(Some(card));
    // Each random weight ranks every subject.
    let draws = RANKED_MAX / subjects.means.subjects.len().max(1);
    let draws = draws.clamp(DRAWS_MIN, settings.draws as usize);
    let found = WhatIf::new(&subjects.means, card, wanted, &Settings { draws: draws as u32, ..settings })?;
    Ok(Tried {
        sentence: sentence(&subjects.means.subjects, &found),
        ranking: ranking(subjects, &found, Writing::of(card.scale.max)),
        shares: shares(card, wanted),
    })
}

fn sentence(subjects: &[String], found: &WhatIf) -> Vec<(bool, String)> {
    let is_first = |rank: &Option<RankRange>| rank.is_some_and(|rank| rank.best == 1);
    let first = found.after.ranks.iter().zip(subjects).filter(|(rank, _)| is_first(rank));
    let first: Vec<String> = first.map(|(_, name)| clean(&short(name)).into_owned()).collect();
    let all = count(subjects.len(), "subject");
    let (plain, strong) = (|text: String| (false, text), |text: String| (true, text));
    let mut parts = Vec::new();
    if subjects.len() > SHOWN {
        parts.push(plain(format!("The first {SHOWN} of {all} are shown. ")));
    }
    match first.as_slice() {
        [] => parts.push(plain(String::from("No subject has rank 1. "))),
        [only] => {
            let has = if found.after.first_differs { " would have" } else { " keeps" };
            parts.extend([strong(only.clone()), plain(format!("{has} rank 1. "))]);
        }
        several => {
            parts.push(plain(format!("{} would share rank 1. ", count(several.len(), "subject"))));
        }
    }
    let moves = match found.after.moved.len() {
        0 => String::from("No rank changes. "),
        1 => format!("1 subject of {} moves. ", subjects.len()),
        moved => format!("{} of {} move. ", count(moved, "subject"), subjects.len()),
    };
    let kept = |share: f64| strong(whole_percent(share));
    parts.extend([
        plain(format!("{moves}Around these weights the same subjects have rank 1 in ")),
        kept(found.around_after.share_first_kept),
        plain(format!(
            " of {} random weights; around those of the scorecard in ",
            found.around_after.plan.draws
        )),
        kept(found.around_before.share_first_kept),
        plain(String::from(".")),
    ]);
    parts
}

fn ranking(subjects: &Subjects, found: &WhatIf, writing: Writing) -> Table {
    let names = &subjects.means.subjects;
    let mut order: Vec<usize> = (0..names.len()).collect();
    let after = |at: usize| found.after.ranks.get(at).copied().flatten();
    let before = |at: usize| found.ranks_before.get(at).copied().flatten();
    order.sort_by_key(|&at| (after(at).is_none(), after(at), at));
    let none = || Cell::Without(String::from("none"));
    let rank = |rank: Option<[u32; 2]>| rank.map_or_else(none, |it| Cell::Text(ranks(it)));
    let ends = |rank: RankRange| [rank.best, rank.worst];
    let composite = |list: &[Option<i64>], at: usize| match list.get(at).copied().flatten() {
        Some(value) => Cell::Text(writing.number(value as f64 / 1e9)),
        None => none(),
    };
    let row = |at: usize| {
        let steps =
            before(at).zip(after(at)).map_or(0, |(from, to)| i64::from(from.best) - i64::from(to.best));
        let moves = match steps {
            0 => String::from("stays"),
            up @ 1.. => format!("▲ {up}"),
            down => format!("▼ {}", -down),
        };
        let kept = found.around_after.subjects.get(at).and_then(Option::as_ref).map(|it| it.share_kept);
        let text = |list: &[String]| list.get(at).cloned().unwrap_or_default();
        let official = subjects.officials.as_ref();
        let mut cells = vec![
            rank(after(at).map(ends)),
            Cell::Link(text(names), text(&subjects.links)),
            Cell::Text(moves),
            rank(before(at).map(ends)),
            composite(&found.composites_after, at),
            composite(&found.composites_before, at),
            kept.map_or_else(none, |share| Cell::Text(whole_percent(share))),
        ];
        cells.extend(official.map(|places| rank(places.get(at).copied().flatten())));
        Row::from(cells)
    };
    let mut columns = vec![
        Column::new("rank", Kind::Number),
        Column::name("subject"),
        Column::text("moves"),
        Column::new("rank now", Kind::Number),
        Column::new("composite", Kind::Number).explained(),
        Column::new("composite now", Kind::Number),
        Column::new("keeps its rank", Kind::Number),
    ];
    let what = "By the composite of the mean values, without rules and gates of the scorecard";
    let caption = match subjects.officials {
        Some(_) => format!("{what}, and without the window, decay, review and gate of official scores"),
        None => String::from(what),
    };
    columns.extend(subjects.officials.as_ref().map(|_| Column::new("official rank", Kind::Number)));
    Table::new(caption, columns, order.into_iter().take(SHOWN).map(row).collect())
}

/// Returns each weight as a share of the sum.
fn shares(card: &Scorecard, wanted: &[Decimal]) -> Table {
    let own = weights(card);
    let sum = |list: &[Decimal]| list.iter().map(|it| it.millionths()).sum::<i64>().max(1) as f64;
    let (of_wanted, of_own) = (sum(wanted), sum(&own));
    let share = |weight: &Decimal, of: f64| Cell::Text(whole_percent(weight.millionths() as f64 / of));
    let all = card.dimensions.iter().zip(wanted).zip(&own);
    let row = |((dimension, weight), own): ((&Dimension, &Decimal), &Decimal)| {
        let label = Cell::Text(dimension.label.clone());
        Row::from(vec![label, Cell::Text(weight.to_string()), share(weight, of_wanted), share(own, of_own)])
    };
    let number = |label| Column::new(label, Kind::Number);
    let columns = vec![Column::name("dimension"), number("weight"), number("share"), number("share now")];
    Table::new(
        "Weight as entered, its share of the sum, and that of the card",
        columns,
        all.map(row).collect(),
    )
}
