//! The outcome of items that were sent to a server, `karat/push/1`.

use serde::{Deserialize, Serialize};

use super::answer;

/// The outcome of items that were sent to a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Pushed {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: PushSchema,
    /// The scorecard, `id@version`.
    pub card: String,
    /// The address of the server.
    pub to: String,
    /// Items that are stored and were not there before.
    pub accepted: u64,
    /// Items that were there before.
    pub repeated: u64,
    /// Items that are not stored.
    pub refused: u64,
    /// The reasons, of the first ten thousand.
    pub problems: Vec<RefusedItem>,
    /// Attempts that had to be repeated.
    pub repeats: u64,
}

answer!(Pushed, PushSchema = "karat/push/1", "an account of what was sent");

/// An item that is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct RefusedItem {
    /// The file and line where it begins.
    pub place: String,
    /// The reason.
    pub reason: String,
}

impl Pushed {
    /// The most items whose reason is listed.
    pub const LISTED: usize = 10_000;

    /// Counts an item that is not stored.
    pub fn refuse(&mut self, place: String, reason: String) {
        self.refused += 1;
        if self.problems.len() < Self::LISTED {
            self.problems.push(RefusedItem { place, reason });
        }
    }
}
