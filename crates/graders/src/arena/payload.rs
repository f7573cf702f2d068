//! The request that submits an answer: its shape, and the steps of its trajectory.

use serde_json::{Map, Value};

use super::members::{Member, Members};
use super::text;
use karat_evidence::json::problem::Problems;

/// Most steps of a trajectory.
pub const STEPS_MAX: usize = 1000;
/// Most UTF-16 code units of the input or output of a tool.
pub const TOOL_TEXT_MAX: usize = 5000;
/// Most UTF-16 code units of the response of a model.
pub const RESPONSE_TEXT_MAX: usize = 50_000;

/// A submission whose shape is right.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission<'a> {
    /// The answer, by field.
    pub answer: &'a Map<String, Value>,
    /// The harness that the agent says it played with.
    pub harness_id: Option<&'a str>,
    /// The trajectory, step by step as it was given, if any.
    pub replay_log: Option<Vec<Step<'a>>>,
    /// The same steps as JSON, over which the digests of a chain are taken.
    pub log: &'a [Value],
    /// The signed note of a harness about the match, if any: see [`HarnessStatement`](super::HarnessStatement).
    pub harness_statement: Option<&'a str>,
}

/// One step of a trajectory. What no grader reads (durations, metadata) is checked and left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// The moment as it was written: it need not be one, see [`validate_trajectory`](super::validate_trajectory).
    pub at: &'a str,
    /// The action.
    pub action: Action<'a>,
}

/// Action of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'a> {
    /// A tool was called.
    ToolCall {
        /// Its name.
        tool: &'a str,
        /// The input.
        input: &'a str,
        /// The output.
        output: Option<&'a str>,
    },
    /// A model was called.
    LlmCall {
        /// Its name.
        model: &'a str,
        /// Tokens in.
        input_tokens: u64,
        /// Tokens out.
        output_tokens: u64,
    },
}

/// Checks the shape of `{"answer", "metadata"?}`. Members that are not known are ignored. What the metadata claims about
/// tokens, calls and time is checked for its type and not believed: counts come from the trajectory, time from the arena.
///
/// # Errors
///
/// If parts do not fit: all of them: no answer or one that is not an object, metadata of other types, a trajectory of
/// more than [`STEPS_MAX`] steps, and what [`replay_log`] refuses.
pub fn submission(payload: &Value) -> Result<Submission<'_>, Problems> {
    let mut problems = Problems::default();
    let submission = read_at(payload, "$", &mut problems);
    submission.filter(|_| problems.is_empty()).ok_or(problems)
}

pub(super) fn read_at<'a>(payload: &'a Value, path: &str, problems: &mut Problems) -> Option<Submission<'a>> {
    let payload = Members::of(payload, path, problems)?;
    let answer = payload.require("answer", "an object", problems);
    let answer = answer.and_then(|answer| answer.members(problems));
    let mut harness_id = None;
    let mut replay_log = None;
    let mut log = &[][..];
    let mut harness_statement = None;
    if let Some(metadata) = payload.get("metadata").and_then(|metadata| metadata.members(problems)) {
        for claim in ["token_count", "tool_call_count", "wall_clock_secs"] {
            if let Some(claim) = metadata.get(claim) {
                any_number(&claim, problems);
            }
        }
        metadata.get("model_id").map(|model| model.text(problems));
        harness_id = metadata.get("harness_id").and_then(|harness| harness.text(problems));
        let given = metadata.get("replay_log");
        log = given.as_ref().and_then(|log| log.value.as_array()).map_or(log, Vec::as_slice);
        replay_log = given.and_then(|log| steps(&log, problems));
        harness_statement = metadata.get("harness_statement").and_then(|note| note.text(problems));
    }
    Some(Submission { answer: answer?.map(), harness_id, replay_log, log, harness_statement })
}

/// Checks the steps of a trajectory, given alone.
///
/// # Errors
///
/// If there are more than [`STEPS_MAX`] steps; if in a step a member is missing, a type is wrong, a text is longer than
/// [`TOOL_TEXT_MAX`] or [`RESPONSE_TEXT_MAX`], or a token count is not a whole number from 0 on.
pub fn replay_log(log: &Value) -> Result<Vec<Step<'_>>, Problems> {
    let mut problems = Problems::default();
    let steps = steps(&Member { value: log, path: "$.replay_log".to_owned() }, &mut problems);
    steps.filter(|_| problems.is_empty()).ok_or(problems)
}

fn steps<'a>(log: &Member<'a>, problems: &mut Problems) -> Option<Vec<Step<'a>>> {
    if log.value.as_array().is_some_and(|steps| steps.len() > STEPS_MAX) {
        log.refuse(&format!("at most {STEPS_MAX} steps"), "hand in the steps that matter", problems);
        return None;
    }
    let elements = log.elements(problems)?;
    Some(elements.iter().filter_map(|element| step(element, problems)).collect())
}

fn step<'a>(element: &Member<'a>, problems: &mut Problems) -> Option<Step<'a>> {
    let step = element.members(problems)?;
    let kind = step.require("type", "`tool_call` or `llm_call`", problems)?;
    let action = match kind.value.as_str() {
        Some("tool_call") => {
            let tool = required_text(&step, "tool", usize::MAX, problems);
            let input = required_text(&step, "input", TOOL_TEXT_MAX, problems);
            let output = optional_text(&step, "output", TOOL_TEXT_MAX, problems);
            tool.zip(input).map(|(tool, input)| Action::ToolCall { tool, input, output })
        }
        Some("llm_call") => {
            let model = required_text(&step, "model", usize::MAX, problems);
            let [input, output] = ["input_tokens", "output_tokens"]
                .map(|name| step.require(name, "a number of tokens", problems)?.count(0.0, problems));
            optional_text(&step, "response_text", RESPONSE_TEXT_MAX, problems);
            model.zip(input).zip(output).map(|((model, input_tokens), output_tokens)| Action::LlmCall {
                model,
                input_tokens,
                output_tokens,
            })
        }
        _ => {
            kind.refuse("`tool_call` or `llm_call`", "", problems);
            None
        }
    };
    let at = required_text(&step, "ts", usize::MAX, problems);
    if let Some(duration) = step.require("duration_ms", "a number of milliseconds", problems) {
        any_number(&duration, problems);
    }
    step.get("error").map(|error| error.flag(problems));
    step.get("metadata").map(|metadata| metadata.members(problems));
    at.zip(action).map(|(at, action)| Step { at, action })
}

fn any_number(member: &Member<'_>, problems: &mut Problems) {
    member.number(f64::MIN, f64::MAX, "a number", problems);
}

fn required_text<'a>(
    step: &Members<'a>,
    name: &str,
    most: usize,
    problems: &mut Problems,
) -> Option<&'a str> {
    step.require(name, "a text", problems)?;
    optional_text(step, name, most, problems)
}

fn optional_text<'a>(
    step: &Members<'a>,
    name: &str,
    most: usize,
    problems: &mut Problems,
) -> Option<&'a str> {
    let member = step.get(name)?;
    let text = member.text(problems)?;
    if !text::fits(text, most) {
        member.refuse(&format!("at most {most} UTF-16 code units"), "cut it to that length", problems);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn with_step(step: Value) -> Result<usize, Problems> {
        let payload = json!({"answer": {}, "metadata": {"replay_log": [step]}});
        submission(&payload).map(|submission| submission.replay_log.map_or(0, |log| log.len()))
    }

    fn tool_call() -> Value {
        json!({"type": "tool_call", "ts": "x", "tool": "bash", "input": "ls", "duration_ms": 5})
    }

    fn llm_call() -> Value {
        json!({"type": "llm_call", "ts": "x", "model": "m", "input_tokens": 1, "output_tokens": 2, "duration_ms": 5})
    }

    fn changed(mut step: Value, name: &str, value: Value) -> Value {
        step[name] = value;
        step
    }

    #[test]
    fn shapes() {
        for (payload, is_valid) in [
            (json!({"answer": {}}), true),
            (json!({"answer": {}, "metadata": {}, "more": 1}), true),
            (json!({"answer": {}, "metadata": {"more": 1, "token_count": 1.5}}), true),
            (json!({}), false),
            (json!([]), false),
            (json!({"answer": "text"}), false),
            (json!({"answer": null}), false),
            (json!({"answer": {}, "metadata": null}), false),
            (json!({"answer": {}, "metadata": {"token_count": "9"}}), false),
            (json!({"answer": {}, "metadata": {"replay_log": {}}}), false),
        ] {
            assert_eq!(submission(&payload).is_ok(), is_valid, "{payload}");
        }
    }

    #[test]
    fn steps_are_taken_apart() {
        assert_eq!(with_step(tool_call()), Ok(1));
        let log = json!([llm_call()]);
        let action = Action::LlmCall { model: "m", input_tokens: 1, output_tokens: 2 };
        assert_eq!(replay_log(&log), Ok(vec![Step { at: "x", action }]));
        for (step, path) in [
            (json!("step"), "$.metadata.replay_log[0]"),
            (json!({"ts": "x"}), "$.metadata.replay_log[0].type"),
            (changed(tool_call(), "type", json!("other")), "$.metadata.replay_log[0].type"),
            (changed(tool_call(), "tool", json!(null)), "$.metadata.replay_log[0].tool"),
            (changed(tool_call(), "error", json!("no")), "$.metadata.replay_log[0].error"),
            (changed(tool_call(), "metadata", json!([])), "$.metadata.replay_log[0].metadata"),
            (changed(llm_call(), "input_tokens", json!(-1)), "$.metadata.replay_log[0].input_tokens"),
            (changed(llm_call(), "output_tokens", json!(0.5)), "$.metadata.replay_log[0].output_tokens"),
            (changed(llm_call(), "duration_ms", json!("5")), "$.metadata.replay_log[0].duration_ms"),
        ] {
            let problems = with_step(step.clone()).unwrap_err();
            let paths: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
            assert_eq!(paths, [path], "{step}");
        }
    }

    #[test]
    fn limits_are_counted_in_utf16() {
        assert!(with_step(changed(tool_call(), "input", "🦀".repeat(2500).into())).is_ok());
        assert!(with_step(changed(tool_call(), "input", "🦀".repeat(2501).into())).is_err());
        assert!(with_step(changed(llm_call(), "response_text", "a".repeat(50_000).into())).is_ok());
        assert!(with_step(changed(llm_call(), "response_text", "a".repeat(50_001).into())).is_err());
        let log = Value::from(vec![tool_call(); STEPS_MAX]);
        assert_eq!(replay_log(&log).map(|steps| steps.len()), Ok(STEPS_MAX));
        assert_eq!(replay_log(&Value::from(vec![tool_call(); STEPS_MAX + 1])).unwrap_err().len(), 1);
    }
}
