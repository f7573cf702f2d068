//! Prints jobs for judges that must answer the same, a line each: `cargo run --release --example jobs -- [--every N]`.
//!
//! The jobs are all answers to the exercises of `examples/judge`, right and wrong, and its hostile submissions; of those
//! every `N`th of each file. `scripts/cross-judge` asks them of every build.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a helper that cannot go on must stop"
)]

#[path = "../tests/shown/mod.rs"]
mod shown;

use std::io::{self, BufWriter, Write as _};
use std::sync::Mutex;

use karat_graders::execution::{Job, Judge, Report, Unjudged};
use serde_json::json;
use shown::{attacks, exercises};

/// A judge that only notes what it is asked.
#[derive(Debug, Default)]
struct Noted(Mutex<Vec<Job>>);

impl Judge for Noted {
    fn judge(&self, job: &Job) -> Result<Report, Unjudged> {
        self.0.lock().unwrap().push(job.clone());
        Err(Unjudged::NoVerdict("only noted".to_owned()))
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let every: usize = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => 1,
        ["--every", count] => count.parse().ok().filter(|count| *count > 0).expect("a number after --every"),
        other => panic!("expected `--every N`, found {other:?}"),
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let mut send = |name: String, job: &Job| writeln!(out, "{}", json!({"id": name, "job": job}));
    for folder in exercises::all() {
        for stem in [vec!["reference".to_owned()], exercises::wrong(&folder)].concat() {
            let noted = Noted::default();
            exercises::evaluate(&folder, &stem, &noted);
            for job in noted.0.into_inner().unwrap() {
                send(format!("{folder}, {stem}"), &job)?;
            }
        }
    }
    for name in attacks::all() {
        let file = attacks::File::of(&name);
        for attack in file.attack.iter().step_by(every) {
            send(format!("{name}, {}", attack.name), &attack.job(&file))?;
        }
    }
    out.flush()
}
