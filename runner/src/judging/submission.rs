//! Submissions from files: an answer, a match, or the files that a challenge runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, stdin};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use karat::card::CompiledCard;
use karat::text::{clean, list};
use karat_evidence::json::parse::Limits;
use karat_evidence::json::value;
use karat_graders::arena::Evaluator;
use serde_json::{Map, Value, json};

use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::input::read_text;

/// The largest file of a submission that is read, in bytes. What a challenge takes is less.
const MAX_BYTES: u64 = 32 << 20;

/// A reader of submissions to one challenge.
pub struct Submissions<'a> {
    evaluator: &'a Evaluator,
    id: &'a str,
    truth: Option<Value>,
}

/// A submission.
#[derive(Debug, Clone, PartialEq)]
pub enum Submission {
    /// A match as it was played, the answer in it.
    Match(Value),
    /// An answer.
    Answer(Value),
}

impl<'a> Submissions<'a> {
    /// Returns a reader.
    ///
    /// # Errors
    ///
    /// If the card runs nothing, or the right answer cannot be read.
    pub fn new(card: &'a CompiledCard, truth: Option<&str>) -> Result<Self, Failure> {
        let name = clean(&card.name()).into_owned();
        let Some(evaluator) = card.evaluator().filter(|evaluator| evaluator.runs_code()) else {
            return Err(Failure::new(format!("`{name}` runs nothing, so there is nothing to judge"))
                .help("a challenge that runs code has a part with `primitive = \"tests\"` or \"script\"")
                .help("other matches are scored: karat score --card CARD FILE"));
        };
        let truth = truth.map(|path| json_of(path, "a right answer")).transpose()?;
        Ok(Self { evaluator, id: &card.id, truth })
    }

    /// Reads a submission.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not what the challenge runs.
    pub fn read(&self, path: &str) -> Result<Submission, Failure> {
        let place = Path::new(path);
        let wanted = self.evaluator.submission().map_or_else(Vec::new, |(_, paths)| paths);
        if place.is_dir() {
            let read = |name: &&str| Ok(((*name).to_owned(), text_of(&place.join(name))?));
            let files = wanted.iter().map(read).collect::<Result<BTreeMap<_, _>, Failure>>()?;
            return Ok(Submission::Answer(self.evaluator.answer_of(&files)));
        }
        if path == "-" || place.extension().is_some_and(|it| it.eq_ignore_ascii_case("json")) {
            let value = json_of(path, "an answer")?;
            return self.of_json(path, value);
        }
        let [wanted] = wanted.as_slice() else {
            let names: Vec<String> = wanted.iter().map(|name| format!("`{}`", clean(name))).collect();
            let (message, help) = match names.is_empty() {
                true => {
                    ("this challenge runs no file of the submission", "give the answer as JSON".to_owned())
                }
                false => (
                    "this challenge runs several files",
                    format!("give an answer as JSON, or a folder with {}", list(&names)),
                ),
            };
            return Err(Failure::new(format!("`{}`: {message}", clean(path))).help(help));
        };
        let files = BTreeMap::from([((*wanted).to_owned(), text_of(place)?)]);
        Ok(Submission::Answer(self.evaluator.answer_of(&files)))
    }

    fn of_json(&self, path: &str, value: Value) -> Result<Submission, Failure> {
        let Value::Object(members) = &value else {
            let message = format!(
                "`{}` is not an answer: expected an object, with a member for each field",
                clean(path)
            );
            return Err(Failure::new(message));
        };
        if members.contains_key("payload") && members.contains_key("match_id") {
            if self.truth.is_some() {
                let failure =
                    Failure::new(format!("`{}` is a match, which has its right answer", clean(path)));
                return Err(failure.help("leave out --truth"));
            }
            return Ok(Submission::Match(value));
        }
        let is_payload = members.keys().all(|name| ["answer", "metadata"].contains(&name.as_str()));
        let answer = match members.get("answer").filter(|_| is_payload) {
            Some(answer) => answer.clone(),
            None => value,
        };
        Ok(Submission::Answer(answer))
    }

    /// Returns a submission as a match. What only play can give is the same for all: it took no time, and has no log.
    pub fn item(&self, submission: &Submission) -> Value {
        let answer = match submission {
            Submission::Match(item) => return item.clone(),
            Submission::Answer(answer) => answer,
        };
        let moment = "2000-01-01T00:00:00Z";
        json!({
            "match_id": "judged",
            "agent_id": "submission",
            "challenge": self.id,
            "started_at": moment,
            "submitted_at": moment,
            "time_limit_secs": 3600,
            "attempt_number": 1,
            "memoryless": false,
            "ground_truth": self.truth.clone().unwrap_or_else(|| Value::Object(Map::new())),
            "payload": {"answer": answer},
        })
    }

    /// Returns the same submission without any answer.
    pub fn emptied(&self, submission: &Submission) -> Submission {
        match submission {
            Submission::Answer(_) => Submission::Answer(Value::Object(Map::new())),
            Submission::Match(item) => {
                let mut item = item.clone();
                item["payload"] = json!({"answer": {}});
                Submission::Match(item)
            }
        }
    }
}

fn json_of(path: &str, what: &str) -> Result<Value, Failure> {
    let text = read_text(path, what, Exit::CouldNotRun)?;
    value::read(text.as_bytes(), &Limits { max_bytes: usize::MAX, ..Limits::default() }).map_err(|problems| {
        Failure::new(format!("`{}` is not {what}: {problems}", clean(path)))
            .help("JSON is read from files that end in `.json` and from standard input")
    })
}

/// Reads a file that a challenge runs: text, or a module as Base64.
fn text_of(path: &Path) -> Result<String, Failure> {
    let shown = path.display().to_string();
    let mut bytes = Vec::new();
    let read = match shown.as_str() {
        "-" => stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes),
        _ => File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| Failure::reading(&shown, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        let size = fs::metadata(path).map_or(MAX_BYTES, |found| found.len());
        return Err(Failure::new(format!("`{shown}` has {size} bytes, expected at most {MAX_BYTES}")));
    }
    if path.extension().is_some_and(|it| it == "wasm") {
        return Ok(STANDARD.encode(bytes));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::new(format!("`{shown}` is not source code: byte {at} is not UTF-8 text"))
    })
}
