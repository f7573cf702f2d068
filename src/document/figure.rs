//! The content of a page: plain data, filled in by a command. Text is never markup; drawing is done elsewhere.

use karat_core::timestamp::Timestamp;

use super::Table;

/// A page in one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The title, short.
    pub title: String,
    /// One sentence under the title: the number of subjects, the scorecard.
    pub subtitle: String,
    /// The origin, so that the page can be made again: card, digest, time, seed, resamples, level, program version.
    pub about: Vec<(String, String)>,
    /// Notes before the figures: a ranking that differs under another choice, an input with errors.
    pub notes: Vec<String>,
    /// The sections, in reading order.
    pub sections: Vec<Section>,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// Paragraphs above the figures that explain them.
    pub text: Vec<String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// A drawing with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// Rows and columns, with intervals drawn in the rows.
    Table(Table),
    /// Values by subject and dimension.
    Profiles(Profiles),
    /// Values over time.
    History(History),
    /// The frequency of each rank, by subject.
    Ranks(Ranks),
    /// Subjects, their tasks, and the items of each, closed at first.
    Items(Items),
}

/// The items behind a leaderboard, by subject and task.
#[derive(Debug, Clone, PartialEq)]
pub struct Items {
    /// The caption.
    pub caption: String,
    /// The subjects, in the order of the leaderboard.
    pub subjects: Vec<SubjectItems>,
}

/// The items of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectItems {
    /// The subject.
    pub name: String,
    /// The line beside it: how many tasks and items, and their mean.
    pub about: String,
    /// Its tasks, the worst first.
    pub tasks: Vec<TaskItems>,
    /// The sentence on items that are left out, if there are any.
    pub left_out: Option<String>,
}

/// The items of one subject at one task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskItems {
    /// The task.
    pub name: String,
    /// The line beside it.
    pub about: String,
    /// The items.
    pub items: Vec<ListedItem>,
}

/// One item.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedItem {
    /// Its id.
    pub id: String,
    /// Its score; none without one.
    pub score: Option<String>,
    /// Its outcome.
    pub outcome: Option<String>,
    /// The gates that held.
    pub gates: Vec<String>,
    /// The place of its evidence, and a link to it if there can be one.
    pub place: (String, Option<String>),
}

/// A value, with its interval if there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate itself.
    pub point: f64,
    /// The lower and the upper end.
    pub interval: Option<(f64, f64)>,
}

/// The profile of each subject: its values, 0 to 1, in every dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles {
    /// The caption.
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

/// The values of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The subject.
    pub name: String,
    /// One value for each dimension.
    pub readings: Vec<Reading>,
}

/// A value, or the reason for which it is missing.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// From 0 to 1.
    Value(Estimate),
    /// No value, with the reason in a word or two. Never drawn as zero.
    Absent(String),
}

/// Values over time, one panel per subject.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The caption.
    pub caption: String,
    /// The label of the values: `score`.
    pub value_label: String,
    /// The label of the line through the values: `mean of the last 100 tasks`.
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

/// A value at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The time; if one point of a figure has no time, all are drawn by their number.
    pub time: Option<Timestamp>,
    /// The value at that time: a dot.
    pub value: Option<f64>,
    /// The line after it, such as the mean of the window.
    pub line: Option<f64>,
    /// A note on it: `held: a swing of 312 points`.
    pub flag: Option<String>,
}

/// The frequency of each rank, by subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// The caption: what is shown, and how weights were drawn.
    pub caption: String,
    /// The subjects, best rank first.
    pub subjects: Vec<RankShares>,
}

/// The ranks of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct RankShares {
    /// The subject.
    pub name: String,
    /// Its rank by the scorecard as written, best and worst.
    pub rank: (u32, u32),
    /// The share of random weights under which it keeps that rank, 0 to 1.
    pub share_kept: f64,
    /// The ranks it takes, from 1, with the share of random weights for each, 0 to 1; ranks not listed never occur.
    pub shares: Vec<(u32, f64)>,
}
