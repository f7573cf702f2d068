//! Questions about many items as one JSON document, for packages in other languages: a name, texts of files, settings; out
//! come the bytes that the command line prints with `--format json`.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use karat_core::diagnostic::nearest;
use karat_core::number::Decimal;
use karat_core::scorecard::Scorecard;
use karat_evidence::source::Layout;
use karat_store::Receipt;
use karat_store::log::{VerifyingKey, WitnessKey};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::answers::CheckOutcome;
use crate::ask::answer::{invalid, subject};
use crate::ask::compare::{Asked, of_sides};
use crate::ask::leaderboard::kept;
use crate::ask::{Attempts, Compare, Draws, Fields, Items, Leaderboard, level, points};
use crate::card::CompiledCard;
use crate::cards::library;
use crate::document::what_if;
use crate::engine::{Options, each_item};
use crate::error::{Code, Error};
use crate::gate::{BASELINE, Baseline, RUN, judge_leaderboard};
use crate::loaded::{Loaded, Loading};
use crate::origin::{Comparison, compare_items, lacking};
use crate::project::Project;
use crate::ratings::{self, MatchReader, Question, SystemName};
use crate::receipt::{TrustedKeys, Verified, record_checks};
use crate::record::Record;
use crate::rows::Selection;
use crate::standing::events::Events;
use crate::verification::Check;
use crate::write::html::cells;

/// A question as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asking {
    /// leaderboard, compare, gate or rate.
    question: String,
    /// The items, or the matches.
    files: Vec<File>,
    /// The items of the run to compare with, for a gate.
    #[serde(default)]
    baseline: Vec<File>,
    /// The text of the scorecard, if it is not a released one.
    card_text: Option<String>,
    /// The settings, under the names that the flags have; of a gate what `karat.toml` has.
    #[serde(default)]
    settings: Map<String, Value>,
}

/// The text of a file, and the name that answers and errors call it by; its ending says what it holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    text: String,
}

/// The settings of a leaderboard that a query does not have.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BoardSettings {
    attempts: Option<Value>,
    pass: Option<Value>,
    robustness: bool,
    draws: Option<u32>,
    seed: Option<u64>,
}

const ITEMS: [&str; 7] = ["subject_field", "task_field", "rename", "where", "since", "until", "as_of"];
const SURE: [&str; 1] = ["level"];
const BOARD: [&str; 12] = [
    "card", "by", "with", "sort", "group_by", "method", "min_tasks", "attempts", "pass", "robustness",
    "draws", "seed",
];
const COMPARE: [&str; 7] = ["first", "second", "card", "fail_if_worse", "strict", "attempts", "pass"];
const RATE: [&str; 15] = [
    "system", "columns", "set", "arena", "holdout", "by", "judge", "people", "rename", "skip", "component",
    "bootstrap", "resamples", "seed", "level",
];

/// Answers a question: the document that the command of its name prints with `--format json`.
///
/// ```
/// let asked = br#"{"question": "leaderboard", "settings": {"card": "trust"}, "files": [{"name": "agents.jsonl",
///     "text": "{\"id\": \"a\", \"dimensions\": {\"accuracy\": 0.9}}\n{\"id\": \"b\", \"dimensions\": {\"accuracy\": 0.7}}"}]}"#;
/// let answer: serde_json::Value = serde_json::from_slice(&karat::json::answer(asked)?).unwrap();
/// assert_eq!(answer["leaderboards"][0]["rows"][0]["subject"], "a");
/// # Ok::<(), karat::Error>(())
/// ```
///
/// # Errors
/// If it is not a question, a setting is unknown or wrong, an item is refused, or there are too few of them.
pub fn answer(question: &[u8]) -> Result<Vec<u8>, Error> {
    let asking: Asking = serde_json::from_slice(question).map_err(|error| {
        invalid(format!("this is not a question: {error}")).hint("expected question and files")
    })?;
    match asking.question.as_str() {
        "leaderboard" => leaderboard(&asking),
        "compare" => compare(&asking),
        "gate" => gate(&asking),
        "rate" => rate(&asking),
        other => Err(invalid(format!("there is no question `{}`", crate::text::clean(other)))
            .hint("there are: leaderboard, compare, gate, rate")),
    }
}

fn leaderboard(asking: &Asking) -> Result<Vec<u8>, Error> {
    let known = [&BOARD[..], &ITEMS, &SURE].concat();
    let more: BoardSettings = asking.settings(&known)?;
    let pass = more.pass.as_ref().map(|points| decimal("pass", points)).transpose()?;
    let ask: Leaderboard = asking.settings(&known)?;
    let usual = Draws::default();
    let weights = Draws { draws: more.draws.unwrap_or(usual.draws), seed: more.seed.unwrap_or(usual.seed) };
    let attempts = more.attempts.as_ref().map(attempts).transpose()?;
    let ask = Leaderboard { attempts, pass, robustness: more.robustness, weights, ..ask };
    within(ask.sure.confidence.level)?;
    number_of("draws", ask.weights.draws.into())?;
    if ask.pass.is_some() && ask.attempts.is_none() {
        return Err(invalid("`pass` needs `attempts`").hint("attempts: the largest k of pass@k"));
    }
    let labels: Vec<String> = ask.group_by.iter().cloned().collect();
    let kept = kept(&ask);
    let selection = Selection { labels: &labels, kept: &kept, ..selection(&ask.items) };
    let mut loaded = asking.load(selection, asking.card(ask.card.as_deref())?, &ask.items, &asking.files)?;
    Ok(written(&judge_leaderboard(&ask, &Default::default(), &mut loaded.rows, &Events::default())?.answer))
}

fn compare(asking: &Asking) -> Result<Vec<u8>, Error> {
    let known = [&COMPARE[..], &ITEMS, &SURE].concat();
    let mut settings = asking.settings.clone();
    let mut points = |key: &str| settings.remove(key).map(|points| decimal(key, &points)).transpose();
    let (fail_if_worse, pass) = (points("fail_if_worse")?, points("pass")?);
    let attempts = settings.remove("attempts").map(|it| attempts(&it)).transpose()?;
    if let Some(Attempts::UpTo(_)) = attempts {
        return Err(invalid("`attempts` of a comparison is `first`"));
    }
    asking.refuse_unknown(&known)?;
    let ask = Compare { fail_if_worse, attempts, pass, ..parsed(settings)? };
    within(ask.sure.confidence.level)?;
    if ask.strict && fail_if_worse.is_none() {
        return Err(invalid("`strict` needs `fail_if_worse`").hint("fail_if_worse: 0"));
    }
    // Two files, if they are what is named; else two subjects.
    let sides = [&ask.first, &ask.second].map(|side| (side.clone(), side.clone()));
    let are_sides = sides.iter().all(|(side, _)| asking.files.iter().any(|file| file.name == *side));
    let sides = if are_sides { &sides[..] } else { &[] };
    let kept = Attempts::kept(ask.attempts);
    let selection = Selection { by_file: are_sides, sides, kept: &kept, ..selection(&ask.items) };
    let rows = asking.load(selection, asking.card(ask.card.as_deref())?, &ask.items, &asking.files)?.rows;
    let (first, second) = (ask.first.as_str(), ask.second.as_str());
    let asked = match are_sides {
        true => of_sides(&rows, first, second)?,
        false => Asked::Pair((subject(&rows, first)?, subject(&rows, second)?)),
    };
    if let Asked::Pair((one, other)) = asked
        && one == other
    {
        return Err(
            invalid("a subject cannot be compared with itself").hint("name two subjects, or two files")
        );
    }
    Ok(written(&ask.answer(&rows, asked)?))
}

fn gate(asking: &Asking) -> Result<Vec<u8>, Error> {
    let mut settings = asking.settings.clone();
    if let Some(path) = ["inputs", "baseline"].into_iter().find(|name| settings.contains_key(*name)) {
        return Err(
            invalid(format!("`{path}` names files, and a question has texts")).hint("hand over their texts")
        );
    }
    // Both are handed over as texts.
    settings.insert(String::from("inputs"), names(&asking.files));
    if !asking.baseline.is_empty() {
        settings.insert(String::from("baseline"), names(&asking.baseline));
    }
    if asking.card_text.is_some() {
        settings.entry("card").or_insert_with(|| Value::from("scorecard.toml"));
    }
    let mut text = String::new();
    for (key, value) in settings.iter().filter(|(_, value)| !value.is_null()) {
        text.push_str(&format!("{} = ", Value::from(key.as_str())));
        toml(value, &mut text);
        text.push('\n');
    }
    let project = Project::parse(&text, Path::new(crate::project::NAME))
        .map_err(|found| Error::refused_project("settings", &text, &found))?;
    let sides: Vec<(String, String)> = [(&asking.baseline, BASELINE), (&asking.files, RUN)]
        .into_iter()
        .flat_map(|(files, side)| files.iter().map(|file| (file.name.clone(), side.to_owned())))
        .collect();
    let baseline = match asking.baseline.is_empty() {
        true => Baseline::Unnamed,
        false => Baseline::Loaded(String::from("the baseline")),
    };
    let has_sides = baseline != Baseline::Unnamed;
    let kept = Attempts::kept(project.gate.attempts);
    let selection = Selection {
        by_file: has_sides,
        sides: if has_sides { &sides } else { &[] },
        alone: has_sides.then_some(RUN),
        kept: &kept,
        ..selection(&project.items)
    };
    let files = asking.baseline.iter().chain(&asking.files);
    let mut loaded = asking.load(selection, asking.card(Some(&project.card))?, &project.items, files)?;
    Ok(written(&project.gate.judge(&project.items, &mut loaded, &baseline)?.answer(Vec::new())))
}

/// Reads `attempts`: a number, or `first`.
fn attempts(value: &Value) -> Result<Attempts, Error> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.parse().map_err(|expected: String| invalid(format!("`attempts`: {expected}")))
}

fn rate(asking: &Asking) -> Result<Vec<u8>, Error> {
    asking.refuse_unknown(&RATE)?;
    let system = asking.settings.get("system").and_then(Value::as_str).and_then(SystemName::from_name);
    if system.is_none() {
        return Err(
            invalid("`system` is not a rating system").hint("elo, glicko2, weng-lin or bradley-terry")
        );
    }
    let question: Question = parsed(asking.settings.clone())?;
    question.check(false)?;
    within(question.level)?;
    number_of("resamples", question.resamples)?;
    let mut reader = MatchReader::new(&question)?;
    let wanted = reader.wanted();
    for file in &asking.files {
        let (text, layout) = (Cursor::new(&file.text), Layout::of_path(Path::new(&file.name)));
        let _ = each_item(&file.name, text, layout, &wanted, |place, row| {
            reader.add(place, row);
            ControlFlow::<()>::Continue(())
        });
    }
    Ok(written(&ratings::rate(&question, &reader.finish()?)?))
}

impl Asking {
    /// Reads the settings, of which all must be known.
    fn settings<T: DeserializeOwned>(&self, known: &[&str]) -> Result<T, Error> {
        self.refuse_unknown(known)?;
        parsed(self.settings.clone())
    }

    fn refuse_unknown(&self, known: &[&str]) -> Result<(), Error> {
        let Some(unknown) = self.settings.keys().find(|key| !known.contains(&key.as_str())) else {
            return Ok(());
        };
        let error =
            invalid(format!("`{}` is not a setting of {}", crate::text::clean(unknown), self.question));
        let near = nearest(unknown, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        Err(error.hints_from(near).hint(format!("there are: {}", known.join(", "))))
    }

    /// Returns the scorecard: the one that is given as a text, or the released one of this name.
    fn card(&self, name: Option<&str>) -> Result<Option<Arc<CompiledCard>>, Error> {
        match (&self.card_text, name) {
            (Some(text), _) => Ok(Some(Arc::new(CompiledCard::parse(text)?))),
            (None, Some(name)) => CompiledCard::released(name).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn load<'f>(
        &self,
        selection: Selection<'_>,
        card: Option<Arc<CompiledCard>>,
        items: &Items,
        files: impl IntoIterator<Item = &'f File>,
    ) -> Result<Loaded, Error> {
        let Fields { subject_field, task_field } = items.fields.clone();
        let options = Options { subject_field, task_field, ..Options::default() };
        let mut loading = Loading::new(selection, card.map(|card| (card, options)), items.as_of.as_ref())?;
        let mut read: Vec<&str> = Vec::new();
        for file in files {
            if read.contains(&file.name.as_str()) {
                return Err(Error::new(Code::InvalidOption, format!("two files are called `{}`", file.name)));
            }
            read.push(&file.name);
            loading.read(&file.name, Cursor::new(&file.text), Layout::of_path(Path::new(&file.name)))?;
        }
        loading.finish()
    }
}

fn selection(items: &Items) -> Selection<'_> {
    Selection { wish: items.wish(), renames: &items.rename, is_query: true, ..Selection::default() }
}

fn parsed<T: DeserializeOwned>(settings: Map<String, Value>) -> Result<T, Error> {
    serde_json::from_value(Value::Object(settings.clone())).map_err(|error| {
        // Alone it is wrong, too, and then it has a name.
        let is_wrong = |(key, value): &(String, Value)| {
            serde_json::from_value::<T>(json!({ key.as_str(): value })).is_err()
        };
        match settings.into_iter().find(is_wrong) {
            Some((key, value)) => invalid(format!("`{key}` is `{value}`: {error}")),
            None => invalid(error.to_string()),
        }
    })
}

fn decimal(key: &str, value: &Value) -> Result<Decimal, Error> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    points(&text).map_err(|why| invalid(format!("`{key}` is `{text}`: {why}")))
}

/// Refuses what the flags refuse before a question is asked.
fn within(asked: f64) -> Result<(), Error> {
    level(&asked.to_string()).map_err(|why| invalid(format!("`level` is `{asked}`: {why}")))?;
    Ok(())
}

fn number_of(key: &str, found: u64) -> Result<(), Error> {
    match found {
        1..=1_000_000 => Ok(()),
        other => Err(invalid(format!("`{key}` is `{other}`, expected 1 to 1,000,000"))),
    }
}

fn names(files: &[File]) -> Value {
    files.iter().map(|file| file.name.as_str()).collect()
}

/// Appends a value in TOML, whose strings are written as in JSON.
fn toml(value: &Value, out: &mut String) {
    match value {
        Value::Array(all) => {
            out.push('[');
            for element in all {
                toml(element, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, member)) in members.iter().filter(|(_, member)| !member.is_null()).enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&format!("{} = ", Value::from(key.as_str())));
                toml(member, out);
            }
            out.push('}');
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) => out.push_str(&value.to_string()),
        Value::Null => out.push_str("\"null\""),
    }
}

fn written(answer: &impl Serialize) -> Vec<u8> {
    crate::answers::write(answer).into_bytes()
}

/// A receipt or a record to check, as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Verifying {
    /// The text of a receipt, or of a record.
    text: String,
    /// The name that the answer has for it.
    #[serde(default)]
    name: String,
    /// The key of the log, if it is known.
    key: Option<String>,
    /// The receipts of the changes of that key.
    #[serde(default)]
    rotation: Vec<String>,
    /// The keys of the witnesses that must have cosigned.
    #[serde(default)]
    witness: Vec<String>,
    /// The item that was scored, as JSON.
    evidence: Option<String>,
    /// The text of the scorecard, if it is not a released one.
    card_text: Option<String>,
}

/// Checks a receipt or a record, computes its score again, and compares it with its evidence if that is given: the document that
/// `karat verify` prints with `--format json`.
///
/// # Errors
/// If the question has another form, or the key is not one.
pub fn verify(question: &[u8]) -> Result<Vec<u8>, Error> {
    let asked: Verifying = serde_json::from_slice(question).map_err(|error| invalid(error.to_string()))?;
    let key = asked.key.as_deref().map(|key| key.trim().parse::<VerifyingKey>()).transpose();
    let key = key.map_err(|error| invalid(format!("`key`: {error}")))?;
    let witnesses: Result<Vec<WitnessKey>, _> = asked.witness.iter().map(|key| key.trim().parse()).collect();
    let witnesses = witnesses.map_err(|error| invalid(format!("`witness`: {error}")))?;
    let trust = TrustedKeys::new(key.clone()).with_witnesses(witnesses);
    let trust = match key.filter(|_| !asked.rotation.is_empty()) {
        Some(key) => {
            let changes = asked.rotation.iter().map(|text| Receipt::parse(text.as_bytes())).collect();
            trust.with_rotations(&key, changes)
        }
        None => trust,
    };
    let card = asked.card_text.as_deref().map(CompiledCard::parse).transpose()?.map(Arc::new);
    let record = |claim: &Record| {
        let compared = asked.evidence.as_deref().map(|text| {
            move |card: &Arc<CompiledCard>| compared(claim, card, text).map_err(|error| error.to_string())
        });
        record_checks(claim, card.as_ref(), compared)
    };
    let verified = match Record::parse(asked.text.as_bytes()) {
        Ok(Some(claim)) => {
            let mut checks = record(&claim);
            if asked.evidence.is_none() {
                let says = "no log signed it, so only its evidence shows whose facts they are";
                checks.insert(0, Check::new("signature", CheckOutcome::Inconclusive, says));
            }
            Verified::of_record(Some(claim), checks)
        }
        _ => Verified::of_receipt(asked.text.as_bytes(), &trust, record),
    };
    Ok(written(&verified.answer(&asked.name)))
}

/// Weights on trial, as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trying {
    /// The weights by name, as a form has them.
    asked: BTreeMap<String, String>,
    given: GivenSubjects,
}

/// The subjects of a scorecard with its text: what the page of a server asks [`what_if()`] about.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenSubjects {
    /// The text of the scorecard.
    pub card: String,
    /// The subjects.
    pub subjects: what_if::Subjects,
}

/// Ranks subjects by other weights: a sentence in parts, and the cells of its tables.
///
/// # Errors
/// If the question has another form, or a weight is not one.
pub fn what_if(question: &[u8]) -> Result<Vec<u8>, Error> {
    let trying: Trying = serde_json::from_slice(question).map_err(|error| invalid(error.to_string()))?;
    // Graders that are not built in rank nothing, so the card need not score here.
    let card = Scorecard::read(&trying.given.card, &library).0;
    let card = card.ok_or_else(|| invalid("this is not a scorecard"))?;
    let wanted = what_if::asked_weights(&card, &trying.asked)
        .map_err(|(name, detail)| invalid(format!("`{name}`: {detail}")))?;
    let answer = match what_if::what_if(&trying.given.subjects, &card, &wanted) {
        Ok(tried) => json!({
            "sentence": tried.sentence, "ranking": cells(&tried.ranking), "shares": cells(&tried.shares),
        }),
        Err(why) => json!({"refused": why.to_string()}),
    };
    Ok(answer.to_string().into_bytes())
}

fn compared(claim: &Record, card: &Arc<CompiledCard>, evidence: &str) -> Result<Comparison, Error> {
    if let Some(lacking) = lacking(claim, false, false) {
        return Ok(lacking);
    }
    compare_items(claim, card, Options::default(), |wanted, take| {
        let mut end = Ok(());
        let _ =
            each_item("evidence", Cursor::new(evidence), Layout::Auto, wanted, |place, bytes| {
                match take(place, bytes) {
                    Ok(flow) => flow,
                    Err(error) => {
                        end = Err(error);
                        ControlFlow::Break(())
                    }
                }
            });
        end
    })
}

/// An error as JSON, for packages in other languages.
#[derive(Debug, Serialize)]
pub struct Failure<'e> {
    code: &'static str,
    message: &'e str,
    /// File and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    problems: Vec<Fault<'e>>,
    hints: &'e [String],
}

#[derive(Debug, Serialize)]
struct Fault<'e> {
    path: &'e str,
    /// The value found, the value expected, and what to do.
    detail: &'e str,
}

impl<'e> From<&'e Error> for Failure<'e> {
    fn from(error: &'e Error) -> Self {
        let fault = |problem: &'e crate::Problem| Fault { path: &problem.path, detail: &problem.detail };
        Self {
            code: error.code().name(),
            message: error.message(),
            place: error.place().map(ToString::to_string),
            problems: error.problems().iter().map(fault).collect(),
            hints: error.hints(),
        }
    }
}
