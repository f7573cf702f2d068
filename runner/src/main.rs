//! `karat-runner`: what karat starts where code of others is to run. It speaks the lines of `karat_run::protocol`.
//!
//! ```text
//! karat-runner run FOLDER [--judge PATH] [--runtimes DIR]    carries out a plan, as standard input says
//! karat-runner judge ...                                     is `karat judge ...`
//! ```

mod judging;

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead as _, Read as _, Write as _, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::thread;

use karat_graders::execution::Judge;
use karat_process::{Judges, Options, on_stop};
use karat_run::protocol::{self, Said};
use karat_run::{Fault, Job};
use karat_runner::{Executors, Progress, Stop, Surroundings, live};

const USAGE: &str = "\
karat-runner is started by `karat run` and `karat judge`:
  karat-runner run FOLDER [--judge PATH] [--runtimes DIR]
  karat-runner judge ...
  karat-runner --version";

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    let is_flag = |word: &OsString| word.to_string_lossy().starts_with("--color");
    if env::args_os().skip(1).find(|word| !is_flag(word)).is_some_and(|verb| verb == "judge") {
        return judging::main(arguments);
    }
    let verb = arguments.next().unwrap_or_default();
    let done = match verb.to_str() {
        Some("--version") => say_line(concat!("karat-runner ", env!("CARGO_PKG_VERSION"))),
        Some("run") => match Run::parse(arguments) {
            Some(run) => run.carry_out(),
            None => Err(io::Error::other(USAGE)),
        },
        _ => Err(io::Error::other(USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("karat-runner: {error}");
            ExitCode::FAILURE
        }
    }
}

fn say_line(line: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn say(said: &Said) -> io::Result<()> {
    say_line(&serde_json::to_string(said)?)
}

/// A run, as the arguments say.
struct Run {
    folder: PathBuf,
    judge: Option<PathBuf>,
    runtimes: Option<PathBuf>,
}

impl Run {
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut run = Self { folder: arguments.next()?.into(), judge: None, runtimes: None };
        while let Some(flag) = arguments.next() {
            let value = Some(PathBuf::from(arguments.next()?));
            match flag.to_str()? {
                "--judge" => run.judge = value,
                "--runtimes" => run.runtimes = value,
                _ => return None,
            }
        }
        Some(run)
    }

    /// Reads executors and a plan from standard input, and says how the run goes.
    fn carry_out(&self) -> io::Result<()> {
        let Some(file) = hear::<protocol::Executors>()? else { return Ok(()) };
        let judges: OnceLock<Arc<dyn Judge>> = OnceLock::new();
        let judge = || {
            let options = || Options { runtimes: self.runtimes.clone(), ..Options::default() };
            Arc::clone(judges.get_or_init(|| Arc::new(Judges::found(self.judge.as_deref(), options()))))
        };
        let folder: &Path = &self.folder;
        let around = Surroundings { folder, variable: &|name| env::var(name).ok(), judge: &judge };
        let executors = match Executors::parse(&file.executors, &around) {
            Ok(executors) => executors,
            Err(faults) => return say(&Said::Refused(faults)),
        };
        say(&Said::Ready {
            retries_max: executors.retries_max,
            subnets: executors.subnets(),
            gaps: executors.gaps().to_vec(),
        })?;
        // Without a plan there is nothing to run: karat found a fault in it.
        let Some(start) = hear::<protocol::Start>()? else { return Ok(()) };
        let retries_max = Some(executors.retries_max);
        let Ok((job, _)) = Job::new(start.plan.as_bytes(), start.task.as_bytes(), None, retries_max) else {
            let fault = Fault::new("the plan was checked by another version of karat", "build both again");
            return say(&Said::Refused(vec![fault]));
        };
        let stop = Arc::new(Stop::default());
        let asked = Arc::clone(&stop);
        on_stop(move || asked.ask())?;
        let asked = Arc::clone(&stop);
        thread::Builder::new().spawn(move || {
            // It ends with karat, or when karat wants the run to end.
            let _ = stdin().lock().read_to_end(&mut Vec::new());
            asked.ask();
        })?;
        let ended = live(&job, &executors, &stop, &|progress| {
            let said = match progress {
                Progress::Began { step, .. } => Said::Began(step.to_owned()),
                Progress::Ended(attempt) => Said::ended(attempt),
            };
            // Where no one listens, nothing goes on.
            if say(&said).is_err() {
                stop.ask();
            }
        });
        say(&match ended {
            Ok(ended) => Said::Done { recording: ended.recording.text(), fault: ended.fault },
            Err(faults) => Said::Refused(faults),
        })
    }
}

/// Reads a message; none at the end of standard input.
fn hear<T: serde::de::DeserializeOwned>() -> io::Result<Option<T>> {
    let mut line = String::new();
    if stdin().lock().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}
