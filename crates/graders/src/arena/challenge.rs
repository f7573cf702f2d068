//! The challenge of a card.

/// A challenge, as its card has it: what a match may not contradict.
#[derive(Debug, Clone, PartialEq)]
pub struct Challenge {
    /// The id of its card.
    pub id: String,
    /// The card, `id@version`.
    pub name: String,
    /// Its dimensions and their weights.
    pub weights: Vec<(String, f64)>,
}
