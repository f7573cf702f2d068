//! The explanation of a record: the bars that add up to its score, the facts behind them, rules and gates in words.

use karat::document::{Part, account, behind, formulas};
use karat::text::list;
use karat_core::explain::Change;
use karat_core::record::Record;
use karat_core::weights::OverrideUse;

use super::layout::*;

/// Returns the explanation of `record`; `change` is the nearest one that would reach the next level.
pub fn record(record: &Record<'_>, change: Option<&Change<'_>>) -> Markup {
    let mut document = account(record, change);
    // A table of a score that is not there says nothing.
    document.parts.retain(|part| !matches!(part, Part::Table(table) if table.is_detail));
    for part in &mut document.parts {
        // A note says how exact it is.
        if let Part::Table(table) = part
            && let Some((what, _)) = table.caption.split_once("; ")
        {
            table.caption = what.to_owned();
        }
    }
    // The headline names gates, and so does the table below.
    document.findings.clear();
    document.parts.insert(0, Part::Heading(String::from("How the score adds up")));
    document.parts.extend(behind(record));
    html! {
        (body("part", &document))
        (about(record))
        details { summary { "Exactly how" } (figure("exactly", &formulas(record))) }
    }
}

fn about(record: &Record<'_>) -> Markup {
    let context = &record.item.context;
    html! {
        dl.about {
            @if let Some(task) = context.task { div { dt { "task" } dd { (task) } } }
            @if let Some(time) = context.time { div { dt { "took place" } dd { (words(&time.to_string())) } } }
            @if let Some(outcome) = context.outcome { div { dt { "ended" } dd { (outcome.name()) } } }
            @if let Some(as_of) = record.as_of { div { dt { "judged as of" } dd { (words(as_of)) } } }
            @if let Some(profile) = record.profile { div { dt { "weights" } dd { "profile " (profile.name) } } }
            @if let Some(used) = record.override_use { div { dt { "weights" } dd { (override_words(used)) } } }
        }
    }
}

/// Names the weights from outside, or says why they do not count.
fn override_words(used: &OverrideUse) -> String {
    match &used.reason {
        None => {
            let given = used.given.iter().map(|(name, weight)| format!("{name} {weight}"));
            format!("from outside: {}", list(&given.collect::<Vec<_>>()))
        }
        Some(reason) => format!("of the scorecard; those from outside are refused: {reason}"),
    }
}
