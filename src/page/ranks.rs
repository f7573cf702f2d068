//! Ranks under random weights: a matrix for few subjects, a small histogram for each of many.

use maud::{Markup, html};

use super::profiles::tint;
use super::scale::{coordinate, percent, written};
use super::table;
use crate::document::figure::{RankShares, Ranks};
use crate::estimate::whole_percent;

/// The largest number of ranks with a column each.
const MOST_COLUMNS: u32 = 12;
/// The height of a histogram in CSS pixels.
const HEIGHT: f64 = 22.0;
/// The space between two bars, as a share of the width of one.
const GAP: f64 = 0.16;

/// Draws the ranks of all subjects.
pub fn draw(id: &str, ranks: &Ranks) -> Markup {
    let worst = ranks.subjects.iter().map(worst).max().unwrap_or(1).max(1);
    let is_matrix = worst <= MOST_COLUMNS;
    html! {
        (table::scrolling(id, &ranks.caption, html! {
            thead {
                tr {
                    th.name scope="col" { "subject" }
                    th.number scope="col" { "rank" }
                    th.number scope="col" { "keeps it" }
                    @if is_matrix {
                        @for rank in 1..=worst { th.number scope="col" { (rank) } }
                    } @else {
                        th.drawn scope="col" { span.aloud { "share of random weights by rank, drawn" } (axis(worst)) }
                    }
                }
            }
            tbody.heat[is_matrix] {
                @for subject in &ranks.subjects {
                    tr {
                        (table::name(&subject.name))
                        td.number { (range(subject.rank)) }
                        td.number { (whole_percent(subject.share_kept)) }
                        @if is_matrix { (matrix_cells(subject, worst)) } @else { td.drawn { (histogram(subject, worst)) } }
                    }
                }
            }
        }))
        @if is_matrix {
            p.key { "Bold: the rank by the scorecard as written. Empty: never. Shared ranks count as the best of them." }
        } @else {
            p.key { "Underlined: the rank by the scorecard as written. Shared ranks count as the best of them." }
            (table::behind("The shares as numbers", numbers(id, ranks)))
        }
    }
}

/// Returns the ranks that the subject takes at all.
fn taken(subject: &RankShares) -> impl Iterator<Item = (u32, f64)> {
    subject.shares.iter().copied().filter(|&(rank, share)| rank > 0 && share > 0.0)
}

/// Returns the worst rank that the subject takes.
fn worst(subject: &RankShares) -> u32 {
    taken(subject).map(|(rank, _)| rank).max().unwrap_or(0).max(subject.rank.1)
}

/// Formats ranks: `3`, or `3 to 5` if they are shared.
fn range((best, worst): (u32, u32)) -> String {
    if best == worst { best.to_string() } else { format!("{best} to {worst}") }
}

fn matrix_cells(subject: &RankShares, worst: u32) -> Markup {
    let share_of = |rank| taken(subject).find(|&(it, _)| it == rank).map_or(0.0, |(_, share)| share);
    let is_own = |rank| (subject.rank.0..=subject.rank.1).contains(&rank);
    html! {
        @for rank in 1..=worst {
            @let share = share_of(rank);
            @let ground = if share > 0.0 { tint(share) } else { String::from("number") };
            td class=(ground) {
                @if is_own(rank) { b { (whole_percent(share)) } } @else if share > 0.0 { (whole_percent(share)) }
            }
        }
    }
}

/// Draws one bar for each rank that is taken, as high as its share.
fn histogram(subject: &RankShares, worst: u32) -> Markup {
    let width = 1.0 / f64::from(worst);
    let left = |rank: u32| f64::from(rank.saturating_sub(1)) * width + width * GAP / 2.0;
    let wide = |ranks: u32| f64::from(ranks) * width - width * GAP;
    let (best, worst_own) = subject.rank;
    html! {
        svg aria-hidden="true" {
            @for (rank, share) in taken(subject) {
                // A rank that occurs at all is visible.
                @let height = (share.min(1.0) * HEIGHT).max(1.0);
                rect.bar x=(percent(left(rank))) width=(percent(wide(1))) y=(coordinate(HEIGHT - height))
                    height=(coordinate(height)) {}
            }
            line.own x1=(percent(left(best))) x2=(percent(left(best) + wide(worst_own.saturating_sub(best) + 1)))
                y1="25" y2="25" {}
        }
    }
}

fn axis(worst: u32) -> Markup {
    let middle = worst.div_ceil(2);
    let place = |rank: u32| percent((f64::from(rank) - 0.5) / f64::from(worst));
    html! {
        svg.axis aria-hidden="true" {
            @for rank in [1, middle, worst] { text x=(place(rank)) y="11" { (rank) } }
        }
    }
}

/// Returns a row for each rank that a subject takes.
fn numbers(id: &str, ranks: &Ranks) -> Markup {
    table::scrolling(
        &format!("{id}n"),
        "Share of random weights by subject and rank",
        html! {
            thead {
                tr { th.name scope="col" { "subject" } th.number scope="col" { "rank" } th.number scope="col" { "share" } }
            }
            tbody {
                @for subject in &ranks.subjects {
                    @for (rank, share) in taken(subject) {
                        tr {
                            (table::name(&subject.name))
                            td.number { (rank) }
                            td.number { (written(share, 4)) }
                        }
                    }
                }
            }
        },
    )
}
