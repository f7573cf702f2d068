//! A document with one figure of every kind, for tests and for the page of components. The agents and their numbers are made up.

use karat_core::timestamp::Timestamp;

use super::figure::{Figure, History, Point, Series, profile};
use super::{Cell, Column, Document, Kind, Part, Row, Table, Total};
use crate::estimate::Writing;
use crate::text::Tone;

const NAMES: [&str; 12] = [
    "heron", "kestrel-2", "osprey-large", "wren", "night-jar-pro", "finch-mini", "swift", "avocet-v3",
    "plover", "dunlin-32b", "curlew", "siskin",
];
const DIMENSIONS: [&str; 16] = [
    "task_completion", "accuracy", "reliability", "consistency", "safety", "instruction_following",
    "tool_use", "latency", "cost", "calibration", "recovery", "transparency", "collaboration", "privacy",
    "robustness", "novelty",
];

/// Returns a score of 1000 points: two dimensions, one of them missing, and a gate that takes some of it.
fn waterfall() -> Figure {
    let part = |name: &str, is_step, (before, after): (f64, f64), note: Option<&str>| {
        let tone = if is_step { Tone::Care } else { Tone::Plain };
        let value = if is_step { Cell::Absent } else { Cell::text("0.8") };
        let total = Total { before, after, is_step, shown: format!("{after:.1}") };
        let notes = note.map(|it| (tone, it.to_owned())).into_iter().collect();
        Row { notes, ..vec![Cell::text(name), value, Cell::Total(total)].into() }
    };
    let rows = vec![
        part("accuracy", false, (0.0, 400.0), None),
        part("safety", false, (400.0, 800.0), None),
        part("patience", false, (800.0, 800.0), Some("missing, left out")),
        part(
            "incident open",
            true,
            (800.0, 399.0),
            Some("gate: `incident_open` holds, so the score is capped"),
        ),
    ];
    let columns =
        vec![Column::name("part"), Column::number("value"), Column::new("total", Kind::Total(1000))];
    Figure::Table(Table::new("How the score adds up", columns, rows))
}

/// Returns a page about `subjects` agents and `dimensions` dimensions.
pub fn page(subjects: usize, dimensions: usize) -> Document {
    let names: Vec<String> = (0..subjects).map(name).collect();
    let dimensions: Vec<String> = (0..dimensions).map(dimension).collect();
    let notes = [
        "Rank 1 differs if runs that were stopped count as failures: kestrel-2 would lead.",
        "Within a tie group the data do not tell the agents apart; they are ordered by mean.",
    ];
    let notes = notes.map(|note| Part::Note(Tone::Care, note.to_owned()));
    Document {
        title: String::from("Support agents, spring season"),
        lines: vec![format!("{subjects} agents under the card support-desk@2.1.0, 412 tasks each")],
        about: [
            ("card", "support-desk@2.1.0"),
            ("card digest", "sha256:5d41402abc4b2a76b9719d911017c592ae1f2d3c4b5a69788796a5b4c3d2e1f0"),
            ("as of", "2026-03-31T00:00:00Z"),
            ("seed", "1"),
            ("draws", "1000"),
            ("level", "0.95"),
            ("engine", "karat 0.1.0"),
        ]
        .map(|(label, value)| (label.to_owned(), value.to_owned()))
        .to_vec(),
        parts: notes
            .into_iter()
            .chain(
                [
                    section(
                        "Leaderboard",
                        "Dots are means over tasks, bars their 95% intervals.",
                        vec![leaderboard(&names)],
                    ),
                    section(
                        "Profiles",
                        "The mean value of each agent in each dimension.",
                        vec![profiles(&names, &dimensions), profiles(&names[..subjects.min(2)], &dimensions)],
                    ),
                    section(
                        "Over time",
                        "One panel an agent, the same axes in all.",
                        vec![history(&names[..subjects.min(6)]), history(&names[..subjects.min(1)])],
                    ),
                    section(
                        "Robustness",
                        "Ranks under 1000 draws of the weights around those of the card.",
                        vec![ranks(&names[..subjects.min(8)]), ranks(&names), comparison()],
                    ),
                    section("One score", "How the parts of a score add up.", vec![waterfall()]),
                ]
                .into_iter()
                .flatten(),
            )
            .collect(),
        ..Document::default()
    }
}

fn section(heading: &str, text: &str, figures: Vec<Figure>) -> Vec<Part> {
    let head = [Part::Heading(heading.to_owned()), Part::Note(Tone::Plain, text.to_owned())];
    head.into_iter().chain(figures.into_iter().map(Part::from)).collect()
}

/// Returns the name of an agent; no two have the same.
pub fn name(at: usize) -> String {
    numbered(&NAMES, at, '-')
}

fn dimension(at: usize) -> String {
    numbered(&DIMENSIONS, at, '_')
}

/// Returns a name of a list that begins again with numbers where it ends.
fn numbered(names: &[&str], at: usize, mark: char) -> String {
    let own = names.iter().cycle().nth(at).copied().unwrap_or_default();
    match at / names.len().max(1) {
        0 => own.to_owned(),
        round => format!("{own}{mark}{}", round + 1),
    }
}

/// Returns a number between 0 and 1 that looks random and is the same on every machine.
fn noise(seed: usize) -> f64 {
    let mixed = (seed as u32 ^ 0x9e37).wrapping_mul(0x85eb_ca6b);
    let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
    f64::from((mixed ^ (mixed >> 16)) >> 8) / f64::from(1 << 24)
}

fn leaderboard(names: &[String]) -> Figure {
    let rows = names.iter().enumerate().map(|(at, name)| {
        let point = 0.842 - 0.5 * at as f64 / names.len().max(12) as f64 - 0.01 * noise(at);
        let half = 0.018 + 0.02 * noise(at + 900);
        let estimate = if at == 10 {
            Cell::Without(String::from("no verdict"))
        } else {
            Cell::interval(Some(point), Some((point - half, point + half)), Writing::shares(), false)
        };
        let share = 0.98 - 0.4 * noise(at + 30);
        Row {
            cells: vec![
                Cell::Text(format!("{} to {}", at / 3 * 3 + 1, at / 3 * 3 + 3)),
                Cell::Text(name.clone()),
                estimate,
                Cell::Text(String::from(["gold", "silver", "bronze"][(at / 4).min(2)])),
                Cell::Share(share),
                Cell::Text(((400.0 * noise(at + 77)) as u32 + 12).to_string()),
            ],
            group: Some(at as u32 / 3 + 1),
            ..Row::from(Vec::new())
        }
    });
    let columns = vec![
        Column::number("rank"),
        Column::name("agent"),
        Column::new("mean score", Kind::Interval { sides: None, level: 0.95 }),
        Column::text("tier"),
        Column::new("coverage", Kind::Share).explained(),
        Column::number("tasks").explained(),
    ];
    let caption = "Ranks, means and tie groups. Shaded neighbours are tied at the level 0.95.";
    Figure::Table(Table::new(caption, columns, rows.collect()))
}

fn profiles(names: &[String], dimensions: &[String]) -> Figure {
    let value = |subject: usize, at: usize| match (subject * 31 + at * 7) % 23 {
        3 => Cell::Without(String::from("missing")),
        11 => Cell::Without(String::from("n/a")),
        _ => {
            let point = 0.15 + 0.85 * noise(subject * 57 + at);
            let ends = (names.len() <= 3).then_some(((point - 0.06).max(0.0), (point + 0.05).min(1.0)));
            Cell::interval(Some(point), ends, Writing::shares(), false)
        }
    };
    let weight = |at: usize| (at != 3).then(|| format!("0.{:02}", 4 + at % 9));
    let weighted: Vec<_> =
        dimensions.iter().enumerate().map(|(at, name)| (name.clone(), weight(at))).collect();
    let subjects = names
        .iter()
        .enumerate()
        .map(|(subject, name)| (name.clone(), (0..dimensions.len()).map(|at| value(subject, at)).collect()));
    Figure::Table(profile("Values from 0 to 1 by agent and dimension", &weighted, subjects.collect()))
}

fn history(names: &[String]) -> Figure {
    let series = names.iter().enumerate().map(|(subject, name)| {
        let mut sum = 0.0;
        let points = (0..60).map(|at| {
            let swing = if at == 34 && subject % 2 == 0 { -330.0 } else { 0.0 };
            let value =
                640.0 + 25.0 * subject as f64 + 2.0 * at as f64 + 90.0 * noise(subject * 400 + at) + swing;
            sum += value;
            Point {
                time: Some(Timestamp { milliseconds: 1_767_225_600_000 + at as i64 * 129_600_000 }),
                value: (at % 17 != 5).then_some(value),
                line: (at > 3).then_some(sum / (at + 1) as f64),
                flag: (swing < 0.0)
                    .then(|| String::from("held: a swing of 312 points, review by 2026-03-10")),
                ..Point::default()
            }
        });
        Series { name: name.clone(), points: points.collect() }
    });
    Figure::History(History {
        caption: String::from("Score of each task, and the mean of the window after it"),
        value_label: String::from("score"),
        line_label: String::from("mean of the last 100 tasks"),
        range: Some((0.0, 1000.0)),
        decimals: 1,
        levels: Vec::new(),
        series: series.collect(),
    })
}

fn ranks(names: &[String]) -> Figure {
    let rows = names.iter().zip(1..).map(|(name, rank): (&String, usize)| {
        let near = |at: usize| match at.abs_diff(rank) {
            0 => Cell::Share(0.62),
            1 => Cell::Share(0.19),
            _ => Cell::text(""),
        };
        let own = [Cell::text(name), Cell::text(rank.to_string())];
        own.into_iter().chain((1..=names.len().min(12)).map(near)).collect::<Vec<_>>().into()
    });
    let ranks = (1..=names.len().min(12)).map(|it| Column::new("", Kind::Shade).labelled(&it.to_string()));
    let columns = [Column::name("agent"), Column::number("rank")].into_iter().chain(ranks).collect();
    let caption = "Share of random weights under which each agent takes each rank";
    Figure::Closed(Table::new(caption, columns, rows.collect()))
}

fn comparison() -> Figure {
    let row = |first: &str, second: &str, point: f64, verdict: &str| {
        let ends = Some((point - 0.05, point + 0.045));
        let estimate = Cell::interval(Some(point), ends, Writing::shares(), true);
        vec![Cell::text(format!("{first} and {second}")), estimate, Cell::text(verdict)].into()
    };
    let columns = vec![
        Column::name("pair"),
        Column::new("difference", Kind::Interval { sides: Some(("second", "first")), level: 0.95 }),
        Column::text("verdict"),
    ];
    let rows = vec![
        row("heron", "kestrel-2", 0.012, "not distinguishable"),
        row("kestrel-2", "osprey-large", 0.081, "first ahead"),
        row("osprey-large", "wren", -0.02, "not distinguishable"),
    ];
    Figure::Table(Table::new("Differences of neighbours on shared tasks", columns, rows))
}
