//! Tables, with intervals and shares drawn in their rows. Such a table is both chart and data: it can be read aloud,
//! copied into a spreadsheet, sorted and filtered.

use maud::{Markup, html};

use super::scale::{Scale, percent as share_of};
use super::ties::Ties;
use super::{spark, told, words};
use crate::document::{Cell, Column, Kind, Readers, Row, Span, Table, Total};
use crate::estimate::percent;
use crate::headline::capital;
use crate::text::{Tone, clean};

/// The number of shaded columns from which their names are upright.
const UPRIGHT: usize = 7;

/// The number of rows from which on a script offers to look for one.
const FILTERED: usize = 12;

/// A column as it is drawn.
pub(super) struct Drawn<'t> {
    pub(super) at: usize,
    pub(super) column: &'t Column,
    /// The kind of its cells: in each table one column names the rows, the first if no other does.
    kind: Kind,
    /// The axis of estimates and totals.
    axis: Option<Axis>,
    /// The brackets of ties.
    ties: Option<Ties>,
}

/// The axis that all drawings of a column share.
struct Axis {
    scale: Scale,
    /// A line through all rows: 0 for differences.
    reference: Option<f64>,
    /// The id of the grid lines that all rows repeat.
    lines: String,
    /// The heading of the ends, where there are any.
    ends: Option<String>,
}

/// Draws a table with its caption. Sentences on a row are below its name.
pub(super) fn draw(id: &str, table: &Table) -> Markup {
    let is_shown = |it: &(usize, &Column)| it.1.readers > Readers::Programs && it.1.kind != Kind::Notes;
    let columns = table.columns.iter().enumerate().filter(is_shown);
    let mut columns: Vec<Drawn<'_>> = columns
        .map(|(at, column)| Drawn {
            at,
            column,
            kind: column.kind,
            axis: axis_of(id, table, at, column),
            ties: (column.kind == Kind::Ties).then(|| Ties::of(table, at)),
        })
        .collect();
    if columns.iter().all(|it| it.kind != Kind::Name)
        && let Some(first) = columns.first_mut().filter(|it| it.axis.is_none())
    {
        first.kind = Kind::Name;
    }
    let is_sum = table.columns.iter().any(|it| matches!(it.kind, Kind::Total(_)));
    let shades = table.columns.iter().filter(|it| it.kind == Kind::Shade).count();
    let has_ends = |cell: &Cell| matches!(cell, Cell::Interval(Span { ends: Some(_), .. }));
    let is_narrow = !table.rows.iter().flat_map(|row| &row.cells).any(has_ends);
    // Rows that add up have one order, and some of many are not all that a search would look for.
    let body = match (is_sum || table.is_part, shades > 0) {
        (true, true) => Some("fixed heat"),
        (true, false) => Some("fixed"),
        (false, true) => Some("heat"),
        (false, false) => None,
    };
    let drawn = scrolling(
        id,
        table,
        html! {
            thead class=[(shades >= UPRIGHT && is_narrow).then_some("upright")] {
                tr { @for it in &columns { (heading(it)) } }
            }
            tbody class=[body] {
                @for (at, (row, is_odd)) in table.rows.iter().zip(bands(&table.rows)).enumerate() {
                    tr class=[class_of(row, is_odd)] {
                        @for it in &columns {
                            @match &it.ties { Some(ties) => (ties.draw(at, row, it)), None => (draw_cell(row, it)) }
                        }
                    }
                }
            }
        },
    );
    let has_filter = body.is_none_or(|body| !body.starts_with("fixed")) && table.rows.len() >= FILTERED;
    html! { @if has_filter { p.filter {} } (drawn) @if shades > 0 { (key(table)) } (terms(id, &columns)) }
}

/// Returns the terms among the columns, each of which says what it means.
fn terms(id: &str, columns: &[Drawn<'_>]) -> Markup {
    let known = || columns.iter().filter_map(|it| Some((it.column, it.column.term?)));
    html! {
        @if known().next().is_some() {
            p.terms {
                "What is "
                @for (at, (column, meaning)) in known().enumerate() {
                    @let target = format!("{id}w{at}");
                    button.term type="button" popovertarget=(target) { (column.label) }
                    span id=(target) popover { b { (capital(&column.label)) } " " (meaning) }
                }
            }
        }
    }
}

/// Returns the key of the grounds.
fn key(table: &Table) -> Markup {
    let shades = table.columns.iter().enumerate().filter(|(_, it)| it.kind == Kind::Shade);
    let cells: Vec<&Cell> =
        shades.flat_map(|(at, _)| table.rows.iter().filter_map(move |row| row.cells.get(at))).collect();
    let [low, high] =
        if cells.iter().any(|it| matches!(it, Cell::Share(_))) { ["0%", "100%"] } else { ["0", "1"] };
    html! {
        p.key {
            span { (low) @for step in [0, 2, 4, 6, 8, 10] { i class=(format!("h{step}")) {} } (high) }
            @if cells.iter().any(|it| matches!(it, Cell::Absent | Cell::Without(_))) {
                span { i.absent {} "no value, which is not a zero" }
            }
        }
    }
}

/// Returns the class of a ground that darkens in eleven steps; the number on it says the same.
fn shade(share: f64) -> String {
    format!("number h{:.0}", (share.clamp(0.0, 1.0) * 10.0).floor())
}

/// Returns a table in its own box, which scrolls sideways on narrow screens; `id` becomes that of its caption.
fn scrolling(id: &str, table: &Table, content: Markup) -> Markup {
    html! {
        div.box role="group" aria-labelledby=(id) tabindex="0" {
            table {
                caption { span.aloud[table.is_titled] id=(id) { (words(&table.caption)) } }
                (content)
            }
        }
    }
}

/// Returns a box that is closed at first, for the numbers behind a figure.
pub(super) fn behind(summary: &str, content: Markup) -> Markup {
    html! { details { summary { (summary) } (content) } }
}

/// Returns the axis of a column that is drawn; of differences it is as long on both sides of 0.
fn axis_of(id: &str, table: &Table, at: usize, column: &Column) -> Option<Axis> {
    let spans = || {
        table.rows.iter().filter_map(move |row| match row.cells.get(at) {
            Some(Cell::Interval(span)) => Some(span),
            _ => None,
        })
    };
    let values = || {
        let ends = |it: &Span| it.ends.map_or([it.point; 2], |(low, high)| [low, high]);
        spans().flat_map(move |it| ends(it).into_iter().chain([it.point])).filter(|it| it.is_finite())
    };
    let (range, reference, level) = match column.kind {
        Kind::Bar(best) | Kind::Total(best) => (Some((0.0, f64::from(best))), None, None),
        Kind::Interval { .. } if values().next().is_none() => return None,
        Kind::Interval { sides, level } => {
            let reach = values().map(f64::abs).fold(0.0, f64::max);
            let zero = sides.map(|_| 0.0);
            (zero.map(|_| (-reach, reach)), zero, Some(level))
        }
        _ => return None,
    };
    let label = match level {
        Some(level) if level < 1.0 => format!("{} interval", percent(level)),
        // From the lowest to the highest.
        Some(_) => String::from("range"),
        None => String::from("interval"),
    };
    Some(Axis {
        scale: Scale::covering(range, values().chain(reference)),
        reference,
        lines: format!("{id}a{at}"),
        ends: spans().any(|it| it.ends.is_some()).then_some(label),
    })
}

/// Returns the place of evidence: that of a record of a log as a link.
fn linked(place: &str) -> Markup {
    let record = place.strip_prefix("record :").filter(|at| at.bytes().all(|it| it.is_ascii_digit()));
    match record {
        Some(at) => html! { a href=(format!("/records/{at}")) { (at) } },
        None => html! { (place) },
    }
}

/// Returns the name of a column, which leads to the rows in its order where a server has them.
fn label_of(column: &Column) -> Markup {
    match column.address.as_str() {
        "" => html! { (column.label) },
        address => html! { a href=(address) { (column.label) } },
    }
}

fn heading(it: &Drawn<'_>) -> Markup {
    let shown = label_of(it.column);
    let label = &it.column.label;
    match (it.kind, &it.axis) {
        // A column of marks has no room for its name.
        _ if label.is_empty() && it.axis.is_none() => {
            html! { th scope="col" { span.aloud { (it.column.key.replace('_', " ")) } } }
        }
        (Kind::Name, _) => html! { th.name scope="col" { (shown) } },
        (Kind::Trend { .. }, _) => html! { th.trend scope="col" { (label) } },
        (_, Some(axis)) => html! {
            th.number scope="col" { (shown) @if let Some(ends) = &axis.ends { small { br; (ends) } } }
            th.drawn scope="col" { span.aloud { (label) ", drawn" } (drawn_axis(axis)) }
        },
        (Kind::Shade, _) => html! { th.number scope="col" { span { (label) } } },
        _ if it.column.is_number() => html! { th.number scope="col" { (shown) } },
        _ => html! { th scope="col" { (shown) } },
    }
}

fn draw_cell(row: &Row, it: &Drawn<'_>) -> Markup {
    let cell = row.cells.get(it.at).unwrap_or(&Cell::Absent);
    let label = &it.column.label;
    match (cell, it.kind, &it.axis) {
        (Cell::Interval(span), _, Some(axis)) if span.point.is_finite() => {
            interval(span, axis, row, it.column)
        }
        (Cell::Total(total), _, Some(axis)) => sum(total, axis, label),
        (cell, _, Some(_)) => html! { td.absent data-label=(label) { (why(cell)) } td.drawn {} },
        (Cell::Link(text, address), Kind::Name, _) => html! {
            th.name scope="row" { span { a href=(address) { (text) } } (notes(row)) }
        },
        (cell, Kind::Name, _) => {
            html! { th.name scope="row" { span { (told(&cell.shown())) } (notes(row)) } }
        }
        (Cell::Link(text, address), ..) => html! { td data-label=(label) { a href=(address) { (text) } } },
        (Cell::Interval(span), Kind::Shade, _) if span.point.is_finite() => html! {
            td class=(shade(span.point)) data-label=(label) {
                (span.number(span.point))
                @if let Some((low, high)) = span.ends { small { (span.end(low)) " to " (span.end(high)) } }
            }
        },
        (Cell::Share(share), Kind::Shade, _) if share.is_finite() => {
            html! { td class=(shade(*share)) data-label=(label) { (cell.shown()) } }
        }
        (Cell::Trend(values), Kind::Trend { range, decimals }, _) => spark::draw(values, range, decimals),
        (Cell::Share(share), ..) if share.is_finite() => html! {
            td.number data-label=(label) {
                (cell.shown())
                svg.share aria-hidden="true" { rect width=(share_of(share.clamp(0.0, 1.0))) height="3" {} }
            }
        },
        (Cell::Absent | Cell::Without(_) | Cell::Interval(_) | Cell::Trend(_) | Cell::Share(_), ..) => {
            html! { td.absent.number[it.column.is_number()] data-label=(label) { (why(cell)) } }
        }
        (Cell::Places(places), ..) => html! {
            td data-label=(label) { @for (at, place) in places.iter().enumerate() { @if at > 0 { ", " } (linked(place)) } }
        },
        (cell, Kind::Rank, _) => html! { td.rank { (cell.shown()) } },
        (cell, kind, _) if it.column.is_number() => html! {
            td.number.leading[kind == Kind::Leading] data-label=(label) data-from=[pointer(row, it.column, 0, "")] { (cell.shown()) }
        },
        (cell, Kind::Sentence, _) => html! { td.full data-label=(label) { (words(&cell.shown())) } },
        (cell, ..) => {
            html! { td data-label=[(!label.is_empty()).then_some(label)] { (told(&cell.shown())) } }
        }
    }
}

/// Returns the cells of a table without drawings, for a script to write them as the pages do: what each is, its text, and the
/// address of a link or the length of a bar.
pub fn cells(table: &Table) -> Vec<Vec<[String; 3]>> {
    let one = |(cell, column): (&Cell, &Column)| {
        let [what, text, more] = match (cell, column.kind) {
            (Cell::Link(text, address), _) => ["name", text.as_str(), address.as_str()].map(str::to_owned),
            (cell, Kind::Name) => [String::from("name"), cell.shown(), String::new()],
            (Cell::Share(share), _) => [String::from("share"), cell.shown(), share_of(share.clamp(0.0, 1.0))],
            (Cell::Absent | Cell::Without(_), _) => ["absent", why(cell), ""].map(str::to_owned),
            _ => {
                let what = if column.is_number() { "number" } else { "" };
                [what.to_owned(), cell.shown(), String::new()]
            }
        };
        [what, clean(&text).into_owned(), more]
    };
    table.rows.iter().map(|row| row.cells.iter().zip(&table.columns).map(one).collect()).collect()
}

/// Returns the reason for which there is no value.
fn why(cell: &Cell) -> &str {
    match cell {
        Cell::Without(why) => why,
        Cell::Absent => "none",
        _ => "no value",
    }
}

/// Returns the sentences on a row.
fn notes(row: &Row) -> Markup {
    let own = row.cells.iter().flat_map(|it| if let Cell::Notes(all) = it { all.as_slice() } else { &[] });
    html! {
        @for (tone, note) in own.chain(&row.notes) {
            small class=[(!matches!(tone, Tone::Plain | Tone::Good)).then_some("care")] { (words(note)) }
        }
    }
}

/// Returns the place of a number in the answer, for tests that compare it.
fn pointer(row: &Row, column: &Column, at: usize, end: &str) -> Option<String> {
    let own = column.pointers.get(at).filter(|own| !own.is_empty() && !row.pointer.is_empty())?;
    Some(format!("{}/{own}{end}", row.pointer))
}

/// Returns the numbers of an estimate, and the mark that shows them.
fn interval(span: &Span, axis: &Axis, row: &Row, column: &Column) -> Markup {
    let place = |value: f64| share_of(axis.scale.place(value));
    let ends = span.ends.filter(|(low, high)| low.is_finite() && high.is_finite());
    let from = |end: &str| pointer(row, column, 1, end);
    html! {
        td.number.point data-label=(column.label) {
            b data-from=[pointer(row, column, 0, "")] { (span.number(span.point)) }
            @match ends {
                Some((low, high)) => small {
                    span data-from=[from("/low")] { (span.end(low)) } " to " span data-from=[from("/high")] { (span.end(high)) }
                },
                None if axis.ends.is_some() => small { "no interval" },
                None => "",
            }
        }
        td.drawn {
            svg aria-hidden="true" {
                use href=(format!("#{}", axis.lines)) {}
                @if let Some((low, high)) = ends {
                    line.range x1=(place(low)) x2=(place(high)) y1="15" y2="15" {}
                    @for end in [low, high] { line.end x1=(place(end)) x2=(place(end)) y1="8" y2="22" {} }
                }
                circle cx=(place(span.point)) cy="15" r="5.5" {}
            }
        }
    }
}

/// Returns a total, and the bar from the one before it. A part that adds nothing is a line at the total.
fn sum(total: &Total, axis: &Axis, label: &str) -> Markup {
    let (low, high) = (total.before.min(total.after), total.before.max(total.after));
    let (left, right) = (axis.scale.place(low), axis.scale.place(high));
    let class = match (total.after < total.before, total.is_step) {
        (true, _) => "bar loss",
        (false, true) => "bar gain",
        (false, false) => "bar",
    };
    let end = share_of(axis.scale.place(total.after));
    html! {
        td.number.point data-label=(label) { b { (total.shown) } }
        td.drawn {
            svg aria-hidden="true" {
                use href=(format!("#{}", axis.lines)) {}
                rect class=(class) x=(share_of(left)) width=(share_of(right - left)) y="7" height="16" {}
                line.total x1=(end) x2=(end) y1="4" y2="26" {}
            }
        }
    }
}

/// Returns the numbers along an axis, and the lines under them that every row repeats.
fn drawn_axis(it: &Axis) -> Markup {
    html! {
        svg.axis aria-hidden="true" {
            (axis_lines(&it.lines, it.scale, it.reference))
            (axis_numbers(it.scale))
        }
    }
}

/// Returns the lines of an axis, named `id`, for rows to repeat.
fn axis_lines(id: &str, scale: Scale, reference: Option<f64>) -> Markup {
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
fn axis_numbers(scale: Scale) -> Markup {
    let ticks = scale.ticks();
    let has_room = ticks.len() <= 6;
    html! {
        @for tick in ticks.iter().filter(|tick| tick.is_even || has_room) {
            text class=[(!tick.is_even).then_some("minor")] x=(share_of(scale.place(tick.value))) y="11" { (tick.label) }
        }
    }
}

fn vertical(class: &str, place: f64) -> Markup {
    html! { line class=(class) x1=(share_of(place)) x2=(share_of(place)) y1="0" y2="100%" {} }
}

/// Returns what a row looks like: of every second group, or behind the first.
fn class_of(row: &Row, is_odd: bool) -> Option<&'static str> {
    match (row.is_behind, is_odd) {
        (true, _) => Some("behind"),
        (false, true) => Some("odd"),
        (false, false) => None,
    }
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
