//! Records that were scored again: who moves, and the parts due to scorecard, evidence and engine.

use std::fmt::Write as _;

use karat::number::{hundredths, signed_percent};
use karat::rescore::{Parts, Rescored, Verdict};
use karat::text::{clean, count, fit, own_name, short};
use karat_core::number::Score;

use crate::output::{FAINT, GAIN, LOSS, STRONG};
use crate::rescored::{Mover, Summary};

/// Columns of a score, and of a difference.
const SCORE: usize = 8;
const SHARE: usize = 9;
/// Most subjects whose ranks are listed, and most changes of band or tier.
const LISTED: usize = 10;

/// Returns the summary and the largest movers; `names` are the old card and the new one.
pub fn rescored(summary: &Summary, names: (&str, &str), width: usize) -> String {
    let mut text = format!("{STRONG}{} -> {}{STRONG:#}\n", clean(names.0), clean(names.1));
    let (up, down) = (summary.up, summary.down);
    let same = summary.records - up - down - summary.unscored;
    let _ = write!(
        text,
        "{}: {GAIN}{up} up{GAIN:#}, {LOSS}{down} down{LOSS:#}, {same} unchanged",
        count(summary.records, "record")
    );
    if summary.unscored > 0 {
        let _ = write!(text, ", {} without a score before or after", summary.unscored);
    }
    text.push('\n');
    if !summary.movers.is_empty() {
        text.push_str(&movers(summary, width));
    }
    text.push_str(&ranks(summary));
    text.push_str(&badges(summary));
    text
}

fn movers(summary: &Summary, width: usize) -> String {
    let who = width.saturating_sub(2 * (SCORE + 2) + 4 * (SHARE + 2)).clamp(12, 40);
    let mut text = format!("\n{FAINT}{}  {:>SCORE$}  {:>SCORE$}", fit("largest movers", who), "old", "new");
    for name in ["of scale", "scorecard", "evidence", "engine"] {
        let _ = write!(text, "  {name:>SHARE$}");
    }
    let _ = writeln!(text, "{FAINT:#}");
    for Mover { subject, item, moved, .. } in &summary.movers {
        let name = match own_name(subject, item) {
            Some(item) => format!("{subject} {item}"),
            None => subject.clone(),
        };
        let style = if moved.difference().is_some_and(|it| it < Score::ZERO) { LOSS } else { GAIN };
        let [whole, scorecard, evidence, engine] = shares(moved);
        let _ = write!(
            text,
            "{}  {:>SCORE$}  {:>SCORE$}  {style}{whole:>SHARE$}{style:#}",
            fit(&name, who),
            shown(&moved.before),
            shown(&moved.after),
        );
        for part in [scorecard, evidence, engine] {
            let _ = write!(text, "  {part:>SHARE$}");
        }
        text.push('\n');
    }
    text
}

/// Returns the whole difference and its parts from scorecard, evidence and engine, which add up as shown. `?` without a
/// number, if a score appeared or disappeared.
fn shares(moved: &Rescored) -> [String; 4] {
    let unknown = || String::from("?");
    let (Some(before), Some(after)) = (moved.before.score, moved.after.score) else {
        return [unknown(), unknown(), unknown(), unknown()];
    };
    let between = |from, to| signed_percent(hundredths(to) - hundredths(from));
    let whole = between(before, after);
    let Some(Parts { scorecard, evidence, .. }) = moved.parts else {
        return [whole, unknown(), unknown(), unknown()];
    };
    let now = after.minus(scorecard);
    let today = now.minus(evidence);
    [whole, between(now, after), between(today, now), between(before, today)]
}

fn ranks(summary: &Summary) -> String {
    let ranks = summary.ranks();
    let moved: Vec<_> = ranks.iter().filter(|rank| rank.before != rank.after).collect();
    if moved.is_empty() {
        let subjects = count(summary.subjects(), "subject");
        return format!("\n{FAINT}none of {subjects} changes rank by the mean{FAINT:#}\n");
    }
    let who = format!("{} of {}", moved.len(), count(ranks.len(), "subject"));
    let mut text = format!("\n{FAINT}rank by the mean: {who} move{FAINT:#}\n");
    for rank in moved.iter().take(LISTED) {
        let style = if rank.after > rank.before { LOSS } else { GAIN };
        let (before, after) = (rank.before, rank.after);
        let _ = writeln!(text, "  {style}{before:>3} -> {after}{style:#}  {}", short(rank.subject));
    }
    if moved.len() > LISTED {
        let _ = writeln!(text, "  and {} more", moved.len() - LISTED);
    }
    text
}

fn badges(summary: &Summary) -> String {
    let mut text = String::new();
    for (place, ((before, after), records)) in summary.badges.iter().take(LISTED).enumerate() {
        let lead = if place == 0 { format!("\n{FAINT}band or tier{FAINT:#}\n") } else { String::new() };
        let _ = writeln!(text, "{lead}  {records:>3} {} -> {}", short(before), short(after));
    }
    text
}

/// Returns the published score cut to six decimals, or the reason why it is missing.
fn shown(verdict: &Verdict) -> String {
    let Some(published) = verdict.published else { return verdict.status.name().to_owned() };
    let text = published.to_string();
    match text.find('.') {
        Some(point) => text.get(..point + 7).unwrap_or(&text).to_owned(),
        None => text,
    }
}
