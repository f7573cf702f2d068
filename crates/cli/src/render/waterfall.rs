//! The waterfall: every part of a score, one below the other, adding up to it.

use std::fmt::Write as _;

use karat_core::explain::Change;
use karat_core::number::UNITS_PER_ONE;
use karat_core::record::{DimensionRecord, Record};
use unicode_width::UnicodeWidthStr as _;

use crate::output::{BAR, CARE, FAINT, GAIN, LOSS, STRONG, style};
use karat::draw::bar::span;
use karat::explanation::words::{blockers, cautions, dimension_note, gap, next_step, note, rounding};
use karat::explanation::{GroupRow, Part, Row, groups, open, rows};
use karat::number::{Points, billionths, cut, published};
use karat::text::{clean, fit, own_name, wrap};

/// Columns of the name of a part.
const NAME: usize = 20;
/// Columns of a value, a share, an amount, a total.
const READING: usize = 8;
const SHARE: usize = 6;
const AMOUNT: usize = 9;

/// Returns the full account of `record`, without the changes that could improve it.
pub fn waterfall(record: &Record<'_>, width: usize) -> String {
    let rows = rows(record);
    let mut text = String::new();
    let _ = head(&mut text, record);
    if record.score.is_some() {
        let _ = parts(&mut text, record, &rows, width);
    }
    let _ = groups_of(&mut text, record);
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

/// Returns the columns of the bars. A bar of a few columns shows nothing, and a wide one breaks lines of a terminal.
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
        "value",
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
        let color = match &row.part {
            _ if after < before => LOSS,
            Part::Dimension(_) => BAR,
            _ => GAIN,
        };
        let (lead, block) = span(row.before.units(), row.after.units(), UNITS_PER_ONE, bar);
        let note = note(row, record).map(|(tone, note)| (style(tone), note));
        match note {
            Some((style, note)) if block.is_empty() && note.width() <= bar => {
                writeln!(text, "  {style}{note}{style:#}")?;
                continue;
            }
            _ if block.is_empty() => writeln!(text)?,
            _ => writeln!(text, "  {lead}{color}{block}{color:#}")?,
        }
        if let Some((style, note)) = note {
            lines(text, style, &note, width)?;
        }
    }
    if let Some(rounded) = rounding(record) {
        writeln!(text, "{FAINT}  {rounded}{FAINT:#}")?;
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

/// Writes the values of groups, each below the group that it is in.
fn groups_of(text: &mut String, record: &Record<'_>) -> std::fmt::Result {
    let groups = groups(record);
    if groups.is_empty() {
        return Ok(());
    }
    let points = Points::new(record.card.scale, groups.iter().map(|it| it.group.contribution));
    writeln!(
        text,
        "\n{STRONG}{}{STRONG:#}{FAINT} {:>READING$} {:>SHARE$} {:>AMOUNT$}{FAINT:#}",
        fit("Groups", NAME),
        "value",
        "share",
        "points"
    )?;
    for GroupRow { name, depth, group } in groups {
        let name = fit(&format!("{:width$}{name}", "", width = 2 * depth), NAME);
        let value = group.reading.map_or_else(|| String::from("none"), billionths);
        let share = format!("{}%", cut(group.effective_weight, 7, 1));
        let amount = points.signed(points.shown(group.contribution));
        writeln!(text, "{name} {value:>READING$} {share:>SHARE$} {amount:>AMOUNT$}")?;
    }
    Ok(())
}

fn missing(text: &mut String, record: &Record<'_>, width: usize) -> std::fmt::Result {
    if record.score.is_none() {
        for dimension in open(record) {
            if let Some(note) = dimension_note(dimension, record) {
                lines(text, FAINT, &format!("{}: {note}", dimension.key), width)?;
            }
        }
    }
    let Some(line) = gap(record) else { return Ok(()) };
    writeln!(text, "\n{STRONG}Missing{STRONG:#}")?;
    lines(text, CARE, &line, width)
}

fn verdict(text: &mut String, record: &Record<'_>, width: usize) -> std::fmt::Result {
    if let Some(next) = record.tier.as_ref().and_then(|tier| tier.next) {
        writeln!(text, "\n{STRONG}Not {} yet{STRONG:#}", clean(next))?;
    }
    blockers(record).chain(cautions(record)).try_for_each(|line| lines(text, CARE, &line, width))
}

/// Returns the one change of one value that reaches the next band or tier, or its absence; nothing at the top.
pub fn nearest(record: &Record<'_>, change: Option<&Change<'_>>, width: usize) -> String {
    let Some(line) = next_step(record, change) else { return String::new() };
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
