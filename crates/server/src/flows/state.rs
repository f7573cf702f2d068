//! Workflows in memory, computed from the items of the log in their order.

use karat_evidence::names::LookAlikes;

use super::{
    Content, Delivery, Phase, Plan, StoredPlan, StoredTask, Verdict, VerdictState, drawn, milliseconds,
};
use crate::arena::Permits;
use crate::basics::*;
use crate::shared::{Grown, Segments, Shared};
use crate::signers::Recorder;

#[derive(Debug, Default)]
pub struct Flows {
    state: Shared<FlowState>,
    /// Permits to change a task, or a plan with all that is delivered for it.
    pub(crate) permits: Permits,
    /// One change at a time of the recorders, and none while a recording is stored that one of them has signed.
    pub(crate) signers: tokio::sync::RwLock<()>,
}

/// Recorders, tasks and plans as they are now.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct FlowState {
    recorders: BTreeMap<String, Arc<Recorder>>,
    /// In the order in which they were posted.
    tasks: Segments<Arc<TaskState>>,
    places: Grown<usize>,
    /// Their ids, by place in that order.
    looks: Arc<LookAlikes>,
    /// Plans without a verdict: the last moment for recordings, the task and the miner.
    open: BTreeSet<(i64, String, String)>,
    records: Grown<()>,
    /// The digests of all recordings that were delivered.
    delivered: Grown<()>,
    /// The digests of recordings whose plan has a verdict.
    revealed: Grown<Arc<Delivery>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskState {
    pub task: Arc<StoredTask>,
    pub plans: BTreeMap<String, PlanState>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlanState {
    pub plan: Plan,
    /// The recorders that were drawn for it. Secret, as the draw is, until no plan is accepted any more.
    pub drawn: Vec<String>,
    pub deliveries: BTreeMap<String, Arc<Delivery>>,
    pub verdict: Option<Arc<Verdict>>,
}

impl Flows {
    pub fn state(&self) -> Arc<FlowState> {
        self.state.now()
    }

    /// Applies an item of the log.
    pub(crate) fn apply(&self, content: Content) {
        self.state.change(|state| state.apply(content));
    }
}

impl TaskState {
    /// Returns whether plans, task and draw are public.
    pub(crate) fn is_public(&self, now: Timestamp) -> bool {
        self.task.task.phase(now) != Phase::Plans
    }
}

impl PlanState {
    /// Returns whether every recorder that was drawn has delivered.
    pub(crate) fn is_complete(&self) -> bool {
        self.drawn.iter().all(|recorder| self.deliveries.contains_key(recorder))
    }
}

impl FlowState {
    pub fn recorder(&self, id: &str) -> Option<&Recorder> {
        self.recorders.get(id).map(|it| &**it)
    }

    pub(crate) fn signers(&self) -> impl Iterator<Item = &Arc<Recorder>> {
        self.recorders.values()
    }

    pub fn task(&self, id: &str) -> Option<&TaskState> {
        self.tasks.get(self.places.get(id)?).map(|task| &**task)
    }

    /// Returns the id of a posted task that is this one, or looks like it.
    pub(crate) fn like(&self, id: &str) -> Option<&str> {
        let first =
            || self.tasks.get(usize::try_from(*self.looks.like(id, None, u32::MAX, 1).0.first()?).ok()?);
        // Most servers post no tasks, and then no name is looked at.
        self.tasks.get(0)?;
        let own = self.places.get(id).and_then(|place| self.tasks.get(place));
        own.or_else(first).map(|task| task.task.task.task_id.as_str())
    }

    /// Returns all tasks, the last posted first.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskState> {
        self.tasks.iter().rev().map(|task| &**task)
    }

    pub fn plan(&self, task: &str, miner: &str) -> Option<&PlanState> {
        self.task(task)?.plans.get(miner)
    }

    pub(crate) fn has_record(&self, id: &str) -> bool {
        self.records.get(id).is_some()
    }

    /// Returns true if a recording with that digest was delivered. The evidence of its run has that id.
    pub(crate) fn is_delivered(&self, digest: &str) -> bool {
        self.delivered.get(digest).is_some()
    }

    /// Returns the delivery of the recording with that digest, once the plan that it is of has a verdict.
    pub(crate) fn revealed(&self, digest: &str) -> Option<Arc<Delivery>> {
        self.revealed.get(digest)
    }

    /// Returns task and miner of each plan without a verdict for which no more recordings are accepted.
    pub fn due(&self, now: Timestamp) -> Vec<(String, String)> {
        let end = (now.milliseconds, String::new(), String::new());
        self.open.range(..end).map(|(_, task, miner)| (task.clone(), miner.clone())).collect()
    }

    fn apply(&mut self, content: Content) {
        match content {
            Content::Recorder(recorder) => {
                self.recorders.insert(recorder.recorder_id.clone(), Arc::new(recorder));
            }
            Content::Task(task) => {
                let (id, place) = (task.task.task_id.as_str(), self.tasks.len());
                Arc::make_mut(&mut self.looks).add(id);
                self.places.insert(id, place);
                self.tasks.push(Arc::new(TaskState { task: Arc::from(task), plans: BTreeMap::new() }));
            }
            Content::Plan(stored) => self.add(*stored),
            Content::Delivery(delivery) => {
                self.delivered.insert(delivery.recording.as_str(), ());
                let plan = self.plan_mut(&delivery.task_id, &delivery.miner);
                if let Some(plan) = plan {
                    plan.deliveries.insert(delivery.recorder.clone(), Arc::new(delivery));
                }
            }
            Content::Verdict(verdict) => self.close(*verdict),
        }
    }

    fn add(&mut self, StoredPlan { plan, .. }: StoredPlan) {
        let Some(of_task) = self.task_mut(&plan.task_id) else { return };
        let StoredTask { task, draw, .. } = &*of_task.task;
        let drawn =
            drawn(draw, &task.task_id, &plan.miner, &plan.plan_digest, &task.may_record, task.recorders);
        let open = (milliseconds(&task.recordings_until), plan.task_id.clone(), plan.miner.clone());
        let miner = plan.miner.clone();
        let state = PlanState { plan, drawn, deliveries: BTreeMap::new(), verdict: None };
        of_task.plans.insert(miner, state);
        self.open.insert(open);
    }

    fn close(&mut self, verdict: Verdict) {
        let Some(of_task) = self.task(&verdict.task_id) else { return };
        let until = milliseconds(&of_task.task.task.recordings_until);
        self.open.remove(&(until, verdict.task_id.clone(), verdict.miner.clone()));
        if let VerdictState::Scored { record, .. } = &verdict.state {
            self.records.insert(record.as_str(), ());
        }
        let revealed = self.revealed.clone();
        if let Some(plan) = self.plan_mut(&verdict.task_id, &verdict.miner) {
            for delivery in plan.deliveries.values() {
                revealed.insert(delivery.recording.as_str(), Arc::clone(delivery));
            }
            plan.verdict = Some(Arc::new(verdict));
        }
    }

    fn task_mut(&mut self, id: &str) -> Option<&mut TaskState> {
        self.tasks.get_mut(self.places.get(id)?).map(Arc::make_mut)
    }

    fn plan_mut(&mut self, task: &str, miner: &str) -> Option<&mut PlanState> {
        self.task_mut(task)?.plans.get_mut(miner)
    }
}
