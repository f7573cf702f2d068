//! Equality: of two values, and of two lists place by place.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Grade, Listing, Seen, all_or_nothing, described, share};
use karat_evidence::json::locate;

/// Options of [`exact_match`]. The default is the plain form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExactMatch {
    /// Tells `A` from `a`.
    pub case_sensitive: bool,
    /// Compares arrays element by element and objects member by member. Without it they equal nothing, themselves included.
    pub deep: bool,
}

/// Returns 1 if two values are the same, else 0: texts in lower case and with their white space, numbers as numbers.
/// Values of different types are never the same.
pub fn exact_match(submitted: &Value, expected: &Value, options: ExactMatch) -> Grade {
    let difference = difference(submitted, expected, options);
    Grade { value: all_or_nothing(difference.is_none()), seen: Seen::Match { difference } }
}

/// Returns the share of the expected items that [`exact_match`] finds at the same place; surplus items are ignored.
/// Where nothing is expected, 1 if nothing is submitted and else 0.
pub fn exact_match_ratio(submitted: &[Value], expected: &[Value], options: ExactMatch) -> Grade {
    let mut unmatched = Listing::default();
    for (at, item) in expected.iter().enumerate() {
        let agrees = submitted.get(at).is_some_and(|submitted| is_same(submitted, item, options));
        if !agrees {
            unmatched.add(|| at);
        }
    }
    let matched = expected.len() - unmatched.count;
    let value = if expected.is_empty() {
        all_or_nothing(submitted.is_empty())
    } else {
        share(matched, expected.len())
    };
    let (submitted, expected) = (submitted.len(), expected.len());
    Grade { value, seen: Seen::Matches { matched, submitted, expected, unmatched } }
}

fn is_same(submitted: &Value, expected: &Value, options: ExactMatch) -> bool {
    // The words of a difference cost time: they are for one pair of values, not for a list of them.
    first_difference(submitted, expected, options).is_none()
}

/// A step from a value to one of its parts.
enum Step<'a> {
    Element(usize),
    Member(&'a str),
}

/// Two parts that are compared, and how they are reached: the index of the pair they are parts of, and the step from there.
struct Pair<'a> {
    submitted: Option<&'a Value>,
    expected: Option<&'a Value>,
    from: Option<(usize, Step<'a>)>,
}

fn difference(submitted: &Value, expected: &Value, options: ExactMatch) -> Option<String> {
    let (pairs, at) = first_difference(submitted, expected, options)?;
    let pair = pairs.get(at)?;
    let words = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), described);
    let mut steps = Vec::new();
    let mut here = &pair.from;
    while let Some((parent, step)) = here {
        steps.push(step);
        here = &pairs.get(*parent)?.from;
    }
    let mut path = "$".to_owned();
    for step in steps.iter().rev() {
        match step {
            // Writing to a string cannot fail.
            Step::Element(at) => drop(write!(path, "[{at}]")),
            Step::Member(name) => locate::push_member(&mut path, name),
        }
    }
    Some(format!("{path}: {} is not {}", words(pair.submitted), words(pair.expected)))
}

/// Returns the pairs that were compared up to the first that differs, and its index. A list in place of recursion, so
/// that no depth of nesting is too deep.
fn first_difference<'a>(
    submitted: &'a Value,
    expected: &'a Value,
    options: ExactMatch,
) -> Option<(Vec<Pair<'a>>, usize)> {
    let mut pairs = vec![Pair { submitted: Some(submitted), expected: Some(expected), from: None }];
    let mut at = 0;
    while let Some(pair) = pairs.get(at) {
        let same = match (pair.submitted, pair.expected) {
            (Some(Value::Array(submitted)), Some(Value::Array(expected))) if options.deep => {
                let both = submitted.len().max(expected.len());
                pairs.extend((0..both).map(|element| Pair {
                    submitted: submitted.get(element),
                    expected: expected.get(element),
                    from: Some((at, Step::Element(element))),
                }));
                true
            }
            (Some(Value::Object(submitted)), Some(Value::Object(expected))) if options.deep => {
                let surplus = submitted.keys().filter(|name| !expected.contains_key(*name));
                pairs.extend(expected.keys().chain(surplus).map(|name| Pair {
                    submitted: submitted.get(name),
                    expected: expected.get(name),
                    from: Some((at, Step::Member(name))),
                }));
                true
            }
            (Some(Value::String(a)), Some(Value::String(b))) => {
                a == b || (!options.case_sensitive && a.to_lowercase() == b.to_lowercase())
            }
            (Some(Value::Number(a)), Some(Value::Number(b))) => a.as_f64() == b.as_f64(),
            (Some(Value::Bool(a)), Some(Value::Bool(b))) => a == b,
            (Some(Value::Null), Some(Value::Null)) => true,
            _ => false,
        };
        if !same {
            return Some((pairs, at));
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::mem::ManuallyDrop;

    use super::*;
    use serde_json::json;

    const PLAIN: ExactMatch = ExactMatch { case_sensitive: false, deep: false };
    const DEEP: ExactMatch = ExactMatch { case_sensitive: false, deep: true };

    fn value(a: Value, b: Value, options: ExactMatch) -> f64 {
        exact_match(&a, &b, options).value
    }

    #[test]
    fn scalars() {
        for (a, b, expected) in [
            (json!("Hello"), json!("hELLO"), 1.0),
            (json!("ΟΔΟΣ"), json!("οδος"), 1.0),
            (json!(" a"), json!("a"), 0.0),
            (json!(1), json!(1.0), 1.0),
            (json!(0), json!(-0.0), 1.0),
            (json!(1), json!("1"), 0.0),
            (json!(null), json!(null), 1.0),
            (json!(null), json!("null"), 0.0),
            (json!(true), json!("true"), 0.0),
            (json!(false), json!(0), 0.0),
            (json!({}), json!({}), 0.0),
        ] {
            assert_eq!(value(a.clone(), b.clone(), PLAIN), expected, "{a} {b}");
        }
        let sensitive = ExactMatch { case_sensitive: true, deep: false };
        assert_eq!(value(json!("A"), json!("a"), sensitive), 0.0);
    }

    #[test]
    fn a_deep_difference_is_named() {
        let difference = |a: &Value, b: &Value| match exact_match(a, b, DEEP).seen {
            Seen::Match { difference } => difference,
            other => panic!("{other:?}"),
        };
        let truth = json!({"hosts": ["web", {"port": 80}], "open": true});
        assert_eq!(difference(&json!({"open": true, "hosts": ["WEB", {"port": 80.0}]}), &truth), None);
        for (submitted, expected) in [
            (
                json!({"open": true, "hosts": ["web", {"port": 81}]}),
                "$.hosts[1].port: the number `81` is not the number `80`",
            ),
            (json!({"open": true, "hosts": ["web"]}), "$.hosts[1]: nothing is not an object"),
            (json!({"hosts": ["web", {"port": 80}]}), "$.open: nothing is not `true`"),
            (
                json!({"open": true, "hosts": ["web", {"port": 80}], "a b": 1}),
                "$[\"a b\"]: the number `1` is not nothing",
            ),
            (json!(["web"]), "$: an array of 1 is not an object"),
        ] {
            assert_eq!(difference(&submitted, &truth).as_deref(), Some(expected));
        }
    }

    #[test]
    fn ratio_counts_against_what_is_expected() {
        let ratio =
            |a: Value, b: Value| exact_match_ratio(a.as_array().unwrap(), b.as_array().unwrap(), PLAIN);
        assert_eq!(ratio(json!([]), json!([])).value, 1.0);
        assert_eq!(ratio(json!(["a"]), json!([])).value, 0.0);
        let grade = ratio(json!(["A", "x"]), json!(["a", "b", "c"]));
        assert_eq!(grade.value, 1.0 / 3.0);
        let unmatched = Listing { count: 2, first: vec![1, 2] };
        assert_eq!(grade.seen, Seen::Matches { matched: 1, submitted: 2, expected: 3, unmatched });
        // Surplus items neither help nor harm.
        assert_eq!(ratio(json!(["a", "b"]), json!(["a"])).value, 1.0);
    }

    #[test]
    fn depth_does_not_overflow() {
        // Never freed: freeing such a value is what would overflow here.
        let nest = |depth| ManuallyDrop::new((0..depth).fold(json!(1), |inner, _| Value::Array(vec![inner])));
        let [a, b] = [nest(10_000), nest(10_001)];
        assert_eq!(exact_match(&a, &a, DEEP).value, 1.0);
        assert_eq!(exact_match(&a, &b, DEEP).value, 0.0);
    }
}
