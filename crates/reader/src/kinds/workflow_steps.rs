//! Steps that a task states: the completion ratio is of those, and not of a plan that leaves some out.

use std::collections::BTreeSet;

use serde_json::json;

use crate::graders::Work;
use karat_evidence::json::check::{Check, digits};
use karat_evidence::json::document::{Node, Value};
use karat_evidence::json::problem::quoted;
use karat_graders::workflow::{Account, Plan, PlanRules, StepState, read_plan};

/// The steps that the task asks for, and where it says so.
#[derive(Default)]
pub(super) struct TaskSteps<'a> {
    /// The node of `steps` or `reference_plan`.
    node: Option<Node<'a>>,
    asked: Asked,
}

#[derive(Default)]
enum Asked {
    /// The plan decides.
    #[default]
    Nothing,
    /// At least this many steps.
    Number(u64),
    /// These steps, sorted by id.
    Named(Vec<String>),
}

/// The run of a plan, as far as it is known.
pub(super) struct Run<'a, 'r> {
    pub result: Node<'a>,
    pub plan: Option<&'r Plan>,
    pub account: Option<&'r Account>,
    pub planned: f64,
    /// Steps of the plan that were completed.
    pub done: Option<f64>,
}

impl<'a> TaskSteps<'a> {
    /// Reads `steps`: how many there are, or their ids.
    pub(super) fn read(&mut self, node: Node<'a>, check: &mut Check<'_>) {
        let asked = match node.value() {
            Value::Array => {
                let mut ids: Vec<String> = Vec::new();
                let mut seen = BTreeSet::new();
                for element in check.elements(node) {
                    let Some(id) = check.filled_text(element) else { continue };
                    if !seen.insert(id) {
                        let found = format!("the id {} a second time", quoted(id));
                        check.refuse_as(element, found, "a different id for each step", "");
                    }
                    ids.push(id.to_owned());
                }
                if node.children().next().is_none() {
                    check.refuse_as(node, "no steps", "at least one step", "leave `steps` out");
                }
                ids.sort_unstable();
                Asked::Named(ids)
            }
            Value::Number(_) => {
                // A count is a whole number that a double holds, so nothing is cut off.
                check.count(node, 1.0).map_or(Asked::Nothing, |count| Asked::Number(count as u64))
            }
            _ => {
                check.refuse(node, "the number of steps, or an array of their ids", "");
                Asked::Nothing
            }
        };
        self.set(node, asked, check);
    }

    /// Reads `reference_plan`: a plan with the steps of the task.
    pub(super) fn read_plan(&mut self, node: Node<'a>, check: &mut Check<'_>) {
        let plan = read_plan(node, check, &PlanRules::of_evidence(false), "$.task.reference_plan");
        let ids = plan.steps().iter().map(|step| step.id.clone()).collect();
        self.set(node, Asked::Named(ids), check);
    }

    /// `steps` beside a `reference_plan` must be its steps.
    fn set(&mut self, node: Node<'a>, asked: Asked, check: &mut Check<'_>) {
        let agrees = match (&self.asked, &asked) {
            (Asked::Nothing, _) | (_, Asked::Nothing) => true,
            (Asked::Named(one), Asked::Named(other)) => one == other,
            (Asked::Named(ids), Asked::Number(count)) | (Asked::Number(count), Asked::Named(ids)) => {
                ids.len() as u64 == *count
            }
            (Asked::Number(one), Asked::Number(other)) => one == other,
        };
        if !agrees {
            let found = "other steps than in the task's other statement of them";
            let expected = "the same steps in `steps` and `reference_plan`";
            check.refuse_as(node, found, expected, "give one of them");
        }
        if !matches!((&self.asked, &asked), (Asked::Named(_), Asked::Number(_))) {
            (self.node, self.asked) = (Some(node), asked);
        }
    }

    /// Returns how many of the task's steps were completed, if that is known, and how many there are. None if the plan
    /// decides, or if it was refused.
    pub(super) fn of_run(
        &self,
        run: &Run<'_, '_>,
        check: &mut Check<'_>,
        work: &mut Work<'_>,
    ) -> Option<(Option<f64>, f64)> {
        let (node, planned) = (self.node?, run.planned);
        let ids = match &self.asked {
            Asked::Nothing => return None,
            Asked::Number(asked) => {
                work.saw("task_steps", json!({"asked": asked, "planned": planned, "completed": run.done}));
                // A longer plan has more to complete; a shorter one does not make the task shorter.
                return Some((run.done, planned.max(*asked as f64)));
            }
            Asked::Named(ids) => ids,
        };
        let Some(plan) = run.plan else {
            let expected = "the `workflow_plan`, which says which steps there were";
            check.refuse_as(node, "steps by name, and no plan", expected, "add `workflow_plan` to the item");
            return None;
        };
        let (in_plan, missing): (Vec<&String>, Vec<_>) = ids.iter().partition(|id| plan.find(id).is_some());
        let completed = match (run.account, run.done) {
            (Some(account), _) => {
                let step = |id: &&&String| plan.find(id).and_then(|at| account.steps.get(at));
                let is_done = |id: &&&String| step(id).is_some_and(|step| step.state == StepState::Completed);
                in_plan.iter().filter(is_done).count()
            }
            (None, Some(0.0)) => 0,
            (None, Some(done)) if done == planned => in_plan.len(),
            (None, Some(done)) => {
                let field = run.result.children().find(|member| member.key() == "steps_completed");
                let [done, planned] = [done, planned].map(digits);
                let found = format!("{done} of {planned} steps, and not which: the task names its steps");
                let hint = "add the log, `attempts`";
                check.refuse_as(field.unwrap_or(run.result), found, "what came of each step", hint);
                return None;
            }
            (None, None) => return Some((None, ids.len() as f64)),
        };
        work.saw("task_steps", json!({"asked": ids, "not_in_plan": missing, "completed": completed}));
        Some((Some(completed as f64), ids.len() as f64))
    }
}
