//! Weights from outside: for every scorecard the proposals and decisions in the log, and the scorecard under the weights
//! in force. An item of the log is a line of the events that `karat standing --events` reads.

use karat::error::Error;
use karat::standing::events::{self, Events};
use karat::standing::written;
use karat_standing::overrides::{OverrideEvent, OverrideLog};
use karat_standing::stand::{Event, overrides};

use crate::basics::*;
use crate::cards::ScorerPool;
use crate::ids;

/// A proposal of weights, or a decision on one, as the log has it.
#[derive(Debug, Clone)]
pub struct WeightsItem {
    /// The scorecard, `id@version`.
    pub card: String,
    /// The line of events.
    pub line: String,
    pub event: OverrideEvent,
}

impl WeightsItem {
    /// Reads the event in `line`, about the weights of `card`.
    pub fn new(card: String, line: String) -> Result<Self, String> {
        let read = events::read("$", &line);
        Self::of(card, line, read)
    }

    fn of(card: String, line: String, read: Result<Events, Error>) -> Result<Self, String> {
        match <[Event; 1]>::try_from(read.map_err(|error| error.to_string())?.events) {
            Ok([Event::Weights(event)]) => Ok(Self { card, line, event }),
            _ => Err(String::from("it is not one event about weights")),
        }
    }

    /// Reads an item of the log.
    pub fn parse(id: &str, content: &[u8]) -> Result<Self, String> {
        // The name of a scorecard needs no encoding.
        let card = id.split('/').next().unwrap_or_default();
        let line = std::str::from_utf8(content).map_err(|error| error.to_string())?;
        Self::of(card.to_owned(), line.to_owned(), events::read_stored("$", line))
    }

    /// Checks that the event comes after those `known`. Events count by their seconds, so that a standing could not tell
    /// which of two decisions in one second came first.
    pub(crate) fn follows(&self, known: &OverrideLog) -> Result<(), String> {
        let (at_seconds, decided) = match &self.event {
            OverrideEvent::Proposed(proposal) => (proposal.at_seconds, None),
            OverrideEvent::Accepted(own) | OverrideEvent::Refused(own) | OverrideEvent::Revoked(own) => {
                let all = known.proposals.values().flat_map(|record| &record.decisions);
                (own.at_seconds, all.map(|decision| decision.at_seconds).max())
            }
        };
        match known.latest_seconds.max(decided.map(|last| last.saturating_add(1))) {
            Some(first) if at_seconds < first => Err(format!(
                "the next event about the weights of `{}` may be at {}, and this one is at {}: send it again in a second",
                known.card,
                written(first),
                written(at_seconds)
            )),
            _ => Ok(()),
        }
    }

    /// Returns what the log keeps: `CARD/PROPOSAL/WHAT`, so that each happens at most once to a proposal.
    pub fn item(&self) -> NewItem {
        let (proposal, what) = match &self.event {
            OverrideEvent::Proposed(proposal) => (&proposal.id, "proposed"),
            OverrideEvent::Accepted(decision) => (&decision.id, "accepted"),
            OverrideEvent::Refused(decision) => (&decision.id, "refused"),
            OverrideEvent::Revoked(decision) => (&decision.id, "revoked"),
        };
        let id = format!("{}/{}/{what}", ids::part(&self.card), ids::part(proposal));
        NewItem::new(Kind::Weights, id, self.line.as_str())
    }
}

/// The events about weights of all scorecards, by `id@version`.
#[derive(Debug, Default, Clone)]
pub struct Weights {
    by_card: BTreeMap<String, OfCard>,
}

/// The events about the weights of one scorecard.
#[derive(Debug, Clone)]
struct OfCard {
    /// The events, each with its position in the log.
    items: Vec<(u64, WeightsItem)>,
    log: OverrideLog,
    /// The scorecard under the weights in force; None while its own are.
    scorer: Option<Arc<ScorerPool>>,
}

impl Weights {
    /// Adds the item at `position`, which is higher than all earlier ones; `own` is its scorecard with its own weights.
    pub fn add(&mut self, position: u64, item: WeightsItem, own: &ScorerPool) -> Result<(), String> {
        let card = &own.card;
        let known = self.by_card.entry(own.name()).or_insert_with(|| OfCard {
            items: Vec::new(),
            log: OverrideLog::new(card),
            scorer: None,
        });
        let before = known.log.in_force.clone();
        // Taken and put back: a copy for every event would make a start slow.
        let log = std::mem::replace(&mut known.log, OverrideLog::new(card));
        let (log, refusal) = log.next(card, item.event.clone());
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
    pub fn scorer(&self, own: &Arc<ScorerPool>) -> Arc<ScorerPool> {
        let weighted = self.by_card.get(&own.name()).and_then(|known| known.scorer.as_ref());
        Arc::clone(weighted.unwrap_or(own))
    }

    /// Returns the lines of events of a scorecard, up to the log size `size`.
    pub fn lines(&self, card: &str, size: u64) -> Vec<String> {
        self.items(card, size).map(|item| item.line.clone()).collect()
    }

    /// Returns the proposals for a scorecard and what became of them by `as_of`, up to the log size `size`.
    pub fn log(&self, own: &ScorerPool, size: u64, as_of: Timestamp) -> OverrideLog {
        let events: Vec<Event> =
            self.items(&own.name(), size).map(|item| Event::Weights(item.event.clone())).collect();
        overrides(&own.card, &events, as_of.seconds())
    }

    /// Returns the proposals for a scorecard as they are now.
    pub fn now(&self, own: &ScorerPool) -> OverrideLog {
        self.by_card.get(&own.name()).map_or_else(|| OverrideLog::new(&own.card), |known| known.log.clone())
    }

    fn items(&self, card: &str, size: u64) -> impl Iterator<Item = &WeightsItem> {
        let items = self.by_card.get(card).map_or(&[][..], |known| &known.items);
        items.iter().filter(move |(position, _)| *position < size).map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use karat::card::CompiledCard;

    use super::*;

    const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "two"
version = "1.0.0"
title = "Two dimensions"
evidence = "facts"
mean = "weighted-mean"
facts = { a = { min = 0, max = 1 }, b = { min = 0, max = 1 } }
override = { tolerance = 0.001 }
dimension = [{ key = "a", weight = 0.6 }, { key = "b", weight = 0.4 }]
"#;

    const WHAT: [&str; 4] = ["proposed", "accepted", "refused", "revoked"];

    /// Returns the event with that number, about one of two proposals.
    fn item(number: usize, at_seconds: i64) -> WeightsItem {
        let (what, id) = (WHAT[number / 2], ["p", "q"][number % 2]);
        let more = match what {
            "proposed" => r#""proposer":"loop","weights":{"a":0.5,"b":0.5}"#,
            _ => r#""decider":"ann""#,
        };
        let time = written(at_seconds);
        let line = format!(r#"{{"event":"weights-{what}","id":"{id}","reason":"r","time":"{time}",{more}}}"#);
        WeightsItem::new("two@1.0.0".to_owned(), line).unwrap()
    }

    #[test]
    fn events_in_the_order_of_the_log_come_to_what_a_standing_takes_from_them() {
        const EVENTS: usize = 4;
        let own = ScorerPool::new(CompiledCard::parse(CARD).unwrap());
        let (mut series, mut in_force) = (0, 0);
        for choice in 0..(8usize * 2).pow(EVENTS as u32) {
            let (mut log, mut stored, mut at_seconds) = (OverrideLog::new(&own.card), Vec::new(), 0);
            for place in 0..EVENTS {
                let choice = choice / 16usize.pow(place as u32) % 16;
                at_seconds += (choice / 8) as i64;
                let item = item(choice % 8, at_seconds);
                if item.follows(&log).is_err() {
                    continue;
                }
                let (next, refusal) = log.clone().next(&own.card, item.event.clone());
                if refusal.is_none() {
                    log = next;
                    stored.push(item.event);
                }
            }
            let mut events: Vec<Event> = stored.into_iter().map(Event::Weights).collect();
            events.reverse();
            assert_eq!(overrides(&own.card, &events, at_seconds), log, "{choice}");
            series += 1;
            in_force += usize::from(log.in_force.is_some());
        }
        assert!(series == 65_536 && in_force > 1_000, "{series} {in_force}");
    }

    #[test]
    fn the_scorer_is_that_of_the_weights_in_force() {
        let own = Arc::new(ScorerPool::new(CompiledCard::parse(CARD).unwrap()));
        let mut weights = Weights::default();
        let mut applied = |number, at| {
            let added = weights.add(at as u64, item(number, at), &own);
            let used = weights.scorer(&own).card.scorer().unwrap().override_use().map(|used| used.applied);
            (added.is_ok(), used)
        };
        assert_eq!(applied(0, 1), (true, None), "proposed");
        assert_eq!(applied(2, 2), (true, Some(true)), "accepted");
        assert_eq!(applied(4, 3), (false, Some(true)), "too late to refuse");
        assert_eq!(applied(6, 4), (true, None), "revoked");
        assert_eq!(weights.lines("two@1.0.0", 3).len(), 2);
        assert_eq!(weights.log(&own, 9, Timestamp::from_seconds(2)).in_force.as_deref(), Some("p"));
        assert_eq!(weights.log(&own, 9, Timestamp::from_seconds(1)).in_force, None);
    }

    #[test]
    fn an_item_of_the_log_gives_its_event_again() {
        for number in 0..8 {
            let kept = item(number, 7).item();
            let read = WeightsItem::parse(&kept.id, &kept.content).unwrap();
            assert_eq!((read.card.as_str(), read.item()), ("two@1.0.0", kept));
        }
        for bad in [r#"{"event":"operated","subject":"a","operator":"b"}"#, "", "{"] {
            assert!(WeightsItem::parse("two@1.0.0/p/proposed", bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
