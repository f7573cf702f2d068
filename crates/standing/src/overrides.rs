//! Weights proposed from outside: every proposal, its outcome, and who decided (trust document, section 4).
//!
//! The document lets an automated loop replace weights and drops a wrong replacement with a line in a log. Here a proposal is
//! checked, waits for someone else's decision, and is kept with its reason whatever becomes of it.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use karat_core::number::Decimal;
use karat_core::scorecard::Scorecard;
use karat_core::weights::OverrideUse;

/// Weights that someone proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// A unique name.
    pub id: String,
    /// Its time.
    pub at_seconds: i64,
    /// The proposer, a person or a program.
    pub proposer: String,
    /// The reason; not empty.
    pub reason: String,
    /// Weights by dimension, which replace those of the card.
    pub weights: Vec<(String, Decimal)>,
}

/// A decision on a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideDecision {
    /// The proposal.
    pub id: String,
    /// Its time.
    pub at_seconds: i64,
    /// The decider.
    pub decider: String,
    /// The reason; not empty.
    pub reason: String,
}

/// An event about weights from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OverrideEvent {
    /// Weights are proposed.
    Proposed(Proposal),
    /// They come into force and replace those before.
    Accepted(OverrideDecision),
    /// They are refused.
    Refused(OverrideDecision),
    /// They end, and those of the card are in force again.
    Revoked(OverrideDecision),
}

karat_core::words! {
    /// The status of a proposal of weights from outside.
    pub enum ProposalStatus {
        /// Checked; it waits for a decision.
        Proposed = "proposed",
        /// In force.
        Accepted = "accepted",
        /// Refused by the check, or by someone.
        Refused = "refused",
        /// In force until another was accepted.
        Replaced = "replaced",
        /// In force until someone revoked it.
        Revoked = "revoked",
    }
}

/// A proposal and all that became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalRecord {
    /// The proposal.
    pub proposal: Proposal,
    /// Its status.
    pub status: ProposalStatus,
    /// The sum of the weights after the merge; none if they do not fit the card.
    pub merged_sum: Option<Decimal>,
    /// The reason why the check refused it, if it did.
    pub check_refusal: Option<String>,
    /// The decisions, in order.
    pub decisions: Vec<OverrideDecision>,
}

/// All proposals of weights for one card. A value of plain parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideLog {
    /// The card, as `id@version`.
    pub card: String,
    /// Every proposal by its id.
    pub proposals: BTreeMap<String, ProposalRecord>,
    /// The proposal in force; none while the card's own weights are.
    pub in_force: Option<String>,
    /// The moment of the last event.
    pub latest_seconds: Option<i64>,
}

/// The reason why an event changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OverrideRefusal {
    /// It is before the last event.
    #[error(
        "the event is of second {at_seconds}, expected {latest_seconds} or later; give events in order of time"
    )]
    OutOfOrder {
        /// Its time.
        at_seconds: i64,
        /// The time of the last event.
        latest_seconds: i64,
    },
    /// The log is of another card.
    #[error("the log is of `{log}`, expected one of `{card}`; each version of a card has its own")]
    OtherCard {
        /// The card of the log.
        log: String,
        /// The card given.
        card: String,
    },
    /// There is a proposal of this id.
    #[error("there is a proposal `{0}` already, expected another id")]
    SameId(
        /// The id.
        String,
    ),
    /// There is no such proposal.
    #[error("there is no proposal `{0}`")]
    Unknown(
        /// The id.
        String,
    ),
    /// The proposal does not wait for this decision.
    #[error("the proposal `{id}` is {}, expected one that is {}", .found.name(), .expected.name())]
    Status {
        /// The id.
        id: String,
        /// Its status.
        found: ProposalStatus,
        /// The status that it should have.
        expected: ProposalStatus,
    },
    /// A proposal may not be accepted by the one who made it.
    #[error("`{0}` made the proposal, expected someone else to accept it")]
    OwnProposal(
        /// The proposer.
        String,
    ),
    /// No name, or no reason.
    #[error("`{0}` is empty, expected a text")]
    Unsigned(
        /// The empty field: `proposer`, `decider`, `reason` or `id`.
        &'static str,
    ),
}

impl OverrideLog {
    /// Returns a log without proposals.
    pub fn new(card: &Scorecard) -> Self {
        Self { card: card.name(), proposals: BTreeMap::new(), in_force: None, latest_seconds: None }
    }

    /// Returns the weights in force; none while the card's own are.
    pub fn weights(&self) -> Option<&[(String, Decimal)]> {
        let record = self.proposals.get(self.in_force.as_ref()?)?;
        Some(&record.proposal.weights)
    }

    /// Takes in one event. A proposal that the card would refuse is kept as refused, with the reason.
    ///
    /// The second value says why the event changed nothing, if it did not.
    #[must_use]
    pub fn next(mut self, card: &Scorecard, event: OverrideEvent) -> (Self, Option<OverrideRefusal>) {
        let refusal = self.take(card, event).err();
        (self, refusal)
    }

    fn take(&mut self, card: &Scorecard, event: OverrideEvent) -> Result<(), OverrideRefusal> {
        let name = card.name();
        if name != self.card {
            return Err(OverrideRefusal::OtherCard { log: self.card.clone(), card: name });
        }
        match event {
            OverrideEvent::Proposed(proposal) => self.propose(card, proposal),
            OverrideEvent::Accepted(decision) => {
                let id = decision.id.clone();
                let proposer = self.proposals.get(&id).map(|record| &record.proposal.proposer);
                if proposer == Some(&decision.decider) {
                    return Err(OverrideRefusal::OwnProposal(decision.decider));
                }
                self.decide(decision, ProposalStatus::Proposed, ProposalStatus::Accepted)?;
                let before = self.in_force.replace(id);
                if let Some(before) = before.and_then(|before| self.proposals.get_mut(&before)) {
                    before.status = ProposalStatus::Replaced;
                }
                Ok(())
            }
            OverrideEvent::Refused(decision) => {
                self.decide(decision, ProposalStatus::Proposed, ProposalStatus::Refused)
            }
            OverrideEvent::Revoked(decision) => {
                self.decide(decision, ProposalStatus::Accepted, ProposalStatus::Revoked)?;
                self.in_force = None;
                Ok(())
            }
        }
    }

    fn propose(&mut self, card: &Scorecard, proposal: Proposal) -> Result<(), OverrideRefusal> {
        signed(&[("id", &proposal.id), ("proposer", &proposal.proposer), ("reason", &proposal.reason)])?;
        if self.proposals.contains_key(&proposal.id) {
            return Err(OverrideRefusal::SameId(proposal.id));
        }
        self.pass(proposal.at_seconds)?;
        let (merged_sum, check_refusal) = match OverrideUse::new(card, &proposal.weights) {
            Ok(used) => (Some(used.merged_sum), used.reason),
            Err(refusal) => (None, Some(refusal.to_string())),
        };
        let status = if check_refusal.is_some() { ProposalStatus::Refused } else { ProposalStatus::Proposed };
        let id = proposal.id.clone();
        let record = ProposalRecord { proposal, status, merged_sum, check_refusal, decisions: Vec::new() };
        self.proposals.insert(id, record);
        Ok(())
    }

    fn decide(
        &mut self,
        decision: OverrideDecision,
        expected: ProposalStatus,
        next: ProposalStatus,
    ) -> Result<(), OverrideRefusal> {
        signed(&[("decider", &decision.decider), ("reason", &decision.reason)])?;
        let id = &decision.id;
        let found = self.proposals.get(id).map(|record| record.status);
        let found = found.ok_or_else(|| OverrideRefusal::Unknown(id.clone()))?;
        if found != expected {
            return Err(OverrideRefusal::Status { id: id.clone(), found, expected });
        }
        self.pass(decision.at_seconds)?;
        if let Some(record) = self.proposals.get_mut(id) {
            record.status = next;
            record.decisions.push(decision);
        }
        Ok(())
    }

    fn pass(&mut self, at_seconds: i64) -> Result<(), OverrideRefusal> {
        match self.latest_seconds {
            Some(latest_seconds) if at_seconds < latest_seconds => {
                Err(OverrideRefusal::OutOfOrder { at_seconds, latest_seconds })
            }
            _ => {
                self.latest_seconds = Some(at_seconds);
                Ok(())
            }
        }
    }
}

fn signed(fields: &[(&'static str, &String)]) -> Result<(), OverrideRefusal> {
    match fields.iter().find(|(_, text)| text.trim().is_empty()) {
        Some((field, _)) => Err(OverrideRefusal::Unsigned(field)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn card(name: &str) -> Scorecard {
        let text = alloc::format!(
            r#"
            schema = "karat/scorecard/1"
            id = "{name}"
            version = "1.0.0"
            title = "Two dimensions"
            evidence = "facts"
            mean = "weighted-mean"
            facts = {{ a = {{ min = 0, max = 1 }}, b = {{ min = 0, max = 1 }} }}
            override = {{ tolerance = 0.001 }}
            dimension = [{{ key = "a", weight = 0.6 }}, {{ key = "b", weight = 0.4 }}]
            "#
        );
        karat_checker::parse(&text, &|_| None).unwrap()
    }

    fn proposed(id: &str, at_seconds: i64, weights: &[(&str, i64)]) -> OverrideEvent {
        let weights = weights.iter().map(|&(key, weight)| (key.into(), Decimal::from_millionths(weight)));
        let (proposer, reason) = ("loop".into(), "higher agreement".into());
        OverrideEvent::Proposed(Proposal {
            id: id.into(),
            at_seconds,
            proposer,
            reason,
            weights: weights.collect(),
        })
    }

    fn by(decider: &str, id: &str, at_seconds: i64) -> OverrideDecision {
        OverrideDecision { id: id.into(), at_seconds, decider: decider.into(), reason: "reviewed".into() }
    }

    fn log(events: Vec<OverrideEvent>) -> OverrideLog {
        let card = card("two");
        events.into_iter().fold(OverrideLog::new(&card), |log, event| {
            let (log, refusal) = log.next(&card, event);
            assert_eq!(refusal, None);
            log
        })
    }

    const EVEN: [(&str, i64); 2] = [("a", 500_000), ("b", 500_000)];

    #[test]
    fn an_accepted_proposal_is_in_force_until_the_next_or_a_revocation() {
        let first = vec![proposed("p1", 1, &EVEN), OverrideEvent::Accepted(by("ann", "p1", 2))];
        let in_force = log(first.clone());
        assert_eq!(in_force.weights().unwrap().len(), 2);
        let second = vec![proposed("p2", 3, &[("a", 601_000)]), OverrideEvent::Accepted(by("ann", "p2", 4))];
        let replaced = log([first, second].concat());
        assert_eq!(replaced.proposals["p1"].status, ProposalStatus::Replaced);
        assert_eq!(replaced.in_force.as_deref(), Some("p2"));
        assert_eq!(replaced.proposals["p2"].merged_sum, Some(Decimal::from_millionths(1_001_000)));
        let (revoked, refusal) = replaced.next(&card("two"), OverrideEvent::Revoked(by("bo", "p2", 5)));
        assert_eq!((revoked.weights(), refusal), (None, None));
        assert_eq!(revoked.proposals["p2"].decisions.len(), 2, "the acceptance stays on record");
    }

    #[test]
    fn what_the_card_would_refuse_is_kept_with_the_reason() {
        let kept = log(vec![
            proposed("sum", 1, &[("a", 601_001)]),
            proposed("name", 1, &[("c", 1)]),
            proposed("twice", 1, &[("a", 1), ("a", 2)]),
        ]);
        let why = |id: &str| kept.proposals[id].check_refusal.clone().unwrap();
        assert_eq!(why("sum"), "the merged weights sum to 1.001001, more than 0.001 from 1");
        assert_eq!(why("name"), "the card has no dimension `c`; did you mean `a`?");
        assert_eq!(why("twice"), "`a` is given two weights, expected one");
        assert!(kept.proposals.values().all(|record| record.status == ProposalStatus::Refused));
    }

    #[test]
    fn what_cannot_be_taken_in_says_why_and_changes_nothing() {
        let waiting = log(vec![proposed("p1", 10, &EVEN)]);
        let told = |event| {
            let (next, refusal) = waiting.clone().next(&card("two"), event);
            assert_eq!(next, waiting);
            refusal.unwrap().to_string()
        };
        assert_eq!(told(proposed("p1", 11, &EVEN)), "there is a proposal `p1` already, expected another id");
        assert_eq!(
            told(proposed("p2", 9, &EVEN)),
            "the event is of second 9, expected 10 or later; give events in order of time"
        );
        assert_eq!(
            told(OverrideEvent::Accepted(by("loop", "p1", 11))),
            "`loop` made the proposal, expected someone else to accept it"
        );
        assert_eq!(told(OverrideEvent::Refused(by("ann", "p9", 11))), "there is no proposal `p9`");
        assert_eq!(
            told(OverrideEvent::Revoked(by("ann", "p1", 11))),
            "the proposal `p1` is proposed, expected one that is accepted"
        );
        assert_eq!(told(OverrideEvent::Accepted(by(" ", "p1", 11))), "`decider` is empty, expected a text");
        assert_eq!(
            told(OverrideEvent::Refused(by("ann", "p1", 9))).get(..23),
            Some("the event is of second ")
        );
        let (_, refusal) = waiting.clone().next(&card("other"), proposed("p2", 11, &EVEN));
        assert_eq!(
            refusal.unwrap().to_string(),
            "the log is of `two@1.0.0`, expected one of `other@1.0.0`; each version of a card has its own"
        );
    }

    #[test]
    fn a_refused_proposal_stays_refused() {
        let refused = log(vec![proposed("p1", 1, &EVEN), OverrideEvent::Refused(by("ann", "p1", 2))]);
        let (next, refusal) = refused.next(&card("two"), OverrideEvent::Accepted(by("ann", "p1", 3)));
        assert!(matches!(refusal, Some(OverrideRefusal::Status { found: ProposalStatus::Refused, .. })));
        assert_eq!(next.weights(), None);
    }
}
