//! Langfuse: exported traces with their observations and scores.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use serde_json::Value;

use super::json::{Element, Members, Wanted, name};
use super::out::{Out, Run, fact_name, known, plain};
use super::spans::{Amount, circles};
use super::steps::{Act, Event, asked, of_events, returned, said};
use super::{Fault, Importer, Input, Stop, json};

pub(super) static IMPORTER: Importer = Importer {
    name: "langfuse",
    words: "a trace of Langfuse",
    has_traces: true,
    has_scores: true,
    marks: &[
        &["trace.id", "trace.projectId", "observations[]"],
        &["[].trace.id", "[].trace.projectId", "[].observations[]"],
        &["projectId", "observations[]", "latency"],
        &["[].projectId", "[].observations[]", "[].latency"],
        &["data[].projectId", "data[].observations[]", "data[].latency"],
    ],
    read,
    ..Importer::RUNS
};

const OBSERVATION: &str =
    "id type level usageDetails usage.total totalUsage totalCost calculatedTotalCost costDetails";
/// Members that only traces need.
const STEP: &str = "parentObservationId name startTime input output";

/// Reads a trace, one on each line, or a list of them.
fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let head = input.head(1 << 20)?;
    let among = |place: &str, stop: Stop| stop.at(|within| format!("{place}, {within}"));
    if json::is_lines(&head) && head.trim_ascii_end().contains(&b'\n') {
        return json::parts(
            input.json()?,
            |_| true,
            |place, line| trace(line, place, out).map_err(|stop| among(place, stop)),
        );
    }
    if !json::outline(&head).iter().any(|path| path == "[]" || path == "data[]") {
        return trace(input.json()?, "$.trace", out);
    }
    let wanted = Wanted::of(&[("[]", "."), ("data[]", ".")]);
    json::read(input.json()?, &wanted, &mut |element| {
        let text = element.own.get("").map(Value::to_string).unwrap_or_default();
        trace(text.as_bytes(), element.place, out).map_err(|stop| among(element.place, stop))
    })
    .map(drop)
}

fn trace(text: impl Read, place: &str, out: &mut Out<'_>) -> Result<(), Stop> {
    let has_steps = out.wants_steps();
    let (step, inputs) = if has_steps { (STEP, "trace.input input") } else { ("", "") };
    let trace = "trace.id trace.name trace.timestamp trace.latency trace.scores trace.totalCost";
    let own = "id name timestamp latency scores totalCost";
    let wanted = Wanted::of(&[
        ("", trace),
        ("", own),
        ("", inputs),
        ("observations[]", OBSERVATION),
        ("observations[]", step),
    ]);
    let mut sums = Sums::default();
    let mut events: Vec<Event> = Vec::new();
    let (mut seen, mut repeated) = (BTreeSet::new(), 0);
    let log = json::read(text, &wanted, &mut |observation: &Element<'_>| {
        if let Some(id) = observation.own.text("id")
            && !seen.insert(id.to_owned())
        {
            repeated += 1;
            return Ok(());
        }
        // A list of traces has their ids alone.
        if observation.own.is_empty() {
            return Ok(());
        }
        sums.add(observation.own);
        if has_steps {
            events.push(event(observation.own, events.len()));
        }
        Ok(())
    })?;
    let of = |name: &str| log.get(&format!("trace.{name}")).or_else(|| log.get(name));
    let Some(id) = of("id").and_then(Value::as_str) else {
        return Err(Fault::new("$.trace", "no `id`", "the id of the trace").into());
    };
    let subject = of("name").and_then(Value::as_str).filter(|name| !name.is_empty()).unwrap_or("trace");
    out.left_out_times("an observation that was there before", repeated);
    let (cost, tokens) = (sums.cost.or(|| Amount::cost(of("totalCost"))), sums.tokens.exact());
    let bad = [
        (tokens, "the tokens of a trace with an observation whose number of tokens is not a count"),
        (cost, "the cost of a trace with an observation whose cost is not an amount"),
    ];
    for (_, reason) in bad.into_iter().filter(|(amount, _)| *amount == Amount::Bad) {
        out.left_out(reason);
    }
    let parents = events.iter().map(|event| (event.id.as_str(), event.parent.as_str())).collect();
    let within: BTreeSet<String> = circles(&parents).into_iter().map(str::to_owned).collect();
    let reason = "the parent of an observation that is within itself: it counts as one without";
    out.left_out_times(reason, within.len() as u64);
    events.iter_mut().filter(|event| within.contains(&event.id)).for_each(|event| event.parent.clear());
    let mut run = Run {
        subject: subject.to_owned(),
        id: id.to_owned(),
        time: of("timestamp").and_then(Value::as_str).map(str::to_owned),
        seconds: of("latency").and_then(Value::as_f64),
        cost_usd: known(out, "a cost", cost.known()),
        tokens: known(out, "a number of tokens", tokens.known()),
        steps: of_events(events),
        objective: of("input").and_then(|it| asked(it).or_else(|| said(it))),
        ..Run::default()
    };
    run.measured("errors", Some(sums.errors));
    scores(of("scores"), &mut run, out);
    out.left_out("the task of a trace: it names none");
    out.run(place, run)
}

fn event(own: &Members, number: usize) -> Event {
    let start = own.text("startTime").and_then(|text| karat_core::timestamp::parse_nanoseconds(text).ok());
    let name = own.text("name").unwrap_or("tool");
    let act = match own.text("type") {
        Some("GENERATION") => Act::Model,
        Some("TOOL") => {
            Act::Tool { name: name.to_owned(), given: own.get("input").and_then(json::members_of) }
        }
        Some("RETRIEVER") => Act::Found,
        _ => Act::Other,
    };
    Event {
        start: start.unwrap_or_default(),
        id: own.text("id").map_or_else(|| number.to_string(), str::to_owned),
        parent: own.text("parentObservationId").unwrap_or_default().to_owned(),
        text: own.get("output").and_then(|output| match act {
            Act::Other => None,
            Act::Model => said(output),
            Act::Tool { .. } | Act::Found => returned(output),
        }),
        act,
        has_failed: own.text("level") == Some("ERROR"),
    }
}

#[derive(Default)]
struct Sums {
    tokens: Amount,
    cost: Amount,
    errors: f64,
}

impl Sums {
    fn add(&mut self, own: &Members) {
        let count = |name: &str| Amount::count(own.get("usageDetails").and_then(|usage| usage.get(name)));
        let both = || {
            let input = count("input");
            if input.is_stated() { input.and(count("output")) } else { Amount::None }
        };
        let usage = count("total")
            .or(both)
            .or(|| Amount::count(own.get("usage.total")))
            .or(|| Amount::count(own.get("totalUsage")));
        let cost = Amount::cost(own.get("totalCost"))
            .or(|| Amount::cost(own.get("calculatedTotalCost")))
            .or(|| Amount::cost(own.get("costDetails").and_then(|cost| cost.get("total"))));
        self.tokens = self.tokens.and(usage);
        self.cost = self.cost.and(cost);
        self.errors += f64::from(u8::from(own.text("level") == Some("ERROR")));
    }
}

/// Takes the scores of the whole trace. Which of them says that the task was solved, only the caller can know.
fn scores(scores: Option<&Value>, run: &mut Run, out: &mut Out<'_>) {
    let list = scores.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let reason = "a score of which a list of traces has the id alone: export the trace itself";
    out.left_out_times(reason, list.iter().filter(|score| score.is_string()).count() as u64);
    let mut values = BTreeMap::new();
    for score in list.iter().filter(|it| it.is_object() && it.get("observationId").is_none_or(Value::is_null))
    {
        let text = |name: &str| score.get(name).and_then(Value::as_str).unwrap_or_default();
        let moment = |name: &str| karat_core::timestamp::parse_nanoseconds(text(name)).ok();
        let rank = (moment("timestamp"), moment("updatedAt"));
        let before = values.get(text("name")).map(|(rank, _)| *rank);
        // The same score may be there twice; the last one counts.
        out.left_out_times("a score with the name of a later one", before.is_some().into());
        if before.is_none_or(|before| rank >= before) {
            values.insert(text("name"), (rank, score));
        }
    }
    let wanted = out.options.score.clone();
    for (title, (_, score)) in values.into_iter().take(64) {
        let number = score.get("value").and_then(Value::as_f64);
        let word = ["stringValue", "value"].map(|member| score.get(member).filter(|it| it.is_string()));
        let word = word.into_iter().flatten().find_map(name);
        // Of a category the number is its place in a list, or 0.
        let (number, word) = match score.get("dataType").and_then(Value::as_str) {
            Some("NUMERIC") => (number, None),
            Some("BOOLEAN") => (number.or_else(|| json::verdict(&word?)), None),
            Some("CATEGORICAL") => (None, Some(word.unwrap_or_default())),
            _ => (number, word),
        };
        if wanted.as_deref() == Some(title) && word.is_none() {
            (run.solved, run.score) = (number, Some(title.to_owned()));
        } else if wanted.as_deref() == Some(title) {
            out.left_out(format!("a score `{title}` that is a category: a word cannot be a share of a task"));
        }
        let value = match word {
            Some(word) => (!word.is_empty()).then(|| word.into()),
            None => number.and_then(plain).map(Value::from),
        };
        run.other.extend(value.map(|value| (fact_name("score_", title), value)));
    }
    if run.solved.is_none() {
        out.left_out("whether the task was solved: no score says so (--score NAME names one)");
    }
}
