//! The waterfall: every part of a score, one below the other, adding up to it.

use std::fmt::Write as _;

use karat_core::explain::{Change, next_level};
use karat_core::number::{UNITS_PER_ONE, plain};
use karat_core::record::{Condition, DimensionRecord, ReadingStatus, Reason, Record, Warning};
use karat_core::scorecard::{MissingPolicy, Publish};
use unicode_width::UnicodeWidthStr as _;

use crate::output::{BAR, CARE, FAINT, GAIN, LOSS, STRONG};
use crate::render::bar::span;
use crate::render::number::{Points, billionths, cut, published};
use karat_report::explanation::{Part, Row, open, policy, rows};
use karat_report::text::{clean, fit, list, own_name, wrap};

/// Columns of the name of a part.
const NAME: usize = 20;
/// Columns of a reading, a share, an amount, a total.
const READING: usize = 8;
const SHARE: usize = 6;
const AMOUNT: usize = 9;

/// Everything there is to say about `record`, except what could change it.
pub fn waterfall(record: &Record<'_>, width: usize) -> String {
    let rows = rows(record);
    let mut text = String::new();
    let _ = head(&mut text, record);
    if record.score.is_some() {
        let _ = parts(&mut text, record, &rows, width);
    }
    let _ = missing(&mut text, record, width);
    let _ = verdict(&mut text, record, width);
    text
}

fn head(text: &mut String, record: &Record<'_>) -> std::fmt::Result {
    let scale = record.card.scale.max;
    let item = &record.item;
    write!(text, "{STRONG}{}{STRONG:#}", clean(item.subject))?;
    if let Some(id) = own_name(item.subject, item.id) {
        write!(text, " {}", clean(id))?;
    }
    write!(text, "  ")?;
    match record.published {
        Some(number) => write!(text, "{STRONG}{}{STRONG:#} of {scale}", published(number))?,
        None => write!(text, "{CARE}{}{CARE:#}", record.status.name())?,
    }
    if let Some(band) = record.band {
        write!(text, ", band {}", clean(band))?;
    }
    if let Some(tier) = &record.tier {
        write!(text, ", tier {}", clean(tier.name.unwrap_or("none")))?;
    }
    writeln!(text, ", coverage {}%", cut(record.coverage, 7, 1))?;
    let used = match record.profile {
        Some(profile) => format!(", profile {}", clean(profile.name)),
        None => String::new(),
    };
    writeln!(text, "{FAINT}{}, {}{used}{FAINT:#}", record.card.name(), record.card.mean.name())
}

/// Columns for the bars. A bar of a few columns says nothing, and a wider one breaks the lines of a narrow terminal.
fn bar_columns(width: usize) -> usize {
    let room = width.saturating_sub(NAME + READING + SHARE + 2 * AMOUNT + 6).min(60);
    if room < 8 { 0 } else { room }
}

fn parts(text: &mut String, record: &Record<'_>, rows: &[Row<'_>], width: usize) -> std::fmt::Result {
    let points = Points::new(record.card.scale, rows.iter().map(|row| row.after));
    let bar = bar_columns(width);
    writeln!(
        text,
        "\n{FAINT}{} {:>READING$} {:>SHARE$} {:>AMOUNT$} {:>AMOUNT$}{FAINT:#}",
        fit("", NAME),
        "reading",
        "share",
        "points",
        "total"
    )?;
    for row in rows {
        let (before, after) = (points.shown(row.before), points.shown(row.after));
        let amount = points.signed(after - before);
        let [reading, share, amount] = match row.part {
            Part::Dimension(DimensionRecord { reading: None, .. }) => [const { String::new() }; 3],
            Part::Dimension(dimension) => [
                dimension.reading.map(billionths).unwrap_or_default(),
                format!("{}%", cut(dimension.effective_weight, 7, 1)),
                amount,
            ],
            _ => [String::new(), String::new(), amount],
        };
        let total = points.text(after);
        let name = fit(row.name, NAME);
        write!(text, "{name} {reading:>READING$} {share:>SHARE$} {amount:>AMOUNT$} {total:>AMOUNT$}")?;
        let style = match &row.part {
            _ if after < before => LOSS,
            Part::Dimension(_) => BAR,
            _ => GAIN,
        };
        let (lead, block) = span(row.before.units(), row.after.units(), UNITS_PER_ONE, bar);
        let note = note(row, record);
        match note {
            Some((style, note)) if block.is_empty() && note.width() <= bar => {
                writeln!(text, "  {style}{note}{style:#}")?;
                continue;
            }
            _ if block.is_empty() => writeln!(text)?,
            _ => writeln!(text, "  {lead}{style}{block}{style:#}")?,
        }
        if let Some((style, note)) = note {
            lines(text, style, &note, width)?;
        }
    }
    let scale = record.card.scale;
    if let (Some(score), Some(number)) = (record.score, record.published)
        && let exact = cut(score.units(), 15 - scale.max.ilog10(), 15)
        && exact != published(number)
    {
        let how = match scale.publish {
            Publish::Exact => "shown as",
            Publish::Floor => "rounded down to",
            Publish::HalfUp => "rounded (halves up) to",
        };
        writeln!(text, "{FAINT}  {exact} is {how} {}{FAINT:#}", published(number))?;
    }
    if !points.exact {
        lines(
            text,
            FAINT,
            "amounts are cut so that they add up as shown; the record has them exactly",
            width,
        )?;
    }
    Ok(())
}

/// Why a part is what it is.
fn note(row: &Row<'_>, record: &Record<'_>) -> Option<(anstyle::Style, String)> {
    match &row.part {
        Part::Dimension(dimension) => dimension_note(dimension, record).map(|note| (FAINT, note)),
        Part::Mean => Some((FAINT, format!("the {} mean of the readings in place of their sum", row.name))),
        Part::Rule { when, set } => {
            Some((FAINT, format!("rule: `{when}` holds, so the score becomes `{set}`")))
        }
        Part::Gate { when } => Some((CARE, format!("gate: `{when}` holds, so the score is capped"))),
    }
}

fn dimension_note(dimension: &DimensionRecord<'_>, record: &Record<'_>) -> Option<String> {
    let status = dimension.status.name();
    let why = match dimension.reason {
        Reason::None => String::new(),
        // The fact is called as the dimension: the status says it already.
        Reason::Needs(name) if name == dimension.key => String::new(),
        reason => format!(": {reason}"),
    };
    match dimension.status {
        ReadingStatus::Scored if why.is_empty() => None,
        ReadingStatus::Scored | ReadingStatus::Gated | ReadingStatus::NotApplicable => {
            Some(format!("{status}{why}"))
        }
        ReadingStatus::Missing | ReadingStatus::Failed => {
            let instead = match policy(record, dimension.key) {
                Some(MissingPolicy::Exclude) | None => "left out",
                Some(MissingPolicy::Zero) => "counts as 0",
                Some(MissingPolicy::Default(_)) => "default used",
                Some(MissingPolicy::Withhold) => "score withheld",
            };
            Some(format!("{status}{why}, {instead}"))
        }
    }
}

fn missing(text: &mut String, record: &Record<'_>, width: usize) -> std::fmt::Result {
    let open: Vec<_> = open(record).collect();
    if record.score.is_none() {
        for dimension in &open {
            if let Some(note) = dimension_note(dimension, record) {
                lines(text, FAINT, &format!("{}: {note}", dimension.key), width)?;
            }
        }
    }
    if open.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = open.iter().map(|dimension| dimension.key).collect();
    writeln!(text, "\n{STRONG}Missing{STRONG:#}")?;
    let range = match record.bounds {
        Some((low, high)) => {
            format!(": with all evidence the score would be {} to {}", published(low), published(high))
        }
        None => String::new(),
    };
    lines(text, CARE, &format!("{}{range}", list(&names)), width)
}

fn verdict(text: &mut String, record: &Record<'_>, width: usize) -> std::fmt::Result {
    if let Some(tier) = &record.tier
        && let Some(next) = tier.next
    {
        writeln!(text, "\n{STRONG}Not {} yet{STRONG:#}", clean(next))?;
        for blocker in &tier.blocked_by {
            let line = match (blocker.condition, blocker.found) {
                (Condition::Gate(name), _) => format!("the gate `{name}` holds"),
                (what, Some(found)) => format!("{what} {}, needs {}", published(found), blocker.needed),
                (what, None) => format!("{what} was not measured, needs {}", blocker.needed),
            };
            lines(text, CARE, &line, width)?;
        }
    }
    let quiet = record.gates.iter().filter(|name| !record.steps.iter().any(|step| step.name == **name));
    for name in quiet {
        lines(text, CARE, &format!("gate `{name}` holds; it did not lower the score"), width)?;
    }
    // A default that was used stands beside its dimension already.
    for warning in record.warnings.iter().filter(|warning| !matches!(warning, Warning::DefaultUsed { .. })) {
        lines(text, CARE, &format!("warning: {warning}"), width)?;
    }
    Ok(())
}

/// What would be enough for the next band or tier: one change of one reading, or that there is none; nothing at the top.
pub fn nearest(record: &Record<'_>, change: Option<&Change<'_>>, width: usize) -> String {
    let Some(next) = next_level(record) else { return String::new() };
    let line = match change {
        Some(change) => {
            // Every decimal: a reading that is cut would not be enough.
            let to = plain(change.to, 9);
            let how = match change.from {
                Some(from) if from < change.to => {
                    format!("raise {} from {} to {to}", change.label, plain(from, 9))
                }
                Some(from) => format!("lower {} from {} to {to}", change.label, plain(from, 9)),
                None if change.to == 0 => format!("measure {}, even at 0,", change.label),
                None => format!("measure {} at {to}", change.label),
            };
            format!("{how} for {}, {} {}", published(change.published), change.kind.name(), change.reaches)
        }
        None => {
            let blocked = record.tier.as_ref().filter(|tier| tier.next == Some(next.name));
            let blockers = blocked.map_or(&[][..], |tier| tier.blocked_by.as_slice());
            let blockers: Vec<String> = blockers
                .iter()
                .map(|blocker| match blocker.condition {
                    Condition::Gate(name) => format!("the gate `{name}`"),
                    condition => condition.to_string(),
                })
                .collect();
            let why = match blockers.as_slice() {
                [] => String::new(),
                several => format!("; in its way: {}", list(several)),
            };
            format!("no single dimension can reach {}{why}", next.name)
        }
    };
    let mut text = format!("\n{STRONG}Nearest{STRONG:#}\n");
    let _ = lines(&mut text, GAIN, &line, width);
    text
}

fn lines(text: &mut String, style: anstyle::Style, line: &str, width: usize) -> std::fmt::Result {
    wrap(line, width.saturating_sub(2)).iter().try_for_each(|part| writeln!(text, "  {style}{part}{style:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_has_no_bars() {
        assert_eq!([60, 65, 66, 80, 200].map(bar_columns), [0, 0, 8, 22, 60]);
    }
}
