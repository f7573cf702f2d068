//! One standing in full: the score, its dimensions, the review, the tier and the conditions of the next one.

use std::fmt::Write as _;

use karat::answers::notes::of_weights;
use karat::answers::standing::{Standing, StandingDimension};
use karat::answers::{ReviewState, StandingScore};
use karat::look_alikes;
use karat::text::{clean, count, fit, wrap};

use crate::output::{BAR, CARE, FAINT, GAIN, LOSS, STRONG};
use karat::draw::bar::bar;

/// The largest number of lines of a history.
const SHOWN: usize = 8;
const DAY_SECONDS: f64 = 86_400.0;

/// Returns the screen of a standing.
pub fn detail(standing: &Standing, width: usize) -> String {
    let mut text = head(standing, width);
    score(standing, width, &mut text);
    dimensions(standing, width, &mut text);
    review(standing, width, &mut text);
    tier(standing, width, &mut text);
    share(standing, width, &mut text);
    history(standing, &mut text);
    text
}

/// Returns a share cut to six decimals, never rounded up.
fn number(share: f64) -> String {
    let shown = (share * 1e6 + 1e-6).floor() / 1e6;
    shown.to_string()
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn write(text: &mut String, style: anstyle::Style, width: usize, line: &str) {
    for (at, part) in wrap(line, width.saturating_sub(4)).iter().enumerate() {
        let indent = if at == 0 { "  " } else { "    " };
        let _ = writeln!(text, "{indent}{style}{part}{style:#}");
    }
}

fn head(standing: &Standing, width: usize) -> String {
    let shown = standing
        .points
        .map(number)
        .map_or_else(|| "no score".to_owned(), |it| format!("{it} of {}", standing.scale));
    let tier = standing.tier.as_ref();
    let tier =
        tier.map_or_else(String::new, |tier| format!(", tier {}", tier.held.as_deref().unwrap_or("none")));
    let mut text = format!("{STRONG}{}{STRONG:#}  {shown}{}\n", clean(&standing.subject), clean(&tier));
    for part in wrap(&format!("{}, at {}", standing.scorecard.name(), standing.as_of), width) {
        let _ = writeln!(text, "{FAINT}{part}{FAINT:#}");
    }
    let named = [(standing.subject.as_str(), standing.looks_like.as_slice())];
    for line in standing.weights.iter().flat_map(of_weights).chain(look_alikes::sentences(named)) {
        for part in wrap(&line, width) {
            let _ = writeln!(text, "{CARE}{part}{CARE:#}");
        }
    }
    text
}

fn score(standing: &Standing, width: usize, text: &mut String) {
    let items = &standing.items;
    let of = items.window_tasks.map_or_else(String::new, |of| format!(" of at most {of}"));
    let what = match standing.kind {
        Some(StandingScore::Latest) => "the newest values of",
        _ => "the mean over",
    };
    let mut line = format!("{what} {}{of}", count(size(items.in_window), "item"));
    if items.distinct_tasks > 0 && items.distinct_tasks < items.in_window {
        let _ = write!(line, ", of {}", count(size(items.distinct_tasks), "task"));
    }
    if items.seen > items.in_window {
        let _ = write!(line, ", {} seen", items.seen);
    }
    if let Some((first, last)) = items.first.as_ref().zip(items.last.as_ref()) {
        let _ = write!(line, "; {first} to {last}");
    }
    let _ = writeln!(text, "\n{STRONG}Score{STRONG:#}");
    write(text, anstyle::Style::new(), width, &line);
    if let Some(score) = &standing.score {
        let exact = if score.exact.len() > 40 { String::new() } else { format!(" ({})", score.exact) };
        write(
            text,
            anstyle::Style::new(),
            width,
            &format!("{}{exact} of a perfect score", number(score.value)),
        );
    }
    if let Some(it) = &standing.interval {
        let level = karat::estimate::percent(it.level);
        let how = format!("{level}, {} resamples of tasks, seed {}", it.resamples, it.seed);
        write(text, FAINT, width, &format!("{} to {} ({how})", number(it.low), number(it.high)));
    }
    for (left_out, why) in
        [(items.excluded, "because of the outcome"), (items.unscored, "without a score or a value")]
    {
        if left_out > 0 {
            write(text, CARE, width, &format!("{} left out, {why}", count(size(left_out), "item")));
        }
    }
    if let Some(late) = &items.late {
        write(text, CARE, width, &late.sentence());
    }
    if let Some(gate) = standing.gate.as_ref().filter(|gate| gate.ungated_points != gate.points) {
        write(text, LOSS, width, &format!("the gate caps {} points at {}", gate.ungated_points, gate.points));
    }
    if let Some((points, gating)) = standing.points.zip(standing.gating_points)
        && points != gating
    {
        write(text, CARE, width, &format!("gates, tiers and shares use {gating} points"));
    }
    if !standing.incidents.is_empty() || standing.incident_gate {
        let names: Vec<String> = standing.incidents.iter().map(|id| format!(" `{id}`")).collect();
        write(text, LOSS, width, &format!("a critical incident is open{}", names.join(",")));
    }
    if standing.on_hold {
        write(text, LOSS, width, "on hold: it runs something other than it declares");
    }
}

fn dimensions(standing: &Standing, width: usize, text: &mut String) {
    let parts = &standing.dimensions;
    if parts.is_empty() {
        return;
    }
    let name = parts.iter().map(|part| part.key.chars().count()).max().unwrap_or(0).clamp(9, 24);
    let has_confidence = parts.iter().any(|part| part.confidence.is_some());
    let sure = if has_confidence { "  sure" } else { "" };
    let rest = width.saturating_sub(name + 42 + sure.len()).clamp(8, 24);
    let _ = writeln!(
        text,
        "\n{STRONG}{}{STRONG:#}  {FAINT}{:>8}  {:>7}  {:>6}  {:>8}{sure}{FAINT:#}",
        fit("Dimension", name),
        "measured",
        "age",
        "lost",
        "value",
    );
    for part in parts {
        dimension(part, name, rest, text);
    }
    let sure = standing.confidence.map_or_else(String::new, |sure| format!(", confidence {}", number(sure)));
    write(text, FAINT, width, &format!("coverage {}{sure}", number(standing.coverage)));
}

fn dimension(part: &StandingDimension, name: usize, rest: usize, text: &mut String) {
    let key = fit(&part.key, name);
    let Some(measured) = part.measured.map(number) else {
        let why = if part.applies { "not measured" } else { "does not apply" };
        let _ = writeln!(text, "{key}  {FAINT}{why}{FAINT:#}");
        return;
    };
    let age = part.age_seconds.map_or_else(String::new, |age| format!("{:.1} d", age as f64 / DAY_SECONDS));
    let lost = part.points_lost.as_deref().and_then(ratio);
    let lost = lost.map_or_else(String::new, |lost| format!("{lost:.1}"));
    let value = part.value.unwrap_or_default();
    let drawn = bar((value * 1e9) as i64, 1_000_000_000, rest);
    let drawn = drawn.trim_end();
    let value = part.value.map(number).unwrap_or_default();
    let sure = part.confidence.map_or_else(String::new, |sure| format!("  {sure:.2}"));
    let line = format!("{key}  {measured:>8}  {age:>7}  {lost:>6}  {value:>8}{sure}  {BAR}{drawn}{BAR:#}");
    let _ = writeln!(text, "{}", line.trim_end());
}

/// Returns the quotient of a fraction that is written out.
fn ratio(text: &str) -> Option<f64> {
    match text.split_once('/') {
        Some((numerator, denominator)) => {
            Some(numerator.parse::<f64>().ok()? / denominator.parse::<f64>().ok()?)
        }
        None => text.parse().ok(),
    }
}

fn review(standing: &Standing, width: usize, text: &mut String) {
    let Some(review) = &standing.review else { return };
    let _ = writeln!(text, "\n{STRONG}Review{STRONG:#}");
    if let Some(held) = &review.held {
        let why = if held.flags.was_anomalous { "a swing" } else { "a cumulative swing" };
        let line =
            format!("{} points of {} are held, {why}; decide by {}", held.points, held.time, held.deadline);
        write(text, CARE, width, &line);
    } else {
        write(text, anstyle::Style::new(), width, "no score is held");
    }
    if let Some(official) = &review.official {
        let line = format!("{} points are the official score since {}", official.points, official.since);
        write(text, anstyle::Style::new(), width, &line);
    }
    // Scores committed at once are not listed.
    let decided: Vec<_> = review
        .transitions
        .iter()
        .filter(|line| line.state != ReviewState::Committed || line.flags.was_anomalous)
        .collect();
    for line in decided.iter().skip(decided.len().saturating_sub(SHOWN)) {
        let by: Vec<String> =
            line.decisions.iter().map(|it| format!(" by {}: {}", it.reviewer, it.reason)).collect();
        let delta = line.flags.delta.map_or_else(String::new, |delta| format!(" ({delta:+})"));
        let state = line.state.name().replace('_', " ");
        let line = format!("{}  {} points{delta}, {state}{}", line.time, line.points, by.join(","));
        write(text, FAINT, width, &line);
    }
    for refusal in &review.refusals {
        let at = refusal.line.map(|line| line.to_string()).unwrap_or_default();
        write(text, CARE, width, &format!("line {at} of the events: {}", refusal.reason));
    }
}

fn tier(standing: &Standing, width: usize, text: &mut String) {
    let Some(tier) = &standing.tier else { return };
    let _ = writeln!(text, "\n{STRONG}Tier{STRONG:#}  {}", clean(tier.held.as_deref().unwrap_or("none")));
    if let Some(earned) = tier.earned.as_ref().filter(|_| tier.earned != tier.held) {
        write(text, anstyle::Style::new(), width, &format!("earned at this moment: {earned}"));
    }
    let plain = anstyle::Style::new();
    if let Some(certificate) = &tier.certificate {
        if let Some(moment) = &certificate.promotion_from {
            write(text, plain, width, &format!("a tier up from {moment} on, if it stays earned"));
        }
        if let Some(moment) = &certificate.at_risk_until {
            let line = format!("decay denies the tier: it is lost at {moment} without fresh evidence");
            write(text, CARE, width, &line);
        }
    }
    for change in tier.changes.iter().skip(tier.changes.len().saturating_sub(SHOWN)) {
        let name = |tier: &Option<String>| tier.clone().unwrap_or_else(|| String::from("none"));
        let (from, to, cause) = (name(&change.from), name(&change.to), change.cause.name());
        write(text, FAINT, width, &format!("{}  {from} to {to}, {cause}", change.time));
    }
    match (&tier.next, tier.missing.as_slice()) {
        (None, _) => write(text, GAIN, width, "the highest tier"),
        (Some(next), [only]) => {
            let _ = writeln!(text, "\n{STRONG}Not {} yet{STRONG:#}, for one reason", clean(next));
            write(text, CARE, width, &only.text);
        }
        (Some(next), several) => {
            let _ = writeln!(text, "\n{STRONG}Not {} yet{STRONG:#}", clean(next));
            several.iter().for_each(|missing| write(text, plain, width, &missing.text));
        }
    }
}

fn share(standing: &Standing, width: usize, text: &mut String) {
    let Some(part) = &standing.share else { return };
    let case = part.case.map(|case| case.name().replace('-', " ")).unwrap_or_default();
    let whole = part.whole.map_or_else(String::new, |whole| format!(", {whole} as a whole number"));
    let _ = writeln!(text, "\n{STRONG}Share{STRONG:#}  {:.4}%{whole}; {case}", part.share * 100.0);
    if let Some(it) = standing.warm_up.as_ref().filter(|it| it.factor < 1.0) {
        let line = format!("warm-up: {} of {} tasks seen, so it counts in part", it.seen, it.needed);
        write(text, FAINT, width, &line);
    }
}

fn history(standing: &Standing, text: &mut String) {
    let points = &standing.history;
    if points.len() < 2 {
        return;
    }
    let _ = writeln!(text, "\n{STRONG}History{STRONG:#}");
    let skipped = points.len().saturating_sub(SHOWN);
    if skipped > 0 {
        let _ = writeln!(text, "  {FAINT}{} before{FAINT:#}", count(skipped, "moment"));
    }
    for point in points.iter().skip(skipped) {
        let time = point.time.as_deref().unwrap_or("-");
        let shown = point.score.map_or_else(|| "-".to_owned(), |share| format!("{share:.4}"));
        let drawn = bar((point.score.unwrap_or_default() * 1e9) as i64, 1_000_000_000, 24);
        let tier = point.tier.as_deref().unwrap_or_default();
        let drawn = if tier.is_empty() { drawn.trim_end() } else { &drawn };
        let line = format!("  {time}  {shown:>6}  {BAR}{drawn}{BAR:#}  {}", clean(tier));
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
