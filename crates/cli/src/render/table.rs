//! The table of scores: one row per record with fixed columns, so that rows can be shown as they come.

use std::fmt::Write as _;

use karat_core::number::UNITS_PER_ONE;
use karat_core::record::{Published, Record, Warning};
use karat_core::scorecard::{MissingPolicy, Publish, Scale, Scorecard};
use karat_evidence::Note;
use unicode_width::UnicodeWidthStr as _;

use crate::output::{BAR, CARE, FAINT, STRONG};
use karat::draw::bar::bar;
use karat::estimate::whole_percent;
use karat::explanation::{open, policy};
use karat::number::{billionths, published};
use karat::record::MatchAnswer;
use karat::text::{clean, fit, fit_name, list, own_name, wrap};

/// Columns of the coverage.
const COVERAGE: usize = 5;
/// Blanks between columns.
const GAP: &str = "  ";

/// The layout of a table for one card.
#[derive(Debug)]
pub struct Table {
    scale: Scale,
    subject: usize,
    whole: usize,
    decimals: usize,
    bar: usize,
    badge: usize,
    width: usize,
}

impl Table {
    /// Lays out a table for the records of `card` in `width` columns.
    pub fn new(card: &Scorecard, width: usize) -> Self {
        let scale = card.scale;
        let whole = scale.max.to_string().len();
        let decimals = match scale.publish {
            Publish::Exact => 6usize.saturating_sub(scale.max.ilog10() as usize),
            Publish::Floor | Publish::HalfUp => scale.places as usize,
        };
        let names = card.bands.iter().map(|band| &band.name).chain(card.tiers.iter().map(|tier| &tier.name));
        let badge = match names.map(|name| name.chars().count()).max() {
            Some(longest) => longest.clamp("verdict".len(), 14),
            None => 0,
        };
        let mut table = Self { scale, subject: 0, whole, decimals, bar: 0, badge, width: width.max(40) };
        let gaps = if badge == 0 { 3 } else { 4 };
        let fixed = table.score() + badge + COVERAGE + gaps * GAP.len();
        let free = width.saturating_sub(fixed);
        table.bar = (free * 2 / 5).clamp(8, 30);
        table.subject = free.saturating_sub(table.bar).clamp(12, 40);
        table
    }

    /// Returns the columns of the score: at least those of the word.
    fn score(&self) -> usize {
        let point = usize::from(self.decimals > 0);
        (self.whole + point + self.decimals).max("score".len())
    }

    /// Returns the card and the heads of the columns.
    pub fn head(&self, card: &Scorecard) -> String {
        let scale = format!("0 to {}", self.scale.max);
        let badge = match (card.tiers.is_empty(), card.bands.is_empty()) {
            (false, _) => "tier",
            (true, false) => "band",
            (true, true) => "",
        };
        let mut text = format!("{STRONG}{}{STRONG:#}", card.name());
        if !card.title.is_empty() {
            let _ = write!(text, "  {}", clean(&card.title));
        }
        // Whole numbers are aligned right, others at their point: the word is placed above the digits.
        let word = match self.decimals {
            0 => format!("{:>1$}", "score", self.score()),
            _ => fit("score", self.score()),
        };
        let who = fit("subject, item", self.subject);
        let _ = write!(text, "\n{FAINT}{who}{GAP}{word}{GAP}{}", fit(&scale, self.bar));
        if self.badge > 0 {
            let _ = write!(text, "{GAP}{}", fit(badge, self.badge));
        }
        let _ = writeln!(text, "{GAP}{:>COVERAGE$}{FAINT:#}", "cover");
        text
    }

    /// Returns the row of a record, with its notes below.
    pub fn row(&self, record: &Record<'_>, about: &[Note]) -> String {
        let mut text = self.who(record);
        let (shown, bar) = match record.score.zip(record.published) {
            Some((score, number)) => (self.aligned(number), bar(score.units(), UNITS_PER_ONE, self.bar)),
            None => (fit("-", self.score()), fit(record.status.name(), self.bar)),
        };
        let _ = write!(text, "{GAP}{shown}{GAP}{BAR}{bar}{BAR:#}");
        if self.badge > 0 {
            let badge = match &record.tier {
                Some(tier) => tier.name,
                None => record.band,
            };
            let _ = write!(text, "{GAP}{}", fit(badge.unwrap_or("-"), self.badge));
        }
        let _ = writeln!(text, "{GAP}{:>COVERAGE$}", whole_percent(record.coverage as f64 / 1e9));
        for (style, line) in notes(record, about) {
            for part in wrap(&line, self.width - 2) {
                let _ = writeln!(text, "  {style}{part}{style:#}");
            }
        }
        text
    }

    /// Returns the subject, and the id of the item if it has one and there is room.
    fn who(&self, record: &Record<'_>) -> String {
        let subject = record.item.subject;
        let used = subject.width() + 1;
        let Some(id) = own_name(subject, record.item.id).filter(|_| used + 4 <= self.subject) else {
            return fit_name(subject, self.subject);
        };
        let room = self.subject - used;
        // Of a place that does not fit, the line says more than the beginning of the file.
        let line = id.rfind(':').filter(|_| id.width() > room).and_then(|at| id.get(at..));
        let id = line
            .filter(|line| line.len() > 1 && line.bytes().skip(1).all(|it| it.is_ascii_digit()))
            .unwrap_or(id);
        format!("{} {FAINT}{}{FAINT:#}", clean(subject), fit_name(id, room))
    }

    /// Returns a score with its decimal point in the column of all the others.
    fn aligned(&self, number: Published) -> String {
        let text = published(number);
        let whole = text.split('.').next().map_or(0, str::len);
        let lead = self.score().saturating_sub(self.whole + self.decimals + usize::from(self.decimals > 0));
        fit(&format!("{:1$}{text}", "", lead + self.whole.saturating_sub(whole)), self.score())
    }
}

/// Returns the lines below a row.
fn notes(record: &Record<'_>, about: &[Note]) -> Vec<(anstyle::Style, String)> {
    let mut lines = Vec::new();
    let missing: Vec<String> = open(record)
        .map(|dimension| match policy(record, dimension.key) {
            Some(MissingPolicy::Zero) => format!("{} (counts as 0)", dimension.key),
            Some(MissingPolicy::Default(value)) => {
                format!("{} (counts as {})", dimension.key, billionths(value))
            }
            _ => dimension.key.to_owned(),
        })
        .collect();
    if !missing.is_empty() {
        let range = match record.bounds {
            Some((low, high)) if low == high => String::from("; it cannot change the score"),
            Some((low, high)) => {
                format!("; with it the score could be {} to {}", published(low), published(high))
            }
            None => String::new(),
        };
        lines.push((FAINT, format!("no value for {}{range}", list(&missing))));
    }
    if !record.gates.is_empty() {
        lines.push((CARE, format!("gate: {}", list(&record.gates))));
    }
    // A default that was used is already in the line on missing values.
    let warnings = record.warnings.iter().filter(|warning| !matches!(warning, Warning::DefaultUsed { .. }));
    lines.extend(warnings.map(|warning| (CARE, format!("warning: {warning}"))));
    lines.extend(about.iter().map(|note| (FAINT, format!("note: {note}"))));
    if let Some(answer) = MatchAnswer::of(record) {
        // What the arena reports, the reader of its evidence has told above.
        let is_told = |sentence: &str| lines.iter().any(|(_, line)| line.contains(sentence));
        let found = answer.findings().filter(|found| !is_told(found)).map(str::to_owned).collect::<Vec<_>>();
        lines.extend(found.into_iter().map(|found| (CARE, format!("warning: {found}"))));
    }
    lines
}
