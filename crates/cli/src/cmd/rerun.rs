//! `karat verify --rerun`: replays a recording for the evidence of a run, and compares the bytes.

use std::io::Write as _;

use karat::answers::verification::{Verification, VerificationSchema};
use karat::answers::{self, ChangedPart, CheckOutcome, VerificationStatus};
use karat::text::count;
use karat::verification::{Check, causes, status};
use karat_run::{Fault, Job, Recording};
use karat_store::log::VerifyingKey;
use serde_json::{Map, Value};

use crate::args::{Cli, VerifyArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::read_text;
use crate::output::{Screen, is_watched, lines};
use crate::receipt;
use crate::render::verification::{Shown, verification};

/// Checks every file of evidence against the recording; the status is that of the worst.
pub fn run(args: &VerifyArgs, path: &str, cli: &Cli) -> Result<Exit, Failure> {
    if args.receipts.iter().chain([&path.to_owned()]).filter(|path| *path == "-").count() > 1 {
        let failure = Failure::new("standard input can be read only once");
        return Err(failure.help("give recording and evidence as files"));
    }
    let key = args.key.as_deref().map(receipt::key).transpose()?;
    let recording = read_text(path, "a recording", Exit::VerificationFailed)?;
    let recording = Recording::parse(&recording);
    let as_json = args.json || (!args.table && !is_watched());
    let mut screen = Screen::stdout(cli.color);
    let mut worst = VerificationStatus::Verified;
    for (place, file) in args.receipts.iter().enumerate() {
        let evidence = read_text(file, "the evidence of a run", Exit::VerificationFailed)?;
        let checks = checks(&recording, key.as_ref(), &evidence);
        worst = worst.max(status(&checks));
        if as_json {
            let answer = Verification {
                schema: VerificationSchema::V1,
                file: file.clone(),
                status: status(&checks),
                checks: checks.iter().map(|check| check.shown.clone()).collect(),
                changed: causes(&checks),
                entry: None,
                log: None,
            };
            let mut out = lines();
            writeln!(out, "{}", answers::write(&answer))?;
            out.flush()?;
        } else {
            let gap = if place > 0 { "\n" } else { "" };
            let verified = "the evidence follows from plan, task and recording";
            let shown = Shown { file, about: None, checks: &checks, verified };
            write!(screen, "{gap}{}", verification(&shown, screen.width))?;
            screen.flush()?;
        }
    }
    Ok(worst.into())
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
    let Ok(Value::Object(item)) = serde_json::from_str(line) else {
        let says = "the file is not one item of evidence";
        return Check::new("evidence", CheckOutcome::Failed, says).because(ChangedPart::Evidence);
    };
    let job = match Job::of_evidence(&item) {
        Ok(job) => job,
        Err(refusal) => {
            let problems = refusal.plan.iter().chain(refusal.task.iter()).map(ToString::to_string);
            let all: Vec<String> = problems.chain(refusal.faults.iter().map(ToString::to_string)).collect();
            return Check::of_lines("evidence", CheckOutcome::Failed, &all.join("\n"))
                .because(ChangedPart::Evidence);
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
