//! Brief records, `karat/brief/1`: what a table needs of a record, and the digest of the record. A brief one has no
//! facts, so
//! it cannot be verified alone.

use karat_core::number::Decimal;
use karat_core::record::{Record, Warning};
use karat_core::scorecard::{MissingPolicy, Publish, Scorecard};
use karat_evidence::Note;
use serde::{Deserialize, Serialize};

use super::{Case, CaseResult, Cell, Column, Kind, Place, Row, Total};
use crate::answers::{Outcome, answer, from_billionths};
use crate::error;
use crate::estimate::whole_percent;
use crate::explanation::{open, policy};
use crate::number::{billionths, published};
use crate::record::MatchAnswer;
use crate::text::{Tone, list};

/// The columns of a subject on a screen, and of its item.
const NAME: usize = 24;
const ITEM: usize = 16;
/// The most columns of a band or tier on a screen.
const LEVEL: usize = 14;

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
    pub fn of(record: &Record<'_>) -> Self {
        let context = record.item.context;
        Self {
            schema: BriefSchema::V1,
            subject: record.item.subject.to_owned(),
            id: record.item.id.to_owned(),
            task: context.task.map(str::to_owned),
            time: context.time.map(|time| time.to_string()),
            outcome: context.outcome,
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

/// Returns the columns of brief records by a card.
pub fn columns(card: &Scorecard) -> Vec<Column> {
    let has_levels = !card.bands.is_empty() || !card.tiers.is_empty();
    let band = Column::text("band").labelled(if card.tiers.is_empty() { "band" } else { "tier" });
    vec![
        Column::name("subject"),
        Column::new("id", Kind::Place).labelled("item"),
        Column::text("task").hidden(),
        Column::text("time").hidden(),
        Column::text("outcome").wide(),
        Column::text("status").hidden(),
        Column::new("score", Kind::Bar(card.scale.max)),
        Column::number("scale").hidden(),
        if has_levels { band } else { band.wide() },
        Column::text("tier").hidden(),
        Column::number("coverage"),
        Column::text("gates").wide(),
        Column::text("scorecard").hidden(),
        Column::text("evidence").hidden(),
        Column::text("record").hidden(),
    ]
}

/// Returns a row of [`columns`] that is as wide as one by this card can be.
pub fn widest(card: &Scorecard) -> Row {
    let scale = card.scale;
    let decimals = match scale.publish {
        Publish::Exact => 6usize.saturating_sub(scale.max.ilog10() as usize),
        Publish::Floor | Publish::HalfUp => scale.places as usize,
    };
    let shown = match decimals {
        0 => scale.max.to_string(),
        many => format!("{}.{}", scale.max, "0".repeat(many)),
    };
    let names = card.bands.iter().map(|band| &band.name).chain(card.tiers.iter().map(|tier| &tier.name));
    let longest = names.max_by_key(|name| name.chars().count()).cloned().unwrap_or_default();
    let cells = columns(card).into_iter().map(|column| match column.key.as_str() {
        "subject" => Cell::text("x".repeat(NAME)),
        "id" => Cell::text("x".repeat(ITEM)),
        "score" => Cell::Total(Total { before: 0.0, after: 0.0, is_step: false, shown: shown.clone() }),
        "band" => Cell::text(longest.chars().take(LEVEL).collect::<String>()),
        "coverage" => Cell::text("100%"),
        _ => Cell::Absent,
    });
    cells.collect::<Vec<_>>().into()
}

/// Returns a record as a row of [`columns`], with what a reader should know below it.
pub fn row(record: &Record<'_>, remarks: &[Note]) -> Row {
    let brief = Brief::of(record);
    let score = record.published.map(|it| Total {
        before: 0.0,
        after: it.to_f64(),
        is_step: false,
        shown: published(it),
    });
    let cells = vec![
        Cell::Text(brief.subject.clone()),
        Cell::Text(brief.id.clone()),
        Cell::of_text(brief.task.clone()),
        Cell::of_text(brief.time.clone()),
        Cell::of_text(brief.outcome.map(Outcome::name)),
        Cell::Text(brief.status.clone()),
        score.map_or(Cell::Absent, Cell::Total),
        Cell::Count(brief.scale.into()),
        Cell::of_text(brief.band.clone().or_else(|| brief.tier.clone())),
        Cell::of_text(brief.tier.clone()),
        Cell::of_number(Some(brief.coverage), whole_percent),
        // A gate may have any sign in its name but a line end.
        Cell::of_text((!brief.gates.is_empty()).then(|| brief.gates.join("; "))),
        Cell::Text(brief.scorecard.clone()),
        Cell::Text(brief.evidence.clone()),
        Cell::Text(brief.record.clone()),
    ];
    Row { notes: notes(record, remarks), ..cells.into() }
}

/// Returns the sentences on an item: what is missing, gates, warnings.
fn notes(record: &Record<'_>, remarks: &[Note]) -> Vec<(Tone, String)> {
    let mut lines = Vec::new();
    if record.score.is_none() {
        lines.push((Tone::Care, format!("no score: {}", record.status.name())));
    }
    let missing: Vec<String> = open(record)
        .map(|dimension| match policy(record, dimension.key) {
            Some(MissingPolicy::Zero) => format!("{} (counts as 0)", dimension.key),
            Some(MissingPolicy::Default(value)) => {
                format!("{} (counts as {})", dimension.key, billionths(value))
            }
            _ => dimension.key.to_owned(),
        })
        .collect();
    if !missing.is_empty() {
        let range = match record.bounds {
            Some((low, high)) if low == high => String::from("; it cannot change the score"),
            Some((low, high)) => {
                format!("; with it the score could be {} to {}", published(low), published(high))
            }
            None => String::new(),
        };
        lines.push((Tone::Plain, format!("no value for {}{range}", list(&missing))));
    }
    if !record.gates.is_empty() {
        lines.push((Tone::Care, format!("gate: {}", list(&record.gates))));
    }
    // A default that was used is already in the line on missing values.
    let warnings = record.warnings.iter().filter(|warning| !matches!(warning, Warning::DefaultUsed { .. }));
    lines.extend(warnings.map(|warning| (Tone::Care, format!("warning: {warning}"))));
    lines.extend(remarks.iter().map(|note| (Tone::Plain, format!("note: {note}"))));
    if let Some(answer) = MatchAnswer::of(record) {
        // What the arena reports, the reader of its evidence has told above.
        let is_told = |sentence: &str| lines.iter().any(|(_, line)| line.contains(sentence));
        let found: Vec<String> =
            answer.findings().filter(|found| !is_told(found)).map(str::to_owned).collect();
        lines.extend(found.into_iter().map(|found| (Tone::Care, format!("warning: {found}"))));
    }
    lines
}

/// Returns the item of a record as a test case, and the line that says why it does not pass. With points, an item
/// fails that
/// is below them or that a gate holds, and has no verdict without a score. Without points, its outcome decides, then
/// a gate.
pub fn case(record: &Record<'_>, at: &error::Place, fail_under: Option<Decimal>) -> Case {
    let gates: Vec<String> = record.gates.iter().map(|gate| format!("`{gate}`")).collect();
    let (word, verb) = if gates.len() == 1 { ("gate", "holds") } else { ("gates", "hold") };
    let held = || format!("the {word} {} {verb}", list(&gates));
    let score = record.published.map(published);
    let outcome = record.item.context.outcome;
    let said = |outcome: Outcome| format!("the outcome is {}", outcome.name());
    let result = match (fail_under, record.published, outcome) {
        (_, _, Some(Outcome::NotApplicable)) => CaseResult::Skipped(said(Outcome::NotApplicable)),
        (Some(_), _, _) if !record.gates.is_empty() => CaseResult::Failed(held()),
        (Some(points), Some(found), _) if !found.reaches(points) => {
            CaseResult::Failed(format!("{} is below {points}", score.clone().unwrap_or_default()))
        }
        (Some(_), Some(_), _) => CaseResult::Passed,
        (None, _, Some(outcome @ (Outcome::Failed | Outcome::Refused))) => CaseResult::Failed(said(outcome)),
        (None, _, Some(outcome @ (Outcome::NoVerdict | Outcome::Stopped))) => {
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
