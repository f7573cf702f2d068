//! Positions of values on an axis, and the format of coordinates.

/// The farthest value; values beyond are drawn at the edge, so that no sum or difference overflows.
const FARTHEST: f64 = 1e15;

/// The space at both ends of an axis, as a share of its span.
const ROOM: f64 = 0.04;

/// An axis between two different finite values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    step: Step,
}

/// A round value on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    /// The value.
    pub value: f64,
    /// Its label.
    pub label: String,
    /// True if it is an even number of steps from 0: if only every other label has room, these are shown.
    pub is_even: bool,
}

/// The distance between two ticks: 1, 2 or 5 times a power of ten.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    size: f64,
    decimals: usize,
}

impl Scale {
    /// Covers `range`, if given, and all finite `values`; without a range it leaves a little space at both ends.
    pub(crate) fn covering(range: Option<(f64, f64)>, values: impl IntoIterator<Item = f64>) -> Self {
        let asked = range.into_iter().flat_map(|(low, high)| [low, high]);
        let held = |value: f64| value.is_finite().then(|| value.clamp(-FARTHEST, FARTHEST));
        let (mut low, mut high) = asked
            .chain(values)
            .filter_map(held)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        // One value, or values that a double hardly distinguishes, get space on both sides.
        let least = 1e-9 * low.abs().max(high.abs()).max(1.0);
        if high - low < least {
            let room = 0.1 * low.abs().max(high.abs()).max(1.0);
            (low, high) = (low - room, high + room);
        }
        if range.is_none() {
            let room = (high - low) * ROOM;
            (low, high) = (low - room, high + room);
        }
        Self { low, high, step: Step::of(high - low) }
    }

    /// Returns the position of `value`, from 0 at the low end to 1 at the high one.
    pub(crate) fn place(self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Returns round values along the axis, from low to high.
    pub(super) fn ticks(self) -> Vec<Tick> {
        let slack = self.step.size * 1e-6;
        let first = ((self.low - slack) / self.step.size).ceil();
        (0..12)
            .map(|index| first + f64::from(index))
            .take_while(|number| number * self.step.size <= self.high + slack)
            .map(|number| {
                let value = number * self.step.size;
                Tick { value, label: written(value, self.step.decimals), is_even: number % 2.0 == 0.0 }
            })
            .collect()
    }
}

impl Step {
    /// Cuts `span`, which is above 0 and finite, into three to seven parts.
    fn of(span: f64) -> Self {
        let (mut power, mut decimals) = (1.0, 0);
        while power * 10.0 <= span {
            power *= 10.0;
        }
        while power > span {
            power /= 10.0;
            decimals += 1;
        }
        let parts = span / power;
        let (size, decimals) = match parts {
            ..1.5 => (power / 5.0, decimals + 1),
            1.5..3.0 => (power / 2.0, decimals + 1),
            3.0..7.0 => (power, decimals),
            _ => (power * 2.0, decimals),
        };
        Self { size, decimals: if size >= 1.0 { 0 } else { decimals } }
    }
}

/// Formats `value` with `decimals` decimals; never a negative zero.
pub(super) fn written(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return String::from("no value");
    }
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if !rest.contains(|c: char| ('1'..='9').contains(&c)) => rest.to_owned(),
        _ => text,
    }
}

/// Formats a coordinate: at most two decimals, which is finer than a screen shows; 0 if it is not finite.
pub(super) fn coordinate(value: f64) -> String {
    let text = written(if value.is_finite() { value } else { 0.0 }, 2);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a share of the width, 0 to 1, as a coordinate.
pub(super) fn percent(share: f64) -> String {
    format!("{}%", coordinate(share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale) -> Vec<String> {
        scale.ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        assert_eq!(labels(Scale::covering(Some((0.0, 1.0)), [])), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::covering(None, [0.552, 0.704])), ["0.55", "0.60", "0.65", "0.70"]);
        assert_eq!(labels(Scale::covering(None, [1421.0, 1688.0])), ["1450", "1500", "1550", "1600", "1650"]);
        assert_eq!(labels(Scale::covering(None, [-0.3, 0.1])), ["-0.3", "-0.2", "-0.1", "0.0", "0.1"]);
    }

    #[test]
    fn whatever_is_given_there_is_an_axis() {
        let odd =
            [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 0.0, -0.0, 1e-300, 1e300, 0.7];
        for low in odd {
            for high in odd {
                for range in [None, Some((low, high))] {
                    let scale = Scale::covering(range, [low, high]);
                    assert!(scale.low < scale.high && scale.low.is_finite() && scale.high.is_finite());
                    let ticks = scale.ticks();
                    assert!((2..=12).contains(&ticks.len()), "{low} {high}: {ticks:?}");
                    assert!((0.0..=1.0).contains(&scale.place(0.5)));
                }
            }
        }
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(coordinate(12.3456), "12.35");
        assert_eq!(coordinate(-0.001), "0");
        assert_eq!(coordinate(100.0), "100");
        assert_eq!(percent(0.5), "50%");
    }

    #[test]
    fn numbers_have_no_odd_forms() {
        assert_eq!(written(0.6996, 3), "0.700");
        assert_eq!(written(-0.0004, 3), "0.000");
        assert_eq!(written(-0.06, 1), "-0.1");
        assert_eq!(written(f64::NAN, 2), "no value");
    }
}
