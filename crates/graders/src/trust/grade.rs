//! The grade of an agent: for each dimension the facts that a scorecard reads, or why they are not measured yet.

use karat_core::facts::Fact;
use karat_core::timestamp::Timestamp;
use serde_json::{Map, Value, json};

use super::evidence::AgentEvidence;
use super::items::Agent;
use super::options::Options;
use super::{conduct, records, tasks};
use karat_evidence::json::problem::Problems;

karat_core::words! {
    /// Status of a dimension.
    pub enum Status {
        /// There is enough evidence: the facts are there.
        Measured = "measured",
        /// There is too little evidence yet: the facts are missing, which is not 0.
        NotMeasured = "not-measured",
        /// The dimension does not apply to the agent.
        NotApplicable = "not-applicable",
    }
}

/// One dimension of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct DimensionGrade {
    /// The dimension, as scorecards name it.
    pub key: &'static str,
    /// Its status.
    pub status: Status,
    /// Reason for not measuring it, such as `not measured yet, 12 of 20 forecasts of different tasks`; empty if it was.
    pub reason: String,
    /// Age of the evidence: that of the last item of a whole minimum, so that one new item does not make it fresh.
    pub age_seconds: Option<f64>,
    /// Names and values of the facts; empty unless it was measured.
    pub facts: Vec<(&'static str, Fact<'static>)>,
    /// Observations, whether it was measured or not.
    pub seen: Map<String, Value>,
}

/// The grade of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentGrade {
    /// The graded agent.
    pub agent_id: String,
    /// The moment of the verdict.
    pub as_of: Timestamp,
    /// The sixteen dimensions, in the order of the trust document.
    pub dimensions: Vec<DimensionGrade>,
    /// Facts that hold whether or not a dimension was measured: what applies, which incidents are open.
    pub standing: Vec<(&'static str, Fact<'static>)>,
    /// Items that were set aside because they are later than the verdict, as `{kind, id}`.
    pub quarantined: Value,
    /// Evaluations that their owner wants back; they count.
    pub withdrawn: Value,
    /// Result of each jury, by check.
    pub panels: Value,
}

impl AgentGrade {
    /// Returns the dimension of this name.
    pub fn dimension(&self, key: &str) -> Option<&DimensionGrade> {
        self.dimensions.iter().find(|dimension| dimension.key == key)
    }

    /// Returns the value of a fact; missing if the evidence does not suffice for it.
    pub fn fact(&self, name: &str) -> Fact<'static> {
        self.all_facts().find(|(known, _)| *known == name).map_or(Fact::Missing, |(_, fact)| fact)
    }

    /// Returns every fact that there is, with its name.
    pub fn all_facts(&self) -> impl Iterator<Item = (&'static str, Fact<'static>)> {
        let measured = self.dimensions.iter().flat_map(|dimension| &dimension.facts);
        measured.chain(&self.standing).copied()
    }

    /// Returns the observations: by dimension its `status`, `reason`, `age_seconds` and `seen`, by grader of the rest
    /// `evidence` (`as_of` after RFC 3339, `quarantined`, `withdrawn`) and `panels` (by check, as
    /// [`Panel::detail`](super::jury::Panel::detail)).
    pub fn detail(&self) -> Value {
        let dimensions = self.dimensions.iter().map(|dimension| {
            let detail = json!({
                "status": dimension.status.name(),
                "reason": dimension.reason,
                "age_seconds": dimension.age_seconds,
                "seen": dimension.seen,
            });
            (dimension.key.to_owned(), detail)
        });
        let mut detail: Map<String, Value> = dimensions.collect();
        let evidence = json!({
            "as_of": self.as_of.to_string(),
            "quarantined": self.quarantined,
            "withdrawn": self.withdrawn,
        });
        detail.insert("evidence".to_owned(), evidence);
        detail.insert("panels".to_owned(), self.panels.clone());
        Value::Object(detail)
    }
}

pub(super) type Graded = Result<Measured, Unmeasured>;

pub(super) struct Measured {
    pub age_seconds: f64,
    pub facts: Vec<(&'static str, Fact<'static>)>,
    pub seen: Value,
}

pub(super) enum Unmeasured {
    NotYet { reason: String, seen: Value },
    NotApplicable(&'static str),
}

impl From<String> for Unmeasured {
    fn from(reason: String) -> Self {
        Self::NotYet { reason, seen: json!({}) }
    }
}

/// Grades an agent: makes the facts of the trust card's dimension functions from its evidence.
///
/// Nothing depends on the order of the items, nor on an item being there twice. What is not measured yet has no facts.
///
/// # Errors
///
/// If [`AgentEvidence::check`] finds problems: all of them.
pub fn grade(evidence: &AgentEvidence, options: &Options) -> Result<AgentGrade, Problems> {
    let problems = evidence.check();
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut agent = Agent::new(evidence, options);
    let incidents = records::incidents(&mut agent);
    let bond = records::bond(&mut agent);
    let memory = records::memory(&mut agent);
    let teamwork = records::teamwork(&mut agent);
    // The dimensions that evaluations feed; evalRigor says how many of them were measured.
    let fed = [
        ("accuracy", tasks::accuracy(&agent)),
        ("reliability", tasks::reliability(&agent)),
        ("safety", conduct::safety(&agent)),
        ("selfAudit", tasks::self_audit(&agent)),
        ("security", conduct::security(&agent)),
        ("latency", tasks::latency(&agent)),
        ("scopeHonesty", conduct::scope_honesty(&agent)),
        ("costEfficiency", tasks::cost_efficiency(&agent)),
        ("modelCompliance", conduct::model_compliance(&agent)),
        ("runtimeCompliance", conduct::runtime_compliance(&agent)),
        ("harnessStability", tasks::harness_stability(&agent)),
        ("skillMastery", conduct::skill_mastery(&agent)),
    ];
    let measured = fed.iter().filter(|(_, graded)| graded.is_ok()).count();
    let rigor = tasks::eval_rigor(&agent, measured, fed.len());

    let applies = |graded: &Graded| Fact::Flag(!matches!(graded, Err(Unmeasured::NotApplicable(_))));
    let mut standing = incidents;
    standing.extend([
        ("bond_applies", applies(&bond)),
        ("memoryQuality_applies", applies(&memory)),
        ("teamwork_applies", applies(&teamwork)),
    ]);
    let recorded = [("bond", bond), ("memoryQuality", memory), ("evalRigor", rigor), ("teamwork", teamwork)];
    let mut dimensions: Vec<DimensionGrade> =
        fed.into_iter().chain(recorded).map(|(key, graded)| dimension(key, graded)).collect();
    dimensions.sort_by_key(|dimension| DIMENSIONS.iter().position(|key| *key == dimension.key));
    let (quarantined, withdrawn, panels) = agent.detail();
    let agent_id = evidence.agent_id.clone();
    let as_of = options.as_of;
    Ok(AgentGrade { agent_id, as_of, dimensions, standing, quarantined, withdrawn, panels })
}

/// The dimensions, in the order of the trust document.
pub const DIMENSIONS: [&str; 16] = [
    "accuracy", "reliability", "safety", "selfAudit", "security", "latency", "bond", "scopeHonesty",
    "memoryQuality", "costEfficiency", "evalRigor", "teamwork", "modelCompliance", "runtimeCompliance",
    "harnessStability", "skillMastery",
];

fn dimension(key: &'static str, graded: Graded) -> DimensionGrade {
    let (status, reason, age_seconds, facts, seen) = match graded {
        Ok(it) => (Status::Measured, String::new(), Some(it.age_seconds), it.facts, it.seen),
        Err(Unmeasured::NotYet { reason, seen }) => (Status::NotMeasured, reason, None, Vec::new(), seen),
        Err(Unmeasured::NotApplicable(reason)) => {
            (Status::NotApplicable, reason.to_owned(), None, Vec::new(), json!({}))
        }
    };
    // A sum of nothing is -0, of which no sign may reach a formula.
    let unsigned = |(name, fact)| match fact {
        Fact::Number(number) => (name, Fact::Number(number + 0.0)),
        fact => (name, fact),
    };
    let facts = facts.into_iter().map(unsigned).collect();
    let seen = if let Value::Object(seen) = seen { seen } else { Map::new() };
    DimensionGrade { key, status, reason, age_seconds, facts, seen }
}
