//! Tuned weights on a terminal.

use std::fmt::Write as _;

use karat::answers::tune::{Tune, TunedWeight};
use karat::estimate::percent;
use karat::text::{clean, count, fit, list, wrap};
use unicode_width::UnicodeWidthStr as _;

use crate::output::{FAINT, STRONG};
use karat::draw::interval::Span;
use karat::draw::interval::interval;

/// Columns of a key at most, and of the bars.
const KEY: usize = 28;
const BARS: usize = 16;

/// Returns the weights, what they gain, and what was proposed. `written` names the files.
pub fn tune(answer: &Tune, written: &[String], width: usize) -> String {
    let mut text = String::new();
    let what = answer
        .outcome
        .as_deref()
        .map_or_else(|| String::from("pairs"), |field| format!("`{}`", clean(field)));
    let _ = writeln!(text, "{STRONG}{}{STRONG:#}  weights that predict {what}", answer.scorecard.name());
    let part = |part: &karat::answers::tune::TunePart| count(part.cases as usize, "case");
    let split = format!(
        "found on {}, judged on {} in {}; no {} is in both; seed {}",
        part(&answer.learned),
        part(&answer.held_out),
        count(answer.held_out.clusters as usize, &answer.unit),
        answer.unit,
        answer.seed
    );
    let longest = answer.dimensions.iter().map(|it| clean(&it.key).width()).max().unwrap_or(0);
    let key = longest.clamp("dimension".len(), KEY);
    let mut notes = vec![split];
    if answer.left_out > 0 {
        notes.push(format!("left out, without an outcome or a value: {}", answer.left_out));
    }
    faint(&mut text, &notes, width);
    let _ = writeln!(
        text,
        "{FAINT}{} own   tuned  interval       0{:>2$}1{FAINT:#}",
        fit("dimension", key),
        "",
        BARS - 2
    );
    for TunedWeight { key: name, own, tuned, fitted } in &answer.dimensions {
        let span = Span { low: fitted.low, point: fitted.estimate, high: fitted.high };
        let _ = writeln!(
            text,
            "{} {own:.3} {tuned:.3}  {:.3} to {:.3} {}",
            fit(name, key),
            fitted.low,
            fitted.high,
            interval(span, &(0.0..=1.0), BARS).trim_end()
        );
    }
    let level = percent(answer.level);
    let _ = writeln!(text, "\n{STRONG}Held out{STRONG:#}");
    let gain = &answer.gain;
    let _ = writeln!(
        text,
        "concordance {:.3} by the own weights, {:.3} by the tuned ones\ngain {:+.3}, {:+.3} to {:+.3}",
        answer.own_concordance, answer.tuned_concordance, gain.estimate, gain.low, gain.high
    );
    faint(
        &mut text,
        &[format!(
            "concordance is the share of {} pairs in the right order, a coin has 0.5; {level} intervals from {} resamples \
             of clusters, of the weights from {} fits; composite without rules and gates",
            answer.compared_pairs, answer.resamples, answer.refits
        )],
        width,
    );
    let verdict = match &answer.proposal {
        None => String::from("nothing is proposed: the interval of the gain contains no gain"),
        Some(proposal) if written.is_empty() => format!("better than the own weights: {}", proposal.id),
        Some(proposal) => format!("better than the own weights: {} in {}", proposal.id, list(written)),
    };
    for line in wrap(&verdict, width) {
        let _ = writeln!(text, "{STRONG}{line}{STRONG:#}");
    }
    text
}

fn faint(text: &mut String, notes: &[String], width: usize) {
    for line in notes.iter().flat_map(|note| wrap(note, width)) {
        let _ = writeln!(text, "{FAINT}{line}{FAINT:#}");
    }
}
