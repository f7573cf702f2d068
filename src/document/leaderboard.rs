//! The document of a leaderboard: a row and a test case for each subject, and a finding for each that fails a gate.

use super::cost::cost;
use super::stress::robustness;
use super::{Case, CaseResult, Cell, Column, Document, Finding, Kind, Level, Part, Row, Table, about};
use crate::answers::basis::{Basis, Estimate};
use crate::answers::leaderboard::notes::notes;
use crate::answers::leaderboard::{
    Attempts, Leaderboard, LeaderboardAnswer, LeaderboardRow, MEAN, OFFICIAL, SumsUsed,
};
use crate::answers::{IntervalMethod, LeaderboardMethod, StopsAt};
use crate::estimate::{Writing, of_gaffke, percent, ranks};
use crate::text::{NAMED, Tone, count, list, named};
use karat_core::facts::Outcome as CoreOutcome;
use std::collections::BTreeSet;

/// A subject that fails a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failing {
    /// The subject.
    pub subject: String,
    /// The group of its leaderboard.
    pub group: Option<String>,
    /// The line of the gate.
    pub line: String,
    /// True if there is nothing to compare, so that nothing decides it.
    pub is_open: bool,
}

/// Context that leaderboards are shown with, beside the answer.
#[derive(Default)]
pub struct View<'a> {
    /// The subjects that fail a gate.
    pub failing: &'a [Failing],
    /// The dimensions in the order of the scorecard; those that are not named follow by name.
    pub dimensions: &'a [(String, String)],
    /// The sentences on items that are odd.
    pub gaps: &'a [String],
    /// The figures of each leaderboard in turn, for a page.
    pub figures: Vec<Vec<Part>>,
}

/// Returns the document of leaderboards.
pub fn leaderboard(answer: &LeaderboardAnswer, view: View<'_>) -> Document {
    let View { failing, dimensions, gaps, mut figures } = view;
    let mut findings: Vec<Finding> = failing
        .iter()
        .map(|it| {
            Finding::new(if it.is_open { Level::Warning } else { Level::Error }, "gate", it.line.clone())
        })
        .collect();
    findings.sort_by_key(|finding| finding.level);
    let mut cases = Vec::new();
    for board in &answer.leaderboards {
        cases.extend(board.rows.iter().map(|row| case(answer, board, row, failing)));
        for it in failing.iter().filter(|it| it.group == board.group) {
            if board.rows.iter().all(|row| row.subject != it.subject) {
                cases.push(Case { result: CaseResult::Error(it.line.clone()), ..bare(board, &it.subject) });
            }
        }
    }
    let mut document = Document {
        name: "leaderboard",
        title: head(answer),
        headline: crate::headline::leaderboard(answer),
        lines: std::iter::once(items(&answer.basis, has_intervals(answer)))
            .chain(answer.sums.iter().flat_map(of_sums))
            .chain(answer.leaderboards.iter().flat_map(|board| {
                stopping(board.rows.iter().map(|row| (row.subject.as_str(), row.attempts_stop_at)))
            }))
            .collect(),
        about: about(&answer.basis),
        cases,
        findings,
        ..Document::default()
    };
    document.note(Tone::Care, gaps.iter().cloned());
    let columns = Columns::of(answer, dimensions);
    figures.resize(answer.leaderboards.len(), Vec::new());
    for (at, (board, figures)) in answer.leaderboards.iter().zip(figures).enumerate() {
        document.parts.extend(board.group.iter().cloned().map(Part::Heading));
        let pointer = format!("/leaderboards/{at}");
        document.parts.push(Part::Table(columns.table(&answer.basis, answer.method, board, &pointer)));
        document.parts.extend(bridge(&answer.basis, board).map(Part::Table));
        let notes = notes(&answer.basis, answer.method, board);
        document.parts.extend(notes.into_iter().map(|(tone, line)| Part::Note(tone, line)));
        document.parts.extend(attempts(board).into_iter().map(Part::Table));
        document.note(Tone::Care, left_out(board).into_iter().chain(unfixed(board)));
        document.parts.extend(figures);
        document.parts.extend(board.cost.iter().flat_map(|it| cost(it, answer.basis.level)));
        document.parts.extend(board.robustness.iter().flat_map(|it| robustness(answer.basis.scale, it)));
    }
    document
}

/// Returns the scorecards, and what ranks are by.
fn head(answer: &LeaderboardAnswer) -> String {
    let first = answer.leaderboards.first();
    format!("{} {}", cards(&answer.basis), first.map_or_else(String::new, by))
}

/// Returns the first scorecards.
pub fn cards(basis: &Basis) -> String {
    let cards = basis.card_names();
    let shown: Vec<&str> = cards.iter().take(NAMED).map(String::as_str).collect();
    let more = if cards.len() > NAMED { " and more" } else { "" };
    format!("{}{more}", list(&shown))
}

/// Returns what the ranks of a leaderboard are by.
pub(super) fn by(board: &Leaderboard) -> String {
    match (board.by.as_str(), &board.as_of, &board.fact) {
        (OFFICIAL, Some(as_of), _) => format!("by official score at {as_of}"),
        (OFFICIAL, None, _) => String::from("by official score"),
        (MEAN, _, _) => String::from("by mean of runs"),
        (key, _, Some(fact)) => {
            format!("by {key}, {} first", if fact.lower_is_better { "lowest" } else { "highest" })
        }
        (key, _, None) => format!("by {key}"),
    }
}

/// Returns true if intervals come from tasks.
pub fn has_intervals(answer: &LeaderboardAnswer) -> bool {
    let is_of_tasks =
        |row: &LeaderboardRow| row.score.method.is_some_and(|method| method != IntervalMethod::Wilson);
    answer.leaderboards.iter().any(|board| board.rows.iter().any(is_of_tasks))
}

/// Returns the number of items, and the method of intervals if there are any.
pub fn items(basis: &Basis, has_intervals: bool) -> String {
    let items = &basis.items;
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let mut line =
        format!("{} of {}", count(size(items.count), "item"), count(size(items.subjects), "subject"));
    if has_intervals {
        line.push_str(&of_gaffke(basis.level));
    }
    if items.first_attempts {
        line.push_str(FIRSTS);
    }
    for (number, what) in [(items.left_out, "left out"), (items.repeated, "given again, which count once")] {
        if let Some(number) = number.filter(|number| *number > 0) {
            line.push_str(&format!("; {} {what}", count(size(number), "item")));
        }
    }
    line
}

/// Says what sums an answer is from, and what they do not tell.
fn of_sums(sums: &SumsUsed) -> Vec<String> {
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let mut lines = vec![format!(
        "from sums: {} about {}; they do not tell {}",
        count(size(sums.rows), "row"),
        count(size(sums.cells), "cell"),
        list(&sums.without)
    )];
    if sums.broken > 0 {
        let broken = count(size(sums.broken), "item");
        let are = if sums.broken == 1 { "is" } else { "are" };
        lines.push(format!("{broken} more {are} broken: subjects with broken items are left out"));
    }
    lines
}

/// The words of an answer about first attempts.
pub(super) const FIRSTS: &str = "; only the first attempt of each task";

/// The columns of all leaderboards of an answer: programs see the same ones in each.
struct Columns {
    dimensions: Vec<String>,
    extras: Vec<String>,
}

impl Columns {
    fn of(answer: &LeaderboardAnswer, order: &[(String, String)]) -> Self {
        let rows = answer.leaderboards.iter().flat_map(|board| &board.rows);
        let keys = rows.filter_map(|row| row.dimensions.as_ref()).flat_map(|all| all.keys().cloned());
        let mut dimensions: Vec<String> = keys.collect::<BTreeSet<_>>().into_iter().collect();
        let place = |key: &String| order.iter().position(|(other, _)| other == key).unwrap_or(usize::MAX);
        dimensions.sort_by_key(place);
        let mut extras: Vec<String> = Vec::new();
        for key in answer.leaderboards.iter().flat_map(|board| &board.columns) {
            if !extras.contains(key) {
                extras.push(key.clone());
            }
        }
        Self { dimensions, extras }
    }

    fn table(&self, basis: &Basis, method: LeaderboardMethod, board: &Leaderboard, pointer: &str) -> Table {
        let any = |is: &dyn Fn(&LeaderboardRow) -> bool| board.rows.iter().any(is);
        let is_official = any(&|row| row.official.is_some());
        let has_tiers = any(&|row| row.official.as_ref().is_some_and(|it| it.tier.is_some()));
        // The number that is ranked is the one with an interval.
        let interval = Kind::Interval { sides: None, level: basis.level };
        let [official, mean] = if is_official { [interval, Kind::Number] } else { [Kind::Leading, interval] };
        let mut columns = vec![
            // For people each group has a heading.
            Column::text("group").hidden(),
            Column::new("rank", Kind::Rank),
            Column::number("rank_worst").hidden(),
            Column::new("tied", Kind::Ties).explained().shown_if(any(&|row| !row.ties().is_empty())),
            Column::name("subject"),
            Column::new("official", official).explained().at("score/mean", "score").shown_if(is_official),
            Column::text("tier").wide().shown_if(has_tiers),
            Column::new("mean", mean).explained().at("mean/mean", if is_official { "" } else { "score" }),
            Column::text("bounds").explained().shown_if(any(&|row| row.bounds.is_some())),
            Column::number("tasks").explained().at("tasks", ""),
            Column::number("items").hidden(),
        ];
        columns.extend(CoreOutcome::ALL.iter().map(|outcome| Column::number(outcome.name()).hidden()));
        let dimensions = self.dimensions.iter();
        columns.extend(dimensions.map(|key| Column::number(&format!("dimension.{key}")).hidden()));
        columns.extend(self.extras.iter().map(|key| Column::number(key).labelled(key)));
        let at = board.as_of.as_ref().map_or_else(String::new, |as_of| format!(" at {as_of}"));
        let caption = match method {
            _ if is_official => format!("Subjects by official score{at}"),
            LeaderboardMethod::Pairs if board.letters.is_some() => {
                String::from("Subjects by rank; a comparison does not separate two that are joined as tied")
            }
            _ => String::from("Subjects by mean"),
        };
        let row = |(at, row): (usize, &LeaderboardRow)| Row {
            is_behind: row.is_behind(),
            pointer: format!("{pointer}/rows/{at}"),
            notes: held(row),
            ..self.row(basis, board, row).into()
        };
        let rows = board.rows.iter().enumerate().map(row).collect();
        Table { is_list: true, is_titled: true, ..Table::new(caption, columns, rows) }
    }

    fn row(&self, basis: &Basis, board: &Leaderboard, row: &LeaderboardRow) -> Vec<Cell> {
        let writing = board.writing(basis.scale);
        let official = row.official.as_ref();
        let [best, worst] = row.shown_ranks();
        let mean = row.mean.map(|it| it.mean);
        let bounds = row.bounds.map(|it| writing.ends(Some((it.low, it.high))));
        let mut cells = vec![
            Cell::of_text(board.group.clone()),
            Cell::Number(best.into(), ranks([best, worst])),
            Cell::Count(worst.into()),
            Cell::of_text(Some(row.ties()).filter(|ties| !ties.is_empty())),
            Cell::text(&row.subject),
            Cell::interval(official.map(|it| it.points), row.score.interval(), writing, false),
            Cell::of_text(official.and_then(|it| it.tier.clone())),
            match official {
                Some(_) => Cell::of_number(mean, |it| writing.number(it)),
                None => Cell::interval(mean, row.score.interval(), writing, false),
            },
            Cell::of_text(bounds),
            Cell::Count(row.tasks),
            Cell::Count(row.items),
        ];
        let counts =
            |outcome: &CoreOutcome| row.outcomes.map_or(Cell::Absent, |it| Cell::Count(it.count(*outcome)));
        cells.extend(CoreOutcome::ALL.iter().map(counts));
        let dimension = |key: &String| row.dimensions.as_ref()?.get(key).copied().flatten();
        cells.extend(self.dimensions.iter().map(|key| {
            Cell::of_number(dimension(key).map(|it: Estimate| it.mean), |it| Writing::shares().number(it))
        }));
        cells.extend(self.extras.iter().map(|key| Cell::of_number(row.column(key), crate::estimate::plain)));
        cells
    }
}

/// Says that a newer score waits for a review.
fn held(row: &LeaderboardRow) -> Vec<(Tone, String)> {
    let is_held = row.official.as_ref().is_some_and(|it| it.under_review);
    is_held.then(|| (Tone::Care, String::from("a newer score is under review"))).into_iter().collect()
}

/// Returns the way from the mean of runs to each official score as a table, if a step changes one, or there are tiers.
pub(super) fn bridge(basis: &Basis, board: &Leaderboard) -> Option<Table> {
    let writing = Writing::of(basis.scale);
    let steps = board.bridge_steps(writing);
    let has_tiers = board.rows.iter().any(|row| row.official.as_ref().is_some_and(|it| it.tier.is_some()));
    let in_points = |points: f64| Cell::Number(points, writing.number(points / writing.value(1.0)));
    let row = |row: &LeaderboardRow| {
        let official = row.official.as_ref()?;
        let mut cells = vec![Cell::text(&row.subject)];
        cells.push(row.mean.map_or(Cell::Absent, |mean| in_points(mean.mean)));
        cells.extend(steps.iter().map(|step| Cell::of_text(official.change(*step, writing))));
        cells.push(in_points(official.points));
        cells.push(Cell::of_text(official.tier.clone()));
        Some(cells.into())
    };
    let mut columns = vec![Column::name("subject"), Column::number("mean").explained()];
    columns.extend(steps.iter().map(|step| Column::number(step.name()).explained()));
    columns.push(Column::new("official", Kind::Leading).explained());
    columns.push(Column::text("tier").shown_if(has_tiers));
    let rows: Vec<_> = board.rows.iter().filter_map(row).collect();
    (!rows.is_empty() && (has_tiers || !steps.is_empty())).then(|| Table {
        is_list: true,
        ..Table::new("From the mean of runs to the official score", columns, rows)
    })
}

/// One of the chances of k attempts.
type Chance = fn(&Attempts) -> Option<&Estimate>;

/// Returns the chances of repeated attempts, if they were asked for: that all pass, and that one does.
fn attempts(board: &Leaderboard) -> Vec<Table> {
    let most = most_tried(board);
    let kinds: [(&str, &str, Chance); 2] = [
        ("pass^", "The chance that all of k attempts pass", |at| at.pass_hat.as_ref()),
        ("pass@", "The chance that one of k attempts passes", |at| at.pass_at.as_ref()),
    ];
    let writing = Writing::shares();
    let table = |(label, caption, of): (&str, &str, Chance)| {
        let cell = |at: &Attempts| {
            let found = of(at).map(|it| {
                format!("{} ({})", writing.number(it.mean), writing.ends(it.interval()).replace(" to ", "-"))
            });
            Cell::of_text(found)
        };
        let row = |row: &LeaderboardRow| {
            let by_k = row.attempts.iter().flatten().take(most).map(cell);
            std::iter::once(Cell::text(&row.subject)).chain(by_k).collect::<Vec<_>>().into()
        };
        let by_k = (1..=most).map(|k| Column::text(&format!("{label}{k}")));
        let columns = std::iter::once(Column::name("subject")).chain(by_k).collect();
        Table { is_list: true, ..Table::new(caption, columns, board.rows.iter().map(row).collect()) }
    };
    if most == 0 { Vec::new() } else { kinds.into_iter().map(table).collect() }
}

/// Returns the most attempts at one task; 0 without attempts.
fn most_tried(board: &Leaderboard) -> usize {
    let tried = |of: &Vec<Attempts>| of.iter().take_while(|at| at.tasks > 0).count();
    board.rows.iter().filter_map(|row| row.attempts.as_ref()).map(tried).max().unwrap_or(0)
}

/// Returns the k at which tasks have too few attempts: they are left out there, so the numbers are about fewer tasks.
fn left_out(board: &Leaderboard) -> Option<String> {
    let all = || board.rows.iter().filter_map(|row| row.attempts.as_ref());
    let (tried, asked) = (most_tried(board), all().map(Vec::len).max().unwrap_or(0));
    let short = (0..tried).filter_map(|place| {
        let at = || all().filter_map(|of| of.get(place));
        let out: u64 = at().map(|it| it.tasks_left_out).sum();
        let all: u64 = out + at().map(|it| it.tasks).sum::<u64>();
        (out > 0).then(|| format!("{out} of {all} at k = {}", place + 1))
    });
    let beyond = (tried < asked).then(|| format!("all from k = {} on", tried + 1));
    let short: Vec<String> = short.chain(beyond).collect();
    (!short.is_empty()).then(|| {
        format!(
            "what a subject tried fewer than k times is left out, over all subjects and tasks: {}",
            list(&short)
        )
    })
}

/// Says whose attempts stop at a result, of subjects by name.
pub(super) fn stopping<'n>(all: impl Iterator<Item = (&'n str, Option<StopsAt>)> + Clone) -> Vec<String> {
    let line = |at: StopsAt| {
        let names: Vec<&str> = all.clone().filter(|it| it.1 == Some(at)).map(|it| it.0).collect();
        let (its, is) = if names.len() == 1 { ("its mean", "is") } else { ("their means", "are") };
        let wrong = if at == StopsAt::Success { "high" } else { "low" };
        Some(format!(
            "attempts of {} stop at {}, as their numbers show: {its} over attempts {is} too {wrong}; --attempts first counts the first attempt of each task alone",
            named(&names)?,
            at.name()
        ))
    };
    StopsAt::ALL.into_iter().filter_map(line).collect()
}

/// Says which subjects have no chances of several attempts.
fn unfixed(board: &Leaderboard) -> Option<String> {
    let rows = board.rows.iter().filter(|row| row.attempts.is_some() && row.attempts_stop_at.is_some());
    let names: Vec<&str> = rows.map(|row| row.subject.as_str()).collect();
    let why = "as their number depends on results, and pass@k is of a number that is fixed in advance";
    Some(format!("no chances of several attempts of {}, {why}", named(&names)?))
}

fn bare(board: &Leaderboard, subject: &str) -> Case {
    Case {
        class: board.group.clone().unwrap_or_else(|| String::from("leaderboard")),
        name: subject.to_owned(),
        result: CaseResult::Passed,
        seconds: None,
        place: None,
        output: Vec::new(),
    }
}

fn case(answer: &LeaderboardAnswer, board: &Leaderboard, row: &LeaderboardRow, failing: &[Failing]) -> Case {
    let own: Vec<&Failing> =
        failing.iter().filter(|it| it.subject == row.subject && it.group == board.group).collect();
    let lines = |is_open| {
        let lines = own.iter().filter(|it| it.is_open == is_open).map(|it| it.line.as_str());
        lines.collect::<Vec<_>>().join("\n")
    };
    let result = match own.as_slice() {
        [] => CaseResult::Passed,
        own if own.iter().any(|it| !it.is_open) => CaseResult::Failed(lines(false)),
        _ => CaseResult::Error(lines(true)),
    };
    let writing = board.writing(answer.basis.scale);
    let mean = row.mean.map_or_else(|| String::from("no mean"), |it| writing.number(it.mean));
    let interval = match answer.method {
        LeaderboardMethod::Census => String::new(),
        _ => format!(", {} interval {}", percent(answer.basis.level), row.ends(writing)),
    };
    let score = match row.official {
        Some(_) => format!("official score {}{interval}, mean {mean}", writing.number(row.score.mean)),
        None => format!("mean {mean}{interval}"),
    };
    let said = format!(
        "rank {}, {score} over {}",
        ranks(row.shown_ranks()),
        count(usize::try_from(row.tasks).unwrap_or(usize::MAX), "task")
    );
    Case { result, output: vec![said], ..bare(board, &row.subject) }
}
