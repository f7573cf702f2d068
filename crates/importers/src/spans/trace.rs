//! Spans added up by trace.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher as _};

use karat_core::facts::Outcome;
use serde_json::{Map, Value};

use super::super::json::{self, Element, name};
use super::super::out::{Out, Run, known, moment};
use super::super::steps::{Act, Event, asked, of_events, returned, said};
use super::super::{Fault, Input, Stop};
use super::amount::{Amount, circles};
use super::evaluations::{Evaluation, Evaluations, Judged};

/// Most traces of a file.
const TRACES_MAX: usize = 4 << 20;

/// One span, whatever it was written in.
#[derive(Default)]
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
    pub evaluations: Vec<Evaluation>,
    pub service: Option<String>,
}

#[derive(Default)]
pub(super) struct Traces {
    has_steps: bool,
    traces: BTreeMap<String, Trace>,
    /// Results of evaluations in log records.
    records: Evaluations,
    other_records: u64,
    /// Spans that were there before: an exporter sends again what it is not sure of.
    repeated: u64,
    /// Spans with the id of one that says something else.
    others: u64,
}

#[derive(Default)]
struct Trace {
    place: String,
    start: Option<i128>,
    end: Option<i128>,
    /// True if a span ends before it begins.
    is_backward: bool,
    /// Names in the order in which they are preferred.
    agent: First,
    service: First,
    root: First,
    model: First,
    tools: u64,
    errors: u64,
    is_agentic: bool,
    judged: Judged,
    /// The item, if karat wrote the span: that of the span that began first.
    item: Option<(i128, String, Exported)>,
    spans: BTreeMap<String, Used>,
    events: Vec<Event>,
    /// The request of a user.
    asked: First,
}

/// The text of the span that began first, whatever the order of a log: an exporter may send spans in any.
#[derive(Default)]
struct First(Option<((bool, i128, String), String)>);

impl First {
    /// Takes the text of a span; that of a later one only if it is `preferred` and the one before is not.
    fn take(&mut self, is_preferred: bool, span: &Span, text: impl FnOnce() -> Option<String>) {
        let rank = (!is_preferred, span.start.unwrap_or_default(), span.id.as_str());
        let is_first =
            self.0.as_ref().is_none_or(|((is_other, start, id), _)| rank < (*is_other, *start, id));
        if is_first && let Some(text) = text() {
            self.0 = Some(((rank.0, rank.1, span.id.clone()), text));
        }
    }

    fn text(self) -> Option<String> {
        self.0.map(|(_, text)| text)
    }
}

/// The item of which karat wrote a span.
struct Exported {
    id: String,
    task: Option<String>,
    outcome: Option<Outcome>,
    seconds: Option<f64>,
}

/// Amounts that a span says were used: often the same that a span within it says.
struct Used {
    parent: String,
    is_call: bool,
    tokens: Amount,
    cost: Amount,
    /// The look of the whole span.
    look: u64,
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

    /// Returns the tokens, and whether those of some calls are not stated.
    fn tokens(&self) -> (Amount, bool) {
        let (tokens, lacks) = self.sum(|span| span.tokens);
        (tokens.exact(), lacks)
    }

    /// Returns the cost, and whether it lacks that of some calls.
    fn cost(&self) -> (Amount, bool) {
        self.sum(|span| span.cost)
    }

    fn sum(&self, of: impl Fn(&Used) -> Amount) -> (Amount, bool) {
        let stated = self.innermost(|span| of(span).is_stated());
        let sum = stated.map(&of).fold(Amount::None, Amount::and);
        let lacks =
            self.innermost(|span| span.is_call || of(span).is_stated()).any(|span| !of(span).is_stated());
        (sum, lacks)
    }

    fn calls(&self) -> u64 {
        self.innermost(|span| span.is_call).count() as u64
    }

    fn keep(&mut self, span: &Span, part: &Part, id: &str) {
        let start = span.start.unwrap_or_default();
        let act = span.act(part);
        self.asked.take(false, span, || span.asked());
        self.events.push(Event {
            start,
            id: id.to_owned(),
            parent: span.parent.clone(),
            text: span.said(&act),
            act,
            has_failed: span.is_error,
        });
    }

    /// Lets spans that lie in a circle stand alone, and returns their number.
    fn part_circles(&mut self) -> u64 {
        let above = self
            .spans
            .iter()
            .map(|(id, span)| (id.as_str(), span.parent.as_str()))
            .collect::<BTreeMap<_, _>>();
        let found: BTreeSet<String> = circles(&above).into_iter().map(str::to_owned).collect();
        if found.is_empty() {
            return 0;
        }
        for (_, span) in self.spans.iter_mut().filter(|(id, _)| found.contains(*id)) {
            span.parent.clear();
        }
        for event in self.events.iter_mut().filter(|event| found.contains(&event.id)) {
            event.parent.clear();
        }
        found.len() as u64
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

/// Returns an id as it is written by others: without `0x`, and digits in capitals as small ones; other texts, such as base64, are
/// as they are.
pub(super) fn hexadecimal(id: &str) -> String {
    let digits = id.strip_prefix("0x").or_else(|| id.strip_prefix("0X")).unwrap_or(id);
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hexadecimal { digits.to_ascii_lowercase() } else { id.to_owned() }
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
                let is_call = self.text("gen_ai.request.model").is_some() && self.tokens().is_stated();
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

    fn act(&self, part: &Part) -> Act {
        let is = |name: &str, values: &[&str]| {
            self.text(name).is_some_and(|value| values.contains(&value.as_str()))
        };
        match part {
            Part::Call
                if is("openinference.span.kind", &["EMBEDDING"])
                    || is("gen_ai.operation.name", &["embeddings"]) =>
            {
                Act::Other
            }
            Part::Call => Act::Model,
            Part::Tool => {
                let names = ["gen_ai.tool.name", "tool.name", "tool_call.function.name"];
                let name = names.iter().find_map(|name| self.text(name));
                let plain = || self.name.strip_prefix("execute_tool ").unwrap_or(&self.name).to_owned();
                let given = ["gen_ai.tool.call.arguments", "tool_call.function.arguments", "input.value"];
                let given = given.iter().find_map(|name| json::members_of(get(&self.attributes, name)?));
                Act::Tool { name: name.unwrap_or_else(plain), given }
            }
            Part::Other if is("openinference.span.kind", &["RETRIEVER"]) => Act::Found,
            Part::Other | Part::None => Act::Other,
        }
    }

    /// Returns what the model said, or the tool returned.
    fn said(&self, act: &Act) -> Option<String> {
        let names: &[&str] = match act {
            Act::Model => &[
                "gen_ai.output.messages", "llm.output_messages", "llm.output_messages.0.message.content",
                "gen_ai.completion.0.content", "gen_ai.completion", "output.value",
            ],
            Act::Tool { .. } | Act::Found => &["gen_ai.tool.call.result", "output.value"],
            Act::Other => &[],
        };
        let read = if matches!(act, Act::Model) { said } else { returned };
        names.iter().find_map(|name| read(get(&self.attributes, name)?))
    }

    fn asked(&self) -> Option<String> {
        let lists = ["gen_ai.input.messages", "llm.input_messages"];
        let listed = lists.iter().find_map(|name| asked(get(&self.attributes, name)?));
        let numbered = || {
            (0..8).find_map(|number| {
                ["llm.input_messages.N.message.", "gen_ai.prompt.N."].iter().find_map(|form| {
                    let before = form.replace('N', &number.to_string());
                    let role = self.text(&format!("{before}role"))?;
                    (role == "user").then(|| self.text(&format!("{before}content")))?
                })
            })
        };
        let own = || self.text("input.value").filter(|_| self.parent.is_empty());
        let text = listed.or_else(numbered).or_else(own)?;
        said(&Value::String(text))
    }

    /// Returns tokens in both vocabularies of GenAI, and in that of OpenInference; cached ones are within the input.
    fn tokens(&self) -> Amount {
        let either = |names: [&str; 3]| {
            names
                .iter()
                .fold(Amount::None, |found, name| found.or(|| Amount::count(get(&self.attributes, name))))
        };
        let input =
            either(["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"]);
        let output = either([
            "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
        ]);
        let total = Amount::count(get(&self.attributes, "llm.token_count.total"));
        // One half does not replace a sum that is stated.
        if input.is_stated() && output.is_stated() {
            input.and(output)
        } else {
            total.or(|| input.and(output))
        }
    }

    fn cost(&self) -> Amount {
        let of = |name: &str| Amount::cost(get(&self.attributes, name));
        of("llm.cost.total").or(|| of("gen_ai.usage.cost"))
    }

    /// Writes ids and times in one way, whatever the span was written in.
    pub(super) fn normalise(&mut self) {
        for id in [&mut self.trace, &mut self.id, &mut self.parent] {
            *id = hexadecimal(id);
        }
        if self.parent.bytes().all(|byte| byte == b'0') {
            self.parent.clear();
        }
        // 0 means that the moment is not known.
        self.start = self.start.filter(|start| *start > 0);
        self.end = self.end.filter(|end| *end > 0);
    }

    /// Returns a number that is the same for spans that say the same.
    fn look(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.parent, &self.name, self.start, self.end, self.is_error).hash(&mut hasher);
        (&self.attributes, &self.service).hash(&mut hasher);
        for Evaluation { name, time, value } in &self.evaluations {
            (name, time, value.map(f64::to_bits)).hash(&mut hasher);
        }
        hasher.finish()
    }
}

impl Traces {
    pub(super) fn new(out: &Out<'_>) -> Self {
        Self { has_steps: out.wants_steps(), ..Self::default() }
    }

    /// Adds what a log record says of a trace.
    pub(super) fn record(&mut self, element: &Element<'_>) {
        self.other_records += u64::from(!self.records.record(element));
    }

    pub(super) fn add(&mut self, place: &str, mut span: Span) -> Result<(), Stop> {
        span.normalise();
        if span.trace.is_empty() {
            return Err(Fault::new(place, "a span without the id of its trace", "the id").into());
        }
        if self.traces.len() >= TRACES_MAX {
            return Err(Fault::new(place, "more than four million traces", "fewer in a file").into());
        }
        let trace = self.traces.entry(span.trace.clone()).or_default();
        let id = if span.id.is_empty() { format!("span {}", trace.spans.len()) } else { span.id.clone() };
        let look = span.look();
        if let Some(first) = trace.spans.get(&id) {
            let count = if first.look == look { &mut self.repeated } else { &mut self.others };
            *count += 1;
            return Ok(());
        }
        if trace.place.is_empty() {
            trace.place = place.to_owned();
        }
        trace.start = trace.start.into_iter().chain(span.start).min();
        trace.end = trace.end.max(span.end);
        trace.is_backward |= span.start.zip(span.end).is_some_and(|(start, end)| end < start);
        trace.errors += u64::from(span.is_error);
        let part = span.part();
        trace.is_agentic |= !matches!(part, Part::None);
        if span.parent.is_empty() {
            trace.root.take(false, &span, || Some(span.name.clone()));
        }
        if matches!(part, Part::Call) {
            let model = ["gen_ai.request.model", "llm.model_name", "gen_ai.response.model"];
            trace.model.take(false, &span, || model.iter().find_map(|name| span.text(name)));
        }
        trace.tools += u64::from(matches!(part, Part::Tool));
        if let Some(id) = span.text("karat.id") {
            let outcome = span.text("karat.outcome").and_then(|name| Outcome::from_name(&name));
            let (task, seconds) = (span.text("karat.task"), span.number("karat.seconds"));
            let start = span.start.unwrap_or_default();
            if trace.item.as_ref().is_none_or(|(first, own, _)| (start, &span.id) < (*first, own)) {
                trace.item = Some((start, span.id.clone(), Exported { id, task, outcome, seconds }));
            }
        }
        let used = Used {
            parent: span.parent.clone(),
            is_call: matches!(part, Part::Call),
            tokens: span.tokens(),
            cost: span.cost(),
            look,
        };
        if self.has_steps {
            trace.keep(&span, &part, &id);
        }
        trace.spans.insert(id, used);
        let agent = || span.text("gen_ai.agent.name").or_else(|| span.text("agent.name"));
        trace.agent.take(span.parent.is_empty(), &span, agent);
        // The kits of OpenTelemetry write that where the program gives no name.
        let service = || span.service.clone().filter(|name| !name.starts_with("unknown_service"));
        trace.service.take(false, &span, service);
        for evaluation in span.evaluations {
            trace.judged.add(evaluation, span.start, &span.id);
        }
        Ok(())
    }

    pub(super) fn end(self, input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
        out.left_out_times("a span that was there before", self.repeated);
        out.left_out_times("a span with the id of one before that says something else", self.others);
        out.left_out_times("a log record without the result of an evaluation", self.other_records);
        let others = self.records.of_others(|trace| self.traces.contains_key(trace));
        if others > 0 && out.options.evaluations.is_none() {
            out.note(format!("{others} results of evaluations are of traces without a span: give the file of their spans, too"));
        } else {
            (0..others)
                .for_each(|_| out.elsewhere("the result of an evaluation of a trace that another file has"));
        }
        // Those of a file of records are among those of all files.
        let is_own = out.options.evaluations.is_none() || !Evaluations::are_in(input);
        let records = if is_own { self.records } else { Evaluations::default() };
        let elsewhere = out.options.evaluations.clone().unwrap_or_default();
        for (id, mut trace) in self.traces {
            if !trace.is_agentic {
                out.left_out("a trace without a span of a model or an agent");
                continue;
            }
            let reason = "the parent of a span that is within itself: it counts as a span without one";
            out.left_out_times(reason, trace.part_circles());
            let ((tokens, lacks_tokens), calls) = (trace.tokens(), trace.calls());
            let (cost, lacks) = trace.cost();
            let bad = [
                (tokens, "the tokens of a trace with a span whose number of tokens is not a count"),
                (cost, "the cost of a trace with a span whose cost is not an amount"),
            ];
            for (_, reason) in bad.into_iter().filter(|(amount, _)| *amount == Amount::Bad) {
                out.left_out(reason);
            }
            let (tokens, cost) = (tokens.known(), cost.known());
            let names = [trace.agent, trace.service, trace.root, trace.model];
            let subject = names.into_iter().filter_map(First::text).find(|name| !name.trim().is_empty());
            if cost.is_some() && lacks {
                out.left_out("a cost that only some calls of a trace have");
            }
            if tokens.is_some() && lacks_tokens {
                out.left_out("a number of tokens that only some calls of a trace have");
            }
            let is_own = trace.item.is_some();
            let nanoseconds = trace.start.zip(trace.end).map(|(start, end)| end - start);
            let nanoseconds = nanoseconds.filter(|long| *long >= 0 && !trace.is_backward);
            let has_time = !is_own && !out.wants_steps();
            if trace.is_backward && has_time {
                out.left_out("the time of a trace with a span that ends before it begins");
            } else if nanoseconds.is_none() && has_time {
                out.left_out("the time of a trace: no span says when it began and ended");
            }
            let mut run = Run {
                subject: subject.unwrap_or_else(|| input.stem().to_owned()),
                id: id.clone(),
                time: trace.start.and_then(moment),
                // Below nanoseconds there is nothing, so this is the nearest number.
                seconds: nanoseconds.map(|long| long as f64 / 1e9),
                tokens: known(out, "a number of tokens", tokens.filter(|_| !lacks_tokens)),
                cost_usd: known(out, "a cost", cost.filter(|_| !lacks)),
                steps: of_events(trace.events),
                objective: trace.asked.text(),
                ..Run::default()
            };
            let counts = [("calls", calls), ("tool_calls", trace.tools), ("errors", trace.errors)];
            for (name, count) in counts {
                run.measured(name, Some(count as f64));
            }
            let records = [records.of(&id), elsewhere.of(&id)].into_iter().flatten();
            let judged = records.fold(trace.judged, Judged::with);
            out.left_out_times("the result of an evaluation with the name of a later one", judged.earlier);
            let reason = "the result of an evaluation without a number, or a label such as `pass` or `fail`";
            out.left_out_times(reason, judged.without);
            let wanted = out.options.score.as_deref().unwrap_or("solved");
            for (name, (_, value)) in judged.latest {
                if name == wanted {
                    (run.solved, run.score) = (Some(value), Some(name.clone()));
                } else {
                    run.scored(&name, Some(value));
                }
            }
            if let Some((_, _, Exported { id, task, outcome, seconds })) = trace.item {
                (run.id, run.task, run.outcome, run.seconds) = (id, task, outcome, seconds);
                run.is_own = true;
                // Such a trace has facts, and no calls.
                run.other.retain(|(name, _)| name.starts_with("score_"));
            }
            if run.solved.is_none() && !out.wants_steps() {
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
