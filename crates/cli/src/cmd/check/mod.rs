//! `karat check`: the runs of a project against its gates and its baseline.

mod baseline;
mod watch;

use std::io::Write as _;
use std::path::Path;

use karat::answers::ComparisonVerdict;
use karat::answers::check::ProjectCheck;
use karat::answers::comparison::ComparedPair;
use karat::ask::answer::gaps_of;
use karat::ask::{Fields, Items};
use karat::document::{self, ComparisonView, LeaderboardView};
use karat::gate::{BASELINE, Baseline, RUN, failed};
use karat::loaded::Loaded;
use karat::text::{clean, wrap};

use super::compare;
use crate::args::{CheckProjectArgs, Cli};
use crate::evidence::{Digests, expanded};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::load::{Request, load_sides};
use crate::output::{CARE, FAINT, GAIN, LOSS, STRONG, Screen};
use crate::project::{self, Project, absent};
use crate::render::gate;

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
        return baseline::update(&project, args.no_progress, cli);
    }
    once(args, &project, args.format.chosen_or(Chosen::Screen)?, cli)
}

fn project_of(args: &CheckProjectArgs, cli: &Cli) -> Result<Project, Failure> {
    match &args.project {
        Some(path) => project::open(Path::new(path), cli.color),
        None => project::need(cli.color),
    }
}

/// Checks once.
fn once(args: &CheckProjectArgs, project: &Project, chosen: Chosen, cli: &Cli) -> Result<Exit, Failure> {
    let items = items_of(project);
    let (mut loaded, baseline) = loaded(args, project, &items, cli)?;
    let judged = project.gate.judge(&items, &mut loaded, &baseline)?;
    let mut notes: Vec<String> = judged.note.iter().cloned().collect();
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
    let failed = |pair: &ComparedPair| failed(pair, loaded.rows.scale.max);
    // On one screen: the tasks of those alone that got worse.
    let is_listed = |pair: &ComparedPair| {
        let is_failed = pair.gate.is_some_and(|gate| !gate.passed);
        args.all || is_failed || pair.difference.verdict == ComparisonVerdict::FirstAhead
    };
    let dimensions = loaded.both.as_ref().map_or(&[][..], |both| &both.dimensions);
    let view = ComparisonView { dimensions, gaps: &[], failed: &failed, is_listed: &is_listed };
    let board_gaps = gaps_of(&loaded.rows, judged.leaderboard.settings.by);
    let leaders = || LeaderboardView {
        failing: &judged.leaderboard.failing,
        dimensions: &loaded.rows.dimensions,
        gaps: &board_gaps,
        figures: Vec::new(),
    };
    match chosen {
        Chosen::Json => format::json(&answer)?,
        Chosen::Form(form) => format::emit(&document::check(&answer, leaders(), &view), form)?,
        Chosen::Screen => {
            let mut out = Screen::stdout(cli.color);
            let head = format!("{}: {} on {}", project.path, project.card, project.inputs.join(", "));
            writeln!(out, "{FAINT}{head}{FAINT:#}")?;
            format::screen(&document::leaderboard(&answer.leaderboard, leaders()), (TOP, ""), &mut out)?;
            if let Some(compared) = &answer.comparison {
                writeln!(out)?;
                let most = if args.all { usize::MAX } else { TASKS };
                format::screen(&document::comparison(compared, &view), (most, compare::ALL), &mut out)?;
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
    for gate in &answer.gates {
        let (style, word) = if gate.passed { (GAIN, "passed") } else { (LOSS, "failed") };
        for (at, line) in wrap(&gate.gate, out.width.saturating_sub(10)).iter().enumerate() {
            let word = if at == 0 { word } else { "" };
            writeln!(out, "  {style}{word:6}{style:#}  {line}")?;
        }
    }
    Ok(())
}

/// Loads the inputs, and with them the baseline, if it exists: each file is read once.
fn loaded(
    args: &CheckProjectArgs,
    project: &Project,
    items: &Items,
    cli: &Cli,
) -> Result<(Loaded, Baseline), Failure> {
    let card = Some(project.card.as_str());
    let name = project.baseline.join(", ");
    let inputs_alone = Request::new(items, card, &project.inputs, args.no_progress);
    if project.baseline.is_empty() {
        return Ok((load_sides(&inputs_alone, cli)?, Baseline::Unnamed));
    }
    if let [first, ..] = absent(&project.baseline).as_slice() {
        let line = format!(
            "there is no baseline `{}`; `karat check --update-baseline` keeps this run",
            clean(first)
        );
        return Ok((load_sides(&inputs_alone, cli)?, Baseline::Absent { name, line }));
    }
    let (baseline, inputs) = (expanded(&project.baseline, cli.color)?, expanded(&project.inputs, cli.color)?);
    let side = |files: &[String], side: &str| -> Vec<(String, String)> {
        files.iter().map(|file| (file.clone(), side.to_owned())).collect()
    };
    let sides = [side(&baseline, BASELINE), side(&inputs, RUN)].concat();
    let files = [baseline.clone(), inputs].concat();
    let asked = Request::new(items, card, &files, args.no_progress);
    let digests = Digests::default();
    let asked = Request { sides: &sides, alone: Some(RUN), digests: Some(&digests), ..asked };
    let loaded = load_sides(&asked, cli);
    // A baseline that was changed is refused as that, whatever else is wrong with it.
    baseline::check_digests(&baseline, &digests)?;
    Ok((loaded?, Baseline::Loaded(name)))
}

fn items_of(project: &Project) -> Items {
    Items {
        fields: Fields { subject_field: project.subject.clone(), task_field: project.task.clone() },
        rename: project.renames.clone(),
        filters: project.filters.clone(),
        as_of: project.as_of.clone(),
        ..Items::default()
    }
}
