//! Profiles: a matrix of values for many subjects, a drawing of each for few.

use maud::{Markup, html};

use super::scale::written;
use super::table;
use crate::document::figure::{Dimension, Estimate, Profile, Profiles, Reading};
use crate::document::{Cell, Column, Kind, Table};
use crate::estimate::Writing;

/// The largest number of subjects drawn side by side, one row for each dimension; more make a matrix.
const MOST_BESIDE: usize = 3;
/// The number of dimensions from which their names are upright.
const UPRIGHT: usize = 7;
/// The decimals of a value.
const DECIMALS: usize = 3;

/// Draws the profiles of all subjects.
pub fn draw(id: &str, profiles: &Profiles) -> Markup {
    if profiles.subjects.len() <= MOST_BESIDE {
        return table::draw(id, &beside(profiles));
    }
    let is_upright = profiles.dimensions.len() >= UPRIGHT;
    let has_interval = |it: &Reading| matches!(it, Reading::Value(Estimate { interval: Some(_), .. }));
    let has_intervals = profiles.subjects.iter().flat_map(|it| &it.readings).any(has_interval);
    let has_weights = profiles.dimensions.iter().any(|dimension| dimension.weight.is_some());
    html! {
        (table::scrolling(id, &profiles.caption, html! {
            thead.upright[is_upright] {
                tr {
                    th.name scope="col" { "subject" }
                    @for dimension in &profiles.dimensions { th.number scope="col" { span { (dimension.name) } } }
                }
            }
            tbody.heat {
                @if has_weights { (weights(&profiles.dimensions)) }
                @for subject in &profiles.subjects {
                    tr {
                        (table::name(&subject.name))
                        @for reading in &subject.readings { (matrix_cell(reading, !is_upright)) }
                    }
                }
            }
        }))
        (key())
        @if is_upright && has_intervals {
            (table::behind("The values and their intervals as a table", intervals(id, profiles)))
        }
    }
}

fn ends(estimate: &Estimate) -> Option<String> {
    estimate.interval.map(|(low, high)| format!("{} to {}", written(low, DECIMALS), written(high, DECIMALS)))
}

/// Returns a row for each value, as the matrix has no room for intervals.
fn intervals(id: &str, profiles: &Profiles) -> Markup {
    table::scrolling(
        &format!("{id}n"),
        &profiles.caption,
        html! {
            thead {
                tr {
                    th.name scope="col" { "subject" }
                    th scope="col" { "dimension" }
                    th.number scope="col" { "value" }
                    th.number scope="col" { "interval" }
                }
            }
            tbody {
                @for subject in &profiles.subjects {
                    @for (dimension, reading) in profiles.dimensions.iter().zip(&subject.readings) {
                        tr {
                            (table::name(&subject.name))
                            td { (dimension.name) }
                            @match reading {
                                Reading::Value(estimate) => {
                                    td.number { (written(estimate.point, DECIMALS)) }
                                    td.number { @if let Some(ends) = ends(estimate) { (ends) } }
                                }
                                Reading::Absent(why) => { td.absent { (why) } td.absent {} }
                            }
                        }
                    }
                }
            }
        },
    )
}

fn weights(dimensions: &[Dimension]) -> Markup {
    html! {
        tr.weights {
            (table::name("weight"))
            @for dimension in dimensions { td.number { @if let Some(weight) = &dimension.weight { (weight) } } }
        }
    }
}

fn matrix_cell(reading: &Reading, has_room: bool) -> Markup {
    match reading {
        Reading::Value(estimate) if estimate.point.is_finite() => html! {
            td class=(tint(estimate.point)) {
                (written(estimate.point, DECIMALS))
                @if let Some(ends) = ends(estimate).filter(|_| has_room) { small { (ends) } }
            }
        },
        Reading::Value(_) => html! { td.absent { "no value" } },
        Reading::Absent(why) => html! { td.absent { (why) } },
    }
}

/// Returns the class of a cell whose background darkens in eleven steps; the number in it says the same.
pub(crate) fn tint(share: f64) -> String {
    format!("number h{:.0}", (share.clamp(0.0, 1.0) * 10.0).floor())
}

/// Returns the key of the backgrounds.
fn key() -> Markup {
    html! {
        p.key {
            span {
                "0" @for step in [0, 2, 4, 6, 8, 10] { i class=(format!("h{step}")) {} } "1"
            }
            span { i.absent {} "no value, which is not a zero" }
        }
    }
}

/// Returns a row for each dimension, with the subjects side by side.
fn beside(profiles: &Profiles) -> Table {
    let mut columns = vec![Column::name("dimension"), Column::number("weight")];
    columns.extend(profiles.subjects.iter().map(|it| Column::new("", Kind::Bar(1)).labelled(&it.name)));
    let rows = profiles.dimensions.iter().enumerate().map(|(at, dimension)| {
        let readings = profiles.subjects.iter().map(|it| cell_of(it, at));
        let own = [Cell::text(&dimension.name), Cell::of_text(dimension.weight.clone())];
        own.into_iter().chain(readings).collect::<Vec<_>>().into()
    });
    Table::new(&profiles.caption, columns, rows.collect())
}

fn cell_of(profile: &Profile, at: usize) -> Cell {
    match profile.readings.get(at) {
        Some(Reading::Value(it)) => Cell::interval(Some(it.point), it.interval, Writing::shares(), false),
        Some(Reading::Absent(why)) => Cell::Without(why.clone()),
        None => Cell::Without(String::from("missing")),
    }
}
