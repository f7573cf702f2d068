//! What the ranks hang on, as a page: other weights, other rules, drivers, first place.

use karat_stats::ranks::{OtherRanking, RankRange};
use karat_stats::robustness::{SubjectRobustness, WeightRobustness};

use super::{column, name, page, profiles, text};
use crate::board::stress::Stress;
use crate::board::told::{first, key, told, tried};
use crate::board::{Board, Settings};
use crate::page::model::{Cell, Figure, Kind, Page, RankShares, Ranks, Row, Section, Table};
use crate::page::scale::per_cent;
use crate::rows::Rows;

/// Most shares of ranks that are drawn: of so many subjects, each with all ranks that it takes.
const MOST_SHARES: usize = 5000;
/// Most pairs that are listed.
const MOST_SWAPS: usize = 100;

/// The page of `karat stress`.
pub fn stress(rows: &Rows, board: &Board, found: &Stress, settings: &Settings) -> Page {
    let mut page = page("Robustness", rows, settings);
    page.sections = sections(rows, found);
    page.sections.extend(profiles(rows, board));
    page
}

/// The sections, also of a leaderboard.
pub fn sections(rows: &Rows, stress: &Stress) -> Vec<Section> {
    let section = |heading: &str, told: Vec<String>, figures| Section {
        heading: heading.to_owned(),
        text: told,
        figures,
    };
    let rule = "Ranks by the composite of the mean readings, without rules and gates of the scorecard.";
    let around = "Share of draws by rank: weights drawn around those of the scorecard";
    let uniform = "Share of draws by rank: any weights";
    let mut told = vec![rule.to_owned()];
    let mut figures =
        vec![ranks(rows, stress, &stress.around, around), ranks(rows, stress, &stress.uniform, uniform)];
    if stress.around.swaps.is_empty() {
        told.push(String::from("Around the weights of the scorecard no pair ever changes places."));
    } else {
        figures.push(swaps(rows, stress));
    }
    vec![
        section("Other weights", told, figures),
        section("Other rules", Vec::new(), vec![others(rows, stress)]),
        section("What drives the composite", Vec::new(), vec![drivers(rows, stress)]),
        section("First place", first(rows, stress), Vec::new()),
    ]
}

/// The subjects by their rank under the rule as it is.
fn ranks(rows: &Rows, stress: &Stress, found: &WeightRobustness, caption: &str) -> Figure {
    let subjects = stress.subjects.iter().zip(&found.subjects);
    let mut ranked: Vec<(usize, &SubjectRobustness)> =
        subjects.filter_map(|(&subject, found)| Some((subject, found.as_ref()?))).collect();
    ranked.sort_by_key(|(_, found)| found.rank);
    let (all, mut drawn) = (ranked.len(), 0);
    ranked.retain(|(_, found)| {
        drawn += found.places.len();
        drawn <= MOST_SHARES
    });
    let caption = match ranked.len() {
        shown if shown < all => format!("{caption}; the first {shown} of {all} subjects, JSON has all"),
        _ => caption.to_owned(),
    };
    let shares = |(subject, found): (usize, &SubjectRobustness)| {
        let RankRange { best, worst } = found.rank;
        RankShares {
            name: name(rows, subject),
            rank: (best, worst),
            share_kept: found.share_kept,
            shares: found.places.clone(),
        }
    };
    Figure::Ranks(Ranks { caption, subjects: ranked.into_iter().map(shares).collect() })
}

fn swaps(rows: &Rows, stress: &Stress) -> Figure {
    let subject = |at: usize| text(stress.subjects.get(at).map(|&it| name(rows, it)).unwrap_or_default());
    let swaps = stress.around.swaps.iter().take(MOST_SWAPS).map(|swap| Row {
        cells: vec![subject(swap.ahead), subject(swap.behind), Cell::Share(swap.share, per_cent(swap.share))],
        group: None,
    });
    Figure::Table(Table {
        caption: match stress.around.swaps.len() {
            all @ ..=MOST_SWAPS => {
                format!("{all} pairs change places in some draw around the weights, the most frequent first")
            }
            all => format!(
                "{MOST_SWAPS} of {all} pairs that change places in some draw around the weights, the most frequent first"
            ),
        },
        columns: vec![
            column("ahead", Kind::Name),
            column("behind", Kind::Text),
            column("changed in", Kind::Share),
        ],
        rows: swaps.collect(),
    })
}

fn others(rows: &Rows, stress: &Stress) -> Figure {
    let row = |(label, ranking): (String, &OtherRanking)| {
        let told = match ranking.moved.is_empty() {
            true => String::from("nobody moves"),
            false => told(rows, stress, ranking),
        };
        Row { cells: vec![text(label), text(told)], group: None }
    };
    Figure::Table(Table {
        caption: String::from("Each dimension left out in turn, and other means"),
        columns: vec![column("rule", Kind::Name), column("what happens", Kind::Text)],
        rows: tried(rows, stress).map(row).collect(),
    })
}

fn drivers(rows: &Rows, stress: &Stress) -> Figure {
    let share = |share: Option<f64>| match share {
        Some(share) => Cell::Share(share, per_cent(share)),
        None => Cell::Absent(String::from("none")),
    };
    let row = |at: usize, driver: &karat_stats::drivers::Driver| Row {
        cells: vec![
            text(key(rows, stress, at)),
            share(Some(driver.weight)),
            share(driver.importance),
            match driver.correlation.spearman {
                Some(rho) => text(format!("{rho:+.2}")),
                None => Cell::Absent(String::from("does not move")),
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
        rows: stress.drivers.iter().enumerate().map(|(at, driver)| row(at, driver)).collect(),
    })
}
