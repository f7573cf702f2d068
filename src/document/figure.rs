//! Figures that pages alone draw: profiles, values over time, the items behind ranks.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use karat_core::number::Score;
use karat_core::timestamp::Timestamp;
use karat_standing::rolling::rolling_means;

use super::{Cell, Column, Kind, Part, Row, Table};
use crate::answers::basis::Estimate;
use crate::answers::leaderboard::{Leaderboard, LeaderboardRow};
use crate::estimate::Writing;
use crate::leaderboard::stress::weights;
use crate::leaderboard::{Settings, counted};
use crate::number::cut;
use crate::rows::{self, Rows};
use crate::text::{Tone, count};

/// The most items of a page: about a megabyte.
pub const MOST_ITEMS: usize = 4000;
/// The number of tasks in the rolling mean.
const WINDOW: NonZeroU32 = NonZeroU32::new(100).unwrap();
/// The most subjects beside each other, with a row for each dimension; more have a row each.
const MOST_BESIDE: usize = 3;

/// A drawing with its numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// Rows and columns.
    Table(Table),
    /// Rows and columns behind their caption, to be opened.
    Closed(Table),
    /// Values over time.
    History(History),
    /// Subjects between two values.
    Scatter(Scatter),
    /// Numbers that matter most, beside each other.
    Facts(Vec<Fact>),
    /// Tiers, the highest first, with what each asks.
    Ladder(Vec<Rung>),
}

/// A tier on a ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// Its name.
    pub name: String,
    /// True if it is held.
    pub is_held: bool,
    /// Each requirement, and whether it is met.
    pub asks: Vec<(bool, String)>,
}

/// A number that matters, with what it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fact {
    /// The name.
    pub label: String,
    /// The number or the word.
    pub value: String,
    /// A few words below it.
    pub note: String,
    /// Its place in the answer, a JSON pointer; empty if not told.
    pub pointer: String,
    /// True if it is a grade, which is stamped.
    pub is_stamp: bool,
}

impl Fact {
    /// Returns a number with what it is, a few words below it, and its place in the answer.
    pub fn new(label: &str, value: impl Into<String>, note: impl Into<String>, pointer: &str) -> Self {
        let (label, pointer) = (label.to_owned(), pointer.to_owned());
        Self { label, value: value.into(), note: note.into(), pointer, is_stamp: false }
    }
}

/// Subjects between two values, of which one is better if it is high, the other if it is low.
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    /// The caption.
    pub caption: String,
    /// The label of the value that is better low.
    pub across: String,
    /// The label of the value that is better high.
    pub up: String,
    /// The subjects.
    pub dots: Vec<Dot>,
}

/// A subject between two values.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// The subject.
    pub name: String,
    /// The value that is better low.
    pub across: f64,
    /// The value that is better high.
    pub up: f64,
    /// The value that is better low, as people read it.
    pub across_shown: String,
    /// The value that is better high, as people read it.
    pub up_shown: String,
    /// True if no other is better in one of both and as good in the other.
    pub is_on_front: bool,
    /// True if a value is of a part of its items.
    pub is_partial: bool,
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
    /// Values that matter, by name: what each tier needs.
    pub levels: Vec<(String, f64)>,
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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    /// The time; if one point of a figure has no time, all are drawn by their number.
    pub time: Option<Timestamp>,
    /// The value at that time: a dot.
    pub value: Option<f64>,
    /// The line after it, such as the mean of the window.
    pub line: Option<f64>,
    /// Both ends of what the line may be, such as two standard deviations to each side.
    pub band: Option<(f64, f64)>,
    /// A note on it: `held: a swing of 312 points`.
    pub flag: Option<String>,
}

impl From<Figure> for Part {
    fn from(figure: Figure) -> Self {
        Self::Figure(Box::new(figure))
    }
}

/// Returns the values, 0 to 1, of subjects in dimensions; these with their weights as the card has them.
pub fn profile(
    caption: &str,
    dimensions: &[(String, Option<String>)],
    subjects: Vec<(String, Vec<Cell>)>,
) -> Table {
    let row = |(name, cells): (String, Vec<Cell>)| {
        std::iter::once(Cell::Text(name)).chain(cells).collect::<Vec<_>>().into()
    };
    if subjects.len() > MOST_BESIDE {
        let column = |(name, weight): &(String, Option<String>)| {
            let weight = weight.as_ref().map_or_else(String::new, |weight| format!(" ({weight})"));
            Column::new("", Kind::Shade).labelled(&format!("{name}{weight}"))
        };
        let columns = std::iter::once(Column::name("subject")).chain(dimensions.iter().map(column)).collect();
        return Table::new(caption, columns, subjects.into_iter().map(row).collect());
    }
    let mut columns = vec![Column::name("dimension"), Column::number("weight")];
    columns.extend(subjects.iter().map(|(name, _)| Column::new("", Kind::Bar(1)).labelled(name)));
    let rows = dimensions.iter().enumerate().map(|(at, (name, weight))| {
        let values = subjects.iter().map(|(_, cells)| cells.get(at).cloned().unwrap_or(Cell::Absent));
        row((name.clone(), std::iter::once(Cell::of_text(weight.clone())).chain(values).collect()))
    });
    Table::new(caption, columns, rows.collect())
}

/// Returns the mean values of the ranked subjects by dimension, in the order of the leaderboard; nothing if no dimension
/// has a value.
pub fn profiles(rows: &Rows, board: &Leaderboard) -> Vec<Part> {
    if rows.dimensions.is_empty() || board.rows.iter().all(|row| row.dimensions.is_none()) {
        return Vec::new();
    }
    let weights = rows.only_card().map(weights).unwrap_or_default();
    let weight = |at: usize| weights.get(at).map(|weight| cut(weight.millionths(), 6, 4));
    let dimensions = rows.dimensions.iter().enumerate().map(|(at, (key, _))| (key.clone(), weight(at)));
    let value = |row: &LeaderboardRow, key: &str| {
        let found: Option<&Estimate> = row.dimensions.as_ref().and_then(|all| all.get(key)?.as_ref());
        let missing = || Cell::Without(String::from("missing"));
        found
            .map_or_else(missing, |it| Cell::interval(Some(it.mean), it.interval(), Writing::shares(), false))
    };
    let subjects = board
        .rows
        .iter()
        .map(|row| (row.subject.clone(), rows.dimensions.iter().map(|(key, _)| value(row, key)).collect()));
    let caption = "Mean value by subject and dimension, 0 to 1";
    let table = profile(caption, &dimensions.collect::<Vec<_>>(), subjects.collect());
    let told = "Mean values over the tasks of each subject. A dimension that was not measured has no number.";
    vec![
        Part::Heading(String::from("Dimensions")),
        Part::Note(Tone::Plain, told.to_owned()),
        Figure::Table(table).into(),
    ]
}

/// Returns the dimensions of a subject beside the medians of its leaderboard, both of what is ranked; nothing unless both are there.
pub fn beside_the_field(board: &Leaderboard, subject: &str) -> Vec<Part> {
    let Some(row) = board.rows.iter().find(|row| row.subject == subject && board.ranked > 1) else {
        return Vec::new();
    };
    let official = row.official.as_ref().and_then(|it| it.dimensions.as_ref());
    let own = |key: &str| match official {
        Some(values) => values.get(key).copied().flatten(),
        None => row.dimensions.as_ref()?.get(key)?.as_ref().map(|it| it.mean),
    };
    let bar = |value: Option<f64>| Cell::interval(value, None, Writing::shares(), false);
    let line =
        |(key, median): (&String, &f64)| Row::from(vec![Cell::text(key), bar(own(key)), bar(Some(*median))]);
    let lines: Vec<Row> = board.medians.iter().map(line).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        Column::name("dimension"),
        Column::new("value", Kind::Bar(1)).labelled(subject),
        Column::new("median", Kind::Bar(1)).explained(),
    ];
    let caption = format!("The value of each dimension, 0 to 1, and the median of {} subjects", board.ranked);
    let rank = match row.rank {
        [from, to] if from == to => from.to_string(),
        [from, to] => format!("{from} to {to}"),
    };
    vec![
        Part::Heading(String::from("Beside the field")),
        Part::Note(Tone::Plain, format!("rank {rank} of {}", board.ranked)),
        Part::Table(Table::new(&caption, columns, lines)),
    ]
}

/// Returns the values of the items over time, by subject; nothing if no item has a time.
pub fn history(rows: &Rows, subjects: &[usize], settings: &Settings) -> Vec<Part> {
    let writing = Writing::of(rows.scale.max);
    let series = subjects.iter().map(|&subject| {
        // Items are in order of time, those without one first.
        let items = rows.rows.iter().filter(|row| row.subject == subject);
        let scored: Vec<_> =
            items.filter_map(|row| Some((row.time()?, counted(row, settings.policy)?))).collect();
        let scores: Vec<Score> = scored.iter().map(|&(_, score)| score).collect();
        let means = rolling_means(&scores, WINDOW);
        let shown = |score: Score| writing.value(score.billionths() as f64 / 1e9);
        let points = scored.iter().zip(means).map(|(&(time, score), mean)| Point {
            time: Some(time),
            value: Some(shown(score)),
            line: Some(shown(mean)),
            flag: None,
            ..Point::default()
        });
        Series { name: rows.subject_name(subject).to_owned(), points: points.collect() }
    });
    let series: Vec<Series> = series.filter(|it| !it.points.is_empty()).collect();
    if series.is_empty() {
        return Vec::new();
    }
    let history = History {
        caption: String::from("The score of each item, and the mean of the window after it"),
        value_label: String::from("score"),
        line_label: format!("mean of the last {WINDOW}"),
        range: Some((0.0, writing.value(1.0))),
        decimals: writing.decimals(),
        levels: Vec::new(),
        series,
    };
    vec![Part::Heading(String::from("Over time")), Figure::History(history).into()]
}

/// Returns the items behind a leaderboard, at most `most`: by subject in its order, then by task, the one with the lowest
/// mean first. Nothing without items.
pub fn items(rows: &Rows, board: &Leaderboard, items: &[usize], most: usize) -> Vec<Part> {
    let mut of: BTreeMap<&str, BTreeMap<&str, Vec<&rows::Row>>> = BTreeMap::new();
    for row in items.iter().filter_map(|&at| rows.rows.get(at)) {
        let tasks = of.entry(rows.subject_name(row.subject)).or_default();
        tasks.entry(rows.task_name(row)).or_default().push(row);
    }
    // Every subject gets as much room, so that the last one is seen too.
    let each = (most / board.rows.len().max(1)).max(1);
    let mut listed = Vec::new();
    for ranked in board.rows.iter().take(most) {
        let Some(tasks) = of.get(ranked.subject.as_str()) else { continue };
        let mut tasks: Vec<(Option<i128>, &Vec<&rows::Row>)> =
            tasks.values().map(|own| (mean(own), own)).collect();
        tasks.sort_by_key(|(mean, _)| *mean);
        listed.extend(tasks.into_iter().flat_map(|(_, own)| own).take(each).map(|row| item(rows, row)));
    }
    let (shown, all) = (listed.len(), count(items.len(), "item"));
    let left_out = (shown < items.len()).then(|| {
        format!("{shown} of {all} are listed, those of the lowest tasks; see all with karat score.")
    });
    let columns = vec![
        Column::name("subject"),
        Column::text("task"),
        Column::text("item"),
        Column::number("score"),
        Column::text("outcome"),
        Column::text("gates"),
        Column::text("evidence"),
    ];
    if listed.is_empty() {
        return Vec::new();
    }
    let table =
        Table::new("Items by subject and task, the tasks with the lowest mean first", columns, listed);
    let mut parts = vec![Part::Heading(String::from("Items"))];
    parts.extend(left_out.map(|line| Part::Note(Tone::Plain, line)));
    parts.push(Figure::Closed(table).into());
    parts
}

/// Returns the mean score of items in billionths; none without a score.
fn mean(rows: &[&rows::Row]) -> Option<i128> {
    let scores: Vec<i128> =
        rows.iter().filter_map(|row| Some(i128::from(row.score()?.billionths()))).collect();
    let count = i128::try_from(scores.len()).ok().filter(|count| *count > 0)?;
    Some(scores.iter().sum::<i128>() / count)
}

fn item(rows: &Rows, row: &rows::Row) -> Row {
    let writing = Writing::of(rows.scale.max);
    let (file, line) = rows.file_and_line(row);
    let (place, none) = (rows.place(row), || Cell::Without(String::from("no score")));
    let score = row.score().map(|it| it.billionths() as f64 / 1e9);
    vec![
        Cell::text(rows.subject_name(row.subject)),
        Cell::text(rows.task_name(row)),
        Cell::text(rows.id(row)),
        score.map_or_else(none, |it| Cell::Number(writing.value(it), writing.number(it))),
        Cell::text(row.outcome.map_or("not stated", |outcome| outcome.name())),
        Cell::text(row.gates().join(", ")),
        match link(file, line) {
            Some(link) => Cell::Link(place, link),
            None => Cell::Text(place),
        },
    ]
    .into()
}

/// Returns the address of a file from a page in the folder in which the command ran; none if it is not a file.
fn link(file: &str, line: Option<u64>) -> Option<String> {
    // An item of an archive or of a stream has a place that is not a file.
    let line = line?;
    if file.is_empty() || file == crate::error::STANDARD_INPUT {
        return None;
    }
    let mut address = String::from(if file.starts_with('/') { "file://" } else { "./" });
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    Some(format!("{address}#L{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_of_a_file_and_of_nothing_else() {
        let of = |file: &str| link(file, Some(3));
        assert_eq!(of("runs/a b.csv").as_deref(), Some("./runs/a%20b.csv#L3"));
        assert_eq!(of("/data/x.csv").as_deref(), Some("file:///data/x.csv#L3"));
        assert_eq!(of("javascript:alert(1)").as_deref(), Some("./javascript%3Aalert%281%29#L3"));
        assert_eq!(of("http://e/\"><x").as_deref(), Some("./http%3A//e/%22%3E%3Cx#L3"));
        assert_eq!((of(""), of(crate::error::STANDARD_INPUT), link("a.zip: $[0]", None)), (None, None, None));
    }
}
