//! The answer to [`Grid`]: subjects or runs side by side, task by task.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::timestamp::Timestamp;
use karat_stats::table::{Observation, TaskTable};
use serde::Deserialize;

use super::about::About;
use super::answer::{invalid, refused, settings, subject};
use super::trend::{kept_of, numbered, run_names};
use crate::answers::basis::Basis;
use crate::answers::grid::{self as answer, GridColumn, GridTask};
use crate::answers::leaderboard::method::{Page, rank};
use crate::answers::trend::FILE;
use crate::answers::{LeaderboardMethod, from_billionths, points};
use crate::error::{Code, Error};
use crate::leaderboard::{By, is_measured, run};
use crate::rows::{Row, Rows};
use crate::text::{clean, count};

/// The largest number of columns.
const MOST: usize = 200;

/// Subjects or runs side by side, task by task.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct Grid {
    /// One subject; repeatable, in this order
    #[serde(deserialize_with = "super::names")]
    #[cfg_attr(feature = "cli", arg(long, short = 's', value_name = "NAME"))]
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub subject: Vec<String>,
    /// Each run of a subject by itself: the field that names it; file, or day: of the time
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub run: Option<String>,
    /// Scorecard, items and confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub about: About,
}

/// A column: a subject, or a run of one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Side {
    subject: usize,
    run: Option<String>,
}

impl Grid {
    /// Returns the fields whose values the items must keep.
    pub fn kept(&self) -> Vec<String> {
        kept_of(self.run.as_ref())
    }

    /// Returns whether each of the files is a run.
    pub fn is_by_file(&self, _files: usize) -> bool {
        self.run.as_deref() == Some(FILE)
    }

    /// Refuses settings that no flag takes.
    ///
    /// # Errors
    /// If there is one.
    pub fn check(&self) -> Result<(), Error> {
        self.about.check()
    }

    /// Computes the answer.
    ///
    /// # Errors
    /// If a subject is not there, it is not known which run an item is of, there are too many columns, or nothing counts.
    pub fn answer(&self, rows: &Rows) -> Result<answer::Grid, Error> {
        let settings = settings(&self.about.sure, By::Score, rows);
        let wanted: Vec<usize> =
            self.subject.iter().map(|name| subject(rows, name)).collect::<Result<_, _>>()?;
        let runs = self.run.as_ref().map(|by| run_names(rows, by)).transpose()?;
        let side = |at: usize| {
            let row = rows.rows.get(at).filter(|row| wanted.is_empty() || wanted.contains(&row.subject))?;
            let run = runs.as_ref().and_then(|all| all.get(at)).cloned();
            Some(Side { subject: row.subject, run })
        };
        let kept: Vec<usize> = (0..rows.rows.len()).filter(|at| side(*at).is_some()).collect();
        let sides: Vec<Side> = kept.iter().filter_map(|at| side(*at)).collect();
        let columns = self.in_order(rows, &rows.only(&kept), &sides, &wanted);
        if columns.len() > MOST {
            let message =
                format!("{} side by side, expected {MOST} or fewer", count(columns.len(), "column"));
            return Err(invalid(message).hint("name some with --subject, or leave items out with --where"));
        }
        let names: Vec<String> =
            columns.iter().map(|it| name(rows, it, &columns, self.is_by_file(0))).collect();
        let by_side: BTreeMap<&Side, usize> = columns.iter().zip(0..).collect();
        let own = |side: &Side| by_side.get(side).copied().unwrap_or_default();
        let named: Vec<String> =
            sides.iter().map(|side| names.get(own(side)).cloned().unwrap_or_default()).collect();
        let found = rows.only(&kept).renamed(&named);
        let all: Vec<usize> = (0..found.rows.len()).collect();
        let board = rank(&found, &all, None, LeaderboardMethod::Pairs, &settings, Page::ALL)
            .map_err(|error| refused(&error, rows))?
            .leaderboard;
        let counted = |row: &Row, task: usize| {
            let row = Some(row).filter(|row| is_measured(row, By::Score))?;
            run(row, task, By::Score).value(settings.policy)
        };
        let all = || found.rows.iter().zip(found.tasks.of_rows.iter().copied());
        let observed = all().filter_map(|(row, task)| {
            Some(Observation { subject: row.subject, task, value: counted(row, task)? })
        });
        let table = TaskTable::of(found.subjects.len(), observed).map_err(|error| refused(&error, rows))?;
        let scale = rows.scale.max;
        let told = columns.iter().zip(&names).map(|(side, name)| {
            let ranked = board.rows.iter().find(|row| row.subject == *name);
            GridColumn {
                name: name.clone(),
                subject: rows.subject_name(side.subject).to_owned(),
                run: side.run.clone(),
                score: ranked.map(|it| it.score.in_points(scale)),
                letters: ranked.and_then(|it| it.letters.clone()),
                tasks: ranked.map_or(0, |it| it.tasks),
            }
        });
        let places: Vec<Option<usize>> = names.iter().map(|name| found.subject(name)).collect();
        // The items of a subject are in order of time.
        let mut attempts: BTreeMap<(usize, usize), Vec<Option<f64>>> = BTreeMap::new();
        for (row, task) in all() {
            let value = counted(row, task).map(|value| points(from_billionths(value), scale));
            attempts.entry((row.subject, task)).or_default().push(value);
        }
        let mut tasks: BTreeMap<usize, Vec<Option<f64>>> = BTreeMap::new();
        for (nth, place) in places.iter().enumerate() {
            for (task, value) in place.iter().flat_map(|place| table.results(*place)) {
                let values = tasks.entry(task).or_insert_with(|| vec![None; names.len()]);
                values.iter_mut().skip(nth).take(1).for_each(|it| {
                    *it = Some(points(from_billionths(value), scale));
                });
            }
        }
        let mut tasks: Vec<GridTask> = tasks
            .into_iter()
            .map(|(task, values)| {
                let of = |place: &Option<usize>| attempts.remove(&((*place)?, task));
                let attempts = places.iter().map(of).map(Option::unwrap_or_default).collect();
                GridTask::new(found.tasks.names.get(task).cloned().unwrap_or_default(), values, attempts)
            })
            .collect();
        if tasks.is_empty() {
            return Err(Error::new(Code::NothingCounts, "no item counts, so there is nothing side by side"));
        }
        // Equal ones stay in the order of their names.
        tasks.sort_by(|one, other| {
            let missing = |it: &GridTask| it.spread == 0.0 && it.values.contains(&None);
            other.spread.total_cmp(&one.spread).then_with(|| missing(other).cmp(&missing(one)))
        });
        let mut basis = Basis::new(&found, &settings);
        let subjects: BTreeSet<usize> = columns.iter().map(|side| side.subject).collect();
        basis.items.subjects = subjects.len() as u64;
        Ok(answer::Grid {
            schema: Default::default(),
            basis,
            runs_by: self.run.clone(),
            columns: told.collect(),
            same: tasks.iter().filter(|it| it.spread == 0.0 && !it.values.contains(&None)).count() as u64,
            tasks,
        })
    }

    /// Returns the columns in order: the subjects as they are named, and the runs of each as the files came, by time, or by name.
    fn in_order(&self, rows: &Rows, kept: &Rows, sides: &[Side], wanted: &[usize]) -> Vec<Side> {
        let files = if self.is_by_file(0) { rows.files() } else { Vec::new() };
        let is_timed = kept.rows.iter().all(|row| row.time().is_some());
        let mut first: BTreeMap<&Side, Option<Timestamp>> = BTreeMap::new();
        for (side, row) in sides.iter().zip(&kept.rows) {
            let time = row.time().filter(|_| is_timed && files.is_empty());
            let known = first.entry(side).or_insert(time);
            *known = (*known).min(time);
        }
        let key = |side: &Side, time: Option<Timestamp>| {
            let run = side.run.as_deref().unwrap_or_default();
            let file = files.iter().position(|file| *file == run);
            let subject = wanted.iter().position(|it| *it == side.subject).unwrap_or(side.subject);
            (
                subject,
                file,
                time,
                numbered(run).into_iter().map(|(text, at)| (text.to_owned(), at)).collect::<Vec<_>>(),
            )
        };
        let mut columns: Vec<(&Side, Option<Timestamp>)> = first.into_iter().collect();
        columns.sort_by_cached_key(|(side, time)| key(side, *time));
        columns.into_iter().map(|(side, _)| side.clone()).collect()
    }
}

/// Returns the name of a column: the subject, the run, or both where both differ. Files are named without their folders, if that
/// tells them apart.
fn name(rows: &Rows, side: &Side, all: &[Side], is_by_file: bool) -> String {
    let subject = clean(rows.subject_name(side.subject));
    let is_one = all.iter().all(|other| other.subject == side.subject);
    let base = |run: &str| run.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let runs: BTreeSet<&String> = all.iter().filter_map(|it| it.run.as_ref()).collect();
    let are_apart =
        is_by_file && runs.iter().map(|run| base(run)).collect::<BTreeSet<_>>().len() == runs.len();
    let run = side.run.as_ref().map(|run| if are_apart { base(run) } else { run.clone() });
    match &run {
        None => subject.into_owned(),
        Some(run) if is_one => clean(run).into_owned(),
        Some(run) => format!("{subject} ({})", clean(run)),
    }
}
