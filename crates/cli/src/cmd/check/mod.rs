//! `karat check`: the runs of a project against its gates and its baseline.

mod baseline;
mod watch;

use std::io::Write as _;
use std::path::Path;

use clap::Parser as _;
use karat::answers::comparison::ComparedPair;
use karat::answers::leaderboard::floor::On;
use karat::answers::{self, ComparisonVerdict};
use karat::error::Place;
use karat::rows::Rows;
use karat::text::{clean, count, wrap};
use karat_core::number::Decimal;

use super::fail_under::FailUnder;
use super::{compare, leaderboard, many, standing};
use crate::args::{CheckProjectArgs, Cli, CompareArgs, Floor, ItemArgs, LeaderboardArgs, Verb};
use crate::evidence::expanded;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{CARE, FAINT, GAIN, LOSS, STRONG, Screen};
use crate::project::{self, Project, absent};
use crate::render::changes::comparisons as screen_of_several;
use crate::render::compare::compare as screen_of_pair;
use crate::render::gate::Verdict;

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
    once(args, &project, cli)
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

/// Checks once.
fn once(args: &CheckProjectArgs, project: &Project, cli: &Cli) -> Result<Exit, Failure> {
    let board_args = leaderboard_args(args, project)?;
    let mut rows = many::rows(&board_args.items, Some(&project.card), &project.inputs, &[], cli)?;
    let board = leaderboard::judge(&board_args, &mut rows, cli)?;
    let mut out = Screen::stdout(cli.color);
    let mut gates = Vec::new();
    if !args.json {
        writeln!(out, "{FAINT}{}: {} on {}{FAINT:#}", project.path, project.card, project.inputs.join(", "))?;
        leaderboard::show(&board_args, &rows, &board, &mut out)?;
    }
    let compared = against_baseline(args, project, &mut out, cli)?;
    let parts = [
        (!project.gates.floors.is_empty())
            .then_some(Gate { words: floor_words(project), verdict: board.verdict }),
        compared.verdict.map(|verdict| Gate { words: worse_words(project), verdict }),
        items_gate(project, &rows),
        standing_gate(project, cli)?,
    ];
    gates.extend(parts.into_iter().flatten());
    if args.json {
        let answer = answers::write(&board.answer);
        let comparison = compared.answer.unwrap_or_else(|| String::from("null"));
        let all: Vec<String> = gates.iter().map(as_json).collect();
        let mut verdict = Exit::Done;
        gates.iter().for_each(|gate| verdict = graver(verdict, gate.verdict.exit()));
        writeln!(
            out,
            "{{\"comparison\":{comparison},\"gates\":[{}],\"leaderboard\":{answer},\"schema\":\"karat/check/1\",\
             \"status\":{}}}",
            all.join(","),
            verdict as u8
        )?;
    } else {
        summary(project, &gates, &mut out)?;
    }
    out.flush()?;
    drop(out);
    let mut all = Verdict::default();
    gates.into_iter().for_each(|gate| all.extend(gate.verdict));
    all.tell(cli.color)
}

fn graver(one: Exit, other: Exit) -> Exit {
    let mut both = Verdict::default();
    [one, other]
        .into_iter()
        .filter(|exit| *exit != Exit::Done)
        .for_each(|exit| both.add(exit, vec![String::new()]));
    both.exit()
}

fn as_json(gate: &Gate) -> String {
    let passed = gate.verdict.is_passed();
    let value = serde_json::json!({
        "gate": gate.words, "passed": passed, "failures": gate.verdict.lines(), "status": gate.verdict.exit() as u8,
    });
    answers::write(&value)
}

/// Writes which gates let the run pass.
fn summary(project: &Project, gates: &[Gate], out: &mut Screen) -> Result<(), Failure> {
    writeln!(out)?;
    if gates.is_empty() {
        let hint = "no gate: with fail_if_worse = 2 or fail_under = 80 below [gate] of";
        writeln!(out, "{CARE}{hint} {} it can fail{CARE:#}", project.path)?;
        return Ok(());
    }
    writeln!(out, "{STRONG}gates{STRONG:#}")?;
    for gate in gates {
        let (style, word) = if gate.verdict.is_passed() { (GAIN, "passed") } else { (LOSS, "failed") };
        for (at, line) in wrap(&gate.words, out.width.saturating_sub(10)).iter().enumerate() {
            let word = if at == 0 { word } else { "" };
            writeln!(out, "  {style}{word:6}{style:#}  {line}")?;
        }
    }
    Ok(())
}

/// The answer about the baseline; none without one.
#[derive(Default)]
struct Compared {
    answer: Option<String>,
    /// Findings of the gate, if there is one.
    verdict: Option<Verdict>,
}

fn against_baseline(
    args: &CheckProjectArgs,
    project: &Project,
    out: &mut Screen,
    cli: &Cli,
) -> Result<Compared, Failure> {
    let gate = project.gates.fail_if_worse;
    if project.baseline.is_empty() {
        return Ok(Compared::default());
    }
    if let [first, ..] = absent(&project.baseline).as_slice() {
        let line = format!(
            "there is no baseline `{}`; `karat check --update-baseline` keeps this run",
            clean(first)
        );
        if gate.is_none() && !args.json {
            writeln!(out, "\n{CARE}{line}{CARE:#}")?;
        }
        let mut verdict = Verdict::default();
        verdict.add(Exit::Inconclusive, vec![line]);
        return Ok(Compared { answer: None, verdict: gate.map(|_| verdict) });
    }
    baseline::check_digests(&project.baseline)?;
    let side = |files: &[String], side: &str| -> Result<Vec<(String, String)>, Failure> {
        Ok(expanded(files)?.into_iter().map(|file| (file, side.to_owned())).collect())
    };
    let sides = [side(&project.baseline, BEFORE)?, side(&project.inputs, NOW)?].concat();
    let compare_args = compare_args(args, project)?;
    let rows = many::rows_by_side(&compare_args.items, Some(&project.card), &sides, cli)?;
    let asked = compare::of_sides(&rows, BEFORE, NOW)?;
    let answer = compare::answer(&compare_args, &rows, asked)?;
    let most = if args.all { usize::MAX } else { TASKS };
    let (text, json, pairs): (String, String, Vec<ComparedPair>) = match answer {
        compare::Answer::Pair(answer) => {
            let text = screen_of_pair(&answer, &rows.dimensions, &[], most, out.width);
            (text, answers::write(&answer), vec![answer.pair])
        }
        compare::Answer::Several(answer) => {
            // On one screen: the tasks of those alone that got worse.
            let is_listed = |pair: &ComparedPair| {
                let is_failed = pair.gate.is_some_and(|gate| !gate.passed);
                args.all || is_failed || pair.difference.verdict == ComparisonVerdict::FirstAhead
            };
            let text = screen_of_several(&answer, &[], most, &is_listed, out.width);
            (text, answers::write(&answer), answer.comparisons)
        }
    };
    if !args.json {
        write!(out, "\n{text}")?;
    }
    let verdict = gate.map(|_| compare::verdict(&pairs, rows.scale.max));
    Ok(Compared { answer: Some(json), verdict })
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
    let mut verdict = Verdict::default();
    verdict.add(found.exit(), found.line().into_iter().collect());
    Some(Gate { words: format!("each item: score at least {least}"), verdict })
}

/// Asks the gate on official scores.
fn standing_gate(project: &Project, cli: &Cli) -> Result<Option<Gate>, Failure> {
    let Some(least) = project.gates.standing_floor else { return Ok(None) };
    let moment = project.as_of.as_ref().map_or_else(String::new, |as_of| as_of.at.to_string());
    let Verb::Standing(mut args) = verb(&["karat", "standing", "--as-of", &moment])? else {
        return Ok(None);
    };
    args.card = Some(project.card.clone());
    args.files.clone_from(&project.inputs);
    args.fail_under = Some(least);
    set_items(&mut args.items, project, true);
    let verdict = standing::verdict_of(&args, cli)?;
    Ok(Some(Gate { words: format!("each subject: official score at least {least}"), verdict }))
}

/// Returns the arguments that the command line would give: the flags have their defaults.
fn verb(line: &[&str]) -> Result<Verb, Failure> {
    let parsed = Cli::try_parse_from(line).map_err(|error| Failure::new(error.to_string()))?;
    Ok(parsed.verb)
}

fn set_items(items: &mut ItemArgs, project: &Project, is_quiet: bool) {
    items.fields.subject_field.clone_from(&project.subject);
    items.fields.task_field.clone_from(&project.task);
    items.rename.clone_from(&project.renames);
    items.filters.clone_from(&project.filters);
    items.no_progress = is_quiet;
    if let Some(as_of) = &project.as_of {
        items.as_of = Some(as_of.clone());
    }
}

fn leaderboard_args(args: &CheckProjectArgs, project: &Project) -> Result<LeaderboardArgs, Failure> {
    let Verb::Leaderboard(mut board) = verb(&["karat", "leaderboard"])? else {
        return Err(Failure::new("`leaderboard` is no leaderboard"));
    };
    set_items(&mut board.items, project, args.no_progress);
    board.top = Some(TOP);
    board.fail_under.clone_from(&project.gates.floors);
    board.on = project.gates.on.unwrap_or(board.on);
    board.subject.clone_from(&project.gates.subjects);
    Ok(board)
}

fn compare_args(args: &CheckProjectArgs, project: &Project) -> Result<CompareArgs, Failure> {
    let Verb::Compare(mut compare) = verb(&["karat", "compare", BEFORE, NOW])? else {
        return Err(Failure::new("`compare` is no comparison"));
    };
    set_items(&mut compare.items, project, args.no_progress);
    compare.fail_if_worse = project.gates.fail_if_worse;
    compare.strict = project.gates.is_strict;
    Ok(compare)
}
