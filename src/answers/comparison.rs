//! Two subjects on the tasks that both have, `karat/comparison/2`, and the subjects of two files, `karat/comparisons/2`.

use std::collections::BTreeMap;

use karat_stats::compare;
use serde::{Deserialize, Serialize};

use super::basis::{Basis, Estimate};
use super::changes::{Changes, Gate, Power};
use super::{ComparisonVerdict, StopsAt, answer, points, share};
use crate::leaderboard::Settings;
use crate::leaderboard::gate::GateFinding;
use crate::leaderboard::pair::Pair;
use crate::rows::Rows;

/// Two subjects side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: ComparisonSchema,
    /// The items, and how they were compared.
    #[serde(flatten)]
    pub basis: Basis,
    /// The two.
    #[serde(flatten)]
    pub pair: ComparedPair,
}

answer!(Comparison, ComparisonSchema = "karat/comparison/2", "a comparison");

/// The subjects that two files have, each compared with itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Comparisons {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: ComparisonsSchema,
    /// The items, and how they were compared.
    #[serde(flatten)]
    pub basis: Basis,
    /// The first file.
    pub first_file: String,
    /// The second file.
    pub second_file: String,
    /// The subjects that both have, by name.
    pub comparisons: Vec<ComparedPair>,
    /// The subjects that only the first file has.
    pub only_first: Vec<String>,
    /// The subjects that only the second file has.
    pub only_second: Vec<String>,
}

answer!(Comparisons, ComparisonsSchema = "karat/comparisons/2", "comparisons");

impl Comparisons {
    /// Returns the subjects that one file alone has, so that nothing judges them: each file by name, with them.
    pub fn unpaired(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        let sides = [(&self.first_file, &self.only_first), (&self.second_file, &self.only_second)];
        let sides = sides.into_iter().filter(|(_, only)| !only.is_empty());
        sides.map(|(file, only)| (file.as_str(), only.iter().map(String::as_str).collect()))
    }
}

/// The comparison of two subjects, or of those of two files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum ComparisonAnswer {
    /// Two subjects.
    Pair(Box<Comparison>),
    /// Those of two files.
    Several(Box<Comparisons>),
}

impl ComparisonAnswer {
    /// Returns the subjects that the first file alone has.
    pub fn gone(&self) -> &[String] {
        match self {
            Self::Pair(_) => &[],
            Self::Several(answer) => &answer.only_first,
        }
    }

    /// Returns the items, and how they were compared.
    pub fn basis(&self) -> &Basis {
        match self {
            Self::Pair(answer) => &answer.basis,
            Self::Several(answer) => &answer.basis,
        }
    }

    /// Returns the pairs that were compared.
    pub fn pairs(&self) -> &[ComparedPair] {
        match self {
            Self::Pair(answer) => std::slice::from_ref(&answer.pair),
            Self::Several(answer) => &answer.comparisons,
        }
    }
}

/// Two subjects that are compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ComparedPair {
    /// The first subject.
    pub first: ComparedSubject,
    /// The second subject.
    pub second: ComparedSubject,
    /// The difference of the scores in points, second minus first: below 0 the second is worse.
    pub difference: Difference,
    /// The difference of values by dimension, second minus first; null if the two share no task with a value.
    #[cfg_attr(feature = "schema", schema(schema_with = differences))]
    pub dimensions: BTreeMap<String, Option<Difference>>,
    /// The tasks that each passed; null if a task was tried more than once, and for means over cases.
    pub passes: Option<Passes>,
    /// The tasks at which the second does worse or better.
    pub changes: Changes,
    /// The power of its tasks; null where the differences of tasks have no spread.
    pub power: Option<Power>,
    /// The finding of the gate; null if none was asked for.
    pub gate: Option<Gate>,
}

/// A subject that is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ComparedSubject {
    /// Its name.
    pub subject: String,
    /// The mean over all its tasks, in points; null if no task counts.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub mean: Option<f64>,
    /// The result at which its attempts stop, so that its mean over attempts is wrong; left out where their numbers show none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts_stop_at: Option<StopsAt>,
}

/// A difference over the tasks that both subjects have, second minus first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Difference {
    /// The mean difference with its interval.
    pub estimate: Estimate,
    /// Tasks on which the second is better.
    pub better_tasks: u64,
    /// Tasks on which the second is worse.
    pub worse_tasks: u64,
    /// Tasks that only the first has; they are left out.
    pub only_first_tasks: u64,
    /// Tasks that only the second has; they are left out.
    pub only_second_tasks: u64,
    /// The confidence of verdict and interval; higher for the scores of several pairs, which are judged together (Holm).
    pub level: f64,
    /// The subject that is ahead, if one is.
    pub verdict: ComparisonVerdict,
}

/// The tasks that two subjects passed, and McNemar's test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Passes {
    /// Tasks that both passed.
    pub both: u64,
    /// Tasks that only the first passed.
    pub only_first: u64,
    /// Tasks that only the second passed.
    pub only_second: u64,
    /// Tasks that neither passed.
    pub neither: u64,
    /// The mid-p value of McNemar's test.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub mid_p: f64,
    /// The subject that is ahead by this test, if one is.
    pub verdict: ComparisonVerdict,
}

impl ComparedPair {
    /// Returns the comparison `pair` of subjects of `rows`, with the finding of a gate.
    pub fn new(rows: &Rows, pair: &Pair, gate: Option<&GateFinding>, settings: &Settings) -> Self {
        let subject = |at: usize, side: usize| ComparedSubject {
            subject: rows.subject_name(at).to_owned(),
            mean: pair.means.get(side).copied().flatten().map(|mean| points(mean, rows.scale.max)),
            attempts_stop_at: pair.stopping.get(side).copied().flatten(),
        };
        let dimensions = rows.dimensions.iter().zip(&pair.dimensions);
        Self {
            first: subject(pair.first, 0),
            second: subject(pair.second, 1),
            difference: Difference::new(&pair.score, rows.scale.max),
            dimensions: dimensions
                .map(|((key, _), found)| (key.clone(), found.as_ref().map(|it| Difference::new(it, 1))))
                .collect(),
            passes: pair.passes.as_ref().map(|passes| Passes {
                both: passes.pairs.both,
                only_first: passes.pairs.only_first,
                only_second: passes.pairs.only_second,
                neither: passes.pairs.neither,
                mid_p: share(passes.mid_p),
                verdict: passes.verdict,
            }),
            changes: Changes::new(rows, &pair.changes),
            power: Power::new(&pair.score, settings.level, rows.scale.max),
            gate: gate.map(|found| Gate::new(found, &pair.score, rows.scale.max)),
        }
    }
}

impl Difference {
    /// Returns a difference of the first and the second on a scale.
    fn new(found: &compare::Difference, scale: u32) -> Self {
        let Estimate { mean, low, high, method, tasks } = Estimate::from(&found.estimate);
        let turned = |share: f64| points(-share, scale);
        Self {
            estimate: Estimate {
                mean: turned(mean),
                low: high.map(turned),
                high: low.map(turned),
                method,
                tasks,
            },
            better_tasks: found.second_ahead_tasks as u64,
            worse_tasks: found.first_ahead_tasks as u64,
            only_first_tasks: found.only_first_tasks as u64,
            only_second_tasks: found.only_second_tasks as u64,
            level: share(found.level),
            verdict: found.verdict,
        }
    }
}

#[cfg(feature = "schema")]
fn differences() -> utoipa::openapi::schema::Object {
    let description = "The difference of values by dimension, second minus first; null if the two share no task with a value.";
    super::members_or_null("Difference", description, false)
}
