//! The standings of all subjects on a terminal: score, interval, tier, share, and below each its obstacles.

use std::fmt::Write as _;

use karat_core::number::BILLION;
use karat_core::scorecard::StandingScore;
use karat_standing::stand::SubjectStanding;
use unicode_width::UnicodeWidthStr as _;

use crate::output::{BAR, FAINT, STRONG, style};
use karat::answers::notes::foot;
use karat::answers::standing::official_points;
use karat::draw::interval::Span;
use karat::draw::interval::{axis, interval, span};
use karat::estimate::{self, Writing};
use karat::standing::Answer;
use karat::standing::notes::{notes, percent};
use karat::text::{clean, count, fit, wrap};

const GAP: &str = "  ";

/// Returns the table of all subjects.
pub fn table(answer: &Answer<'_>, width: usize) -> String {
    let mut text = head(answer, width);
    let subjects = &answer.standings.subjects;
    let writing = Writing::of(answer.card.scale.max);
    let widest = |of: &dyn Fn(&SubjectStanding) -> usize, least: usize| {
        subjects.iter().map(of).fold(least, usize::max)
    };
    let has = |of: fn(&SubjectStanding) -> bool| subjects.iter().any(of);
    let (has_tier, has_share) = (has(|it| it.tier.is_some()), has(|it| it.share.is_some()));
    let tier = if has_tier { widest(&|it| tier(it).width(), "tier".len()).min(14) } else { 0 };
    let shares = if has_share { "share".len().max(6) } else { 0 };
    let number = widest(&|it| shown(it, writing).len(), "score".len());
    let items = widest(&|it| window(it).len(), "items".len());
    let columns = [number, items, tier, shares].into_iter().filter(|columns| *columns > 0);
    let fixed: usize = columns.map(|columns| columns + GAP.len()).sum::<usize>() + GAP.len();
    let free = width.saturating_sub(fixed);
    let subject = widest(&|it| it.subject.width(), "subject".len()).clamp(7, free.saturating_sub(16).max(12));
    let bar = free.saturating_sub(subject).clamp(8, 40);
    // Without a mean there is no interval: then the bar is the official score.
    let has_interval = has(|it| it.interval.is_some());
    let axis = if has_interval { axis(subjects.iter().filter_map(spanned)) } else { 0.0..=1.0 };
    let mut row = |style: anstyle::Style, cells: [&str; 6]| {
        let [name, score, drawn, counted, held, part] = cells;
        let before = format!("{}{GAP}{score:>number$}{GAP}", fit(name, subject));
        let mut after = format!("{GAP}{counted:>items$}");
        if has_tier {
            let _ = write!(after, "{GAP}{}", fit(held, tier));
        }
        if has_share {
            let _ = write!(after, "{GAP}{part:>shares$}");
        }
        let (bar, after) = (if style == FAINT { FAINT } else { BAR }, after.trim_end());
        let _ = writeln!(text, "{style}{before}{style:#}{bar}{drawn}{bar:#}{style}{after}{style:#}");
    };
    row(FAINT, ["subject", "score", &writing.axis(&axis, bar), "items", "tier", "share"]);
    for standing in subjects {
        let drawn = match has_interval {
            true => spanned(standing).map(|it| interval(it, &axis, bar)),
            false => stands(standing, answer).map(|units| karat::draw::bar::bar(units, BILLION, bar)),
        };
        let drawn = drawn.unwrap_or_else(|| " ".repeat(bar));
        let (score, counted) = (shown(standing, writing), window(standing));
        let share = standing.share.map_or_else(String::new, |it| percent(it.share.units()));
        let tier = self::tier(standing);
        row(anstyle::Style::new(), [&standing.subject, &score, &drawn, &counted, &tier, &share]);
    }
    with_notes(&text, answer, width)
}

/// Returns the official score as a part of the scale, in billionths.
fn stands(standing: &SubjectStanding, answer: &Answer<'_>) -> Option<i64> {
    Some((official_points(standing)? / f64::from(answer.card.scale.max) * 1e9).round() as i64)
}

/// Returns each row with its notes below.
fn with_notes(table: &str, answer: &Answer<'_>, width: usize) -> String {
    let rows = &answer.standings.subjects;
    let head = table.lines().count().saturating_sub(rows.len());
    let mut text = String::new();
    for (at, line) in table.lines().enumerate() {
        let _ = writeln!(text, "{line}");
        let standing = at.checked_sub(head).and_then(|at| rows.get(at));
        for (tone, note) in standing.into_iter().flat_map(notes) {
            let style = style(tone);
            for (place, part) in wrap(&note, width.saturating_sub(4)).iter().enumerate() {
                let indent = if place == 0 { "  " } else { "    " };
                let _ = writeln!(text, "{indent}{style}{part}{style:#}");
            }
        }
    }
    for note in foot(answer) {
        for part in wrap(&note, width) {
            let _ = writeln!(text, "{FAINT}{part}{FAINT:#}");
        }
    }
    text
}

fn head(answer: &Answer<'_>, width: usize) -> String {
    let Answer { card, rows, standings, as_of, interval, .. } = answer;
    let what = card.standing.as_ref().map_or("", |rules| match rules.score {
        StandingScore::Window => "mean of scores",
        StandingScore::Latest => "newest values",
    });
    let mut text = format!("{STRONG}{}{STRONG:#}  {what} at {as_of}\n", card.name());
    let mut line =
        format!("{} of {}", count(rows.rows.len(), "item"), count(standings.subjects.len(), "subject"));
    if standings.subjects.iter().any(|subject| subject.interval.is_some()) {
        let (level, plan) = (estimate::percent(interval.level), interval.plan);
        let _ =
            write!(line, "; {level} intervals from {} resamples of tasks, seed {}", plan.draws, plan.seed);
    }
    let left_out = [(standings.after, "after the moment"), (rows.filtered, "by the filters")];
    for (number, why) in left_out.into_iter().filter(|(number, _)| *number > 0) {
        let _ = write!(line, "; {} left out, {why}", count(number as usize, "item"));
    }
    if rows.repeated > 0 {
        let _ = write!(line, "; {} given again, which count once", count(rows.repeated as usize, "item"));
    }
    if standings.by_id {
        line.push_str("; no item has a time, so they are in the order of their ids");
    }
    for part in wrap(&line, width) {
        let _ = writeln!(text, "{FAINT}{part}{FAINT:#}");
    }
    text
}

/// Returns the official score.
fn shown(standing: &SubjectStanding, writing: Writing) -> String {
    match official_points(standing) {
        Some(points) if standing.review.is_some() => points.to_string(),
        Some(points) => writing.number(points / writing.value(1.0)),
        None => "-".to_owned(),
    }
}

fn tier(standing: &SubjectStanding) -> String {
    match &standing.tier {
        Some(tier) => tier.name.as_deref().map_or_else(|| "-".to_owned(), |name| clean(name).into_owned()),
        None => String::new(),
    }
}

/// Returns `12`, or `12/100` for a window that is not full.
fn window(standing: &SubjectStanding) -> String {
    let counts = standing.counts;
    match counts.window_tasks {
        Some(tasks) => format!("{}/{tasks}", counts.in_window),
        None => counts.in_window.to_string(),
    }
}

fn spanned(standing: &SubjectStanding) -> Option<Span> {
    let point = standing.score?.to_f64();
    Some(standing.interval.as_ref().map_or(Span::at(point), |found| Span { point, ..span(&found.into()) }))
}
