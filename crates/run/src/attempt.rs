//! One attempt at a step: what is asked, under which key it is kept, and what came of it.

use karat_core::facts::Digest;
use karat_evidence::canonical_json;
use karat_reader::Call;
use serde_json::{Value, json};

/// Nano-TAO in a TAO.
pub const NANO: f64 = 1e9;
/// The largest whole number that every reader of JSON keeps exactly: 2^53.
pub const EXACT: u64 = 1 << 53;

/// A request to an executor. Its text is canonical JSON of step, attempt, subnet, action and resolved parameters, and the
/// digest of the text is the key under which the attempt is recorded.
#[derive(Debug, Clone)]
pub struct Request {
    /// The id of the step.
    pub step: String,
    /// The number of the attempt at the step, from 1.
    pub attempt: u64,
    /// The text.
    pub text: String,
    /// The digest of the text.
    pub key: Digest,
}

impl Request {
    /// Makes the request of an attempt at a step.
    pub(crate) fn new(step: &str, attempt: u64, call: &Call, params: &Value) -> Self {
        let text = canonical_json(&json!({
            "step": step,
            "attempt": attempt,
            "subnet": call.subnet,
            "action": call.action,
            "params": params,
        }));
        let key = Digest::of(text.as_bytes());
        Self { step: step.to_owned(), attempt, text, key }
    }
}

karat_core::words! {
    /// Outcome of an attempt.
    pub enum Outcome {
        /// An output.
        Success = "success",
        /// No output.
        Failed = "failed",
        /// Stopped, because it took longer than the plan declares.
        Timeout = "timeout",
    }
}

/// The deepest nesting of an output. An item of evidence, in which it stands, has a limit too.
const DEPTH_MAX: usize = 32;

/// Checks an output against the form that the final output of a run must have.
///
/// # Errors
/// If it has another form, or is nested too deep.
pub fn check_output(output: &Value) -> Result<(), String> {
    let is_text = |value: Option<&Value>| value.is_none_or(|it| it.is_string() || it.is_null());
    let is_object = |value: Option<&Value>| value.is_none_or(|it| it.is_object() || it.is_null());
    let artifacts = output.get("artifacts");
    let inside = |name| artifacts.and_then(|artifacts| artifacts.get(name));
    let wrong = if !output.is_object() {
        "its output is not an object such as {\"text\": …}"
    } else if !is_text(output.get("text")) {
        "`text` of its output is not a text"
    } else if !is_object(artifacts) {
        "`artifacts` of its output is not an object"
    } else if !is_text(inside("code")) {
        "`artifacts.code` of its output is not a text"
    } else if !is_object(inside("metadata")) {
        "`artifacts.metadata` of its output is not an object"
    } else if is_deeper_than(output, DEPTH_MAX) {
        return Err(format!("its output is nested deeper than {DEPTH_MAX}"));
    } else {
        return Ok(());
    };
    Err(wrong.to_owned())
}

// The depth of the recursion is the limit.
fn is_deeper_than(value: &Value, depth: usize) -> bool {
    let Some(inside) = depth.checked_sub(1) else { return value.is_array() || value.is_object() };
    match value {
        Value::Array(elements) => elements.iter().any(|element| is_deeper_than(element, inside)),
        Value::Object(members) => members.values().any(|member| is_deeper_than(member, inside)),
        _ => false,
    }
}

/// An attempt that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The key of its request.
    pub key: Digest,
    /// The id of the step.
    pub step: String,
    /// Its number.
    pub number: u64,
    /// Its outcome.
    pub outcome: Outcome,
    /// The output, after a success.
    pub output: Option<Value>,
    /// The reason why there is no output.
    pub reason: Option<String>,
    /// Its cost.
    pub cost_nano_tao: u64,
    /// Its start, counted from that of the run.
    pub start_microseconds: u64,
    /// Its duration.
    pub duration_microseconds: u64,
}

impl Attempt {
    /// Returns its end, counted from the start of the run.
    pub(crate) fn end_microseconds(&self) -> u64 {
        self.start_microseconds.saturating_add(self.duration_microseconds)
    }
}
