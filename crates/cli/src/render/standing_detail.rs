//! One standing in full, from its line of JSON: the score, its dimensions, the review, the tier and what is in its way.

use std::fmt::Write as _;

use serde_json::Value;

use super::bar::bar;
use crate::output::{BAR, CARE, FAINT, GAIN, LOSS, STRONG};
use karat_report::text::{clean, count, fit, wrap};

/// Most lines of a history.
const SHOWN: usize = 8;
const DAY_SECONDS: f64 = 86_400.0;

/// The screen of a standing, a line of `karat/standing/1`.
pub fn detail(standing: &Value, width: usize) -> String {
    let mut text = head(standing, width);
    score(standing, width, &mut text);
    dimensions(standing, width, &mut text);
    review(standing, width, &mut text);
    tier(standing, width, &mut text);
    share(standing, width, &mut text);
    history(standing, &mut text);
    text
}

fn text_at<'v>(value: &'v Value, path: &str) -> Option<&'v str> {
    value.pointer(path)?.as_str()
}

fn list<'v>(value: &'v Value, path: &str) -> &'v [Value] {
    value.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A number as it was written; shares are cut to six decimals, never rounded up.
fn number(value: &Value, path: &str) -> Option<String> {
    let found = value.pointer(path)?;
    if let Some(whole) = found.as_i64() {
        return Some(whole.to_string());
    }
    let shown = (found.as_f64()? * 1e6 + 1e-6).floor() / 1e6;
    Some(shown.to_string())
}

fn write(text: &mut String, style: anstyle::Style, width: usize, line: &str) {
    for (at, part) in wrap(line, width.saturating_sub(4)).iter().enumerate() {
        let indent = if at == 0 { "  " } else { "    " };
        let _ = writeln!(text, "{indent}{style}{part}{style:#}");
    }
}

fn head(standing: &Value, width: usize) -> String {
    let subject = text_at(standing, "/subject").unwrap_or_default();
    let (scale, points) = (number(standing, "/scale"), number(standing, "/points"));
    // Under review whole points stand; else the score of the moment does, as the card publishes it.
    let is_under_review = standing.get("review").is_some_and(Value::is_object);
    let shown = if is_under_review { points } else { number(standing, "/score/published") };
    let shown =
        shown.zip(scale).map_or_else(|| "no score".to_owned(), |(it, scale)| format!("{it} of {scale}"));
    let tier = match standing.get("tier") {
        Some(tier) if tier.is_object() => format!(", tier {}", text_at(tier, "/held").unwrap_or("none")),
        _ => String::new(),
    };
    let mut text = format!("{STRONG}{}{STRONG:#}  {shown}{}\n", clean(subject), clean(&tier));
    let (id, version) = (text_at(standing, "/scorecard/id"), text_at(standing, "/scorecard/version"));
    let moment = text_at(standing, "/as_of").unwrap_or_default();
    let card = id.zip(version).map_or_else(String::new, |(id, version)| format!("{id}@{version}"));
    for part in wrap(&format!("{card}, at {moment}"), width) {
        let _ = writeln!(text, "{FAINT}{part}{FAINT:#}");
    }
    text
}

fn score(standing: &Value, width: usize, text: &mut String) {
    let items = |path: &str| standing.pointer(path).and_then(Value::as_u64).unwrap_or_default() as usize;
    let (seen, window) = (items("/items/seen"), items("/items/in_window"));
    let of =
        number(standing, "/items/window_tasks").map_or_else(String::new, |of| format!(" of at most {of}"));
    let what = match text_at(standing, "/kind") {
        Some("latest") => "the newest readings of",
        _ => "the mean over",
    };
    let mut line = format!("{what} {}{of}", count(window, "item"));
    if seen > window {
        let _ = write!(line, ", {seen} seen");
    }
    if let Some((first, last)) = text_at(standing, "/items/first").zip(text_at(standing, "/items/last")) {
        let _ = write!(line, "; {first} to {last}");
    }
    let _ = writeln!(text, "\n{STRONG}Score{STRONG:#}");
    write(text, anstyle::Style::new(), width, &line);
    if let Some((exact, value)) = text_at(standing, "/score/exact").zip(number(standing, "/score/value")) {
        let exact = if exact.len() > 40 { String::new() } else { format!(" ({exact})") };
        write(text, anstyle::Style::new(), width, &format!("{value}{exact} of a perfect score"));
    }
    if let Some((low, high)) = number(standing, "/interval/low").zip(number(standing, "/interval/high")) {
        let level = standing.pointer("/interval/level").and_then(Value::as_f64).unwrap_or_default() * 100.0;
        let (draws, seed) = (number(standing, "/interval/draws"), number(standing, "/interval/seed"));
        let (draws, seed) = (draws.unwrap_or_default(), seed.unwrap_or_default());
        write(
            text,
            FAINT,
            width,
            &format!("{low} to {high} ({level}%, {draws} draws of tasks, seed {seed})"),
        );
    }
    for (path, why) in
        [("/items/excluded", "because of the outcome"), ("/items/unscored", "without a score or a reading")]
    {
        if items(path) > 0 {
            write(text, CARE, width, &format!("{} left out, {why}", count(items(path), "item")));
        }
    }
    let (ungated, gated) = (number(standing, "/gate/ungated_points"), number(standing, "/gate/points"));
    if let Some((ungated, gated)) = ungated.zip(gated).filter(|(ungated, gated)| ungated != gated) {
        write(text, LOSS, width, &format!("the gate caps {ungated} points at {gated}"));
    }
    let (points, gating) = (number(standing, "/points"), number(standing, "/gating_points"));
    if let Some(gating) = gating.filter(|gating| points.as_ref().is_some_and(|points| points != gating)) {
        write(text, CARE, width, &format!("gates, tiers and shares see {gating} points"));
    }
    let incidents: Vec<&str> = list(standing, "/incidents").iter().filter_map(Value::as_str).collect();
    if !incidents.is_empty() || standing.get("incident_gate_holds") == Some(&Value::Bool(true)) {
        let names: Vec<String> = incidents.iter().map(|id| format!(" `{id}`")).collect();
        write(text, LOSS, width, &format!("a critical incident is open{}", names.join(",")));
    }
    if standing.get("on_hold") == Some(&Value::Bool(true)) {
        write(text, LOSS, width, "on hold: it runs something else than it declares");
    }
}

fn dimensions(standing: &Value, width: usize, text: &mut String) {
    let parts = list(standing, "/dimensions");
    if parts.is_empty() {
        return;
    }
    let keys = parts.iter().filter_map(|part| text_at(part, "/key"));
    let name = keys.map(|key| key.chars().count()).max().unwrap_or(0).clamp(9, 24);
    let has_confidence = parts.iter().any(|part| part.get("confidence").is_some_and(Value::is_f64));
    let sure = if has_confidence { "  sure" } else { "" };
    let rest = width.saturating_sub(name + 42 + sure.len()).clamp(8, 24);
    let _ = writeln!(
        text,
        "\n{STRONG}{}{STRONG:#}  {FAINT}{:>8}  {:>7}  {:>6}  {:>8}{sure}{FAINT:#}",
        fit("Dimension", name),
        "measured",
        "age",
        "lost",
        "reading",
    );
    for part in parts {
        let key = fit(text_at(part, "/key").unwrap_or_default(), name);
        let Some(measured) = number(part, "/measured") else {
            let applies = part.get("applies") == Some(&Value::Bool(true));
            let why = if applies { "not measured" } else { "does not apply" };
            let _ = writeln!(text, "{key}  {FAINT}{why}{FAINT:#}");
            continue;
        };
        let age = part.pointer("/age_seconds").and_then(Value::as_f64);
        let age = age.map_or_else(String::new, |age| format!("{:.1} d", age / DAY_SECONDS));
        let lost = text_at(part, "/points_lost")
            .and_then(ratio)
            .map_or_else(String::new, |lost| format!("{lost:.1}"));
        let share = part.pointer("/reading").and_then(Value::as_f64).unwrap_or_default();
        let drawn = bar((share * 1e9) as i64, 1_000_000_000, rest);
        let drawn = drawn.trim_end();
        let reading = number(part, "/reading").unwrap_or_default();
        let sure = part.pointer("/confidence").and_then(Value::as_f64);
        let sure = sure.map_or_else(String::new, |sure| format!("  {sure:.2}"));
        let line =
            format!("{key}  {measured:>8}  {age:>7}  {lost:>6}  {reading:>8}{sure}  {BAR}{drawn}{BAR:#}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let (coverage, sure) = (number(standing, "/coverage"), number(standing, "/confidence"));
    let sure = sure.map_or_else(String::new, |sure| format!(", confidence {sure}"));
    write(text, FAINT, width, &format!("coverage {}{sure}", coverage.unwrap_or_default()));
}

/// The quotient of a fraction that is written out.
fn ratio(text: &str) -> Option<f64> {
    match text.split_once('/') {
        Some((numerator, denominator)) => {
            Some(numerator.parse::<f64>().ok()? / denominator.parse::<f64>().ok()?)
        }
        None => text.parse().ok(),
    }
}

fn review(standing: &Value, width: usize, text: &mut String) {
    let Some(review) = standing.get("review").filter(|review| review.is_object()) else { return };
    let _ = writeln!(text, "\n{STRONG}Review{STRONG:#}");
    if let Some(held) = review.get("held").filter(|held| held.is_object()) {
        let points = number(held, "/points").unwrap_or_default();
        let why = match (held.pointer("/flags/was_anomalous"), held.pointer("/flags/was_cumulative")) {
            (Some(Value::Bool(true)), _) => "a swing",
            _ => "a cumulative swing",
        };
        let line = format!(
            "{points} points of {} are held, {why}; to be decided on until {}",
            text_at(held, "/time").unwrap_or_default(),
            text_at(held, "/deadline").unwrap_or_default()
        );
        write(text, CARE, width, &line);
    } else {
        write(text, anstyle::Style::new(), width, "nothing is held");
    }
    if let Some((points, since)) =
        number(review, "/canonical/points").zip(text_at(review, "/canonical/since"))
    {
        write(text, anstyle::Style::new(), width, &format!("{points} points stand since {since}"));
    }
    // What was committed at once is no news.
    let decided = list(review, "/transitions").iter().filter(|line| {
        text_at(line, "/state") != Some("committed")
            || line.pointer("/flags/was_anomalous") == Some(&Value::Bool(true))
    });
    let decided: Vec<&Value> = decided.collect();
    for line in decided.iter().skip(decided.len().saturating_sub(SHOWN)) {
        let by: Vec<String> = list(line, "/decisions")
            .iter()
            .map(|it| {
                let (who, why) = (
                    text_at(it, "/reviewer").unwrap_or_default(),
                    text_at(it, "/reason").unwrap_or_default(),
                );
                format!(" by {who}: {why}")
            })
            .collect();
        let delta = line.pointer("/flags/delta").and_then(Value::as_i64);
        let delta = delta.map_or_else(String::new, |delta| format!(" ({delta:+})"));
        let line = format!(
            "{}  {} points{delta}, {}{}",
            text_at(line, "/time").unwrap_or_default(),
            number(line, "/points").unwrap_or_default(),
            text_at(line, "/state").unwrap_or_default().replace('_', " "),
            by.join(",")
        );
        write(text, FAINT, width, &line);
    }
    for refusal in list(review, "/refusals") {
        let (at, reason) = (number(refusal, "/line"), text_at(refusal, "/reason"));
        let line = format!("line {} of the events: {}", at.unwrap_or_default(), reason.unwrap_or_default());
        write(text, CARE, width, &line);
    }
}

fn tier(standing: &Value, width: usize, text: &mut String) {
    let Some(tier) = standing.get("tier").filter(|tier| tier.is_object()) else { return };
    let held = text_at(tier, "/held");
    let _ = writeln!(text, "\n{STRONG}Tier{STRONG:#}  {}", clean(held.unwrap_or("none")));
    if let Some(earned) = text_at(tier, "/earned").filter(|earned| Some(*earned) != held) {
        write(text, anstyle::Style::new(), width, &format!("the moment earns {earned}"));
    }
    let plain = anstyle::Style::new();
    for (path, style, before, after) in [
        ("/certificate/promotion_from", plain, "a tier up from ", " on, if it stays earned"),
        (
            "/certificate/at_risk_until",
            CARE,
            "decay denies the tier: it is lost at ",
            " without fresh evidence",
        ),
    ] {
        if let Some(moment) = text_at(tier, path) {
            write(text, style, width, &format!("{before}{moment}{after}"));
        }
    }
    let changes = list(tier, "/changes");
    for change in changes.iter().skip(changes.len().saturating_sub(SHOWN)) {
        let name = |path| text_at(change, path).unwrap_or("none");
        let (time, cause) = (text_at(change, "/time"), text_at(change, "/cause"));
        let (time, cause) = (time.unwrap_or_default(), cause.unwrap_or_default());
        write(text, FAINT, width, &format!("{time}  {} to {}, {cause}", name("/from"), name("/to")));
    }
    let missing: Vec<&str> = list(tier, "/missing").iter().filter_map(|it| text_at(it, "/text")).collect();
    match (text_at(tier, "/next"), missing.as_slice()) {
        (None, _) => write(text, GAIN, width, "the highest there is"),
        (Some(next), [only]) => {
            let _ = writeln!(text, "\n{STRONG}Not {} yet{STRONG:#}, for one reason", clean(next));
            write(text, CARE, width, only);
        }
        (Some(next), several) => {
            let _ = writeln!(text, "\n{STRONG}Not {} yet{STRONG:#}", clean(next));
            several.iter().for_each(|reason| write(text, plain, width, reason));
        }
    }
}

fn share(standing: &Value, width: usize, text: &mut String) {
    let Some(part) = standing.pointer("/share/share").and_then(Value::as_f64) else { return };
    let case = text_at(standing, "/share/case").unwrap_or_default().replace('-', " ");
    let whole = number(standing, "/share/whole")
        .map_or_else(String::new, |whole| format!(", {whole} as a whole number"));
    let _ = writeln!(text, "\n{STRONG}Share{STRONG:#}  {:.4}%{whole}; {}", part * 100.0, clean(&case));
    let (seen, needed) = (number(standing, "/warm_up/seen"), number(standing, "/warm_up/needed"));
    if let Some((seen, needed)) = seen.zip(needed)
        && standing.pointer("/warm_up/factor").and_then(Value::as_f64).is_some_and(|factor| factor < 1.0)
    {
        write(text, FAINT, width, &format!("warm-up: {seen} of {needed} tasks seen, so it counts in part"));
    }
}

fn history(standing: &Value, text: &mut String) {
    let points = list(standing, "/history");
    if points.len() < 2 {
        return;
    }
    let _ = writeln!(text, "\n{STRONG}History{STRONG:#}");
    let skipped = points.len().saturating_sub(SHOWN);
    if skipped > 0 {
        let _ = writeln!(text, "  {FAINT}{} before{FAINT:#}", count(skipped, "moment"));
    }
    for point in points.iter().skip(skipped) {
        let time = text_at(point, "/time").unwrap_or("-");
        let share = point.pointer("/score").and_then(Value::as_f64);
        let shown = share.map_or_else(|| "-".to_owned(), |share| format!("{share:.4}"));
        let drawn = bar((share.unwrap_or_default() * 1e9) as i64, 1_000_000_000, 24);
        let tier = text_at(point, "/tier").unwrap_or_default();
        let drawn = if tier.is_empty() { drawn.trim_end() } else { &drawn };
        let line = format!("  {time}  {shown:>6}  {BAR}{drawn}{BAR:#}  {}", clean(tier));
        let _ = writeln!(text, "{}", line.trim_end());
    }
}
