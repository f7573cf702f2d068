//! The document of a comparison: the differences, what they rest on, and the tasks that changed; each gate is a test case.

use std::fmt::Write as _;

use super::leaderboard::{FIRSTS, stopping};
use super::{Case, CaseResult, Cell, Column, Document, Finding, Kind, Level, Part, Place, Row, Table, about};
use crate::answers::basis::Basis;
use crate::answers::changes::{ItemAt, TaskAttempts, TaskChange};
use crate::answers::comparison::{ComparedPair, ComparedSubject, Comparison, ComparisonAnswer, Difference};
use crate::answers::{ComparisonVerdict, GateChange, IntervalMethod, StopsAt, TaskChangeKind};
use crate::estimate::{Writing, percent, whole_percent};
use crate::text::{Tone, count, named, short};

/// Dimensions, cases and lists that a comparison is shown with.
pub struct View<'a> {
    /// The dimensions by key with their labels, in the order of the scorecard.
    pub dimensions: &'a [(String, String)],
    /// The sentences on items that are odd.
    pub gaps: &'a [String],
    /// The reason for which the gate of a pair fails.
    pub failed: &'a dyn Fn(&ComparedPair) -> Option<String>,
    /// Returns true for a pair of which a screen lists the tasks.
    pub is_listed: &'a dyn Fn(&ComparedPair) -> bool,
}

/// Returns the document of a comparison of two subjects that nothing gates.
pub fn duel(answer: &Comparison, gaps: &[String]) -> Document {
    let answer = ComparisonAnswer::Pair(Box::new(answer.clone()));
    comparison(&answer, &View { dimensions: &[], gaps, failed: &|_| None, is_listed: &|_| true })
}

/// Returns the document of a comparison.
pub fn comparison(answer: &ComparisonAnswer, view: &View<'_>) -> Document {
    let basis = answer.basis();
    let pairs = answer.pairs();
    let mut document = Document {
        name: "compare",
        title: title(answer),
        lines: std::iter::once(source(basis, pairs)).chain(stopping_sides(pairs)).collect(),
        about: about(basis),
        parts: vec![Part::Table(differences(answer, view.dimensions))],
        cases: pairs.iter().map(|pair| case(basis, pair, view)).collect(),
        findings: pairs.iter().flat_map(|pair| findings(basis, pair, view)).collect(),
        ..Document::default()
    };
    document.findings.sort_by_key(|finding| finding.level);
    match answer {
        ComparisonAnswer::Pair(answer) => {
            document.note(Tone::Plain, notes(&answer.pair, basis.scale));
            document.note(Tone::Care, view.gaps.iter().cloned().chain(few_tasks(&answer.pair.difference)));
            document.parts.extend(changes(&answer.pair, basis.scale).map(Part::Table));
        }
        ComparisonAnswer::Several(answer) => {
            let unpaired = answer.unpaired().map(|(file, names)| {
                format!("only in {}, so not compared: {}", short(file), named(&names).unwrap_or_default())
            });
            document.note(Tone::Care, unpaired);
            document.note(Tone::Care, pairs.iter().filter_map(not_shared).chain(view.gaps.iter().cloned()));
            for pair in pairs {
                let is_detail = !(view.is_listed)(pair);
                let power = power(pair, basis.scale).filter(|_| !pair.changes.regressed.is_empty());
                let power = power.filter(|_| !is_detail);
                document
                    .note(Tone::Plain, power.map(|line| format!("{}: {line}", short(&pair.first.subject))));
                document
                    .parts
                    .extend(changes(pair, basis.scale).map(|it| Part::Table(Table { is_detail, ..it })));
            }
        }
    }
    document
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn title(answer: &ComparisonAnswer) -> String {
    let level = percent(answer.basis().level);
    match answer {
        ComparisonAnswer::Pair(answer) => {
            let tasks = count(size(answer.pair.difference.estimate.tasks), "task");
            format!("{}, at {level} over {tasks}", verdict(&answer.pair))
        }
        ComparisonAnswer::Several(answer) => format!(
            "{} against the same {} in {}, at {level}",
            short(&answer.second_file),
            count(answer.comparisons.len(), "subject"),
            short(&answer.first_file),
        ),
    }
}

/// Returns the scorecards, and where intervals come from.
fn source(basis: &Basis, pairs: &[ComparedPair]) -> String {
    let is_of_cases = |pair: &ComparedPair| pair.difference.estimate.method == Some(IntervalMethod::Wilson);
    let source = match !pairs.is_empty() && pairs.iter().all(is_of_cases) {
        true => String::from("intervals from the cases behind each result (Newcombe)"),
        false => String::from("intervals by turning the signs of the differences of tasks"),
    };
    let firsts = if basis.items.first_attempts { FIRSTS } else { "" };
    format!("{}; {source}{firsts}", basis.card_names().join(", "))
}

/// Says whose attempts stop at a result: of two files, on which side.
fn stopping_sides(pairs: &[ComparedPair]) -> Vec<String> {
    let name = |pair: &ComparedPair, it: &ComparedSubject, side: &str| match pair.first.subject
        == pair.second.subject
    {
        true => format!("{} ({side})", it.subject),
        false => it.subject.clone(),
    };
    let both = |pair: &ComparedPair| {
        [(&pair.first, "before"), (&pair.second, "after")]
            .map(|(it, side)| (name(pair, it, side), it.attempts_stop_at))
    };
    let all: Vec<(String, Option<StopsAt>)> = pairs.iter().flat_map(both).collect();
    stopping(all.iter().map(|(name, at)| (name.as_str(), *at)))
}

/// Says which of the two is ahead.
fn verdict(pair: &ComparedPair) -> String {
    let (first, second) = (short(&pair.first.subject), short(&pair.second.subject));
    let is_one = pair.first.subject == pair.second.subject;
    match pair.difference.verdict {
        ComparisonVerdict::FirstAhead if is_one => format!("{second} is worse than before"),
        ComparisonVerdict::SecondAhead if is_one => format!("{second} is better than before"),
        ComparisonVerdict::TooFewSharedTasks if is_one => format!("{second} has too few tasks of before"),
        ComparisonVerdict::NotDistinguishable if is_one => format!("{second} is tied with before"),
        ComparisonVerdict::FirstAhead => format!("{first} is ahead of {second}"),
        ComparisonVerdict::SecondAhead => format!("{second} is ahead of {first}"),
        ComparisonVerdict::NotDistinguishable => format!("{first} and {second} are tied"),
        ComparisonVerdict::TooFewSharedTasks => {
            format!("{first} and {second} share too few tasks to compare")
        }
    }
}

/// Returns the test case of a pair: whether its gate lets it pass.
fn case(basis: &Basis, pair: &ComparedPair, view: &View<'_>) -> Case {
    let is_worse = pair.gate.is_some_and(|gate| gate.finding == GateChange::Worse);
    let result = match (view.failed)(pair) {
        None => CaseResult::Passed,
        Some(line) if is_worse => CaseResult::Failed(line),
        Some(line) => CaseResult::Error(line),
    };
    let name = match pair.first.subject == pair.second.subject {
        true => pair.second.subject.clone(),
        false => format!("{} against {}", pair.second.subject, pair.first.subject),
    };
    let estimate = &pair.difference.estimate;
    let writing = Writing::points(basis.scale);
    let ends =
        |(low, high): (f64, f64)| format!("{} to {}", writing.signed_end(low), writing.signed_end(high));
    let difference = format!(
        "difference {}, {} interval {} over {}",
        writing.signed(estimate.mean),
        percent(basis.level),
        estimate.interval().map_or_else(|| writing.ends(None), ends),
        count(size(estimate.tasks), "task")
    );
    let output = vec![verdict(pair), difference];
    Case { class: String::from("compare"), name, result, seconds: None, place: None, output }
}

/// Returns what the gate of a pair says, the tasks that lack results, and those that got worse.
fn findings(basis: &Basis, pair: &ComparedPair, view: &View<'_>) -> Vec<Finding> {
    let line = (view.failed)(pair);
    let is_worse = pair.gate.is_some_and(|gate| gate.finding == GateChange::Worse);
    // Where the gate is undecided its sentence names them.
    let is_named = line.is_some() && !is_worse;
    let level = if is_worse { Level::Error } else { Level::Warning };
    let mut findings: Vec<Finding> =
        line.map(|line| Finding::new(level, "regression", line)).into_iter().collect();
    let lacks = [
        (&pair.changes.missing, "missing", "without a result", "that counts"),
        (&pair.changes.fewer, "fewer", "with fewer results", "that count"),
    ];
    for (tasks, kind, what, which) in lacks.into_iter().filter(|_| !is_named) {
        let names: Vec<&str> = tasks.iter().map(String::as_str).collect();
        let Some(list) = named(&names) else { continue };
        let (tasks, who) = (count(names.len(), "task"), short(&pair.second.subject));
        let text = format!("{tasks} {what} of {who} {which}: {list}");
        findings.push(Finding::new(Level::Warning, kind, text));
    }
    // A task that got worse does not fail by itself: the gate decides over all of them.
    findings.extend(pair.changes.regressed.iter().map(|change| regressed(basis, pair, change)));
    findings
}

fn regressed(basis: &Basis, pair: &ComparedPair, change: &TaskChange) -> Finding {
    let writing = Writing::points(basis.scale);
    let noise = match change.outside_noise {
        Some(true) => ", more than chance",
        Some(false) => ", within chance",
        None => "",
    };
    let text = format!(
        "{}: {} was {} and is {}{noise}",
        change.task,
        short(&pair.second.subject),
        writing.number(change.first.mean),
        writing.number(change.second.mean)
    );
    let place = change.second.items.first().map(|item| Place { file: item.file.clone(), line: item.line });
    Finding { place, ..Finding::new(Level::Notice, "regressed", text) }
}

fn differences(answer: &ComparisonAnswer, dimensions: &[(String, String)]) -> Table {
    let (basis, is_pair) = (answer.basis(), matches!(answer, ComparisonAnswer::Pair(_)));
    let row = |pair: &ComparedPair, of: &str, means: [Option<f64>; 2], writing: Writing, it: &Difference| {
        let verdict = match (it.verdict, is_pair) {
            (ComparisonVerdict::FirstAhead, true) => "first ahead",
            (ComparisonVerdict::SecondAhead, true) => "second ahead",
            (ComparisonVerdict::FirstAhead, false) => "worse",
            (ComparisonVerdict::SecondAhead, false) => "better",
            (ComparisonVerdict::NotDistinguishable, _) => "tied",
            (ComparisonVerdict::TooFewSharedTasks, _) => "too few",
        };
        let mean = |mean: Option<f64>| Cell::of_number(mean, |it| writing.number(it / writing.value(1.0)));
        let mut cells = match is_pair {
            true => vec![Cell::text(&pair.first.subject), Cell::text(&pair.second.subject)],
            false => vec![Cell::text(&pair.first.subject)],
        };
        cells.extend([
            Cell::text(of),
            mean(means[0]),
            mean(means[1]),
            Cell::interval(Some(it.estimate.mean), it.estimate.interval(), writing, true),
            Cell::Count(it.estimate.tasks),
            Cell::Count(it.worse_tasks),
            Cell::Count(it.better_tasks),
            Cell::Word(it.verdict.name(), verdict),
        ]);
        cells
    };
    let mut rows = Vec::new();
    for pair in answer.pairs() {
        let means = [pair.first.mean, pair.second.mean];
        rows.push(row(pair, "score", means, Writing::of(basis.scale), &pair.difference).into());
        let measured =
            dimensions.iter().filter_map(|(key, _)| Some((key, pair.dimensions.get(key)?.as_ref()?)));
        rows.extend(measured.map(|(key, it)| {
            let cells = row(pair, key, [None, None], Writing::shares(), it);
            Row { is_detail: !is_pair, ..cells.into() }
        }));
    }
    let sides = if is_pair { ("first ahead", "second ahead") } else { ("worse", "better") };
    let mut columns = match is_pair {
        true => vec![Column::text("first").wide(), Column::text("second").wide(), Column::name("of")],
        false => vec![Column::name("subject"), Column::text("of").wide()],
    };
    let of_tasks = |column: Column| if is_pair { column.wide() } else { column };
    columns.extend([
        Column::number("first_mean"),
        Column::number("second_mean"),
        Column::new("difference", Kind::Interval { sides: Some(sides), level: basis.level }),
        of_tasks(Column::number("tasks")).wide(),
        of_tasks(Column::number("worse_tasks")),
        of_tasks(Column::number("better_tasks")),
        Column::text("verdict"),
    ]);
    Table::new("Differences, second minus first: below 0 the second is worse", columns, rows)
}

/// Returns the sentences on a comparison of two.
fn notes(pair: &ComparedPair, scale: u32) -> Vec<String> {
    let (first, second) = (short(&pair.first.subject), short(&pair.second.subject));
    let found = &pair.difference;
    let mut lines = vec![format!(
        "task by task: {first} ahead on {}, {second} on {}, {} even",
        found.worse_tasks,
        found.better_tasks,
        found.estimate.tasks.saturating_sub(found.worse_tasks + found.better_tasks)
    )];
    lines.extend(not_shared(pair));
    if let Some(passes) = &pair.passes {
        lines.push(format!(
            "passed by both {}, only by {first} {}, only by {second} {}, by neither {}; McNemar mid-p {:.4}",
            passes.both, passes.only_first, passes.only_second, passes.neither, passes.mid_p
        ));
    }
    lines.extend(power(pair, scale));
    lines
}

/// Returns the note if no result could have shown a difference.
fn few_tasks(found: &Difference) -> Option<String> {
    (found.verdict == ComparisonVerdict::TooFewSharedTasks)
        .then(|| String::from("too few shared tasks to compare: no result there could show a difference"))
}

/// Returns what the tasks of a comparison without a verdict can show.
fn power(pair: &ComparedPair, scale: u32) -> Option<String> {
    let found = &pair.difference;
    let is_open =
        matches!(found.verdict, ComparisonVerdict::NotDistinguishable | ComparisonVerdict::TooFewSharedTasks);
    let power = pair.power.filter(|_| is_open)?;
    let writing = Writing::points(scale);
    let tasks = count(size(found.estimate.tasks), "task");
    let chance = whole_percent(power.power);
    let own = power.smallest_difference.filter(|it| *it <= f64::from(scale)).map_or_else(
        || format!("{tasks} are too few to show any difference with a chance of {chance}"),
        |it| {
            format!(
                "{tasks} show a difference of {} or more between the two with a chance of {chance}",
                writing.number(it)
            )
        },
    );
    // To ask for a few more tasks than there are does not help.
    let more = power.tasks_needed.filter(|needed| *needed > found.estimate.tasks).map(|needed| {
        format!("; for one of {} it takes about {needed}", writing.number(found.estimate.mean.abs()))
    });
    Some(format!("{own}{}", more.unwrap_or_default()))
}

/// Says how many tasks only one side has: the difference is over the others, so it may differ from that of the means.
fn not_shared(pair: &ComparedPair) -> Option<String> {
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

/// Returns the tasks that got worse and those that got better, a table each if there are any.
fn changes(pair: &ComparedPair, scale: u32) -> impl Iterator<Item = Table> {
    let lists = [("worse", &pair.changes.regressed, Tone::Bad), ("better", &pair.changes.fixed, Tone::Good)];
    lists.into_iter().filter(|(_, all, _)| !all.is_empty()).map(move |(what, all, tone)| {
        let lost =
            all.iter().filter(|it| !matches!(it.change, TaskChangeKind::Fell | TaskChangeKind::Rose)).count();
        let outside = all.iter().filter(|it| it.outside_noise == Some(true)).count();
        let than = match pair.first.subject == pair.second.subject {
            true => String::from("before"),
            false => short(&pair.first.subject),
        };
        let mut caption =
            format!("{} {what} than {than} at {}", short(&pair.second.subject), count(all.len(), "task"));
        if lost > 0 {
            let before = if what == "worse" { "passed before" } else { "failed before" };
            let _ = write!(caption, ", {lost} of them {before}");
        }
        let has_noise = all.iter().any(|it| it.outside_noise.is_some());
        if has_noise {
            let _ = write!(caption, ", {outside} outside noise");
        }
        let columns = vec![
            Column::name("task"),
            Column::number("first_mean"),
            Column::number("second_mean"),
            Column::text("passed"),
            Column::number("p").wide().shown_if(has_noise),
            Column::text("noise").shown_if(has_noise),
            Column::new("first_items", Kind::Place).wide(),
            Column::new("second_items", Kind::Place),
        ];
        let rows = all.iter().map(|change| self::change(change, scale).into()).collect();
        Table { tone, is_list: true, ..Table::new(caption, columns, rows) }
    })
}

fn change(change: &TaskChange, scale: u32) -> Vec<Cell> {
    let writing = Writing::points(scale);
    let number = |mean: f64| Cell::Number(mean, writing.number(mean));
    let is_worse = matches!(change.change, TaskChangeKind::PassLost | TaskChangeKind::Fell);
    // The worst attempt of what got worse, and the best of what got better, are the ones to look at.
    let places = |side: &TaskAttempts, is_low: bool| {
        let mut items: Vec<&ItemAt> = side.items.iter().collect();
        items.sort_by(|a, b| if is_low { a.score.total_cmp(&b.score) } else { b.score.total_cmp(&a.score) });
        Cell::Places(items.into_iter().map(ItemAt::place).collect())
    };
    vec![
        Cell::text(&change.task),
        number(change.first.mean),
        number(change.second.mean),
        Cell::Text(passed(&change.first, &change.second)),
        Cell::of_number(change.p, |p| format!("{p:.3}")),
        match change.outside_noise {
            Some(true) => Cell::text("outside"),
            Some(false) => Cell::text("within"),
            None => Cell::Absent,
        },
        places(&change.first, !is_worse),
        places(&change.second, is_worse),
    ]
}

/// Returns how many attempts pass, of the first and of the second.
fn passed(first: &TaskAttempts, second: &TaskAttempts) -> String {
    let of = |side: &TaskAttempts| match side.items.len() {
        _ if side.cases.is_some() => String::from("-"),
        1 if side.passed == 1 => String::from("yes"),
        1 => String::from("no"),
        many => format!("{}/{many}", side.passed),
    };
    format!("{} to {}", of(first), of(second))
}
