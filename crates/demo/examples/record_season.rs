//! Runs and records the plans of the demo's workflow again: `cargo run -p karat-demo --example record_season`.
//!
//! It runs every plan of `examples/season/crossing` with the services of each recorder and writes `recordings/`, signed
//! with the keys of the demo. Costs, durations and outputs come from the runs. Only the start of a run is set, to
//! the moment at which the recorder of the demo begins it: a server refuses recordings of the future, and the clock of
//! the demo shows a day in June. Needs `python3`, and the programs `karat` (named in `KARAT`, else in `PATH`) and `karat-runner`.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use karat_demo::crossing::{Run, plan_path, runs, signer, task_path};
use karat_evidence::canonical_json;
use karat_run::{Fault, Job, Recording};
use serde_json::Value;

type Failed = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"));
    let task = fs::read(examples.join(task_path()))?;
    for run in runs() {
        let recording = record(examples, &task, &run)?;
        let path = examples.join(run.path());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, recording.text())?;
        println!("{}: {} attempts", run.path(), recording.attempts().len());
    }
    Ok(())
}

/// Runs a plan with the services of a recorder, and returns what it signs.
fn record(examples: &Path, task: &[u8], run: &Run) -> Result<Recording, Failed> {
    let plan = fs::read(examples.join(plan_path(run.miner)))?;
    let (job, _) = Job::new(&plan, task, Some(run.miner), Some(1)).map_err(|refusal| {
        format!("{}: {} {} {:?}", plan_path(run.miner), refusal.plan, refusal.task, refusal.faults)
    })?;
    let services = examples.join("season/crossing/recorders").join(format!("{}.toml", run.recorder));
    let kept = tempfile::tempdir()?;
    let kept = kept.path().join("run.jsonl");
    let mut karat = Command::new(std::env::var_os("KARAT").unwrap_or_else(|| "karat".into()));
    karat.arg("run").arg(examples.join(plan_path(run.miner))).arg("--task").arg(examples.join(task_path()));
    karat.args(["--subject", run.miner, "--executors"]).arg(services).arg("--record").arg(&kept);
    if !karat.stdout(Stdio::null()).status()?.success() {
        return Err(format!("{} was not run", plan_path(run.miner)).into());
    }
    let recorded = Recording::parse(&fs::read_to_string(kept)?).map_err(all)?;
    let mut recording = begun(&recorded, run)?;
    recording.sign(&signer(run.recorder)?)?;
    job.replay(&recording).map_err(all)?;
    Ok(recording)
}

/// Returns a recording with the start that the run has in the demo.
fn begun(recording: &Recording, run: &Run) -> Result<Recording, Failed> {
    let (head, attempts) = recording.lines().split_once('\n').ok_or("a recording has lines")?;
    let mut head: Value = serde_json::from_str(head)?;
    head["started_microseconds"] = (run.begins.milliseconds * 1000).into();
    let lines = format!("{}\n{attempts}", canonical_json(&head));
    // The signature replaces the note.
    Recording::parse(&Recording::signed_text(&lines, "unsigned")).map_err(all)
}

fn all(faults: Vec<Fault>) -> Failed {
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into()
}
