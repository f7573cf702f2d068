//! Weights of a scorecard that predict an outcome, from scored items: the cases, their clusters and which of them are
//! held out. The search is `karat_stats::tune`, the answer [`crate::answers::tune`].

use std::collections::{BTreeMap, BTreeSet};

use karat_core::facts::Digest;
use karat_core::formula::{Formula, Symbol};
use karat_core::number::{Decimal, round_ratio};
use karat_core::scorecard::{Mean, MissingPolicy, Scorecard};
use karat_stats::tune::{Case, Plan, Question, Tuned, tune};

use crate::error::{Code, Error};
use crate::rows::{Row, Rows};
use crate::text::clean;

/// The grid of the weights, in millionths, if the sum is on it.
const STEP: i64 = 1000;

/// The thing to predict.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    /// The first label of each item: a number, `true` or `false`, `succeeded` or `failed`.
    Outcome,
    /// Pairs of items by their ids, or of subjects.
    Wins(&'a [Win<'a>]),
}

/// The result between two items or subjects.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Win<'a> {
    /// The id of the first item, or the first subject.
    pub first: &'a str,
    /// The second.
    pub second: &'a str,
    /// 1 if the first won, 0 if the second did, one half if neither.
    pub score: f64,
}

/// The settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The share of the clusters that is held out, above 0 and below 1.
    pub holdout: f64,
    /// The confidence of intervals.
    pub level: f64,
    /// Resamples for the gain.
    pub resamples: u32,
    /// Resamples for the weights, each with a fit.
    pub refits: u32,
    /// The seed of the split and of the resamples.
    pub seed: u64,
}

karat_core::words! {
    /// The clusters that are held out or learned from as a whole.
    pub enum Unit {
        /// The tasks that items state.
        Task = "task",
        /// The subjects.
        Subject = "subject",
        /// Single items.
        Item = "item",
        /// Pairs, each with all its matches.
        Pair = "pair",
    }
}

/// The weights that were found, and the cases behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// The weights of the scorecard, by dimension.
    pub own: Vec<Decimal>,
    /// The weights found, and what they gain.
    pub tuned: Tuned,
    /// The clusters.
    pub unit: Unit,
    /// Items without an outcome, or pairs of items without a value; they are left out.
    pub left_out: u64,
}

impl Tuning {
    /// Splits the items, finds weights on one part and judges them on the other.
    ///
    /// # Errors
    /// If the scorecard has no weights that can be tuned, a pair names what is not there, or a part is too small.
    pub fn new(rows: &Rows, target: Target<'_>, settings: &Settings) -> Result<Self, Error> {
        let card = tunable(rows)?;
        let own: Vec<Decimal> = card.dimensions.iter().map(|dimension| dimension.weight).collect();
        let mut values: Vec<Vec<Option<i64>>> = rows.rows.iter().map(|row| values(row, card)).collect();
        let mut cases = Cases { held: settings, clusters: BTreeMap::new(), list: Vec::new(), left_out: 0 };
        let unit = match target {
            Target::Outcome => cases.of_outcomes(rows, &values),
            Target::Wins(wins) => {
                if let Some(means) = subjects(rows, wins, &values)? {
                    values = means;
                    cases.of_subjects(rows, wins, &values)
                } else {
                    cases.of_items(rows, wins, &values)?
                }
            }
        };
        let sum = if card.override_policy.is_some() {
            Decimal::ONE
        } else {
            Decimal::from_millionths(own.iter().map(|weight| weight.millionths()).sum())
        };
        let step = if sum.millionths() % STEP == 0 { STEP } else { 1 };
        let plan = Plan {
            sum,
            step: Decimal::from_millionths(step),
            level: settings.level,
            resamples: settings.resamples,
            refits: settings.refits,
            seed: settings.seed,
        };
        let question = Question {
            values: &values,
            own: &own,
            counts_missing: card.mean.takes_weights_as_given(),
            cases: &cases.list,
        };
        let tuned = tune(&question, &plan).map_err(|error| {
            Error::new(Code::InvalidOption, error.to_string()).hint(format!(
                "{} of {} cases are held out, in clusters by {}; {} were left out for want of an outcome or a value",
                cases.list.iter().filter(|case| case.is_held_out).count(),
                cases.list.len(),
                unit.name(),
                cases.left_out
            ))
        })?;
        Ok(Self { own, tuned, unit, left_out: cases.left_out })
    }

    /// Returns the dimensions whose weight changes, with the new weight: an override of the card. Empty if the weights
    /// found are the card's own.
    pub(crate) fn changes(&self, card: &Scorecard) -> Vec<(String, Decimal)> {
        let weights = self.own.iter().zip(&self.tuned.weights);
        let changed = card.dimensions.iter().zip(weights).filter(|(_, (own, tuned))| own != tuned);
        changed.map(|(dimension, (_, tuned))| (dimension.key.clone(), *tuned)).collect()
    }

    /// Returns true if the weights are better than the card's own by more than chance.
    pub(crate) fn proposes(&self) -> bool {
        self.tuned.is_better()
    }
}

/// Returns the scorecard of the items, if its weights can be tuned.
fn tunable(rows: &Rows) -> Result<&Scorecard, Error> {
    let refuse = |why: &str| Err(Error::new(Code::InvalidOption, why));
    let Some(card) = rows.only_card() else {
        return refuse("the items are scored by several scorecards, each with its own weights");
    };
    if !matches!(card.mean, Mean::WeightedSum | Mean::WeightedMean) {
        return Err(Error::new(
            Code::InvalidOption,
            format!(
                "the mean of `{}` is {}, and weights are tuned for weighted means and sums",
                card.name(),
                card.mean.name()
            ),
        ));
    }
    if !card.groups.is_empty() || card.profiles.is_some() {
        return refuse("the scorecard has groups or profiles, and weights are tuned on one level");
    }
    if card.dimensions.len() < 2 {
        return refuse("the scorecard has one dimension, and no weights to shift");
    }
    Ok(card)
}

/// Returns the dimensions whose value a fact moves, by their keys: it would predict itself.
pub fn readers<'c>(card: &'c Scorecard, fact: &str) -> Vec<&'c str> {
    let Some(fact) = card.facts.iter().position(|known| known.name == fact) else { return Vec::new() };
    let mut moved = BTreeSet::from([Symbol::Fact(fact)]);
    let reads = |formula: &Formula, moved: &BTreeSet<Symbol>| {
        formula.expr.symbols().iter().any(|symbol| moved.contains(symbol))
    };
    // Lets and values may name each other in any order, so until nothing is added.
    loop {
        let before = moved.len();
        for (at, named) in card.lets.iter().enumerate() {
            if reads(&named.formula, &moved) {
                moved.insert(Symbol::Let(at));
            }
        }
        for (at, dimension) in card.dimensions.iter().enumerate() {
            let parts = [Some(&dimension.formula), dimension.when.as_ref(), dimension.applies.as_ref()];
            if parts.into_iter().flatten().any(|formula| reads(formula, &moved)) {
                moved.insert(Symbol::Reading(at));
            }
        }
        if moved.len() == before {
            break;
        }
    }
    let dimensions = card.dimensions.iter().enumerate();
    let read = dimensions.filter(|(at, _)| moved.contains(&Symbol::Reading(*at)));
    read.map(|(_, dimension)| dimension.key.as_str()).collect()
}

/// Returns the values of an item by dimension, as the card takes them into its mean.
fn values(row: &Row, card: &Scorecard) -> Vec<Option<i64>> {
    let value = |(at, dimension): (usize, &karat_core::scorecard::Dimension)| {
        let filled = match dimension.missing {
            _ if row.not_applicable().contains(&dimension.key) => None,
            MissingPolicy::Zero => Some(0),
            MissingPolicy::Default(billionths) => Some(billionths),
            MissingPolicy::Exclude | MissingPolicy::Withhold => None,
        };
        row.reading(at).or(filled)
    };
    card.dimensions.iter().enumerate().map(value).collect()
}

/// Returns the mean values of every subject, if all names of `wins` are subjects.
fn subjects(
    rows: &Rows,
    wins: &[Win<'_>],
    values: &[Vec<Option<i64>>],
) -> Result<Option<Vec<Vec<Option<i64>>>>, Error> {
    if wins.is_empty() {
        return Err(Error::new(Code::NoItems, "there is no pair to learn from"));
    }
    if !wins.iter().all(|win| [win.first, win.second].iter().all(|name| rows.subject(name).is_some())) {
        return Ok(None);
    }
    let dimensions = values.first().map_or(0, Vec::len);
    let mut sums = vec![vec![(0i128, 0i128); dimensions]; rows.subjects.len()];
    for (row, values) in rows.rows.iter().zip(values) {
        let Some(sums) = sums.get_mut(row.subject) else { continue };
        for ((sum, count), value) in sums.iter_mut().zip(values) {
            *sum += value.map_or(0, i128::from);
            *count += i128::from(value.is_some());
        }
    }
    let mean = |(sum, count): (i128, i128)| (count > 0).then(|| round_ratio(sum, count) as i64);
    Ok(Some(sums.into_iter().map(|sums| sums.into_iter().map(mean).collect()).collect()))
}

/// The cases as they are collected.
struct Cases<'s> {
    held: &'s Settings,
    clusters: BTreeMap<String, (usize, bool)>,
    list: Vec<Case>,
    left_out: u64,
}

impl Cases<'_> {
    fn of_outcomes(&mut self, rows: &Rows, values: &[Vec<Option<i64>>]) -> Unit {
        let states_task = rows.rows.iter().any(|row| rows.stated_task(row).is_some());
        let unit = match (states_task, rows.subjects.len() < rows.rows.len()) {
            (true, _) => Unit::Task,
            (false, true) => Unit::Subject,
            (false, false) => Unit::Item,
        };
        for (at, row) in rows.rows.iter().enumerate() {
            let outcome = row.labels().first().and_then(|label| number(label.as_deref()?));
            let cluster = match unit {
                Unit::Subject => rows.subject_name(row.subject),
                _ => rows.task_name(row),
            };
            match outcome.filter(|_| has_value(values, at)) {
                Some(outcome) => self.add(at, None, outcome, cluster),
                None => self.left_out += 1,
            }
        }
        unit
    }

    fn of_subjects(&mut self, rows: &Rows, wins: &[Win<'_>], values: &[Vec<Option<i64>>]) -> Unit {
        for win in wins {
            if let (Some(first), Some(second)) = (rows.subject(win.first), rows.subject(win.second)) {
                self.add_pair(first, second, win, None, values);
            }
        }
        Unit::Pair
    }

    fn of_items(
        &mut self,
        rows: &Rows,
        wins: &[Win<'_>],
        values: &[Vec<Option<i64>>],
    ) -> Result<Unit, Error> {
        let places: BTreeMap<&str, usize> =
            rows.rows.iter().enumerate().map(|(at, row)| (rows.id(row), at)).collect();
        let find = |name: &str| {
            places.get(name).copied().ok_or_else(|| {
                Error::new(
                    Code::InvalidOption,
                    format!("`{}` is neither the id of an item nor a subject", clean(name)),
                )
                .hint("pairs are of subjects alone, or of ids of items alone")
            })
        };
        let (mut same_task, mut list) = (true, Vec::new());
        for win in wins {
            let (first, second) = (find(win.first)?, find(win.second)?);
            let task = |at: usize| rows.rows.get(at).and_then(|row| rows.stated_task(row));
            same_task &= task(first).is_some() && task(first) == task(second);
            list.push((first, second, win, task(first)));
        }
        for (first, second, win, task) in list {
            self.add_pair(first, second, win, task.filter(|_| same_task), values);
        }
        Ok(if same_task { Unit::Task } else { Unit::Pair })
    }

    fn add_pair(
        &mut self,
        first: usize,
        second: usize,
        win: &Win<'_>,
        task: Option<&str>,
        values: &[Vec<Option<i64>>],
    ) {
        if first == second || !has_value(values, first) || !has_value(values, second) {
            self.left_out += 1;
            return;
        }
        let (low, high) = (win.first.min(win.second), win.first.max(win.second));
        let pair = format!("{low}\n{high}");
        self.add(first, Some(second), win.score, task.unwrap_or(&pair));
    }

    /// Adds a case. Its cluster is held out if the digest of seed and name says so: whatever the order of items, and
    /// whatever other clusters there are.
    fn add(&mut self, first: usize, second: Option<usize>, outcome: f64, name: &str) {
        let next = self.clusters.len();
        let settings = self.held;
        let (cluster, is_held_out) = *self.clusters.entry(name.to_owned()).or_insert_with(|| {
            let Digest(bytes) = Digest::of(format!("{}\n{name}", settings.seed).as_bytes());
            let first = bytes.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes));
            // Of 2^53 equally likely numbers, which doubles hold exactly.
            let drawn = (first >> 11) as f64 / (1u64 << 53) as f64;
            (next, drawn < settings.holdout)
        });
        self.list.push(Case { first, second, outcome, cluster, is_held_out });
    }
}

/// Returns true if the item has a value in some dimension.
fn has_value(values: &[Vec<Option<i64>>], at: usize) -> bool {
    values.get(at).is_some_and(|values| values.iter().any(Option::is_some))
}

/// Returns an outcome as a number.
fn number(text: &str) -> Option<f64> {
    match text {
        "true" | "succeeded" => Some(1.0),
        "false" | "failed" => Some(0.0),
        _ => text.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}
