//! All gates on a run, asked at once.

use karat_core::number::Decimal;

use super::quarantine::{Findings, Quarantine};
use super::{ItemFloor, JudgedLeaderboard, Status, Verdict, failed, judge_comparison, judge_leaderboard};
use crate::answers::ComparisonVerdict;
use crate::answers::check::{AskedGate, CheckSchema, ProjectCheck};
use crate::answers::comparison::{ComparedPair, ComparisonAnswer};
use crate::answers::leaderboard::floor::On;
use crate::answers::trend::Trend as TrendAnswer;
use crate::ask::answer::{card_of, gaps_of, invalid};
use crate::ask::compare::of_sides;
use crate::ask::{Attempts, Compare, Floor, Floors, Items, Leaderboard, Standing, Tasks, Trend};
use crate::document::{self, ComparisonView, Document};
use crate::error::{Code, Error, Place};
use crate::loaded::Loaded;
use crate::rows::Rows;
use crate::standing::events::Events;
use crate::text::{clean, count, short};
use karat_standing::stand::is_plain;

/// The names of the two sides of a check.
pub const BASELINE: &str = "baseline";
/// The side of the run that is judged.
pub const RUN: &str = "this run";

/// The conditions that a run must reach.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Gate {
    /// The floors of subjects.
    pub floors: Floors,
    /// The points by which the run may be worse than the baseline.
    pub fail_if_worse: Option<Decimal>,
    /// True if it must be shown that it is not worse.
    pub strict: bool,
    /// `First` if the first attempt of each task counts alone.
    pub attempts: Option<Attempts>,
    /// The least score of each item.
    pub item_floor: Option<Decimal>,
    /// The least official score of each subject.
    pub standing_floor: Option<Decimal>,
    /// The runs over time that may raise no alarm.
    pub trend: Option<Trend>,
    /// The tasks that no gate looks at, but that on official scores.
    pub quarantine: Vec<Quarantine>,
    /// The settings by which flaky tasks are found: what passes, and the field with the version.
    pub tasks: Tasks,
}

/// The run to compare with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Baseline {
    /// No one named any.
    #[default]
    Unnamed,
    /// The named one was not found.
    Absent {
        /// Its name in sentences.
        name: String,
        /// The sentence that says so.
        line: String,
    },
    /// Its items are loaded; its name in sentences.
    Loaded(String),
}

/// The answers about a run, and the verdict of each gate.
#[derive(Debug)]
pub struct Judged {
    /// The gates that were asked, in words, each with its verdict.
    pub gates: Vec<(String, Verdict)>,
    /// The leaderboard of the run.
    pub leaderboard: JudgedLeaderboard,
    /// The comparison with the baseline.
    pub comparison: Option<ComparisonAnswer>,
    /// The runs over time.
    pub trend: Option<TrendAnswer>,
    /// The sentences about a baseline that is not there, where no gate says it, and about flaky tasks.
    pub notes: Vec<String>,
    apart: Findings,
}

impl Judged {
    /// Returns the verdict of all gates.
    pub fn verdict(&self) -> Verdict {
        let mut all = Verdict::default();
        self.gates.iter().for_each(|(_, verdict)| all.extend(verdict.clone()));
        all
    }

    /// Returns the answer, `karat/check/2`, with what else there is to say.
    pub fn answer(&self, notes: Vec<String>) -> ProjectCheck {
        let gate = |(words, verdict): &(String, Verdict)| AskedGate {
            gate: words.clone(),
            passed: verdict.is_passed(),
            failures: verdict.lines().into_iter().map(str::to_owned).collect(),
            status: verdict.status() as u8,
        };
        ProjectCheck {
            schema: CheckSchema::V1,
            status: self.verdict().status() as u8,
            gates: self.gates.iter().map(gate).collect(),
            notes,
            leaderboard: self.leaderboard.answer.clone(),
            comparison: self.comparison.clone(),
            trend: self.trend.clone(),
            quarantine: self.apart.quarantine.clone(),
            today: self.apart.today.clone(),
            flaky: self.apart.flaky.clone(),
            only_by_retry: self.apart.only_by_retry.clone(),
        }
    }

    /// Returns the document of its `answer`, which lists the tasks of those alone that got worse, unless `is_all`.
    pub fn document(&self, answer: &ProjectCheck, loaded: &Loaded, is_all: bool) -> Document {
        let gaps = gaps_of(&loaded.rows, self.leaderboard.settings.by);
        let board = self.leaderboard.view(&loaded.rows, &gaps, Vec::new());
        compared(loaded, is_all, |view| document::check(answer, board, view))
    }

    /// Returns the document of the comparison alone, if there is one.
    pub fn comparison_document(&self, loaded: &Loaded, is_all: bool) -> Option<Document> {
        let answer = self.comparison.as_ref()?;
        Some(compared(loaded, is_all, |view| document::comparison(answer, view)))
    }
}

impl Gate {
    /// Returns the fields whose values the items of a run must keep.
    pub fn kept(&self) -> Vec<String> {
        self.tasks.kept()
    }

    /// Returns the fields whose values the items of a history must keep.
    pub fn kept_of_history(&self) -> Vec<String> {
        let mut kept = self.kept();
        let runs = self.trend.iter().flat_map(Trend::kept);
        kept.extend(runs.filter(|field| !self.tasks.kept().contains(field)));
        kept
    }

    /// Judges a run, which was loaded with its baseline and its history; the tasks in quarantine are taken out of them.
    ///
    /// # Errors
    /// If a gate names what the items do not have, or there are too few of them.
    pub fn judge(&self, items: &Items, loaded: &mut Loaded, baseline: &Baseline) -> Result<Judged, Error> {
        let standing = self.standing_floor.map(|least| official(least, items, &loaded.rows)).transpose()?;
        let mut apart = self.set_apart(items, loaded)?;
        let asked = Leaderboard { items: items.clone(), attempts: self.attempts, ..Leaderboard::default() };
        let board = judge_leaderboard(&asked, &self.floors, &mut loaded.rows, &Events::default())?;
        let mut gates = Vec::new();
        if self.floors.all().next().is_some() {
            gates.push((self.floor_words(), board.verdict.clone()));
        }
        let mut comparison = None;
        let mut notes = Vec::new();
        match (baseline, &loaded.both) {
            (Baseline::Absent { name, line }, _) if self.fail_if_worse.is_some() => {
                let mut verdict = Verdict::default();
                verdict.add(Status::Inconclusive, vec![line.clone()]);
                gates.push((self.worse_words(name), verdict));
            }
            (Baseline::Absent { line, .. }, _) => notes.push(line.clone()),
            (Baseline::Loaded(name), Some(both)) => {
                let answer = self.compare(items, both)?;
                if let Some(margin) = self.fail_if_worse {
                    gates.push((self.worse_words(name), judge_comparison(&answer, margin, both.scale)));
                }
                comparison = Some(answer);
            }
            _ => {}
        }
        if let Some(least) = self.item_floor {
            gates.push((format!("each item: score at least {least}"), judge_items(least, &loaded.rows)));
        }
        for (least, verdict) in self.standing_floor.into_iter().zip(standing) {
            gates.push((format!("each subject: official score at least {least}"), verdict));
        }
        let mut trend = None;
        if let Some(asked) = &self.trend {
            let (answer, verdict) = alarms(asked, loaded.history.as_ref().unwrap_or(&loaded.rows))?;
            let words = format!("no alarm at {} of a subject over its runs", asked.direction.name());
            gates.push((words, verdict));
            trend = answer;
        }
        apart.propose(trend.as_ref());
        notes.append(&mut apart.notes);
        if !self.quarantine.is_empty() {
            let words = String::from("no quarantine has ended");
            gates.push((words, std::mem::take(&mut apart.verdict)));
        }
        Ok(Judged { gates, leaderboard: board, comparison, trend, notes, apart })
    }

    fn compare(&self, items: &Items, both: &Rows) -> Result<ComparisonAnswer, Error> {
        let asked = Compare {
            first: String::from(BASELINE),
            second: String::from(RUN),
            items: items.clone(),
            fail_if_worse: self.fail_if_worse,
            strict: self.strict,
            attempts: self.attempts,
            ..Compare::default()
        };
        asked.answer(both, of_sides(both, BASELINE, RUN)?)
    }

    fn floor_words(&self) -> String {
        let floor = |floor: &Floor| match &floor.dimension {
            Some(key) => format!("{} at least {}", clean(key), floor.least),
            None => format!("score at least {}", floor.least),
        };
        let all: Vec<String> = self.floors.all().map(floor).collect();
        let on = if self.floors.on == On::Low { ", at the lower end of the interval" } else { "" };
        let who = match self.floors.subject.len() {
            0 => String::from("each subject"),
            number => count(number, "subject"),
        };
        format!("{who}: {}{on}", all.join(", "))
    }

    fn worse_words(&self, baseline: &str) -> String {
        let margin = self.fail_if_worse.filter(|margin| *margin > Decimal::ZERO);
        let by = margin.map_or_else(String::new, |margin| format!(" by more than {margin} points"));
        let strict = if self.strict { ", and that is shown" } else { "" };
        format!("not worse than {baseline}{by}{strict}")
    }
}

/// Hands over what a comparison with a baseline is shown with.
fn compared(loaded: &Loaded, is_all: bool, show: impl FnOnce(&ComparisonView<'_>) -> Document) -> Document {
    let failed = |pair: &ComparedPair| failed(pair, loaded.rows.scale.max);
    let is_listed = |pair: &ComparedPair| {
        let is_failed = pair.gate.is_some_and(|gate| !gate.passed);
        is_all || is_failed || pair.difference.verdict == ComparisonVerdict::FirstAhead
    };
    let dimensions = loaded.both.as_ref().map_or(&[][..], |both| &both.dimensions);
    show(&ComparisonView { dimensions, gaps: &[], failed: &failed, is_listed: &is_listed })
}

/// Returns the runs over time and whether they raise an alarm; no answer where there are too few of them.
fn alarms(asked: &Trend, rows: &Rows) -> Result<(Option<TrendAnswer>, Verdict), Error> {
    let mut verdict = Verdict::default();
    let answer = match asked.answer(rows) {
        Ok(answer) => answer,
        Err(error) if error.code() == Code::NothingCounts => {
            verdict.add(Status::Inconclusive, vec![error.message().to_owned()]);
            return Ok((None, verdict));
        }
        Err(error) => return Err(error),
    };
    let mut worse = Vec::new();
    for subject in &answer.subjects {
        let name = short(&subject.subject);
        if let Some(why) = &subject.reason {
            verdict.warn(format!("no alarm can be raised for `{name}`: {why}"));
        }
        let since = subject.change.as_ref().map_or_else(String::new, |it| {
            format!(
                "; most likely since {}, from {:.1} to {:.1} points",
                short(&it.first),
                it.before,
                it.after
            )
        });
        worse.extend(subject.alarm.iter().map(|at| format!("`{name}`: alarm at {}{since}", short(at))));
    }
    verdict.add(Status::Worse, worse);
    Ok((Some(answer), verdict))
}

fn judge_items(least: Decimal, rows: &Rows) -> Verdict {
    let mut found = ItemFloor::default();
    for row in &rows.rows {
        let subject = rows.subjects.get(row.subject).map_or("", String::as_str);
        let place = Place { file: rows.place(row), line: None, nth: 1, is_row: false };
        let published = row.score().map(|score| rows.scale.publish(score));
        let gates: Vec<&str> = row.gates().iter().map(String::as_str).collect();
        found.see_parts(subject, &place, published, &gates, least);
    }
    found.verdict(least, rows.scale.max)
}

fn official(least: Decimal, asked: &Items, rows: &Rows) -> Result<Verdict, Error> {
    if rows.is_of_firsts
        && card_of(rows)?.is_some_and(|card| card.standing.as_ref().is_some_and(|it| !is_plain(it)))
    {
        let message = "a standing under this scorecard is of all attempts, and `attempts` is \"first\"";
        return Err(invalid(message).hint("leave out one of the two"));
    }
    let ask = Standing { items: asked.clone(), ..Standing::default() };
    Ok(ask.answer(rows, &Events::default())?.verdict(least))
}
