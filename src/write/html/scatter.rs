//! Subjects between two values, such as quality and cost, with a line through those on the front.

use maud::{Markup, html};

use super::chart::Chart;
use super::scale::{Scale, coordinate};
use crate::document::figure::{Dot, Scatter};

const HEIGHT: f64 = 360.0;
/// Beyond this number only those on the front have their names beside them; the table has all.
const MOST_NAMES: usize = 30;

/// Draws the subjects.
pub(super) fn draw(id: &str, scatter: &Scatter) -> Markup {
    let all = || scatter.dots.iter();
    let across = Scale::covering(None, all().map(|dot| dot.across).chain([0.0]));
    let chart = Chart { height: HEIGHT, up: Scale::covering(None, all().map(|dot| dot.up)) };
    let mut front: Vec<&Dot> = all().filter(|dot| dot.is_on_front).collect();
    front.sort_by(|one, other| one.across.total_cmp(&other.across));
    // The front is a staircase: nothing is known to be between two of its subjects.
    let mut line = String::new();
    let mut before = None;
    for dot in &front {
        let (place, down) = (across.place(dot.across), chart.down(dot.up));
        match before.replace(down) {
            None => line.push_str(&format!("M{}", Chart::pair(place, down))),
            Some(last) => {
                line.push_str(&format!("L{}L{}", Chart::pair(place, last), Chart::pair(place, down)));
            }
        }
    }
    let is_named = |dot: &Dot| dot.is_on_front || scatter.dots.len() <= MOST_NAMES;
    let said: Vec<&str> = front.iter().map(|dot| dot.name.as_str()).collect();
    html! {
        p.caption id=(id) { (scatter.caption) }
        div.panels.wide role="group" aria-labelledby=(id) {
            figure {
                div.plot {
                    svg role="group" aria-labelledby=(format!("{id}t {id}d")) height=(HEIGHT) {
                        title id=(format!("{id}t")) { (scatter.up) " against " (scatter.across) }
                        desc id=(format!("{id}d")) { "On the front: " (said.join(", ")) ". The table has the numbers." }
                        (chart.ground())
                        @for tick in across.ticks() { (chart.below("name", across.place(tick.value), &tick.label)) }
                        (chart.paths(&[("front", &line)]))
                        @for dot in all() {
                            @let place = across.place(dot.across);
                            @let says = format!("{}: {}, {}", dot.name, dot.up_shown, dot.across_shown);
                            @let class = match (dot.is_partial, dot.is_on_front) {
                                (true, _) => "hollow",
                                (false, true) => "",
                                (false, false) => "rest",
                            };
                            (chart.dot(class, place, dot.up, &says))
                            @if is_named(dot) {
                                text class=(if place > 0.7 { "late" } else { "early" }) x=(Chart::across(place))
                                    dx=(if place > 0.7 { "-8" } else { "8" }) y=(coordinate(chart.down(dot.up) - 7.0)) { (dot.name) }
                            }
                        }
                    }
                }
                p.key { "Up: " (scatter.up) ". To the right: " (scatter.across) "." @if all().any(|dot| dot.is_partial) { " Hollow: costs are known in part." } }
            }
        }
    }
}
