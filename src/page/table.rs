//! Tables, with intervals and shares drawn in their rows. Such a table is both chart and data: it can be read aloud,
//! copied into a spreadsheet, sorted and filtered.

use maud::{Markup, html};

use super::model::{Axis, Cell, Column, Estimate, Kind, Row, Table};
use super::scale::{Scale, percent, written};
use super::spark;

/// The form in which a column is drawn.
enum Form<'t> {
    Name,
    Text,
    Number,
    Leading,
    Share,
    Trend((f64, f64), usize),
    Interval(Interval<'t>),
}

/// The axis of a column of intervals.
struct Interval<'t> {
    axis: &'t Axis,
    scale: Scale,
    /// The id of the grid lines that all rows repeat.
    lines: String,
    has_ends: bool,
}

/// Draws a table of plain data, with its caption.
pub fn draw(id: &str, table: &Table) -> Markup {
    let forms: Vec<Form<'_>> = table.columns.iter().enumerate().map(|at| form(id, table, at)).collect();
    scrolling(
        id,
        &table.caption,
        html! {
            thead {
                tr { @for (column, form) in table.columns.iter().zip(&forms) { (heading(column, form)) } }
            }
            tbody {
                @for (row, is_odd) in table.rows.iter().zip(bands(&table.rows)) {
                    tr.odd[is_odd] {
                        @for (at, form) in forms.iter().enumerate() { (draw_cell(row.cells.get(at), form)) }
                    }
                }
            }
        },
    )
}

/// Returns a table in its own box, which scrolls sideways on narrow screens; `id` becomes that of its caption.
pub fn scrolling(id: &str, caption: &str, content: Markup) -> Markup {
    html! {
        div.box role="region" aria-labelledby=(id) tabindex="0" {
            table {
                caption { span id=(id) { (caption) } }
                (content)
            }
        }
    }
}

/// Returns the cell that names a row: as wide as the name, up to a limit.
pub fn name(name: &str) -> Markup {
    html! { th.name scope="row" { span { (name) } } }
}

/// Returns a box that is closed at first, for the numbers behind a figure.
pub fn behind(summary: &str, content: Markup) -> Markup {
    html! { details { summary { (summary) } (content) } }
}

fn form<'t>(id: &str, table: &'t Table, (at, column): (usize, &'t Column)) -> Form<'t> {
    match &column.kind {
        Kind::Name => Form::Name,
        Kind::Text => Form::Text,
        Kind::Number => Form::Number,
        Kind::Leading => Form::Leading,
        Kind::Share => Form::Share,
        Kind::Trend { range, decimals } => Form::Trend(*range, *decimals),
        Kind::Interval(axis) => {
            let estimates = table.rows.iter().filter_map(|row| match row.cells.get(at) {
                Some(Cell::Interval(estimate)) => Some(*estimate),
                _ => None,
            });
            let estimates: Vec<Estimate> = estimates.collect();
            let ends = estimates.iter().filter_map(|it| it.interval).flat_map(|(low, high)| [low, high]);
            let values = estimates.iter().map(|it| it.point).chain(ends).chain(axis.reference);
            Form::Interval(Interval {
                axis,
                scale: Scale::covering(axis.range, values),
                lines: format!("{id}a{at}"),
                has_ends: estimates.iter().any(|it| it.interval.is_some()),
            })
        }
    }
}

fn heading(column: &Column, form: &Form<'_>) -> Markup {
    let label = &column.label;
    match form {
        Form::Name => html! { th.name scope="col" { (label) } },
        Form::Text => html! { th scope="col" { (label) } },
        Form::Number | Form::Leading | Form::Share => html! { th.number scope="col" { (label) } },
        Form::Trend(..) => html! { th.trend scope="col" { (label) } },
        Form::Interval(it) => html! {
            th.number scope="col" { (label) }
            th.drawn scope="col" { span.aloud { (label) ", drawn" } (axis(it)) }
            @if it.has_ends { th.number scope="col" { (it.axis.interval_label) } }
        },
    }
}

fn draw_cell(cell: Option<&Cell>, form: &Form<'_>) -> Markup {
    match (cell, form) {
        (Some(Cell::Interval(estimate)), Form::Interval(it)) if estimate.point.is_finite() => {
            interval(*estimate, it)
        }
        (Some(Cell::Absent(why)), Form::Interval(it)) => html! {
            td.absent { (why) }
            td.absent.drawn {}
            @if it.has_ends { td.absent {} }
        },
        (_, Form::Interval(_)) => draw_cell(Some(&Cell::Absent(String::from("no value"))), form),
        (Some(Cell::Text(text)), Form::Name) => name(text),
        (Some(Cell::Link(text, address)), Form::Name) => html! {
            th.name scope="row" { span { a href=(address) { (text) } } }
        },
        (Some(Cell::Link(text, address)), _) => html! { td { a href=(address) { (text) } } },
        (Some(Cell::Trend(values)), Form::Trend(range, decimals)) => spark::draw(values, *range, *decimals),
        (Some(Cell::Text(text)), Form::Text) => html! { td { (text) } },
        (Some(Cell::Text(text)), Form::Leading) => html! { td.number.leading { (text) } },
        (Some(Cell::Text(text)), _) => html! { td.number { (text) } },
        (Some(Cell::Share(share, text)), _) => html! {
            td.number {
                (text)
                svg.share aria-hidden="true" { rect width=(percent(share.clamp(0.0, 1.0))) height="3" {} }
            }
        },
        (Some(Cell::Absent(why)), _) => html! { td.absent { (why) } },
        (Some(Cell::Interval(_) | Cell::Trend(_)) | None, _) => html! { td.absent { "no value" } },
    }
}

/// Returns the numbers of an estimate, and the mark that shows them.
fn interval(estimate: Estimate, it: &Interval<'_>) -> Markup {
    let text = |value: f64| written(value, it.axis.decimals);
    let place = |value: f64| percent(it.scale.place(value));
    let ends = estimate.interval.filter(|(low, high)| low.is_finite() && high.is_finite());
    html! {
        td.number.point { (text(estimate.point)) }
        td.drawn {
            svg aria-hidden="true" {
                use href=(format!("#{}", it.lines)) {}
                @if let Some((low, high)) = ends {
                    line.range x1=(place(low)) x2=(place(high)) y1="13" y2="13" {}
                }
                circle cx=(place(estimate.point)) cy="13" r="4" {}
            }
        }
        @if it.has_ends {
            @match ends {
                Some((low, high)) => td.number { (text(low)) " to " (text(high)) },
                None => td.absent { "no interval" },
            }
        }
    }
}

/// Returns the numbers along an axis, and the lines under them that every row repeats.
fn axis(it: &Interval<'_>) -> Markup {
    html! {
        svg.axis aria-hidden="true" {
            (axis_lines(&it.lines, it.scale, it.axis.reference))
            (axis_numbers(it.scale))
        }
    }
}

/// Returns the lines of an axis, named `id`, for rows to repeat.
pub(crate) fn axis_lines(id: &str, scale: Scale, reference: Option<f64>) -> Markup {
    html! {
        defs {
            g id=(id) {
                @for tick in scale.ticks() { (vertical("grid", scale.place(tick.value))) }
                @if let Some(reference) = reference.filter(|it| it.is_finite()) { (vertical("reference", scale.place(reference))) }
            }
        }
    }
}

/// Returns the numbers along an axis: as many as have room; the lines stay.
pub(crate) fn axis_numbers(scale: Scale) -> Markup {
    let ticks = scale.ticks();
    let has_room = ticks.len() <= 6;
    html! {
        @for tick in ticks.iter().filter(|tick| tick.is_even || has_room) {
            text.minor[!tick.is_even] x=(percent(scale.place(tick.value))) y="11" { (tick.label) }
        }
    }
}

fn vertical(class: &str, place: f64) -> Markup {
    html! { line class=(class) x1=(percent(place)) x2=(percent(place)) y1="0" y2="100%" {} }
}

/// Returns for each row true if it is in every second group.
fn bands(rows: &[Row]) -> Vec<bool> {
    let mut is_odd = true;
    let mut before = None;
    let band = |row: &Row| {
        is_odd ^= row.group.is_some() && before != row.group;
        before = row.group;
        is_odd && row.group.is_some()
    };
    rows.iter().map(band).collect()
}
