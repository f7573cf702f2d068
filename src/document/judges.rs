//! The document of judges: how far each agrees with the labels, where it errs, and the subjects without its errors.

use super::leaderboard::{cards, items};
use super::{Cell, Column, Document, Kind, Part, Table, about};
use crate::answers::basis::{Estimate, Measure};
use crate::answers::judges::{Bias, CorrectedSubject, Judge, Judges, Neighbours};
use crate::estimate::{Writing, percent, whole_percent};
use crate::text::{Tone, count, short};

/// Standard errors between labelled and other items from which on the labels are hardly a random sample.
const FAR: f64 = 3.0;

/// Returns the document of an answer about judges, with the sentences on items that are odd.
pub fn judges(answer: &Judges, gaps: &[String]) -> Document {
    let labels = count(answer.labelled as usize, "label");
    let mut document = Document {
        name: "judges",
        title: format!("{}: judges against `{}`", cards(&answer.basis), short(&answer.label)),
        lines: vec![
            items(&answer.basis, false),
            format!(
                "{labels}, taken for a random sample of the items; {} intervals over tasks",
                percent(answer.basis.level)
            ),
        ],
        about: about(&answer.basis),
        headline: crate::headline::judges(answer),
        ..Document::default()
    };
    document.note(Tone::Plain, answer.judges.iter().map(leader));
    document.note(Tone::Care, gaps.iter().cloned());
    let is_measured = answer.judges.iter().any(|judge| judge.accuracy.is_some());
    if !is_measured {
        let line = "labels or verdicts are numbers: --pass POINTS says from where on they pass, and kappa and others follow";
        document.note(Tone::Plain, [line.to_owned()]);
    }
    document.parts.push(Part::Table(agreement(answer)));
    for judge in &answer.judges {
        let name = short(&judge.verdict);
        if !judge.biases.is_empty() {
            document.parts.push(Part::Table(biases(judge, &name, answer.basis.level)));
        }
        document.note(Tone::Care, odd(judge).into_iter().chain(apart(judge)));
        document.parts.push(Part::Table(subjects(judge, &name, answer.basis.level)));
        if !judge.neighbours.is_empty() {
            document.parts.push(Part::Table(neighbours(judge, &name, answer.basis.level)));
        }
    }
    document
}

fn measured(measure: Option<Measure>, is_signed: bool) -> Cell {
    let writing = Writing::shares();
    Cell::interval(measure.map(|it| it.value), measure.and_then(|it| it.interval()), writing, is_signed)
}

/// Returns a row for each measure of each judge.
fn agreement(answer: &Judges) -> Table {
    let row = |judge: &Judge, measure: &'static str, shown: &'static str, found: Option<Measure>| {
        let cells = vec![
            Cell::text(&judge.verdict),
            Cell::Word(measure, shown),
            measured(found, false),
            Cell::Count(judge.labelled),
            Cell::Count(judge.tasks),
        ];
        found.map(|_| cells.into())
    };
    let rows = answer.judges.iter().flat_map(|judge| {
        let accuracy = judge.accuracy.as_ref();
        let rows = [
            row(judge, "agreement", "agreement", judge.agreement.share),
            row(judge, "kappa", "kappa (Cohen)", judge.agreement.kappa),
            row(judge, "ac1", "AC1 (Gwet)", judge.agreement.ac1),
            row(judge, "sensitivity", "passes judged as such", accuracy.and_then(|it| it.sensitivity)),
            row(judge, "specificity", "failures judged as such", accuracy.and_then(|it| it.specificity)),
            row(judge, "balanced-accuracy", "mean of both", accuracy.and_then(|it| it.balanced)),
            row(judge, "base-rate", "labelled a pass", accuracy.map(|it| it.base_rate)),
            row(judge, "verdict-rate", "judged a pass", accuracy.map(|it| it.verdict_rate)),
        ];
        rows.into_iter().flatten()
    });
    let columns = vec![
        Column::name("judge"),
        Column::text("measure"),
        Column::new("value", Kind::Interval { sides: None, level: answer.basis.level }),
        Column::number("labelled"),
        Column::number("tasks"),
    ];
    Table::new("Verdicts against labels", columns, rows.collect())
}

fn biases(judge: &Judge, name: &str, level: f64) -> Table {
    let row = |it: &Bias| {
        let what = match &it.family {
            Some(family) => format!("{} {}", it.field, family),
            None => format!("{}, by one standard deviation", it.field),
        };
        vec![Cell::Text(what), measured(Some(it.effect), true), measured(it.at_equal_labels, true)].into()
    };
    let sides = Some(("the judge takes", "the judge adds"));
    let interval = |key| Column::new(key, Kind::Interval { sides, level });
    let columns = vec![Column::name("by"), interval("effect"), interval("at_equal_labels")];
    let caption = format!("What {name} adds, as a share of the scale, beside what it adds to others");
    Table::new(caption, columns, judge.biases.iter().map(row).collect())
}

fn estimate(found: Option<&Estimate>) -> Cell {
    let ends = found.and_then(Estimate::interval);
    Cell::interval(found.map(|it| it.mean), ends, Writing::shares(), false)
}

fn subjects(judge: &Judge, name: &str, level: f64) -> Table {
    let row = |it: &CorrectedSubject| {
        vec![
            Cell::text(&it.subject),
            estimate(it.corrected.as_ref()),
            estimate(it.labels_only.as_ref()),
            Cell::Share(it.judged),
            Cell::Count(it.labels),
            Cell::Count(it.items),
            Cell::of_number(it.effective_labels, |labels| format!("{labels:.0}")),
            Cell::of_share(it.lambda),
            Cell::of_number(it.imbalance, |errors| format!("{errors:+.1}")),
            Cell::of_text(it.reason.as_deref()),
        ]
        .into()
    };
    let interval = |key| Column::new(key, Kind::Interval { sides: None, level });
    let columns = vec![
        Column::name("subject"),
        interval("corrected"),
        interval("labels_only").labelled("by labels alone"),
        Column::new("judged", Kind::Share).labelled("as judged"),
        Column::number("labels"),
        Column::number("items"),
        Column::number("effective_labels").labelled("worth labels"),
        Column::new("lambda", Kind::Share).hidden(),
        Column::number("imbalance").hidden(),
        Column::text("reason").shown_if(judge.subjects.iter().any(|it| it.reason.is_some())),
    ];
    let caption =
        format!("Subjects by labels and {name} together: the mean over tasks that labels of all would have");
    Table::new(caption, columns, judge.subjects.iter().map(row).collect())
}

fn neighbours(judge: &Judge, name: &str, level: f64) -> Table {
    let needed = |labels: Option<u64>, it: &Neighbours| match labels {
        _ if it.is_settled => Cell::Absent,
        Some(labels) => Cell::Count(labels),
        None => Cell::Without(String::from("more tasks")),
    };
    let row = |it: &Neighbours| {
        vec![
            Cell::text(&it.first),
            Cell::text(&it.second),
            measured(Some(it.difference), true),
            Cell::Flag(it.is_settled),
            needed(it.labels_needed, it),
            needed(it.labels_needed_without_judge, it),
        ]
        .into()
    };
    let columns = vec![
        Column::name("first"),
        Column::text("second"),
        Column::new("difference", Kind::Interval { sides: Some(("second ahead", "first ahead")), level }),
        Column::text("settled"),
        Column::number("labels_needed"),
        Column::number("labels_needed_without_judge"),
    ];
    let caption = format!(
        "Neighbours by {name}, and the labels of each that would settle such a difference in 4 of 5 cases"
    );
    Table::new(caption, columns, judge.neighbours.iter().map(row).collect())
}

/// Says who is first, and whether the judge alone would have said so.
fn leader(judge: &Judge) -> String {
    let name = short(&judge.verdict);
    let known: Vec<&CorrectedSubject> = judge.subjects.iter().filter(|it| it.corrected.is_some()).collect();
    let Some(first) = known.first() else {
        return format!("no subject has enough labels to correct `{name}`: nothing is ranked");
    };
    let judged = judge.subjects.iter().max_by(|one, other| {
        // The first of equals.
        one.judged.total_cmp(&other.judged).then_with(|| other.subject.cmp(&one.subject))
    });
    let alone = match judged {
        Some(other) if other.subject != first.subject => {
            format!("; `{name}` alone puts {} first", short(&other.subject))
        }
        _ => String::new(),
    };
    let mean = first.corrected.map_or(0.0, |it| it.mean);
    let (all, has_mean) = (judge.subjects.len(), known.len());
    if all == 1 {
        return format!(
            "{} has {} without the errors of `{name}`",
            short(&first.subject),
            whole_percent(mean)
        );
    }
    // A pair that shares no task is not among them, and nothing settles it.
    let pair = judge.neighbours.first().filter(|it| [&it.first, &it.second].contains(&&first.subject));
    let settled = if pair.is_some_and(|it| it.is_settled) { "" } else { ", which is not settled" };
    let of = if has_mean < all {
        format!(" of the {has_mean} of {} that have enough labels", count(all, "subject"))
    } else {
        String::new()
    };
    format!("{} is first{of} with {}{settled}{alone}", short(&first.subject), whole_percent(mean))
}

/// Says how many neighbours cannot be compared.
fn apart(judge: &Judge) -> Option<String> {
    let pairs = judge.subjects.iter().filter(|it| it.corrected.is_some()).count().saturating_sub(1);
    let without = pairs.saturating_sub(judge.neighbours.len());
    (without > 0).then(|| {
        format!(
            "{without} of {} of neighbours cannot be compared: too few tasks of both have a label",
            count(pairs, "pair")
        )
    })
}

/// Returns what makes the corrected means doubtful.
fn odd(judge: &Judge) -> Vec<String> {
    let far = judge.subjects.iter().filter(|it| it.imbalance.is_some_and(|errors| errors.abs() >= FAR));
    let names: Vec<String> = far.map(|it| short(&it.subject)).collect();
    let line = crate::text::named(&names).map(|names| {
        format!("the labelled items of {names} are judged other than the rest: labels chosen by their result correct nothing")
    });
    line.into_iter().collect()
}
