//! The tasks that got worse or better on a terminal, and the comparisons of the subjects of two files.

use std::fmt::Write as _;

use karat::answers::ComparisonVerdict;
use karat::answers::TaskChangeKind;
use karat::answers::changes::{ItemAt, TaskAttempts, TaskChange};
use karat::answers::comparison::{ComparedPair, Comparisons};
use karat::estimate::{Writing, percent, whole_percent};
use karat::text::{count, fit, fit_name, named, short, wrap};
use unicode_width::UnicodeWidthStr as _;

use crate::output::{CARE, FAINT, GAIN, LOSS, STRONG};
use karat::report::resamples;

const GAP: &str = "  ";

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns what the tasks of a comparison without a verdict can show.
pub fn power(pair: &ComparedPair, scale: u32) -> Option<String> {
    let found = &pair.difference;
    let is_open =
        matches!(found.verdict, ComparisonVerdict::NotDistinguishable | ComparisonVerdict::TooFewSharedTasks);
    let power = pair.power.filter(|_| is_open)?;
    let writing = Writing::of(scale);
    let tasks = count(size(found.estimate.tasks), "task");
    let chance = whole_percent(power.power);
    let own = power.smallest_difference.filter(|it| *it <= 1.0).map_or_else(
        || format!("{tasks} show no difference with a chance of {chance}"),
        |it| format!("{tasks} show a difference of {} or more with a chance of {chance}", writing.number(it)),
    );
    // A few more tasks than there are is no advice.
    let more = power.tasks_needed.filter(|needed| *needed > found.estimate.tasks).map(|needed| {
        format!("; for one of {} it takes about {needed}", writing.number(found.estimate.mean.abs()))
    });
    Some(format!("{own}{}", more.unwrap_or_default()))
}

/// Says how many tasks only one side has: a change is that on the others, so it may differ from that of the means.
pub fn not_shared(pair: &ComparedPair) -> Option<String> {
    let found = &pair.difference;
    let (first, second) = (short(&pair.first.subject), short(&pair.second.subject));
    let tasks = |number| count(size(number), "task");
    let (only_first, only_second) = (tasks(found.only_first_tasks), tasks(found.only_second_tasks));
    (found.only_first_tasks + found.only_second_tasks > 0).then(|| match first == second {
        true => {
            format!(
                "{first}: left out, as only one run has them: {only_first} of before, {only_second} of after"
            )
        }
        false => {
            format!("left out, as only one has them: {only_first} of {first}, {only_second} of {second}")
        }
    })
}

/// Returns the tasks that got worse and those that got better, the first `most` of each.
pub fn changes(pair: &ComparedPair, scale: u32, most: usize, width: usize) -> String {
    let mut text = String::new();
    let found = &pair.changes;
    let lists = [("worse", &found.regressed, LOSS), ("better", &found.fixed, GAIN)];
    for (what, all, style) in lists.into_iter().filter(|(_, all, _)| !all.is_empty()) {
        let lost =
            all.iter().filter(|it| !matches!(it.change, TaskChangeKind::Fell | TaskChangeKind::Rose)).count();
        let outside = all.iter().filter(|it| it.outside_noise == Some(true)).count();
        let mut head = format!(
            "{} {what} than {} at {}",
            short(&pair.second.subject),
            of(pair),
            count(all.len(), "task")
        );
        if lost > 0 {
            let _ = write!(
                head,
                ", {lost} of them {}",
                if what == "worse" { "passed before" } else { "failed before" }
            );
        }
        if all.iter().any(|it| it.outside_noise.is_some()) {
            let _ = write!(head, ", {outside} outside noise");
        }
        text.push('\n');
        for line in wrap(&head, width) {
            let _ = writeln!(text, "{style}{line}{style:#}");
        }
        text.push_str(&rows(all, (&pair.first.subject, &pair.second.subject), scale, most, width));
        if all.len() > most {
            let _ = writeln!(text, "  {FAINT}and {} more: --all{FAINT:#}", all.len() - most);
        }
    }
    text
}

/// Returns the name of the first; of one subject in two files that it was before.
fn of(pair: &ComparedPair) -> String {
    if pair.first.subject == pair.second.subject {
        String::from("before")
    } else {
        short(&pair.first.subject)
    }
}

fn rows(all: &[TaskChange], names: (&str, &str), scale: u32, most: usize, width: usize) -> String {
    let writing = Writing::of(scale);
    let shown = || all.iter().take(most);
    let task = shown().map(|it| it.task.width()).max().unwrap_or(0).clamp(4, 24);
    let passed: Vec<String> = shown().map(|it| passes(&it.first, &it.second)).collect();
    let pass = passed.iter().map(String::len).fold("passed".len(), usize::max);
    let has_noise = all.iter().any(|it| it.outside_noise.is_some());
    let noise = if has_noise { GAP.len() + 7 } else { 0 };
    let number = writing.width().max(8);
    let (before, after) = match names {
        (first, second) if first == second => ("before", "after"),
        // The beginnings of two paths are often alike.
        (first, second) if first.width().max(second.width()) > number => ("first", "second"),
        names => names,
    };
    let place = width.saturating_sub(2 + task + 2 * number + pass + noise + 4 * GAP.len()).max(10);
    let mut text = format!(
        "  {FAINT}{}{GAP}{:>number$}{GAP}{:>number$}{GAP}{}{}{GAP}items{FAINT:#}\n",
        fit("task", task),
        fit(before, number).trim_end(),
        fit(after, number).trim_end(),
        fit("passed", pass),
        if has_noise { format!("{GAP}{}", fit("noise", 7)) } else { String::new() },
    );
    for (change, passed) in shown().zip(&passed) {
        let noise = match change.outside_noise {
            _ if !has_noise => String::new(),
            Some(true) => format!("{GAP}outside"),
            Some(false) => format!("{GAP}within "),
            None => format!("{GAP}{:7}", ""),
        };
        let line = format!(
            "  {}{GAP}{:>number$}{GAP}{:>number$}{GAP}{}{noise}{GAP}{}",
            fit_name(&change.task, task),
            writing.number(change.first.mean),
            writing.number(change.second.mean),
            fit(passed, pass),
            places(change, place),
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Returns how many attempts pass before and after.
fn passes(first: &TaskAttempts, second: &TaskAttempts) -> String {
    let of = |side: &TaskAttempts| match side.items.len() {
        1 if side.passed == 1 => String::from("yes"),
        1 => String::from("no"),
        many => format!("{}/{many}", side.passed),
    };
    format!("{} to {}", of(first), of(second))
}

/// Returns where the first item of each side is, as far as there is room; that of the second if there is room for one.
fn places(change: &TaskChange, width: usize) -> String {
    // The worst attempt of what got worse, and the best of what got better, are the ones to look at.
    let pick = |side: &TaskAttempts, is_low: bool| -> String {
        let by = |a: &&ItemAt, b: &&ItemAt| a.score.total_cmp(&b.score);
        let item = if is_low { side.items.iter().min_by(by) } else { side.items.iter().max_by(by) };
        let more = side.items.len().saturating_sub(1);
        let place = item.map(ItemAt::place).unwrap_or_default();
        if more > 0 { format!("{place} +{more}") } else { place }
    };
    let is_worse = matches!(change.change, TaskChangeKind::PassLost | TaskChangeKind::Fell);
    let (first, second) = (pick(&change.first, !is_worse), pick(&change.second, is_worse));
    let both = format!("{first} to {second}");
    if both.width() <= width { both } else { tail(&second, width) }
}

/// Returns the end of a place that is too long: the line says more than the folders.
fn tail(place: &str, width: usize) -> String {
    if place.width() <= width {
        return place.to_owned();
    }
    let chars: Vec<char> = place.chars().rev().take(width.saturating_sub(1)).collect();
    let kept: String = chars.into_iter().rev().collect();
    fit(&format!("…{kept}"), width)
}

/// Returns the comparisons of the subjects of two files, with the `gaps` of the items.
pub fn comparisons(
    answer: &Comparisons,
    gaps: &[String],
    most: usize,
    is_listed: &dyn Fn(&ComparedPair) -> bool,
    width: usize,
) -> String {
    let writing = Writing::of(answer.basis.scale);
    let mut text = String::new();
    let head = format!(
        "{} of {} in {}, at {}",
        short(&answer.second_file),
        count(answer.comparisons.len(), "subject"),
        short(&answer.first_file),
        percent(answer.basis.level)
    );
    for line in wrap(&head.replacen(" of ", " against the same ", 1), width) {
        let _ = writeln!(text, "{STRONG}{line}{STRONG:#}");
    }
    let _ = writeln!(
        text,
        "{FAINT}{}; {}{FAINT:#}\n",
        answer.basis.card_names().join(", "),
        resamples(&answer.basis)
    );
    let name = answer.comparisons.iter().map(|it| it.first.subject.width()).max().unwrap_or(0);
    let change = |it: &ComparedPair| -it.difference.estimate.mean;
    let ends = |it: &ComparedPair| {
        let ends = it.difference.estimate.interval();
        let ends = ends.map(|(low, high)| format!("{} to {}", writing.signed(-high), writing.signed(-low)));
        ends.unwrap_or_else(|| String::from("-"))
    };
    let column = answer.comparisons.iter().map(|it| ends(it).len()).fold("interval".len(), usize::max);
    let number = writing.width().max(6);
    let name = name.clamp(7, width.saturating_sub(column + 3 * number + 28).max(7));
    let _ = writeln!(
        text,
        "{FAINT}{}{GAP}{:>number$}{GAP}{:>number$}{GAP}{:>number$}{GAP}{}{GAP}worse{GAP}better{GAP}says{FAINT:#}",
        fit("subject", name),
        "before",
        "after",
        "change",
        fit("interval", column)
    );
    for it in &answer.comparisons {
        let mean = |mean: Option<f64>| mean.map_or_else(|| String::from("-"), |mean| writing.number(mean));
        let (says, style) = match it.difference.verdict {
            ComparisonVerdict::FirstAhead => ("worse", LOSS),
            ComparisonVerdict::SecondAhead => ("better", GAIN),
            ComparisonVerdict::NotDistinguishable => ("tied", FAINT),
            ComparisonVerdict::TooFewSharedTasks => ("too few", CARE),
        };
        let _ = writeln!(
            text,
            "{}{GAP}{:>number$}{GAP}{:>number$}{GAP}{:>number$}{GAP}{FAINT}{}{FAINT:#}{GAP}{:>5}{GAP}{:>6}{GAP}\
             {style}{says}{style:#}",
            fit_name(&it.first.subject, name),
            mean(it.first.mean),
            mean(it.second.mean),
            writing.signed(change(it)),
            fit(&ends(it), column),
            it.changes.regressed.len(),
            it.changes.fixed.len(),
        );
    }
    for (file, names) in answer.unpaired() {
        let names = named(&names).unwrap_or_default();
        for line in wrap(&format!("only in {}, so not compared: {names}", short(file)), width - 2) {
            let _ = writeln!(text, "  {CARE}{line}{CARE:#}");
        }
    }
    for line in answer.comparisons.iter().filter_map(not_shared).chain(gaps.iter().cloned()) {
        for part in wrap(&line, width - 2) {
            let _ = writeln!(text, "  {CARE}{part}{CARE:#}");
        }
    }
    for it in answer.comparisons.iter().filter(|it| is_listed(it)) {
        let own = power(it, answer.basis.scale);
        let lists = changes(it, answer.basis.scale, most, width);
        if let Some(own) = own.filter(|_| !it.changes.regressed.is_empty()) {
            for part in wrap(&format!("{}: {own}", short(&it.first.subject)), width - 2) {
                let _ = writeln!(text, "  {FAINT}{part}{FAINT:#}");
            }
        }
        text.push_str(&lists);
    }
    text
}
