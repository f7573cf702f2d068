//! The answer of an executor: a JSON object with `output`, or with `error`, and perhaps `cost`.

use karat_evidence::json::parse::Limits;
use karat_evidence::json::value;
use karat_run::{EXACT, NANO, Outcome, check_output, quoted, shown};
use serde_json::{Map, Value};

use super::Executor;

/// The end of a call, without its time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub outcome: Outcome,
    pub output: Option<Value>,
    pub reason: Option<String>,
    pub cost_nano_tao: u64,
}

impl Executor {
    /// Reads the text of an answer. One that does not fit is a failed attempt, with the reason.
    pub(crate) fn answer(&self, text: &[u8]) -> Answer {
        if text.trim_ascii().is_empty() {
            return self.failed("it gave no answer".to_owned());
        }
        // What is wrong with a text is said with words of it.
        let (whole, wrong) = match json(text) {
            Ok(whole) => (whole, None),
            Err(problem) => (String::from_utf8_lossy(text).into(), Some(problem)),
        };
        if let Some(secret) = self.secrets.iter().find(|secret| secret.is_in(&whole)) {
            return self.failed(format!("its answer contains the secret `{}`", secret.name));
        }
        if let Some(problem) = wrong {
            return self.failed(format!("its answer: {problem}"));
        }
        let Value::Object(mut members) = whole else {
            return self.failed("its answer is not a JSON object".to_owned());
        };
        let cost = match members.remove("cost") {
            None | Some(Value::Null) => Ok(self.cost_nano_tao),
            Some(cost) => nano_tao(&cost).ok_or("`cost` in its answer is not an amount of TAO"),
        };
        let cost_nano_tao = match cost {
            Ok(cost) => cost,
            Err(reason) => return self.failed(reason.to_owned()),
        };
        match read(members) {
            Ok(output) => {
                Answer { outcome: Outcome::Success, output: Some(output), reason: None, cost_nano_tao }
            }
            Err(reason) => Answer { cost_nano_tao, ..self.failed(reason) },
        }
    }
}

/// Returns an amount of TAO in whole nano-TAO, to the nearest, if it is one.
pub(crate) fn nano_tao(cost: &Value) -> Option<u64> {
    let nano = (cost.as_f64()? * NANO).round_ties_even();
    // In that range every whole number is a double.
    (0.0..=EXACT as f64).contains(&nano).then_some(nano as u64)
}

fn read(mut members: Map<String, Value>) -> Result<Value, String> {
    let (output, error) = (members.remove("output"), members.remove("error"));
    if let Some(other) = members.keys().next() {
        return Err(format!("its answer has {}, and not only `output`, `error` and `cost`", quoted(other)));
    }
    match error {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => return Err(shown(&text, 200)),
        Some(_) => return Err("`error` in its answer is not a text".to_owned()),
    }
    let output = output.filter(|output| !output.is_null()).ok_or("its answer has no `output`")?;
    check_output(&output)?;
    Ok(output)
}

/// Reads JSON that an executor gave, or says what is wrong with it.
pub(super) fn json(text: &[u8]) -> Result<Value, String> {
    let limits = Limits { max_depth: Limits::DEEPEST, max_bytes: usize::MAX };
    value::read(text, &limits)
        .map_err(|problems| problems.iter().next().map_or_else(String::new, ToString::to_string))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::executor::{Kind, http::Service};
    use crate::secret::Secret;

    fn answer(text: &str) -> Answer {
        let executor = Executor {
            kind: Kind::Http(Service::default()),
            cost_nano_tao: 5,
            longest: Duration::from_secs(1),
            answer_bytes_max: 1000,
            secrets: vec![Secret::new("KEY", "hunter2-hunter2".to_owned())],
        };
        executor.answer(text.as_bytes())
    }

    #[test]
    fn an_answer_has_an_output_and_perhaps_a_cost() {
        let found = answer(r#"{"output": {"text": "a", "n": [1.0, 1e16]}, "cost": 0.0012}"#);
        assert_eq!((found.outcome, found.cost_nano_tao), (Outcome::Success, 1_200_000));
        assert_eq!(found.output.unwrap().to_string(), r#"{"n":[1,10000000000000000],"text":"a"}"#);
        assert_eq!(answer(r#"{"output": {}}"#).cost_nano_tao, 5);
    }

    #[test]
    fn any_other_answer_is_a_failed_attempt_with_a_reason() {
        let deep = format!(r#"{{"output": {{"a": {}{}}}}}"#, "[".repeat(40), "]".repeat(40));
        for (text, reason, cost) in [
            ("", "it gave no answer", 5),
            ("[]", "its answer is not a JSON object", 5),
            (
                "{",
                "its answer: $: found the end of the text, expected the rest of the JSON; the item is cut off: supply all of it (line 1, column 1)",
                5,
            ),
            (
                r#"{"cost": 0, "cost": 1, "output": {}}"#,
                "its answer: $.cost: found the key a second time, expected each key once; keep the one that is meant (line 1, column 21)",
                5,
            ),
            (
                r#"{"output": {"a": [9007199254740993]}}"#,
                "its answer: $.output.a[0]: found `9007199254740993`, expected a whole number that a double holds: any below 2^53; write it as a text (line 1, column 19)",
                5,
            ),
            ("{}", "its answer has no `output`", 5),
            (r#"{"output": null, "cost": 1}"#, "its answer has no `output`", 1_000_000_000),
            (r#"{"output": "a"}"#, "its output is not an object such as {\"text\": …}", 5),
            (r#"{"output": {"text": 1}}"#, "`text` of its output is not a text", 5),
            (r#"{"output": {"artifacts": []}}"#, "`artifacts` of its output is not an object", 5),
            (r#"{"output": {"artifacts": {"code": 1}}}"#, "`artifacts.code` of its output is not a text", 5),
            (
                r#"{"output": {"artifacts": {"metadata": 1}}}"#,
                "`artifacts.metadata` of its output is not an object", 5,
            ),
            (r#"{"output": {}, "cost": -1}"#, "`cost` in its answer is not an amount of TAO", 5),
            (r#"{"output": {}, "cost": 1e300}"#, "`cost` in its answer is not an amount of TAO", 5),
            (r#"{"output": {}, "cost": "1"}"#, "`cost` in its answer is not an amount of TAO", 5),
            (r#"{"error": "no such\u001b[2J page", "cost": 0.000000002}"#, "no such\u{fffd}[2J page", 2),
            (r#"{"error": 1}"#, "`error` in its answer is not a text", 5),
            (
                r#"{"output": {}, "price": 1}"#,
                "its answer has `price`, and not only `output`, `error` and `cost`",
                5,
            ),
            (r#"{"output": {"a": [{"hunter2-hunter2": 1}]}}"#, "its answer contains the secret `KEY`", 5),
            (r#"{"output": hunter2-hunter2}"#, "its answer contains the secret `KEY`", 5),
            (r#"{"error": "bad key hunter2\u002dhunter2"}"#, "its answer contains the secret `KEY`", 5),
            (deep.as_str(), "its output is nested deeper than 32", 5),
        ] {
            let found = answer(text);
            let expected = Answer {
                outcome: Outcome::Failed,
                output: None,
                reason: Some(reason.to_owned()),
                cost_nano_tao: cost,
            };
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn amounts_are_whole_nano_tao() {
        for (cost, nano) in [(json!(0), Some(0)), (json!(0.1), Some(100_000_000)), (json!(2e-10), Some(0))] {
            assert_eq!(nano_tao(&cost), nano);
        }
        assert_eq!(nano_tao(&json!(9_007_199.254_740_992)), Some(EXACT));
        assert_eq!(nano_tao(&json!(9_007_200)), None);
    }
}
