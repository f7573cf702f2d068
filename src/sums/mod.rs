//! Leaderboards of sums: items that another engine scored and added up by subject, task and outcome.
//!
//! The query of [`crate::sql::query`] gives such rows. Whole numbers have one sum in any order and on any number of machines, so the
//! items would give the same answer. [`Loader`] takes the rows, from files by [`load`] or from anywhere else.
//!
//! ```
//! use karat::CompiledCard;
//! use karat::ask::{Fields, Leaderboard};
//! use karat::error::Place;
//! use karat::sums::{Loader, Value};
//!
//! let card = CompiledCard::open("trust@1.0.0")?;
//! let digest = card.digest.to_string();
//! let mut loader = Loader::new(card, &Fields::default());
//! for (subject, sum) in [("ada", 1_500_000_000), ("bob", 900_000_000)] {
//!     let place = Place { file: String::from("sums"), line: None, nth: 1, is_row: true };
//!     let names = [("subject", Value::from(subject)), ("task", Value::from("t1")), ("card", Value::from(digest.as_str()))];
//!     let numbers = [("items", 2), ("scored", 2), ("broken", 0), ("sum_score_e9", sum)];
//!     let numbers = numbers.map(|(name, number)| (name.into(), Value::Whole(number)));
//!     loader.add(&place, &[names.map(|(name, value)| (name.into(), value)).as_slice(), &numbers].concat());
//! }
//! let answer = loader.finish()?.leaderboard(&Leaderboard::default())?;
//! assert_eq!(answer.leaderboards[0].rows[0].score.mean, 750.0);
//! # Ok::<(), karat::Error>(())
//! ```

mod answer;
mod load;
mod read;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use karat_core::facts::Outcome;
use karat_core::scorecard::Scale;
use karat_stats::StatisticsError;
use karat_stats::means::{MeansRow, rows_of_table};
use karat_stats::outcome::{Policy, RunSum, table_of};
use karat_stats::table::{TaskSum, key};

pub use load::Loader;
pub use read::load;

use crate::answers::leaderboard::method::{Page, RankedByMeans};
use crate::answers::leaderboard::{Leaderboard, LeaderboardRow, SumsUsed};
use crate::card::CompiledCard;
use crate::leaderboard::evidence::{Evidence, Named};
use crate::leaderboard::{By, Settings, nothing_counts, too_few_tasks};
use crate::text::count;

/// The column of subjects, unless a question names another.
pub const SUBJECT: &str = "subject";
/// The column of tasks, unless a question names another.
pub const TASK: &str = "task";
/// The column of outcomes.
pub const OUTCOME: &str = "outcome";

/// A value in a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Missing,
    /// A text, perhaps the digits of a number.
    Text(Cow<'a, str>),
    /// A whole number.
    Whole(i64),
    /// Something else, in words: `true`, `a list`.
    Other(String),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

/// The items of a subject at a task that ended alike.
#[derive(Debug, Clone, Copy)]
struct Cell {
    subject: u32,
    task: u32,
    outcome: Option<Outcome>,
    items: u32,
    scored: u32,
    broken: u32,
    sum: i64,
    /// The place of its values.
    values: usize,
}

/// The values of a dimension or group in a cell.
#[derive(Debug, Clone, Copy, Default)]
struct Measured {
    count: u32,
    sum: i64,
    /// The number of items with neither this value nor a score.
    bare: u32,
}

/// Items added up by subject, task and outcome.
#[derive(Debug, Clone)]
pub struct Sums {
    card: Arc<CompiledCard>,
    /// In order of their names, as the tasks.
    subjects: Vec<String>,
    tasks: Vec<String>,
    /// Key and label of dimensions and groups; empty if the sums have no values of them.
    dimensions: Vec<(String, String)>,
    /// By subject, task and outcome, without those of subjects that are left out.
    cells: Vec<Cell>,
    /// Those of each cell side by side.
    values: Vec<Measured>,
    /// The subjects with broken items, each with the reason to leave it out.
    left_out: BTreeMap<String, String>,
    used: SumsUsed,
}

impl Sums {
    /// Returns the number of items that count.
    fn items_count(&self) -> usize {
        self.cells.iter().map(|cell| cell.items as usize).sum()
    }

    /// Returns the runs of a cell that have a value to rank by: the rule of [`crate::leaderboard::is_measured`].
    fn runs_of(&self, cell: &Cell, by: By) -> Option<RunSum> {
        let Cell { outcome, items, scored, sum, .. } = *cell;
        let (runs, scored, sum) = match by {
            By::Score => (items, scored, sum),
            By::Dimension(at) => {
                let it = self.values.get(cell.values * self.dimensions.len() + at)?;
                let runs = match outcome {
                    None | Some(Outcome::Succeeded) => it.count.saturating_add(it.bare),
                    Some(Outcome::Failed) => it.count,
                    Some(_) => items,
                };
                (runs, it.count, it.sum)
            }
            By::Fact => return None,
        };
        let (subject, task) = (cell.subject as usize, cell.task as usize);
        (runs > 0).then_some(RunSum { subject, task, outcome, runs, scored, sum })
    }
}

impl Named for Sums {
    fn subjects(&self) -> &[String] {
        &self.subjects
    }

    fn dimensions(&self) -> &[(String, String)] {
        &self.dimensions
    }

    fn scale(&self) -> Scale {
        self.card.scale
    }

    fn gaps(&self) -> Vec<String> {
        let of = |is: &dyn Fn(&Cell) -> bool, number: fn(&Cell) -> u32| -> usize {
            self.cells.iter().filter(|cell| is(cell)).map(|cell| number(cell) as usize).sum()
        };
        let all = self.items_count();
        let unstated = of(&|cell| cell.outcome.is_none(), |cell| cell.items);
        let unstated = (unstated > 0 && unstated < all).then(|| {
            format!("{unstated} of {} without a known outcome: counted by score", count(all, "item"))
        });
        let unscored = of(&|_| true, |cell| cell.items.saturating_sub(cell.scored));
        let unscored = (unscored > 0).then(|| {
            format!(
                "{unscored} of {} without a score: a failure counts 0, any other has no verdict",
                count(all, "item")
            )
        });
        unstated.into_iter().chain(unscored).collect()
    }
}

impl RankedByMeans for Sums {
    fn means(&self, settings: &Settings, page: Page) -> Result<Leaderboard, StatisticsError> {
        let table = table_of(self.subjects.len(), self.runs(settings.by), settings.policy)?;
        let ranked = rows_of_table(&table, settings.tasks_min, Some(settings.level))?;
        if ranked.is_empty() {
            return Err(if table.tasks() == 0 { nothing_counts() } else { too_few_tasks() });
        }
        let row = |row: &MeansRow| LeaderboardRow::of_means(self.subject_name(row.subject as usize), row);
        Ok(Leaderboard {
            ranked: ranked.len() as u64,
            rows: ranked.iter().skip(page.skip).take(page.limit).map(row).collect(),
            ..Leaderboard::empty(None)
        })
    }
}

impl Evidence for Sums {
    type Names = Self;

    fn names(&self) -> &Self {
        self
    }

    fn items(&self) -> Vec<usize> {
        let mut counts = vec![0; self.subjects.len()];
        for cell in &self.cells {
            if let Some(count) = counts.get_mut(cell.subject as usize) {
                *count += cell.items as usize;
            }
        }
        counts
    }

    fn runs(&self, by: By) -> impl Iterator<Item = RunSum> + Clone {
        self.cells.iter().filter_map(move |cell| self.runs_of(cell, by))
    }

    fn values(&self, dimension: usize, policy: Policy) -> impl Iterator<Item = TaskSum> + Clone {
        self.runs(By::Dimension(dimension)).map(move |runs| runs.counted(policy))
    }

    fn key(&self, task: usize) -> u64 {
        self.tasks.get(task).map_or(0, |name| key(name))
    }
}
