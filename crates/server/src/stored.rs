//! Parts of stored records that only a server needs: the task of an item, and the trust class of its facts. The log
//! guarantees the bytes of a record, so nothing is computed again.

use karat::record::RecordDocument;
use karat::rows::ALL_CASES;
use karat_core::scorecard::Scorecard;
use serde::Deserialize;

/// Returns the task of a record: its name, that of the challenge or that of all cases; `None` if the item is its own task.
#[must_use]
pub fn task(record: &RecordDocument, card: &Scorecard) -> Option<String> {
    let challenge = || card.base.is_some().then(|| card.id.clone());
    let all_cases = || record.evidence.n.map(|_| ALL_CASES.to_owned());
    record.evidence.task.clone().or_else(challenge).or_else(all_cases)
}

/// Returns the trust class of a record.
#[must_use]
pub fn trust(record: &RecordDocument, card: &Scorecard) -> Trust {
    let given = card.facts.iter().filter(|fact| record.facts.contains_key(&fact.name));
    Trust::of(given.map(|fact| fact.from))
}

/// The trust class of a record: the lowest of the facts that were given.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize, utoipa::ToSchema,
)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Trust {
    /// The subject or its operator states some fact, or the scorecard does not say who does.
    Claimed,
    /// A judge or a third party states some fact, the subject none.
    Judged,
    /// Every fact comes from the harness or the task.
    Measured,
}

impl Trust {
    /// Returns the lowest trust class of facts with these provenances.
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
