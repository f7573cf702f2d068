//! The kinds of evidence and the facts that each can supply.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::kinds::agent_dimensions::{self, Dimensions};
use crate::kinds::agent_evidence::AgentFacts;
use crate::kinds::arena_match::MatchFacts;
use crate::kinds::reasoning_trace::TraceFacts;
use crate::kinds::workflow_run::RunFacts;
use crate::vocabulary::FactSpec;
use karat_core::facts::Usual;

karat_core::words! {
    /// A kind of evidence: what shape its items have and which facts they give.
    pub enum Kind {
        /// A workflow plan, how it was executed and how good its output is.
        WorkflowRun = "workflow-run",
        /// One match of an agent in an arena.
        Match = "match",
        /// The steps of an agent on one task.
        ReasoningTrace = "reasoning-trace",
        /// Behavioural dimensions of an agent, measured elsewhere.
        AgentDimensions = "agent-dimensions",
        /// Everything that is known of an agent: evaluations, verdicts, records.
        AgentEvidence = "agent-evidence",
        /// A flat table of the user's own facts.
        Facts = "facts",
    }
}

impl Kind {
    /// Returns the facts that items of the kind can give. Empty for [`Kind::Facts`], whose names are the user's own.
    pub fn vocabulary(self) -> &'static [FactSpec] {
        match self {
            Self::WorkflowRun => RunFacts::SPECS,
            Self::Match => MatchFacts::SPECS,
            Self::ReasoningTrace => TraceFacts::SPECS,
            Self::AgentDimensions => Dimensions::SPECS,
            Self::AgentEvidence => AgentFacts::SPECS,
            Self::Facts => &[],
        }
    }

    /// Returns the value of a fact in items that do not give it; none where it is missing then.
    pub fn usual(self, fact: &str) -> Option<Usual> {
        if self == Self::AgentDimensions { agent_dimensions::usual(fact) } else { None }
    }

    /// Returns the kind that the members of an item show, from the beginning of its JSON; `None` where none of them is of
    /// one kind alone, as in items of facts.
    pub fn of_item(item: &[u8]) -> Option<Self> {
        let mut counts = Self::ALL.map(|_| 0u32);
        let item = item.strip_prefix(b"\xef\xbb\xbf").unwrap_or(item);
        // Where it ends too early, or is broken, what was read so far counts.
        let _ =
            serde_json::Deserializer::from_slice(item).deserialize_map(Members(&mut |name, is_number| {
                // A number of steps is a fact, and no list of them.
                let can_mark = !is_number || HOLDERS.split(' ').all(|holder| holder != name);
                for (count, kind) in counts.iter_mut().zip(Self::ALL) {
                    *count += u32::from(can_mark && kind.marks().any(|mark| mark == name));
                }
            }));
        let most = counts.into_iter().max().filter(|&most| most > 0)?;
        let mut found = Self::ALL.into_iter().zip(counts).filter(|&(_, count)| count == most);
        found.next().filter(|_| found.next().is_none()).map(|(kind, _)| kind)
    }

    /// Returns the members of an item that only this kind has.
    fn marks(self) -> impl Iterator<Item = &'static str> {
        let marks = match self {
            Self::WorkflowRun => "run_id workflow_plan miner_uid output_quality quality_criteria",
            Self::Match => {
                "match_id challenge challenge_id challenge_slug score_breakdown scores submission trajectory \
                 time_limit_secs"
            }
            Self::ReasoningTrace => "@context @type metadata steps",
            Self::AgentDimensions => "dimensions not_applicable critical_incident_open",
            Self::AgentEvidence => {
                "task_classes declarations evaluations verdicts bond incidents memory collaborations"
            }
            Self::Facts => "",
        };
        marks.split_ascii_whitespace()
    }
}

/// Marks that are lists or objects. A number of that name is a fact: `steps` of a run, `incidents` of an agent.
const HOLDERS: &str = "scores score_breakdown trajectory metadata steps dimensions task_classes declarations evaluations \
    verdicts incidents collaborations";

/// Tells the name of each member of an object, and whether its value is a number.
struct Members<'a>(&'a mut dyn FnMut(&str, bool));

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value::<&RawValue>();
            // What is cut off may have become anything.
            let is_number = value.as_ref().is_ok_and(|value| {
                value.get().starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
            });
            (self.0)(&name, is_number);
            value?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_kind() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(Kind::from_name("Match"), None);
    }

    #[test]
    fn a_mark_is_of_one_kind() {
        let mut marks: Vec<_> = Kind::ALL.into_iter().flat_map(Kind::marks).collect();
        marks.sort_unstable();
        let count = marks.len();
        marks.dedup();
        assert_eq!(marks.len(), count);
    }

    #[test]
    fn an_item_that_is_cut_off_shows_its_kind_and_a_mixture_shows_none() {
        assert_eq!(Kind::of_item(br#"{"agent_id": "a", "evaluations": [{"id": "#), Some(Kind::AgentEvidence));
        assert_eq!(Kind::of_item(b"\xef\xbb\xbf {\"steps\": [], \"x\": 1}"), Some(Kind::ReasoningTrace));
        assert_eq!(Kind::of_item(br#"{"dimensions": {}, "evaluations": []}"#), None);
        for name in HOLDERS.split(' ') {
            assert!(Kind::ALL.iter().any(|kind| kind.marks().any(|mark| mark == name)), "{name}");
            for number in ["2", "-0.5"] {
                assert_eq!(Kind::of_item(format!("{{\"{name}\": {number}}}").as_bytes()), None, "{name}");
            }
            assert!(Kind::of_item(format!("{{\"{name}\": [").as_bytes()).is_some(), "{name}");
        }
        for other in ["", "[]", "7", "{}", "{", "\"dimensions\""] {
            assert_eq!(Kind::of_item(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn fact_names_are_unique_within_a_kind() {
        for kind in Kind::ALL {
            let mut names: Vec<_> = kind.vocabulary().iter().map(|spec| spec.name).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{}", kind.name());
        }
    }
}
