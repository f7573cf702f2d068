//! Results of evaluations: events of spans, and separate log records.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::json::{self, Element};
use super::super::{ImportError, Input, Stop};
use super::trace::hexadecimal;
use super::{RECORDS, attributes, nanoseconds, requests_of};

/// The name of the event of a result.
pub(super) const EVENT: &str = "gen_ai.evaluation.result";

/// The result of an evaluation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Evaluation {
    pub name: String,
    /// Nanoseconds since 1970.
    pub time: Option<i128>,
    /// Missing if there is neither a number nor a label that says `pass` or `fail`.
    pub value: Option<f64>,
}

/// Returns the result of an evaluation, if an event is one.
pub(super) fn evaluation(event: &str, time: Option<i128>, about: &Map<String, Value>) -> Option<Evaluation> {
    let of = |member: &str| about.get(&format!("gen_ai.evaluation.{member}"));
    let name = json::name(of("name")?)?;
    let label = || of("score.label").and_then(Value::as_str).and_then(json::verdict);
    let value = of("score.value").and_then(Value::as_f64).or_else(label);
    (event == EVENT).then_some(Evaluation { name, time, value })
}

/// Returns the results among the events of a span, of each of which `of` returns name, time and attributes.
pub(super) fn evaluations(
    events: Option<&Value>,
    of: impl Fn(&Value) -> (Option<Value>, Option<i128>, Map<String, Value>),
) -> Vec<Evaluation> {
    let events = events.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let result = |event: &Value| {
        let (name, time, about) = of(event);
        evaluation(name.as_ref()?.as_str()?, time, &about)
    };
    events.iter().filter_map(result).collect()
}

/// Results of one trace: of each name the latest, in whatever order they came.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Judged {
    /// By name: the time, the span, and the value.
    pub latest: BTreeMap<String, ((Option<i128>, String), f64)>,
    /// The number of results with the name of a later one, and of those without a value.
    pub earlier: u64,
    pub without: u64,
}

impl Judged {
    /// Adds a result of a span; one without a time is as old as the span.
    pub(super) fn add(&mut self, evaluation: Evaluation, start: Option<i128>, span: &str) {
        let Some(value) = evaluation.value else {
            self.without += 1;
            return;
        };
        self.put(evaluation.name, (evaluation.time.or(start), span.to_owned()), value);
    }

    fn put(&mut self, name: String, rank: (Option<i128>, String), value: f64) {
        let before = self.latest.get(&name).map(|(before, value)| (before.clone(), *value));
        if before == Some((rank.clone(), value)) {
            return;
        }
        self.earlier += u64::from(before.is_some());
        if before.is_none_or(|(before, _)| before <= rank) {
            self.latest.insert(name, (rank, value));
        }
    }

    /// Adds those that another file has.
    pub(super) fn with(mut self, other: &Self) -> Self {
        for (name, (rank, value)) in &other.latest {
            self.put(name.clone(), rank.clone(), *value);
        }
        self.earlier += other.earlier;
        self.without += other.without;
        self
    }
}

/// Results of evaluations that log records have, for the traces of other files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evaluations(BTreeMap<String, Judged>);

impl Evaluations {
    /// Returns whether a file has log records.
    pub fn are_in(input: &Input) -> bool {
        input.head(1 << 20).is_ok_and(|head| json::outline(&head).iter().any(|path| path == RECORDS))
    }

    /// Adds those of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn add(&mut self, input: &Input) -> Result<(), ImportError> {
        let read = input.head(1 << 20).map_err(Stop::from).and_then(|head| {
            requests_of(input, &head, &mut |element| {
                self.record(element);
                Ok(())
            })
        });
        match read {
            Err(Stop::Fault(fault)) => Err(fault.of(input)),
            Ok(()) | Err(Stop::Enough) => Ok(()),
        }
    }

    pub(super) fn of(&self, trace: &str) -> Option<&Judged> {
        self.0.get(trace)
    }

    /// Adds that of a log record, and returns whether it is one.
    pub(super) fn record(&mut self, element: &Element<'_>) -> bool {
        let Some(record) = element.own.get("") else { return false };
        let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
        let about = attributes(record.get("attributes"));
        let own = about.get("event.name").and_then(Value::as_str).unwrap_or_default();
        let event = if text("eventName").is_empty() { own } else { text("eventName") };
        let time = ["timeUnixNano", "observedTimeUnixNano"].map(|name| nanoseconds(record.get(name)));
        let Some(found) = evaluation(event, time.into_iter().flatten().next(), &about) else { return false };
        let trace = self.0.entry(hexadecimal(text("traceId"))).or_default();
        trace.add(found, None, &hexadecimal(text("spanId")));
        true
    }

    /// Returns the number of results of traces that are not among those.
    pub(super) fn of_others(&self, is_there: impl Fn(&str) -> bool) -> u64 {
        let others = self.0.iter().filter(|(trace, _)| !is_there(trace));
        others.map(|(_, judged)| judged.latest.len() as u64 + judged.earlier + judged.without).sum()
    }
}
