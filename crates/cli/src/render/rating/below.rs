//! The parts below a table: predictions, and judges beside people.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::{lines, matches};
use crate::output::{FAINT, STRONG};
use karat::estimate::{percent, whole_percent};
use karat::ratings::{Agreement, Forecaster, Holdout, Judge, Loss, Share};
use karat::text::{clean, fit, list};

/// Columns of a judge's name at most.
const JUDGE: usize = 24;
/// Columns of a forecast's name.
const FORECAST: usize = 14;
/// Columns of a share with its interval: `38.5%  35.6 to 41.6`.
const SHARE: usize = 19;

/// The note below predictions.
const LOSS: &str = "log-loss in nats, lower is better; a coin has 0.6931, and a draw counts half";

/// Returns the matches that were predicted, and those left out.
pub fn about_forecasts(holdout: &Holdout) -> Vec<String> {
    let mut lines = vec![predicted(holdout)];
    if holdout.predicted_matches > 0 {
        lines.push(LOSS.to_owned());
        lines.extend(holdout.warnings.clone());
    }
    lines
}

fn predicted(holdout: &Holdout) -> String {
    let mut skipped = Vec::new();
    for (number, why) in [
        (holdout.skipped_unknown, "with a new competitor"),
        (holdout.skipped_incomparable, "between competitors that cannot be compared"),
    ] {
        if number > 0 {
            skipped.push(format!("{number} {why}"));
        }
    }
    let skipped = if skipped.is_empty() { String::new() } else { format!("; left out: {}", list(&skipped)) };
    format!("{} after {}{skipped}", matches(holdout.predicted_matches), matches(holdout.trained_matches))
}

/// Returns the quality of predictions of the last matches.
pub fn forecasts(category: Option<&str>, holdout: &Holdout, width: usize) -> String {
    let category = category.map_or(String::new(), |category| format!(", {}", clean(category)));
    let mut text = format!("{STRONG}Predicted{category}{STRONG:#}\n");
    text.push_str(&lines(&predicted(holdout), width));
    if holdout.predicted_matches == 0 {
        return text;
    }
    let _ = writeln!(text, "{FAINT}{} log-loss  Brier  minus elo{FAINT:#}", fit("forecast", FORECAST));
    for Forecaster { name, log_loss, brier, beside_elo, .. } in &holdout.forecasts {
        let beside = beside_elo.map_or(String::new(), |Loss { log_loss, low, high }| {
            let verdict = if low <= 0.0 && high >= 0.0 { ", not distinguishable" } else { "" };
            format!("  {log_loss:+.4}, {low:+.4} to {high:+.4}{verdict}")
        });
        let name = fit(name, FORECAST);
        let _ = writeln!(text, "{name} {log_loss:>8.4} {brier:>6.4}{beside}");
    }
    text.push_str(&lines(LOSS, width));
    for warning in &holdout.warnings {
        text.push_str(&lines(warning, width));
    }
    text
}

/// Returns the agreement of judges with people.
pub fn judges(agreement: &Agreement, level: f64, width: usize) -> String {
    let among = format!("each of `{}`", agreement.people.name);
    let rows: Vec<(&str, &Judge)> = [(among.as_str(), &agreement.people)]
        .into_iter()
        .chain(agreement.judges.iter().map(|judge| (judge.name.as_str(), judge)))
        .collect();
    let longest = rows.iter().map(|(name, _)| clean(name).width()).max().unwrap_or(0);
    let name = longest.clamp("judge".len(), JUDGE);
    let mut text =
        format!("{STRONG}Judges{STRONG:#}  against the majority of `{}`\n", clean(&agreement.people.name));
    let (judge, outcome) = (fit("judge", name), fit("same outcome", SHARE));
    let _ = writeln!(text, "{FAINT}{judge} {:>6} {:>5}  {outcome}  same winner{FAINT:#}", "votes", "draws");
    for (who, judged) in rows {
        let votes = judged.votes.matches();
        let draws = if votes > 0 { judged.votes.drawn as f64 / votes as f64 } else { 0.0 };
        let _ = writeln!(
            text,
            "{} {votes:>6} {:>5}  {}  {}",
            fit(who, name),
            whole_percent(draws),
            share(&judged.same_outcome),
            share(&judged.same_winner).trim_end()
        );
    }
    text.push_str(&lines(&about_judges(agreement, level), width));
    text
}

/// Returns the votes compared, and the method.
pub fn about_judges(agreement: &Agreement, level: f64) -> String {
    format!(
        "over {} pairs; on {} more people have no majority. Same outcome: of first, second and draw; same winner: where \
         neither is a draw. Intervals of {} (Wilson)",
        agreement.pairs - agreement.pairs_without_majority,
        agreement.pairs_without_majority,
        percent(level)
    )
}

/// Returns a share with its interval.
fn share(found: &Share) -> String {
    match (found.share, found.interval) {
        (Some(share), Some(interval)) => format!(
            "{:>5} {:>13}",
            format!("{:.1}%", 100.0 * share),
            format!("{:.1} to {:.1}", 100.0 * interval.low, 100.0 * interval.high)
        ),
        _ => format!("{:>5} {:>13}", "-", ""),
    }
}
