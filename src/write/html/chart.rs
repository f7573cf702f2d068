//! The ground of a chart: places across in percent, so that text keeps its size on every screen, and down in pixels.

use maud::{Markup, html};

use super::scale::{Scale, coordinate, percent};

/// The room to the left of the values, which the numbers of the axis need, and to the right, in percent.
const LEFT: f64 = 9.0;
const RIGHT: f64 = 2.0;
/// The width of the paths, in their units.
const UNITS: f64 = 1000.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 26.0;

/// A chart of this height, with an axis for the values.
pub(super) struct Chart {
    pub(super) height: f64,
    pub(super) up: Scale,
}

impl Chart {
    /// Returns the place of a share of the width.
    pub(super) fn across(share: f64) -> String {
        percent((LEFT + share * (100.0 - LEFT - RIGHT)) / 100.0)
    }

    /// Returns the place of a value.
    pub(super) fn down(&self, value: f64) -> f64 {
        TOP + (1.0 - self.up.place(value)) * (self.height - TOP - BOTTOM)
    }

    /// Returns a place as a path has it, rounded to what can be seen.
    pub(super) fn pair(share: f64, down: f64) -> String {
        format!("{} {}", coordinate((share * UNITS).round()), coordinate((down * 2.0).round() / 2.0))
    }

    /// Draws paths, whose lines keep their width.
    pub(super) fn paths(&self, paths: &[(&str, &str)]) -> Markup {
        html! {
            svg.paths aria-hidden="true" x=(percent(LEFT / 100.0)) width=(percent(1.0 - (LEFT + RIGHT) / 100.0)) height=(coordinate(self.height)) viewBox=(format!("0 0 {UNITS} {}", self.height))
                preserveAspectRatio="none" {
                @for (class, path) in paths { path class=(class) d=(path) vector-effect="non-scaling-stroke" {} }
            }
        }
    }

    /// Draws the lines of round values, with their numbers above them.
    pub(super) fn ground(&self) -> Markup {
        html! {
            @for tick in self.up.ticks() {
                @let y = self.down(tick.value);
                line.grid x1="0" x2="100%" y1=(coordinate(y)) y2=(coordinate(y)) {}
                text x="0" y=(coordinate(y - 4.0)) { (tick.label) }
            }
        }
    }

    /// Draws a value that matters as a line with its name at the end.
    pub(super) fn level(&self, name: &str, value: f64) -> Markup {
        let y = coordinate(self.down(value));
        html! {
            line.level x1="0" x2="100%" y1=(y) y2=(y) {}
            text.level x="100%" y=(coordinate(self.down(value) - 4.0)) { (name) }
        }
    }

    /// Draws a text below the values, at a share of the width.
    pub(super) fn below(&self, class: &str, share: f64, text: &str) -> Markup {
        html! { text class=(class) x=(Self::across(share)) y=(coordinate(self.height - 6.0)) { (text) } }
    }

    /// Draws a value as a dot, which says what it is under the pointer and to the keyboard.
    pub(super) fn dot(&self, class: &str, share: f64, value: f64, says: &str) -> Markup {
        html! {
            circle class=(class) cx=(Self::across(share)) cy=(coordinate(self.down(value))) r="4.5" tabindex="0" role="img"
                aria-label=(says) { title { (says) } }
        }
    }
}
