//! The headlines of questions about runs over time, judges, tasks, grids and other weights.

use super::{Headline, NAMES, capital, counted, day, name, names};
use crate::answers::grid::Grid;
use crate::answers::judges::Judges;
use crate::answers::stress::Stress;
use crate::answers::stress::words::other_choices;
use crate::answers::tasks::{FlakyProposal, Tasks};
use crate::answers::trend::{SubjectTrend, Trend, TrendChange};
use crate::estimate::{Writing, whole_percent};

/// Returns the headline of runs over time: who changed, and by how much.
pub fn trend(answer: &Trend) -> Headline {
    let writing = Writing::points(answer.basis.scale);
    let points = |points: f64| writing.number(points / writing.value(1.0));
    let changed: Vec<&SubjectTrend> = answer.subjects.iter().filter(|it| it.alarm.is_some()).collect();
    let fell = |change: &TrendChange| if change.after < change.before { "fell" } else { "rose" };
    let since = |it: &SubjectTrend| {
        let alarm = it.alarm.as_deref().map(day).unwrap_or_default();
        let since = it.change.as_ref().map(|change| day(&change.first));
        let since = since.map_or_else(String::new, |since| format!(", most likely since {since}"));
        format!("{}: alarm at {alarm}{since}", name(&it.subject))
    };
    let text = match changed.as_slice() {
        [] if answer.subjects.iter().all(|it| it.reason.is_some()) => {
            String::from("No alarm can be raised with so few runs")
        }
        [] => {
            let runs = answer.subjects.iter().map(|it| it.runs.len()).max().unwrap_or(0);
            let of = if answer.subjects.len() > 1 { " of each subject" } else { "" };
            let most = if answer.subjects.iter().any(|it| it.runs.len() < runs) { "up to " } else { "" };
            format!("No alarm in {most}{}{of}", counted(runs as u64, "run"))
        }
        [only] => match &only.change {
            Some(change) => format!(
                "{} {} from {} to {} points",
                name(&only.subject),
                fell(change),
                points(change.before),
                points(change.after)
            ),
            None => format!("{} changed", name(&only.subject)),
        },
        several => {
            let all: Vec<&str> = several.iter().map(|it| it.subject.as_str()).collect();
            format!("{} changed", names(&all, NAMES, "subjects"))
        }
    };
    Headline::new(text).and(changed.iter().take(2 * NAMES).map(|it| since(it)))
}

/// Returns the headline of judges against labels: how often the first of them is right, or how far it agrees.
pub fn judges(answer: &Judges) -> Headline {
    let Some(judge) = answer.judges.first() else { return Headline::new("There is no judge") };
    let own = name(&judge.verdict);
    let right = judge.accuracy.as_ref().map(|it| whole_percent(it.accuracy.value));
    let text = match right {
        Some(right) => format!("{own} is right about {right} of the labelled items"),
        None => format!("{own} against {}", counted(judge.labelled, "label")),
    };
    let others = answer.judges.iter().skip(1).filter_map(|it| {
        let right = whole_percent(it.accuracy.as_ref()?.accuracy.value);
        Some(format!("{}: {right}", name(&it.verdict)))
    });
    Headline::new(text).and(others)
}

/// Returns the headline of the tasks themselves: what is wrong with them, the gravest first.
pub fn tasks(answer: &Tasks) -> Headline {
    let all = counted(answer.tasks.len() as u64, "task");
    let suspect: Vec<&str> =
        answer.tasks.iter().filter(|it| it.is_suspect == Some(true)).map(|it| it.task.as_str()).collect();
    let flaky = answer.tasks.iter().filter(|it| it.repeats.proposal == FlakyProposal::Quarantine);
    let flaky: Vec<&str> = flaky.map(|it| it.task.as_str()).collect();
    let idle = answer.tasks.iter().filter(|it| it.decides_nothing).count();
    let text = match (suspect.len(), flaky.len(), idle) {
        (0, 0, 0) => format!("None of {all} looks wrong or decides nothing"),
        (0, 0, idle) => format!("{idle} of {all} decide nothing"),
        (0, flaky, _) => format!("{flaky} of {all} change by chance"),
        (1, ..) => format!("The key of one of {all} looks wrong"),
        (suspect, ..) => format!("The keys of {suspect} of {all} look wrong"),
    };
    Headline::new(text)
}

/// Returns the headline of a stress test: how often rank 1 stays, and what would give it to another subject.
pub fn stress(answer: &Stress) -> Headline {
    let found = &answer.robustness;
    let around = &found.weights_around;
    let first: Vec<&str> =
        around.subjects.iter().filter(|it| it.rank[0] == 1).map(|it| it.subject.as_str()).collect();
    let (is, stays) = if first.len() == 1 { ("is", "stays") } else { ("are", "stay") };
    let who = names(&first, NAMES, "subjects");
    let share = match around.chance_of_same_rank_1 {
        1.0 => String::from("all"),
        share => format!("{} of the", whole_percent(share)),
    };
    let would = |first: &[String]| {
        let first: Vec<&str> = first.iter().map(String::as_str).collect();
        format!("{} would be first", names(&first, NAMES, "subjects"))
    };
    let mut others: Vec<(&[String], Vec<String>)> = Vec::new();
    for (label, choice) in other_choices(found).filter(|(_, it)| it.first_differs && !it.first.is_empty()) {
        let label = label.strip_prefix("mean ").map_or(label.clone(), |mean| format!("by the {mean} mean"));
        match others.iter_mut().find(|(first, _)| *first == choice.first) {
            Some((_, labels)) => labels.push(label),
            None => others.push((choice.first, vec![label])),
        }
    }
    let mut lead: Vec<String> = others
        .iter()
        .take(NAMES)
        .map(|(first, labels)| format!("{}, {}", capital(&labels.join(" or ")), would(first)))
        .collect();
    if lead.is_empty() {
        lead.push(String::from("No dimension left out and no other mean changes who is first"));
    }
    lead.push(match &found.fewest_tasks {
        Some(fewest) => format!(
            "Without {} of {}, {} would be first by score",
            fewest.removed.len(),
            counted(fewest.tasks, "task"),
            name(&fewest.overtaker)
        ),
        None => String::from("No removal of tasks puts another subject first by score"),
    });
    lead.push(String::from(
        "All this is about the scorecard, by the composite of mean values: the official order and what chance leaves open are on the \
         leaderboard",
    ));
    Headline::new(format!(
        "{who} {is} first by composite, and {stays} so under {share} weights near those of the scorecard"
    ))
    .and(lead)
}

/// Returns the headline of subjects or runs side by side: at how many tasks they differ.
pub fn grid(answer: &Grid) -> Headline {
    let (columns, tasks) = (answer.columns.len() as u64, answer.tasks.len() as u64);
    let what = if answer.runs_by.is_some() { "run" } else { "subject" };
    let differ = tasks.saturating_sub(answer.same);
    Headline::new(format!("{} differ at {differ} of {}", counted(columns, what), counted(tasks, "task")))
}
