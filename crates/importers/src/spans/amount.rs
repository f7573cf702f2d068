//! Amounts that a log states, and spans that lie within one another in a circle.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The largest count that a double holds exactly with all below it.
const COUNT_MAX: f64 = 9_007_199_254_740_992.0;

/// An amount as a log states it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in super::super) enum Amount {
    /// Nothing is said of it.
    #[default]
    None,
    /// It is said to be something that it cannot be: less than 0, part of a token, a word.
    Bad,
    Known(f64),
}

impl Amount {
    /// Reads a number of things.
    pub(in super::super) fn count(value: Option<&Value>) -> Self {
        Self::read(value, |it| it.fract() == 0.0 && it <= COUNT_MAX)
    }

    /// Reads an amount of money.
    pub(in super::super) fn cost(value: Option<&Value>) -> Self {
        Self::read(value, |_| true)
    }

    fn read(value: Option<&Value>, is_good: impl Fn(f64) -> bool) -> Self {
        let number = match value {
            None | Some(Value::Null) => return Self::None,
            Some(Value::String(text)) => text.parse().ok(),
            Some(value) => value.as_f64(),
        };
        // Without the sign of a zero.
        let good = number.filter(|it: &f64| it.is_finite() && *it >= 0.0 && is_good(*it)).map(f64::abs);
        good.map_or(Self::Bad, Self::Known)
    }

    pub(in super::super) fn is_stated(self) -> bool {
        self != Self::None
    }

    pub(in super::super) fn known(self) -> Option<f64> {
        if let Self::Known(value) = self { Some(value) } else { None }
    }

    /// Returns this one, and the other one if nothing is said of it.
    pub(in super::super) fn or(self, other: impl FnOnce() -> Self) -> Self {
        if self.is_stated() { self } else { other() }
    }

    /// Returns both together: a sum with a part that cannot be cannot be either.
    pub(in super::super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, one) | (one, Self::None) => one,
            (Self::Known(one), Self::Known(other)) => Self::Known(one + other),
            _ => Self::Bad,
        }
    }

    /// Returns a sum of counts; one that is too large to be exact would depend on the order, so it cannot be.
    pub(in super::super) fn exact(self) -> Self {
        match self {
            Self::Known(sum) if sum > COUNT_MAX => Self::Bad,
            sum => sum,
        }
    }
}

/// Returns the ids that lie on a circle, each with the one that it says is above it. Nothing can be within itself, so such a
/// statement says nothing about what is within what.
pub(in super::super) fn circles<'a>(above: &BTreeMap<&'a str, &'a str>) -> BTreeSet<&'a str> {
    let mut passed: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (walk, first) in above.keys().enumerate() {
        let mut at = *first;
        while let Some(next) = above.get(at) {
            match passed.get(at) {
                None => {
                    passed.insert(at, walk);
                    at = next;
                }
                // Back on the path of this walk: once around.
                Some(of) if *of == walk && found.insert(at) => at = next,
                Some(_) => break,
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_amount_is_what_it_can_be() {
        for (value, count, cost) in [
            (json!(0), Amount::Known(0.0), Amount::Known(0.0)),
            (json!(-0.0), Amount::Known(0.0), Amount::Known(0.0)),
            (json!("12"), Amount::Known(12.0), Amount::Known(12.0)),
            (json!(12.0), Amount::Known(12.0), Amount::Known(12.0)),
            (json!(0.5), Amount::Bad, Amount::Known(0.5)),
            (json!(-1), Amount::Bad, Amount::Bad),
            (json!("-1"), Amount::Bad, Amount::Bad),
            (json!(1u64 << 53), Amount::Known(COUNT_MAX), Amount::Known(COUNT_MAX)),
            (json!((1u64 << 53) + 2), Amount::Bad, Amount::Known(COUNT_MAX + 2.0)),
            (json!(1e300), Amount::Bad, Amount::Known(1e300)),
            (json!("NaN"), Amount::Bad, Amount::Bad),
            (json!("1e999"), Amount::Bad, Amount::Bad),
            (json!(true), Amount::Bad, Amount::Bad),
            (json!(null), Amount::None, Amount::None),
        ] {
            assert_eq!((Amount::count(Some(&value)), Amount::cost(Some(&value))), (count, cost), "{value}");
        }
        let one = Amount::Known(1.0);
        assert_eq!(one.and(Amount::None), one);
        assert_eq!(one.and(Amount::Bad).and(one), Amount::Bad);
        assert_eq!(Amount::Known(COUNT_MAX).and(Amount::Known(2.0)).exact(), Amount::Bad);
    }

    proptest! {
        #[test]
        fn circles_are_what_comes_back_to_itself(above in prop::collection::vec(0..12usize, 0..10)) {
            let names: Vec<String> = (0..12).map(|number| number.to_string()).collect();
            let name = |number: usize| names[number].as_str();
            let map = above.iter().enumerate().map(|(one, above)| (name(one), name(*above))).collect();
            let comes_back = |first: usize| {
                let mut at = first;
                (0..above.len()).any(|_| match above.get(at) {
                    Some(next) => {
                        at = *next;
                        at == first
                    }
                    None => false,
                })
            };
            let expected: BTreeSet<&str> = (0..12).filter(|it| comes_back(*it)).map(name).collect();
            prop_assert_eq!(circles(&map), expected);
        }
    }
}
