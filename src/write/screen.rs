//! A screen: text in columns with colour, as wide as the terminal. Names are cleaned of what would steer it.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use anstyle::{AnsiColor, Style};
use karat_core::number::BILLION;
use unicode_width::UnicodeWidthStr as _;

use crate::document::{Cell, Column, Document, Entry, Kind, Part, Readers, Row, Span, Table, Total};
use crate::draw::bar::{bar, span};
use crate::draw::interval::{self, axis};
use crate::estimate::Writing;
use crate::text::{Tone, clean, fit, fit_name, wrap};

/// Headings.
pub const STRONG: Style = Style::new().bold();
/// The end of a style.
const RESET: &str = "\u{1b}[0m";
/// Less important text.
pub const FAINT: Style = Style::new().dimmed();
/// Gains of a number.
pub const GAIN: Style = AnsiColor::Green.on_default();
/// Losses of a number, and refusals.
pub const LOSS: Style = AnsiColor::Red.on_default();
/// Text that deserves attention.
pub const CARE: Style = AnsiColor::Yellow.on_default();
/// Bars.
pub(crate) const BAR: Style = AnsiColor::Cyan.on_default();

const GAP: &str = "  ";
/// The columns of a drawing: the fewest and the most.
const DRAWN: (usize, usize) = (9, 40);
/// The columns of a name: the fewest and the most.
const NAMES: (usize, usize) = (12, 40);
/// The columns of a name in a list.
const ENTRY: usize = 24;
/// The columns that a place has at least, and a sentence.
const PLACE: usize = 10;
const SENTENCE: usize = 24;

/// Returns the style of a note of that tone.
pub const fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => FAINT,
        Tone::Care => CARE,
        Tone::Bad => LOSS,
        Tone::Good => GAIN,
    }
}

/// The room of a screen.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'a> {
    /// Columns.
    pub width: usize,
    /// The most rows of a list.
    pub most: usize,
    /// The words that say how to see the others.
    pub all: &'a str,
}

/// Returns a document.
pub fn document(document: &Document, layout: Layout<'_>) -> String {
    let mut text = String::new();
    let mut write = |style: Style, line: &str| {
        for part in wrap(line, layout.width) {
            let _ = writeln!(text, "{style}{part}{style:#}");
        }
    };
    write(STRONG, &document.title);
    document.lines.iter().for_each(|line| write(FAINT, line));
    text.push_str(&parts(&document.parts, layout));
    text
}

/// Returns the parts of a document.
pub fn parts(parts: &[Part], layout: Layout<'_>) -> String {
    let mut text = String::new();
    let mut heading: Option<&String> = None;
    for part in parts {
        match part {
            Part::Heading(text) => heading = Some(text),
            Part::Figure(_) => {}
            Part::Table(it) if it.is_detail || it.rows.iter().all(|row| row.is_detail) => {}
            part => {
                // A heading of drawings alone is for pages.
                let above = heading.take();
                if let Some(heading) = above {
                    let _ = writeln!(text, "\n{STRONG}{}{STRONG:#}", clean(heading));
                }
                match part {
                    Part::Note(tone, line) => note(&mut text, *tone, line, layout.width),
                    Part::Table(it) => text.push_str(&table(it, layout, above.is_some())),
                    Part::List(entries) => list(&mut text, entries, layout.width),
                    Part::Heading(_) | Part::Figure(_) => {}
                }
            }
        }
    }
    text
}

fn note(text: &mut String, tone: Tone, line: &str, width: usize) {
    let style = style(tone);
    for (at, part) in wrap(line, width.saturating_sub(4)).into_iter().enumerate() {
        let _ = writeln!(text, "{}{style}{part}{style:#}", if at == 0 { "  " } else { "    " });
    }
}

/// Writes a list: each name in the same columns, what is in an entry further in.
fn list(text: &mut String, entries: &[Entry], width: usize) {
    for Entry { depth, name, text: said } in entries {
        let indent = 2 * (depth + 1);
        let name = match (name.is_empty(), said.is_empty()) {
            (true, _) => String::new(),
            (false, true) => name.clone(),
            (false, false) => format!("{} ", fit(name, ENTRY.max(name.width()))),
        };
        let line = format!("{name}{said}");
        if indent + line.width() <= width {
            let _ = writeln!(text, "{:indent$}{}", "", clean(&line));
            continue;
        }
        for (at, part) in wrap(&line, width.saturating_sub(indent + 4)).into_iter().enumerate() {
            let further = if at > 0 { 4 } else { 0 };
            let _ = writeln!(text, "{:1$}{part}", "", indent + further);
        }
    }
}

/// Returns a table, in as many parts as the width needs: each names its rows. Directly below a heading it has no empty line.
fn table(table: &Table, layout: Layout<'_>, is_below: bool) -> String {
    let mut text = String::from(if is_below { "" } else { "\n" });
    let caption = if table.is_titled { "" } else { table.caption.as_str() };
    for line in wrap(caption, layout.width) {
        let _ = writeln!(text, "{0}{line}{0:#}", style(table.tone));
    }
    let rows: Vec<&Row> = table.rows.iter().filter(|row| !row.is_detail).collect();
    let most = if table.is_list { layout.most } else { usize::MAX };
    let shown = rows.get(..most.min(rows.len())).unwrap_or_default();
    let columns = table.columns.iter().enumerate().filter(|it| is_shown(*it));
    let mut rest: Vec<Measured> = columns.map(|(at, column)| Measured::new(column, at, shown)).collect();
    // Drawings of differences go where they would not leave room for all columns.
    let is_of_differences = |it: &Measured| matches!(it.column.kind, Kind::Interval { sides: Some(_), .. });
    if rest.iter().any(is_of_differences)
        && rest.iter().map(|it| it.least() + GAP.len()).sum::<usize>() > layout.width + GAP.len()
    {
        rest.iter_mut().for_each(|it| it.axis = None);
    }
    let name = rest.iter().find(|it| it.column.kind == Kind::Name).cloned();
    let mut is_first = true;
    while !rest.is_empty() {
        let mut now: Vec<Measured> = Vec::new();
        if !is_first {
            text.push('\n');
            now.extend(name.clone());
        }
        let mut used: usize = now.iter().map(|it| it.least() + GAP.len()).sum();
        let fits = rest.iter().take_while(|it| {
            used += it.least() + GAP.len();
            used <= layout.width + GAP.len()
        });
        let fits = fits.count().max(1);
        now.extend(rest.drain(..fits));
        text.push_str(&of_columns(now, shown, layout.width, is_first));
        is_first = false;
    }
    if rows.len() > shown.len() {
        let more = rows.len() - shown.len();
        let _ = writeln!(text, "{FAINT}and {more} more{}{FAINT:#}", layout.all);
    }
    text
}

/// A column with the widths that its content needs.
#[derive(Debug, Clone)]
struct Measured {
    column: Column,
    at: usize,
    /// The lines of its heading.
    head: Vec<String>,
    /// The columns of its text: of an estimate those of the number.
    text: usize,
    /// The columns of the ends of estimates; 0 without them.
    ends: usize,
    /// The axis of estimates.
    axis: Option<(RangeInclusive<f64>, Span)>,
    /// The columns that are given to a drawing.
    drawn: usize,
    /// The columns from the decimal point on, of totals.
    decimals: usize,
    /// True if its text is as wide as it must be.
    is_fixed: bool,
}

impl Measured {
    fn new(column: &Column, at: usize, rows: &[&Row]) -> Self {
        let cells = || rows.iter().filter_map(|row| row.cells.get(at));
        let spans =
            || cells().filter_map(|cell| if let Cell::Interval(span) = cell { Some(span) } else { None });
        let content = cells().map(|cell| shown(cell).width()).max().unwrap_or(0);
        let head = heading(&column.label, content);
        let text = head.iter().map(|line| line.width()).fold(content, usize::max);
        let ends =
            spans().map(|span| ends(span).width()).max().filter(|_| spans().any(|it| it.ends.is_some()));
        let decimals = |cell: &Cell| if let Cell::Total(it) = cell { fraction(&it.shown) } else { 0 };
        let decimals = cells().map(decimals).max().unwrap_or(0);
        let own = Self {
            column: column.clone(),
            at,
            head,
            text,
            ends: 0,
            axis: None,
            drawn: 0,
            decimals,
            is_fixed: false,
        };
        let sides = match column.kind {
            Kind::Interval { sides, .. } => sides,
            Kind::Bar(best) | Kind::Total(best) => {
                let (writing, point) = (Writing::of(best), 0.0);
                let axis = Some((0.0..=1.0, Span { point, ends: None, writing, is_signed: false }));
                return Self { axis, drawn: DRAWN.0, ..own };
            }
            _ => return own,
        };
        let found = axis(spans().map(placed));
        let reach = found.start().abs().max(found.end().abs());
        let axis = if sides.is_some() { -reach..=reach } else { found };
        let axis = spans().next().map(|first| (axis, first.clone()));
        let ends = ends.map_or(0, |ends| ends.max("interval".len()));
        Self { axis, ends, drawn: DRAWN.0, ..own }
    }

    /// Returns the columns that it needs at least.
    fn least(&self) -> usize {
        match self.column.kind {
            Kind::Name => self.text.min(NAMES.0),
            Kind::Place if !self.is_fixed => self.text.min(PLACE),
            Kind::Sentence => self.text.min(SENTENCE),
            _ => self.width(),
        }
    }

    /// Returns the columns that it has.
    fn width(&self) -> usize {
        let ends = if self.ends > 0 { self.ends + GAP.len() } else { 0 };
        let drawn = if self.axis.is_some() { self.drawn + GAP.len() } else { 0 };
        self.text + drawn + ends
    }

    fn is_right(&self) -> bool {
        self.column.is_number()
    }

    /// Returns the heading of a line, the last at the bottom.
    fn head_line(&self, line: usize, lines: usize) -> String {
        let missing = lines - self.head.len();
        let own = line.checked_sub(missing).and_then(|at| self.head.get(at)).map_or("", String::as_str);
        let mut text = padded(own, self.text, self.is_right());
        let is_last = line + 1 == lines;
        if let Some((axis, span)) = &self.axis {
            let drawn = if is_last { self.axis_head(axis, span) } else { String::new() };
            let _ = write!(text, "{GAP}{}", fit(&drawn, self.drawn));
        }
        if self.ends > 0 {
            let _ = write!(text, "{GAP}{}", fit(if is_last { "interval" } else { "" }, self.ends));
        }
        text
    }

    /// Returns the words or the numbers at both ends of the axis, if there is room.
    fn axis_head(&self, axis: &RangeInclusive<f64>, span: &Span) -> String {
        let unit = span.writing.value(1.0);
        let (left, right) = match self.column.kind {
            Kind::Interval { sides: Some((left, right)), .. } => (left.to_owned(), right.to_owned()),
            _ => (span.number(axis.start() * unit), span.number(axis.end() * unit)),
        };
        match self.drawn.saturating_sub(left.width() + right.width()) {
            0 => String::new(),
            gap => format!("{left}{:gap$}{right}", ""),
        }
    }

    /// Returns a drawing of the part of a sum: from the total before it to the total after it.
    fn sum(&self, best: u32, total: &Total) -> String {
        let units = |it: f64| (it / f64::from(best) * 1e9).round() as i64;
        if total.before == 0.0 && !total.is_step {
            return format!("{BAR}{}{BAR:#}", bar(units(total.after), BILLION, self.drawn));
        }
        let (lead, block) = span(units(total.before), units(total.after), BILLION, self.drawn);
        let style = match (total.after < total.before, total.is_step) {
            (true, _) => LOSS,
            (false, true) => GAIN,
            (false, false) => BAR,
        };
        let used = lead.width() + block.width();
        format!("{lead}{style}{block}{style:#}{:1$}", "", self.drawn.saturating_sub(used))
    }

    fn cell(&self, cell: &Cell) -> String {
        let own = match (self.column.kind, cell) {
            (Kind::Name, Cell::Text(name)) => fit_name(name, self.text),
            (Kind::Place, cell) => fit(&tail(&shown(cell), self.text), self.text),
            (_, Cell::Total(total)) => {
                let rest = self.decimals.saturating_sub(fraction(&total.shown));
                padded(&total.shown, self.text.saturating_sub(rest), true) + &" ".repeat(rest)
            }
            (_, cell) => padded(&shown(cell), self.text, self.is_right()),
        };
        let mut text = match self.column.kind {
            Kind::Leading => format!("{STRONG}{own}{STRONG:#}"),
            _ => match cell {
                Cell::Mark(tone, ..) => format!("{0}{own}{0:#}", style(*tone)),
                _ => own,
            },
        };
        if let (Kind::Total(best) | Kind::Bar(best), Cell::Total(total)) = (self.column.kind, cell) {
            let _ = write!(text, "{GAP}{}", self.sum(best, total));
        } else if let Some((axis, _)) = &self.axis {
            let mut drawn = " ".repeat(self.drawn);
            if let Cell::Interval(span) = cell {
                drawn = match self.column.kind {
                    Kind::Bar(_) => bar((placed(span).point * 1e9).round() as i64, BILLION, self.drawn),
                    _ => interval::interval(placed(span), axis, self.drawn),
                };
            }
            if matches!(self.column.kind, Kind::Interval { sides: Some(_), .. }) {
                drawn = with_middle(&drawn);
            }
            let _ = write!(text, "{GAP}{BAR}{drawn}{BAR:#}");
        }
        if self.ends > 0 {
            let ends = if let Cell::Interval(span) = cell { ends(span) } else { String::new() };
            let _ = write!(text, "{GAP}{FAINT}{}{FAINT:#}", fit(&ends, self.ends));
        }
        text
    }
}

/// Returns the columns side by side.
fn of_columns(columns: Vec<Measured>, rows: &[&Row], width: usize, has_notes: bool) -> String {
    let columns = sized(columns, width);
    let mut text = heads(&columns);
    for row in rows {
        text.push_str(&line(&columns, row));
        if has_notes {
            notes(&mut text, row, width);
        }
    }
    text
}

/// Gives the columns what is left of the width: names first, then drawings, then places.
fn sized(mut columns: Vec<Measured>, width: usize) -> Vec<Measured> {
    let used: usize = columns.iter().map(|it| it.least() + GAP.len()).sum();
    let mut free = (width + GAP.len()).saturating_sub(used);
    for column in columns.iter_mut().filter(|it| it.column.kind == Kind::Name) {
        let wanted = column.text.min(NAMES.1);
        let given = wanted.saturating_sub(column.least()).min(free);
        column.text = column.least() + given;
        free -= given;
    }
    let drawings = columns.iter().filter(|it| it.axis.is_some()).count();
    for column in columns.iter_mut().filter(|it| it.axis.is_some()) {
        let given = (free / drawings.max(1)).min(DRAWN.1 - DRAWN.0);
        column.drawn += given;
        // An odd number of cells has a middle.
        column.drawn = (column.drawn - 1) | 1;
    }
    for column in columns.iter_mut().filter(|it| matches!(it.column.kind, Kind::Place | Kind::Sentence)) {
        column.text = column.text.min(column.least() + free);
    }
    columns
}

fn heads(columns: &[Measured]) -> String {
    let lines = columns.iter().map(|it| it.head.len()).max().unwrap_or(1);
    let mut text = String::new();
    for line in 0..lines {
        let heads: Vec<String> = columns.iter().map(|it| it.head_line(line, lines)).collect();
        let _ = writeln!(text, "{FAINT}{}{FAINT:#}", heads.join(GAP).trim_end());
    }
    text
}

/// Returns a row; a sentence that is too long goes on below its beginning.
fn line(columns: &[Measured], row: &Row) -> String {
    let (mut cells, mut rest, mut indent) = (Vec::new(), Vec::new(), 0);
    for column in columns {
        let cell = row.cells.get(column.at).unwrap_or(&Cell::Absent);
        let mut lines = match column.column.kind {
            Kind::Sentence => wrap(&shown(cell), column.text).into_iter(),
            _ => Vec::new().into_iter(),
        };
        let first = lines.next().unwrap_or_else(|| column.cell(cell));
        rest.extend(lines.map(|line| format!("{:indent$}{line}\n", "")));
        indent += column.width() + GAP.len();
        cells.push(first);
    }
    format!("{}\n{}", trimmed(&cells.join(GAP)), rest.concat())
}

/// Returns a styled line without the spaces at its end, which may lie before the end of a style.
fn trimmed(line: &str) -> String {
    let (mut seen, mut is_escape, mut is_styled, mut was_styled) = (0, false, false, false);
    for (at, c) in line.char_indices() {
        if is_escape {
            is_escape = c != 'm';
        } else if c == '\u{1b}' {
            is_escape = true;
            is_styled = !line.get(at..).is_some_and(|rest| rest.starts_with(RESET));
        } else if c != ' ' {
            (seen, was_styled) = (at + c.len_utf8(), is_styled);
        }
    }
    format!("{}{}", line.get(..seen).unwrap_or_default(), if was_styled { RESET } else { "" })
}

/// Writes the notes on a row below it.
fn notes(text: &mut String, row: &Row, width: usize) {
    let own = row.cells.iter().flat_map(|it| if let Cell::Notes(all) = it { all.as_slice() } else { &[] });
    own.chain(&row.notes).for_each(|(tone, line)| note(text, *tone, line, width));
}

/// A table whose rows are shown as they come: its columns are as wide as one row needs that is wide.
#[derive(Debug)]
pub struct Stream {
    columns: Vec<Measured>,
    width: usize,
}

impl Stream {
    /// Lays out the columns that a screen shows.
    pub fn new(columns: &[Column], widest: &Row, width: usize) -> Self {
        let shown = columns.iter().enumerate().filter(|it| is_shown(*it));
        let columns = shown.map(|(at, column)| Measured::new(column, at, &[widest]));
        let columns = columns.map(|it| Measured { is_fixed: it.column.kind == Kind::Place, ..it }).collect();
        Self { columns: sized(columns, width), width }
    }

    /// Returns the heads of the columns.
    pub fn head(&self) -> String {
        heads(&self.columns)
    }

    /// Returns a row, with its notes below.
    pub fn row(&self, row: &Row) -> String {
        let mut text = line(&self.columns, row);
        notes(&mut text, row, self.width);
        text
    }
}

fn is_shown((_, column): (usize, &Column)) -> bool {
    column.readers == Readers::All && column.kind != Kind::Notes
}

/// Returns the columns of a number from its decimal point on.
fn fraction(number: &str) -> usize {
    number.find('.').map_or(0, |at| number.len() - at)
}

/// Returns the heading in two lines if it is wider than its content.
fn heading(label: &str, content: usize) -> Vec<String> {
    let whole = || vec![clean(label).into_owned()];
    if label.width() <= content {
        return whole();
    }
    let splits = label.match_indices(' ').map(|(at, _)| (&label[..at], &label[at + 1..]));
    let split = splits.min_by_key(|(first, second)| first.width().max(second.width()));
    split.map_or_else(whole, |(first, second)| [first, second].map(|it| clean(it).into_owned()).into())
}

fn padded(text: &str, width: usize, is_right: bool) -> String {
    let text = fit(text, width.max(text.width()).min(width));
    match is_right {
        true => {
            let own = text.trim_end();
            format!("{}{own}", " ".repeat(width.saturating_sub(own.width())))
        }
        false => text,
    }
}

/// Returns the value as a screen has it.
fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Absent => String::from("-"),
        Cell::Places(places) => match places.as_slice() {
            [] => String::from("-"),
            [only] => only.clone(),
            [first, others @ ..] => format!("{first} +{}", others.len()),
        },
        cell => cell.shown(),
    }
}

fn ends(span: &Span) -> String {
    let ends = span.ends.map(|(low, high)| format!("{} to {}", span.end(low), span.end(high)));
    ends.unwrap_or_else(|| String::from("-"))
}

/// Returns an estimate as a share of its scale, so that points and shares have one axis.
fn placed(span: &Span) -> interval::Span {
    let share = |number: f64| number / span.writing.value(1.0);
    let (low, high) = span.ends.unwrap_or((span.point, span.point));
    interval::Span { low: share(low), point: share(span.point), high: share(high) }
}

/// Returns a drawing with the line of no difference where its middle is empty.
fn with_middle(drawn: &str) -> String {
    let mut cells: Vec<char> = drawn.chars().collect();
    let middle = cells.len().saturating_sub(1) / 2;
    if let Some(cell) = cells.get_mut(middle).filter(|cell| **cell == ' ') {
        *cell = '┊';
    }
    cells.into_iter().collect()
}

/// Returns the end of a place that is too long: the line says more than the folders.
fn tail(place: &str, width: usize) -> String {
    if place.width() <= width {
        return place.to_owned();
    }
    let chars: Vec<char> = place.chars().rev().take(width.saturating_sub(1)).collect();
    format!("…{}", chars.into_iter().rev().collect::<String>())
}
