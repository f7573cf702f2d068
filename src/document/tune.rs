//! The document of tuned weights: a row for each dimension, the gain on held-out cases, and what is proposed.

use super::{Cell, Column, Document, Kind, Part, Table};
use crate::answers::tune::{Tune, TunePart, TunedWeight};
use crate::estimate::{Writing, percent};
use crate::text::{Tone, clean, count, list};

/// Returns the document of tuned weights; `written` names the files of the proposal.
pub fn tune(answer: &Tune, written: &[String]) -> Document {
    let what = answer.outcome.as_deref();
    let what = what.map_or_else(|| String::from("pairs"), |field| format!("`{}`", clean(field)));
    let part = |part: &TunePart| count(part.cases as usize, "case");
    let split = format!(
        "found on {}, judged on {} in {}; no {} is in both; seed {}",
        part(&answer.learned),
        part(&answer.held_out),
        count(answer.held_out.clusters as usize, &answer.unit),
        answer.unit,
        answer.seed
    );
    let left_out = (answer.left_out > 0)
        .then(|| format!("left out, without an outcome or a value: {}", answer.left_out));
    let card = &answer.scorecard;
    let mut document = Document {
        name: "tune",
        title: format!("{}: weights that predict {what}", card.name()),
        lines: std::iter::once(split).chain(left_out).collect(),
        about: vec![
            (format!("scorecard {}", card.name()), card.digest.to_string()),
            (String::from("level"), answer.level.to_string()),
            (String::from("resamples"), answer.resamples.to_string()),
            (String::from("seed"), answer.seed.to_string()),
            (String::from("engine"), answer.engine.clone()),
        ],
        parts: vec![Part::Table(weights(answer)), Part::Heading(String::from("Held out"))],
        ..Document::default()
    };
    document.parts.push(Part::Table(gain(answer)));
    document.note(
        Tone::Plain,
        [format!(
            "concordance is the share of {} pairs in the right order, a coin has 0.5; {} intervals from {} resamples of \
             clusters, of the weights from {} fits; composite without rules and gates",
            answer.compared_pairs,
            percent(answer.level),
            answer.resamples,
            answer.refits
        )],
    );
    let verdict = match &answer.proposal {
        None => String::from("nothing is proposed: the interval of the gain contains no gain"),
        Some(proposal) if written.is_empty() => format!("better than the own weights: {}", proposal.id),
        Some(proposal) => format!("better than the own weights: {} in {}", proposal.id, list(written)),
    };
    let tone = if answer.proposal.is_some() { Tone::Good } else { Tone::Plain };
    document.note(tone, [verdict]);
    document
}

fn weights(answer: &Tune) -> Table {
    let number = |it: f64| Cell::of_number(Some(it), |it| Writing::shares().number(it));
    let row = |TunedWeight { key, own, tuned, fitted }: &TunedWeight| {
        let ends = Some((fitted.low, fitted.high));
        let fitted = Cell::interval(Some(fitted.estimate), ends, Writing::shares(), false);
        vec![Cell::text(key), number(*own), number(*tuned), fitted].into()
    };
    let columns = vec![
        Column::name("dimension"),
        Column::number("own"),
        Column::number("tuned"),
        Column::new("fitted", Kind::Interval { sides: None, level: answer.level }),
    ];
    Table::new("Weights", columns, answer.dimensions.iter().map(row).collect())
}

fn gain(answer: &Tune) -> Table {
    let number = |it: f64| Cell::of_number(Some(it), |it| Writing::shares().number(it));
    let ends = Some((answer.gain.low, answer.gain.high));
    let cells = vec![
        Cell::text(&answer.measure),
        number(answer.own_concordance),
        number(answer.tuned_concordance),
        Cell::interval(Some(answer.gain.estimate), ends, Writing::shares(), true),
    ];
    let columns = vec![
        Column::name("measure"),
        Column::number("own"),
        Column::number("tuned"),
        Column::new("gain", Kind::Interval { sides: Some(("worse", "better")), level: answer.level }),
    ];
    Table::new("Own and tuned weights on cases that they have not seen", columns, vec![cells.into()])
}
