//! Plans: a graph of steps, read from JSON and checked, so that code with a [`Plan`] can rely on it.

mod read;

use super::graph::Graph;
use super::reference::Reference;
use karat_evidence::json::note::Note;
use karat_evidence::json::problem::Problems;

pub use read::read;

/// A plan without faults: the ids of its steps are unique and not blank, its edges lead from step to step and never
/// round in a cycle.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Sorted by id, in the order of code points.
    steps: Vec<Step>,
    graph: Graph,
    tiers: Vec<Vec<usize>>,
    declared_retry_budget: u64,
    /// Elements of `nodes`. Without faults as many as there are steps.
    nodes: usize,
}

/// A step of a plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// The id, as written: `a` and ` a` differ.
    pub id: String,
    /// Subnet that carries it out.
    pub subnet: Option<String>,
    /// Estimated cost in TAO.
    pub estimated_cost_tao: Option<f64>,
    /// Number of retries that the plan declares, which are free.
    pub declared_retries: u64,
    /// The time limit of one attempt. An attempt at a step without one cannot time out.
    pub timeout_seconds: Option<f64>,
    /// References of its parameters, in the order of the text.
    pub references: Vec<Reference>,
}

/// Requirements on a plan beyond being a graph without cycles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlanRules {
    /// The most steps a plan may have, if there is a limit.
    pub steps_max: Option<usize>,
    /// The most retries a step may declare, if there is a limit. Declared retries are free, so without one a plan can
    /// declare more than it will ever need.
    pub declared_retries_max: Option<u64>,
    /// True if every step must say its subnet and its action.
    pub subnet_and_action_required: bool,
    /// The subnets that may carry out a step, if not all may. Letter case makes no difference, but gets a note.
    pub allowed_subnets: Option<Vec<String>>,
    /// Treatment of a reference to a step that does not lie upstream.
    pub references: References,
}

/// Treatment of a plan with a reference to an unknown step, to the step itself, or to one from which no edges lead to
/// the step that refers to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum References {
    /// It is at fault: the value may not be there yet when it is needed.
    #[default]
    Refused,
    /// It gets a note: such a step may fail, and the account of the run will say whether it did.
    Noted,
    /// It is not looked for, and the steps have no [references](Step::references): for a plan whose run is given by totals,
    /// in which references play no part.
    Unread,
}

impl PlanRules {
    /// Returns the rules of the published validator of C-SWON, by which an answer with a plan counts as no answer.
    pub fn published_validator() -> Self {
        Self {
            steps_max: Some(10),
            subnet_and_action_required: true,
            references: References::Noted,
            ..Self::default()
        }
    }

    /// Returns the rules that evidence of a run has to satisfy: a run that has taken place shows itself where its plan
    /// went wrong.
    pub fn of_evidence(has_log: bool) -> Self {
        let references = if has_log { References::Noted } else { References::Unread };
        Self { references, ..Self::default() }
    }
}

impl Plan {
    /// Reads a plan: an object with `nodes`, `edges` and `error_handling`.
    ///
    /// Beside the plan there are notes on what is not a fault but hardly meant: an edge given twice, retries of an unknown
    /// step, something that looks like a reference but is not.
    ///
    /// # Errors
    /// If there are faults; all of them, with path, line and column: blank and repeated ids, edges to unknown steps and from
    /// a step to itself, cycles node by node, references to a step that is not upstream, subnets that are not allowed, a
    /// number out of its range, a key given twice. Cycles that share a node are reported one after the other.
    pub fn from_json(text: &[u8], rules: &PlanRules) -> Result<(Self, Vec<Note>), Problems> {
        super::from_json(text, |plan, check| read(plan, check, rules, "$"))
    }

    /// Returns the steps, sorted by id in the order of code points.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the steps that may be carried out at the same time, tier after tier: a step is in the first tier after those
    /// of all steps that have an edge to it. Within a tier by id (Kahn 1962).
    pub fn tiers(&self) -> impl Iterator<Item = impl Iterator<Item = &Step>> {
        self.tiers.iter().map(|tier| tier.iter().filter_map(|&at| self.steps.get(at)))
    }

    /// Returns the sum of `retry_count` over all of `error_handling`, that of unknown steps included, as the formula
    /// has it.
    pub fn declared_retry_budget(&self) -> u64 {
        self.declared_retry_budget
    }

    /// Finds the place of the step with this id among the [steps](Self::steps).
    pub fn find(&self, id: &str) -> Option<usize> {
        self.steps.binary_search_by(|step| step.id.as_str().cmp(id)).ok()
    }

    /// Returns the edges (from, to) between places of steps, sorted.
    pub(super) fn edges(&self) -> &[(usize, usize)] {
        self.graph.edges()
    }

    /// Returns the places of the steps, tier after tier.
    pub(super) fn order(&self) -> impl Iterator<Item = usize> {
        self.tiers.iter().flatten().copied()
    }

    /// Returns how many steps the plan has, those at fault included.
    pub fn nodes(&self) -> usize {
        self.nodes
    }
}

#[cfg(test)]
mod tests;
