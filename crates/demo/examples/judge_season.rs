//! Judges the season of the demo again: `cargo run -p karat-demo --example judge_season [-- --check]`.
//!
//! It plays the season with the judges of this machine and writes `examples/season/judged.jsonl`; with `--check` it writes nothing
//! and fails if the reports are others than those that are kept. Needs `karat-judge` and its runtime (docs/guide/execution.md).

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use karat_demo::judged::Judged;
use karat_graders::execution::{Job, Judge, Report, Unjudged};
use karat_server::clock::Clock;
use karat_server::{Options, Server};

/// A judge, and what it has said.
#[derive(Debug)]
struct Kept {
    judge: Arc<dyn Judge>,
    said: Mutex<Judged>,
}

impl Judge for Kept {
    fn judge(&self, job: &Job) -> Result<Report, Unjudged> {
        let report = self.judge.judge(job)?;
        self.said.lock().unwrap_or_else(PoisonError::into_inner).keep(job, report.clone());
        Ok(report)
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(words) => {
            println!("{words}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/season/judged.jsonl");
    let home = std::env::temp_dir().join(format!("karat-season-{}", std::process::id()));
    let address = "127.0.0.1:0".parse().map_err(|error| format!("{error}"))?;
    let clock = Clock::fixed(karat_demo::BEGINNING);
    let server = Server::bind_at(&home, None, address, Options::default(), clock, &mut |_, _| {});
    let server = server.map_err(|error| error.to_string())?;
    let judge = server.app.judging.judge();
    let kept = Arc::new(Kept { judge, said: Mutex::default() });
    let filled = karat_demo::fill_by(&server.app, Arc::<Kept>::clone(&kept));
    let waiting = server.app.memory.arena.state().waiting().count();
    drop(server);
    // What cannot be removed is a folder of the system's for such things.
    let _ = std::fs::remove_dir_all(&home);
    filled.map_err(|error| error.to_string())?;
    if waiting > 0 {
        return Err(format!("{waiting} answers have no verdict: is there a judge, and its runtime?"));
    }
    let lines = kept.said.lock().unwrap_or_else(PoisonError::into_inner).lines();
    let before = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    if lines == before {
        return Ok(format!("{} reports, as they are kept", lines.lines().count()));
    }
    if std::env::args().any(|argument| argument == "--check") {
        return Err(format!("{path}: the judge says otherwise; run this without --check"));
    }
    std::fs::write(path, &lines).map_err(|error| format!("{path}: {error}"))?;
    Ok(format!("{} reports, written", lines.lines().count()))
}
