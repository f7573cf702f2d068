//! Subjects, their tasks and the items of each: boxes that are closed at first, so that a page of thousands of items
//! is read from
//! the top down. It needs no script.

use maud::{Markup, html};

use crate::document::figure::{Items, ListedItem, SubjectItems, TaskItems};

/// Draws the items.
pub fn draw(id: &str, items: &Items) -> Markup {
    html! {
        div.items role="group" aria-labelledby=(id) {
            p.caption { span id=(id) { (items.caption) } }
            @for subject in &items.subjects { (of_subject(subject)) }
        }
    }
}

fn of_subject(subject: &SubjectItems) -> Markup {
    html! {
        details {
            summary { b { (subject.name) } " " (subject.about) }
            @for task in &subject.tasks { (of_task(task)) }
            @if let Some(left_out) = &subject.left_out { p { (left_out) } }
        }
    }
}

fn of_task(task: &TaskItems) -> Markup {
    let has_outcomes = task.items.iter().any(|item| item.outcome.is_some());
    let has_gates = task.items.iter().any(|item| !item.gates.is_empty());
    html! {
        details {
            summary { b { (task.name) } " " (task.about) }
            table {
                thead {
                    tr {
                        th.name scope="col" { "item" }
                        th.number scope="col" { "score" }
                        @if has_outcomes { th scope="col" { "outcome" } }
                        @if has_gates { th scope="col" { "gates" } }
                        th scope="col" { "evidence" }
                    }
                }
                tbody {
                    @for item in &task.items { (row(item, has_outcomes, has_gates)) }
                }
            }
        }
    }
}

fn row(item: &ListedItem, has_outcomes: bool, has_gates: bool) -> Markup {
    let (place, link) = &item.place;
    html! {
        tr {
            th.name scope="row" { span { (item.id) } }
            @match &item.score {
                Some(score) => td.number { (score) },
                None => td.absent { "no score" },
            }
            @if has_outcomes { td { (item.outcome.as_deref().unwrap_or("not stated")) } }
            @if has_gates { td { (item.gates.join(", ")) } }
            td {
                @match link {
                    Some(link) => a href=(link) { (place) },
                    None => (place),
                }
            }
        }
    }
}
