//! Notes on a leaderboard, in sentences.

use crate::answers::basis::Basis;
use crate::answers::leaderboard::{Leaderboard, LeaderboardRow, OFFICIAL};
use crate::answers::notes::in_force;
use crate::answers::{
    BridgeStep, ChoiceSource, IntervalMethod, IntervalOf, LeaderboardMethod, Outcome, UnrankedReason,
};
use crate::estimate::{Writing, percent};
use crate::look_alikes;
use crate::standing::notes::UNTIMED;
use crate::text::{Tone, count, list, named, short};
use karat_stats::compare::tasks_to_tell_apart;

/// The note on a census.
pub(crate) const CENSUS: &str =
    "a full census: these items are all there are, so there are no intervals, letters or shares";

/// Returns the notes on a leaderboard.
pub(crate) fn notes(basis: &Basis, method: LeaderboardMethod, board: &Leaderboard) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    lines.extend(official(basis, board));
    lines.extend(meaning(basis, method, board).map(|line| (Tone::Plain, line)));
    lines.extend(power(board, basis.scale).map(|line| (Tone::Plain, line)));
    lines.extend(single(method, board).map(|line| (Tone::Care, line)));
    lines.extend(of_cases(board).map(|line| (Tone::Plain, line)));
    lines.extend(no_attempts(board).map(|line| (Tone::Care, line)));
    if board
        .rows
        .iter()
        .any(|row| row.bounds.is_some() && row.mean.is_some_and(|mean| mean.interval().is_none()))
    {
        let text = "bounds: the lowest and highest score that what is missing allows";
        lines.push((Tone::Plain, text.to_owned()));
    }
    if board.same_tasks == Some(false) {
        let text = "not all have the same tasks: a mean also depends on which tasks a subject has";
        lines.push((Tone::Care, text.to_owned()));
    }
    for row in &board.rows {
        let above: Vec<&str> = row.ahead_of.iter().flatten().map(String::as_str).collect();
        if let Some(above) = named(&above) {
            let subject = short(&row.subject);
            let line = format!("`{subject}` is ahead of {above} on the tasks they share, with a lower mean");
            lines.push((Tone::Care, line));
        }
    }
    let named = board.rows.iter().map(|row| (row.subject.as_str(), &row.alike));
    lines.extend(look_alikes::sentences(named).into_iter().map(|line| (Tone::Care, line)));
    lines.extend(unranked(board).map(|line| (Tone::Care, line)));
    lines.extend(missing(board).map(|line| (Tone::Care, line)));
    lines.extend(outcomes(basis, board));
    lines
}

/// Says what the tasks can settle.
pub(crate) fn power(board: &Leaderboard, scale: u32) -> Option<String> {
    let found = board.settles?;
    let (writing, unit) = (board.writing(scale), board.unit(scale));
    let tasks = count(found.tasks as usize, "task");
    let of = if board.by == OFFICIAL { " by the mean of runs" } else { "" };
    let gap = match found.gap {
        Some(gap) => format!(
            "{tasks} separate neighbours{of} from {}{unit} on, four times in five and with all pairs compared at once",
            writing.number(gap)
        ),
        None => format!("{tasks} are too few to separate any neighbours{of}"),
    };
    let more = found.tasks_for_first.filter(|more| *more > found.tasks);
    let more = more.map_or_else(String::new, |more| {
        format!(
            "; the {}{unit} between the first two would take about {more} tasks",
            writing.number(found.first)
        )
    });
    Some(format!("{gap}{more}"))
}

/// Says what an official score is, how it differs from the mean of runs, and which ones are under review.
fn official(basis: &Basis, board: &Leaderboard) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    if let Some(why) = &board.without_official {
        lines.push((Tone::Care, format!("by the mean of runs and not by official score: {why}")));
    }
    if board.by != OFFICIAL {
        return lines;
    }
    let steps: Vec<String> = board
        .bridge_steps(Writing::of(basis.scale))
        .into_iter()
        .map(|step| in_words(step).to_owned())
        .collect();
    let text = match steps.is_empty() {
        true => String::from("the official score of each is the mean of its runs"),
        false => format!("the official score differs from the mean of runs by {}", list(&steps)),
    };
    lines.push((Tone::Plain, text));
    lines.extend(board.weights.as_ref().map(|weights| (Tone::Care, in_force(weights))));
    let held = board.rows.iter().filter(|row| row.official.as_ref().is_some_and(|it| it.under_review));
    let held: Vec<&str> = held.map(|row| row.subject.as_str()).collect();
    for (of, text) in [
        (IntervalOf::Candidate, "intervals of the candidate score, as reviews decide what is official"),
        (IntervalOf::NewestValues, "no interval, as the newest values are not a mean over tasks"),
    ] {
        let is_of =
            |row: &&LeaderboardRow| row.official.as_ref().is_some_and(|it| it.interval_of == Some(of));
        let all: Vec<&str> = board.rows.iter().filter(is_of).map(|row| row.subject.as_str()).collect();
        lines.extend(named(&all).map(|names| (Tone::Plain, format!("{text}: {names}"))));
    }
    lines
        .extend(named(&held).map(|names| (Tone::Care, format!("a newer score is held for review: {names}"))));
    lines
}

/// Describes what a step changes.
const fn in_words(step: BridgeStep) -> &'static str {
    match step {
        BridgeStep::Runs => "the mean of runs",
        BridgeStep::Window => "the window (items count alike)",
        BridgeStep::Tasks => "the window (each task counts by its newest item)",
        BridgeStep::Newest => "the newest values in place of means",
        BridgeStep::Decay => "decay with age",
        BridgeStep::Rounding => "rounding",
        BridgeStep::Gate => "the gate",
        BridgeStep::Review => "review (large swings wait)",
    }
}

/// Says what ranks and letters mean.
fn meaning(basis: &Basis, method: LeaderboardMethod, board: &Leaderboard) -> Option<String> {
    let level = percent(basis.level);
    let is_official = board.by == OFFICIAL;
    let has = |of: fn(&LeaderboardRow) -> bool| board.rows.iter().any(of);
    if method == LeaderboardMethod::Census {
        return Some(CENSUS.to_owned());
    }
    if board.ranked < 2 || !has(|row| row.rank_range.is_some()) {
        return None;
    }
    let few = has(|row| row.too_few_shared_tasks.as_ref().is_some_and(|all| !all.is_empty())).then(|| {
        let needed = tasks_to_tell_apart(board.ranked, basis.level);
        format!(
            "?: too few shared tasks to compare it with some: among {} subjects it takes {needed}",
            board.ranked
        )
    });
    if is_official {
        let is_tied =
            board.letters.is_some() && has(|row| row.letters.as_ref().is_some_and(|it| !it.is_empty()));
        let tied = is_tied.then(|| {
            format!("a comparison of their runs does not separate two that are joined as tied, at {level}")
        });
        let parts: Vec<String> = tied.into_iter().chain(few).collect();
        return Some(parts.join("; ")).filter(|text| !text.is_empty());
    }
    let ranks =
        format!("the ranks that the comparisons of all pairs leave open, at {level} for all together (Holm)");
    let letters = "; a comparison does not separate two that are joined as tied";
    let few = few.map(|few| format!("; {few}")).unwrap_or_default();
    Some(format!("rank range: {ranks}{letters}{few}"))
}

/// Names the subjects with a single task, of which nothing but the score is known.
fn single(method: LeaderboardMethod, board: &Leaderboard) -> Option<String> {
    let is_single = |row: &&LeaderboardRow| row.score.tasks == 1 && row.score.interval().is_none();
    let single: Vec<&LeaderboardRow> = board.rows.iter().filter(is_single).collect();
    let each = if single.iter().all(|row| row.items < 2) { "result" } else { "task" };
    let names: Vec<&str> = single.iter().map(|row| row.subject.as_str()).collect();
    let names = named(&names).filter(|_| method != LeaderboardMethod::Census)?;
    Some(if single.len() == board.rows.len() {
        format!("one {each} each: ordered by score, with unknown uncertainty")
    } else {
        format!("one {each}, so ranked by the score alone, its uncertainty is unknown: {names}")
    })
}

/// Says whose intervals rest on the number of cases of each result.
fn of_cases(board: &Leaderboard) -> Option<String> {
    let with = board.rows.iter().filter(|row| row.score.method == Some(IntervalMethod::Wilson));
    let names: Vec<&str> = with.map(|row| row.subject.as_str()).collect();
    let whose =
        if names.len() == board.rows.len() { String::new() } else { format!(" of {}", named(&names)?) };
    (!names.is_empty()).then(|| format!("intervals{whose} from the cases behind each result, `n` (Wilson)"))
}

/// Says whose rows over cases no chance of repeated attempts rests on.
fn no_attempts(board: &Leaderboard) -> Option<String> {
    let is_short = |row: &&LeaderboardRow| {
        let single = row.attempts.as_ref().and_then(|all| all.first()).map(|at| at.tasks);
        single.zip(row.mean.as_ref()).is_some_and(|(tasks, mean)| tasks < mean.tasks)
    };
    let names: Vec<&str> = board.rows.iter().filter(is_short).map(|row| row.subject.as_str()).collect();
    let of = named(&names)?;
    Some(format!("a row over cases (`n`) does not count as an attempt, so attempts leave out those of {of}"))
}

/// Counts successes without a score.
fn missing(board: &Leaderboard) -> Option<String> {
    let rows = board.rows.iter().map(|row| (row.outcomes.map_or(0, |it| it.missing), row));
    let rows: Vec<(u64, &LeaderboardRow)> = rows.filter(|(missing, _)| *missing > 0).collect();
    let sum: u64 = rows.iter().map(|(missing, _)| missing).sum();
    let names: Vec<&str> = rows.iter().map(|(_, row)| row.subject.as_str()).collect();
    let items = count(usize::try_from(sum).unwrap_or(usize::MAX), "item");
    Some(format!("{items} succeeded without a score, so missing beside the mean, of {}", named(&names)?))
}

fn unranked(board: &Leaderboard) -> impl Iterator<Item = String> {
    let reasons = [
        (UnrankedReason::NothingCounts, "none of its items counts"),
        (UnrankedReason::TooFewTasks, "it has too few tasks"),
        (UnrankedReason::NoOfficialScore, "it has no official score at this moment"),
        (UnrankedReason::WithoutTime, UNTIMED),
    ];
    let all = board.unranked.iter().flatten();
    let named = reasons.into_iter().filter_map(move |(why, text)| {
        let all = board.unranked.iter().flatten().filter(|it| it.why == why);
        let names = named(&all.map(|it| it.subject.as_str()).collect::<Vec<_>>())?;
        Some(format!("without a rank, as {text}: {names}"))
    });
    let detailed = all.filter_map(|it| Some(format!("without a rank: {}", it.detail.as_ref()?)));
    named.chain(detailed)
}

/// Returns the origin of a treatment in words.
const fn origin(source: ChoiceSource) -> &'static str {
    match source {
        ChoiceSource::Scorecard => "as the scorecard says",
        ChoiceSource::Default => "by default",
        ChoiceSource::Request => "by --count",
    }
}

/// Counts outcomes that are neither success nor failure, says what chose their treatment, and what other choices change.
fn outcomes(basis: &Basis, board: &Leaderboard) -> Vec<(Tone, String)> {
    let policy = &basis.outcomes;
    let mut lines = Vec::new();
    let Some(rankings) = &board.other_outcomes else { return lines };
    let counted = policy.treatments().into_iter().filter_map(|(outcome, treatment)| {
        let of_row = |row: &LeaderboardRow| row.outcomes.map(|it| it.count(outcome));
        let sum: u64 = board.rows.iter().filter_map(of_row).sum();
        let source = basis.outcome_sources.source(outcome).map(origin);
        (sum > 0)
            .then(|| (format!("{sum} {} ({}", outcome.name(), treatment.name()), source.unwrap_or_default()))
    });
    let counted: Vec<(String, &str)> = counted.collect();
    let Some((_, first)) = counted.first() else { return lines };
    let is_common = counted.iter().all(|(_, source)| source == first);
    let each = counted.iter().map(
        |(text, source)| {
            if is_common { format!("{text})") } else { format!("{text}, {source})") }
        },
    );
    let common = if is_common { format!(", {first}") } else { String::new() };
    let each: Vec<String> = each.collect();
    lines.push((Tone::Plain, format!("ended without success or failure: {}{common}", list(&each))));
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
