//! The sentences of an explanation: the reason of each part, missing evidence, obstacles.

use karat_core::explain::{Change, next_level};
use karat_core::number::plain;
use karat_core::record::{Condition, DimensionRecord, Reason, Record, ValueStatus, Warning};
use karat_core::scorecard::{MissingPolicy, Publish};

use super::{Part, Row, open, policy};
use crate::number::{cut, published};
use crate::text::{Tone, list};

/// Explains one part.
pub(crate) fn note(row: &Row<'_>, record: &Record<'_>) -> Option<(Tone, String)> {
    match &row.part {
        Part::Dimension(dimension) => dimension_note(dimension, record).map(|note| (Tone::Plain, note)),
        Part::Mean => {
            Some((Tone::Plain, format!("the {} mean of the values instead of their sum", row.name)))
        }
        Part::Decay => Some((Tone::Care, String::from("decay: the newest evidence is old"))),
        Part::Rule { when, set } => {
            Some((Tone::Plain, format!("rule: `{when}` holds, so the score becomes `{set}`")))
        }
        Part::Gate { when } => Some((Tone::Care, format!("gate: `{when}` holds, so the score is capped"))),
    }
}

/// Explains the status of a dimension; None if it was simply measured.
pub(crate) fn dimension_note(dimension: &DimensionRecord<'_>, record: &Record<'_>) -> Option<String> {
    let status = dimension.status.name();
    let why = match dimension.reason {
        Reason::None => String::new(),
        // The fact has the name of the dimension: the status says it already.
        Reason::Needs(name) if name == dimension.key => String::new(),
        reason => format!(": {reason}"),
    };
    match dimension.status {
        ValueStatus::Scored if why.is_empty() => None,
        ValueStatus::Scored | ValueStatus::Gated | ValueStatus::NotApplicable => {
            Some(format!("{status}{why}"))
        }
        ValueStatus::Missing | ValueStatus::Failed => {
            let instead = match policy(record, dimension.key) {
                Some(MissingPolicy::Exclude) | None => "left out",
                Some(MissingPolicy::Zero) => "counts as 0",
                Some(MissingPolicy::Default(_)) => "default used",
                Some(MissingPolicy::Withhold) => "score withheld",
            };
            Some(format!("{status}{why}, {instead}"))
        }
    }
}

/// Lists missing dimensions with the range that they leave to the score; None if nothing is missing.
pub(crate) fn gap(record: &Record<'_>) -> Option<String> {
    let names: Vec<&str> = open(record).map(|dimension| dimension.key).collect();
    let range = match record.bounds {
        Some((low, high)) => {
            format!(": with all evidence the score would be {} to {}", published(low), published(high))
        }
        None => String::new(),
    };
    (!names.is_empty()).then(|| format!("{}{range}", list(&names)))
}

/// Explains the rounding of the exact score to the published one; None if they are the same.
pub(crate) fn rounding(record: &Record<'_>) -> Option<String> {
    let scale = record.card.scale;
    let exact = cut(record.score?.units(), 15 - scale.max.ilog10(), 15);
    let shown = published(record.published?);
    let how = match scale.publish {
        Publish::Exact => "shown as",
        Publish::Floor => "rounded down to",
        Publish::HalfUp => "rounded (halves up) to",
    };
    (exact != shown).then(|| format!("{exact} is {how} {shown}"))
}

/// Returns the requirements of the next tier that are not met.
pub(crate) fn blockers<'r>(record: &'r Record<'_>) -> impl Iterator<Item = String> + 'r {
    let tier = record.tier.as_ref().filter(|tier| tier.next.is_some());
    tier.into_iter().flat_map(|tier| &tier.blocked_by).map(|blocker| {
        match (blocker.condition, blocker.found) {
            (Condition::Gate(name), _) => format!("the gate `{name}` holds"),
            (what, Some(found)) => format!("{what} {}, needs {}", published(found), blocker.needed),
            (what, None) => format!("{what} was not measured, needs {}", blocker.needed),
        }
    })
}

/// Returns gates that hold without an effect on the score, and warnings. A default is noted beside its dimension.
pub(crate) fn cautions<'r>(record: &'r Record<'_>) -> impl Iterator<Item = String> + 'r {
    let quiet = record.gates.iter().filter(|name| !record.steps.iter().any(|step| step.name == **name));
    let quiet = quiet.map(|name| format!("gate `{name}` holds; it did not lower the score"));
    let warnings = record.warnings.iter().filter(|warning| !matches!(warning, Warning::DefaultUsed { .. }));
    quiet.chain(warnings.map(|warning| format!("warning: {warning}")))
}

/// Describes the change of one value that reaches the next band or tier, or says that none does; None at the top.
pub(crate) fn next_step(record: &Record<'_>, change: Option<&Change<'_>>) -> Option<String> {
    let next = next_level(record)?;
    Some(match change {
        Some(change) => {
            // All decimals: a cut value would not be enough.
            let to = plain(change.to, 9);
            let how = match change.from {
                Some(from) if from < change.to => {
                    format!("raise {} from {} to {to}", change.label, plain(from, 9))
                }
                Some(from) => format!("lower {} from {} to {to}", change.label, plain(from, 9)),
                None if change.to == 0 => format!("measure {}, even at 0,", change.label),
                None => format!("measure {} at {to}", change.label),
            };
            format!("{how} for {}, {} {}", published(change.published), change.kind.name(), change.reaches)
        }
        None => {
            let blocked = record.tier.as_ref().filter(|tier| tier.next == Some(next.name));
            let blockers = blocked.map_or(&[][..], |tier| tier.blocked_by.as_slice());
            let blockers: Vec<String> = blockers
                .iter()
                .map(|blocker| match blocker.condition {
                    Condition::Gate(name) => format!("the gate `{name}`"),
                    condition => condition.to_string(),
                })
                .collect();
            let why = match blockers.as_slice() {
                [] => String::new(),
                several => format!("; blocked by: {}", list(several)),
            };
            format!("no single dimension can reach {}{why}", next.name)
        }
    })
}
