//! Brief records, `karat/brief/1`: what a table needs of a record, and the digest of the record. A brief one has no
//! facts, so
//! it cannot be verified alone.

use karat_core::facts::Outcome as CoreOutcome;
use karat_core::number::Decimal;
use karat_core::record::Record;
use serde::{Deserialize, Serialize};

use super::{Case, CaseResult, Cell, Column, Place};
use crate::answers::{Outcome, answer, from_billionths};
use crate::error;
use crate::estimate::{plain, whole_percent};
use crate::text::list;

/// A record in brief.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Brief {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: BriefSchema,
    /// The subject.
    pub subject: String,
    /// The id of the item.
    pub id: String,
    /// The task, if the item names one.
    pub task: Option<String>,
    /// The time of the run, RFC 3339, if the item says.
    pub time: Option<String>,
    /// The outcome, if the item says.
    pub outcome: Option<Outcome>,
    /// The status of the score: `scored`, `unscored` or `withheld`.
    pub status: String,
    /// The score on the scale of the scorecard; null without one.
    pub score: Option<f64>,
    /// The best score of the scorecard; the worst is 0.
    pub scale: u32,
    /// The band of the score.
    pub band: Option<String>,
    /// The tier, for a scorecard with tiers.
    pub tier: Option<String>,
    /// The share of the applicable weight that was measured, 0 to 1.
    pub coverage: f64,
    /// The gates that held.
    pub gates: Vec<String>,
    /// The scorecard, `id@version`.
    pub scorecard: String,
    /// The digest of the evidence.
    pub evidence: String,
    /// The digest of the full record, which can be verified.
    pub record: String,
}

answer!(Brief, BriefSchema = "karat/brief/1", "a brief record");

impl Brief {
    /// Returns a record in brief.
    #[must_use]
    pub fn of(record: &Record<'_>) -> Self {
        let context = record.item.context;
        Self {
            schema: BriefSchema::V1,
            subject: record.item.subject.to_owned(),
            id: record.item.id.to_owned(),
            task: context.task.map(str::to_owned),
            time: context.time.map(|time| time.to_string()),
            outcome: context.outcome.map(Outcome::from),
            status: record.status.name().to_owned(),
            score: record.published.map(|it| it.to_f64()),
            scale: record.card.scale.max,
            band: record.band.map(str::to_owned),
            tier: record.tier.as_ref().and_then(|tier| tier.name).map(str::to_owned),
            coverage: from_billionths(record.coverage),
            gates: record.gates.iter().map(|gate| (*gate).to_owned()).collect(),
            scorecard: record.card.name(),
            evidence: record.item.digest.to_string(),
            record: record.digest().to_string(),
        }
    }
}

/// Returns the columns of brief records.
#[must_use]
pub fn columns() -> Vec<Column> {
    vec![
        Column::name("subject"),
        Column::text("id").labelled("item"),
        Column::text("task").hidden(),
        Column::text("time").hidden(),
        Column::text("outcome"),
        Column::text("status").hidden(),
        Column::number("score"),
        Column::number("scale").hidden(),
        Column::text("band"),
        Column::text("tier").hidden(),
        Column::number("coverage"),
        Column::text("gates"),
        Column::text("scorecard").hidden(),
        Column::text("evidence").hidden(),
        Column::text("record").hidden(),
    ]
}

/// Returns a brief record as a row of [`columns`].
#[must_use]
pub fn row(brief: &Brief) -> Vec<Cell> {
    vec![
        Cell::Text(brief.subject.clone()),
        Cell::Text(brief.id.clone()),
        Cell::of_text(brief.task.clone()),
        Cell::of_text(brief.time.clone()),
        Cell::of_text(brief.outcome.map(Outcome::name)),
        Cell::Text(brief.status.clone()),
        Cell::of_number(brief.score, plain),
        Cell::Count(brief.scale.into()),
        Cell::of_text(brief.band.clone().or_else(|| brief.tier.clone())),
        Cell::of_text(brief.tier.clone()),
        Cell::of_number(Some(brief.coverage), whole_percent),
        // A gate may have any sign in its name but a line end.
        Cell::of_text((!brief.gates.is_empty()).then(|| brief.gates.join("; "))),
        Cell::Text(brief.scorecard.clone()),
        Cell::Text(brief.evidence.clone()),
        Cell::Text(brief.record.clone()),
    ]
}

/// Returns the item of a record as a test case, and the line that says why it does not pass. With points, an item
/// fails that
/// is below them or that a gate holds, and has no verdict without a score. Without points, its outcome decides, then
/// a gate.
#[must_use]
pub fn case(record: &Record<'_>, at: &error::Place, fail_under: Option<Decimal>) -> Case {
    let gates: Vec<String> = record.gates.iter().map(|gate| format!("`{gate}`")).collect();
    let (word, verb) = if gates.len() == 1 { ("gate", "holds") } else { ("gates", "hold") };
    let held = || format!("the {word} {} {verb}", list(&gates));
    let score = record.published.map(crate::number::published);
    let outcome = record.item.context.outcome;
    let said = |outcome: CoreOutcome| format!("the outcome is {}", outcome.name());
    let result = match (fail_under, record.published, outcome) {
        (_, _, Some(CoreOutcome::NotApplicable)) => CaseResult::Skipped(said(CoreOutcome::NotApplicable)),
        (Some(_), _, _) if !record.gates.is_empty() => CaseResult::Failed(held()),
        (Some(points), Some(found), _) if !found.reaches(points) => {
            CaseResult::Failed(format!("{} is below {points}", score.clone().unwrap_or_default()))
        }
        (Some(_), Some(_), _) => CaseResult::Passed,
        (None, _, Some(outcome @ (CoreOutcome::Failed | CoreOutcome::Refused))) => {
            CaseResult::Failed(said(outcome))
        }
        (None, _, Some(outcome @ (CoreOutcome::NoVerdict | CoreOutcome::Stopped))) => {
            CaseResult::Error(said(outcome))
        }
        (None, _, _) if !record.gates.is_empty() => CaseResult::Failed(held()),
        (_, None, _) => CaseResult::Error(format!("there is no score: {}", record.status.name())),
        (None, Some(_), _) => CaseResult::Passed,
    };
    let max = record.card.scale.max;
    let output = score.map(|score| format!("score {score} of {max}")).into_iter().collect();
    Case {
        class: record.item.subject.to_owned(),
        name: record.item.id.to_owned(),
        result,
        seconds: None,
        place: Some(Place { file: at.file.clone(), line: at.line }),
        output,
    }
}
