//! The parts of a score, one below the other, each bar from the total before it to the total after it.

use maud::{Markup, html};

use super::model::{Part, Waterfall};
use super::scale::{Scale, percent};
use super::table::{axis_lines, axis_numbers, scrolling};

/// Draws the bars and their numbers, in one table.
pub fn draw(id: &str, waterfall: &Waterfall) -> Markup {
    let scale = Scale::covering(Some(waterfall.range), std::iter::empty());
    let lines = format!("{id}a");
    html! {
        (scrolling(id, &waterfall.caption, html! {
            thead {
                tr {
                    th.name scope="col" { "part" }
                    th.number scope="col" { "value" }
                    th.number scope="col" { "share" }
                    th.number scope="col" { "points" }
                    th.number scope="col" { "total" }
                    th.drawn scope="col" {
                        span.aloud { "from the total before to the total after, drawn" }
                        svg.axis aria-hidden="true" { (axis_lines(&lines, scale, None)) (axis_numbers(scale)) }
                    }
                }
            }
            tbody.fixed {
                @for part in &waterfall.parts { (row(part, scale, &lines)) }
            }
        }))
    }
}

fn row(part: &Part, scale: Scale, lines: &str) -> Markup {
    let (low, high) = (part.before.min(part.after), part.before.max(part.after));
    let (left, right) = (scale.place(low), scale.place(high));
    let class = match (part.after < part.before, part.is_step) {
        (true, _) => "bar loss",
        (false, true) => "bar gain",
        (false, false) => "bar",
    };
    html! {
        tr {
            th.name scope="row" {
                span { (part.name) }
                @if let Some(note) = &part.note { small.care[part.is_care] { (note) } }
            }
            td.number { @if let Some(reading) = &part.reading { (reading) } }
            td.number { @if let Some(share) = &part.share { (share) } }
            td.number.point { (part.amount) }
            td.number { (part.total) }
            td.drawn {
                svg aria-hidden="true" {
                    use href=(format!("#{lines}")) {}
                    // A part that adds nothing is a line at the total.
                    rect class=(class) x=(percent(left)) width=(percent(right - left)) y="6" height="14" {}
                    line.total x1=(percent(scale.place(part.after))) x2=(percent(scale.place(part.after))) y1="3" y2="23" {}
                }
            }
        }
    }
}
