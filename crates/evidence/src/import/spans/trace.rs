//! Spans added up by trace.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::facts::Outcome;
use karat_core::timestamp::Timestamp;
use serde_json::{Map, Value};

use super::super::json::name;
use super::super::out::{Out, Run, fact_name, known, plain};
use super::super::{Fault, Input, Stop};

/// Most traces of a file.
const TRACES_MAX: usize = 4 << 20;

/// One span, whatever it was written in.
pub(super) struct Span {
    pub trace: String,
    pub id: String,
    /// Empty for the root.
    pub parent: String,
    pub name: String,
    /// Nanoseconds since 1970.
    pub start: Option<i128>,
    pub end: Option<i128>,
    pub is_error: bool,
    pub attributes: Map<String, Value>,
    /// Results of evaluations of what it did, by name.
    pub evaluations: Vec<(String, f64)>,
    pub service: Option<String>,
}

/// The traces of a file.
#[derive(Default)]
pub(super) struct Traces {
    traces: BTreeMap<String, Trace>,
    /// Spans that were there before: an exporter sends again what it is not sure of.
    repeated: u64,
}

#[derive(Default)]
struct Trace {
    place: String,
    start: Option<i128>,
    end: Option<i128>,
    /// Names in the order in which they are preferred.
    agent: Option<String>,
    model: Option<String>,
    service: Option<String>,
    root: Option<String>,
    tools: u64,
    errors: u64,
    is_agentic: bool,
    evaluations: Vec<(String, f64)>,
    /// Of a span that karat wrote: id, task, outcome and seconds of the item.
    item: Option<(String, Option<String>, Option<Outcome>, Option<f64>)>,
    /// Spans by id: that above, and what was used.
    spans: BTreeMap<String, Used>,
}

/// Amounts that a span says were used: often the same that a span within it says.
struct Used {
    parent: String,
    is_call: bool,
    tokens: Option<f64>,
    cost: Option<f64>,
}

impl Trace {
    /// Returns the spans that are `meant` and have none of these within them.
    fn innermost(&self, meant: impl Fn(&Used) -> bool) -> impl Iterator<Item = &Used> {
        let mut outer: BTreeSet<&str> = BTreeSet::new();
        for span in self.spans.values().filter(|span| meant(span)) {
            let mut above = span.parent.as_str();
            // A span above that was passed before has all above it passed too, also in a circle.
            while outer.insert(above)
                && let Some(span) = self.spans.get(above)
            {
                above = &span.parent;
            }
        }
        let found = self.spans.iter().filter(move |(id, _)| !outer.contains(id.as_str()));
        found.map(|(_, span)| span).filter(move |span| meant(span))
    }

    fn tokens(&self) -> Option<f64> {
        self.innermost(|span| span.tokens.is_some()).map(|span| span.tokens).fold(None, sum)
    }

    fn calls(&self) -> u64 {
        self.innermost(|span| span.is_call).count() as u64
    }

    /// Returns the cost, and whether it lacks that of some calls.
    fn cost(&self) -> (Option<f64>, bool) {
        let cost = self.innermost(|span| span.cost.is_some()).map(|span| span.cost).fold(None, sum);
        let lacks =
            self.innermost(|span| span.is_call || span.cost.is_some()).any(|span| span.cost.is_none());
        (cost, lacks)
    }
}

/// The part of a span in the work of an agent.
enum Part {
    Call,
    Tool,
    Other,
    None,
}

/// Returns an attribute, written flat or nested.
fn get<'a>(attributes: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    if let Some(value) = attributes.get(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    let mut value = attributes.get(first)?;
    for part in rest.split('.') {
        value = value.get(part)?;
    }
    Some(value)
}

impl Span {
    fn text(&self, path: &str) -> Option<String> {
        get(&self.attributes, path).and_then(name)
    }

    fn number(&self, path: &str) -> Option<f64> {
        match get(&self.attributes, path)? {
            Value::String(text) => text.parse().ok().filter(|it: &f64| it.is_finite()),
            value => value.as_f64(),
        }
    }

    fn part(&self) -> Part {
        if let Some(kind) = self.text("openinference.span.kind") {
            return match kind.as_str() {
                "LLM" | "EMBEDDING" => Part::Call,
                "TOOL" => Part::Tool,
                _ => Part::Other,
            };
        }
        match self.text("gen_ai.operation.name").as_deref() {
            Some("chat" | "text_completion" | "generate_content" | "embeddings" | "completion") => Part::Call,
            Some("execute_tool") => Part::Tool,
            Some(_) => Part::Other,
            None => {
                let is_call = self.text("gen_ai.request.model").is_some() && self.tokens().is_some();
                let is_any = self.attributes.keys().any(|key| key.starts_with("gen_ai."));
                if is_call {
                    Part::Call
                } else if is_any {
                    Part::Other
                } else {
                    Part::None
                }
            }
        }
    }

    /// Returns tokens in both vocabularies of GenAI, and in that of OpenInference; cached ones are within the input.
    fn tokens(&self) -> Option<f64> {
        let either = |names: [&str; 3]| names.iter().find_map(|name| self.number(name));
        let input =
            either(["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"]);
        let output = either([
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
        ]);
        match (input, output) {
            (None, None) => self.number("llm.token_count.total"),
            (input, output) => Some(input.unwrap_or_default() + output.unwrap_or_default()),
        }
    }
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    Some(one.unwrap_or_default() + other?)
}

impl Traces {
    pub(super) fn add(&mut self, place: &str, span: Span) -> Result<(), Stop> {
        if span.trace.is_empty() {
            return Err(Fault::new(place, "a span without the id of its trace", "the id").into());
        }
        if self.traces.len() >= TRACES_MAX {
            return Err(Fault::new(place, "more than four million traces", "fewer in a file").into());
        }
        let trace = self.traces.entry(span.trace.clone()).or_default();
        let id = if span.id.is_empty() { format!("span {}", trace.spans.len()) } else { span.id.clone() };
        if trace.spans.contains_key(&id) {
            self.repeated += 1;
            return Ok(());
        }
        if trace.place.is_empty() {
            trace.place = place.to_owned();
        }
        trace.start = trace.start.into_iter().chain(span.start).min();
        trace.end = trace.end.max(span.end);
        trace.errors += u64::from(span.is_error);
        let part = span.part();
        trace.is_agentic |= !matches!(part, Part::None);
        if span.parent.is_empty() {
            trace.root = Some(span.name.clone());
        }
        if matches!(part, Part::Call) {
            let model = ["gen_ai.request.model", "llm.model_name", "gen_ai.response.model"];
            trace.model = trace.model.take().or_else(|| model.iter().find_map(|name| span.text(name)));
        }
        trace.tools += u64::from(matches!(part, Part::Tool));
        if let Some(id) = span.text("karat.id") {
            let outcome = span.text("karat.outcome").and_then(|name| Outcome::from_name(&name));
            trace.item = Some((id, span.text("karat.task"), outcome, span.number("karat.seconds")));
        }
        let used = Used {
            // A span within itself is corrupt, and stands alone.
            parent: if span.parent == span.id { String::new() } else { span.parent.clone() },
            is_call: matches!(part, Part::Call),
            tokens: span.tokens(),
            cost: span.number("llm.cost.total").or_else(|| span.number("gen_ai.usage.cost")),
        };
        trace.spans.insert(id, used);
        let agent = span.text("gen_ai.agent.name").or_else(|| span.text("agent.name"));
        if agent.is_some() && (trace.agent.is_none() || span.parent.is_empty()) {
            trace.agent = agent;
        }
        trace.service = trace.service.take().or(span.service);
        trace.evaluations.extend(span.evaluations);
        Ok(())
    }

    pub(super) fn end(self, input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
        out.left_out_times("a span that was there before", self.repeated);
        for (id, trace) in self.traces {
            if !trace.is_agentic {
                out.left_out("a trace without a span of a model or an agent");
                continue;
            }
            let (tokens, calls, (cost, lacks)) = (trace.tokens(), trace.calls(), trace.cost());
            let names = [trace.agent, trace.service, trace.root, trace.model];
            let subject = names.into_iter().flatten().find(|name| !name.trim().is_empty());
            if cost.is_some() && lacks {
                out.left_out("a cost that only some calls of a trace have");
            }
            let nanoseconds = trace.start.zip(trace.end).map(|(start, end)| end - start);
            let mut run = Run {
                subject: subject.unwrap_or_else(|| input.stem().to_owned()),
                id: id.clone(),
                // 0 means that the moment is not known.
                time: trace.start.filter(|start| *start > 0).and_then(written),
                // Below nanoseconds there is nothing, so this is the nearest number.
                seconds: nanoseconds.filter(|long| *long >= 0).map(|long| long as f64 / 1e9),
                tokens: known(out, "a number of tokens", tokens),
                cost_usd: known(out, "a cost", cost.filter(|_| !lacks)),
                ..Run::default()
            };
            let counts = [("calls", calls), ("tool_calls", trace.tools), ("errors", trace.errors)];
            for (name, count) in counts {
                run.other.extend(plain(count as f64).map(|count| (name.to_owned(), count.into())));
            }
            let wanted = out.options.score.as_deref().unwrap_or("solved");
            let chosen = trace.evaluations.iter().position(|(name, _)| name == wanted);
            for (at, (name, value)) in trace.evaluations.iter().enumerate() {
                if Some(at) == chosen {
                    run.solved = Some(*value);
                } else {
                    run.other.extend(plain(*value).map(|value| (fact_name("score_", name), value.into())));
                }
            }
            let is_own = trace.item.is_some();
            if let Some((id, task, outcome, seconds)) = trace.item {
                (run.id, run.task, run.outcome) = (id, task, outcome);
                run.seconds = seconds;
                // What was exchanged by karat has facts, and no calls.
                run.other.retain(|(name, _)| name.starts_with("score_"));
            }
            if run.solved.is_none() {
                out.left_out("whether the task was solved: a trace does not say so");
            }
            if run.task.is_none() && !is_own {
                out.left_out("the task: a trace names none");
            }
            out.run(&trace.place, run)?;
        }
        Ok(())
    }
}

/// Returns nanoseconds since 1970 as a timestamp, cut off at milliseconds.
fn written(nanoseconds: i128) -> Option<String> {
    let milliseconds = i64::try_from(nanoseconds.div_euclid(1_000_000)).ok()?;
    let text = Timestamp { milliseconds }.to_string();
    Timestamp::parse(&text).is_ok().then_some(text)
}
