//! The documents of standings: a row for each subject or for each task, and one standing in full.

use std::fmt::Write as _;

use karat_standing::lifecycle::TaskStatus;
use karat_standing::stand::{DimensionStanding, Lived, Period, SubjectStanding, TaskStanding, is_plain};

use super::drawn::{facts, history};
use super::{Case, CaseResult, Cell, Column, Document, Finding, Kind, Level, Part, Row, Table, about};
use crate::answers::basis::Basis;
use crate::answers::notes::{foot, gating, limits, notes, of_certificate, of_weights, warm_up};
use crate::answers::review::OfficialDimension;
use crate::answers::standing::{Standing, StandingDimension};
use crate::answers::task::{Rate, Task};
use crate::answers::{IntervalMethod, IntervalOf, ReviewState, StandingScore};
use crate::document::figure::{Figure, profile};
use crate::document::tiers::{TIERS, ladder, tiers};
use crate::estimate::{Writing, of_gaffke, percent, plain, tenth_percent};
use crate::leaderboard::Settings;
use crate::look_alikes;
use crate::number::cut;
use crate::rows::Rows;
use crate::standing::{Answer, tasks as of_tasks, written};
use crate::text::{Tone, count};

/// The most lines of a history in a standing in full.
const SHOWN: usize = 8;
const DAY_SECONDS: f64 = 86_400.0;

/// Returns the document of the standings `shown`; of one that was asked for by name in full.
pub fn standing(answer: &Answer<'_>, shown: &[SubjectStanding], is_named: bool) -> Document {
    let all: Vec<Standing> = shown.iter().map(|it| Standing::new(answer, it)).collect();
    let settings = Settings { level: answer.level, ..Settings::usual_for(Some(answer.card)) };
    // A standing decays its evidence to its own moment.
    let basis = Basis { decay: None, ..Basis::new(answer.rows, &settings) };
    let mut document = standings(&all, &[]);
    let rules = answer.card.standing.as_ref();
    let plain = rules.is_some_and(is_plain);
    let what = rules.map_or("", |rules| match rules.score {
        StandingScore::Window => "mean of scores",
        StandingScore::Latest => "newest values",
    });
    document.title = format!("{} {what} at {}", answer.card.name(), answer.as_of);
    document.lines = vec![given(answer, &all)];
    document.about = about(&basis);
    document.about.insert(0, (String::from("as of"), answer.as_of.to_string()));
    document.about.extend(answer.events.digest.map(|digest| (String::from("events"), digest.to_string())));
    match all.as_slice() {
        [only] if is_named => {
            let mut course = Vec::new();
            if !answer.standings.by_id {
                course.push(Part::Heading(String::from("Over time")));
                course.push(Figure::History(history(answer, shown)).into());
            }
            return Document { about: document.about, ..drawn(only, course) };
        }
        _ => {
            if let Some(Part::Table(table)) = document.parts.first_mut() {
                table.rows.iter_mut().zip(&all).for_each(|(row, it)| row.notes = notes(it, plain));
            }
            document.note(Tone::Plain, foot(answer));
        }
    }
    document.parts.push(Part::Heading(String::from("Dimensions")));
    document.parts.push(Figure::Table(profiles(shown)).into());
    if !answer.standings.by_id {
        document.parts.push(Part::Heading(String::from("Over time")));
        document.parts.push(Figure::History(history(answer, shown)).into());
    }
    document
}

/// Returns the document of one standing for a page: its facts, its `course` and its ladder before all the rest.
pub fn drawn(standing: &Standing, course: Vec<Part>) -> Document {
    let mut document = in_full(standing, &[]);
    let ladder = standing.tier.as_ref().map(|tier| ladder(tier.held.as_deref(), &tier.ladder));
    let ladder = ladder.filter(|rungs| !rungs.is_empty()).map(|rungs| Figure::Ladder(rungs).into());
    // The only row of the first table, and the table of tiers.
    let told = document.parts.iter_mut().filter_map(|part| match part {
        Part::Table(table) => Some(table),
        _ => None,
    });
    let is_told = |(at, table): &(usize, &mut Table)| *at == 0 || table.caption == TIERS;
    told.enumerate().filter(is_told).for_each(|(_, table)| table.is_drawn = true);
    let facts = Figure::Facts(facts(standing)).into();
    document.parts.splice(0..0, std::iter::once(facts).chain(course).chain(ladder));
    document
}

/// Returns the document of one standing in full, with the `notes` on it.
pub fn in_full(standing: &Standing, notes: &[String]) -> Document {
    let mut document = standings(std::slice::from_ref(standing), notes);
    document.title = head(standing);
    document.lines = vec![format!("{}, at {}", standing.scorecard.name(), standing.as_of)];
    document.lines.extend(notes.iter().cloned());
    if let Some(Part::Table(table)) = document.parts.first_mut() {
        table.is_detail = true;
    }
    document.parts.extend(detail(standing));
    document
}

/// Returns the number of items, the intervals, and what is left out.
fn given(answer: &Answer<'_>, all: &[Standing]) -> String {
    let Answer { rows, standings, .. } = answer;
    let mut line =
        format!("{} of {}", count(rows.rows.len(), "item"), count(standings.subjects.len(), "subject"));
    if all.iter().filter_map(|it| it.interval.as_ref()).any(|it| it.method == IntervalMethod::Gaffke) {
        line.push_str(&of_gaffke(answer.level));
    }
    line.push_str(&left_out(rows, standings.after));
    if standings.by_id {
        line.push_str("; no item has a time, so they are in the order of their ids");
    }
    line
}

fn left_out(rows: &Rows, after: u64) -> String {
    let mut line = String::new();
    let left_out = [(after, "after the moment"), (rows.filtered, "by the filters")];
    for (number, why) in left_out.into_iter().filter(|(number, _)| *number > 0) {
        let _ = write!(line, "; {} left out, {why}", count(size(number), "item"));
    }
    if rows.repeated > 0 {
        let _ = write!(line, "; {} given again, which count once", count(rows.repeated as usize, "item"));
    }
    line
}

/// Returns the document of the standings of subjects, with the `notes` on all of them.
pub fn standings(standings: &[Standing], notes: &[String]) -> Document {
    let first = standings.first();
    let title = first
        .map_or_else(|| String::from("Standings"), |it| format!("{} at {}", it.scorecard.name(), it.as_of));
    let mut findings = Vec::new();
    let mut cases = Vec::new();
    for it in standings {
        let held = it.on_hold.then(|| format!("{} is on hold", it.subject));
        let open = (!it.incidents.is_empty())
            .then(|| format!("{} has {} open", it.subject, count(it.incidents.len(), "incident")));
        let lines: Vec<String> = held.into_iter().chain(open).collect();
        let result = match (lines.is_empty(), it.points) {
            (false, _) => CaseResult::Failed(lines.join("\n")),
            (true, None) => CaseResult::Error(String::from("there is no official score")),
            (true, Some(_)) => CaseResult::Passed,
        };
        let output = it.points.map(|points| format!("official score {points}")).into_iter().collect();
        cases.push(Case {
            class: String::from("standing"),
            name: it.subject.clone(),
            result,
            seconds: None,
            place: None,
            output,
        });
        findings.extend(lines.into_iter().map(|line| Finding::new(Level::Warning, "standing", line)));
    }
    findings.extend(notes.iter().map(|line| Finding::new(Level::Notice, "standing", line.clone())));
    Document {
        name: "standing",
        title,
        headline: crate::headline::standings(standings),
        lines: vec![count(standings.len(), "subject")],
        parts: vec![Part::Table(table(standings))],
        cases,
        findings,
        ..Document::default()
    }
}

fn table(standings: &[Standing]) -> Table {
    let level = standings.iter().find_map(|it| it.interval.as_ref()).map(|it| it.level);
    let row = |it: &Standing| {
        let writing = Writing::points(it.scale);
        let of_official = if it.review.is_some() { Writing::decimals_of(0) } else { writing };
        let ends = it.interval.as_ref().map(|it| (it.low, it.high));
        let score = it.score.as_ref().map(|it| it.value);
        let number = |value, writing: Writing| Cell::of_number(value, |it| writing.number(it));
        let [official, score] = match level {
            Some(_) => [Cell::interval(it.points, ends, of_official, false), number(score, writing)],
            None => {
                [number(it.points, of_official), Cell::interval(score, None, Writing::of(it.scale), false)]
            }
        };
        let tier = it.tier.as_ref();
        let items = it.items.in_window;
        let of = it.items.window_tasks.map_or_else(String::new, |tasks| format!("/{tasks}"));
        vec![
            Cell::text(&it.subject),
            official,
            score,
            Cell::of_text(tier.and_then(|it| it.held.clone())),
            Cell::of_text(tier.and_then(|it| it.earned.clone())),
            Cell::of_text(tier.and_then(|it| it.single_blocker.clone())),
            Cell::of_number(it.share.as_ref().map(|it| it.share), tenth_percent),
            Cell::Flag(it.on_hold),
            Cell::Count(it.incidents.len() as u64),
            Cell::Number(items as f64, format!("{items}{of}")),
            Cell::Count(it.evaluations),
            Cell::of_number(Some(it.coverage), tenth_percent),
        ]
    };
    let any = |is: &dyn Fn(&Standing) -> bool| standings.iter().any(is);
    let best = standings.first().map_or(1, |it| it.scale);
    let [official, score] = match level {
        Some(level) => [Kind::Interval { sides: None, level }, Kind::Number],
        None => [Kind::Leading, Kind::Bar(best)],
    };
    let has_tiers = any(&|it| it.tier.is_some());
    let mut columns = vec![
        Column::name("subject"),
        Column::new("official", official).explained(),
        Column::new("score", score),
        Column::text("tier").shown_if(has_tiers),
        Column::text("earned_tier").hidden(),
        Column::text("blocked_by").wide().shown_if(has_tiers),
        Column::number("share").shown_if(any(&|it| it.share.is_some())),
        Column::text("on_hold").wide().shown_if(any(&|it| it.on_hold)),
        Column::number("incidents").wide().shown_if(any(&|it| !it.incidents.is_empty())),
        Column::number("items"),
        Column::number("evaluations").hidden(),
        Column::number("coverage").hidden(),
    ];
    let mut rows: Vec<Row> = standings.iter().map(|it| row(it).into()).collect();
    // Programs see the same columns whatever the scorecard.
    if level.is_none() {
        for (at, end) in ["low", "high"].into_iter().enumerate() {
            columns.insert(2 + at, Column::number(end).hidden());
            rows.iter_mut().for_each(|row| row.cells.insert(2 + at, Cell::Absent));
        }
    }
    let caption = "The official score, and the current one before reviews and gates";
    Table { is_titled: true, ..Table::new(caption, columns, rows) }
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Returns a share cut to six decimals, never rounded up.
pub(super) fn number(share: f64) -> String {
    let shown = (share * 1e6 + 1e-6).floor() / 1e6;
    shown.to_string()
}

fn head(standing: &Standing) -> String {
    let shown = standing.points.map(number);
    let shown = shown.map_or_else(|| "no score".to_owned(), |it| format!("{it} of {}", standing.scale));
    let tier = standing.tier.as_ref();
    let tier =
        tier.map_or_else(String::new, |tier| format!(", tier {}", tier.held.as_deref().unwrap_or("none")));
    format!("{}: {shown}{tier}", standing.subject)
}

/// The parts of a standing in full.
#[derive(Default)]
struct Detail {
    parts: Vec<Part>,
}

impl Detail {
    fn head(&mut self, text: impl Into<String>) {
        self.parts.push(Part::Heading(text.into()));
    }

    fn note(&mut self, tone: Tone, text: impl Into<String>) {
        self.parts.push(Part::Note(tone, text.into()));
    }

    fn notes(&mut self, notes: impl IntoIterator<Item = (Tone, String)>) {
        self.parts.extend(notes.into_iter().map(|(tone, text)| Part::Note(tone, text)));
    }
}

/// Returns one standing in full: the score, its dimensions, the review, the tier and the conditions of the next one.
fn detail(standing: &Standing) -> Vec<Part> {
    let mut parts = Detail::default();
    let named = [(standing.subject.as_str(), &standing.alike)];
    for line in standing.weights.iter().flat_map(of_weights).chain(look_alikes::sentences(named)) {
        parts.note(Tone::Care, line);
    }
    score(standing, &mut parts);
    if !standing.dimensions.is_empty() {
        parts.head("Dimensions");
        parts.parts.push(Part::Table(dimensions(&standing.dimensions)));
        let sure =
            standing.confidence.map_or_else(String::new, |sure| format!(", confidence {}", number(sure)));
        parts.note(Tone::Plain, format!("coverage {}{sure}", number(standing.coverage)));
    }
    review(standing, &mut parts);
    tier(standing, &mut parts);
    share(standing, &mut parts);
    if standing.history.len() > 1 {
        parts.head("History");
        parts.parts.push(Part::Table(moments(standing)));
    }
    parts.parts
}

fn score(standing: &Standing, parts: &mut Detail) {
    let items = &standing.items;
    let of = items.window_tasks.map_or_else(String::new, |of| format!(" of at most {of}"));
    let what = match standing.kind {
        Some(StandingScore::Latest) => "the newest values of",
        _ => "the mean over",
    };
    let mut line = format!("{what} {}{of}", count(size(items.in_window), "item"));
    if items.distinct_tasks > 0 && items.distinct_tasks < items.in_window {
        let _ = write!(line, ", of {}", count(size(items.distinct_tasks), "task"));
    }
    if items.seen > items.in_window {
        let _ = write!(line, ", {} seen", items.seen);
    }
    if let Some((first, last)) = items.first.as_ref().zip(items.last.as_ref()) {
        let _ = write!(line, "; {first} to {last}");
    }
    parts.head("Score");
    parts.note(Tone::Plain, line);
    if let Some(score) = &standing.score {
        let exact = if score.exact.len() > 40 { String::new() } else { format!(" ({})", score.exact) };
        parts.note(
            Tone::Plain,
            format!("{}{exact} of a perfect score", number(score.value / f64::from(standing.scale))),
        );
    }
    if let Some(it) = &standing.interval {
        let how = format!("{}, {}", percent(it.level), count(size(it.tasks), "task"));
        let ends = Writing::points(standing.scale).ends(Some((it.low, it.high)));
        let whose =
            if standing.interval_of == Some(IntervalOf::Candidate) { ", of the candidate score" } else { "" };
        parts.note(Tone::Plain, format!("{ends} points{whose} ({how})"));
    }
    parts.notes(
        standing
            .interval_of
            .and_then(IntervalOf::without)
            .map(|why| (Tone::Plain, format!("no interval: {why}"))),
    );
    for (left_out, why) in
        [(items.excluded, "because of the outcome"), (items.unscored, "without a score or a value")]
    {
        if left_out > 0 {
            parts.note(Tone::Care, format!("{} left out, {why}", count(size(left_out), "item")));
        }
    }
    parts.notes(gating(standing).into_iter().chain(limits(standing)));
}

fn dimensions(all: &[StandingDimension]) -> Table {
    let days = |age: i64| age as f64 / DAY_SECONDS;
    let row = |it: &StandingDimension| {
        let why = if it.applies { "not measured" } else { "does not apply" };
        let lost = it.points_lost.as_deref().and_then(ratio);
        let cells = vec![
            Cell::text(&it.key),
            Cell::of_number(it.measured, number),
            Cell::of_number(it.age_seconds.map(days), |it| format!("{it:.1}")),
            Cell::of_number(lost, |it| format!("{it:.1}")),
            Cell::interval(it.value, None, Writing::shares(), false),
            Cell::of_number(it.confidence, |it| format!("{it:.2}")),
            Cell::of_text(it.measured.is_none().then_some(why)),
        ];
        cells.into()
    };
    let columns = vec![
        Column::name("dimension"),
        Column::number("measured"),
        Column::number("age_days"),
        Column::number("points_lost"),
        Column::new("value", Kind::Bar(1)),
        Column::number("confidence").shown_if(all.iter().any(|it| it.confidence.is_some())),
        Column::text("why").shown_if(all.iter().any(|it| it.measured.is_none())),
    ];
    let caption = "Values after decay";
    Table { is_titled: true, ..Table::new(caption, columns, all.iter().map(row).collect()) }
}

/// Returns the quotient of a fraction that is written out.
fn ratio(text: &str) -> Option<f64> {
    match text.split_once('/') {
        Some((numerator, denominator)) => {
            Some(numerator.parse::<f64>().ok()? / denominator.parse::<f64>().ok()?)
        }
        None => text.parse().ok(),
    }
}

/// Returns the dimensions of the official score while those of another one are shown.
fn official_dimensions(all: &[OfficialDimension]) -> Table {
    let row = |it: &OfficialDimension| -> Row {
        vec![
            Cell::text(&it.key),
            Cell::of_number(Some(it.weight), plain),
            Cell::interval(it.value, None, Writing::shares(), false),
            Cell::of_number(it.points.map(|points| points as f64), plain),
        ]
        .into()
    };
    let columns = vec![
        Column::name("dimension"),
        Column::number("weight"),
        Column::new("value", Kind::Bar(1)),
        Column::number("points").shown_if(all.iter().any(|it| it.points.is_some())),
    ];
    let caption = "Official score by dimension";
    Table { is_detail: true, ..Table::new(caption, columns, all.iter().map(row).collect()) }
}

fn review(standing: &Standing, parts: &mut Detail) {
    let Some(review) = &standing.review else { return };
    parts.head("Review");
    if let Some(held) = &review.held {
        let why = if held.flags.was_anomalous { "a swing" } else { "a cumulative swing" };
        parts.note(
            Tone::Care,
            format!("{} points of {} are held, {why}; decide by {}", held.points, held.time, held.deadline),
        );
    } else {
        parts.note(Tone::Plain, "no score is held");
    }
    if let Some(official) = &review.official {
        let line =
            format!("the score of {} is the official one, now {} points", official.since, official.points);
        parts.note(Tone::Plain, line);
        if review.held.is_some() {
            parts.parts.push(Part::Table(official_dimensions(&official.dimensions)));
        }
    }
    // Scores committed at once are not listed.
    let decided: Vec<_> = review
        .transitions
        .iter()
        .filter(|line| line.state != ReviewState::Committed || line.flags.was_anomalous)
        .collect();
    for line in decided.iter().skip(decided.len().saturating_sub(SHOWN)) {
        let by: Vec<String> =
            line.decisions.iter().map(|it| format!(" by {}: {}", it.reviewer, it.reason)).collect();
        let delta = line.flags.delta.map_or_else(String::new, |delta| format!(" ({delta:+})"));
        let state = line.state.name().replace('_', " ");
        parts.note(
            Tone::Plain,
            format!("{} {} points{delta}, {state}{}", line.time, line.points, by.join(",")),
        );
    }
    for refusal in &review.refusals {
        let at = refusal.line.map(|line| line.to_string()).unwrap_or_default();
        parts.note(Tone::Care, format!("line {at} of the events: {}", refusal.reason));
    }
}

fn tier(standing: &Standing, parts: &mut Detail) {
    let Some(tier) = &standing.tier else { return };
    parts.head(format!("Tier {}", tier.held.as_deref().unwrap_or("none")));
    if let Some(earned) = tier.earned.as_ref().filter(|_| tier.earned != tier.held) {
        parts.note(Tone::Plain, format!("earned at this moment: {earned}"));
    }
    parts.notes(tier.certificate.iter().flat_map(of_certificate));
    for change in tier.changes.iter().skip(tier.changes.len().saturating_sub(SHOWN)) {
        let name = |tier: &Option<String>| tier.clone().unwrap_or_else(|| String::from("none"));
        let (from, to, cause) = (name(&change.from), name(&change.to), change.cause.name());
        parts.note(Tone::Plain, format!("{} {from} to {to}, {cause}", change.time));
    }
    match (&tier.next, tier.missing.as_slice()) {
        (None, _) => parts.note(Tone::Good, "the highest tier"),
        (Some(next), missing) => {
            let (why, tone) = match missing.len() {
                1 => (", for one reason", Tone::Care),
                _ => ("", Tone::Plain),
            };
            parts.head(format!("Not {next} yet{why}"));
            missing.iter().for_each(|it| parts.note(tone, it.text.clone()));
        }
    }
    parts.parts.push(Part::Table(tiers(&tier.ladder)));
}

fn share(standing: &Standing, parts: &mut Detail) {
    let Some(part) = &standing.share else { return };
    let case = part.case.map(|case| case.name().replace('-', " ")).unwrap_or_default();
    let whole = part.whole.map_or_else(String::new, |whole| format!(", {whole} as a whole number"));
    parts.head("Share");
    parts.note(Tone::Plain, format!("{:.4}%{whole}; {case}", part.share * 100.0));
    parts.notes(warm_up(standing));
}

fn moments(standing: &Standing) -> Table {
    let writing = Writing::of(standing.scale);
    let all = &standing.history;
    let rows = all.iter().enumerate().map(|(at, it)| {
        let cells = vec![
            Cell::of_text(it.time.clone()),
            Cell::interval(it.score, None, writing, false),
            Cell::of_number(it.official, plain),
            Cell::of_text(it.tier.clone()),
        ];
        Row { is_detail: at + SHOWN < all.len(), ..cells.into() }
    });
    let columns = vec![
        Column::text("time"),
        Column::new("score", Kind::Bar(standing.scale)),
        Column::number("official").explained(),
        Column::text("tier").shown_if(all.iter().any(|it| it.tier.is_some())),
    ];
    let hidden = all.len().saturating_sub(SHOWN);
    let caption = match hidden {
        0 => String::new(),
        _ => format!("{} before", count(hidden, "moment")),
    };
    Table::new(caption, columns, rows.collect())
}

fn profiles(shown: &[SubjectStanding]) -> Table {
    let parts = shown.first().map_or(&[][..], |standing| &standing.dimensions);
    let dimension = |part: &DimensionStanding| (part.key.clone(), Some(cut(part.weight.millionths(), 6, 4)));
    let value = |part: &DimensionStanding| match part.reading {
        Some(reading) => Cell::interval(Some(reading as f64 / 1e9), None, Writing::shares(), false),
        None if part.applies => Cell::Without("missing".to_owned()),
        None => Cell::Without("does not apply".to_owned()),
    };
    let subject = |it: &SubjectStanding| (it.subject.clone(), it.dimensions.iter().map(value).collect());
    let caption =
        "Value by subject and dimension after decay, 0 to 1. A dimension that was not measured has no number";
    profile(caption, &parts.iter().map(dimension).collect::<Vec<_>>(), shown.iter().map(subject).collect())
}

/// Returns the document of the standings of tasks, whose answers are `all`.
pub fn tasks(answer: &of_tasks::Answer<'_>, all: &[Task]) -> Document {
    let of_tasks::Answer { card, rules, rows, standings, as_of, level } = answer;
    let rate = |rate: Option<&Rate>| {
        let ends = rate.map(|it| (it.low, it.high));
        Cell::interval(rate.map(|it| it.value), ends, Writing::shares(), false)
    };
    let row = |(it, standing): (&Task, &TaskStanding)| {
        let cells = vec![
            Cell::text(&it.task),
            Cell::Count(it.subjects),
            Cell::Count(it.items.attempts),
            Cell::Count(it.completed),
            Cell::Count(it.won),
            Cell::Count(it.drawn),
            Cell::Count(it.lost),
            Cell::of_share(it.completion_rate.as_ref().map(|it| it.value)),
            rate(it.win_rate.as_ref()),
            Cell::of_text(it.calibration.as_ref().and_then(|it| it.difficulty).map(|it| it.name())),
            Cell::of_text(it.lifecycle.as_ref().map(|it| it.status.name())),
        ];
        Row { notes: notes_on_task(answer, standing), ..cells.into() }
    };
    let columns = vec![
        Column::name("task"),
        Column::number("subjects").wide(),
        Column::number("attempts"),
        Column::number("completed").wide(),
        Column::number("won").wide(),
        Column::number("drawn").wide(),
        Column::number("lost").wide(),
        Column::new("completion_rate", Kind::Share),
        Column::new("win_rate", Kind::Interval { sides: None, level: *level }),
        Column::text("difficulty").shown_if(rules.calibration.is_some()),
        Column::text("status").shown_if(rules.lifecycle.is_some() && !standings.by_id),
    ];
    let line = format!(
        "{} at {}; {} intervals of the win rate{}",
        count(rows.rows.len(), "attempt"),
        count(standings.tasks.len(), "task"),
        percent(*level),
        left_out(rows, standings.after)
    );
    let rows = all.iter().zip(&standings.tasks).map(row).collect();
    let mut document = Document {
        name: "standing",
        title: format!("{} tasks at {as_of}", card.name()),
        lines: vec![line],
        parts: vec![Part::Table(Table { is_titled: true, ..Table::new("Tasks", columns, rows) })],
        ..Document::default()
    };
    document.note(Tone::Plain, notes_on_tasks(answer));
    document
}

/// Returns the notes on one task.
fn notes_on_task(answer: &of_tasks::Answer<'_>, task: &TaskStanding) -> Vec<(Tone, String)> {
    let mut notes = Vec::new();
    if let Some((rules, life)) = answer.rules.lifecycle.zip(task.life.as_ref()) {
        let end = |period: &Period| period.start_seconds.saturating_add(i64::from(rules.period_seconds));
        let status = life.life.status;
        if let Some(period) = since(life).filter(|_| status != TaskStatus::Active) {
            let tone = if status == TaskStatus::Quarantined { Tone::Care } else { Tone::Bad };
            notes.push((tone, format!("{} since {}", status.name(), written(end(period)))));
        }
        if let Some(ahead) = life.ahead {
            let (what, how) = match ahead.is_solved {
                true => ("solved", ahead.status.name()),
                // It was broken for so long that it is removed.
                false if ahead.status == TaskStatus::Deprecated => ("failed", "removed"),
                false => ("failed", ahead.status.name()),
            };
            let row = if ahead.is_solved { life.life.solved_periods } else { life.life.failed_periods };
            let so_far = count(row as usize, "period");
            let line = format!("{what} by most in {so_far} in a row; {how} after {} more", ahead.periods);
            notes.push((Tone::Care, line));
        }
        // Changes without effect are only in the lines of JSON.
        notes.extend(life.running.filter(|running| running.outcome.after != status).map(|running| {
            let outcome = running.outcome;
            let (name, from) = (outcome.after.name(), written(running.start_seconds));
            let of = count(outcome.scores, "subject");
            let (solved, failed) = (outcome.solved, outcome.failed);
            let text = format!(
                "{name} if the period since {from} ended now: {solved} solved, {failed} failed of {of}"
            );
            (Tone::Plain, text)
        }));
    }
    if let Some((rules, found)) = answer.rules.calibration.as_ref().zip(task.calibrated.as_ref())
        && found.completed_missing > 0
    {
        let (completed, needed) = (task.results.completed, rules.completed_min);
        notes.push((Tone::Plain, format!("no difficulty yet: {completed} of {needed} completed")));
    }
    if task.results.undecided > 0 {
        let left_out = count(task.results.undecided as usize, "item");
        notes.push((Tone::Care, format!("{left_out} in no rate: their outcome is unknown")));
    }
    notes
}

/// Returns the period that gave the task its status.
fn since(life: &Lived) -> Option<&Period> {
    life.periods.iter().rev().find(|period| period.outcome.before != period.outcome.after)
}

/// Returns the notes on all tasks.
fn notes_on_tasks(answer: &of_tasks::Answer<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(life) = answer.rules.lifecycle {
        let rules = life.rules;
        notes.push(if answer.standings.by_id {
            "no item has a time, so periods are unknown, and whether tasks are still useful".to_owned()
        } else {
            format!(
                "solved: above {}; failed: below {}; by most: more than {} of the subjects of a period",
                rules.solved_above, rules.failed_below, rules.share_above
            )
        });
    }
    let excluded: u64 = answer.standings.tasks.iter().map(|task| task.results.excluded).sum();
    if excluded > 0 {
        notes.push(format!("{} excluded because of the outcome", count(excluded as usize, "item")));
    }
    let untimed = answer.standings.without_time.len();
    if untimed > 0 {
        notes.push(format!("{} left out for want of a time", count(untimed, "item")));
    }
    notes
}
