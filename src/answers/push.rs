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
    /// The reasons, the first thousand different ones.
    pub problems: Vec<Refusal>,
    /// Attempts that had to be repeated.
    pub repeats: u64,
}

answer!(Pushed, PushSchema = "karat/push/1", "an account of what was sent");

/// A reason why items are not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// The reason.
    pub reason: String,
    /// The number of items that are refused for it.
    pub items: u64,
    /// The files and lines where the first of them begin.
    pub places: Vec<String>,
}

impl Pushed {
    /// The most reasons that are listed.
    pub const LISTED: usize = 1000;
    /// The most places that are listed with a reason.
    pub const PLACES: usize = 5;

    /// Counts an item that is not stored.
    pub fn refuse(&mut self, place: String, reason: String) {
        self.refused += 1;
        if let Some(known) = self.problems.iter_mut().find(|known| known.reason == reason) {
            known.items += 1;
            if known.places.len() < Self::PLACES {
                known.places.push(place);
            }
        } else if self.problems.len() < Self::LISTED {
            self.problems.push(Refusal { reason, items: 1, places: vec![place] });
        }
    }
}
