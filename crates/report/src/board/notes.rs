//! What a reader of a leaderboard should know, in sentences.

use karat_core::facts::Outcome;

use super::{Board, Settings, Unranked};
use crate::estimate::percent;
use crate::rows::Rows;
use crate::text::{Tone, count, list, named, short};

/// What a reader should know.
pub fn notes(rows: &Rows, board: &Board, settings: &Settings) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    let level = percent(settings.level);
    if board.leaderboard.rows.len() > 1 {
        lines.push((
            Tone::Plain,
            format!(
                "place: within these in {level} of draws; same letter: cannot be told apart from the first that has it"
            ),
        ));
    }
    if !board.leaderboard.same_tasks {
        lines.push((
            Tone::Care,
            String::from("not all have the same tasks: a mean also says which tasks a subject has"),
        ));
    }
    for row in board.leaderboard.rows.iter().filter(|row| row.ahead_on_shared_tasks) {
        let subject = short(name(rows, row.subject));
        lines.push((
            Tone::Care,
            format!(
                "`{subject}` is ahead of the first of the group above it on the {} they share",
                count(row.shared_tasks, "task")
            ),
        ));
    }
    lines.extend(unranked(rows, board).map(|line| (Tone::Care, line)));
    lines.extend(outcomes(rows, board, settings));
    lines
}

fn unranked(rows: &Rows, board: &Board) -> impl Iterator<Item = String> {
    let names = |wanted: fn(&Unranked) -> bool| {
        let all: Vec<&str> =
            board.unranked.iter().filter(|(_, why)| wanted(why)).map(|(it, _)| name(rows, *it)).collect();
        named(&all)
    };
    let nothing = names(|why| matches!(why, Unranked::Nothing));
    let few = names(|why| matches!(why, Unranked::FewTasks(_)));
    let nothing = nothing.map(|names| format!("without a place, as none of its items counts: {names}"));
    nothing.into_iter().chain(few.map(|names| format!("without a place, as it has too few tasks: {names}")))
}

/// How items ended, where that is not a matter of course, and what other choices would do.
fn outcomes(rows: &Rows, board: &Board, settings: &Settings) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    let uncertain = [Outcome::NoVerdict, Outcome::Stopped, Outcome::NotApplicable, Outcome::Refused];
    let counted = uncertain.into_iter().filter_map(|outcome| {
        let sum: u64 = board.rankings.counts.iter().map(|counts| counts.count(outcome)).sum();
        let treated = settings.policy.treatment(outcome).name();
        (sum > 0).then(|| format!("{sum} {} ({treated})", outcome.name()))
    });
    let counted: Vec<String> = counted.collect();
    if counted.is_empty() {
        return lines;
    }
    lines.push((Tone::Plain, format!("ended without success or failure: {}", list(&counted))));
    let single = board
        .rankings
        .others
        .iter()
        .filter(|(other, _)| karat_stats::outcome::distance(settings.policy, *other) == 1);
    let mut others: Vec<String> = Vec::new();
    for (other, ranking) in single.filter(|(_, ranking)| !ranking.moved.is_empty()) {
        let Some(outcome) =
            uncertain.into_iter().find(|&it| other.treatment(it) != settings.policy.treatment(it))
        else {
            continue;
        };
        let first = ranking.ranks.iter().position(|rank| rank.is_some_and(|rank| rank.best == 1));
        let first = first
            .filter(|_| ranking.first_differs)
            .map(|it| format!(", and puts `{}` first", short(name(rows, it))));
        others.push(format!(
            "{} as {} moves {}{}",
            outcome.name(),
            other.treatment(outcome).name(),
            count(ranking.moved.len(), "subject"),
            first.unwrap_or_default()
        ));
    }
    if others.is_empty() {
        let text = if board.rankings.differ() {
            "only together do other choices move anybody"
        } else {
            "no other choice moves anybody"
        };
        lines.push((Tone::Plain, text.to_owned()));
    }
    lines.extend(others.into_iter().map(|line| (Tone::Care, line)));
    lines
}

fn name(rows: &Rows, subject: usize) -> &str {
    rows.subjects.get(subject).map_or("", String::as_str)
}
