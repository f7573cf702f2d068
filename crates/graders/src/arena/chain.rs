//! The log of a match that was made for this match and no other: its nonce, and the digests that hold its steps together.

use karat_core::facts::Digest;
use serde_json::Value;

use super::payload::{Action, Step};
use super::trajectory::{
    MadeForMatch, TrajectoryCheck, TrajectoryGrade, TrajectoryOptions, TrajectoryWarning, Window,
    milliseconds,
};
use crate::quality::is_nested;
use karat_evidence::json::parse::Limits;
use karat_evidence::json::problem::quoted;
use karat_evidence::json::value::canonical_json;

/// The member of a step that ties it to the one before: the nonce of the match in the first step, in every other the SHA-256
/// of the canonical JSON of the step before, 64 hexadecimal digits.
const PREV: &str = "prev";

/// Ties steps into a chain that begins with the nonce of their match: each gets a `prev`. Recurses as deep as the steps.
pub fn chain(nonce: &str, steps: Vec<Value>) -> Vec<Value> {
    let mut prev = nonce.to_owned();
    let tied = steps.into_iter().map(|mut step| {
        if let Value::Object(members) = &mut step {
            members.insert(PREV.to_owned(), prev.as_str().into());
        }
        prev = digits_of(&step);
        step
    });
    tied.collect()
}

/// Adds to a grade the checks that only a log made for the match with that nonce passes. All of them decide.
///
/// `log` has the same steps as JSON.
pub(super) fn check_made_for(
    grade: &mut TrajectoryGrade,
    log: &[Value],
    steps: &[Step<'_>],
    nonce: &str,
    window: Window,
    options: &TrajectoryOptions,
) {
    use TrajectoryCheck::{Chained, DurationsPossible, TimesInOrder, TokensCounted};

    let mut warn = |check, step, message| {
        grade.warnings.push(TrajectoryWarning { check, step: Some(step), message });
    };
    let mut expected = Some(nonce.to_owned());
    let longest = (window.milliseconds() + 2 * i64::from(options.grace_milliseconds)) as f64;
    let mut latest = None;
    for (at, (value, step)) in log.iter().zip(steps).enumerate() {
        let prev = value.get(PREV).and_then(Value::as_str);
        if expected.is_none() || prev != expected.as_deref() {
            // Digests of steps are not told: others could find out from them what a short step says.
            let what = if at == 0 { "the nonce of the match" } else { "the digest of the step before" };
            warn(Chained, at, format!("`{PREV}` is not {what}"));
        }
        // To write down what is nested deeper than any item that is read from text would take as much of the stack.
        expected = (!is_nested(value, Limits::DEEPEST)).then(|| digits_of(value));
        let moment = milliseconds(step.at);
        if let (Some(moment), Some(before)) = (moment, latest)
            && moment < before
        {
            let message = format!("{} is {} ms before the step before", quoted(step.at), before - moment);
            warn(TimesInOrder, at, message);
        }
        latest = moment.max(latest);
        let duration = value.get("duration_ms").and_then(Value::as_f64).unwrap_or_default();
        if !(0.0..=longest).contains(&duration) {
            let message = format!("it took {duration} ms, where the match took {} ms", window.milliseconds());
            warn(DurationsPossible, at, message);
        }
        let is_error = value.get("error") == Some(&Value::Bool(true));
        if let Action::LlmCall { input_tokens: 0, output_tokens: 0, .. } = step.action
            && !is_error
        {
            warn(TokensCounted, at, String::from("a model call that took no token, and did not fail"));
        }
    }
    let is_met = |check| grade.warnings.iter().all(|warning| warning.check != check);
    let [chained, times_in_order, durations_possible, tokens_counted] =
        [Chained, TimesInOrder, DurationsPossible, TokensCounted].map(is_met);
    grade.valid &= chained && times_in_order && durations_possible && tokens_counted;
    grade.made_for_match = Some(MadeForMatch { chained, times_in_order, durations_possible, tokens_counted });
}

/// Returns the 64 hexadecimal digits of the SHA-256 of a step in canonical form.
fn digits_of(step: &Value) -> String {
    let Digest(bytes) = Digest::of(canonical_json(step).as_bytes());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::arena::{replay_log, validate_trajectory};

    const NONCE: &str = "5f0c1d";

    /// Returns a log of these steps, each tied to the one before.
    fn chained(nonce: &str, steps: &[Value]) -> Value {
        chain(nonce, steps.to_vec()).into()
    }

    fn llm(second: u32) -> Value {
        json!({"type": "llm_call", "ts": format!("2026-03-01T12:00:{second:02}Z"), "model": "m", "input_tokens": 10,
            "output_tokens": 2, "duration_ms": 20.5})
    }

    fn grade(log: &Value) -> TrajectoryGrade {
        let window = Window::parse("2026-03-01T12:00:00Z", "2026-03-01T12:01:00Z").unwrap();
        let (steps, options) = (replay_log(log).unwrap(), TrajectoryOptions::default());
        let mut grade = validate_trajectory(&steps, window, None, &options);
        check_made_for(&mut grade, log.as_array().unwrap(), &steps, NONCE, window, &options);
        grade
    }

    fn with(mut step: Value, name: &str, value: Value) -> Value {
        step[name] = value;
        step
    }

    #[test]
    fn what_a_log_must_hold() {
        use TrajectoryCheck::{Chained, DurationsPossible, NonEmpty, TimesInOrder, TokensCounted};
        let failed = "error";
        let without_tokens = with(with(llm(1), "input_tokens", json!(0)), "output_tokens", json!(0));
        for (steps, expected) in [
            (vec![llm(1), llm(2), llm(3)], vec![]),
            // Calls at the same moment are calls side by side.
            (vec![llm(1), llm(1)], vec![]),
            (vec![llm(2), llm(1)], vec![TimesInOrder]),
            (vec![llm(1), with(llm(2), "duration_ms", json!(-1))], vec![DurationsPossible]),
            (vec![with(llm(1), "duration_ms", json!(70_001))], vec![DurationsPossible]),
            (vec![llm(1), without_tokens.clone()], vec![TokensCounted]),
            (vec![llm(1), with(without_tokens.clone(), failed, json!(true))], vec![]),
            (vec![with(without_tokens, failed, json!(false))], vec![TokensCounted]),
        ] {
            let grade = grade(&chained(NONCE, &steps));
            assert_eq!(grade.failed_checks(), expected, "{steps:?}");
            assert_eq!(grade.valid, expected.is_empty());
        }
        assert_eq!(grade(&json!([])).failed_checks(), [NonEmpty]);
        // Of another match, without a chain, and with one that begins later.
        let steps = [llm(1), llm(2)];
        for log in [chained("other", &steps), json!(steps), json!([llm(1), chained(NONCE, &steps)[1]])] {
            let grade = grade(&log);
            assert_eq!((grade.failed_checks(), grade.valid), (vec![Chained], false), "{log}");
        }
    }

    #[test]
    fn the_chain_does_not_depend_on_how_a_step_is_written() {
        let log = chained(
            NONCE,
            &[
                json!({"type": "llm_call", "ts": "2026-03-01T12:00:01Z", "model": "m",
            "input_tokens": 1e1, "output_tokens": 2.0, "duration_ms": 5}),
                llm(2),
            ],
        );
        assert!(grade(&log).valid);
        let text = serde_json::to_string_pretty(&log).unwrap().replace("10.0", "10");
        assert!(grade(&serde_json::from_str(&text).unwrap()).valid);
    }

    proptest! {
        /// No step can be changed, left out, exchanged or added before the last one.
        #[test]
        fn a_changed_log_is_not_valid(count in 2..8usize, at in 0..7usize, how in 0..4usize) {
            let steps: Vec<Value> = (0..count).map(|at| llm(at as u32)).collect();
            let mut log = chained(NONCE, &steps).as_array().unwrap().clone();
            prop_assert!(grade(&Value::from(log.clone())).valid);
            let at = at % (count - 1);
            match how {
                0 => log[at]["output_tokens"] = json!(1),
                1 => drop(log.remove(at)),
                2 => log.swap(at, at + 1),
                _ => log.insert(at, llm(at as u32)),
            }
            prop_assert!(!grade(&Value::from(log)).made_for_match.unwrap().chained);
        }
    }
}
