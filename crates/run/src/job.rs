//! A plan and a task, checked: everything that a run needs but answers.

use karat_core::diagnostic::nearest;
use karat_core::facts::Digest;
use karat_evidence::{Note, Problems, canonical_json, names};
use karat_graders::workflow::{Budget, Plan, PlanRules, References};
use karat_reader::{Call, RunTask, Submission};
use serde_json::{Map, Value};

use crate::attempt::NANO;
use crate::fault::{Fault, quoted};

/// The most steps of a plan (C-SWON validator).
pub const STEPS_MAX: usize = 10;

/// Members of the evidence that only the run can tell.
const OF_THE_RUN: [&str; 4] = ["id", "outcome", "result", "time"];

/// A plan with the task that it is to be run for.
#[derive(Debug)]
pub struct Job {
    plan: Plan,
    calls: Vec<Call>,
    /// The members of the item of evidence that are known before the run.
    members: Map<String, Value>,
    ceiling_tao: f64,
    plan_digest: Digest,
    task_digest: Digest,
}

/// Everything that is wrong with a plan and its task.
#[derive(Debug, Default)]
pub struct Refusal {
    /// Problems of the plan.
    pub plan: Problems,
    /// Problems of the task.
    pub task: Problems,
    /// Faults between plan, task and what else was given.
    pub faults: Vec<Fault>,
}

impl Refusal {
    /// Returns whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty() && self.task.is_empty() && self.faults.is_empty()
    }
}

/// Notes on a plan and its task.
#[derive(Debug, Default)]
pub struct Notes {
    /// On the plan.
    pub plan: Vec<Note>,
    /// On the task.
    pub task: Vec<Note>,
}

impl Job {
    /// Reads a plan, by itself or in an answer, and a task. `subject` names the author of a plan that does not say it.
    /// `retries_max` is the most retries that a step may declare, if there is a limit.
    ///
    /// # Errors
    /// If anything is wrong with either: everything.
    pub fn new(
        plan: &[u8],
        task: &[u8],
        subject: Option<&str>,
        retries_max: Option<u64>,
    ) -> Result<(Self, Notes), Refusal> {
        let task = RunTask::from_json(task);
        let rules = PlanRules {
            steps_max: Some(STEPS_MAX),
            declared_retries_max: retries_max,
            allowed_subnets: task.as_ref().ok().and_then(|(task, _)| task.allowed_subnets.clone()),
            references: References::Refused,
            ..PlanRules::published_validator()
        };
        let submission = Submission::from_json(plan, &rules);
        let mut refusal = Refusal::default();
        let faults = match subject {
            Some(name) => names::fault(name).map(|fault| {
                Fault::new(format!("the subject {}: expected {}", quoted(name), fault.expected), fault.hint)
            }),
            None => None,
        };
        refusal.faults.extend(faults);
        let ((submission, plan_notes), (task, task_notes)) = match (submission, task) {
            (Ok(submission), Ok(task)) => (submission, task),
            (submission, task) => {
                refusal.plan = submission.err().unwrap_or_default();
                refusal.task = task.err().unwrap_or_default();
                return Err(refusal);
            }
        };
        let mut members = submission.members;
        match (&submission.subject, subject) {
            (None, None) => refusal.faults.push(Fault::new(
                "nothing says whose plan it is",
                "add `subject`, `agent_id` or `miner_uid` beside `workflow_plan`, or name the subject",
            )),
            (Some(own), Some(given)) if own != given => refusal.faults.push(Fault::new(
                format!("the plan is of {}, and {} was named", quoted(own), quoted(given)),
                "leave the name out",
            )),
            (None, Some(given)) => drop(members.insert("subject".to_owned(), given.into())),
            (Some(_), _) => {}
        }
        let of_answer = members.get("task_id").map(canonical_json);
        let of_task = task.members.get("task_id").map(canonical_json);
        if let (Some(one), Some(other)) = (&of_answer, &of_task)
            && one != other
        {
            refusal.faults.push(Fault::new(
                format!("the plan is for the task {}, and the task is {}", quoted(one), quoted(other)),
                "give the task that the plan answers",
            ));
        }
        if !refusal.is_empty() {
            return Err(refusal);
        }
        let plan_digest = Digest::of(canonical_json(&Value::Object(members.clone())).as_bytes());
        let task_members = Value::Object(task.members);
        let task_digest = Digest::of(canonical_json(&task_members).as_bytes());
        members.insert("task".to_owned(), task_members);
        let budget = Budget {
            max_budget_tao: task.max_budget_tao,
            total_estimated_cost_tao: submission.total_estimated_cost_tao,
        };
        let job = Self {
            plan: submission.plan,
            calls: submission.calls,
            members,
            ceiling_tao: budget.ceiling_tao(),
            plan_digest,
            task_digest,
        };
        Ok((job, Notes { plan: plan_notes, task: task_notes }))
    }

    /// Reads plan and task out of the evidence of a run, to run them again.
    ///
    /// # Errors
    /// If the evidence is not of a run, or if anything is wrong with its plan or its task.
    pub fn of_evidence(item: &Map<String, Value>) -> Result<Self, Refusal> {
        let mut plan = item.clone();
        for member in OF_THE_RUN {
            plan.remove(member);
        }
        let Some(task) = plan.remove("task") else {
            let fault =
                Fault::new("the evidence has no `task`", "only what `karat run` wrote can be run again");
            return Err(Refusal { faults: vec![fault], ..Refusal::default() });
        };
        let plan = canonical_json(&Value::Object(plan));
        Self::new(plan.as_bytes(), canonical_json(&task).as_bytes(), None, None).map(|(job, _)| job)
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the calls of the steps, in the order of the steps of the plan.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// Returns a fault for each step whose subnet is not among `subnets`. Letter case makes no difference.
    pub fn missing(&self, subnets: &[String]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (step, call) in self.plan.steps().iter().zip(&self.calls) {
            if !subnets.iter().any(|known| known.eq_ignore_ascii_case(&call.subnet)) {
                let (step, subnet) = (quoted(&step.id), quoted(&call.subnet));
                let hint = match nearest(&call.subnet, subnets.iter().map(String::as_str)) {
                    Some(near) => format!("there is {}", quoted(near)),
                    None => "add a table `[executor.NAME]`".to_owned(),
                };
                faults.push(Fault::new(
                    format!("no executor for the subnet {subnet} of the step {step}"),
                    hint,
                ));
            }
        }
        faults
    }

    /// Returns the digest of the plan with all that its author said with it, over canonical JSON.
    pub fn plan_digest(&self) -> Digest {
        self.plan_digest
    }

    /// Returns the digest of the task, over canonical JSON.
    pub fn task_digest(&self) -> Digest {
        self.task_digest
    }

    /// Returns the plan with all that its author said with it and with the name of its author, as canonical JSON: read again, it
    /// has the same digest.
    pub fn plan_text(&self) -> String {
        let mut members = self.members.clone();
        members.remove("task");
        canonical_json(&Value::Object(members))
    }

    /// Returns the task as canonical JSON.
    pub fn task_text(&self) -> String {
        self.members.get("task").map(canonical_json).unwrap_or_default()
    }

    /// Returns the members of the item of evidence that are known before the run.
    pub(crate) fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// Returns whether so much was spent that nothing more begins.
    pub(crate) fn is_spent(&self, nano_tao: u64) -> bool {
        tao(nano_tao) >= self.ceiling_tao
    }
}

/// Returns an amount in TAO.
pub(crate) fn tao(nano_tao: u64) -> f64 {
    nano_tao as f64 / NANO
}
