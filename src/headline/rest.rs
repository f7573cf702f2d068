//! The headlines of questions about runs over time, judges, tasks and grids.

use super::{Headline, NAMES, counted, day, name, names};
use crate::answers::grid::Grid;
use crate::answers::judges::Judges;
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
            format!("No alarm in {}", counted(runs as u64, "run"))
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

/// Returns the headline of subjects or runs side by side: at how many tasks they differ.
pub fn grid(answer: &Grid) -> Headline {
    let (columns, tasks) = (answer.columns.len() as u64, answer.tasks.len() as u64);
    let what = if answer.runs_by.is_some() { "run" } else { "subject" };
    let differ = tasks.saturating_sub(answer.same);
    Headline::new(format!("{} differ at {differ} of {}", counted(columns, what), counted(tasks, "task")))
}
