//! Items that are not checks: stakes, incidents, memory, collaborations.

use karat_core::timestamp::Timestamp;
use serde::Deserialize;

use super::or_default;

/// Staked collateral, and the deals that it secures.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bond {
    /// Stakes that were posted.
    #[serde(default, deserialize_with = "or_default")]
    pub deposits: Vec<Deposit>,
    /// Parts of them that were taken away.
    #[serde(default, deserialize_with = "or_default")]
    pub slashes: Vec<Slash>,
    /// Deals that the agent made: the exposure that the stake is held against.
    #[serde(default, deserialize_with = "or_default")]
    pub deals: Vec<Deal>,
}

/// A stake.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deposit {
    /// Its own name.
    pub id: String,
    /// Time of posting.
    pub time: Timestamp,
    /// The amount, above 0.
    pub amount_usd: f64,
    /// Until when it cannot be withdrawn.
    pub locked_until: Option<Timestamp>,
    /// Time at which the rest of it was withdrawn.
    pub withdrawn_at: Option<Timestamp>,
}

/// A part of a stake that was taken away.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slash {
    /// Its own name.
    pub id: String,
    /// Its time.
    pub time: Timestamp,
    /// The deposit.
    pub deposit: String,
    /// The amount, above 0; together no more than the deposit.
    pub amount_usd: f64,
}

/// A deal of the agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deal {
    /// Its own name.
    pub id: String,
    /// Its time.
    pub time: Timestamp,
    /// Value of the task.
    pub value_usd: f64,
}

/// Something that went wrong in the field.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incident {
    /// Its own name.
    pub id: String,
    /// Time at which it began.
    pub time: Timestamp,
    /// Its severity.
    pub severity: IncidentSeverity,
    /// True if someone other than the agent confirmed it. An unconfirmed one changes nothing.
    #[serde(default, deserialize_with = "or_default")]
    pub confirmed: bool,
    /// Time at which it was closed; without it, the incident is open.
    pub closed_at: Option<Timestamp>,
}

/// Severity of an incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IncidentSeverity {
    /// Caps safety and security.
    Critical,
    /// Caps security.
    High,
    /// Told, not counted.
    Warning,
    /// Told, not counted.
    Info,
}

/// Use of persistent memory by an agent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Tasks that were completed, each of which should leave a record.
    #[serde(default, deserialize_with = "or_default")]
    pub completed_tasks: Vec<CompletedTask>,
    /// Records that were written.
    #[serde(default, deserialize_with = "or_default")]
    pub records: Vec<MemoryRecord>,
    /// Look-ups.
    #[serde(default, deserialize_with = "or_default")]
    pub retrievals: Vec<Retrieval>,
}

/// A task that was completed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompletedTask {
    /// Its own name.
    pub id: String,
    /// Its time.
    pub time: Timestamp,
    /// The task.
    pub task: String,
}

/// A record that was written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryRecord {
    /// Its own name.
    pub id: String,
    /// Its time.
    pub time: Timestamp,
    /// The task that it is about.
    pub task: String,
    /// True if its hash and its provenance verify.
    pub intact: bool,
    /// True if it contradicts a valid record.
    pub contradicts: bool,
}

/// A look-up.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retrieval {
    /// Its own name.
    pub id: String,
    /// Its time.
    pub time: Timestamp,
    /// Number of records retrieved.
    pub retrieved: u64,
    /// Number of records that would have been relevant.
    pub relevant: u64,
    /// Number of records that are both.
    pub relevant_retrieved: u64,
}

/// Work with another agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collaboration {
    /// Its own name.
    pub id: String,
    /// Time at which it ended.
    pub time: Timestamp,
    /// The other agent.
    pub counterparty: String,
    /// Work that was handed over to the other.
    pub handoffs: u64,
    /// The part of it that was accepted.
    pub handoffs_accepted: u64,
    /// Promises with a date.
    pub commitments: u64,
    /// The part of them that was kept in time.
    pub commitments_on_time: u64,
    /// Rating of the work by the other agent, 0 to 1.
    pub peer_rating: Option<f64>,
}
