//! `karat check`: the runs of a project against its gates and its baseline.

mod baseline;
mod watch;

use std::io::Write as _;
use std::path::Path;

use karat::answers::ComparisonVerdict;
use karat::answers::check::{AskedGate, CheckSchema, ProjectCheck};
use karat::answers::comparison::{ComparedPair, ComparisonAnswer};
use karat::answers::leaderboard::floor::On;
use karat::ask::{Compare, Confidence, Fields, Floor, Floors, Items, Leaderboard};
use karat::error::Place;
use karat::report;
use karat::rows::Rows;
use karat::text::{clean, count, wrap};
use karat_core::number::Decimal;

use super::fail_under::FailUnder;
use super::{compare, leaderboard, many, standing};
use crate::args::{CheckProjectArgs, Cli, FormArgs, StandingArgs};
use crate::evidence::{Digests, expanded};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::load::{Request, load, load_sides};
use crate::output::{CARE, FAINT, GAIN, LOSS, STRONG, Screen};
use crate::project::{self, Project, absent};
use crate::render::changes::comparisons as screen_of_several;
use crate::render::compare::compare as screen_of_pair;
use crate::render::gate::{self, Verdict, gravest};

/// Most rows of the leaderboard, and most tasks of a list without `--all`.
const TOP: usize = 10;
const TASKS: usize = 5;

/// The names of the two sides of the comparison.
const BEFORE: &str = "baseline";
const NOW: &str = "this run";

/// Checks the project of this folder.
pub fn run(args: &CheckProjectArgs, cli: &Cli) -> Result<Exit, Failure> {
    if args.watch {
        return watch::run(args, cli);
    }
    let project = project_of(args, cli)?;
    if args.update_baseline {
        return baseline::update(&project, args.no_progress, cli);
    }
    once(args, &project, args.format.chosen_or("check", Chosen::Screen)?, cli)
}

fn project_of(args: &CheckProjectArgs, cli: &Cli) -> Result<Project, Failure> {
    match &args.project {
        Some(path) => project::open(Path::new(path), cli.color),
        None => project::need(cli.color),
    }
}

/// A gate, and what it found.
struct Gate {
    words: String,
    verdict: Verdict,
}

impl Gate {
    fn answer(&self) -> AskedGate {
        AskedGate {
            gate: self.words.clone(),
            passed: self.verdict.is_passed(),
            failures: self.verdict.lines().into_iter().map(str::to_owned).collect(),
            status: self.verdict.exit() as u8,
        }
    }
}

/// Checks once.
fn once(args: &CheckProjectArgs, project: &Project, chosen: Chosen, cli: &Cli) -> Result<Exit, Failure> {
    let items = items_of(project);
    let (mut rows, both) = loaded(args, project, &items, cli)?;
    let asked = Leaderboard { items: items.clone(), ..Leaderboard::default() };
    let floors = Floors {
        fail_under: project.gates.floors.clone(),
        on: project.gates.on.unwrap_or_default(),
        subject: project.gates.subjects.clone(),
        ..Floors::default()
    };
    let board = leaderboard::judge(&asked, &floors, &mut rows, cli)?;
    let compared = match both {
        Some(both) => against_baseline(project, items, both)?,
        None => without_baseline(project),
    };
    let floors = Gate { words: floor_words(project), verdict: board.verdict.clone() };
    let parts = [
        (!project.gates.floors.is_empty()).then_some(floors),
        compared.verdict.clone().map(|verdict| Gate { words: worse_words(project), verdict }),
        items_gate(project, &rows),
        standing_gate(project, &rows, cli)?,
    ];
    let gates: Vec<Gate> = parts.into_iter().flatten().collect();
    let mut notes: Vec<String> = compared.note.iter().cloned().collect();
    if gates.is_empty() {
        let hint = "no gate: with fail_if_worse = 2 or fail_under = 80 below [gate] of";
        notes.push(format!("{hint} {} it can fail", project.path));
    }
    // A screen has them on standard error alone.
    if !matches!(chosen, Chosen::Screen) {
        for line in gates.iter().flat_map(|gate| gate.verdict.warnings()) {
            if !notes.contains(line) {
                notes.push(line.clone());
            }
        }
    }
    let answer = ProjectCheck {
        schema: CheckSchema::V1,
        status: gravest(gates.iter().map(|gate| gate.verdict.exit())) as u8,
        gates: gates.iter().map(Gate::answer).collect(),
        notes,
        leaderboard: board.answer.clone(),
        comparison: compared.answer.clone(),
    };
    match chosen {
        Chosen::Json | Chosen::Page => many::print(&answer)?,
        Chosen::Report(document) => {
            let failed = |pair: &ComparedPair| gate::failed(pair, rows.scale.max);
            format::emit(&report::check(&answer, &board.failing, &failed), document)?;
        }
        Chosen::Screen => {
            let mut out = Screen::stdout(cli.color);
            let head = format!("{}: {} on {}", project.path, project.card, project.inputs.join(", "));
            writeln!(out, "{FAINT}{head}{FAINT:#}")?;
            leaderboard::show(Some(TOP), &rows, &board, &mut out)?;
            write!(out, "{}", compared.screen(args, out.width))?;
            summary(&answer, &mut out)?;
            out.flush()?;
        }
    }
    let mut all = Verdict::default();
    gates.into_iter().for_each(|gate| all.extend(gate.verdict));
    all.tell(cli.color)
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

/// The comparison with the baseline, if there is one.
#[derive(Default)]
struct Compared {
    answer: Option<ComparisonAnswer>,
    /// The dimensions of its items.
    dimensions: Vec<(String, String)>,
    /// The findings of the gate, if there is one.
    verdict: Option<Verdict>,
    /// The sentence about a baseline that is not there, where no gate says it.
    note: Option<String>,
}

impl Compared {
    /// Returns the screen of the comparison; empty without one.
    fn screen(&self, args: &CheckProjectArgs, width: usize) -> String {
        let most = if args.all { usize::MAX } else { TASKS };
        match &self.answer {
            None => String::new(),
            Some(ComparisonAnswer::Pair(answer)) => {
                format!("\n{}", screen_of_pair(answer, &self.dimensions, &[], most, width))
            }
            Some(ComparisonAnswer::Several(answer)) => {
                // On one screen: the tasks of those alone that got worse.
                let is_listed = |pair: &ComparedPair| {
                    let is_failed = pair.gate.is_some_and(|gate| !gate.passed);
                    args.all || is_failed || pair.difference.verdict == ComparisonVerdict::FirstAhead
                };
                format!("\n{}", screen_of_several(answer, &[], most, &is_listed, width))
            }
        }
    }
}

/// Loads the inputs, and with them the baseline, if it exists: each file is read once.
fn loaded(
    args: &CheckProjectArgs,
    project: &Project,
    items: &Items,
    cli: &Cli,
) -> Result<(Rows, Option<Rows>), Failure> {
    let card = Some(project.card.as_str());
    if project.baseline.is_empty() || !absent(&project.baseline).is_empty() {
        let rows = load(&Request::new(items, card, &project.inputs, args.no_progress), cli)?;
        return Ok((rows, None));
    }
    let (baseline, inputs) = (expanded(&project.baseline, cli.color)?, expanded(&project.inputs, cli.color)?);
    let side = |files: &[String], side: &str| -> Vec<(String, String)> {
        files.iter().map(|file| (file.clone(), side.to_owned())).collect()
    };
    let sides = [side(&baseline, BEFORE), side(&inputs, NOW)].concat();
    let files = [baseline.clone(), inputs].concat();
    let asked = Request::new(items, card, &files, args.no_progress);
    let digests = Digests::default();
    let asked = Request { sides: &sides, alone: Some(NOW), digests: Some(&digests), ..asked };
    let loaded = load_sides(&asked, cli);
    // A baseline that was changed is refused as that, whatever else is wrong with it.
    baseline::check_digests(&baseline, &digests)?;
    let (rows, both) = loaded?;
    Ok((rows.unwrap_or_else(|| both.clone()), Some(both)))
}

/// Says that the baseline of a project is not there.
fn without_baseline(project: &Project) -> Compared {
    let Some(first) = absent(&project.baseline).first().copied() else { return Compared::default() };
    let line =
        format!("there is no baseline `{}`; `karat check --update-baseline` keeps this run", clean(first));
    if project.gates.fail_if_worse.is_none() {
        return Compared { note: Some(line), ..Compared::default() };
    }
    let mut verdict = Verdict::default();
    verdict.add(Exit::Inconclusive, vec![line]);
    Compared { verdict: Some(verdict), ..Compared::default() }
}

fn against_baseline(project: &Project, items: Items, rows: Rows) -> Result<Compared, Failure> {
    let gate = project.gates.fail_if_worse;
    let ask = Compare {
        first: String::from(BEFORE),
        second: String::from(NOW),
        items,
        fail_if_worse: gate,
        strict: project.gates.is_strict,
        ..Compare::default()
    };
    let asked = compare::of_sides(&rows, BEFORE, NOW)?;
    let answer = compare::answer(&ask, &rows, asked)?;
    let verdict = gate.map(|margin| compare::verdict(&answer, margin, rows.scale));
    Ok(Compared { answer: Some(answer), dimensions: rows.dimensions, verdict, note: None })
}

fn floor_words(project: &Project) -> String {
    let gates = &project.gates;
    let floor = |floor: &Floor| match &floor.dimension {
        Some(key) => format!("{} at least {}", clean(key), floor.least),
        None => format!("score at least {}", floor.least),
    };
    let all: Vec<String> = gates.floors.iter().map(floor).collect();
    let on = match gates.on {
        Some(On::Low) => ", at the lower end of the interval",
        _ => "",
    };
    let who = match gates.subjects.len() {
        0 => String::from("each subject"),
        number => count(number, "subject"),
    };
    format!("{who}: {}{on}", all.join(", "))
}

fn worse_words(project: &Project) -> String {
    let gates = &project.gates;
    let margin = gates.fail_if_worse.filter(|margin| *margin > Decimal::ZERO);
    let by = margin.map_or_else(String::new, |margin| format!(" by more than {margin} points"));
    let strict = if gates.is_strict { ", and that is shown" } else { "" };
    format!("not worse than {}{by}{strict}", project.baseline.join(", "))
}

/// Asks the gate on each item.
fn items_gate(project: &Project, rows: &Rows) -> Option<Gate> {
    let least = project.gates.item_floor?;
    let mut found = FailUnder::default();
    for row in &rows.rows {
        let subject = rows.subjects.get(row.subject).map_or("", String::as_str);
        let place = Place { file: rows.place(row), line: None, nth: 1, is_row: false };
        let published = row.score().map(|score| rows.scale.publish(score));
        let gates: Vec<&str> = row.gates().iter().map(String::as_str).collect();
        found.see_parts(subject, &place, published, &gates, least);
    }
    let verdict = found.verdict(least, rows.scale.max);
    Some(Gate { words: format!("each item: score at least {least}"), verdict })
}

/// Asks the gate on official scores.
fn standing_gate(project: &Project, rows: &Rows, cli: &Cli) -> Result<Option<Gate>, Failure> {
    let Some(least) = project.gates.standing_floor else { return Ok(None) };
    let args = StandingArgs {
        card: Some(project.card.clone()),
        events: None,
        subject: None,
        fail_under: Some(least),
        tasks: false,
        items: items_of(project),
        sure: Confidence::default(),
        form: FormArgs::default(),
        files: project.inputs.clone(),
    };
    let verdict = standing::verdict_of(&args, rows, cli)?;
    Ok(Some(Gate { words: format!("each subject: official score at least {least}"), verdict }))
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
