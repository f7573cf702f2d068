//! Weights from outside: for every scorecard the proposals and decisions in the log, and the scorecard under the weights
//! in force. An item of the log is a line of the events that `karat standing --events` reads.

use std::collections::BTreeMap;
use std::sync::Arc;

use karat::standing::events;
use karat_core::timestamp::Timestamp;
use karat_standing::overrides::{OverrideEvent, OverrideLog};
use karat_standing::stand::{Event, overrides};
use karat_store::{Kind, NewItem};

use crate::cards::ScorerPool;
use crate::ids;

/// A proposal of weights, or a decision on one, as the log has it.
#[derive(Debug, Clone)]
pub struct WeightsItem {
    /// The scorecard, `id@version`.
    pub card: String,
    /// The line of events.
    pub line: String,
    /// The event in that line.
    pub event: OverrideEvent,
}

impl WeightsItem {
    /// Reads the event in `line`, about the weights of `card`.
    ///
    /// # Errors
    /// If it is not such an event.
    pub fn new(card: String, line: String) -> Result<Self, String> {
        let read = events::read("$", &line).map_err(|error| error.to_string())?;
        match <[Event; 1]>::try_from(read.events) {
            Ok([Event::Weights(event)]) => Ok(Self { card, line, event }),
            _ => Err(String::from("it is not one event about weights")),
        }
    }

    /// Reads an item of the log.
    ///
    /// # Errors
    /// If it is not an event about weights.
    pub fn parse(id: &str, content: &[u8]) -> Result<Self, String> {
        // The name of a scorecard needs no encoding.
        let card = id.split('/').next().unwrap_or_default();
        let line = std::str::from_utf8(content).map_err(|error| error.to_string())?;
        Self::new(card.to_owned(), line.to_owned())
    }

    /// Returns what the log keeps: `CARD/PROPOSAL/WHAT`, so that each happens at most once to a proposal.
    #[must_use]
    pub fn item(&self) -> NewItem {
        let (proposal, what) = match &self.event {
            OverrideEvent::Proposed(proposal) => (&proposal.id, "proposed"),
            OverrideEvent::Accepted(decision) => (&decision.id, "accepted"),
            OverrideEvent::Refused(decision) => (&decision.id, "refused"),
            OverrideEvent::Revoked(decision) => (&decision.id, "revoked"),
        };
        NewItem {
            kind: Kind::Weights,
            id: format!("{}/{}/{what}", ids::part(&self.card), ids::part(proposal)),
            subject: None,
            sources: Vec::new(),
            replaces: None,
            content: self.line.clone().into_bytes(),
        }
    }
}

/// The events about weights of all scorecards, by `id@version`.
#[derive(Debug, Default)]
pub struct Weights {
    by_card: BTreeMap<String, OfCard>,
}

/// The events about the weights of one scorecard.
#[derive(Debug)]
struct OfCard {
    /// The events, each with its position in the log.
    items: Vec<(u64, WeightsItem)>,
    log: OverrideLog,
    /// The scorecard under the weights in force; None while its own are.
    scorer: Option<Arc<ScorerPool>>,
}

impl Weights {
    /// Adds the item at `position`, which is higher than all earlier ones; `own` is its scorecard with its own weights.
    ///
    /// # Errors
    /// If the event changes nothing. It stays in the list, as in a file of events.
    pub fn add(&mut self, position: u64, item: WeightsItem, own: &ScorerPool) -> Result<(), String> {
        let card = &own.card;
        let known = self.by_card.entry(own.name()).or_insert_with(|| OfCard {
            items: Vec::new(),
            log: OverrideLog::new(card),
            scorer: None,
        });
        let before = known.log.in_force.clone();
        let (log, refusal) = known.log.clone().next(card, item.event.clone());
        known.items.push((position, item));
        known.log = log;
        if known.log.in_force != before {
            let weighted = known.log.weights().map(|weights| card.with_override(weights)).transpose();
            known.scorer =
                weighted.map_err(|error| error.to_string())?.map(|card| Arc::new(ScorerPool::new(card)));
        }
        refusal.map_or(Ok(()), |refusal| Err(refusal.to_string()))
    }

    /// Returns the scorecard `own` under the weights in force now.
    #[must_use]
    pub fn scorer(&self, own: &Arc<ScorerPool>) -> Arc<ScorerPool> {
        let weighted = self.by_card.get(&own.name()).and_then(|known| known.scorer.as_ref());
        Arc::clone(weighted.unwrap_or(own))
    }

    /// Returns the lines of events of a scorecard, up to the log size `size`.
    #[must_use]
    pub fn lines(&self, card: &str, size: u64) -> Vec<String> {
        self.items(card, size).map(|item| item.line.clone()).collect()
    }

    /// Returns the proposals for a scorecard and what became of them by `as_of`, up to the log size `size`.
    #[must_use]
    pub fn log(&self, own: &ScorerPool, size: u64, as_of: Timestamp) -> OverrideLog {
        let events: Vec<Event> =
            self.items(&own.name(), size).map(|item| Event::Weights(item.event.clone())).collect();
        overrides(&own.card, &events, as_of.seconds())
    }

    /// Returns the proposals for a scorecard as they are now.
    #[must_use]
    pub fn now(&self, own: &ScorerPool) -> OverrideLog {
        self.by_card.get(&own.name()).map_or_else(|| OverrideLog::new(&own.card), |known| known.log.clone())
    }

    fn items(&self, card: &str, size: u64) -> impl Iterator<Item = &WeightsItem> {
        let items = self.by_card.get(card).map_or(&[][..], |known| &known.items);
        items.iter().filter(move |(position, _)| *position < size).map(|(_, item)| item)
    }
}
