//! The parts of a leaderboard on quality against cost.

use super::figure::{Dot, Figure, Scatter};
use super::{Cell, Column, Kind, Part, Row, Table};
use crate::answers::leaderboard::cost::{CostFront, Dominance, SubjectCost};
use crate::estimate::{Writing, whole_percent};
use crate::text::{Tone, count, named, short};

/// Fewer tasks than these show little of who dominates whom.
const FEW_TASKS: u64 = 50;

/// Returns the parts: the front in a sentence, the subjects, who dominates whom.
pub(super) fn cost(found: &CostFront, level: f64) -> Vec<Part> {
    let unit = found.unit.as_ref().map_or_else(String::new, |unit| format!(" in {}", short(unit)));
    let mut parts = vec![
        Part::Heading(format!("Quality against {}", short(&found.fact))),
        Part::Note(Tone::Plain, sentence(found)),
    ];
    let partly: Vec<String> =
        found.subjects.iter().filter(|it| it.share_with_cost < 1.0).map(|it| short(&it.subject)).collect();
    if let Some(names) = named(&partly) {
        let line = format!(
            "costs are known in part of {names}: only tasks with both a result and a cost count here"
        );
        parts.push(Part::Note(Tone::Care, line));
    }
    if found.reason.is_none() && found.tasks < FEW_TASKS && found.subjects.len() > 1 {
        let line = format!(
            "{} show little of who dominates whom: 50 or more do",
            count(found.tasks as usize, "task")
        );
        parts.push(Part::Note(Tone::Care, line));
    }
    parts.extend(chart(found, &unit));
    parts.push(Part::Table(subjects(found, &unit, level)));
    if !found.dominance.is_empty() {
        parts.push(Part::Table(dominance(&found.dominance)));
    }
    parts
}

/// Returns the chart of quality against cost; none without a front, or of one subject.
fn chart(found: &CostFront, unit: &str) -> Option<Part> {
    let writing = Writing::of_size(found.subjects.iter().filter_map(|it| it.cost).fold(0.0, f64::max));
    let dot = |it: &SubjectCost| {
        Some(Dot {
            name: short(&it.subject),
            across: it.cost?,
            up: 100.0 * it.quality?,
            across_shown: writing.number(it.cost?),
            up_shown: whole_percent(it.quality?),
            is_on_front: it.on_front == Some(true),
            is_partial: it.share_with_cost < 1.0,
        })
    };
    let dots: Vec<Dot> = found.subjects.iter().filter_map(dot).collect();
    let scatter = Scatter {
        caption: String::from("Better is up, cheaper is left; the line is the front"),
        across: format!("cost of a task{unit}"),
        up: String::from("quality in %"),
        dots,
    };
    (scatter.dots.len() > 1).then(|| Figure::Scatter(scatter).into())
}

fn sentence(found: &CostFront) -> String {
    if let Some(reason) = &found.reason {
        return reason.clone();
    }
    let on: Vec<String> =
        found.subjects.iter().filter(|it| it.on_front == Some(true)).map(|it| short(&it.subject)).collect();
    if let [only] = found.subjects.as_slice() {
        return format!("{} is alone, so no one is better or cheaper", short(&only.subject));
    }
    let who = named(&on).unwrap_or_else(|| String::from("no subject"));
    let left = match found.tasks_left_out {
        0 => String::new(),
        left => format!(
            "; {} left out, as not all have both a result and a cost there",
            count(left as usize, "task")
        ),
    };
    format!(
        "no subject is both better and cheaper than {who}, over {}{left}",
        count(found.tasks as usize, "task")
    )
}

fn subjects(found: &CostFront, unit: &str, level: f64) -> Table {
    let all = || found.subjects.iter();
    let costs = all().filter_map(|it| it.cost).chain(all().filter_map(|it| it.per_solved.map(|it| it.value)));
    let writing = Writing::of_size(costs.fold(0.0, f64::max));
    let row = |it: &SubjectCost| -> Row {
        let ends = it.per_solved.and_then(|it| it.interval());
        vec![
            Cell::text(&it.subject),
            it.on_front.map_or(Cell::Absent, Cell::Flag),
            Cell::of_share(it.front_share),
            Cell::of_share(it.quality),
            Cell::of_number(it.cost, |it| writing.number(it)),
            Cell::interval(it.per_solved.map(|it| it.value), ends, writing, false),
            Cell::Share(it.share_with_cost),
        ]
        .into()
    };
    let columns = vec![
        Column::name("subject"),
        Column::text("on_front").explained(),
        Column::new("front_share", Kind::Share).labelled("on it in"),
        Column::new("quality", Kind::Share),
        Column::number("cost").labelled("cost of a task"),
        Column::new("per_solved", Kind::Interval { sides: None, level }).labelled("cost of a solved task"),
        Column::new("share_with_cost", Kind::Share).labelled("costs known").wide(),
    ];
    let caption = format!("Quality and cost{unit}; shares of {} resamples of the tasks", found.draws);
    Table::new(caption, columns, all().map(row).collect())
}

fn dominance(pairs: &[Dominance]) -> Table {
    let row = |it: &Dominance| -> Row {
        vec![
            Cell::text(&it.better),
            Cell::text(&it.worse),
            Cell::Flag(it.holds),
            Cell::Number(it.share, whole_percent(it.share)),
        ]
        .into()
    };
    let columns = vec![
        Column::name("better"),
        Column::text("worse").labelled("better and cheaper than"),
        Column::text("holds").labelled("here"),
        Column::number("share").labelled("of resamples"),
    ];
    Table::new("Who dominates whom", columns, pairs.iter().map(row).collect())
}
