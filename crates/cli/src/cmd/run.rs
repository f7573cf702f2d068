//! `karat run`: carries out a workflow plan by executors, or replays a recording, and writes the evidence.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{IsTerminal as _, Write as _, stderr};
use std::path::Path;

use karat::text::{clean, count, list};
use karat_process::on_stop;
use karat_run::protocol::{Executors, Said, Start};
use karat_run::{Fault, Job, Notes, RECORDING_MARK, Recording, Refusal, Run};
use karat_store::log::Signer;
use karat_store::secret::Secret;

use crate::args::{Cli, RunArgs};
use crate::attempts::{document, ended};
use crate::progress::Progress;
use crate::receipt;
use crate::runner::Runner;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::input::read_text;
use karat_terminal::output::{CARE, Screen, replace_own, tell};

/// Runs or replays, and reports.
pub fn run(args: &RunArgs, cli: &Cli) -> Result<Exit, Failure> {
    let sources = [Some(&args.plan), Some(&args.task), args.executors.as_ref(), args.replay.as_ref()];
    if sources.into_iter().flatten().filter(|path| *path == "-").count() > 1 {
        return Err(Failure::new("standard input can be read only once").help("give the others as files"));
    }
    let plan = read_text(&args.plan, "a plan", Exit::CouldNotRun)?;
    let task = read_text(&args.task, "a task", Exit::CouldNotRun)?;
    match (&args.replay, &args.executors) {
        (Some(path), _) => replay(args, cli, (&plan, &task), path),
        (None, Some(path)) => live(args, cli, (&plan, &task), path),
        (None, None) => {
            Err(Failure::new("nothing says who carries out the steps").help("add --executors FILE"))
        }
    }
}

fn live(args: &RunArgs, cli: &Cli, (plan, task): (&str, &str), path: &str) -> Result<Exit, Failure> {
    let text = read_text(path, "a file of executors", Exit::CouldNotRun)?;
    let folder = Path::new(path).parent().filter(|_| path != "-").unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut words = vec![OsStr::new("run"), folder.as_os_str()];
    for (flag, given) in [("--judge", &args.judge), ("--runtimes", &args.runtimes)] {
        words.extend(given.iter().flat_map(|path| [OsStr::new(flag), path.as_os_str()]));
    }
    let mut runner = Runner::start(words)?;
    runner.send(&Executors { executors: text })?;
    let (retries_max, subnets, gaps, faults) = match runner.hear()? {
        Said::Ready { retries_max, subnets, gaps } => (Some(retries_max), subnets, gaps, Vec::new()),
        Said::Refused(faults) => (None, Vec::new(), Vec::new(), faults),
        other => return Err(Failure::new(format!("`karat-runner` gave an unexpected answer: {other:?}"))),
    };
    let job = Job::new(plan.as_bytes(), task.as_bytes(), args.subject.as_deref(), retries_max);
    let (job, notes) = match job {
        Ok(checked) if faults.is_empty() => checked,
        job => {
            let said = Errors { cli };
            job.err().iter().for_each(|refusal| said.refusal(refusal, args));
            return Err(refused(&faults, cli, Some(path), Exit::CouldNotRun));
        }
    };
    let missing = job.missing(&subnets);
    if !missing.is_empty() {
        return Err(refused(&missing, cli, Some(path), Exit::CouldNotRun));
    }
    // Whatever can go wrong with the recording is found before anything is paid for.
    let signer = args.sign.as_deref().map(signer).transpose()?;
    if let Some(record) = &args.record {
        check_place(record)?;
    }
    tell_notes(&notes, args, cli)?;
    for gap in gaps {
        writeln!(Screen::stderr(cli.color), "{CARE}note{CARE:#}: {}", clean(&gap.to_string()))?;
    }
    if args.record.is_none() && stderr().is_terminal() {
        let mut screen = Screen::stderr(cli.color);
        writeln!(
            screen,
            "{CARE}note{CARE:#}: nothing is recorded, so this run cannot be replayed (--record FILE)"
        )?;
    }

    on_stop(runner.stopper()).map_err(|error| Failure::new(format!("cannot wait for signals: {error}")))?;
    runner.send(&Start { plan: job.plan_text(), task: job.task_text() })?;
    let (text, fault) = follow(&mut runner, args, cli)?;
    let of_runner = |faults: Vec<Fault>| refused(&faults, cli, None, Exit::CouldNotRun);
    let mut recording = Recording::parse(&text).map_err(of_runner)?;
    let run = job.replay(&recording).map_err(of_runner)?;
    let saved = match &args.record {
        None => Ok(None),
        Some(record) => save(&mut recording, record, signer.as_ref()).map(Some),
    };
    // The evidence is written even where the recording could not be.
    show(&job, &run, &recording, args, cli)?;
    if let Some(path) = saved? {
        let signed = match &signer {
            Some(signer) => format!(", signed by {}", signer.verifying_key()),
            None => String::new(),
        };
        writeln!(Screen::stderr(cli.color), "recorded in {}{signed}", clean(&path))?;
    }
    if let Some(fault) = fault {
        return Err(Failure::new(fault).help("the run was stopped there; what was done is in its evidence"));
    }
    Ok(if run.is_stopped { Exit::Stopped } else { Exit::Done })
}

/// Shows the steps until the run has ended. Returns the text of the recording, and why the run could not go on.
fn follow(runner: &mut Runner, args: &RunArgs, cli: &Cli) -> Result<(String, Option<String>), Failure> {
    let bar = Progress::of_steps(args.no_progress);
    let is_shown = !args.no_progress && stderr().is_terminal();
    let mut under_way = BTreeSet::new();
    loop {
        match runner.hear()? {
            Said::Began(step) => drop(under_way.insert(clean(&step).into_owned())),
            Said::Ended(line) => {
                let attempt =
                    Said::attempt(&line).map_err(|faults| refused(&faults, cli, None, Exit::CouldNotRun))?;
                under_way.remove(clean(&attempt.step).as_ref());
                if is_shown {
                    // A run goes on without its terminal.
                    let _ = bar.aside(|| write!(Screen::stderr(cli.color), "{}", ended(&attempt)));
                }
            }
            Said::Done { recording, fault } => return Ok((recording, fault)),
            Said::Refused(faults) => {
                drop(bar);
                return Err(refused(&faults, cli, None, Exit::CouldNotRun));
            }
            Said::Ready { .. } => {}
        }
        bar.doing(list(&under_way.iter().collect::<Vec<_>>()));
    }
}

fn replay(args: &RunArgs, cli: &Cli, (plan, task): (&str, &str), path: &str) -> Result<Exit, Failure> {
    let job = Job::new(plan.as_bytes(), task.as_bytes(), args.subject.as_deref(), None);
    let (job, notes) = job.map_err(|refusal| {
        Errors { cli }.refusal(&refusal, args);
        Failure::Shown(Exit::CouldNotRun)
    })?;
    let failed = |faults: &[Fault]| refused(faults, cli, Some(path), Exit::VerificationFailed);
    let text = read_text(path, "a recording", Exit::VerificationFailed)?;
    let recording = Recording::parse(&text).map_err(|faults| failed(&faults))?;
    if let Some(key) = args.key.as_deref().map(receipt::key).transpose()? {
        recording
            .verify(&key)
            .map_err(|error| Failure::with_exit(Exit::VerificationFailed, format!("{path}: {error}")))?;
    }
    let run = job.replay(&recording).map_err(|faults| failed(&faults))?;
    tell_notes(&notes, args, cli)?;
    show(&job, &run, &recording, args, cli)?;
    Ok(Exit::Done)
}

/// Writes the evidence, or the document of the run.
fn show(job: &Job, run: &Run, recording: &Recording, args: &RunArgs, cli: &Cli) -> Result<(), Failure> {
    match args.format.chosen()? {
        Chosen::Json => format::text(&format!("{}\n", run.evidence)),
        Chosen::Form(form) => format::emit(&document(job, run, recording), form),
        Chosen::Screen => {
            let document = document(job, run, recording);
            format::screen(&document, (usize::MAX, ""), &mut Screen::stdout(cli.color))
        }
    }
}

/// Shows all that is wrong, and returns the failure that is left.
fn refused(faults: &[Fault], cli: &Cli, path: Option<&str>, exit: Exit) -> Failure {
    Errors { cli }.faults(faults, path);
    Failure::Shown(exit)
}

/// Errors, one after the other.
struct Errors<'a> {
    cli: &'a Cli,
}

impl Errors<'_> {
    fn error(&self, path: Option<&str>, text: &str) {
        let place = path.map_or_else(String::new, |path| format!("{}: ", clean(path)));
        tell(self.cli.color, &Failure::new(format!("{place}{text}")));
    }

    fn faults(&self, faults: &[Fault], path: Option<&str>) {
        faults.iter().for_each(|fault| self.error(path, &fault.to_string()));
    }

    fn refusal(&self, refusal: &Refusal, args: &RunArgs) {
        for (problems, path) in [(&refusal.plan, &args.plan), (&refusal.task, &args.task)] {
            problems.iter().for_each(|problem| self.error(Some(path), &problem.to_string()));
            let unlisted = problems.len() - problems.iter().len();
            if unlisted > 0 {
                self.error(Some(path), &format!("and {} more", count(unlisted, "problem")));
            }
        }
        self.faults(&refusal.faults, Some(&args.plan));
    }
}

fn tell_notes(notes: &Notes, args: &RunArgs, cli: &Cli) -> Result<(), Failure> {
    let mut screen = Screen::stderr(cli.color);
    for (notes, path) in [(&notes.plan, &args.plan), (&notes.task, &args.task)] {
        for note in notes {
            writeln!(screen, "{CARE}note{CARE:#}: {}: {}", clean(path), clean(&note.to_string()))?;
        }
    }
    Ok(())
}

/// Reads a key that signs.
fn signer(path: &str) -> Result<Signer, Failure> {
    let hint = "it has two lines: a name, and 32 random bytes in hexadecimal (openssl rand -hex 32)";
    match Secret::read(Path::new(path)).and_then(|secret| secret.as_ref().map(Secret::signer).transpose()) {
        Ok(Some(signer)) => Ok(signer),
        Ok(None) => Err(Failure::new(format!("there is no key `{}`", clean(path))).help(hint)),
        Err(error) => Err(Failure::new(error.to_string()).help(hint)),
    }
}

/// Checks that a recording can be written there.
fn check_place(path: &str) -> Result<(), Failure> {
    let place = Path::new(path);
    if place.is_dir() {
        return Ok(());
    }
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_some_and(|folder| !folder.is_dir()) {
        return Err(Failure::new(format!("cannot write `{}`: its folder does not exist", clean(path))));
    }
    match fs::read(place) {
        Ok(bytes) if !bytes.is_empty() && !bytes.starts_with(RECORDING_MARK) => Err(Failure::new(format!(
            "`{}` exists and is not a recording, so it is not overwritten",
            clean(path)
        ))
        .help("name another file, or remove this one first")),
        _ if path == "-" => {
            Err(Failure::new("a recording is written to a file, found `-`").help("give it a name"))
        }
        _ => Ok(()),
    }
}

/// Signs and writes a recording. Returns its path: in a folder it is named by its digest.
fn save(recording: &mut Recording, path: &str, signer: Option<&Signer>) -> Result<String, Failure> {
    if let Some(signer) = signer {
        recording.sign(signer).map_err(|error| Failure::new(error.to_string()))?;
    }
    let place = Path::new(path);
    let path = if place.is_dir() {
        let digest = recording.digest().to_string();
        let name = format!("{}.jsonl", digest.trim_start_matches("sha256:"));
        place.join(name).display().to_string()
    } else {
        path.to_owned()
    };
    replace_own(&path, recording.text().as_bytes(), RECORDING_MARK, "a recording")?;
    Ok(path)
}
