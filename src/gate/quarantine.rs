//! Tasks in quarantine: out of the gates until a day, in the report, and proposed back; and those to put there.

use std::collections::BTreeSet;

use karat_core::timestamp::Timestamp;
use karat_stats::flaky::{FlakyProposal, Retries};

use super::{Gate, Status, Verdict};
use crate::answers::check::{FlakyTask, QuarantinedTask};
use crate::answers::trend::Trend;
use crate::ask::answer::{invalid, pass, settings};
use crate::ask::moment::moment;
use crate::ask::tasks::Attempts;
use crate::ask::{AsOf, Items, Sure};
use crate::error::{Code, Error};
use crate::leaderboard::By;
use crate::leaderboard::attempts::Pass;
use crate::loaded::Loaded;
use crate::rows::Rows;
use crate::text::{clean, count, named, short};

const DAY_MILLISECONDS: i64 = 86_400_000;

/// A task that no gate looks at until a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// The task.
    pub task: String,
    /// The reason.
    pub reason: String,
    /// The day from which on its outcomes show whether it is stable; none for all there are.
    pub since: Option<Timestamp>,
    /// Its last day.
    pub until: Timestamp,
}

/// The findings about tasks in quarantine, and about those that belong there.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub quarantine: Vec<QuarantinedTask>,
    pub today: Option<String>,
    pub flaky: Vec<FlakyTask>,
    pub only_by_retry: Vec<String>,
    pub verdict: Verdict,
    /// The sentences about them.
    pub notes: Vec<String>,
}

/// Returns the day of a moment, in UTC.
fn day(moment: Timestamp) -> String {
    moment.to_string().chars().take(10).collect()
}

impl Gate {
    /// Takes the tasks in quarantine out of the run, its comparison and its history, and finds flaky tasks among the others.
    pub(super) fn set_apart(&self, items: &Items, loaded: &mut Loaded) -> Result<Findings, Error> {
        let mut found = Findings::default();
        let sure = settings(&Sure::default(), By::Score, &loaded.rows);
        let condition = pass(self.tasks.pass, loaded.rows.scale)?;
        let attempts = |rows: &Rows| Attempts::of(&self.tasks, rows, &sure, condition);
        if !self.quarantine.is_empty() {
            let today = items.as_of.as_ref().map(|it: &AsOf| it.at).or_else(|| moment("now").ok());
            let today = today.ok_or_else(|| {
                invalid("a quarantine ends on a day, and nothing says which day it is")
                    .hint("give the moment of the verdict: as_of = \"2026-01-31T12:00:00Z\"")
            })?;
            let names: BTreeSet<&str> = self.quarantine.iter().map(|it| it.task.as_str()).collect();
            let run = split(&mut loaded.rows, &names);
            if loaded.rows.rows.is_empty() {
                return Err(Error::new(Code::NothingCounts, "every task of the run is in quarantine"));
            }
            loaded.both.iter_mut().for_each(|both| drop(split(both, &names)));
            let past = loaded.history.as_mut().map(|history| split(history, &names));
            found.today = Some(day(today));
            for entry in &self.quarantine {
                found.quarantine.push(self.report(
                    entry,
                    today,
                    &run,
                    past.as_ref().unwrap_or(&run),
                    condition,
                )?);
            }
            found.judge();
        }
        let past = loaded.history.as_ref().unwrap_or(&loaded.rows);
        let (repeats, _) = attempts(past)?.repeats(past, &sure)?;
        for (task, repeats) in repeats {
            if repeats.proposal == FlakyProposal::Quarantine {
                let task = past.tasks.names.get(task).cloned().unwrap_or_default();
                found.flaky.push(FlakyTask { task, repeats });
            }
        }
        if self.attempts.is_none() {
            found.retried(&attempts(&loaded.rows)?, &loaded.rows);
        }
        Ok(found)
    }

    /// Returns what there is to say of a task in quarantine.
    fn report(
        &self,
        entry: &Quarantine,
        today: Timestamp,
        run: &Rows,
        past: &Rows,
        condition: Pass,
    ) -> Result<QuarantinedTask, Error> {
        let sure = settings(&Sure::default(), By::Score, past);
        let own = |rows: &Rows, since: Option<Timestamp>| {
            let is_own = |at: &usize| {
                let task = rows.tasks.of_rows.get(*at).and_then(|task| rows.tasks.names.get(*task));
                let time = rows.rows.get(*at).and_then(|row| row.time());
                task == Some(&entry.task) && since.is_none_or(|since| time.is_some_and(|time| time >= since))
            };
            let kept: Vec<usize> = (0..rows.rows.len()).filter(is_own).collect();
            rows.only(&kept)
        };
        let (run, past) = (own(run, None), own(past, entry.since));
        let passes = Attempts::of(&self.tasks, &run, &sure, condition)?;
        let passes = passes.groups.values().flatten().flat_map(|(_, passes)| passes);
        let outcomes = Attempts::of(&self.tasks, &past, &sure, condition)?;
        let (mut repeats, _) = outcomes.repeats(&past, &sure)?;
        let task = outcomes.groups.keys().next().copied();
        Ok(QuarantinedTask {
            task: entry.task.clone(),
            reason: entry.reason.clone(),
            until: day(entry.until),
            has_ended: today.milliseconds - entry.until.milliseconds >= DAY_MILLISECONDS,
            items: run.rows.len() as u64,
            passes: passes.filter(|it| **it).count() as u64,
            repeats: task.and_then(|task| repeats.remove(&task)),
            comes_back: match task {
                Some(task) => outcomes.comes_back(task, sure.level)?,
                None => false,
            },
        })
    }
}

impl Findings {
    /// Judges the days, and says what is to be known of the tasks.
    fn judge(&mut self) {
        let of = |is: &dyn Fn(&QuarantinedTask) -> bool| -> Vec<&str> {
            self.quarantine.iter().filter(|it| is(it)).map(|it| it.task.as_str()).collect()
        };
        let ended = self.quarantine.iter().filter(|it| it.has_ended);
        let ended = ended.map(|it| {
            format!(
                "the quarantine of `{}` ended on {} ({}): repair the task, take it back, or set another day",
                short(&it.task),
                it.until,
                clean(&it.reason)
            )
        });
        self.verdict.add(Status::Blocked, ended.collect());
        let unknown = named(&of(&|it| it.items == 0));
        let back = named(&of(&|it| it.comes_back));
        let (tasks, items) = (self.quarantine.len(), self.quarantine.iter().map(|it| it.items).sum::<u64>());
        self.notes.push(format!(
            "{} in quarantine, so no gate looks at {}",
            count(tasks, "task"),
            count(items as usize, "item")
        ));
        self.notes.extend(unknown.map(|who| format!("no item of the run is at a task in quarantine: {who}")));
        self.notes.extend(back.map(|who| {
            format!(
                "{who} had one outcome for so long that the quarantine may end: take it out of karat.toml"
            )
        }));
    }

    /// Proposes the flaky tasks, but for those that carry an alarm: they change because something did.
    pub(super) fn propose(&mut self, trend: Option<&Trend>) {
        let changes = trend.iter().flat_map(|it| &it.subjects).filter_map(|it| it.change.as_ref());
        let carry: BTreeSet<&str> = changes.flat_map(|it| &it.tasks).map(|it| it.task.as_str()).collect();
        self.flaky.retain(|it| !carry.contains(it.task.as_str()));
        let flaky: Vec<&str> = self.flaky.iter().map(|it| it.task.as_str()).collect();
        self.notes.extend(named(&flaky).map(|who| {
            format!(
                "the outcome changes while nothing changed: {who}; repair them, or put each in [[quarantine]] \
                 with task, reason and until"
            )
        }));
    }

    /// Finds the tasks that were tried again until they passed: where a task has several attempts, all but the last fail.
    fn retried(&mut self, attempts: &Attempts, rows: &Rows) {
        let groups: Vec<(usize, &[bool])> = attempts
            .groups
            .iter()
            .flat_map(|(task, groups)| groups.iter().map(|(_, passes)| (*task, passes.as_slice())))
            .collect();
        let most = groups.iter().map(|(_, passes)| passes.len()).max().unwrap_or_default();
        let ends_early = |(_, passes): &(usize, &[bool])| !passes.iter().rev().skip(1).any(|it| *it);
        let outcomes: Vec<&[bool]> = groups.iter().map(|(_, passes)| *passes).collect();
        let Ok(found) = Retries::new(&outcomes, most) else { return };
        if !attempts.is_ordered() || !groups.iter().all(ends_early) || found.only_by_retry.is_empty() {
            return;
        }
        let tasks = found.only_by_retry.iter().filter_map(|at| groups.get(*at));
        let tasks: BTreeSet<&String> = tasks.filter_map(|(task, _)| rows.tasks.names.get(*task)).collect();
        self.only_by_retry = tasks.into_iter().cloned().collect();
        self.notes.extend(named(&self.only_by_retry).map(|who| {
            format!(
                "tried again until it passed: {who}; {} of {} pass at the first attempt, {} with retries. With attempts = \"first\" \
                 the gates count the first",
                found.first.successes(),
                found.first.trials(),
                found.policy.successes()
            )
        }));
    }
}

/// Takes the items at some tasks out of `rows`, and returns them.
fn split(rows: &mut Rows, tasks: &BTreeSet<&str>) -> Rows {
    let is_in = |at: &usize| {
        let task = rows.tasks.of_rows.get(*at).and_then(|task| rows.tasks.names.get(*task));
        task.is_some_and(|task| tasks.contains(task.as_str()))
    };
    let (apart, kept): (Vec<usize>, Vec<usize>) = (0..rows.rows.len()).partition(is_in);
    let apart = rows.only(&apart);
    *rows = rows.only(&kept);
    apart
}
