//! Two subjects side by side on a terminal.

use std::fmt::Write as _;

use karat::answers::comparison::{Comparison, Difference};
use karat::answers::{ComparisonVerdict, IntervalMethod};
use karat::estimate::{Writing, percent};
use karat::text::{count, fit, fit_name, short, wrap};
use unicode_width::UnicodeWidthStr as _;

use super::changes::{changes, not_shared, power};
use super::interval::{axis, interval, span};
use crate::output::{BAR, CARE, FAINT, STRONG};
use karat::report::resamples;

const GAP: &str = "  ";
/// The label of the difference of the scores.
const SCORE: &str = "score";

/// Returns the note if no result could have shown a difference.
pub fn few_tasks(answer: &Comparison) -> Option<String> {
    let found = &answer.pair.difference;
    let text = match found.verdict {
        ComparisonVerdict::TooFewSharedTasks => {
            "too few shared tasks to compare: no result there could show a difference"
        }
        _ if !found.enough_tasks => "too few tasks differ to show anything at this level",
        _ => return None,
    };
    Some(text.to_owned())
}

/// Returns both names, as for a sentence.
pub fn names(answer: &Comparison) -> (String, String) {
    (short(&answer.pair.first.subject), short(&answer.pair.second.subject))
}

/// Returns the subject that is ahead, or a tie.
pub fn verdict(answer: &Comparison) -> String {
    let (first, second) = names(answer);
    let verdict = match answer.pair.difference.verdict {
        ComparisonVerdict::FirstAhead => format!("{first} is ahead of {second}"),
        ComparisonVerdict::SecondAhead => format!("{second} is ahead of {first}"),
        ComparisonVerdict::NotDistinguishable => format!("{first} and {second} are tied"),
        ComparisonVerdict::TooFewSharedTasks => {
            format!("{first} and {second} share too few tasks to compare")
        }
    };
    let (level, tasks) = (percent(answer.basis.level), answer.pair.difference.estimate.tasks);
    format!("{verdict}, at {level} over {}", count(usize::try_from(tasks).unwrap_or(usize::MAX), "task"))
}

/// Returns the comparison, the verdict first, with the `gaps` of the items and the first `most` tasks that changed;
/// `labels`
/// are of dimensions, by key.
pub fn compare(
    answer: &Comparison,
    labels: &[(String, String)],
    gaps: &[String],
    most: usize,
    width: usize,
) -> String {
    let (first, second) = names(answer);
    let mut text = String::new();
    for line in wrap(&verdict(answer), width) {
        let _ = writeln!(text, "{STRONG}{line}{STRONG:#}");
    }
    let writing = Writing::of(answer.basis.scale);
    let cards = answer.basis.card_names().join(", ");
    let source = match answer.pair.difference.estimate.method {
        Some(IntervalMethod::Wilson) => "intervals from the cases behind each result (Newcombe)".to_owned(),
        _ => resamples(&answer.basis),
    };
    let _ = writeln!(text, "{FAINT}{cards}; {source}{FAINT:#}\n");
    let names = first.width().max(second.width()).clamp(10, 40.min(width / 2));
    for (name, mean) in [(&first, answer.pair.first.mean), (&second, answer.pair.second.mean)] {
        let mean = mean.map_or_else(|| String::from("-"), |mean| writing.number(mean));
        let _ = writeln!(text, "{}{GAP}{mean:>1$}", fit_name(name, names), writing.width());
    }
    text.push('\n');
    text.push_str(&differences(answer, labels, width));
    for line in notes(answer) {
        for part in wrap(&line, width - 2) {
            let _ = writeln!(text, "  {FAINT}{part}{FAINT:#}");
        }
    }
    for line in gaps.iter().cloned().chain(few_tasks(answer)) {
        for part in wrap(&line, width - 2) {
            let _ = writeln!(text, "  {CARE}{part}{CARE:#}");
        }
    }
    text.push_str(&changes(&answer.pair, answer.basis.scale, most, width));
    text
}

/// Returns the differences in score and dimensions, on one axis with 0 in it.
fn differences(answer: &Comparison, labels: &[(String, String)], width: usize) -> String {
    // The score is in points, like the two means; a dimension is a share everywhere.
    let writing =
        |label: &str| if label == SCORE { Writing::of(answer.basis.scale) } else { Writing::shares() };
    let of_key = |key: &str| answer.pair.dimensions.get(key).and_then(Option::as_ref);
    let measured = labels.iter().filter_map(|(key, label)| Some((label.as_str(), of_key(key)?)));
    let all: Vec<(&str, &Difference)> =
        std::iter::once((SCORE, &answer.pair.difference)).chain(measured).collect();
    let names = all.iter().map(|(label, _)| label.width()).max().unwrap_or(0).clamp(10, 24);
    let ends = |label: &str, found: &Difference| {
        let (ends, writing) = (found.estimate.interval(), writing(label));
        ends.map_or_else(
            || String::from("-"),
            |(low, high)| format!("{} to {}", writing.signed(low), writing.signed(high)),
        )
    };
    let mean = |label: &str, found: &Difference| writing(label).signed(found.estimate.mean);
    let column = all.iter().map(|(label, found)| ends(label, found).len()).fold("interval".len(), usize::max);
    let number = all.iter().map(|(label, found)| mean(label, found).len()).fold(6, usize::max);
    let fixed = names + number + column + 4 * GAP.len() + "second".len();
    // An odd number of cells has a middle.
    let bar = (width.saturating_sub(fixed).clamp(9, 40) - 1) | 1;
    let spans = || all.iter().map(|(_, found)| span(&found.estimate));
    let reach = axis(spans());
    // The same length on both sides of 0, so that the middle means no difference.
    let longest = reach.start().abs().max(reach.end().abs());
    let axis = -longest..=longest;
    let middle = |text: String| {
        // Empty cells show the line of no difference.
        let mut cells: Vec<char> = text.chars().collect();
        if let Some(cell) = cells.get_mut((bar - 1) / 2).filter(|cell| **cell == ' ') {
            *cell = '┊';
        }
        cells.into_iter().collect::<String>()
    };
    let mut text = format!(
        "{FAINT}{}{GAP}{:>number$}{GAP}{}{GAP}{}{GAP}ahead{FAINT:#}\n",
        fit("difference", names),
        "",
        fit("interval", column),
        sides(bar)
    );
    for (label, found) in &all {
        let mark = match found.verdict {
            ComparisonVerdict::FirstAhead => "first",
            ComparisonVerdict::SecondAhead => "second",
            ComparisonVerdict::NotDistinguishable | ComparisonVerdict::TooFewSharedTasks => "",
        };
        let drawn = middle(interval(span(&found.estimate), &axis, bar));
        let drawn = if mark.is_empty() { drawn.trim_end() } else { drawn.as_str() };
        let mark = if mark.is_empty() { String::new() } else { format!("{GAP}{mark}") };
        let _ = writeln!(
            text,
            "{}{GAP}{:>number$}{GAP}{FAINT}{}{FAINT:#}{GAP}{BAR}{drawn}{BAR:#}{mark}",
            fit(label, names),
            mean(label, found),
            fit(&ends(label, found), column),
        );
    }
    text
}

/// Returns the labels of the two sides of an axis of `width` columns, if there is room.
fn sides(width: usize) -> String {
    let (left, right) = ("second ahead", "first ahead");
    match width.saturating_sub(left.len() + right.len()) {
        0 => " ".repeat(width),
        gap => format!("{left}{:gap$}{right}", ""),
    }
}

/// Returns the notes on a comparison, also for a page.
pub fn notes(answer: &Comparison) -> Vec<String> {
    let (first, second) = names(answer);
    let found = &answer.pair.difference;
    let mut lines = vec![format!(
        "task by task: {first} ahead on {}, {second} on {}, {} even",
        found.first_ahead_tasks,
        found.second_ahead_tasks,
        found.estimate.tasks - found.first_ahead_tasks - found.second_ahead_tasks
    )];
    lines.extend(not_shared(&answer.pair));
    if let Some(passes) = &answer.pair.passes {
        lines.push(format!(
            "passed by both {}, only by {first} {}, only by {second} {}, by neither {}; McNemar mid-p {:.4}",
            passes.both, passes.only_first, passes.only_second, passes.neither, passes.mid_p
        ));
    }
    lines.extend(power(&answer.pair, answer.basis.scale));
    lines
}
