//! How much a ranking hangs on its rule, on a terminal.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::bar::bar;
use crate::output::{BAR, CARE, FAINT, STRONG};
use karat_report::board::Settings;
use karat_report::board::stress::Stress;
use karat_report::board::told::{first, key, name, told, tried};
use karat_report::estimate::{Writing, places, whole_percent};
use karat_report::rows::Rows;
use karat_report::text::{fit, short, wrap};

const GAP: &str = "  ";
/// Most pairs, and most names, that are listed.
const LISTED: usize = 5;
/// Most columns of a bar, and those of the others that do not change.
const BARS: usize = 12;
const PLACE: usize = 5;
const PERCENT: usize = 5;
const WITHIN: usize = 7;
const ANY: &str = "any weights";

/// Everything that was tried, and what became of the ranks.
pub fn stress(rows: &Rows, stress: &Stress, settings: &Settings, width: usize) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "\n{STRONG}Other weights{STRONG:#}");
    let how = format!(
        "{} draws, seed {}; composite of mean readings, without rules and gates",
        settings.plan.draws, settings.plan.seed
    );
    for line in wrap(&how, width) {
        let _ = writeln!(text, "{FAINT}{line}{FAINT:#}");
    }
    text.push_str(&weights(rows, stress, width));
    let _ = writeln!(text, "\n{STRONG}Other rules{STRONG:#}");
    text.push_str(&others(rows, stress, width));
    let _ = writeln!(text, "\n{STRONG}What drives the composite{STRONG:#}");
    text.push_str(&drivers(rows, stress, width));
    let _ = writeln!(text, "\n{STRONG}First place{STRONG:#}");
    for line in first(rows, stress).into_iter().flat_map(|line| wrap(&line, width - 2)) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// How often each keeps its rank.
fn weights(rows: &Rows, stress: &Stress, width: usize) -> String {
    let mut order: Vec<usize> = (0..stress.subjects.len()).collect();
    order.sort_by_key(|&at| {
        (stress.ranks.get(at).copied().flatten().is_none(), stress.ranks.get(at).copied().flatten())
    });
    let writing = Writing::of(rows.scale);
    let number = writing.width().max("composite".len());
    let anywhere = |at: &usize| {
        let any = stress.uniform.subjects.get(*at)?.as_ref()?;
        Some(format!("{}, {}", whole_percent(any.share_kept), places(any.rank_range)))
    };
    let last = order.iter().filter_map(anywhere).map(|it| it.len()).fold(ANY.len(), usize::max);
    let fixed = PLACE + number + PERCENT + WITHIN + last + 5 * GAP.len();
    let names = order.iter().map(|&at| name(rows, stress, at).width()).max().unwrap_or(0);
    let names = names.clamp(7, width.saturating_sub(fixed + BARS).clamp(12, 28));
    let bars = width.saturating_sub(fixed + names).clamp(4, BARS);
    let mut text = format!(
        "{FAINT}{:>PLACE$}{GAP}{}{GAP}{:>number$}{GAP}{}{GAP}{}{GAP}{}{FAINT:#}\n",
        "place",
        fit("subject", names),
        "composite",
        fit("keeps its place", bars + PERCENT),
        fit("within", WITHIN),
        ANY
    );
    for at in order {
        let around = stress.around.subjects.get(at).and_then(Option::as_ref);
        let (Some(around), Some(any), Some(composite)) =
            (around, anywhere(&at), stress.composites.get(at).copied().flatten())
        else {
            continue;
        };
        let kept = (around.share_kept * 1e9) as i64;
        let line = format!(
            "{:>PLACE$}{GAP}{}{GAP}{:>number$}{GAP}{BAR}{}{BAR:#} {:>4}{GAP}{}{GAP}{any}",
            places(around.rank),
            fit(name(rows, stress, at), names),
            writing.number(composite as f64 / 1e9),
            bar(kept, 1_000_000_000, bars),
            whole_percent(around.share_kept),
            fit(&places(around.rank_range), WITHIN)
        );
        let _ = writeln!(text, "{line}");
    }
    let swaps: Vec<String> = stress
        .around
        .swaps
        .iter()
        .take(LISTED)
        .map(|swap| {
            let (ahead, behind) = (name(rows, stress, swap.ahead), name(rows, stress, swap.behind));
            format!("{} and {} in {}", short(ahead), short(behind), whole_percent(swap.share))
        })
        .collect();
    let line = match swaps.as_slice() {
        [] => String::from("no pair ever swaps"),
        _ => format!("swap most: {}", swaps.join("; ")),
    };
    for part in wrap(&line, width - 2) {
        let _ = writeln!(text, "  {FAINT}{part}{FAINT:#}");
    }
    text
}

/// What happens without a dimension, and under other means.
fn others(rows: &Rows, stress: &Stress, width: usize) -> String {
    let (mut moved, mut unmoved) = (Vec::new(), Vec::new());
    for (label, ranking) in tried(rows, stress) {
        if ranking.moved.is_empty() { unmoved.push(label) } else { moved.push((label, ranking)) }
    }
    let column = moved.iter().map(|(label, _)| label.width()).max().unwrap_or(0).clamp(8, 30);
    let mut text = String::new();
    for (label, ranking) in moved {
        let style = if ranking.first_differs { CARE } else { FAINT };
        let told = told(rows, stress, ranking);
        for (at, part) in wrap(&told, width.saturating_sub(column + 4)).into_iter().enumerate() {
            let label = if at == 0 { fit(&label, column) } else { " ".repeat(column) };
            let _ = writeln!(text, "  {label}{GAP}{style}{part}{style:#}");
        }
    }
    if !unmoved.is_empty() {
        for part in wrap(&format!("nobody moves: {}", unmoved.join(", ")), width - 2) {
            let _ = writeln!(text, "  {FAINT}{part}{FAINT:#}");
        }
    }
    text
}

/// What each dimension has to do with the composite, beside its weight.
fn drivers(rows: &Rows, stress: &Stress, width: usize) -> String {
    let mut order: Vec<usize> = (0..stress.drivers.len()).collect();
    let importance = |at: usize| stress.drivers.get(at).and_then(|driver| driver.importance).unwrap_or(-1.0);
    order.sort_by(|&a, &b| importance(b).total_cmp(&importance(a)).then(a.cmp(&b)));
    let names = order.iter().map(|&at| key(rows, stress, at).width()).max().unwrap_or(0).clamp(9, 24);
    let mut text = format!(
        "{FAINT}  {}{GAP}{:>6}{GAP}{:>6}{GAP}{}{FAINT:#}\n",
        fit("dimension", names),
        "weight",
        "drives",
        "rank correlation"
    );
    for at in order {
        let Some(driver) = stress.drivers.get(at) else { continue };
        let part = |share: Option<f64>| share.map_or_else(|| String::from("-"), whole_percent);
        let rank = driver
            .correlation
            .spearman
            .map_or_else(|| String::from("does not move"), |rho| format!("{rho:+.2}"));
        let _ = writeln!(
            text,
            "  {}{GAP}{:>6}{GAP}{:>6}{GAP}{rank}",
            fit(key(rows, stress, at), names),
            part(Some(driver.weight)),
            part(driver.importance)
        );
    }
    let strong =
        stress.correlations.iter().filter(|(.., found)| found.spearman.is_some_and(|rho| rho.abs() >= 0.9));
    let strong: Vec<String> = strong
        .take(LISTED)
        .map(|(one, other, found)| {
            format!(
                "{} and {} ({:+.2})",
                key(rows, stress, *one),
                key(rows, stress, *other),
                found.spearman.unwrap_or(0.0)
            )
        })
        .collect();
    if !strong.is_empty() {
        for part in wrap(&format!("measure nearly the same: {}", strong.join(", ")), width - 2) {
            let _ = writeln!(text, "  {FAINT}{part}{FAINT:#}");
        }
    }
    text
}
