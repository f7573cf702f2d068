//! A trend in a cell: a line through some values, without an axis.

use maud::{Markup, html};

use super::scale::{Scale, coordinate, written};

/// The size of the drawing; it is stretched to its cell.
const WIDTH: f64 = 100.0;
const HEIGHT: f64 = 24.0;
/// The space above and below the line.
const ROOM: f64 = 2.5;

/// Draws a line through `values`, oldest first, on the axis `range`, with words for readers who cannot see it.
pub(super) fn draw(values: &[f64], range: (f64, f64), decimals: usize) -> Markup {
    let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return html! { td.absent { "no dates" } };
    };
    let scale = Scale::covering(Some(range), std::iter::empty());
    let y = |value: f64| ROOM + (1.0 - scale.place(value)) * (HEIGHT - 2.0 * ROOM);
    let step = WIDTH / (values.len().max(2) - 1) as f64;
    let points = values.iter().enumerate().map(|(at, &value)| (at as f64 * step, y(value)));
    let path: String = points
        .enumerate()
        .map(|(at, (x, y))| format!("{}{} {}", if at == 0 { "M" } else { "L" }, coordinate(x), coordinate(y)))
        .collect();
    // One value makes a short line.
    let path = if values.len() == 1 { format!("{path}h{}", coordinate(WIDTH)) } else { path };
    html! {
        td.trend {
            span.aloud { "from " (written(*first, decimals)) " to " (written(*last, decimals)) }
            svg aria-hidden="true" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" {
                path.line d=(path) {}
            }
        }
    }
}
