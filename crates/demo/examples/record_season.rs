//! Runs and records the plans of the demo's workflow again: `cargo run -p karat-demo --example record_season`.
//!
//! It runs every plan of `examples/season/crossing` with the services of each recorder and writes `recordings/`, signed
//! with the keys of the demo. Costs, durations and outputs are those of the runs. Only the start of a run is set, to
//! the moment at which the recorder of the demo begins it: a server refuses recordings of the future, and the clock of
//! the demo shows a day in June. Needs `python3`.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use karat_demo::crossing::{Run, plan_path, runs, signer, task_path};
use karat_evidence::canonical_json;
use karat_run::judge::{Judges, Options};
use karat_run::{Executors, Fault, Job, Recording, Stop, Surroundings};
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
    let folder = examples.join("season/crossing/recorders");
    let services = fs::read_to_string(folder.join(format!("{}.toml", run.recorder)))?;
    let judge =
        || Arc::new(Judges::found(None, Options::default())) as Arc<dyn karat_graders::execution::Judge>;
    let around = Surroundings { folder: &folder, variable: &|name| std::env::var(name).ok(), judge: &judge };
    let executors = Executors::parse(&services, &around).map_err(all)?;
    let (job, _) = Job::new(&plan, task, Some(run.miner), Some(1)).map_err(|refusal| {
        format!("{}: {} {} {:?}", plan_path(run.miner), refusal.plan, refusal.task, refusal.faults)
    })?;
    let ended = job.run(&executors, &Stop::default(), &|_| {}).map_err(all)?;
    if let Some(fault) = ended.fault {
        return Err(fault.into());
    }
    let mut recording = begun(&ended.recording, run)?;
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
