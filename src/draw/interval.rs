//! Intervals as bars: an estimate and its uncertainty, on an axis that all rows of a table share.

use std::ops::RangeInclusive;

/// An estimate with its ends, in the unit of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    /// The lower end.
    pub low: f64,
    /// The estimate.
    pub point: f64,
    /// The upper end.
    pub high: f64,
}

/// Returns the axis of all `spans`: their lowest to their highest end; 0 to 0 without any.
pub(crate) fn axis(spans: impl IntoIterator<Item = Span>) -> RangeInclusive<f64> {
    let ends = spans.into_iter().flat_map(|span| [span.low, span.point, span.high]);
    let found = ends.filter(|end| end.is_finite()).fold(None, |range: Option<(f64, f64)>, end| {
        let (low, high) = range.unwrap_or((end, end));
        Some((low.min(end), high.max(end)))
    });
    let (low, high) = found.unwrap_or((0.0, 0.0));
    low..=high
}

/// Draws `span` on `axis`, exactly `width` columns wide: `   ├──●───┤    `. A dot is the estimate; an end in the
/// cell of the dot is not drawn, and one beyond the axis is an arrow. Blanks if the estimate is not a number.
pub(crate) fn interval(span: Span, axis: &RangeInclusive<f64>, width: usize) -> String {
    let mut cells = vec![' '; width];
    if span.point.is_finite() && width > 0 {
        let (point, low, high) =
            (cell(span.point, axis, width), cell(span.low, axis, width), cell(span.high, axis, width));
        for (at, mark) in cells.iter_mut().enumerate() {
            *mark = match at {
                _ if at == point => '●',
                _ if at == low && low < point => {
                    if span.low < *axis.start() {
                        '◂'
                    } else {
                        '├'
                    }
                }
                _ if at == high && high > point => {
                    if span.high > *axis.end() {
                        '▸'
                    } else {
                        '┤'
                    }
                }
                _ if low < at && at < high => '─',
                _ => ' ',
            };
        }
    }
    cells.into_iter().collect()
}

/// Returns the cell of a value: the ends of the axis are the middles of the end cells. An axis of length 0 has
/// all values in the middle; a value beyond it goes to the nearer end, and NaN to the first.
fn cell(value: f64, axis: &RangeInclusive<f64>, width: usize) -> usize {
    let last = width.saturating_sub(1);
    let length = axis.end() - axis.start();
    if length <= 0.0 {
        return last / 2;
    }
    let share = ((value - axis.start()) / length).clamp(0.0, 1.0);
    // Shares are 0 to 1, so the product is a cell of the row; NaN becomes 0.
    (share * last as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(point: f64) -> Span {
        Span { low: point, point, high: point }
    }

    fn drawn(low: f64, point: f64, high: f64) -> String {
        interval(Span { low, point, high }, &(0.0..=10.0), 11)
    }

    #[test]
    fn ends_and_estimate_stand_where_their_values_are() {
        assert_eq!(drawn(2.0, 5.0, 9.0), "  ├──●───┤ ");
        assert_eq!(drawn(0.0, 0.0, 10.0), "●─────────┤");
        assert_eq!(drawn(0.0, 10.0, 10.0), "├─────────●");
        assert_eq!(drawn(4.8, 5.0, 5.2), "     ●     ");
        assert_eq!(drawn(4.0, 5.0, 6.0), "    ├●┤    ");
    }

    #[test]
    fn an_end_beyond_the_axis_is_an_arrow() {
        assert_eq!(drawn(-1.0, 5.0, 11.0), "◂────●────▸");
        assert_eq!(drawn(f64::NEG_INFINITY, 5.0, f64::INFINITY), "◂────●────▸");
    }

    #[test]
    fn nothing_is_drawn_of_what_is_no_number_and_no_width_is_broken() {
        assert_eq!(drawn(0.0, f64::NAN, 1.0), " ".repeat(11));
        assert_eq!(interval(at(5.0), &(5.0..=5.0), 5), "  ●  ");
        assert_eq!(interval(at(5.0), &(0.0..=9.0), 0), "");
        assert_eq!(interval(Span { low: 1.0, point: 5.0, high: 9.0 }, &(0.0..=9.0), 1), "●");
    }

    #[test]
    fn an_axis_holds_every_end() {
        assert_eq!(axis([Span { low: -1.0, point: 2.0, high: 3.0 }, at(7.0)]), -1.0..=7.0);
        assert_eq!(axis([Span { low: f64::NEG_INFINITY, point: 2.0, high: f64::NAN }]), 2.0..=2.0);
        assert_eq!(axis([]), 0.0..=0.0);
    }
}
