//! The kinds of evidence and the facts that each can supply.

use crate::kinds::agent_dimensions::Dimensions;
use crate::kinds::agent_evidence::AgentFacts;
use crate::kinds::arena_match::MatchFacts;
use crate::kinds::reasoning_trace::TraceFacts;
use crate::kinds::workflow_run::RunFacts;
use crate::vocabulary::FactSpec;

/// A kind of evidence: what shape its items have and which facts they give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A workflow plan, how it was executed and how good its output is.
    WorkflowRun,
    /// One match of an agent in an arena.
    Match,
    /// The steps of an agent on one task.
    ReasoningTrace,
    /// Behavioural dimensions of an agent, measured elsewhere.
    AgentDimensions,
    /// Everything that is known of an agent: evaluations, verdicts, records.
    AgentEvidence,
    /// A flat table of the user's own facts.
    Facts,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::WorkflowRun,
        Self::Match,
        Self::ReasoningTrace,
        Self::AgentDimensions,
        Self::AgentEvidence,
        Self::Facts,
    ];

    /// Returns the name as scorecards write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::WorkflowRun => "workflow-run",
            Self::Match => "match",
            Self::ReasoningTrace => "reasoning-trace",
            Self::AgentDimensions => "agent-dimensions",
            Self::AgentEvidence => "agent-evidence",
            Self::Facts => "facts",
        }
    }

    /// Returns the kind with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

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
