//! Overlap of two sets.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Grade, Listing, Seen, all_or_nothing, described, share};
use crate::arena::text;
use karat_evidence::json::problem::{Problems, quoted};

/// Divisor of [`set_overlap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OverlapMeasure {
    /// Common members as a share of all members of either set (Jaccard 1901): surplus ones count against the submission.
    #[default]
    Jaccard,
    /// Common members as a share of the expected ones: surplus ones do not count.
    Recall,
}

/// Options of [`set_overlap`]. The default is the plain form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SetOverlap {
    /// Whole of which the common members are a share.
    pub measure: OverlapMeasure,
    /// Takes `A` for `a`; the plain form distinguishes them.
    pub ignore_case: bool,
}

/// Returns the overlap of two sets, given as lists: order and repetition do not count. Members are compared by their
/// text form, so that `1` and `"1"` are the same member.
///
/// Where nothing is expected, 1 if nothing is submitted and else 0. A submitted array or object is a member that is
/// never expected: it has no text form, and must not match every other of its type.
///
/// # Errors
///
/// If expected members are arrays or objects: every one.
pub fn set_overlap(submitted: &[Value], expected: &[Value], options: SetOverlap) -> Result<Grade, Problems> {
    let member = |value| {
        let form = text::form(value)?;
        Some(if options.ignore_case { form.to_lowercase().into() } else { form })
    };
    let mut problems = Problems::default();
    let mut wanted = BTreeSet::new();
    for (at, value) in expected.iter().enumerate() {
        match member(value) {
            Some(form) => drop(wanted.insert(form)),
            None => {
                let hint = "members of a set are compared by their text; use `exact_match` with `deep` for structures";
                problems.refuse(format!("$[{at}]"), described(value), "a scalar", hint);
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut given = BTreeSet::new();
    let mut surplus = Listing::default();
    for value in submitted {
        match member(value) {
            Some(form) => drop(given.insert(form)),
            None => surplus.add(|| described(value)),
        }
    }
    let [mut common, mut missing] = [Listing::default(), Listing::default()];
    for form in &wanted {
        let list = if given.contains(form) { &mut common } else { &mut missing };
        list.add(|| quoted(form));
    }
    given.iter().filter(|form| !wanted.contains(*form)).for_each(|form| surplus.add(|| quoted(form)));
    let whole = match options.measure {
        OverlapMeasure::Jaccard => common.count + missing.count + surplus.count,
        OverlapMeasure::Recall => wanted.len(),
    };
    let value =
        if wanted.is_empty() { all_or_nothing(surplus.count == 0) } else { share(common.count, whole) };
    Ok(Grade { value, seen: Seen::Overlap { common, missing, surplus } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const PLAIN: SetOverlap = SetOverlap { measure: OverlapMeasure::Jaccard, ignore_case: false };
    const RECALL: SetOverlap = SetOverlap { measure: OverlapMeasure::Recall, ignore_case: false };

    fn grade(a: &Value, b: &Value, options: SetOverlap) -> Grade {
        set_overlap(a.as_array().unwrap(), b.as_array().unwrap(), options).unwrap()
    }

    #[test]
    fn sets_of_text_forms() {
        for (a, b, expected) in [
            (json!([]), json!([]), 1.0),
            (json!([]), json!(["x"]), 0.0),
            (json!(["x"]), json!([]), 0.0),
            (json!([1, null, true]), json!(["1", "null", "true"]), 1.0),
            (json!(["a", "a", "a"]), json!(["a"]), 1.0),
            (json!(["A"]), json!(["a"]), 0.0),
            (json!([1.5e300]), json!(["1.5e+300"]), 1.0),
        ] {
            assert_eq!(grade(&a, &b, PLAIN).value, expected, "{a} {b}");
        }
        assert_eq!(grade(&json!(["A"]), &json!(["a"]), SetOverlap { ignore_case: true, ..PLAIN }).value, 1.0);
        assert_eq!(grade(&json!(["a", "z"]), &json!(["a", "b"]), RECALL).value, 0.5);
    }

    #[test]
    fn what_is_missing_and_what_is_surplus_is_named() {
        let Seen::Overlap { common, missing, surplus } =
            grade(&json!(["b", {}]), &json!(["a", "b"]), PLAIN).seen
        else {
            unreachable!()
        };
        assert_eq!(common.first, ["`b`"]);
        assert_eq!(missing.first, ["`a`"]);
        assert_eq!(surplus.first, ["an object"]);
    }

    #[test]
    fn one_object_does_not_stand_for_another() {
        assert_eq!(grade(&json!([{"a": 1}]), &json!(["[object Object]"]), PLAIN).value, 0.0);
        let problems = set_overlap(&[json!({})], &[json!({}), json!([])], PLAIN).unwrap_err();
        assert_eq!(problems.len(), 2);
    }

    #[test]
    fn of_a_long_list_the_first_are_shown() {
        let many: Vec<Value> = (0..100_000).map(|n| json!(n)).collect();
        let grade = set_overlap(&many, &[json!("x")], RECALL).unwrap();
        assert!(grade.detail().to_string().len() < 1000);
    }

    proptest! {
        #[test]
        fn guessing_everything_is_full_recall_but_not_jaccard(truth in prop::collection::btree_set(0u8..40, 1..20)) {
            let everything: Vec<Value> = (0u8..40).map(Value::from).collect();
            let truth: Vec<Value> = truth.into_iter().map(Value::from).collect();
            prop_assert_eq!(set_overlap(&everything, &truth, RECALL).unwrap().value, 1.0);
            let expected = truth.len() as f64 / 40.0;
            prop_assert_eq!(set_overlap(&everything, &truth, PLAIN).unwrap().value, expected);
        }
    }
}
