//! The answer to [`Judges`]: verdicts of judges against labels, and the subjects once the errors of a judge are taken out.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::number::{Decimal, Score};
use karat_stats::agreement::{Accuracy, Agreement, Bias, BiasItem, JudgedItem, RatedItem, Weighting};
use karat_stats::power::POWER;
use karat_stats::prediction::{Predicted, PredictedDifference, Rated};
use karat_stats::table::{Observation, TaskTable};
use serde::Deserialize;

use super::about::{About, few};
use super::answer::{invalid, settings, share_of_scale};
use crate::answers::basis::{Basis, Estimate, Measure};
use crate::answers::judges::{self as answer, CorrectedSubject, Judge, Neighbours};
use crate::answers::{from_billionths, share};
use crate::error::{Code, Error};
use crate::leaderboard::By;
use crate::rows::{Row, Rows, number};
use crate::text::short;

/// The name of the judge that is the score of the scorecard.
pub const SCORE: &str = "score";
/// The fewest items of a family for a bias.
const FEWEST: usize = 10;
/// The verdicts of judges against labels of people.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct Judges {
    /// The field with the labels: pass or fail, or 0 to 1
    #[cfg_attr(feature = "cli", arg(long, short = 'l', value_name = "FIELD", required = true))]
    pub label: String,
    /// The fields with verdicts; without any, the score
    #[serde(deserialize_with = "super::names")]
    #[cfg_attr(feature = "cli", arg(long, short = 'v', value_name = "FIELD", value_delimiter = ','))]
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub verdict: Vec<String>,
    /// The field with the family of a subject
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub family: Option<String>,
    /// Fields with numbers, such as the length
    #[serde(deserialize_with = "super::names")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD", value_delimiter = ','))]
    #[cfg_attr(feature = "schema", param(value_type = Option<String>))]
    pub bias_by: Vec<String>,
    /// Points at which a number is a pass
    #[serde(deserialize_with = "super::points_of")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "POINTS", value_parser = super::points))]
    #[cfg_attr(feature = "schema", param(value_type = Option<f64>))]
    pub pass: Option<Decimal>,
    /// Scorecard, items and confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub about: About,
}

/// An item as it is read.
#[derive(Debug, Clone)]
struct Item<'r> {
    subject: usize,
    task: usize,
    label: Option<f64>,
    verdict: f64,
    row: &'r Row,
}

impl Judges {
    /// Returns the fields whose values the items must keep.
    pub fn kept(&self) -> Vec<String> {
        let all = [&self.label].into_iter().chain(&self.verdict).chain(&self.family).chain(&self.bias_by);
        let names: BTreeSet<&String> = all.collect();
        names.into_iter().cloned().collect()
    }

    /// Refuses settings that no flag takes.
    ///
    /// # Errors
    /// If there is one.
    pub fn check(&self) -> Result<(), Error> {
        if self.label.is_empty() {
            return Err(invalid("there is no field with labels").hint("label: human"));
        }
        if self.verdict.contains(&self.label) {
            return Err(invalid(format!("`{}` is both the label and a verdict", short(&self.label))));
        }
        self.about.check()
    }

    /// Computes the answer.
    ///
    /// # Errors
    /// If the items are too few, or do not say what the question needs.
    pub fn answer(&self, rows: &Rows) -> Result<answer::Judges, Error> {
        let settings = settings(&self.about.sure, By::Score, rows);
        let pass = self.pass.map(|points| share_of_scale("--pass", points, rows.scale)).transpose()?;
        let labels = rows.shares(&self.label, "--label")?;
        let labelled = labels.iter().flatten().count();
        if labelled == 0 {
            return Err(Error::new(
                Code::NothingCounts,
                format!("no item has a label in `{}`", short(&self.label)),
            ));
        }
        let usual = [SCORE.to_owned()];
        let named = if self.verdict.is_empty() { &usual[..] } else { &self.verdict };
        let mut judges = Vec::new();
        for verdict in named {
            let verdicts = match self.verdict.is_empty() {
                true => rows.rows.iter().map(|row| row.score().map(Score::to_f64)).collect(),
                false => rows.shares(verdict, "--verdict")?,
            };
            let items = rows.rows.iter().zip(&rows.tasks.of_rows).zip(&labels).zip(&verdicts);
            let items = items.filter_map(|(((row, task), label), verdict)| {
                Some(Item { subject: row.subject, task: *task, label: *label, verdict: (*verdict)?, row })
            });
            judges.push(self.judge(rows, verdict, &items.collect::<Vec<_>>(), pass, settings.level)?);
        }
        Ok(answer::Judges {
            schema: Default::default(),
            basis: Basis::new(rows, &settings),
            label: self.label.clone(),
            labelled: labelled as u64,
            pass: pass.map(share),
            judges,
        })
    }
}

impl Judges {
    fn judge(
        &self,
        rows: &Rows,
        verdict: &str,
        items: &[Item<'_>],
        pass: Option<f64>,
        level: f64,
    ) -> Result<Judge, Error> {
        let labelled: Vec<(&Item<'_>, f64)> =
            items.iter().filter_map(|item| item.label.map(|label| (item, label))).collect();
        if labelled.is_empty() {
            let message = format!("no item has both a label and a verdict in `{}`", short(verdict));
            return Err(Error::new(Code::NothingCounts, message));
        }
        let tasks: BTreeSet<usize> = labelled.iter().map(|(item, _)| item.task).collect();
        let passes = passes(&labelled, pass);
        let (agreement, accuracy) = match &passes {
            Some(passes) => agreed(passes, level)?,
            None => (answer::Agreement { share: None, kappa: None, ac1: None }, None),
        };
        let subjects = self.subjects(rows, items, level)?;
        Ok(Judge {
            verdict: verdict.to_owned(),
            items: items.len() as u64,
            labelled: labelled.len() as u64,
            tasks: tasks.len() as u64,
            agreement,
            accuracy,
            biases: self.biases(rows, &labelled, level)?,
            neighbours: neighbours(rows, items, &subjects, level)?,
            subjects,
        })
    }

    /// Returns the biases for families, each against all others, and by numbers.
    fn biases(
        &self,
        rows: &Rows,
        labelled: &[(&Item<'_>, f64)],
        level: f64,
    ) -> Result<Vec<answer::Bias>, Error> {
        let mut found = Vec::new();
        let values = |at: usize| labelled.iter().map(move |(item, _)| item.row.kept(at));
        if let Some(field) = &self.family {
            let at = rows.kept_field(field).ok_or_else(|| rows.unknown_field(field, "--family"))?;
            let mut families: BTreeMap<&str, usize> = BTreeMap::new();
            values(at).flatten().for_each(|family| *families.entry(family).or_default() += 1);
            for (family, count) in &families {
                if families.len() < 2 || *count < FEWEST {
                    continue;
                }
                let items = values(at).zip(labelled).filter_map(|(own, it)| Some((own?, it)));
                let items = items.map(|(own, it)| bias_item(it, f64::from(own == *family)));
                let bias = few(Bias::of_group(&items.collect::<Vec<_>>(), level))?;
                found.extend(bias.map(|bias| told(field, Some(family), &bias)));
            }
        }
        for field in &self.bias_by {
            // Other values are refused by their place.
            rows.numbers(field, "--bias-by")?;
            let at = rows.kept_field(field).ok_or_else(|| rows.unknown_field(field, "--bias-by"))?;
            let items = values(at).zip(labelled).filter_map(|(own, it)| Some(bias_item(it, number(own?)?)));
            let bias = few(Bias::by_covariate(&items.collect::<Vec<_>>(), level))?;
            found.extend(bias.map(|bias| told(field, None, &bias)));
        }
        Ok(found)
    }

    /// Returns the subjects with their corrected means, the best first.
    fn subjects(&self, rows: &Rows, items: &[Item<'_>], level: f64) -> Result<Vec<CorrectedSubject>, Error> {
        let rated = rated(items);
        let verdicts = items.iter().filter_map(|it| Observation::of_share(it.subject, it.task, it.verdict));
        let Some(judged) = few(TaskTable::of(rows.subjects.len(), verdicts))? else { return Ok(Vec::new()) };
        let only: Vec<Rated> = rated.iter().filter(|it| it.label.is_some()).copied().collect();
        let mut found = Vec::new();
        for (at, subject) in rows.subjects.iter().enumerate() {
            let own = || items.iter().filter(|item| item.subject == at);
            let Some(mean) = judged.mean(at) else { continue };
            let corrected = Predicted::new(&rated, at, None, level);
            let labels_only = few(Predicted::new(&only, at, Some(0.0), level))?;
            let reason =
                corrected.as_ref().err().map(|why| format!("its tasks with a label are too few: {why}"));
            let corrected = few(corrected)?;
            let estimate = |it: &Predicted, tasks: usize| Estimate {
                mean: share(it.mean),
                low: Some(share(it.interval.low)),
                high: Some(share(it.interval.high)),
                method: Some(it.interval.method),
                tasks: tasks as u64,
            };
            found.push(CorrectedSubject {
                subject: subject.clone(),
                items: own().count() as u64,
                labels: own().filter(|item| item.label.is_some()).count() as u64,
                judged: from_billionths(mean),
                corrected: corrected.as_ref().map(|it| estimate(it, judged.tasks_of(at))),
                labels_only: labels_only.as_ref().map(|it| estimate(it, it.labelled_tasks)),
                lambda: corrected.as_ref().map(|it| share(it.lambda)),
                effective_labels: corrected.as_ref().map(|it| share(it.parts.effective_labels(it.labels))),
                imbalance: corrected.as_ref().map(|it| share(it.imbalance)),
                reason,
            });
        }
        let place = |it: &CorrectedSubject| it.corrected.map_or(-1.0, |it| it.mean);
        // Equal ones stay in the order of their names.
        found.sort_by(|one, other| place(other).total_cmp(&place(one)));
        Ok(found)
    }
}

fn rated(items: &[Item<'_>]) -> Vec<Rated> {
    let rated =
        |it: &Item<'_>| Rated { task: it.task, subject: it.subject, label: it.label, verdict: it.verdict };
    items.iter().map(rated).collect()
}

/// Compares the neighbours of an order.
fn neighbours(
    rows: &Rows,
    items: &[Item<'_>],
    order: &[CorrectedSubject],
    level: f64,
) -> Result<Vec<Neighbours>, Error> {
    let rated = rated(items);
    let known: Vec<&CorrectedSubject> = order.iter().filter(|it| it.corrected.is_some()).collect();
    let mut found = Vec::new();
    for (first, second) in known.iter().zip(known.iter().skip(1)) {
        let Some(pair) = rows.subject(&first.subject).zip(rows.subject(&second.subject)) else { continue };
        let Some(difference) = few(PredictedDifference::new(&rated, pair, None, level))? else { continue };
        let (low, high) = (difference.interval.low, difference.interval.high);
        let needed = few(difference.parts.labels_for_gap(difference.mean, level, POWER))?;
        found.push(Neighbours {
            first: first.subject.clone(),
            second: second.subject.clone(),
            difference: Measure::new(difference.mean, Some(difference.interval)),
            is_settled: low > 0.0 || high < 0.0,
            labels_needed: needed.and_then(|it| it.with_judge),
            labels_needed_without_judge: needed.and_then(|it| it.labels_only),
        });
    }
    Ok(found)
}

/// Returns labels and verdicts as passes, with their tasks; none if they are numbers and nothing says from where on they pass.
fn passes(labelled: &[(&Item<'_>, f64)], pass: Option<f64>) -> Option<Vec<JudgedItem>> {
    let passes = |value: f64| match (pass, value) {
        (Some(least), value) => Some(value >= least),
        (None, 0.0) => Some(false),
        (None, 1.0) => Some(true),
        _ => None,
    };
    let item = |(item, label): &(&Item<'_>, f64)| {
        Some(JudgedItem { task: item.task, label: passes(*label)?, verdict: passes(item.verdict)? })
    };
    labelled.iter().map(item).collect()
}

/// Measures passes and failures.
fn agreed(items: &[JudgedItem], level: f64) -> Result<(answer::Agreement, Option<answer::Accuracy>), Error> {
    let pairs: Vec<[Option<usize>; 2]> =
        items.iter().map(|it| [it.label, it.verdict].map(|is_pass| Some(is_pass.into()))).collect();
    let rated: Vec<RatedItem<'_>> =
        items.iter().zip(&pairs).map(|(it, pair)| RatedItem { task: it.task, verdicts: pair }).collect();
    let found = few(Agreement::new(&rated, 2, 2, Weighting::Identity, level))?;
    let agreement = answer::Agreement {
        share: found.as_ref().map(|it| Measure::of(it.share)),
        kappa: found.as_ref().and_then(|it| it.kappa).map(Measure::of),
        ac1: found.as_ref().and_then(|it| it.ac).map(Measure::of),
    };
    let accuracy = few(Accuracy::new(items, level))?;
    Ok((agreement, accuracy.as_ref().map(answer::Accuracy::of)))
}

fn bias_item((item, label): &(&Item<'_>, f64), covariate: f64) -> BiasItem {
    BiasItem { task: item.task, label: *label, verdict: item.verdict, covariate }
}

fn told(field: &str, family: Option<&str>, bias: &Bias) -> answer::Bias {
    answer::Bias {
        field: field.to_owned(),
        family: family.map(str::to_owned),
        effect: Measure::of(bias.slope),
        at_equal_labels: bias.at_equal_labels.map(Measure::of),
    }
}
