//! Quality against cost: who is on the Pareto front, and what a solved task costs.

use std::collections::BTreeMap;

use karat_core::number::BILLION;
use karat_stats::StatisticsError;
use karat_stats::front::{CostRow, Costs, FrontPlan};
use karat_stats::outcome::Run;
use serde::{Deserialize, Serialize};

use crate::answers::basis::Measure;
use crate::answers::share;
use crate::error::{Code, Error};
use crate::leaderboard::attempts::Pass;
use crate::leaderboard::{By, Settings, is_measured, run};
use crate::rows::Rows;
use crate::text::clean;

/// The pairs of which one dominates the other in fewer resamples are not listed.
const LISTED: f64 = 0.5;

/// Quality against cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CostFront {
    /// The fact with the cost.
    pub fact: String,
    /// Its unit; null if the scorecard states none.
    pub unit: Option<String>,
    /// The number of tasks at which every subject that is compared has a result and a cost.
    pub tasks: u64,
    /// The number of other tasks, which the front leaves out.
    pub tasks_left_out: u64,
    /// The number of resamples of the tasks behind each share.
    pub draws: u32,
    /// The seed of the resamples.
    pub seed: u64,
    /// The subjects: those on the front first, the cheapest first, then the others by name.
    pub subjects: Vec<SubjectCost>,
    /// Pairs of which one dominates the other, surest first.
    pub dominance: Vec<Dominance>,
    /// The reason why there is no front; null if there is one.
    pub reason: Option<String>,
}

/// A subject between quality and cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SubjectCost {
    /// The subject.
    pub subject: String,
    /// The mean over the tasks of the front, as a share of the scale; null without a front, or without any cost.
    pub quality: Option<f64>,
    /// The mean cost of such a task.
    pub cost: Option<f64>,
    /// True if no subject is better in one of both and as good in the other; null as the quality.
    pub on_front: Option<bool>,
    /// The share of resamples of the tasks in which it is on the front.
    pub front_share: Option<f64>,
    /// The cost of a solved task (its outcome is success, or its score perfect), over its items that have both, with the interval over tasks; null if nothing is solved there.
    pub per_solved: Option<Measure>,
    /// The share of its tasks that have both.
    pub share_with_cost: f64,
}

/// A pair of which one dominates the other: not worse in quality and cost, and better in one of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Dominance {
    /// The better one.
    pub better: String,
    /// The other one.
    pub worse: String,
    /// True if it does so on the tasks at hand.
    pub holds: bool,
    /// The share of resamples in which it does. It is not the chance that it does on all tasks of this kind, above all with fewer than 50.
    pub share: f64,
}

impl CostFront {
    /// Computes the front of some of the items, given by index.
    ///
    /// # Errors
    /// If no item has the fact, or one has something else than a number from 0 on there.
    pub(crate) fn new(rows: &Rows, items: &[usize], fact: &str, settings: &Settings) -> Result<Self, Error> {
        let costs = rows.numbers(fact, "--cost")?;
        let below = rows.rows.iter().zip(&costs).find(|(_, cost)| cost.is_some_and(|cost| cost < 0.0));
        if let Some((row, _)) = below {
            let message = format!("{}: `{}` is below 0, expected a cost", rows.place(row), clean(fact));
            return Err(Error::new(Code::EvidenceRefused, message));
        }
        let refused = |error: StatisticsError| Error::new(Code::InvalidOption, error.to_string());
        let score = |run: &Run| run.value(settings.policy);
        let pass = |run: &Run| Pass::Stated.of(run, settings.policy).map(|it| i64::from(it) * BILLION);
        let count = rows.subjects.len();
        let solved = Costs::new(count, &cells(rows, items, &costs, pass)).map_err(refused)?;
        let costs = Costs::new(count, &cells(rows, items, &costs, score)).map_err(refused)?;
        let plan = FrontPlan { draws: settings.draws, seed: settings.seed };
        let (front, reason) = match costs.front(plan) {
            Ok(front) => (Some(front), None),
            Err(why @ (StatisticsError::TooFew { .. } | StatisticsError::TooMany { .. })) => {
                (None, Some(format!("no front: {why}")))
            }
            Err(error) => return Err(refused(error)),
        };
        let name = |at: usize| rows.subject_name(at).to_owned();
        let mut subjects = Vec::new();
        for at in 0..rows.subjects.len() {
            let own = match solved.cost_per_solved(at, settings.level) {
                Ok(own) => own,
                // None of its items is among these.
                Err(StatisticsError::TooFew { .. }) => continue,
                Err(error) => return Err(refused(error)),
            };
            let placed = front.as_ref().and_then(|it| it.subjects.get(at).copied().flatten());
            subjects.push(SubjectCost {
                subject: name(at),
                quality: placed.map(|it| share(it.quality)),
                cost: placed.map(|it| share(it.cost)),
                on_front: placed.map(|it| it.on_front),
                front_share: placed.map(|it| share(it.share)),
                per_solved: own.cost.map(|cost| Measure::new(cost, own.interval)),
                share_with_cost: share(own.share_with_both),
            });
        }
        subjects.sort_by(|one, other| {
            let is_off = |it: &SubjectCost| it.on_front != Some(true);
            let price = |it: &SubjectCost| it.cost.filter(|_| !is_off(it)).unwrap_or_default();
            is_off(one).cmp(&is_off(other)).then_with(|| price(one).total_cmp(&price(other)))
        });
        let pairs = front.iter().flat_map(|it| &it.pairs).filter(|it| it.holds || it.share >= LISTED);
        let mut dominance: Vec<Dominance> = pairs
            .map(|it| Dominance {
                better: name(it.better),
                worse: name(it.worse),
                holds: it.holds,
                share: share(it.share),
            })
            .collect();
        dominance.sort_by(|one, other| other.share.total_cmp(&one.share));
        let cards = rows.scorers.iter().map(|scorer| scorer.card());
        let unit = cards.flat_map(|card| &card.facts).find(|it| it.name == fact).map(|it| it.unit.clone());
        let unit = unit.filter(|unit| !unit.is_empty() && unit != "1");
        Ok(Self {
            fact: fact.to_owned(),
            unit,
            tasks: front.as_ref().map_or(0, |it| it.tasks as u64),
            tasks_left_out: front.as_ref().map_or(0, |it| it.tasks_left_out as u64),
            draws: plan.draws,
            seed: plan.seed,
            subjects,
            dominance,
            reason,
        })
    }
}

/// Returns quality and cost by subject and task: means over the items that have both, else the quality alone.
fn cells(
    rows: &Rows,
    items: &[usize],
    costs: &[Option<f64>],
    quality: impl Fn(&Run) -> Option<i64>,
) -> Vec<CostRow> {
    /// Sums over items: with a cost, and without.
    #[derive(Default)]
    struct Cell {
        with_cost: (i128, f64, u32),
        without: (i128, u32),
    }
    let mut cells: BTreeMap<(usize, usize), Cell> = BTreeMap::new();
    for &at in items {
        let found = rows.rows.get(at).zip(rows.tasks.of_rows.get(at).copied());
        let Some((row, task)) = found.filter(|(row, _)| is_measured(row, By::Score)) else { continue };
        let Some(value) = quality(&run(row, task, By::Score)) else { continue };
        let cell = cells.entry((row.subject, task)).or_default();
        match costs.get(at).copied().flatten() {
            Some(cost) => {
                let (sum, paid, count) = cell.with_cost;
                cell.with_cost = (sum + i128::from(value), paid + cost, count + 1);
            }
            None => cell.without = (cell.without.0 + i128::from(value), cell.without.1 + 1),
        }
    }
    let mean = |sum: i128, count: u32| karat_core::number::round(sum as f64 / f64::from(count)) as i64;
    let row = |((subject, task), cell): ((usize, usize), Cell)| {
        let (sum, paid, count) = cell.with_cost;
        let (quality, cost) = match count {
            0 => (mean(cell.without.0, cell.without.1), None),
            count => (mean(sum, count), Some(paid / f64::from(count))),
        };
        CostRow { subject, task, quality: Some(quality), cost }
    };
    cells.into_iter().map(row).collect()
}
