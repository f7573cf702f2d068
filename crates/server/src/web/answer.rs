//! The answer of the arena to a submission: the breakdown in points and the findings, on the pages of matches and records.

use karat::page::figure;
use karat::page::model::{Cell, Column, Figure, Kind, Row, Table};
use karat::record::MatchAnswer;
use maud::{Markup, html};

use super::layout::words;

/// Shows the score, the weight and the points of each dimension.
pub fn breakdown(answer: &MatchAnswer) -> Markup {
    let text = |number: f64| Cell::Text(number.to_string());
    let rows = answer.score_breakdown.iter().map(|(key, found)| Row {
        cells: vec![Cell::Text(key.clone()), text(found.score), text(found.weight), text(found.weighted)],
        group: None,
    });
    let total = match answer.score {
        Some(score) => format!("score times weight, not rounded; the total is {score}"),
        None => String::from("score times weight, not rounded; there is no total"),
    };
    let column = |label: &str, kind| Column { label: label.to_owned(), kind };
    let table = Table {
        caption: total,
        columns: vec![
            column("dimension", Kind::Name),
            column("score", Kind::Number),
            column("weight", Kind::Number),
            column("weighted", Kind::Number),
        ],
        rows: rows.collect(),
    };
    html! {
        section aria-labelledby="breakdown" {
            h2 id="breakdown" { "Breakdown" }
            (figure("breakdown-figure", &Figure::Table(table)))
        }
    }
}

/// Lists the findings on the submission, if there are any.
pub fn findings(answer: &MatchAnswer) -> Markup {
    html! {
        @if answer.has_findings() {
            section aria-labelledby="warnings" {
                h2 id="warnings" { "Warnings" }
                ul.sentences { @for sentence in answer.sentences() { li.care { (words(&sentence)) } } }
            }
        }
    }
}
