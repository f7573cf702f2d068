//! Parts of stored records that only a server knows of: the task that stands for an item, and who vouches for its facts. The
//! log vouches for the bytes of a record, so nothing is computed again.

use karat::record::RecordDocument;
use karat_core::scorecard::Scorecard;
use serde::Deserialize;

/// Returns the task of a record: its name or that of the challenge; none where the item is a task by itself.
#[must_use]
pub fn task(record: &RecordDocument, card: &Scorecard) -> Option<String> {
    record.evidence.task.clone().or_else(|| card.base.is_some().then(|| card.id.clone()))
}

/// Returns who vouches for the facts of a record.
#[must_use]
pub fn trust(record: &RecordDocument, card: &Scorecard) -> Trust {
    let given = card.facts.iter().filter(|fact| record.facts.contains_key(&fact.name));
    Trust::of(given.map(|fact| fact.from))
}

/// Whose word the facts of a record are: the least of all that were given.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize, utoipa::ToSchema,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Trust {
    /// Some fact is told by the subject or its operator, or the scorecard does not say by whom.
    Claimed,
    /// Some fact is told by a judge or a third party, none by the subject.
    Judged,
    /// Every fact comes from the harness or the task.
    Measured,
}

impl Trust {
    /// The least of these.
    pub fn of(reporters: impl Iterator<Item = karat_core::scorecard::Reporter>) -> Self {
        use karat_core::scorecard::Reporter;
        let least = reporters.map(|reporter| match reporter {
            Reporter::Harness | Reporter::Task => Self::Measured,
            Reporter::Judge | Reporter::ThirdParty => Self::Judged,
            Reporter::Subject | Reporter::Operator | Reporter::Unstated => Self::Claimed,
        });
        least.min().unwrap_or(Self::Claimed)
    }
}
