//! The values of a field: whether they fit a scale, are verdicts, or stand for something else.

use karat_core::scorecard::FactType;
use karat_evidence::cells;
use karat_evidence::json::document::Value;
use karat_evidence::profile::{Field, Shape};

use super::plan::column;
use crate::names::{has, words};
use crate::text::clean;

/// Numbers beyond this are not measurements that a scale fits.
const LARGEST: f64 = 1e15;

/// Checks that the values of a field differ, and are of a size that a scale fits.
pub(super) fn scale_of(field: &Field) -> Result<(), String> {
    match field.range() {
        _ if field.shape() == Shape::Boolean => {
            if is_of_one_flag(field) {
                Err(String::from("it is the same in every item"))
            } else {
                Ok(())
            }
        }
        Some((low, high)) if low == high => Err(format!("it is {low} in every item")),
        Some((low, high)) if low.abs().max(high.abs()) > LARGEST || high - low < 1.0 / LARGEST => {
            Err(String::from("its numbers are too large or too close for a scale"))
        }
        Some(_) => Ok(()),
        None => Err(String::from("it has no number")),
    }
}

fn is_of_one_flag(field: &Field) -> bool {
    let flags: Vec<bool> = field.values().0.iter().filter_map(|value| cells::flag(value)).collect();
    !(flags.contains(&true) && flags.contains(&false))
}

/// Returns whether every item has the same value, one that a scale can begin from; what can decide success may be 0.
pub(super) fn is_constant(field: &Field, can_decide: bool) -> bool {
    match field.range() {
        _ if field.shape() == Shape::Boolean => is_of_one_flag(field),
        Some((low, high)) => low == high && low <= LARGEST && (low > 0.0 || can_decide && low == 0.0),
        None => false,
    }
}

/// Returns whether all values are words of a verdict: they say which is better, whatever the field is called.
pub(super) fn is_verdict(field: &Field) -> bool {
    let mut values = field.values().0.iter().filter(|value| !cells::is_missing(value)).peekable();
    field.shape() == Shape::Boolean
        && values.peek().is_some()
        && values.all(|value| cells::verdict(value).is_some())
}

/// Returns why texts that look like verdicts or numbers are not read, and whether they are verdicts.
pub(super) fn unread(field: &Field) -> Option<(String, bool)> {
    let values: Vec<&String> = field.values().0.iter().filter(|value| !cells::is_missing(value)).collect();
    let has = |flag: bool| values.iter().any(|value| cells::verdict(value) == Some(flag));
    if has(true) && has(false) {
        let other = values.iter().find(|value| cells::flag(value).is_none())?;
        let why = "is neither passed nor failed; write each verdict as a number from 0 to 1";
        return Some((format!("`{}` {why}", clean(other)), true));
    }
    let is_number = |text: &str| cells::number(&text.replace(['%', '$', '€', '£', ',', ' '], "")).is_some();
    let Some(first) = values.iter().find(|value| cells::number(value).is_none()) else {
        let why = String::from("its numbers are texts; write them without quotes");
        return (!values.is_empty()).then_some((why, false));
    };
    let hint = cells::hint(Value::Text(first), FactType::Number)?;
    values
        .iter()
        .all(|value| is_number(value))
        .then(|| (format!("texts such as `{}`; {hint}", clean(first)), false))
}

/// Returns a warning for a lone value far from the others, such as -1 or 999, that often means a missing value.
pub(super) fn sentinel(field: &Field) -> Option<String> {
    let mut numbers: Vec<f64> = field.values().0.iter().filter_map(|value| cells::number(value)).collect();
    numbers.sort_by(f64::total_cmp);
    let is_code = |number: f64| [-1.0, -9.0, -99.0, -999.0, -9999.0].contains(&number);
    let (code, low, high) = match numbers.as_slice() {
        [code, low, .., high] | [code, low @ high] if is_code(*code) && *low >= 0.0 => (code, low, high),
        [low, .., high, code]
            if [99.0, 999.0, 9999.0].contains(code) && *low >= 0.0 && 9.0 * high <= *code =>
        {
            (code, low, high)
        }
        _ => return None,
    };
    Some(format!(
        "{code} among {low} to {high} looks like the mark of a missing value; leave it out of the data"
    ))
}

/// Returns whether a field is a rating as of an arena, which has no best value.
pub(super) fn is_endless(field: &Field) -> bool {
    let words = words(&column(field));
    let is_named = words.iter().any(|word| has("elo arena rating", word));
    is_named && field.range().is_some_and(|(_, high)| high > 100.0)
}
