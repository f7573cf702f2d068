//! Notes on a leaderboard, in sentences.

use crate::answers::basis::{Basis, OutcomePolicy};
use crate::answers::leaderboard::Leaderboard;
use crate::answers::{LeaderboardMethod, Outcome};
use crate::estimate::percent;
use crate::text::{Tone, count, list, named, short};

/// Returns the notes on a leaderboard.
#[must_use]
pub fn notes(basis: &Basis, method: LeaderboardMethod, board: &Leaderboard) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    let level = percent(basis.level);
    if board.ranked > 1 {
        let note = match method {
            LeaderboardMethod::Bootstrap => format!(
                "rank range: where it lands in {level} of resamples; same letter: tied with the group leader"
            ),
            LeaderboardMethod::Student => format!(
                "rank range: the ranks that the {level} intervals leave open; intervals from the spread of the \
                 tasks (Student's t), without groups of ties"
            ),
        };
        lines.push((Tone::Plain, note));
    }
    if board.same_tasks == Some(false) {
        lines.push((
            Tone::Care,
            String::from("not all have the same tasks: a mean also depends on which tasks a subject has"),
        ));
    }
    for row in board.rows.iter().filter(|row| row.ahead_on_shared_tasks == Some(true)) {
        let (subject, tasks) = (short(&row.subject), row.shared_tasks.unwrap_or_default());
        lines.push((
            Tone::Care,
            format!(
                "`{subject}` is ahead of the leader of the group above it on the {} they share",
                count(usize::try_from(tasks).unwrap_or(usize::MAX), "task")
            ),
        ));
    }
    lines.extend(unranked(board).map(|line| (Tone::Care, line)));
    lines.extend(outcomes(&basis.outcomes, board));
    lines
}

fn unranked(board: &Leaderboard) -> impl Iterator<Item = String> {
    let names = |has_tasks: bool| {
        let all = board.unranked.iter().flatten().filter(|it| (it.tasks > 0) == has_tasks);
        named(&all.map(|it| it.subject.as_str()).collect::<Vec<_>>())
    };
    let nothing = names(false).map(|names| format!("without a rank, as none of its items counts: {names}"));
    let few = names(true).map(|names| format!("without a rank, as it has too few tasks: {names}"));
    nothing.into_iter().chain(few)
}

/// Counts outcomes that are neither success nor failure, and says what other choices for them change.
fn outcomes(policy: &OutcomePolicy, board: &Leaderboard) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    let Some(rankings) = &board.other_outcomes else { return lines };
    let counted = policy.treatments().into_iter().filter_map(|(outcome, treatment)| {
        let of_row =
            |row: &crate::answers::leaderboard::LeaderboardRow| row.outcomes.map(|it| it.count(outcome));
        let sum: u64 = board.rows.iter().filter_map(of_row).sum();
        (sum > 0).then(|| format!("{sum} {} ({})", outcome.name(), treatment.name()))
    });
    let counted: Vec<String> = counted.collect();
    if counted.is_empty() {
        return lines;
    }
    lines.push((Tone::Plain, format!("ended without success or failure: {}", list(&counted))));
    let single = rankings.rankings.iter().filter_map(|it| {
        let changed: Vec<(Outcome, _)> = it
            .outcomes
            .treatments()
            .into_iter()
            .zip(policy.treatments())
            .filter(|(other, own)| other != own)
            .map(|(other, _)| other)
            .collect();
        match changed.as_slice() {
            [only] if !it.moved.is_empty() => Some((it, *only)),
            _ => None,
        }
    });
    let others: Vec<String> = single
        .map(|(other, (outcome, treatment))| {
            let first = other.first.first().filter(|_| other.first_differs);
            let first = first.map(|name| format!(", and puts `{}` first", short(name)));
            format!(
                "{} as {} moves {}{}",
                outcome.name(),
                treatment.name(),
                count(other.moved.len(), "subject"),
                first.unwrap_or_default()
            )
        })
        .collect();
    if others.is_empty() {
        let text = if rankings.differ {
            "only several other choices together change a rank"
        } else {
            "counting them differently changes no rank"
        };
        lines.push((Tone::Plain, text.to_owned()));
    }
    lines.extend(others.into_iter().map(|line| (Tone::Care, line)));
    lines
}
