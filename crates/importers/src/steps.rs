//! Steps of an agent in the order of a log, for items of kind `reasoning-trace`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::json::members_of;

/// Longest text of a step, and of all steps of a trace, in bytes; what is longer is cut.
const TEXT_MAX: usize = 32 << 10;
const ALL_MAX: usize = 8 << 20;
/// Most steps of a trace, so that it stays within the size of an item.
pub(super) const STEPS_MAX: usize = 50_000;
/// Most levels of what a tool was given.
const DEPTH_MAX: usize = 16;

/// Steps in order. A call of the tool whose last call failed is a recovery, any other call is a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Steps {
    list: Vec<Value>,
    bytes: usize,
    last_tool: Option<String>,
    failed_tool: Option<String>,
    /// Texts that were cut, and steps that were left out.
    pub cut: u64,
    pub over: u64,
}

impl Steps {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn into_list(self) -> Vec<Value> {
        self.list
    }

    /// Adds what the agent thought or said; nothing if that is blank.
    pub(super) fn thought(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.step("thought", Some(text), |_| {});
        }
    }

    /// Adds that the agent thought, where a log may not say what.
    pub(super) fn call_of_model(&mut self, text: Option<&str>) {
        self.step("thought", text, |_| {});
    }

    pub(super) fn call(&mut self, tool: &str, given: Option<Value>) {
        let kind = if self.failed_tool.as_deref() == Some(tool) { "error_recovery" } else { "tool_call" };
        let mut size = 0;
        let given = given.filter(|given| given.is_object() && is_small(given, 1, &mut size));
        let given = given.filter(|_| self.bytes.saturating_add(size) <= ALL_MAX);
        self.bytes += if given.is_some() { size } else { 0 };
        let name = self.short(tool);
        self.step(kind, None, |step| {
            step.insert("tool".into(), json!({ "name": name }));
            if let Some(given) = given {
                step.insert("input".into(), given);
            }
        });
        self.last_tool = Some(tool.to_owned());
        self.failed_tool = None;
    }

    /// Adds what came back; nothing if that is blank.
    pub(super) fn observation(&mut self, text: &str, has_failed: bool) {
        if has_failed {
            self.failed_tool.clone_from(&self.last_tool);
        }
        if !text.trim().is_empty() {
            self.step("observation", Some(text), |_| {});
        }
    }

    /// Adds a message of a conversation, as programs of OpenAI and those after them write it. `has_failed` says of what a tool
    /// returned whether the call failed.
    pub(super) fn message(&mut self, message: &Value, has_failed: impl Fn(&Value, &str) -> bool) {
        let text = text_of(message.get("content"));
        match message.get("role").and_then(Value::as_str) {
            Some("user") => self.observation(&text, false),
            Some("tool" | "function") => self.observation(&text, has_failed(message, &text)),
            Some("assistant") => {
                self.thought(&text);
                let calls = message.get("tool_calls").and_then(Value::as_array);
                for call in calls.into_iter().flatten() {
                    let call = call.get("function").unwrap_or(call);
                    let Some(tool) = call.get("name").and_then(Value::as_str) else { continue };
                    self.call(tool, call.get("arguments").and_then(members_of));
                }
            }
            _ => {}
        }
    }

    fn step(&mut self, kind: &str, text: Option<&str>, more: impl FnOnce(&mut Map<String, Value>)) {
        if self.list.len() >= STEPS_MAX {
            self.over += 1;
            return;
        }
        let mut step = Map::new();
        step.insert("step_id".into(), self.list.len().into());
        step.insert("type".into(), kind.into());
        if let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) {
            step.insert("content".into(), self.short(text).into());
        }
        more(&mut step);
        self.list.push(step.into());
    }

    fn short(&mut self, text: &str) -> String {
        let room = TEXT_MAX.min(ALL_MAX.saturating_sub(self.bytes));
        let short = cut(text, room);
        self.bytes += short.len();
        self.cut += u64::from(short.len() < text.len());
        short.to_owned()
    }
}

/// Something that happened in a run, of which a log has a record with a beginning.
#[derive(Debug, Clone)]
pub(super) struct Event {
    /// Nanoseconds since 1970; 0 if the log has no time.
    pub start: i128,
    pub id: String,
    /// The event that this one is a part of; empty for none.
    pub parent: String,
    pub act: Act,
    /// Words of the model, or the result of the tool.
    pub text: Option<String>,
    pub has_failed: bool,
}

/// The part of an event in the work of an agent.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Model,
    Tool { name: String, given: Option<Value> },
    Found,
    Other,
}

/// Returns the steps that events are, in the order in which they began, whatever the order of the log. Of calls of a model
/// within one another the innermost counts: often both are records of one call.
pub(super) fn of_events(mut events: Vec<Event>) -> Steps {
    events.sort_by(|one, other| (one.start, &one.id).cmp(&(other.start, &other.id)));
    let by_id: std::collections::BTreeMap<&str, &Event> =
        events.iter().map(|event| (event.id.as_str(), event)).collect();
    let mut outer: BTreeSet<&str> = BTreeSet::new();
    for event in events.iter().filter(|event| matches!(event.act, Act::Model)) {
        let mut above = event.parent.as_str();
        // What was passed before has all above it passed too, also in a circle.
        while outer.insert(above)
            && let Some(event) = by_id.get(above)
        {
            above = &event.parent;
        }
    }
    let mut steps = Steps::default();
    for event in &events {
        let text = event.text.as_deref();
        match &event.act {
            Act::Model if outer.contains(event.id.as_str()) => {}
            Act::Model => steps.call_of_model(text),
            Act::Tool { name, given } => {
                steps.call(name, given.clone());
                steps.observation(text.unwrap_or_default(), event.has_failed);
            }
            Act::Found => steps.observation(text.unwrap_or_default(), false),
            Act::Other => {}
        }
    }
    steps
}

/// Returns what a model said or a tool returned, out of the forms in which programs record it, cut to what a step holds.
pub(super) fn said(value: &Value) -> Option<String> {
    let text = said_in(value, 0)?;
    let text = cut(text.trim(), TEXT_MAX);
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns what a tool returned: what it said, or all of it as it is written.
pub(super) fn returned(value: &Value) -> Option<String> {
    said(value).or_else(|| {
        let is_empty =
            matches!(value, Value::Null) || value.as_str().is_some_and(|text| text.trim().is_empty());
        (!is_empty).then(|| cut(&value.to_string(), TEXT_MAX).to_owned())
    })
}

fn said_in(value: &Value, depth: usize) -> Option<String> {
    if depth > DEPTH_MAX {
        return None;
    }
    match value {
        // Some programs write JSON into a text, and some that into another one.
        Value::String(text) if depth < 2 && text.trim_start().starts_with(['{', '[', '"']) => {
            let parsed = serde_json::from_str::<Value>(text).ok();
            parsed.and_then(|value| said_in(&value, depth + 1)).or_else(|| Some(text.clone()))
        }
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let texts: Vec<String> = list.iter().filter_map(|value| said_in(value, depth + 1)).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        Value::Object(members) => {
            // The request for a tool is the step after this one.
            if members.get("type").and_then(Value::as_str).is_some_and(|kind| kind.contains("tool")) {
                return None;
            }
            const NAMES: &str =
                "prompt contents content text parts message message.content choices candidates output kwargs";
            NAMES.split(' ').find_map(|name| said_in(members.get(name)?, depth + 1))
        }
        _ => None,
    }
}

/// Returns the first text of a user in a list of messages, which may be written as a text of JSON.
pub(super) fn asked(messages: &Value) -> Option<String> {
    if let Value::String(text) = messages {
        return asked(&serde_json::from_str(text).ok().filter(|value| value != messages)?);
    }
    let list = messages;
    let list = list.get("messages").unwrap_or(list).as_array()?;
    let role = |message: &Value| {
        ["role", "message.role"].iter().any(|name| message.get(*name).is_some_and(|it| it == "user"))
    };
    said(list.iter().find(|message| role(message))?)
}

/// Returns the beginning of a text, at most that many bytes.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Returns whether a value is neither deep nor large, and adds its size.
fn is_small(value: &Value, depth: usize, size: &mut usize) -> bool {
    *size += match value {
        Value::String(text) => text.len() + 2,
        _ => 8,
    };
    if depth > DEPTH_MAX || *size > TEXT_MAX {
        return false;
    }
    match value {
        Value::Array(list) => list.iter().all(|value| is_small(value, depth + 1, size)),
        Value::Object(members) => members.iter().all(|(name, value)| {
            *size += name.len() + 4;
            is_small(value, depth + 1, size)
        }),
        _ => true,
    }
}

/// Returns the text of a message, which may be a list of parts.
pub(super) fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let text = |part: &Value| -> Option<String> {
                match part {
                    Value::String(text) => Some(text.clone()),
                    part => ["text", "content"]
                        .iter()
                        .find_map(|name| part.get(*name)?.as_str().map(str::to_owned)),
                }
            };
            let texts: Vec<String> = parts.iter().filter_map(text).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
