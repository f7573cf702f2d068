//! The document of subjects or runs side by side: the score of each, then the tasks, changes first.

use super::leaderboard::{cards, items};
use super::{Cell, Column, Document, Kind, Part, Row, Table, about};
use crate::answers::grid::{Grid, GridColumn, GridTask};
use crate::estimate::{Writing, percent};
use crate::text::{Tone, count, named};

/// Returns the document of a grid, with the sentences on items that are odd.
pub fn grid(answer: &Grid, gaps: &[String]) -> Document {
    let (columns, tasks) = (answer.columns.len(), answer.tasks.len());
    let what = if answer.runs_by.is_some() { "run" } else { "subject" };
    let mut document = Document {
        name: "grid",
        title: format!("{}: {} side by side", cards(&answer.basis), count(columns, what)),
        lines: vec![
            items(&answer.basis, false),
            format!(
                "{} of {} have the same result everywhere; {} intervals",
                answer.same,
                count(tasks, "task"),
                percent(answer.basis.level)
            ),
        ],
        about: about(&answer.basis),
        headline: crate::headline::grid(answer),
        ..Document::default()
    };
    let partly: Vec<&str> =
        answer.columns.iter().filter(|it| it.tasks < tasks as u64).map(|it| it.name.as_str()).collect();
    document.note(
        Tone::Care,
        named(&partly).map(|who| {
            format!("not all of the {tasks} tasks are there, so means are over other ones: {who}")
        }),
    );
    document.note(Tone::Care, gaps.iter().cloned());
    document.parts.push(Part::Table(scores(answer)));
    document.parts.push(Part::Table(by_task(answer)));
    document
}

fn scores(answer: &Grid) -> Table {
    let writing = Writing::points(answer.basis.scale);
    let row = |it: &GridColumn| -> Row {
        let ends = it.score.as_ref().and_then(|score| score.interval());
        vec![
            Cell::text(&it.name),
            Cell::interval(it.score.as_ref().map(|score| score.mean), ends, writing, false),
            Cell::of_text(it.letters.as_ref().map(|letters| letters.join(" "))),
            Cell::Count(it.tasks),
        ]
        .into()
    };
    let columns = vec![
        Column::name(if answer.runs_by.is_some() { "run" } else { "subject" }),
        Column::new("score", Kind::Interval { sides: None, level: answer.basis.level }),
        Column::text("letters").explained().shown_if(answer.columns.iter().any(|it| it.letters.is_some())),
        Column::number("tasks").explained(),
    ];
    let caption = "Scores; two that share a letter are tied";
    Table::new(caption, columns, answer.columns.iter().map(row).collect())
}

fn by_task(answer: &Grid) -> Table {
    let writing = Writing::points(answer.basis.scale);
    let row = |it: &GridTask| -> Row {
        let value = |value: &Option<f64>| Cell::of_number(*value, |it| writing.number(it));
        let mut cells = vec![Cell::text(&it.task)];
        cells.extend(it.values.iter().map(value));
        cells.push(Cell::of_number(Some(it.spread), |it| writing.number(it)));
        cells.into()
    };
    // A column may not be called as another one is.
    let key = |name: &str| match name {
        "task" | "spread" => format!("{name} (score)"),
        name => name.to_owned(),
    };
    let mut columns = vec![Column::name("task")];
    columns.extend(
        answer.columns.iter().map(|it| Column { label: it.name.clone(), ..Column::number(&key(&it.name)) }),
    );
    columns.push(Column::number("spread"));
    let table =
        Table::new("Tasks, the largest differences first", columns, answer.tasks.iter().map(row).collect());
    Table { is_list: true, ..table }
}
