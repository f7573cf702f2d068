//! The page of a stress test: other weights, other choices, drivers, rank 1.

use super::{column, page, profiles, text};
use crate::answers::leaderboard::Leaderboard;
use crate::answers::stress::words::{OtherChoice, effect, other_choices, rank_1};
use crate::answers::stress::{Driver, Robustness, Stress, SubjectRobustness, Swap, WeightRobustness};
use crate::estimate::whole_percent;
use crate::leaderboard::Settings;
use crate::page::model::{Cell, Figure, Kind, Page, RankShares, Ranks, Row, Section, Table};
use crate::rows::Rows;

/// The largest number of shares of ranks that are drawn: of that many subjects, each with all its ranks.
const MOST_SHARES: usize = 5000;
/// The largest number of pairs listed.
const MOST_SWAPS: usize = 100;

/// Returns the page of `karat stress`; `board` is the leaderboard of the same items.
#[must_use]
pub fn stress(rows: &Rows, board: &Leaderboard, answer: &Stress, settings: &Settings) -> Page {
    let mut page = page("Robustness", rows, &answer.basis, settings);
    page.sections = sections(&answer.robustness);
    page.sections.extend(profiles(rows, board));
    page
}

/// Returns the sections, which are also used for a leaderboard.
#[must_use]
pub fn sections(found: &Robustness) -> Vec<Section> {
    let section =
        |heading: &str, text: Vec<String>, figures| Section { heading: heading.to_owned(), text, figures };
    let rule = "Ranks by the composite of the mean values, without rules and gates of the scorecard.";
    let around = "Share of random weights by rank: weights around those of the scorecard";
    let any = "Share of random weights by rank: any weights";
    let mut lines = vec![rule.to_owned()];
    let mut figures = vec![ranks(&found.weights_around, around), ranks(&found.weights_any, any)];
    if found.weights_around.swaps.is_empty() {
        lines.push(String::from("Around the weights of the scorecard no pair ever changes ranks."));
    } else {
        figures.push(swaps(&found.weights_around.swaps));
    }
    vec![
        section("Other weights", lines, figures),
        section("Other choices", Vec::new(), vec![others(found)]),
        section("What drives the composite", Vec::new(), vec![drivers(&found.drivers)]),
        section("Rank 1", rank_1(found), Vec::new()),
    ]
}

/// Returns the subjects by their rank under the weights of the scorecard.
fn ranks(found: &WeightRobustness, caption: &str) -> Figure {
    let mut drawn = 0;
    let shown: Vec<&SubjectRobustness> = found
        .subjects
        .iter()
        .take_while(|it| {
            drawn += it.ranks.len();
            drawn <= MOST_SHARES
        })
        .collect();
    let caption = match (shown.len(), found.subjects.len()) {
        (shown, all) if shown < all => {
            format!("{caption}; the first {shown} of {all} subjects, JSON has all")
        }
        _ => caption.to_owned(),
    };
    let shares = |found: &SubjectRobustness| RankShares {
        name: found.subject.clone(),
        rank: found.rank.into(),
        share_kept: found.chance_of_same_rank,
        shares: found.ranks.iter().map(|it| (it.rank, it.chance)).collect(),
    };
    Figure::Ranks(Ranks { caption, subjects: shown.into_iter().map(shares).collect() })
}

fn swaps(swaps: &[Swap]) -> Figure {
    let shown = swaps.iter().take(MOST_SWAPS).map(|swap| Row {
        cells: vec![
            text(swap.ahead.clone()),
            text(swap.behind.clone()),
            Cell::Share(swap.chance, whole_percent(swap.chance)),
        ],
        group: None,
    });
    let which = match swaps.len() {
        all @ ..=MOST_SWAPS => all.to_string(),
        all => format!("{MOST_SWAPS} of {all}"),
    };
    Figure::Table(Table {
        caption: format!(
            "{which} pairs that change ranks under random weights around those of the scorecard, the most frequent first"
        ),
        columns: vec![
            column("ahead", Kind::Name),
            column("behind", Kind::Text),
            column("changed in", Kind::Share),
        ],
        rows: shown.collect(),
    })
}

fn others(found: &Robustness) -> Figure {
    let row = |(label, choice): (String, OtherChoice<'_>)| {
        let effect = match choice.moved.is_empty() {
            true => String::from("no rank changes"),
            false => effect(choice),
        };
        Row { cells: vec![text(label), text(effect)], group: None }
    };
    Figure::Table(Table {
        caption: String::from("Each dimension left out in turn, and other means"),
        columns: vec![column("choice", Kind::Name), column("what happens", Kind::Text)],
        rows: other_choices(found).map(row).collect(),
    })
}

fn drivers(drivers: &[Driver]) -> Figure {
    let share = |share: Option<f64>| match share {
        Some(share) => Cell::Share(share, whole_percent(share)),
        None => Cell::Absent(String::from("none")),
    };
    let row = |driver: &Driver| Row {
        cells: vec![
            text(driver.dimension.clone()),
            share(Some(driver.weight)),
            share(driver.importance),
            match driver.correlation.spearman {
                Some(rho) => text(format!("{rho:+.2}")),
                None => Cell::Absent(String::from("does not vary")),
            },
        ],
        group: None,
    };
    Figure::Table(Table {
        caption: String::from("The weight of each dimension, and how much of the composite it drives"),
        columns: vec![
            column("dimension", Kind::Name),
            column("weight", Kind::Share),
            column("drives", Kind::Share),
            column("rank correlation with the composite", Kind::Number),
        ],
        rows: drivers.iter().map(row).collect(),
    })
}
