//! The explanation of a record.

use karat_core::explain::Change;
use karat_core::record::Record;
use serde::{Deserialize, Serialize};

use super::{Part, Row, kind_of, open, rows};
use crate::error::Error;
use crate::number::{from_billionths, points};
use crate::record::RecordDocument;
use crate::words::{ExplanationKind, LevelKind, ValueStatus};

/// The explanation of a record: the rows that add up to its score, what is missing, and the smallest change to reach
/// the next band or tier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Explanation {
    /// The record, `karat/record/1`: its canonical form has the digest.
    pub record: RecordDocument,
    /// The digest of the record.
    pub digest: String,
    /// The parts of the score, in the order in which they are added.
    pub rows: Vec<ExplanationRow>,
    /// The dimensions that have no value but could have one.
    pub missing: Vec<MissingValue>,
    /// The smallest change of one value that reaches the next band or tier; null at the top, or if none does.
    pub change: Option<NearestChange>,
    /// True if the record was computed again from its own facts; null if it was made just now.
    pub verified: Option<bool>,
    /// True if its facts were read from its evidence again; null if that was not requested.
    pub from_evidence: Option<bool>,
}

/// A part of a score, and the running total around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ExplanationRow {
    /// The label of the dimension, or the name of the mean, rule or gate.
    pub name: String,
    /// The kind of part.
    pub kind: ExplanationKind,
    /// The points that it adds to the score, or takes away.
    pub points: f64,
    /// The running total after it, in points.
    pub total: f64,
    /// The key; dimensions only.
    pub key: Option<String>,
    /// The status of the value; dimensions only.
    pub status: Option<ValueStatus>,
    /// The value; dimensions with a value only.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub value: Option<f64>,
    /// Its effective weight as a share of all weights; dimensions only.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub share: Option<f64>,
    /// The condition; rules and gates only.
    pub when: Option<String>,
    /// The new score; rules only.
    pub set: Option<String>,
}

/// A dimension that has no value but could have one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MissingValue {
    /// The dimension.
    pub key: String,
    /// The reason, in a word.
    pub status: ValueStatus,
    /// The reason, in a sentence.
    pub reason: String,
}

/// The smallest change of one value that reaches the next band or tier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NearestChange {
    /// The dimension.
    pub key: String,
    /// Its label.
    pub name: String,
    /// The value now; null if it was not measured.
    pub from: Option<f64>,
    /// The value that is needed.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub to: f64,
    /// The level that is reached: a band or a tier.
    pub kind: LevelKind,
    /// The name of the band or tier.
    pub reaches: String,
    /// The score with this change, as published.
    pub published: f64,
}

impl Explanation {
    /// Explains `record`. `verified` is true if it was computed again from its facts, `from_evidence` if these facts
    /// were read from its evidence again.
    ///
    /// # Errors
    ///
    /// If the record cannot be read back, which is a defect.
    pub fn new(
        record: &Record<'_>,
        change: Option<&Change<'_>>,
        verified: Option<bool>,
        from_evidence: Option<bool>,
    ) -> Result<Self, Error> {
        let owned = crate::record::Record::of(record)?;
        Ok(Self {
            digest: owned.digest().to_string(),
            record: owned.into_document(),
            rows: rows(record).iter().map(|row| ExplanationRow::new(row, record.card.scale.max)).collect(),
            missing: open(record)
                .map(|dimension| MissingValue {
                    key: dimension.key.to_owned(),
                    status: dimension.status,
                    reason: dimension.reason.to_string(),
                })
                .collect(),
            change: change.map(NearestChange::from),
            verified,
            from_evidence,
        })
    }
}

impl From<&Change<'_>> for NearestChange {
    fn from(change: &Change<'_>) -> Self {
        Self {
            key: change.dimension.to_owned(),
            name: change.label.to_owned(),
            from: change.from.map(from_billionths),
            to: from_billionths(change.to),
            kind: change.kind,
            reaches: change.reaches.to_owned(),
            published: change.published.to_f64(),
        }
    }
}

impl ExplanationRow {
    fn new(row: &Row<'_>, scale: u32) -> Self {
        let mut found = Self {
            name: row.name.to_owned(),
            kind: kind_of(&row.part),
            points: points(row.after.minus(row.before).to_f64(), scale),
            total: points(row.after.to_f64(), scale),
            key: None,
            status: None,
            value: None,
            share: None,
            when: None,
            set: None,
        };
        match &row.part {
            Part::Dimension(dimension) => {
                found.key = Some(dimension.key.to_owned());
                found.status = Some(dimension.status);
                found.value = dimension.reading.map(from_billionths);
                found.share = Some(from_billionths(dimension.effective_weight));
            }
            Part::Mean | Part::Decay => {}
            Part::Rule { when, set } => {
                found.when = Some((*when).to_owned());
                found.set = Some((*set).to_owned());
            }
            Part::Gate { when } => found.when = Some((*when).to_owned()),
        }
        found
    }
}
