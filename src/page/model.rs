//! What a page says: plain data, filled in by a verb. Text is text, never markup; what is drawn is worked out elsewhere.

use karat_core::timestamp::Timestamp;

/// A page that stands alone in one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// What it is about, short.
    pub title: String,
    /// One sentence under it: how many subjects, under which rule.
    pub subtitle: String,
    /// Where it comes from, so that it can be made again: card, digest, as of, seed, draws, level, version of the program.
    pub about: Vec<(String, String)>,
    /// What a reader must know before the figures: a ranking that differs under another rule, a refused input.
    pub notes: Vec<String>,
    /// The sections, in reading order.
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// What it shows.
    pub heading: String,
    /// Paragraphs above the figures: how to read them.
    pub text: Vec<String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// A picture with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// Rows and columns, intervals drawn in their rows.
    Table(Table),
    /// Readings by subject and dimension.
    Profiles(Profiles),
    /// Values over time.
    History(History),
    /// How often each subject takes each rank.
    Ranks(Ranks),
    /// How the parts of a score add up.
    Waterfall(Waterfall),
}

/// Rows and columns. A reader can sort by every column.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What the table shows.
    pub caption: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, in their order.
    pub rows: Vec<Row>,
}

/// A column of a [`Table`].
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The heading.
    pub label: String,
    /// What its cells hold.
    pub kind: Kind,
}

/// What the cells of a column hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Who or what the row is about, in one column of a table: [`Cell::Text`] or [`Cell::Link`].
    Name,
    /// Words, to the left: [`Cell::Text`] or [`Cell::Link`].
    Text,
    /// Numbers, to the right, as [`Cell::Text`].
    Number,
    /// Shares of a whole, each with a bar: [`Cell::Share`].
    Share,
    /// Courses over time: [`Cell::Trend`].
    Trend {
        /// Both ends of the axis.
        range: (f64, f64),
        /// Decimals of the numbers.
        decimals: usize,
    },
    /// Intervals on one axis: [`Cell::Interval`]. They are drawn, and stand beside as numbers.
    Interval(Axis),
}

/// The axis that all intervals of a column share.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What the two ends of an interval are: `95% interval`.
    pub interval_label: String,
    /// Both ends of the axis; those of the cells if not given.
    pub range: Option<(f64, f64)>,
    /// A value to compare with, such as 0 for differences: a line through all rows.
    pub reference: Option<f64>,
    /// Decimals of the numbers.
    pub decimals: usize,
}

/// A row of a [`Table`].
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// One cell for each column.
    pub cells: Vec<Cell>,
    /// Neighbours of one group belong together, such as those that cannot be told apart.
    pub group: Option<u32>,
}

/// What stands in a row under a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text, or a number as text.
    Text(String),
    /// Text that leads to an address: on pages of a server alone, as a file has nothing to lead to.
    Link(String, String),
    /// Values, oldest first.
    Trend(Vec<f64>),
    /// A share of a whole, 0 to 1, and how it is written.
    Share(f64, String),
    /// An estimate.
    Interval(Estimate),
    /// No value, and why in a word or two: `missing`.
    Absent(String),
}

/// A value, and the interval around it where there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate itself.
    pub point: f64,
    /// The lower and the upper end.
    pub interval: Option<(f64, f64)>,
}

/// The profile of each subject: its readings, 0 to 1, in every dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles {
    /// What is shown.
    pub caption: String,
    /// The dimensions, in the order of the card.
    pub dimensions: Vec<Dimension>,
    /// The subjects.
    pub subjects: Vec<Profile>,
}

/// A dimension of [`Profiles`].
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    /// Its key.
    pub name: String,
    /// Its weight as written in the card, if it has one.
    pub weight: Option<String>,
}

/// The readings of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The subject.
    pub name: String,
    /// One for each dimension.
    pub readings: Vec<Reading>,
}

/// A reading, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// From 0 to 1.
    Value(Estimate),
    /// No value, and why in a word or two. Never drawn as zero.
    Absent(String),
}

/// Values over time, one panel a subject.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// What is shown.
    pub caption: String,
    /// What the values are: `score`.
    pub value_label: String,
    /// What the line through the values is: `mean of the last 100 tasks`.
    pub line_label: String,
    /// Both ends of the axis of values; those of the values if not given.
    pub range: Option<(f64, f64)>,
    /// Decimals of the values.
    pub decimals: usize,
    /// The subjects.
    pub series: Vec<Series>,
}

/// The values of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The subject.
    pub name: String,
    /// In order of time.
    pub points: Vec<Point>,
}

/// A value at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// When; if one point of a figure has no time, all are drawn by their number.
    pub time: Option<Timestamp>,
    /// The value of the moment: a dot.
    pub value: Option<f64>,
    /// The line after it, such as the mean of the window.
    pub line: Option<f64>,
    /// What a reader must know about it: `held: a swing of 312 points`.
    pub flag: Option<String>,
}

/// How often each subject takes each rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// What is shown, and what was drawn.
    pub caption: String,
    /// The subjects, the first first.
    pub subjects: Vec<RankShares>,
}

/// The ranks of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct RankShares {
    /// The subject.
    pub name: String,
    /// Its rank under the rule as it is, best and worst place.
    pub rank: (u32, u32),
    /// The share of draws in which it keeps that rank, 0 to 1.
    pub share_kept: f64,
    /// The ranks it takes, from 1, and the share of draws for each, 0 to 1; what is not listed never happens.
    pub shares: Vec<(u32, f64)>,
}

/// How the parts of a score add up to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Waterfall {
    /// What is shown.
    pub caption: String,
    /// Both ends of the axis.
    pub range: (f64, f64),
    /// The parts, in the order in which they add up.
    pub parts: Vec<Part>,
}

/// A part of a [`Waterfall`], as it is written and as it is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The dimension, mean, rule or gate.
    pub name: String,
    /// Whether it is a step after the dimensions were added: a mean, a rule, a gate.
    pub is_step: bool,
    /// Its reading, if it has one.
    pub reading: Option<String>,
    /// Its share of the mean, if it has one.
    pub share: Option<String>,
    /// What it adds or takes.
    pub amount: String,
    /// The total after it.
    pub total: String,
    /// The total before it, on the axis.
    pub before: f64,
    /// The total after it, on the axis.
    pub after: f64,
    /// Why it is what it is, if there is something to say.
    pub note: Option<String>,
    /// Whether the note may change what a reader makes of the score.
    pub is_care: bool,
}
