//! Operators on objects of a submission in Python, as a test may use them.
//!
//! Such an object answers for itself. A test that writes `abs(solve(4) - 2.5) < 0.01` would ask the object, which says
//! yes, and get its own expected value handed over besides. So an operator has an object as its result, or the test an
//! exception; and what came out of one has no number. Methods are not concerned: a test that calls one says that it
//! wants its answer.

use std::collections::BTreeSet;

use serde_json::Value;

/// Operators that compare: their answer would be the verdict.
const COMPARISONS: [&str; 5] = ["__contains__", "__ge__", "__gt__", "__le__", "__lt__"];

/// Operators that reckon.
const RECKONINGS: [&str; 15] = [
    "__abs__", "__add__", "__and__", "__floordiv__", "__invert__", "__mod__", "__mul__", "__neg__", "__or__",
    "__pow__", "__radd__", "__rmul__", "__rsub__", "__sub__", "__xor__",
];

/// Functions that make a number or a text of an object.
const NUMBERS: [&str; 4] = ["__float__", "__int__", "__len__", "__str__"];

/// The way between a test and the submission.
#[derive(Debug, Default)]
pub struct Proxy {
    /// The objects that came out of an operator.
    reckoned: BTreeSet<u64>,
}

impl Proxy {
    /// Returns the answer that a test gets to its question: that of the submission, or an exception.
    pub fn passed(&mut self, question: &str, answer: String) -> String {
        let Ok(asked) = serde_json::from_str::<Value>(question) else { return answer };
        let path = asked.get("path").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let name = path.last().and_then(Value::as_str).unwrap_or_default();
        let is_of_reckoned = || {
            let object = asked.get("object").and_then(Value::as_u64);
            object.is_some_and(|object| self.reckoned.contains(&object)) && path.len() == 1
        };
        if COMPARISONS.contains(&name) {
            return exception(
                "an object of the submission cannot be compared: compare values that it returns",
            );
        }
        if NUMBERS.contains(&name) && is_of_reckoned() {
            return exception(
                "the result of an operator of the submission is not a number: ask a method for it",
            );
        }
        let is_reckoning = RECKONINGS.contains(&name) || name == "__truediv__";
        if is_reckoning && answer.starts_with('=') {
            let object = answer.get(1..).and_then(|json| serde_json::from_str::<Value>(json).ok());
            let object = object.as_ref().and_then(Value::as_object).filter(|members| members.len() == 1);
            return match object.and_then(|members| members.get("object")).and_then(Value::as_u64) {
                Some(object) => {
                    self.reckoned.insert(object);
                    answer
                }
                None => exception(
                    "an operator of the submission has a plain value as its result: ask a method for it",
                ),
            };
        }
        // A loop over results, as `map` is, would take it for their end.
        if name != "__next__" && is_end(&answer) {
            return raised("RuntimeError", "the submission raised StopIteration");
        }
        answer
    }
}

/// Returns true if an answer is the exception that ends an iteration, or one made from it.
fn is_end(answer: &str) -> bool {
    let said = answer.strip_prefix('!').and_then(|json| serde_json::from_str::<Value>(json).ok());
    let kinds = said.as_ref().and_then(|said| said.get("kinds")).and_then(Value::as_array);
    kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "StopIteration"))
}

fn exception(words: &str) -> String {
    raised("TypeError", words)
}

/// Returns an exception as the guest packs it.
fn raised(kind: &str, words: &str) -> String {
    format!("!{}", serde_json::json!({"kinds": [kind], "words": words}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(proxy: &mut Proxy, question: &str, answer: &str) -> String {
        proxy.passed(question, answer.to_owned())
    }

    #[test]
    fn no_operator_gives_a_plain_value() {
        for name in COMPARISONS.iter().chain(&RECKONINGS).chain(&["__truediv__"]) {
            let question = format!(r#"{{"object": 3, "path": ["{name}"], "args": [], "named": {{}}}}"#);
            for answer in [
                r#"={"value": 0.0}"#, r#"={"double": "nan"}"#, r#"={"list": []}"#,
                r#"={"value": 1, "object": 2}"#, "=NaN", "=",
            ] {
                let text = passed(&mut Proxy::default(), &question, answer);
                assert!(text.starts_with("!{") && text.contains("TypeError"), "{name} {answer}: {text}");
            }
        }
        let question = r#"{"module": "solution", "path": ["solve"], "args": [], "named": {}}"#;
        assert_eq!(passed(&mut Proxy::default(), question, r#"={"value": 1}"#), r#"={"value": 1}"#);
    }

    #[test]
    fn what_came_out_of_an_operator_has_no_number_and_what_did_not_has() {
        let mut proxy = Proxy::default();
        let sum = r#"{"object": 1, "path": ["__add__"], "args": [{"object": 2}], "named": {}}"#;
        assert_eq!(passed(&mut proxy, sum, r#"={"object": 7}"#), r#"={"object": 7}"#);
        let float = |object: u64| format!(r#"{{"object": {object}, "path": ["__float__"], "args": []}}"#);
        assert!(passed(&mut proxy, &float(7), r#"={"value": 1.5}"#).contains("TypeError"));
        assert_eq!(passed(&mut proxy, &float(1), r#"={"value": 1.5}"#), r#"={"value": 1.5}"#);
        let method = r#"{"object": 7, "path": ["value"], "args": [], "named": {}}"#;
        assert_eq!(passed(&mut proxy, method, r#"={"value": 1.5}"#), r#"={"value": 1.5}"#);
    }

    #[test]
    fn the_end_of_an_iteration_is_one_only_where_it_is_asked_for() {
        let end = r#"!{"kinds": ["Mine", "StopIteration"], "words": ""}"#;
        let asked = |name: &str| format!(r#"{{"object": 0, "path": ["{name}"], "args": [], "named": {{}}}}"#);
        assert_eq!(passed(&mut Proxy::default(), &asked("__next__"), end), end);
        for name in ["solve", "__getitem__", "__iter__", "__add__"] {
            assert!(passed(&mut Proxy::default(), &asked(name), end).contains("RuntimeError"), "{name}");
        }
    }
}
