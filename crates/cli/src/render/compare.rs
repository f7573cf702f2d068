//! Two subjects side by side on a terminal.

use std::fmt::Write as _;

use karat_stats::compare::{Difference, Verdict};
use unicode_width::UnicodeWidthStr as _;

use super::interval::{axis, interval, span};
use crate::output::{BAR, CARE, FAINT, STRONG};
use karat_report::board::Settings;
use karat_report::board::pair::Pair;
use karat_report::estimate::{Writing, percent};
use karat_report::rows::Rows;
use karat_report::rows::gaps::{all_or_nothing, gaps};
use karat_report::text::{count, fit, short, wrap};

const GAP: &str = "  ";

/// Said where no result could have shown a difference.
pub const FEW_TASKS: &str = "too few tasks differ to show anything at this level";

/// The names of both, as they stand in a sentence.
pub fn names(rows: &Rows, pair: &Pair) -> (String, String) {
    let name = |subject: usize| short(rows.subjects.get(subject).map_or("", String::as_str));
    (name(pair.first), name(pair.second))
}

/// Who is ahead, or that nobody can tell.
pub fn answer(rows: &Rows, pair: &Pair, settings: &Settings) -> String {
    let (first, second) = names(rows, pair);
    let answer = match pair.score.verdict {
        Verdict::FirstAhead => format!("{first} is ahead of {second}"),
        Verdict::SecondAhead => format!("{second} is ahead of {first}"),
        Verdict::NotDistinguishable => format!("{first} and {second} cannot be told apart"),
    };
    let level = percent(settings.level);
    format!("{answer}, at {level} over {}", count(pair.score.estimate.tasks, "task"))
}

/// The comparison, the answer first.
pub fn compare(rows: &Rows, pair: &Pair, settings: &Settings, width: usize) -> String {
    let (first, second) = names(rows, pair);
    let mut text = String::new();
    for line in wrap(&answer(rows, pair, settings), width) {
        let _ = writeln!(text, "{STRONG}{line}{STRONG:#}");
    }
    let writing = Writing::of(rows.scale);
    let cards = rows.card_names().join(", ");
    let _ = writeln!(
        text,
        "{FAINT}{cards}; {} draws of tasks, seed {}{FAINT:#}\n",
        settings.plan.draws, settings.plan.seed
    );
    let names = first.width().max(second.width()).clamp(10, 40.min(width / 2));
    for (name, mean) in [(&first, pair.means[0]), (&second, pair.means[1])] {
        let mean = mean.map_or_else(|| String::from("-"), |mean| writing.number(mean));
        let _ = writeln!(text, "{}{GAP}{mean:>1$}", fit(name, names), writing.width());
    }
    text.push('\n');
    text.push_str(&differences(rows, pair, width));
    for line in notes(pair, &first, &second) {
        for part in wrap(&line, width - 2) {
            let _ = writeln!(text, "  {FAINT}{part}{FAINT:#}");
        }
    }
    let few = (!pair.score.enough_tasks).then(|| FEW_TASKS.to_owned());
    for line in gaps(rows).into_iter().chain(all_or_nothing(rows)).chain(few) {
        for part in wrap(&line, width - 2) {
            let _ = writeln!(text, "  {CARE}{part}{CARE:#}");
        }
    }
    text
}

/// The differences in score and dimensions, on one axis with 0 in it.
fn differences(rows: &Rows, pair: &Pair, width: usize) -> String {
    let writing = Writing::shares();
    let dimensions = rows.dimensions.iter().zip(&pair.dimensions);
    let measured = dimensions.filter_map(|((_, label), found)| Some((label.as_str(), found.as_ref()?)));
    let all: Vec<(&str, &Difference)> = std::iter::once(("score", &pair.score)).chain(measured).collect();
    let names = all.iter().map(|(label, _)| label.width()).max().unwrap_or(0).clamp(10, 24);
    let ends = |found: &Difference| {
        let interval = &found.estimate.interval;
        format!("{} to {}", writing.signed(interval.low), writing.signed(interval.high))
    };
    let column = all.iter().map(|(_, found)| ends(found).len()).max().unwrap_or(0);
    let fixed = names + 6 + column + 4 * GAP.len() + "second".len();
    // An odd number of cells has a middle.
    let bar = (width.saturating_sub(fixed).clamp(9, 40) - 1) | 1;
    let spans = || all.iter().map(|(_, found)| span(&found.estimate));
    let reach = axis(spans());
    // The same length on both sides of 0, so that the middle means: no difference.
    let longest = reach.start().abs().max(reach.end().abs());
    let axis = -longest..=longest;
    let middle = |text: String| {
        // Where nothing is drawn, the line of no difference shows.
        let mut cells: Vec<char> = text.chars().collect();
        if let Some(cell) = cells.get_mut((bar - 1) / 2).filter(|cell| **cell == ' ') {
            *cell = '┊';
        }
        cells.into_iter().collect::<String>()
    };
    let mut text = format!(
        "{FAINT}{}{GAP}{:>6}{GAP}{}{GAP}{}{GAP}ahead{FAINT:#}\n",
        fit("difference", names),
        "",
        fit("interval", column),
        sides(bar)
    );
    for (label, found) in &all {
        let mark = match found.verdict {
            Verdict::FirstAhead => "first",
            Verdict::SecondAhead => "second",
            Verdict::NotDistinguishable => "",
        };
        let drawn = middle(interval(span(&found.estimate), &axis, bar));
        let drawn = if mark.is_empty() { drawn.trim_end() } else { drawn.as_str() };
        let mark = if mark.is_empty() { String::new() } else { format!("{GAP}{mark}") };
        let _ = writeln!(
            text,
            "{}{GAP}{:>6}{GAP}{FAINT}{}{FAINT:#}{GAP}{BAR}{drawn}{BAR:#}{mark}",
            fit(label, names),
            writing.signed(found.estimate.mean),
            fit(&ends(found), column),
        );
    }
    text
}

/// Which side of an axis of so many columns is whose, where there is room for it.
fn sides(width: usize) -> String {
    let (left, right) = ("second ahead", "first ahead");
    match width.saturating_sub(left.len() + right.len()) {
        0 => " ".repeat(width),
        gap => format!("{left}{:gap$}{right}", ""),
    }
}

/// What a reader should know, also on a page.
pub fn notes(pair: &Pair, first: &str, second: &str) -> Vec<String> {
    let found = &pair.score;
    let mut lines = vec![format!(
        "task by task: {first} ahead on {}, {second} on {}, {} even",
        found.first_ahead_tasks,
        found.second_ahead_tasks,
        found.estimate.tasks - found.first_ahead_tasks - found.second_ahead_tasks
    )];
    if found.only_first_tasks + found.only_second_tasks > 0 {
        lines.push(format!(
            "left out, as only one has them: {} of {first}, {} of {second}",
            count(found.only_first_tasks, "task"),
            count(found.only_second_tasks, "task")
        ));
    }
    if let Some(passes) = &pair.passes {
        let pairs = passes.pairs;
        lines.push(format!(
            "passed by both {}, only by {first} {}, only by {second} {}, by neither {}; McNemar mid-p {:.4}",
            pairs.both, pairs.only_first, pairs.only_second, pairs.neither, passes.mid_p
        ));
    }
    lines
}
