//! The explanation of a record: the bars that add up to its score, the facts behind them, rules and gates in words.

use super::layout::*;
use karat::card::words::effect;
use karat::document;
use karat::explanation::open;
use karat::explanation::words::{blockers, cautions, dimension_note, gap, next_step, rounding};
use karat::page::scrolling;
use karat::text::{cut, list, published};
use karat_core::explain::Change;
use karat_core::facts::Fact;
use karat_core::formula::{Formula, Symbol};
use karat_core::record::{Record, StepKind};
use karat_core::scorecard::{Dimension, Reporter, Scorecard};
use karat_core::weights::OverrideUse;

/// Returns the explanation of `record`; `change` is the nearest one that would reach the next level.
pub fn record(record: &Record<'_>, change: Option<&Change<'_>>) -> Markup {
    html! {
        (numbers(record))
        section aria-labelledby="sum" {
            h2 id="sum" { "How the score adds up" }
            @if record.score.is_some() { (figure("sum-figure", &Figure::Table(document::parts(record)))) }
            @else { p.care { "There is no score: " (record.status.name()) "." } (unmeasured(record)) }
            @if let Some(rounded) = rounding(record) { p { (rounded) "." } }
        }
        (groups(record))
        (missing(record))
        (next(record, change))
        (conditions(record))
        (facts(record))
    }
}

fn numbers(record: &Record<'_>) -> Markup {
    let context = &record.item.context;
    html! {
        dl.figures {
            div {
                dt { "score" }
                dd {
                    @match record.published {
                        Some(number) => { (published(number)) " " small { "of " (record.card.scale.max) } },
                        None => (record.status.name()),
                    }
                }
            }
            @if let Some(band) = record.band { div { dt { "band" } dd { (band) } } }
            @if let Some(tier) = &record.tier { div { dt { "tier" } dd { (tier.name.unwrap_or("none")) } } }
            div { dt { "coverage" } dd { (cut(record.coverage, 7, 1)) "%" } }
            @if let Some(outcome) = context.outcome { div { dt { "ended" } dd { (outcome.name()) } } }
        }
        dl.about {
            @if let Some(task) = context.task { div { dt { "task" } dd { (task) } } }
            @if let Some(time) = context.time { div { dt { "took place" } dd { time { (time.to_string()) } } } }
            @if let Some(as_of) = record.as_of { div { dt { "judged as of" } dd { time { (as_of) } } } }
            @if let Some(profile) = record.profile { div { dt { "weights" } dd { "profile " (profile.name) } } }
            @if let Some(used) = record.override_use { div { dt { "weights" } dd { (override_words(used)) } } }
            div { dt { "mean" } dd { (record.card.mean.name()) } }
        }
    }
}

/// Names the weights from outside, or says why they do not count.
fn override_words(used: &OverrideUse) -> String {
    match &used.reason {
        None => {
            let given: Vec<String> =
                used.given.iter().map(|(name, weight)| format!("{name} {weight}")).collect();
            format!("from outside: {}", list(&given))
        }
        Some(reason) => format!("of the scorecard; those from outside are refused: {reason}"),
    }
}

/// Shows the values of groups, each below the group that it is in.
fn groups(record: &Record<'_>) -> Markup {
    document::groups(record).map_or_else(|| html! {}, |table| table_section("groups", "Groups", table))
}

/// Lists why each dimension of a record without a score has no value.
fn unmeasured(record: &Record<'_>) -> Markup {
    let notes = open(record).filter_map(|it| Some((it.key, dimension_note(it, record)?)));
    html! { ul.sentences { @for (key, note) in notes { li { b { (key) } ": " (words(&note)) } } } }
}

fn missing(record: &Record<'_>) -> Markup {
    section(
        "missing",
        "What is missing",
        html! {
            @match gap(record) {
                Some(line) => p.care { "Not measured: " (words(&line)) "." },
                None => p { "Nothing: every dimension that applies was measured." },
            }
        },
    )
}

fn next(record: &Record<'_>, change: Option<&Change<'_>>) -> Markup {
    let step = next_step(record, change);
    let blockers: Vec<String> = blockers(record).collect();
    let cautions: Vec<String> = cautions(record).collect();
    let next = record.tier.as_ref().and_then(|tier| tier.next);
    if step.is_none() && blockers.is_empty() && cautions.is_empty() {
        return html! {};
    }
    section(
        "next",
        "What would change it",
        html! {
            @if let Some(step) = step { p { b { "Nearest: " } (words(&step)) "." } }
            @if let Some(next) = next {
                p { "Not " b { (next) } " yet:" }
                ul.sentences { @for line in &blockers { li { (words(line)) } } }
            }
            @if !cautions.is_empty() { ul.sentences { @for line in &cautions { li.care { (words(line)) } } } }
        },
    )
}

/// Lists every rule and gate of the scorecard, with its effect here.
fn conditions(record: &Record<'_>) -> Markup {
    let card = record.card;
    if card.rules.is_empty() && card.gates.is_empty() {
        return html! {};
    }
    let did = |name: &str, kind: StepKind| {
        let moved = record.steps.iter().find(|step| step.kind == kind && step.name == name);
        let holds = record.gates.contains(&name);
        let scale = card.scale;
        match moved {
            Some(step) => {
                let [from, to] = [step.before, step.after].map(|score| published(scale.publish(score)));
                (true, format!("it holds, and takes the score from {from} to {to}"))
            }
            None if record.undecided.contains(&name) => {
                (true, String::from("it could not be decided, as something it needs is missing"))
            }
            None if holds => (true, String::from("it holds, and does not lower the score")),
            None => (false, String::from("it does not hold")),
        }
    };
    let rules = card.rules.iter().map(|rule| {
        let what = format!("the score becomes {}", rule.set.text);
        ("rule", &rule.name, &rule.when.text, what, did(&rule.name, StepKind::Rule))
    });
    let gates = card.gates.iter().map(|gate| {
        ("gate", &gate.name, &gate.when.text, effect(gate, card), did(&gate.name, StepKind::Gate))
    });
    section(
        "rules",
        "Rules and gates",
        html! {
            ul.sentences {
                @for (kind, name, when, what, (is_care, did)) in rules.chain(gates) {
                    li { b { (kind) " " (name) } ": when " code { (when) } ", " (what) ". Here " span.care[is_care] { (did) } "." }
                }
            }
        },
    )
}

/// Lists the facts that each dimension reads, directly or through `let`.
fn facts(record: &Record<'_>) -> Markup {
    let card = record.card;
    scrolling_section(html! {
        thead {
            tr {
                th.name scope="col" { "dimension" }
                th scope="col" { "formula" }
                th scope="col" { "facts" }
            }
        }
        tbody.fixed {
            @for dimension in &card.dimensions {
                tr {
                    th.name scope="row" { span { (dimension.label) } }
                    td { code { (dimension.formula.text) } }
                    td {
                        @for at in behind(card, dimension) {
                            @if let (Some(fact), Some(value)) = (card.facts.get(at), record.item.facts.get(at)) {
                                div {
                                    code { (fact.name) } " = "
                                    @if fact.is_missing(value) { span.care { "missing" } } @else { b { (written(value)) } (unit(&fact.unit)) }
                                    @if fact.from != Reporter::Unstated { small { " from " (fact.from.name()) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    })
}

fn scrolling_section(content: Markup) -> Markup {
    section(
        "facts",
        "The facts behind each bar",
        html! {
            (scrolling("facts-table", "What the evidence said, and who said it", content))
        },
    )
}

fn written(fact: &Fact<'_>) -> String {
    match fact {
        Fact::Missing => String::from("missing"),
        Fact::Number(number) => number.to_string(),
        Fact::Flag(flag) => flag.to_string(),
        Fact::Text(text) => format!("“{text}”"),
    }
}

fn unit(unit: &str) -> String {
    if matches!(unit, "" | "1" | "count" | "ratio") { String::new() } else { format!(" {unit}") }
}

/// Returns the indexes of the facts that a dimension reads, in the order in which its formulas name them.
fn behind(card: &Scorecard, dimension: &Dimension) -> Vec<usize> {
    let own = [Some(&dimension.formula), dimension.when.as_ref(), dimension.applies.as_ref()];
    let mut waiting: Vec<&Formula> = own.into_iter().flatten().rev().collect();
    let (mut facts, mut seen) = (Vec::new(), Vec::new());
    while let Some(formula) = waiting.pop() {
        for symbol in formula.expr.symbols() {
            if seen.contains(&symbol) {
                continue;
            }
            seen.push(symbol);
            match symbol {
                Symbol::Fact(at) => facts.push(at),
                // A `let` only names those before it, so this ends.
                Symbol::Let(at) => waiting.extend(card.lets.get(at).map(|named| &named.formula)),
                Symbol::Reading(_) | Symbol::Score | Symbol::Composite | Symbol::Coverage => {}
            }
        }
    }
    facts
}
