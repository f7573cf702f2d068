//! Runs written as items, and the summary of what was left out.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use karat_core::facts::{Digest, Outcome};
use karat_core::timestamp::Timestamp;
use serde_json::{Map, Number, Value};
use unicode_normalization::UnicodeNormalization as _;

use super::scales::{Scales, fitting};
use super::stated::{Account, Stated};
use super::steps::Steps;
use super::{Importer, Input, Item, Items, Options, Stop};
use karat_evidence::names;

/// Longest name, in characters; what is longer ends in its digest.
const NAME_MAX: usize = 200;
/// The schema of reasoning traces.
const CONTEXT: &str = "https://openknowledgepulse.org/schema/v1";
/// Longest text beside the steps of a trace, in bytes.
const TEXT_MAX: usize = 32 << 10;
/// Most different reasons.
const REASONS_MAX: usize = 100;

/// The result of an import: how many items, and what was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of items.
    pub items: u64,
    /// The number of times that something was left out, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// The number of means, sums and logs that do not count: their samples are in other files that are read, or are not there.
    pub elsewhere: u64,
    /// Things to know about the file as a whole.
    pub notes: Vec<String>,
    /// The notes on numbers that the file states, and that do not follow from its items.
    pub contradictions: Vec<String>,
}

impl Summary {
    /// Adds a thing to know.
    pub fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds that of another file.
    pub fn add(&mut self, other: Self) {
        self.items += other.items;
        self.elsewhere += other.elsewhere;
        for (reason, count) in other.left_out {
            *self.left_out.entry(reason).or_default() += count;
        }
        other.notes.into_iter().for_each(|note| self.note(note));
        self.contradictions.extend(other.contradictions);
    }
}

/// A thing that is [elsewhere](Out::elsewhere).
pub(super) const MEAN: &str = "a mean or sum of samples that are read from another file";

/// One run, as far as the log tells.
#[derive(Debug, Clone, Default)]
pub(super) struct Run {
    pub subject: String,
    pub task: Option<String>,
    pub id: String,
    pub time: Option<String>,
    pub outcome: Option<Outcome>,
    /// True if karat wrote the log, of an item with that outcome.
    pub is_own: bool,
    /// The share of the task that was solved.
    pub solved: Option<f64>,
    /// The score that this is; none if the log has a verdict.
    pub score: Option<String>,
    pub cost_usd: Option<f64>,
    pub seconds: Option<f64>,
    pub tokens: Option<f64>,
    /// The number of cases, where the item is a mean over several.
    pub cases: Option<f64>,
    /// Other measurements, by name.
    pub other: Vec<(String, Value)>,
    pub steps: Steps,
    /// The task in words, for a trace.
    pub objective: Option<String>,
    /// Words of the log about the end, for a trace.
    pub result: Option<String>,
}

/// The distance from 1 within which a reward is a success.
pub(super) const NEAR: f64 = 1e-6;

impl Run {
    /// Adds another measurement, if it is known.
    pub(super) fn measured(&mut self, name: impl Into<String>, value: Option<f64>) {
        self.other.extend(value.and_then(plain).map(|value| (name.into(), value.into())));
    }

    /// Adds a score that does not decide whether the task was solved.
    pub(super) fn scored(&mut self, name: &str, value: Option<f64>) {
        self.measured(fact_name("score_", name), value);
    }

    /// Sets the outcome by what was solved, if nothing else is known of it. A share of several cases has none.
    ///
    /// What was judged to be solved, in whole or part, is so although the run was stopped: so do the tools count it.
    pub(super) fn judged(mut self) -> Self {
        if self.outcome == Some(Outcome::Stopped)
            && !self.is_own
            && self.solved.is_some_and(|solved| solved > 0.0)
        {
            self.outcome = None;
        }
        if self.outcome.is_none() && self.cases.is_none() {
            self.outcome = match self.solved {
                Some(solved) if (solved - 1.0).abs() <= f64::EPSILON => Some(Outcome::Succeeded),
                Some(0.0) => Some(Outcome::Failed),
                _ => None,
            };
        }
        self
    }
}

/// The receiver of the items of one file.
pub(super) struct Out<'a> {
    input: &'a Input,
    digest: String,
    importer: &'static Importer,
    pub options: &'a Options,
    /// The scales of the scores in all that is read, and what is seen of them here.
    known: &'a Scales,
    seen: Scales,
    account: Account,
    summary: Summary,
    take: &'a mut dyn FnMut(Item<'_>) -> ControlFlow<()>,
    buffer: Vec<u8>,
}

impl<'a> Out<'a> {
    pub(super) fn new(
        input: &'a Input,
        digest: Digest,
        importer: &'static Importer,
        options: &'a Options,
        known: &'a Scales,
        take: &'a mut dyn FnMut(Item<'_>) -> ControlFlow<()>,
    ) -> Self {
        let (digest, seen, account) = (digest.to_string(), Scales::default(), Account::default());
        let (summary, buffer) = (Summary::default(), Vec::new());
        Self { input, digest, importer, options, known, seen, account, summary, take, buffer }
    }

    /// Returns the summary, with what does not follow from the items, and the scales of the scores.
    pub(super) fn end(mut self) -> (Summary, Scales) {
        for name in self.seen.names() {
            let Some((low, high)) = self.known.other(self.importer.name, name) else { continue };
            let (fact, (least, most)) = (fact_name("score_", name), fitting((low, high)));
            self.summary.note(format!(
                "`{name}` is from {low} to {high}, so none of its values is a share of a task: `solved` is missing, and `{fact}` \
                 has them; a scorecard that counts them declares `{fact} = {{ min = {least}, max = {most} }}`"
            ));
        }
        for note in self.account.end(self.input.name()) {
            self.contradiction(note);
        }
        (self.summary, self.seen)
    }

    /// Awaits the means that the log states after its items.
    pub(super) fn awaits_means(&mut self) {
        self.account.is_awaited = true;
    }

    /// Takes a mean that the log states of a score, if it does, to compare it with that of its items.
    pub(super) fn states(&mut self, stated: Option<Stated>) {
        self.account.states(stated);
    }

    /// Compares a number that the log states of itself with what it lists.
    pub(super) fn states_count(&mut self, what: &str, stated: Option<f64>, listed: usize) {
        if let Some(stated) = stated.filter(|stated| *stated != listed as f64) {
            let file = self.input.name();
            self.contradiction(format!("`{file}` states {stated} as {what}, and lists {listed}"));
        }
    }

    /// Says that a number that the log states does not follow from its items.
    pub(super) fn contradiction(&mut self, note: String) {
        self.summary.contradictions.push(note.clone());
        self.summary.note(note);
    }

    /// Counts something that is not in the items.
    pub(super) fn left_out(&mut self, reason: impl Into<Cow<'static, str>>) {
        self.left_out_times(reason, 1);
    }

    pub(super) fn left_out_times(&mut self, reason: impl Into<Cow<'static, str>>, times: u64) {
        let left_out = &mut self.summary.left_out;
        let reason = reason.into().into_owned();
        if times > 0 && (left_out.len() < REASONS_MAX || left_out.contains_key(&reason)) {
            *left_out.entry(reason).or_default() += times;
        }
    }

    /// Counts something that another file has, which is read too.
    pub(super) fn elsewhere(&mut self, what: &'static str) {
        self.summary.elsewhere += 1;
        self.left_out(what);
    }

    /// Says something about the whole file, once.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.summary.note(note.into());
    }

    /// Returns whether reasoning traces are wanted.
    pub(super) fn wants_steps(&self) -> bool {
        self.options.items == Items::Traces
    }

    /// Compares the scores of a run with what the log states of them; none where the range of the score is not 0 to 1.
    pub(super) fn accounted(&mut self, mut run: Run) -> Run {
        let decides = run.score.as_deref().zip(run.solved);
        let others =
            run.other.iter().filter_map(|(fact, it)| Some((fact.as_str().into(), Some(it.as_f64()?))));
        let scores = run.score.iter().map(|name| (fact_name("score_", name).into(), run.solved));
        self.account.run(run.task.as_deref(), scores.chain(others));
        if let Some((name, value)) = decides {
            self.seen.see(self.importer.name, name, value);
        }
        if let Some((name, value)) = run.score.take().zip(run.solved)
            && (self.known.other(self.importer.name, &name).is_some() || !(0.0..=1.0).contains(&value))
        {
            run.solved = None;
            run.scored(&name, Some(value));
            // It followed from the score.
            run.outcome = run.outcome.filter(|it| !matches!(it, Outcome::Succeeded | Outcome::Failed));
        }
        run
    }

    /// Counts a score that the log has, of a run that has no verdict for another reason.
    pub(super) fn unjudged(&mut self, run: &Run) {
        if let Some(name) = run.score.as_ref().filter(|_| run.solved.is_some()) {
            self.account.has_unjudged(fact_name("score_", name));
        }
    }

    /// Writes a run, as the kind of item that is wanted.
    pub(super) fn run(&mut self, place: &str, run: Run) -> Result<(), Stop> {
        let run = self.accounted(run);
        if self.wants_steps() {
            return self.trace(place, run);
        }
        let run = run.judged();
        if [Some(&run.subject), Some(&run.id), run.task.as_ref()]
            .into_iter()
            .flatten()
            .any(|it| is_marked(it))
        {
            self.left_out("characters of a name that cannot be seen, or blanks: the name ends in its digest");
        }
        let mut item = Map::new();
        let subject = self.options.subject.as_deref().unwrap_or(&run.subject);
        item.insert("subject".into(), mended(subject).into());
        item.insert("id".into(), mended(&run.id).into());
        if let Some(task) = &run.task {
            item.insert("task".into(), mended(task).into());
        }
        if let Some(time) = &run.time {
            match Timestamp::parse(time) {
                // The same moment is written in several ways, even by one tool.
                Ok(time) => drop(item.insert("time".into(), time.to_string().into())),
                Err(_) => self.left_out("a time without date, seconds or zone"),
            }
        }
        if let Some(outcome) = run.outcome {
            item.insert("outcome".into(), outcome.name().into());
        }
        match run.solved {
            Some(solved) if (0.0..=1.0).contains(&solved) => self.number(&mut item, "solved", solved),
            Some(_) => self.left_out("a score outside of 0 to 1, which cannot be a share of a task"),
            None => {}
        }
        let measures = [("cost_usd", run.cost_usd), ("seconds", run.seconds), ("tokens", run.tokens)];
        for (name, value) in measures {
            match value {
                Some(value) if value >= 0.0 => self.number(&mut item, name, value),
                Some(_) => self.left_out(format!("a negative value of `{name}`")),
                None => {}
            }
        }
        if let Some(cases) = run.cases.filter(|cases| *cases >= 1.0 && cases.fract() == 0.0).and_then(plain) {
            item.insert("n".into(), cases.into());
            // Of a log, it is a whole run of them, however often there is one.
            item.insert("run".into(), item.get("id").cloned().unwrap_or_default());
        }
        for (name, value) in run.other {
            if !item.contains_key(&name) {
                item.insert(name, value);
            }
        }
        self.write(place, item)
    }

    /// Writes a run as a reasoning trace. A member that the log has nothing for is not there.
    fn trace(&mut self, place: &str, run: Run) -> Result<(), Stop> {
        self.left_out_times("a text of a step beyond 32 KiB, or of a trace beyond 8 MiB", run.steps.cut);
        self.left_out_times("a step of a trace with more than 50000", run.steps.over);
        if run.steps.is_empty() {
            self.left_out("a run without a step of an agent");
            return Ok(());
        }
        let subject = self.options.subject.as_deref().unwrap_or(&run.subject);
        let mut metadata = Map::new();
        metadata.insert("agent_id".into(), mended(subject).into());
        match run.time.as_deref().map(Timestamp::parse) {
            Some(Ok(time)) => drop(metadata.insert("created_at".into(), time.to_string().into())),
            Some(Err(_)) => self.left_out("a time without date, seconds or zone"),
            None => {}
        }
        if let Some(domain) = &self.options.domain {
            metadata.insert("task_domain".into(), domain.as_str().into());
        }
        match run.solved {
            Some(solved) => {
                drop(metadata.insert("success".into(), ((solved - 1.0).abs() <= NEAR).into()));
            }
            None => self.left_out("`success` of a trace: the log does not say it"),
        }
        self.left_out("`confidence` of a trace: the log has none");
        let mut task = Map::new();
        if let Some(name) = &run.task {
            task.insert("id".into(), mended(name).into());
        }
        if let Some(objective) = run.objective.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
            task.insert("objective".into(), super::steps::cut(objective, TEXT_MAX).into());
        }
        let mut item = Map::new();
        item.insert("@context".into(), CONTEXT.into());
        item.insert("@type".into(), "ReasoningTrace".into());
        item.insert("id".into(), mended(&format!("kp:trace:{}", run.id)).into());
        item.insert("metadata".into(), metadata.into());
        if !task.is_empty() {
            item.insert("task".into(), task.into());
        }
        item.insert("steps".into(), run.steps.into_list().into());
        if let Some(result) = run.result {
            let result = super::steps::cut(&result, TEXT_MAX);
            item.insert("outcome".into(), serde_json::json!({ "result_summary": result }));
        }
        self.write(place, item)
    }

    fn number(&mut self, item: &mut Map<String, Value>, name: &str, value: f64) {
        match plain(value) {
            Some(number) => drop(item.insert(name.into(), number.into())),
            None => self.left_out(format!("a value of `{name}` that is not a number")),
        }
    }

    pub(super) fn write(&mut self, place: &str, mut item: Map<String, Value>) -> Result<(), Stop> {
        let source = serde_json::json!({
            "digest": self.digest,
            "file": self.input.name(),
            "format": self.importer.name,
            "place": place,
        });
        item.insert("source".into(), source);
        self.buffer.clear();
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut self.buffer, &item);
        self.summary.items += 1;
        match (self.take)(Item { place, json: &self.buffer }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Stop::Enough),
        }
    }
}

/// Returns a number, whole ones without a point.
pub(super) fn plain(value: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}

/// Returns a text as a name: composed, without what is not seen, and not too long. What is left out of a name is shown by its
/// digest at the end, so two names that differ stay two.
pub(super) fn mended(text: &str) -> String {
    let with_digest = |start: &str| {
        let digest = Digest::of(text.as_bytes()).to_string();
        let start: String = start.chars().take(NAME_MAX - 16).collect();
        format!("{start}… {}", digest.get(7..19).unwrap_or_default())
    };
    let is_long = text.chars().nth(NAME_MAX).is_some();
    let short = if is_long { Cow::Owned(with_digest(text)) } else { Cow::Borrowed(text) };
    if names::fault(&short).is_none() {
        return short.into_owned();
    }
    let seen: String = short
        .nfc()
        .map(|it| if names::fault(it.encode_utf8(&mut [0; 4])).is_some() { ' ' } else { it })
        .collect();
    let composed: String = seen.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let named = if names::fault(&composed).is_none() { composed } else { String::from("unknown") };
    if text.is_empty() || is_long || named.chars().eq(short.nfc()) { named } else { with_digest(&named) }
}

/// Returns whether more than its composition was changed to make a text a name.
fn is_marked(text: &str) -> bool {
    !text.is_empty() && names::fault(text).is_some() && !mended(text).chars().eq(text.nfc())
}

/// Returns a number above 0; of cost and tokens 0 often means that they were not counted.
pub(super) fn known(out: &mut Out<'_>, what: &'static str, value: Option<f64>) -> Option<f64> {
    match value {
        Some(0.0) => {
            out.left_out(format!("{what} of 0, which means that it is not known"));
            None
        }
        value => value,
    }
}

/// Returns nanoseconds since 1970 as a timestamp, cut off at milliseconds.
pub(super) fn moment(nanoseconds: i128) -> Option<String> {
    let milliseconds = i64::try_from(nanoseconds.div_euclid(1_000_000)).ok()?;
    let text = Timestamp { milliseconds }.to_string();
    Timestamp::parse(&text).is_ok().then_some(text)
}

/// Returns a percentage as a share, without the digits that only the division adds.
pub(super) fn share(percent: f64) -> f64 {
    (percent * 1e10).round() / 1e12
}

/// Returns a name for a fact: `score_f1` of `f1`.
pub(super) fn fact_name(before: &str, name: &str) -> String {
    let mut fact = String::from(before);
    for it in name.chars().take(80) {
        match it {
            'A'..='Z' | 'a'..='z' | '0'..='9' => fact.push(it.to_ascii_lowercase()),
            _ if fact.ends_with('_') => {}
            _ => fact.push('_'),
        }
    }
    fact.trim_end_matches('_').to_owned()
}
