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
    /// The file, as given.
    pub file: String,
    /// The result of all checks together.
    pub status: VerificationStatus,
    /// The checks, in order.
    pub checks: Vec<Check>,
    /// The parts that have changed since the record was made, each once.
    pub changed: Vec<ChangedPart>,
    /// The entry of the log; null if the file is not a receipt.
    pub entry: Option<VerifiedEntry>,
    /// The log; null if the receipt names none.
    pub log: Option<VerifiedLog>,
}

answer!(Verification, VerificationSchema = "karat/verification/1", "a verification");

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Check {
    /// The name of the check, one word.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub name: Cow<'static, str>,
    /// The result.
    pub outcome: CheckOutcome,
    /// The finding, in a sentence.
    pub says: String,
    /// The differences, or what to do; one per line.
    pub details: Vec<String>,
}

/// The log entry that a receipt is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct VerifiedEntry {
    /// The id of the item.
    pub id: String,
    /// The index of the entry in the log.
    pub index: u64,
    /// The kind of the item.
    pub kind: ItemKind,
    /// The time of arrival.
    pub moment: String,
    /// The id of the key that sent the item, or `server`; null if the entry has no sender.
    pub sender: Option<String>,
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
    /// The result of all checks together.
    pub status: VerificationStatus,
    /// The number of entries; null if the log cannot be read.
    pub entries: Option<u64>,
    /// The number of tiles of hashes; null if the log cannot be read.
    pub tiles: Option<u64>,
    /// The root of the tree; null if the log cannot be read.
    pub root: Option<String>,
    /// The number of checkpoints from elsewhere that it was compared with.
    pub heads: u64,
    /// The public key that it was checked against; null if none was given.
    pub key: Option<String>,
    /// The newest public key of the log, if it has changed its key; each change was signed by the key before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_key: Option<String>,
    /// The records whose evidence was scored again, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<ReplayedRecords>,
    /// The entries by what is known of their senders; null without `--authority`.
    pub senders: Option<CheckedSenders>,
    /// The problems found.
    pub problems: Vec<String>,
}

/// The numbers of records whose evidence was scored again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReplayedRecords {
    /// Those that came out byte for byte.
    pub same: u64,
    /// Those of another version of the engine that came out the same but for its name.
    pub same_but_engine: u64,
    /// Those that came out otherwise.
    pub different: u64,
    /// Those that could not be scored.
    pub unknown: u64,
}

/// The numbers of entries for which it was asked again whether their senders were in force and allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CheckedSenders {
    /// Those whose sender was in force and allowed to send them.
    pub allowed: u64,
    /// Those of the server itself, which has no key.
    pub of_server: u64,
    /// Those that do not say who sent them: older logs cannot show it.
    pub without_sender: u64,
    /// Those whose moment lies less than a second before that of an earlier one: older logs have the order of threads.
    pub out_of_order: u64,
    /// Decisions that cannot be judged here.
    pub undecided: u64,
    /// Those that were not to be stored.
    pub refused: u64,
}

answer!(LogVerification, LogVerificationSchema = "karat/log-verification/1", "a verification of a log");
