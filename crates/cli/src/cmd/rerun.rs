//! `karat verify --rerun`: replays a recording for the evidence of a run, or judges a match again for its record, and compares the
//! bytes.

use karat::answers::{ChangedPart, CheckOutcome};
use karat::document::Verified as Words;
use karat::record::Record;
use karat::text::count;
use karat::verification::Check;
use karat_evidence::json::parse::Limits;
use karat_evidence::json::value;
use karat_run::{Fault, Job, RECORDING_MARK, Recording};
use karat_store::log::VerifyingKey;
use serde_json::{Map, Value};

use crate::args::{Cli, VerifyArgs};
use crate::cmd::verify::{Against, Report};
use crate::receipt;
use karat::receipt::Verified;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::input::read_text;

/// Runs again what is in the file at `path`: a recording, or a match as it was played.
pub fn run(args: &VerifyArgs, path: &str, cli: &Cli) -> Result<Exit, Failure> {
    if args.receipts.iter().chain([&path.to_owned()]).filter(|path| *path == "-").count() > 1 {
        let failure = Failure::new("standard input can be read only once");
        return Err(failure.help("give recording and evidence as files"));
    }
    let text = read_text(path, "a recording or a match", Exit::VerificationFailed)?;
    let is_match = !text.as_bytes().starts_with(RECORDING_MARK)
        && serde_json::from_str::<Value>(&text).is_ok_and(|item| item.get("payload").is_some());
    if is_match {
        return rejudge(args, path, cli);
    }
    if args.card.is_some() || args.graders.judge.is_some() {
        let flag = if args.card.is_some() { "--card" } else { "--judge" };
        return Err(Failure::new(format!("{flag} is for a match, and `{path}` is something else"))
            .help(format!("leave out {flag}")));
    }
    replay(args, &text, cli)
}

/// Judges the match at `path` again for every record; the worst one decides the status.
fn rejudge(args: &VerifyArgs, path: &str, cli: &Cli) -> Result<Exit, Failure> {
    if path == "-" {
        return Err(Failure::new("a match is read once for each record, found standard input")
            .help("give it as a file"));
    }
    if args.key.is_some() {
        return Err(Failure::new("--key is for recordings and receipts, and a match has no signature").help(
            "leave out --key; a receipt of its record is checked by `karat verify RECEIPT --evidence MATCH`",
        ));
    }
    let against = Against::new(args, Some(path), cli)?;
    let mut report = Report::new(args.format.chosen()?, cli.color);
    for file in &args.receipts {
        let text = read_text(file, "a record", Exit::VerificationFailed)?;
        let checks = match Record::parse(text.trim_end().as_bytes()) {
            Ok(Some(claim)) => against.record(&claim),
            Ok(None) => vec![Check::new("record", CheckOutcome::Failed, "the file is not a record of karat")],
            Err(error) => vec![Check::failed("record", CheckOutcome::Failed, &error)],
        };
        let words = Words { file, about: None, verified: "judged again, the match gives the same bytes" };
        let verified = Verified::of_record(None, checks);
        report.add(&verified.answer(file), &verified.checks, words)?;
    }
    report.end()
}

/// Checks every file of evidence against the recording; the worst one decides the status.
fn replay(args: &VerifyArgs, recording: &str, cli: &Cli) -> Result<Exit, Failure> {
    let key = args.key.as_deref().map(receipt::key).transpose()?;
    let recording = Recording::parse(recording);
    let mut report = Report::new(args.format.chosen()?, cli.color);
    for file in &args.receipts {
        let evidence = read_text(file, "the evidence of a run", Exit::VerificationFailed)?;
        let checks = checks(&recording, key.as_ref(), &evidence);
        let words =
            Words { file, about: None, verified: "the evidence follows from plan, task and recording" };
        let verified = Verified::of_record(None, checks);
        report.add(&verified.answer(file), &verified.checks, words)?;
    }
    report.end()
}

fn checks(
    recording: &Result<Recording, Vec<Fault>>,
    key: Option<&VerifyingKey>,
    evidence: &str,
) -> Vec<Check> {
    let recording = match recording {
        Ok(recording) => recording,
        Err(faults) => return vec![failed("recording", faults).because(ChangedPart::Text)],
    };
    let attempts = count(recording.attempts().len(), "attempt");
    let says = format!("{attempts}, {}", recording.digest());
    vec![
        Check::new("recording", CheckOutcome::Verified, says),
        signature(recording, key),
        replayed(recording, evidence),
    ]
}

fn signature(recording: &Recording, key: Option<&VerifyingKey>) -> Check {
    let Some(key) = key else {
        let says =
            if recording.is_signed() { "not checked: no key was given (--key)" } else { "it is not signed" };
        return Check::new("signature", CheckOutcome::Inconclusive, says);
    };
    match recording.verify(key) {
        Ok(()) => Check::new("signature", CheckOutcome::Verified, format!("by {key}")),
        Err(error) => Check::of_lines("signature", CheckOutcome::Failed, &error.to_string()),
    }
}

fn replayed(recording: &Recording, evidence: &str) -> Check {
    let line = evidence.strip_suffix('\n').unwrap_or(evidence);
    let failed_as =
        |says: &str| Check::of_lines("evidence", CheckOutcome::Failed, says).because(ChangedPart::Evidence);
    let item = match value::read(line.as_bytes(), &Limits::default()) {
        Ok(Value::Object(item)) => item,
        Ok(_) => return failed_as("the file is not one item of evidence"),
        Err(problems) => return failed_as(&format!("the file is not one item of evidence\n{problems}")),
    };
    let job = match Job::of_evidence(&item) {
        Ok(job) => job,
        Err(refusal) => {
            let problems = refusal.plan.iter().chain(refusal.task.iter()).map(ToString::to_string);
            let all: Vec<String> = problems.chain(refusal.faults.iter().map(ToString::to_string)).collect();
            return failed_as(&all.join("\n"));
        }
    };
    match job.replay(recording) {
        Ok(run) if run.evidence == line => {
            Check::new("evidence", CheckOutcome::Verified, "the replay gives the same bytes")
        }
        Ok(run) => {
            let given = serde_json::from_str(&run.evidence).unwrap_or_default();
            let says = "the replay gives other evidence";
            Check::new("evidence", CheckOutcome::Failed, says)
                .details(different(&item, &given))
                .because(ChangedPart::Evidence)
        }
        Err(faults) => failed("evidence", &faults).because(ChangedPart::Evidence),
    }
}

fn failed(name: &'static str, faults: &[Fault]) -> Check {
    let all: Vec<String> = faults.iter().map(ToString::to_string).collect();
    Check::of_lines(name, CheckOutcome::Failed, &all.join("\n"))
}

/// Names the members in which two items differ, those of the result by themselves.
fn different(item: &Map<String, Value>, replayed: &Map<String, Value>) -> Vec<String> {
    let mut names = Vec::new();
    compare("", item, replayed, &mut names);
    if names.is_empty() {
        names.push("the members are the same: keep the line as `karat run` wrote it".to_owned());
    }
    names
}

fn compare(path: &str, item: &Map<String, Value>, replayed: &Map<String, Value>, names: &mut Vec<String>) {
    let of_both = item.keys().chain(replayed.keys().filter(|key| !item.contains_key(*key)));
    for key in of_both.filter(|key| item.get(*key) != replayed.get(*key)) {
        match (item.get(key), replayed.get(key)) {
            (Some(Value::Object(one)), Some(Value::Object(other))) if key == "result" => {
                compare("result.", one, other, names);
            }
            (Some(_), Some(_)) => names.push(format!("`{path}{key}` differs")),
            (Some(_), None) => names.push(format!("`{path}{key}` is not of the run")),
            (None, _) => names.push(format!("`{path}{key}` is missing")),
        }
    }
}
