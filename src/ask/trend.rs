//! The answer to [`Trend`]: runs of a subject in time, and an alarm that is false once in a life with a bounded chance.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use karat_core::timestamp::Timestamp;
use karat_stats::StatisticsError;
use karat_stats::cases::Cases;
use karat_stats::compare::Differences;
use karat_stats::estimate::Estimate as CoreEstimate;
use karat_stats::table::{Observation, TaskTable};
use karat_stats::trend::{self as core, Direction, Night, TrendSettings};
use serde::Deserialize;

use super::about::{About, few};
use super::answer::{invalid, settings, subject};
use crate::answers::basis::{Basis, Estimate, Measure};
use crate::answers::trend::{
    self as answer, ChangedTask, FILE, RunOrder, SubjectTrend, TrendChange, TrendRun,
};
use crate::answers::{points, share};
use crate::error::{Code, Error};
use crate::leaderboard::{By, Settings, is_measured, run};
use crate::rows::Rows;

/// The runs by their files, and by their days.
const DAY: &str = "day";
/// The seed of what is drawn.
const SEED: u64 = 1;

/// Runs of subjects over time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct Trend {
    /// The field that names the run; file, or day: of the time
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub run: Option<String>,
    /// One subject; repeatable
    #[serde(deserialize_with = "super::names")]
    #[cfg_attr(feature = "cli", arg(long, short = 's', value_name = "NAME"))]
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub subject: Vec<String>,
    /// Runs, from the first on, that are known to be alike
    #[serde(deserialize_with = "super::number")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1))]
    pub baseline: usize,
    /// The change to look for: decline, improvement or either
    #[serde(deserialize_with = "direction_of")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WAY", default_value = "decline", value_parser = direction))]
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub direction: Direction,
    /// End with status 16 if there is an alarm
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub fail_on_alarm: bool,
    /// Scorecard, items and confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub about: About,
}

impl Default for Trend {
    fn default() -> Self {
        let direction = Direction::Decline;
        Self {
            run: None,
            subject: Vec::new(),
            baseline: 1,
            direction,
            fail_on_alarm: false,
            about: About::default(),
        }
    }
}

pub(crate) fn direction(text: &str) -> Result<Direction, String> {
    let all = [Direction::Decline, Direction::Improvement, Direction::Either];
    let found = all.into_iter().find(|it| it.name() == text);
    found.ok_or_else(|| String::from("expected decline, improvement or either"))
}

fn direction_of<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Direction, D::Error> {
    direction(&String::deserialize(source)?).map_err(serde::de::Error::custom)
}

/// An item of a run.
#[derive(Debug, Clone, Copy)]
struct Item {
    subject: usize,
    task: usize,
    /// In billionths.
    value: i64,
    time: Option<Timestamp>,
}

/// The runs of all subjects, in their order.
struct Runs<'r> {
    by: &'r str,
    order: RunOrder,
    runs: Vec<(String, Option<Timestamp>, Vec<Item>)>,
}

impl Trend {
    /// Returns the fields whose values the items must keep.
    pub fn kept(&self) -> Vec<String> {
        kept_of(self.run.as_ref())
    }

    /// Returns whether each of the `files` is a run.
    pub fn is_by_file(&self, files: usize) -> bool {
        self.run.as_deref().map_or(files > 1, |field| field == FILE)
    }

    /// Refuses settings that no flag takes.
    ///
    /// # Errors
    /// If there is one.
    pub fn check(&self) -> Result<(), Error> {
        if self.baseline == 0 {
            return Err(invalid("`baseline` is 0, expected one run or more"));
        }
        self.about.check()
    }

    /// Computes the answer.
    ///
    /// # Errors
    /// If nothing says which run an item is of, there are too few runs of every subject, or a subject is not there.
    pub fn answer(&self, rows: &Rows) -> Result<answer::Trend, Error> {
        let settings = settings(&self.about.sure, By::Score, rows);
        let wanted: Vec<usize> =
            self.subject.iter().map(|name| subject(rows, name)).collect::<Result<_, _>>()?;
        let runs = self.runs(rows, &settings)?;
        let is_wanted = |at: &usize| wanted.is_empty() || wanted.contains(at);
        let mut subjects = Vec::new();
        for at in (0..rows.subjects.len()).filter(is_wanted) {
            subjects.extend(self.subject(rows, at, &runs, &settings)?);
        }
        let Some(reason) = subjects.first().map(|it| it.reason.clone()) else {
            return Err(Error::new(Code::NothingCounts, "no item counts, so there is no run"));
        };
        if subjects.iter().all(|it| it.reason.is_some()) {
            let by = runs.by;
            return Err(Error::new(
                Code::NothingCounts,
                format!("no subject has runs to compare: {}", reason.unwrap_or_default()),
            )
            .hint(format!("runs are by `{by}`; --run names another field, `file` or `day`")));
        }
        subjects.sort_by_key(|it| it.alarm.is_none());
        Ok(answer::Trend {
            schema: Default::default(),
            basis: Basis::new(rows, &settings),
            runs_by: runs.by.to_owned(),
            days: days(rows),
            order: runs.order,
            baseline: self.baseline as u64,
            direction: self.direction,
            subjects,
        })
    }

    /// Sorts the items into runs.
    fn runs<'r>(&'r self, rows: &Rows, settings: &Settings) -> Result<Runs<'r>, Error> {
        let by = match self.run.as_deref() {
            Some(field) => field,
            None if rows.files().len() > 1 => FILE,
            None if rows.rows.iter().all(|row| row.time().is_some()) => DAY,
            None => {
                return Err(invalid("nothing says which run an item is of").hint(
                    "--run names a field; without one each file is a run, or each day if all items have a time",
                ));
            }
        };
        let names = run_names(rows, by)?;
        let mut found: BTreeMap<String, Vec<Item>> = BTreeMap::new();
        for ((row, task), name) in rows.rows.iter().zip(&rows.tasks.of_rows).zip(names) {
            let of_row = Some(row).filter(|row| is_measured(row, By::Score));
            let value = of_row.and_then(|row| run(row, *task, By::Score).value(settings.policy));
            if let Some(value) = value {
                let item = Item { subject: row.subject, task: *task, value, time: row.time() };
                found.entry(name).or_default().push(item);
            }
        }
        let is_timed = found.values().flatten().all(|item| item.time.is_some());
        let mut runs: Vec<_> = found
            .into_iter()
            .map(|(name, items)| {
                let time = items.iter().filter_map(|item| item.time).min();
                (name, time, items)
            })
            .collect();
        runs.sort_by(|(one, at, _), (other, later, _)| {
            let by_time = if is_timed { at.cmp(later) } else { Ordering::Equal };
            by_time.then_with(|| numbered(one).cmp(&numbered(other)))
        });
        let order = if is_timed { RunOrder::Time } else { RunOrder::Name };
        Ok(Runs { by, order, runs })
    }

    /// Looks at the runs of a subject; none if it has no item that counts.
    fn subject(
        &self,
        rows: &Rows,
        subject: usize,
        all: &Runs<'_>,
        settings: &Settings,
    ) -> Result<Option<SubjectTrend>, Error> {
        let own = |items: &[Item]| -> Vec<Item> {
            items.iter().filter(|item| item.subject == subject).copied().collect()
        };
        let runs: Vec<(&str, Option<Timestamp>, Vec<Item>)> = all
            .runs
            .iter()
            .map(|(name, time, items)| (name.as_str(), *time, own(items)))
            .filter(|(.., items)| !items.is_empty())
            .collect();
        if runs.is_empty() {
            return Ok(None);
        }
        let name = |at: usize| runs.get(at).map_or("", |run| run.0).to_owned();
        let scale = rows.scale.max;
        let refused = |error: StatisticsError| invalid(error.to_string());
        let observed = runs.iter().enumerate().flat_map(|(nth, (.., items))| {
            items.iter().map(move |item| Observation { subject: nth, task: item.task, value: item.value })
        });
        let table = TaskTable::of(runs.len(), observed).map_err(refused)?;
        let shares: Vec<Vec<(usize, f64)>> = (0..runs.len())
            .map(|nth| table.results(nth).map(|(task, value)| (task, value as f64 / 1e9)).collect())
            .collect();
        let nights: Vec<Night<'_>> = shares.iter().map(|results| Night { results }).collect();
        let asked = TrendSettings {
            baseline: self.baseline,
            direction: self.direction,
            level: settings.level,
            seed: SEED,
        };
        let found = core::Trend::new(&nights, &asked);
        let reason = found.as_ref().err().map(ToString::to_string);
        let found = few(found)?;
        let difference = |later: usize, earlier: usize| -> Result<Option<Measure>, Error> {
            let Some(differences) = Differences::new(&table, &Cases::default(), later, earlier) else {
                return Ok(None);
            };
            let found = differences.compare(settings.level).map_err(refused)?.estimate;
            Ok(Some(Measure::new(found.mean, found.interval).in_points(scale)))
        };
        let mut told = Vec::new();
        for (nth, (run, time, items)) in runs.iter().enumerate() {
            let score = CoreEstimate::new(&table, nth, settings.level).map_err(refused)?;
            let state = found.as_ref().and_then(|it| it.nights.get(nth));
            told.push(TrendRun {
                run: (*run).to_owned(),
                time: time.map(|it| it.to_string()),
                items: items.len() as u64,
                score: Estimate::from(&score).in_points(scale),
                since_first: if nth > 0 { difference(nth, 0)? } else { None },
                since_last: match nth.checked_sub(1) {
                    Some(before) => difference(nth, before)?,
                    None => None,
                },
                missing: state.map_or(0, |it| it.missing as u64),
                is_left_out: state.is_some_and(|it| it.score.is_none()),
                chance: state.map_or(1.0, |it| it.chance.min(1.0)),
                mean_so_far: state
                    .and_then(|it| it.interval)
                    .map(|it| [it.low, it.high].map(|end| points(end, scale))),
            });
        }
        let alarm = found.as_ref().and_then(|it| it.alarm);
        let change = found.as_ref().and_then(|it| it.change.as_ref().filter(|_| alarm.is_some()));
        let change = change.map(|change| TrendChange {
            first: name(change.first),
            plausible: change.plausible.iter().map(|at| name(*at)).collect(),
            before: points(change.before, scale),
            after: points(change.after, scale),
            tasks: found.as_ref().map_or_else(Vec::new, |it| changed(rows, &it.tasks)),
        });
        let slope = found.as_ref().and_then(|it| it.slope.as_ref());
        Ok(Some(SubjectTrend {
            subject: rows.subject_name(subject).to_owned(),
            runs: told,
            alarm: alarm.map(name),
            change,
            slope: slope.map(|it| Measure::new(it.per_night, it.interval).in_points(scale)),
            reason,
        }))
    }
}

/// Returns the run of each item: its file, the day of its time, or its value of a field.
pub(super) fn run_names(rows: &Rows, by: &str) -> Result<Vec<String>, Error> {
    let names: Vec<Option<String>> = match by {
        FILE => rows.rows.iter().map(|row| Some(rows.file(row).to_owned())).collect(),
        DAY => rows.rows.iter().map(|row| row.time().map(day)).collect(),
        field => rows.texts(field, "--run")?.into_iter().map(|it| it.map(str::to_owned)).collect(),
    };
    if let Some((row, _)) = rows.rows.iter().zip(&names).find(|(_, name)| name.is_none()) {
        let message = format!("{}: the item has no `{by}`, so its run is not known", rows.place(row));
        return Err(
            Error::new(Code::EvidenceRefused, message).hint("give it one, or leave it out with --where")
        );
    }
    Ok(names.into_iter().flatten().collect())
}

fn day(time: Timestamp) -> String {
    time.to_string().chars().take(10).collect()
}

/// Counts the days of the items; none if one has no time.
fn days(rows: &Rows) -> Option<u64> {
    let found: Option<BTreeSet<String>> = rows.rows.iter().map(|row| row.time().map(day)).collect();
    found.map(|it| it.len() as u64)
}

/// Returns the fields that items must keep for their runs.
pub(super) fn kept_of(run: Option<&String>) -> Vec<String> {
    run.filter(|field| ![FILE, DAY].contains(&field.as_str())).into_iter().cloned().collect()
}

/// Returns the tasks that carry a change, the largest one first.
fn changed(rows: &Rows, tasks: &[core::TaskChange]) -> Vec<ChangedTask> {
    let scale = rows.scale.max;
    let mut found: Vec<ChangedTask> = tasks
        .iter()
        .filter(|task| task.is_found)
        .map(|task| ChangedTask {
            task: rows.tasks.names.get(task.task).cloned().unwrap_or_default(),
            before: task.before.map(|it| points(it, scale)),
            after: task.after.map(|it| points(it, scale)),
            p: task.test.map(|it| share(it.p)),
        })
        .collect();
    let size = |it: &ChangedTask| (it.after.unwrap_or_default() - it.before.unwrap_or_default()).abs();
    // Equal ones stay in the order of their names.
    found.sort_by(|one, other| size(other).total_cmp(&size(one)));
    found
}

/// Returns a name in parts that compare as people count: `run-9` before `run-10`.
pub(super) fn numbered(name: &str) -> Vec<(&str, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|it: char| it.is_ascii_digit()).unwrap_or(rest.len());
        let (head, tail) = rest.split_at(text);
        let digits = tail.find(|it: char| !it.is_ascii_digit()).unwrap_or(tail.len());
        let (number, after) = tail.split_at(digits);
        parts.push((head, number.parse().unwrap_or_default()));
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_in_the_order_in_which_people_count() {
        let mut names = ["run-10", "run-9", "run-9b", "2026-01-02", "2026-01-10", "run"];
        names.sort_by(|one, other| numbered(one).cmp(&numbered(other)));
        assert_eq!(names, ["2026-01-02", "2026-01-10", "run", "run-9", "run-9b", "run-10"]);
    }
}
