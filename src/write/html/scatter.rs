//! Subjects between two values, such as quality and cost, with a line through those on the front.

use maud::{Markup, html};

use super::scale::{Scale, coordinate};
use crate::document::figure::{Dot, Scatter};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 40.0;
/// Beyond this number only those on the front have their names beside them; the table has all.
const MOST_NAMES: usize = 30;
/// The room that a character takes.
const CHARACTER: f64 = 6.5;

/// Draws the subjects.
pub(super) fn draw(id: &str, scatter: &Scatter) -> Markup {
    let all = || scatter.dots.iter();
    let across = Scale::covering(None, all().map(|dot| dot.across).chain([0.0]));
    let up = Scale::covering(None, all().map(|dot| dot.up));
    let x = |value: f64| LEFT + across.place(value) * (WIDTH - LEFT - RIGHT);
    let y = |value: f64| TOP + (1.0 - up.place(value)) * (HEIGHT - TOP - BOTTOM);
    let mut front: Vec<&Dot> = all().filter(|dot| dot.is_on_front).collect();
    front.sort_by(|one, other| one.across.total_cmp(&other.across));
    // The front is a staircase: nothing is known to be between two of its subjects.
    let line: String = front
        .iter()
        .enumerate()
        .map(|(at, dot)| {
            let (x, y) = (coordinate(x(dot.across)), coordinate(y(dot.up)));
            if at == 0 { format!("M{x} {y}") } else { format!("H{x}V{y}") }
        })
        .collect();
    let dots: String =
        all().map(|dot| format!("M{} {}h.01", coordinate(x(dot.across)), coordinate(y(dot.up)))).collect();
    let is_named = |dot: &Dot| dot.is_on_front || scatter.dots.len() <= MOST_NAMES;
    let said: Vec<&str> = front.iter().map(|dot| dot.name.as_str()).collect();
    html! {
        p.caption id=(id) { (scatter.caption) }
        div.wide role="group" aria-labelledby=(id) {
            figure {
                div.box.plot role="region" aria-label="chart" tabindex="0" {
                    svg role="img" aria-labelledby=(format!("{id}t {id}d")) viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) {
                        title id=(format!("{id}t")) { (scatter.up) " against " (scatter.across) }
                        desc id=(format!("{id}d")) { "On the front: " (said.join(", ")) ". The table has the numbers." }
                        @for tick in up.ticks() {
                            path.grid d=(format!("M{} {}H{}", coordinate(LEFT), coordinate(y(tick.value)), coordinate(WIDTH - RIGHT))) {}
                            text.value x=(coordinate(LEFT - 6.0)) y=(coordinate(y(tick.value) + 3.5)) { (tick.label) }
                        }
                        @for tick in across.ticks() {
                            text.name x=(coordinate(x(tick.value))) y=(coordinate(HEIGHT - BOTTOM + 16.0)) { (tick.label) }
                        }
                        text.early x="0" y="12" { (scatter.up) }
                        text.late x=(coordinate(WIDTH - RIGHT)) y=(coordinate(HEIGHT - 6.0)) { (scatter.across) }
                        path.line d=(line) {}
                        path.dots d=(dots) {}
                        @for dot in all().filter(|dot| is_named(dot)) {
                            @let (left, down) = (x(dot.across), y(dot.up));
                            @let room = dot.name.chars().count() as f64 * CHARACTER;
                            @if left + 7.0 + room < WIDTH {
                                text.early x=(coordinate(left + 7.0)) y=(coordinate(down - 4.0)) { (dot.name) }
                            } @else {
                                text.late x=(coordinate(left - 7.0)) y=(coordinate(down - 4.0)) { (dot.name) }
                            }
                        }
                    }
                }
            }
        }
    }
}
