//! The dependence of a ranking on its scorecard, on a terminal.

use std::fmt::Write as _;

use karat::answers::basis::Basis;
use karat::answers::stress::words::{effect, other_choices, rank_1};
use karat::answers::stress::{Driver, Robustness, SubjectRobustness};
use karat::estimate::{Writing, ranks, whole_percent};
use karat::text::{fit, short, wrap};
use unicode_width::UnicodeWidthStr as _;

use super::bar::bar;
use crate::output::{BAR, CARE, FAINT, STRONG};

const GAP: &str = "  ";
/// The largest number of pairs, and of names, that are listed.
const LISTED: usize = 5;
/// Columns of a bar at most, and fixed columns of the others.
const BARS: usize = 12;
const RANK: usize = 5;
const PERCENT: usize = 5;
const RANGE: usize = 7;
const ANY: &str = "any weights";

/// Returns all changes that were tried, and their effect on the ranks.
pub fn stress(basis: &Basis, found: &Robustness, width: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "\n{STRONG}Other weights{STRONG:#}");
    let (draws, seed) = (basis.resamples.unwrap_or_default(), basis.seed.unwrap_or_default());
    let how =
        format!("{draws} weight samples, seed {seed}; composite of mean values, without rules and gates");
    for line in wrap(&how, width) {
        let _ = writeln!(text, "{FAINT}{line}{FAINT:#}");
    }
    text.push_str(&weights(basis.scale, found, width));
    let _ = writeln!(text, "\n{STRONG}Other choices{STRONG:#}");
    text.push_str(&others(found, width));
    let _ = writeln!(text, "\n{STRONG}What drives the composite{STRONG:#}");
    text.push_str(&drivers(found, width));
    let _ = writeln!(text, "\n{STRONG}Rank 1{STRONG:#}");
    for line in rank_1(found).into_iter().flat_map(|line| wrap(&line, width - 2)) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// Returns the share of weights under which each subject keeps its rank.
fn weights(scale: u32, found: &Robustness, width: usize) -> String {
    let writing = Writing::of(scale);
    let number = writing.width().max("composite".len());
    let around = &found.weights_around.subjects;
    let anywhere = |subject: &str| {
        let any = found.weights_any.subjects.iter().find(|it| it.subject == subject);
        any.map(|any| format!("{}, {}", whole_percent(any.chance_of_same_rank), ranks(any.rank_range)))
    };
    let all: Vec<(&SubjectRobustness, String)> =
        around.iter().map(|it| (it, anywhere(&it.subject).unwrap_or_default())).collect();
    let last = all.iter().map(|(_, any)| any.len()).fold(ANY.len(), usize::max);
    let fixed = RANK + number + PERCENT + RANGE + last + 5 * GAP.len();
    let names = around.iter().map(|it| it.subject.width()).max().unwrap_or(0);
    let names = names.clamp(7, width.saturating_sub(fixed + BARS).clamp(12, 28));
    let bars = width.saturating_sub(fixed + names).clamp(4, BARS);
    let mut text = format!(
        "{FAINT}{:>RANK$}{GAP}{}{GAP}{:>number$}{GAP}{}{GAP}{}{GAP}{}{FAINT:#}\n",
        "rank",
        fit("subject", names),
        "composite",
        fit("keeps its rank", bars + PERCENT),
        fit("range", RANGE),
        ANY
    );
    for (it, any) in &all {
        let kept = (it.chance_of_same_rank * 1e9).round() as i64;
        let line = format!(
            "{:>RANK$}{GAP}{}{GAP}{:>number$}{GAP}{BAR}{}{BAR:#} {:>4}{GAP}{}{GAP}{any}",
            ranks(it.rank),
            fit(&it.subject, names),
            it.composite.map(|composite| writing.number(composite)).unwrap_or_default(),
            bar(kept, 1_000_000_000, bars),
            whole_percent(it.chance_of_same_rank),
            fit(&ranks(it.rank_range), RANGE)
        );
        let _ = writeln!(text, "{line}");
    }
    let swaps = found.weights_around.swaps.iter().take(LISTED).map(|swap| {
        format!("{} and {} in {}", short(&swap.ahead), short(&swap.behind), whole_percent(swap.chance))
    });
    let swaps: Vec<String> = swaps.collect();
    let line = match swaps.as_slice() {
        [] => String::from("no pair ever swaps"),
        _ => format!("swap most: {}", swaps.join("; ")),
    };
    for part in wrap(&line, width - 2) {
        let _ = writeln!(text, "  {FAINT}{part}{FAINT:#}");
    }
    text
}

/// Returns the changes of rank without a dimension, and under other means.
fn others(found: &Robustness, width: usize) -> String {
    let (mut moved, mut unmoved) = (Vec::new(), Vec::new());
    for (label, choice) in other_choices(found) {
        if choice.moved.is_empty() { unmoved.push(label) } else { moved.push((label, choice)) }
    }
    let column = moved.iter().map(|(label, _)| label.width()).max().unwrap_or(0).clamp(8, 30);
    let mut text = String::new();
    for (label, choice) in moved {
        let style = if choice.first_differs { CARE } else { FAINT };
        let effect = effect(choice);
        for (at, part) in wrap(&effect, width.saturating_sub(column + 4)).into_iter().enumerate() {
            let label = if at == 0 { fit(&label, column) } else { " ".repeat(column) };
            let _ = writeln!(text, "  {label}{GAP}{style}{part}{style:#}");
        }
    }
    if !unmoved.is_empty() {
        for part in wrap(&format!("no rank changes: {}", unmoved.join(", ")), width - 2) {
            let _ = writeln!(text, "  {FAINT}{part}{FAINT:#}");
        }
    }
    text
}

/// Returns the contribution of each dimension to the composite, beside its weight.
fn drivers(found: &Robustness, width: usize) -> String {
    let mut order: Vec<&Driver> = found.drivers.iter().collect();
    let importance = |driver: &Driver| driver.importance.unwrap_or(-1.0);
    order.sort_by(|a, b| importance(b).total_cmp(&importance(a)));
    let names = order.iter().map(|it| it.dimension.width()).max().unwrap_or(0).clamp(9, 24);
    let mut text = format!(
        "{FAINT}  {}{GAP}{:>6}{GAP}{:>6}{GAP}{}{FAINT:#}\n",
        fit("dimension", names),
        "weight",
        "drives",
        "rank correlation"
    );
    for driver in order {
        let part = |share: Option<f64>| share.map_or_else(|| String::from("-"), whole_percent);
        let rho = driver.correlation.spearman;
        let rho = rho.map_or_else(|| String::from("does not vary"), |rho| format!("{rho:+.2}"));
        let _ = writeln!(
            text,
            "  {}{GAP}{:>6}{GAP}{:>6}{GAP}{rho}",
            fit(&driver.dimension, names),
            part(Some(driver.weight)),
            part(driver.importance)
        );
    }
    let strong = found.correlations.iter().filter_map(|it| {
        let rho = it.correlation.spearman.filter(|rho| rho.abs() >= 0.9)?;
        let [one, other] = &it.dimensions;
        Some(format!("{one} and {other} ({rho:+.2})"))
    });
    let strong: Vec<String> = strong.take(LISTED).collect();
    if !strong.is_empty() {
        for part in wrap(&format!("measure nearly the same: {}", strong.join(", ")), width - 2) {
            let _ = writeln!(text, "  {FAINT}{part}{FAINT:#}");
        }
    }
    text
}
