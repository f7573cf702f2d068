//! The table of a pool: groups, ranks, ratings, intervals as numbers and as bars, matches.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use unicode_width::UnicodeWidthStr as _;

use crate::output::{BAR, FAINT, STRONG};
use karat::draw::interval::Span;
use karat::draw::interval::{axis, interval};
use karat::ratings::{Board, Competitor, Tally};
use karat::text::{clean, fit};

/// Blanks between two columns.
const GAP: &str = " ";
/// Most and fewest columns of a name.
const NAME: (usize, usize) = (32, 12);
/// Fewest columns of the bars.
const BARS: usize = 9;

/// The widths of the columns of a table.
pub struct Columns {
    has_groups: bool,
    has_intervals: bool,
    rank: usize,
    name: usize,
    /// Decimals of points.
    pub places: usize,
    points: usize,
    /// An end of an interval.
    end: usize,
    /// The text between two ends: a dash, unless one of them may have a sign.
    dash: &'static str,
    bar: usize,
    axis: RangeInclusive<f64>,
    counts: [usize; 3],
}

impl Columns {
    /// Returns widths for the lines that are `shown`.
    pub fn new<'l>(board: &Board, shown: impl Iterator<Item = &'l Competitor> + Clone, width: usize) -> Self {
        let axis = axis(shown.clone().map(|line| span(line)));
        let places = decimals_of(&axis);
        let text = |number: f64| format!("{number:.places$}").len();
        let ends = shown.clone().flat_map(|line| {
            let Span { low, point, high } = span(line);
            [low, point, high]
        });
        let end = ends.map(text).max().unwrap_or(0);
        let points = end.max("rating".len());
        let dash = if *axis.start() < 0.0 { " to " } else { "–" };
        let widest = |count: fn(Tally) -> u64, head: &str| {
            shown.clone().map(|line| count(line.matches).to_string().len()).max().unwrap_or(0).max(head.len())
        };
        let counts =
            [widest(|it| it.won, "won"), widest(|it| it.drawn, "drawn"), widest(|it| it.lost, "lost")];
        let has_groups = board.groups.is_some();
        let has_intervals = shown.clone().any(|line| line.interval.is_some());
        let rank = shown.clone().map(|line| ranks(line).width()).max().unwrap_or(0).max("rank".len());
        let mut columns = Self {
            has_groups,
            has_intervals,
            rank,
            name: 0,
            places,
            points,
            end,
            dash,
            bar: 0,
            axis,
            counts,
        };
        let free = width.saturating_sub(columns.fixed());
        let longest = shown.map(|line| clean(&line.name).width()).max().unwrap_or(0).max("competitor".len());
        columns.name = longest.min(NAME.0).min(free * 3 / 5).max(NAME.1);
        columns.bar = free.saturating_sub(columns.name).clamp(BARS, 40);
        columns
    }

    /// Returns the columns besides name and bar, gaps included.
    fn fixed(&self) -> usize {
        let group = if self.has_groups { "group".len() + GAP.len() } else { 0 };
        let interval = if self.has_intervals { self.interval() + GAP.len() } else { 0 };
        let counts: usize = self.counts.iter().map(|count| count + GAP.len()).sum();
        group + self.rank + self.points + interval + counts + 3 * GAP.len()
    }

    fn interval(&self) -> usize {
        (2 * self.end + self.dash.width()).max("interval".len())
    }

    /// Returns the heads of the columns.
    pub fn head(&self) -> String {
        let mut text = String::new();
        if self.has_groups {
            let _ = write!(text, "group{GAP}");
        }
        let _ = write!(
            text,
            "{}{GAP}{}{GAP}{:>3$}",
            fit("rank", self.rank),
            fit("competitor", self.name),
            "rating",
            self.points
        );
        if self.has_intervals {
            let _ = write!(text, "{GAP}{}", fit("interval", self.interval()));
        }
        let (low, high) = (self.number(*self.axis.start()), self.number(*self.axis.end()));
        let ends = format!("{low}{:>1$}", high, self.bar.saturating_sub(low.len()));
        let [won, drawn, lost] = self.counts;
        let _ = write!(
            text,
            "{GAP}{}{GAP}{:>won$}{GAP}{:>drawn$}{GAP}{:>lost$}",
            fit(&ends, self.bar),
            "won",
            "drawn",
            "lost"
        );
        text
    }

    /// Returns one competitor; `leads` if it is the leader of its group.
    pub fn row(&self, line: &Competitor, leads: bool) -> String {
        let mut text = String::new();
        if self.has_groups {
            let group = line.group.filter(|_| leads).map_or(String::new(), |group| group.to_string());
            let _ = write!(text, "{STRONG}{group:>5}{STRONG:#}{GAP}");
        }
        let _ = write!(text, "{:>1$}{GAP}", ranks(line), self.rank);
        let _ =
            write!(text, "{}{GAP}{:>2$}", fit(&line.name, self.name), self.number(line.points), self.points);
        if self.has_intervals {
            let shown = match line.interval {
                Some(ends) => {
                    let (low, high, end) = (self.number(ends.low), self.number(ends.high), self.end);
                    format!("{low:>end$}{}{high:>end$}", self.dash)
                }
                None => String::new(),
            };
            let _ = write!(text, "{GAP}{FAINT}{}{FAINT:#}", fit(&shown, self.interval()));
        }
        let Tally { won, drawn, lost } = line.matches;
        let [for_won, for_drawn, for_lost] = self.counts;
        let bar = interval(span(line), &self.axis, self.bar);
        let _ = writeln!(
            text,
            "{GAP}{BAR}{bar}{BAR:#}{GAP}{won:>for_won$}{GAP}{drawn:>for_drawn$}{GAP}{lost:>for_lost$}"
        );
        text
    }

    fn number(&self, number: f64) -> String {
        points(number, self.places)
    }
}

/// Returns the interval to draw; the point alone without an interval.
fn span(line: &Competitor) -> Span {
    match line.interval {
        Some(ends) => Span { low: ends.low, point: line.points, high: ends.high },
        None => Span::at(line.points),
    }
}

/// Returns the decimals that make the lines differ.
pub fn decimals<'l>(lines: impl Iterator<Item = &'l Competitor>) -> usize {
    decimals_of(&axis(lines.map(|line| span(line))))
}

/// Returns the decimals for some three digits.
fn decimals_of(axis: &RangeInclusive<f64>) -> usize {
    let length = axis.end() - axis.start();
    if length < 10.0 { 2 } else { usize::from(length < 100.0) }
}

/// Returns points with `places` decimals, without a sign before zero.
pub fn points(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|byte| matches!(byte, b'0' | b'.')) => rest.to_owned(),
        _ => text,
    }
}

/// Returns the rank range of a competitor; the rank by points without a range.
pub fn ranks(line: &Competitor) -> String {
    match line.rank_range {
        Some(range) if range.best < range.worst => format!("{}–{}", range.best, range.worst),
        Some(range) => range.best.to_string(),
        None => line.rank.to_string(),
    }
}
