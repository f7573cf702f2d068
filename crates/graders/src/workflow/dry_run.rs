//! Dry run of a plan: every step succeeds at its estimated cost.

use serde::{Serialize, Serializer};

use super::plan::{Plan, Step};
use super::reference::Reference;

/// Cost of a step whose plan states none, in TAO (C-SWON validator).
pub(crate) const ESTIMATED_COST_TAO: f64 = 0.001;

/// Spending limit of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Budget of the task in TAO, if it has one.
    pub max_budget_tao: Option<f64>,
    /// Estimated cost of the plan in TAO, if it states one. A run may cost half as much again.
    pub total_estimated_cost_tao: Option<f64>,
}

impl Budget {
    /// Returns the cost at which a run is stopped: the smaller one of the task's budget and 1.5 times the plan's
    /// estimate.
    pub fn ceiling_tao(&self) -> f64 {
        let budget = self.max_budget_tao.unwrap_or(f64::INFINITY);
        self.total_estimated_cost_tao.map_or(budget, |estimate| budget.min(1.5 * estimate))
    }
}

/// State of a step in a dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DryState {
    /// Carried out.
    Success,
    /// A reference has no value, so it fails hard before its first attempt.
    Failed,
    /// The cost had reached the ceiling before.
    BudgetAbort,
}

/// The account of a dry run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DryRun {
    /// Steps that are carried out.
    pub steps_completed: u64,
    /// Steps of the plan.
    pub steps_total: u64,
    /// Estimated costs of the steps that are carried out, added in the order in which they are.
    pub actual_tao: f64,
    /// Steps of which a reference has no value.
    pub hard_failures: u64,
    /// True if the ceiling stops the run.
    pub budget_aborted: bool,
    /// The steps, by id.
    #[serde(rename = "status", serialize_with = "by_id")]
    pub states: Vec<(String, DryState)>,
}

/// Carries a plan out on paper: tier after tier, within a tier by id. Before each step the cost so far is compared with
/// the ceiling; once it has reached it, nothing more is carried out. The failure of a step fails those that refer to it,
/// whereas an edge alone hands nothing on (C-SWON documentation, section 3.2).
///
/// An output has a `text` and `artifacts`, which have `code` and `metadata`; what is in the metadata is the affair of
/// who gave it, so references into it have a value.
pub fn dry_run(plan: &Plan, budget: &Budget) -> DryRun {
    let ceiling_tao = budget.ceiling_tao();
    let mut actual_tao = 0.0;
    let mut states: Vec<Option<DryState>> = vec![None; plan.steps().len()];
    'run: for tier in plan.tiers() {
        for step in tier {
            if actual_tao >= ceiling_tao {
                break 'run;
            }
            let has_value = |reference| has_value(reference, plan, &states);
            let state = if step.references.iter().all(has_value) {
                actual_tao += step.estimated_cost_tao.unwrap_or(ESTIMATED_COST_TAO);
                DryState::Success
            } else {
                DryState::Failed
            };
            if let Some(known) = plan.find(&step.id).and_then(|at| states.get_mut(at)) {
                *known = Some(state);
            }
        }
    }
    let count = |state| states.iter().filter(|&&known| known == state).count() as u64;
    DryRun {
        steps_completed: count(Some(DryState::Success)),
        steps_total: states.len() as u64,
        actual_tao,
        hard_failures: count(Some(DryState::Failed)),
        budget_aborted: count(None) > 0,
        states: plan.steps().iter().zip(&states).map(named).collect(),
    }
}

fn named((step, state): (&Step, &Option<DryState>)) -> (String, DryState) {
    (step.id.clone(), state.unwrap_or(DryState::BudgetAbort))
}

/// Returns whether the step that is referred to has been carried out, and gives what the path names.
fn has_value(reference: &Reference, plan: &Plan, states: &[Option<DryState>]) -> bool {
    let state = plan.find(&reference.step).and_then(|at| states.get(at).copied().flatten());
    let path = reference.path.as_str();
    let is_given = matches!(path, "text" | "artifacts" | "artifacts.code" | "artifacts.metadata")
        || path.starts_with("artifacts.metadata.");
    state == Some(DryState::Success) && is_given
}

fn by_id<S: Serializer>(states: &[(String, DryState)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(states.iter().map(|(id, state)| (id, state)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{PlanRules, References};

    fn run(plan: &str, max_budget_tao: f64, total_estimated_cost_tao: f64) -> (String, f64, bool) {
        let rules = PlanRules { references: References::Noted, ..PlanRules::default() };
        let (plan, _) = Plan::from_json(plan.as_bytes(), &rules).unwrap();
        let budget = Budget {
            max_budget_tao: Some(max_budget_tao),
            total_estimated_cost_tao: Some(total_estimated_cost_tao),
        };
        let run = dry_run(&plan, &budget);
        assert_eq!(run.steps_total, run.states.len() as u64);
        let name = |state: &DryState| serde_json::to_string(state).unwrap().replace('"', "");
        let states: Vec<_> = run.states.iter().map(|(id, state)| format!("{id} {}", name(state))).collect();
        (states.join(", "), run.actual_tao, run.budget_aborted)
    }

    #[test]
    fn the_ceiling_is_reached_at_it_and_not_before() {
        let plan = r#"{"nodes": [{"id": "a", "estimated_cost": 0.25}, {"id": "b", "estimated_cost": 0.25}, {"id": "c"}],
            "edges": [{"from": "b", "to": "c"}]}"#;
        let abort = "a success, b success, c budget_abort".to_owned();
        assert_eq!(run(plan, 0.5, 9.0), (abort.clone(), 0.5, true));
        assert_eq!(run(plan, 9.0, 0.5 / 1.5), (abort, 0.5, true));
        assert_eq!(run(plan, 0.500_001, 9.0), ("a success, b success, c success".to_owned(), 0.501, false));
        assert_eq!(run(plan, 0.0, 9.0).0, "a budget_abort, b budget_abort, c budget_abort");
        // Nothing was left to stop.
        assert_eq!(run(plan, 0.501, 9.0), ("a success, b success, c success".to_owned(), 0.501, false));
    }

    #[test]
    fn failures_go_from_reference_to_reference_and_not_along_edges() {
        let plan = r#"{"nodes": [{"id": "a", "params": "${ghost.output.text}"}, {"id": "b", "params": "${a.output.text}"},
                {"id": "c", "params": "${c.output.text}"}, {"id": "d"}, {"id": "e", "params": "${d.output.nothing}"},
                {"id": "f", "params": "${d.output.artifacts.code} ${d.output.artifacts.metadata.tokens}"}],
            "edges": [{"from": "a", "to": "b"}, {"from": "a", "to": "d"}, {"from": "d", "to": "e"}, {"from": "d", "to": "f"}]}"#;
        let states = "a failed, b failed, c failed, d success, e failed, f success";
        assert_eq!(run(plan, 1.0, 1.0), (states.to_owned(), 0.002, false));
    }
}
