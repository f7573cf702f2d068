//! The check of the dimensions of a challenge as the arena receives them: a list of JSON objects.

use karat_core::number::Decimal;
use karat_core::scorecard::Scorecard;
use karat_core::scorecard::family::{self, DimensionInfo};
use serde_json::Value;

use super::primitives::described;

/// The grid on which weights are added: a sum of doubles would be off by more than a case at the tolerance bears.
const UNITS_PER_ONE: i128 = 1_000_000_000_000_000_000;
const PLACES: usize = 18;

/// Returns what forbids the dimensions of a challenge, `[{key, label, weight, description, color}]`; nothing if they are
/// allowed. Every member must be there and of its type: a weight is a number, and no text of one. Other members are
/// ignored. What is checked of the values is said at [`family::problems`]; weights are added exactly.
pub fn validate_dimensions(palette: &Scorecard, dimensions: &Value) -> Vec<String> {
    let Value::Array(dimensions) = dimensions else {
        return vec![format!("`dimensions` is {}, expected a list", described(dimensions))];
    };
    let mut problems = Vec::new();
    let mut sum = Some(0);
    let mut infos = Vec::new();
    for (place, dimension) in dimensions.iter().enumerate() {
        let path = format!("dimensions[{place}]");
        let Some(members) = dimension.as_object() else {
            problems.push(format!("`{path}` is {}, expected an object", described(dimension)));
            continue;
        };
        let mut found = |name: &str, expected: &str, is_so: fn(&Value) -> bool| {
            let value = members.get(name);
            if !value.is_some_and(is_so) {
                let found = value.map_or_else(|| "not given".to_owned(), described);
                problems.push(format!("`{path}.{name}` is {found}, expected {expected}"));
            }
            value
        };
        let mut text =
            |name| found(name, "a text", Value::is_string).and_then(Value::as_str).unwrap_or_default();
        let [key, label, description, color] = ["key", "label", "description", "color"].map(&mut text);
        let weight = found("weight", "a number", Value::is_number).and_then(Value::as_f64);
        sum = sum.zip(weight.and_then(exact)).map(|(sum, weight)| sum + weight);
        infos.push(DimensionInfo {
            key: key.to_owned(),
            label: label.to_owned(),
            description: description.to_owned(),
            color: color.to_owned(),
            // On the grid of scorecards, but never moved into the range or out of it.
            weight: weight.map_or(Decimal::ZERO, on_grid),
        });
    }
    if !problems.is_empty() {
        return problems;
    }
    problems = family::problems_of_choice(palette, &infos);
    problems.extend(infos.iter().flat_map(family::problems_of_texts));
    problems.extend(problem_of_sum(palette, sum));
    problems
}

/// Returns a weight on the grid of scorecards. Rounding moves none into its range.
fn on_grid(weight: f64) -> Decimal {
    let (least, most) = (Decimal::ZERO.millionths(), Decimal::ONE.millionths());
    let millionths = (weight * 1e6).round_ties_even() as i64;
    Decimal::from_millionths(if weight < 0.0 {
        millionths.min(least - 1)
    } else if weight > 1.0 {
        millionths.max(most + 1)
    } else {
        millionths
    })
}

/// Returns the shortest decimal of a weight from 0 to 1, which is what was written, in units.
fn exact(weight: f64) -> Option<i128> {
    if !(0.0..=1.0).contains(&weight) {
        return None;
    }
    let text = format!("{}", weight.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits: String = fraction.chars().chain(std::iter::repeat('0')).take(PLACES).collect();
    Some(whole.parse::<i128>().ok()? * UNITS_PER_ONE + digits.parse::<i128>().ok()?)
}

/// Returns what is wrong with the sum; nothing if a weight is outside its range, which is a problem of the weight.
fn problem_of_sum(palette: &Scorecard, sum: Option<i128>) -> Option<String> {
    let sum = sum?;
    let units = |decimal: Decimal| i128::from(decimal.millionths()) * (UNITS_PER_ONE / 1_000_000);
    let guard = palette.weight_sum;
    let target = guard.map_or(Decimal::ONE, |guard| guard.target);
    let tolerance = guard.map_or(0, |guard| units(guard.tolerance));
    let distance = (sum - units(target)).abs();
    if distance == 0 || distance < tolerance {
        return None;
    }
    let (whole, rest) = (sum / UNITS_PER_ONE, sum % UNITS_PER_ONE);
    let fraction = format!("{rest:018}");
    let sum = format!("{whole}.{fraction}");
    Some(format!(
        "the weights sum to {}, they must sum to {target}",
        sum.trim_end_matches('0').trim_end_matches('.')
    ))
}
