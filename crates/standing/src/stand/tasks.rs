//! Tasks: how often they were won and completed, how hard that makes them (`calibration`), and whether they are
//! still of use (`lifecycle`).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::input::{Counted, Item, Ordered, StandError, Untimed, arrange, in_order, treatment};
use crate::calibration::{CalibrationRules, Difficulty, difficulty_of_counts};
use crate::lifecycle::{Ahead, PeriodOutcome, TaskLife};
use karat_core::facts::Outcome;
use karat_core::number::{Score, round_ratio};
use karat_core::scorecard::{Scorecard, Standing, TaskLifecycle};
use karat_stats::outcome::Treatment;
use karat_stats::proportion::Proportion;
use karat_stats::{Interval, StatisticsError};

/// The band of a won match.
const WIN: &str = "win";
/// The band of a drawn match.
const DRAW: &str = "draw";

/// All tasks at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStandings {
    /// The tasks, sorted by name.
    pub tasks: Vec<TaskStanding>,
    /// Items that were given again, with the same content.
    pub repeated: u64,
    /// Items of after the moment: left out.
    pub after: u64,
    /// Items without a time, where others have one, as indices of those given: left out.
    pub without_time: Vec<usize>,
    /// True when no item has a time: then nothing is known of periods.
    pub by_id: bool,
}

/// One task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStanding {
    /// Its name.
    pub task: String,
    /// Number of subjects that tried it.
    pub subjects: u64,
    /// All its items, counted or not, as indices of those given, by time, subject and id.
    pub items: Vec<usize>,
    /// The results.
    pub results: Results,
    /// Won among completed.
    pub won: Rate,
    /// Completed among all attempts.
    pub completed: Rate,
    /// The difficulty, for a card with `calibration`.
    pub calibrated: Option<Calibrated>,
    /// The status, for a card with `lifecycle` and items with times.
    pub life: Option<Lived>,
}

/// The results of the items of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Results {
    /// Items that count, completed or not.
    pub attempts: u64,
    /// Items that came to an end: they succeeded or failed, or have a score but no outcome.
    pub completed: u64,
    /// Completed and won: in the band `win` of the card; under a card without that band those that succeeded.
    pub won: u64,
    /// Completed, and in the band `draw` of a card that has `win`.
    pub drawn: u64,
    /// Left out because the card excludes their outcome.
    pub excluded: u64,
    /// Left out because they have neither an outcome nor a score in a band: it is unknown who won.
    pub undecided: u64,
}

/// A share of attempts, and where the true one may lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// A number of successes in a number of trials.
    pub of: Proportion,
    /// Wilson's interval; none without items.
    pub interval: Option<Interval>,
}

/// The difficulty of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calibrated {
    /// The difficulty; none with too few completed attempts.
    pub difficulty: Option<Difficulty>,
    /// The number of completed attempts that are missing for one; 0 with one.
    pub completed_missing: u64,
    /// Each moment at which the difficulty became another, oldest first. Empty where no item has a time.
    pub changes: Vec<(i64, Difficulty)>,
}

/// The life of a task up to the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lived {
    /// Its status after the last period that is over.
    pub life: TaskLife,
    /// Periods that are over and in which some subject had a score, oldest first.
    pub periods: Vec<Period>,
    /// The period that is not over, as far as it shows something; its status is the one that would follow if it ended now.
    pub running: Option<Period>,
    /// The next status if the periods to come are like the last one.
    pub ahead: Option<Ahead>,
}

/// One period of a task. Each subject counts once, with the mean of its scores in the period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Its first second.
    pub start_seconds: i64,
    /// The outcome of the period; its `scores` are subjects.
    pub outcome: PeriodOutcome,
}

/// Returns the standing of every task at `as_of_seconds`, with intervals of the confidence `level`, between 0 and 1.
///
/// With a `margin`, a difficulty follows the items moment by moment; where none has a time, all together give one, since
/// there is no earlier one that could be kept.
///
/// # Errors
/// If there are problems: everything that is wrong with the items, that `level` is not a confidence, or that the card
/// says nothing about tasks.
pub fn tasks(
    card: &Scorecard,
    items: &[Item<'_>],
    as_of_seconds: i64,
    level: f64,
) -> Result<TaskStandings, Vec<StandError>> {
    let Some(rules) = &card.standing else { return Err(alloc::vec![StandError::NoSection(card.name())]) };
    if rules.calibration.is_none() && rules.lifecycle.is_none() {
        return Err(alloc::vec![StandError::NoTaskRules(card.name())]);
    }
    let mut errors = Vec::new();
    let ordered = arrange(rules, items, as_of_seconds, Untimed::LeaveOut, &mut errors);
    let mut by_task: BTreeMap<&str, Vec<&Counted<'_>>> = BTreeMap::new();
    for counted in ordered.subjects.values().flat_map(|subject| &subject.items) {
        by_task.entry(counted.item.task).or_default().push(counted);
    }
    let mut found = Vec::with_capacity(by_task.len());
    for (task, mut own) in by_task {
        own.sort_by_key(|counted| (counted.at_seconds, counted.item.subject, counted.item.id));
        let view = View { card, rules, own: &own, by_id: ordered.by_id };
        match view.stand(task, as_of_seconds, level) {
            Ok(standing) => found.push(standing),
            Err(error) => errors.push(StandError::Interval(error)),
        }
    }
    if !errors.is_empty() {
        return Err(in_order(errors));
    }
    let Ordered { repeated, after, without_time, by_id, .. } = ordered;
    Ok(TaskStandings { tasks: found, repeated, after, without_time, by_id })
}

/// The items of one task, and what they are judged by.
struct View<'v, 'a> {
    card: &'v Scorecard,
    rules: &'v Standing,
    /// The items by time, subject and id.
    own: &'v [&'v Counted<'a>],
    by_id: bool,
}

impl View<'_, '_> {
    fn stand(&self, task: &str, as_of_seconds: i64, level: f64) -> Result<TaskStanding, StatisticsError> {
        let mut results = Results::default();
        let mut calibrated = Calibrated { difficulty: None, completed_missing: 0, changes: Vec::new() };
        let calibration = self.rules.calibration.as_ref();
        for moment in self.own.chunk_by(|a, b| a.at_seconds == b.at_seconds) {
            for counted in moment {
                results.add(self.ended(counted.item));
            }
            if let Some((rules, first)) = calibration.zip(moment.first()) {
                calibrated.follow(rules, results, (!self.by_id).then_some(first.at_seconds));
            }
        }
        let subjects: BTreeSet<&str> = self.own.iter().map(|counted| counted.item.subject).collect();
        Ok(TaskStanding {
            task: task.into(),
            subjects: subjects.len() as u64,
            items: self.own.iter().map(|counted| counted.place).collect(),
            results,
            won: Rate::new(results.won, results.completed, level)?,
            completed: Rate::new(results.completed, results.attempts, level)?,
            calibrated: calibration.map(|_| calibrated),
            life: self.rules.lifecycle.filter(|_| !self.by_id).map(|rules| self.live(&rules, as_of_seconds)),
        })
    }

    fn ended(&self, item: &Item<'_>) -> End {
        match (treatment(self.rules, item.outcome), item.outcome) {
            (Treatment::Excluded, _) => End::Excluded,
            (Treatment::Success, _) => End::Won,
            (_, None | Some(Outcome::Succeeded | Outcome::Failed)) => match self.band(item) {
                Some(WIN) => End::Won,
                Some(DRAW) => End::Drawn,
                Some(_) => End::Lost,
                None => match item.outcome {
                    Some(Outcome::Succeeded) => End::Won,
                    Some(_) => End::Lost,
                    None => End::Undecided,
                },
            },
            _ => End::Open,
        }
    }

    /// Returns the band of an item, under a card that says which one is won; a score below all bands is in one without a name.
    fn band(&self, item: &Item<'_>) -> Option<&str> {
        let bands = &self.card.bands;
        let published = self.card.scale.publish(item.score?);
        bands.iter().any(|band| band.name == WIN).then(|| {
            let reached = bands.iter().take_while(|band| published.reaches(band.from)).last();
            reached.map_or("", |band| band.name.as_str())
        })
    }

    fn live(&self, rules: &TaskLifecycle, as_of_seconds: i64) -> Lived {
        let length = i64::from(rules.period_seconds.max(1));
        let mut lived = Lived { life: TaskLife::default(), periods: Vec::new(), running: None, ahead: None };
        let period_of = |at_seconds: i64| at_seconds.div_euclid(length);
        for own in self.own.chunk_by(|a, b| period_of(a.at_seconds) == period_of(b.at_seconds)) {
            let scores = means(own);
            let Some(first) = own.first().filter(|_| !scores.is_empty()) else { continue };
            let number = period_of(first.at_seconds);
            let (next, outcome) = lived.life.next(&rules.rules, &scores);
            let period = Period { start_seconds: number.saturating_mul(length), outcome };
            // A deprecated task does not come back, so a period is judged only when it is over.
            if number < period_of(as_of_seconds) {
                lived.life = next;
                lived.periods.push(period);
            } else {
                lived.running = Some(period);
            }
        }
        lived.ahead = lived.life.ahead(&rules.rules);
        lived
    }
}

/// Returns the mean score of each subject that has one.
fn means(own: &[&Counted<'_>]) -> Vec<Score> {
    let mut sums: BTreeMap<&str, (i128, i128)> = BTreeMap::new();
    for (subject, score) in own.iter().filter_map(|it| Some((it.item.subject, it.score?))) {
        let (sum, number) = sums.entry(subject).or_default();
        *sum += i128::from(score.units());
        *number += 1;
    }
    // A mean of scores is not larger than the largest of them.
    let mean = |(sum, number): (i128, i128)| i64::try_from(round_ratio(sum, number)).unwrap_or(i64::MAX);
    sums.into_values().map(|sum| Score::from_units(mean(sum))).collect()
}

/// The end of an item for its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Won,
    Drawn,
    Lost,
    /// It counts, and did not come to an end.
    Open,
    Excluded,
    Undecided,
}

impl Results {
    fn add(&mut self, end: End) {
        self.excluded += u64::from(end == End::Excluded);
        self.undecided += u64::from(end == End::Undecided);
        self.attempts += u64::from(!matches!(end, End::Excluded | End::Undecided));
        self.completed += u64::from(matches!(end, End::Won | End::Drawn | End::Lost));
        self.won += u64::from(end == End::Won);
        self.drawn += u64::from(end == End::Drawn);
    }

    /// Returns those completed, and neither won nor drawn.
    pub const fn lost(self) -> u64 {
        self.completed - self.won - self.drawn
    }
}

impl Rate {
    fn new(successes: u64, trials: u64, level: f64) -> Result<Self, StatisticsError> {
        let of = Proportion::new(successes, trials).unwrap_or_default();
        let interval = if trials == 0 { None } else { Some(of.wilson(level)?) };
        Ok(Self { of, interval })
    }
}

impl Calibrated {
    /// Takes in the counts up to a moment.
    fn follow(&mut self, rules: &CalibrationRules, results: Results, at_seconds: Option<i64>) {
        let Results { won, completed, attempts, .. } = results;
        let next = difficulty_of_counts(rules, won, completed, attempts, self.difficulty);
        if let Some((at_seconds, next)) = at_seconds.zip(next).filter(|_| next != self.difficulty) {
            self.changes.push((at_seconds, next));
        }
        self.difficulty = next;
        self.completed_missing = rules.completed_min.saturating_sub(completed);
    }
}

#[cfg(test)]
mod tests;
