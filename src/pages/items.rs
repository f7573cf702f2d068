//! The items behind a leaderboard: subject, task, item, with score, gates, and the place of the evidence.

use std::collections::BTreeMap;

use crate::answers::leaderboard::Leaderboard;
use crate::document::figure::{Figure, Items, ListedItem, Section, SubjectItems, TaskItems};
use crate::estimate::Writing;
use crate::rows::{Row, Rows};
use crate::text::count;

/// The most items of a page: about a megabyte.
pub const MOST: usize = 4000;

/// Returns the section of the items of a leaderboard, at most `most`; none without items.
#[must_use]
pub fn section(rows: &Rows, board: &Leaderboard, items: &[usize], most: usize) -> Option<Section> {
    let mut of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for &at in items {
        if let Some(row) = rows.rows.get(at) {
            of.entry(rows.subject_name(row.subject)).or_default().push(at);
        }
    }
    // Every subject gets as much room, so that the last one is seen too.
    let each = (most / board.rows.len().max(1)).max(1);
    let shown = board.rows.iter().take(most);
    let subjects: Vec<SubjectItems> = shown
        .filter_map(|row| Some(subject(rows, &row.subject, of.get(row.subject.as_str())?, each)))
        .collect();
    let more = board.rows.len().saturating_sub(most);
    let mut text =
        vec![String::from("Open a subject, then a task; the tasks with the lowest mean come first.")];
    if more > 0 {
        text.push(format!(
            "The items of {} more are left out: a page has at most {most}.",
            count(more, "subject")
        ));
    }
    (!subjects.is_empty()).then(|| Section {
        heading: String::from("Items"),
        text,
        figures: vec![Figure::Items(Items { caption: String::from("Items by subject and task"), subjects })],
    })
}

fn subject(rows: &Rows, name: &str, items: &[usize], most: usize) -> SubjectItems {
    let writing = Writing::of(rows.scale.max);
    let mut tasks: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in items.iter().filter_map(|&at| rows.rows.get(at)) {
        tasks.entry(rows.task_name(row)).or_default().push(row);
    }
    let mut ordered: Vec<(Option<i128>, &str, Vec<&Row>)> =
        tasks.into_iter().map(|(task, rows)| (mean(&rows), task, rows)).collect();
    ordered.sort_by(|one, other| (one.0, one.1).cmp(&(other.0, other.1)));
    let about = format!("{}, {}", count(ordered.len(), "task"), count(items.len(), "item"));
    let mut room = most;
    let mut shown = Vec::new();
    for (mean, task, own) in ordered {
        if room == 0 {
            break;
        }
        let kept: Vec<ListedItem> = own.iter().take(room).map(|row| item(rows, row, writing)).collect();
        room -= kept.len();
        let gates = own.iter().filter(|row| !row.gates().is_empty()).count();
        let gates =
            if gates > 0 { format!(", {} held by a gate", count(gates, "item")) } else { String::new() };
        let mean = match mean {
            Some(mean) => format!("mean {}", writing.number(mean as f64 / 1e9)),
            None => String::from("no score"),
        };
        let left = own.len() - kept.len();
        let left = if left > 0 { format!(", {left} of them left out") } else { String::new() };
        let about = format!("{}, {mean}{gates}{left}", count(own.len(), "item"));
        shown.push(TaskItems { name: task.to_owned(), about, items: kept });
    }
    let listed: usize = shown.iter().map(|task| task.items.len()).sum();
    let left_out = (listed < items.len()).then(|| {
        format!(
            "{listed} of {} are listed, those of the lowest tasks; choose items with --where, or see all with karat score.",
            count(items.len(), "item")
        )
    });
    SubjectItems { name: name.to_owned(), about, tasks: shown, left_out }
}

/// Returns the mean score of items in billionths; none without a score.
fn mean(rows: &[&Row]) -> Option<i128> {
    let scores: Vec<i128> =
        rows.iter().filter_map(|row| Some(i128::from(row.score()?.billionths()))).collect();
    let count = i128::try_from(scores.len()).ok().filter(|count| *count > 0)?;
    Some(scores.iter().sum::<i128>() / count)
}

fn item(rows: &Rows, row: &Row, writing: Writing) -> ListedItem {
    let (file, line) = rows.file_and_line(row);
    ListedItem {
        id: rows.id(row).to_owned(),
        score: row.score().map(|score| writing.number(score.billionths() as f64 / 1e9)),
        outcome: row.outcome.map(|outcome| outcome.name().to_owned()),
        gates: row.gates().to_vec(),
        place: (rows.place(row), link(file, line)),
    }
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
