//! Checks of receipts and logs, `karat/verification/1` and `karat/log-verification/1`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{ChangedPart, CheckOutcome, ItemKind, VerificationStatus, answer};

/// The verification of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Verification {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: VerificationSchema,
    /// The file, as it was named.
    pub file: String,
    /// What all checks say together.
    pub status: VerificationStatus,
    /// The checks, in order.
    pub checks: Vec<Check>,
    /// What has changed since the record was made, each once.
    pub changed: Vec<ChangedPart>,
    /// The entry of the log; null where the file is no receipt.
    pub entry: Option<VerifiedEntry>,
    /// The log; null where the receipt names none.
    pub log: Option<VerifiedLog>,
}

answer!(Verification, VerificationSchema = "karat/verification/1", "a verification");

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Check {
    /// What was checked, in a word.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub name: Cow<'static, str>,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// What was found, in a sentence.
    pub says: String,
    /// What differs, or what to do; a line each.
    pub details: Vec<String>,
}

/// The entry of a log that a receipt is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct VerifiedEntry {
    /// The id of the item.
    pub id: String,
    /// The place of the entry in the log.
    pub index: u64,
    /// The kind of the item.
    pub kind: ItemKind,
    /// When it was handed in.
    pub moment: String,
    /// The subject of the item, if it has one.
    pub subject: Option<String>,
}

/// The log that a receipt names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct VerifiedLog {
    /// Its name.
    pub name: String,
    /// The root of its tree.
    pub root: String,
    /// The number of its entries.
    pub size: u64,
}

/// The verification of a whole log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LogVerification {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: LogVerificationSchema,
    /// The database.
    pub database: String,
    /// What all checks say together.
    pub status: VerificationStatus,
    /// The number of entries; null where the log cannot be read.
    pub entries: Option<u64>,
    /// The number of tiles of hashes; null where the log cannot be read.
    pub tiles: Option<u64>,
    /// The root of the tree; null where the log cannot be read.
    pub root: Option<String>,
    /// The number of heads from elsewhere that it was compared with.
    pub heads: u64,
    /// The public key that it was checked against; null where none was given.
    pub key: Option<String>,
    /// What is wrong.
    pub problems: Vec<String>,
}

answer!(LogVerification, LogVerificationSchema = "karat/log-verification/1", "a verification of a log");
