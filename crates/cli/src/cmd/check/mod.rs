//! `karat check`: the runs of a project against its gates and its baseline.

mod watch;

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::Arc;

use karat::answers::check::ProjectCheck;
use karat::answers::trend::Trend;
use karat::card::CompiledCard;
use karat::document::{self, Part};
use karat::engine::Options;
use karat::inputs::Inputs;
use karat::project::{Project, digest_file};
use karat::text::{clean, count, wrap};

use super::compare;
use crate::args::{CheckProjectArgs, Cli};
use crate::gate;
use crate::graders;
use crate::progress::Progress;
use crate::project;
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::{CARE, FAINT, GAIN, LOSS, STRONG, Screen, replace};

/// Most rows of the leaderboard, and most tasks of a list without `--all`.
const TOP: usize = 10;
const TASKS: usize = 5;

/// Checks the project of this folder.
pub fn run(args: &CheckProjectArgs, cli: &Cli) -> Result<Exit, Failure> {
    if args.watch {
        return watch::run(args, cli);
    }
    let project = project_of(args, cli)?;
    if args.update_baseline {
        return update_baseline(args, &project, cli);
    }
    once(args, &project, args.format.chosen_or(Chosen::Screen)?, cli)
}

fn project_of(args: &CheckProjectArgs, cli: &Cli) -> Result<Project, Failure> {
    match &args.project {
        Some(path) => project::open(Path::new(path), cli.allow_outside, cli.color),
        None => project::need(cli.allow_outside, cli.color),
    }
}

/// Checks once.
fn once(args: &CheckProjectArgs, project: &Project, chosen: Chosen, cli: &Cli) -> Result<Exit, Failure> {
    let (inputs, baseline) = project.inputs()?;
    let (card, options) = scorer(project, &inputs, cli)?;
    let mut loaded = project.load(&inputs, card, options, &Progress::new(args.no_progress, cli))?;
    let judged = project.gate.judge(&project.items, &mut loaded, &baseline)?;
    let mut notes = judged.notes.clone();
    if judged.gates.is_empty() {
        let hint = "no gate: with fail_if_worse = 2 or fail_under = 80 below [gate] of";
        notes.push(format!("{hint} {} it can fail", project.path));
    }
    // A screen has them on standard error alone.
    if !matches!(chosen, Chosen::Screen) {
        for line in judged.gates.iter().flat_map(|(_, verdict)| verdict.warnings()) {
            if !notes.contains(line) {
                notes.push(line.clone());
            }
        }
    }
    let answer = judged.answer(notes);
    match chosen {
        Chosen::Json => format::json(&answer)?,
        Chosen::Form(form) => format::emit(&judged.document(&answer, &loaded, args.all), form)?,
        Chosen::Screen => {
            let mut out = Screen::stdout(cli.color);
            let head = format!("{}: {} on {}", project.path, project.card, project.inputs.join(", "));
            writeln!(out, "{FAINT}{head}{FAINT:#}")?;
            let board = judged.leaderboard.document(&loaded.rows, Vec::new());
            format::screen(&board, (TOP, ""), &mut out)?;
            if let Some(compared) = judged.comparison_document(&loaded, args.all) {
                writeln!(out)?;
                let most = if args.all { usize::MAX } else { TASKS };
                format::screen(&compared, (most, compare::ALL), &mut out)?;
            }
            let latest = |mut trend: Trend| {
                for subject in &mut trend.subjects {
                    let earlier = subject.runs.len().saturating_sub(if args.all { usize::MAX } else { TOP });
                    subject.runs.drain(..earlier);
                }
                let whole = document::trend(answer.trend.as_ref().unwrap_or(&trend), &[]);
                let mut latest = document::trend(&trend, &[]);
                // The course of a subject has all of its runs.
                for (part, whole) in latest.parts.iter_mut().zip(whole.parts) {
                    if matches!(&whole, Part::Table(table) if table.caption == document::COURSES) {
                        *part = whole;
                    }
                }
                latest
            };
            let trend = answer.trend.clone().map(latest);
            for part in trend.into_iter().chain(document::quarantine(&answer)) {
                writeln!(out)?;
                format::screen(&part, (TOP, ""), &mut out)?;
            }
            summary(&answer, &mut out)?;
            out.flush()?;
        }
    }
    gate::tell(&judged.verdict(), cli.color)
}

/// Writes what is missing, and which gates let the run pass.
fn summary(answer: &ProjectCheck, out: &mut Screen) -> Result<(), Failure> {
    for note in &answer.notes {
        writeln!(out)?;
        for line in wrap(note, out.width) {
            writeln!(out, "{CARE}{line}{CARE:#}")?;
        }
    }
    if answer.gates.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{STRONG}gates{STRONG:#}")?;
    let longest = answer.gates.iter().map(|gate| gate.word().len()).max().unwrap_or_default();
    for gate in &answer.gates {
        let style = if gate.passed { GAIN } else { LOSS };
        for (at, line) in wrap(&gate.gate, out.width.saturating_sub(longest + 4)).iter().enumerate() {
            let word = if at == 0 { gate.word() } else { "" };
            writeln!(out, "  {style}{word:longest$}{style:#}  {line}")?;
        }
    }
    Ok(())
}

/// Returns the scorecard of the project, and how it scores.
fn scorer(project: &Project, inputs: &Inputs, cli: &Cli) -> Result<(Arc<CompiledCard>, Options), Failure> {
    let card = cards::for_inputs(&project.card, inputs, cli.color)?;
    let options = graders::options(card.card(), &Default::default(), &project.items.fields)?;
    Ok((card, options))
}

/// Writes the items of the inputs as the baseline; at every moment it is either the old one or the new one, complete.
fn update_baseline(args: &CheckProjectArgs, project: &Project, cli: &Cli) -> Result<Exit, Failure> {
    let path = project.baseline_file()?;
    let inputs = Inputs::new(&project.inputs)?;
    let (card, options) = scorer(project, &inputs, cli)?;
    let kept = project.kept(&inputs, card, options, &Progress::new(args.no_progress, cli))?;
    let beside = digest_file(path);
    // Without it any baseline counts, so that no moment has a digest of another file.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(Failure::writing(&beside, &error)),
        _ => replace(path, &kept.text)?,
    }
    replace(&beside, kept.digest_line(path).as_bytes())?;
    let mut out = Screen::stdout(cli.color);
    writeln!(out, "wrote {} with {}, {}", clean(path), count(kept.items, "item"), kept.digest)?;
    out.flush()?;
    Ok(Exit::Done)
}
