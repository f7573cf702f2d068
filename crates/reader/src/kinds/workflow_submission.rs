//! The start of a run: the answer with a plan that a miner hands in, and the task that a validator sets. Their members
//! are the same as for a run that has taken place, without what only the run can tell.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use crate::kinds::workflow_output::Output;
use crate::kinds::workflow_run::{Limits, read_message, read_task};
use crate::kinds::workflow_steps::TaskSteps;
use karat_evidence::json::check::{AMOUNT, Check, Name, UnknownFields, digits};
use karat_evidence::json::document::{Node, Value};
use karat_evidence::json::locate;
use karat_evidence::json::note::Note;
use karat_evidence::json::problem::Problems;
use karat_evidence::json::value;
use karat_graders::quality::{Options, Task};
use karat_graders::workflow::{Plan, PlanRules, from_json_counting, read_plan};

/// A plan to be run, as its author handed it in.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// The plan.
    pub plan: Plan,
    /// The calls of the steps, in the order of the [steps](Plan::steps) of the plan.
    pub calls: Vec<Call>,
    /// The name of its author, if it has one.
    pub subject: Option<String>,
    /// The cost that its author expects, in TAO.
    pub total_estimated_cost_tao: Option<f64>,
    /// All of its members. A plan by itself is here a member `workflow_plan`.
    pub members: Map<String, Json>,
}

/// The call that a step makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The subnet that carries it out.
    pub subnet: String,
    /// The action.
    pub action: String,
    /// The parameters, with references in them. An empty object if the plan gives none.
    pub params: Json,
}

/// Members of an answer with a plan. The rest of a run is known after it.
const ANSWER: &str = "workflow_plan subject agent_id miner_uid miner_hotkey task_id total_estimated_cost \
    total_estimated_latency confidence reasoning scoring_version send_block";

impl Submission {
    /// Reads an answer with a plan, an object with `workflow_plan`; or a plan by itself, an object with `nodes`.
    ///
    /// `rules` must ask for subnet and action. The notes tell what is hardly meant, and which fields have no effect.
    ///
    /// # Errors
    /// If there are faults: all of them. Those of the plan, as in [`Plan::from_json`], and members that an answer does not
    /// have: it cannot say what its own run gave.
    pub fn from_json(text: &[u8], rules: &PlanRules) -> Result<(Self, Vec<Note>), Problems> {
        let mut unread = UnknownFields::default();
        let (submission, mut notes) =
            from_json_counting(text, &mut unread, |root, check| read_submission(root, check, rules))?;
        notes.extend(without_effect(&unread, ""));
        Ok((submission, notes))
    }
}

fn read_submission(root: Node<'_>, check: &mut Check<'_>, rules: &PlanRules) -> Submission {
    let is_answer = root.value() == Value::Object && root.children().any(|it| it.key() == "workflow_plan");
    if !is_answer {
        let plan = read_plan(root, check, rules, "$");
        let calls = calls(root, &plan);
        let members = Map::from_iter([("workflow_plan".to_owned(), value::of_node(root))]);
        return Submission { plan, calls, subject: None, total_estimated_cost_tao: None, members };
    }
    let mut members = Map::new();
    let (mut plan_node, mut estimate) = (None, None);
    let mut names = [None; 3];
    for member in check.members(root).filter(|member| !member.is_null()) {
        members.insert(member.key().to_owned(), value::of_node(member));
        match member.key() {
            "workflow_plan" => plan_node = Some(member),
            "subject" => names[0] = check.name(member),
            "agent_id" => names[1] = check.name(member),
            "miner_uid" => names[2] = check.name(member),
            "task_id" => drop(check.name(member)),
            "total_estimated_cost" => estimate = check.number(member, AMOUNT),
            key if ANSWER.split(' ').any(|known| known == key) => drop(read_message(member, check)),
            key => check.refuse_name(member, key, "a member of an answer with a plan", || ANSWER.split(' ')),
        }
    }
    let plan_node = check.required(root, "workflow_plan", plan_node, "the plan");
    let plan = plan_node.map_or_else(Plan::default, |node| read_plan(node, check, rules, "$.workflow_plan"));
    let calls = plan_node.map_or_else(Vec::new, |node| calls(node, &plan));
    let subject = names.into_iter().flatten().next().map(|name| match name {
        Name::Text(text) => text.to_owned(),
        Name::Number(number) => digits(number),
    });
    Submission { plan, calls, subject, total_estimated_cost_tao: estimate, members }
}

/// Returns the calls of the steps of a plan without faults.
fn calls(plan_node: Node<'_>, plan: &Plan) -> Vec<Call> {
    let nodes = plan_node.children().find(|member| member.key() == "nodes");
    let member = |node: Node<'_>, name| node.children().find(|it| it.key() == name).map(value::of_node);
    let text = |value: Option<Json>| match value {
        Some(Json::String(text)) => text,
        _ => String::new(),
    };
    let mut by_id: BTreeMap<String, Call> = BTreeMap::new();
    for node in nodes.into_iter().flat_map(|nodes| nodes.children()) {
        let params = member(node, "params").filter(|params| !params.is_null());
        let call = Call {
            subnet: text(member(node, "subnet")),
            action: text(member(node, "action")),
            params: params.unwrap_or_else(|| Json::Object(Map::new())),
        };
        by_id.insert(text(member(node, "id")), call);
    }
    plan.steps().iter().filter_map(|step| by_id.remove(&step.id)).collect()
}

/// The task that a plan is run for.
#[derive(Debug, Clone, PartialEq)]
pub struct RunTask {
    /// Its id, if it has one.
    pub task_id: Option<String>,
    /// The budget in TAO, if it has one.
    pub max_budget_tao: Option<f64>,
    /// The subnets that may carry out a step: those that it allows, else the tools that it lists; any, if it does neither.
    pub allowed_subnets: Option<Vec<String>>,
    /// All of its members.
    pub members: Map<String, Json>,
}

impl RunTask {
    /// Reads a task: `task_id`, `task_type`, `reference`, `constraints` and what else the member `task` of a run has.
    ///
    /// # Errors
    /// If there are faults: all of them, those included by which no output could be graded.
    pub fn from_json(text: &[u8]) -> Result<(Self, Vec<Note>), Problems> {
        let mut unread = UnknownFields::default();
        let (task, mut notes) = from_json_counting(text, &mut unread, read_run_task)?;
        notes.extend(without_effect(&unread, "$.task"));
        Ok((task, notes))
    }
}

fn read_run_task(root: Node<'_>, check: &mut Check<'_>) -> RunTask {
    let mut limits = Limits::default();
    let mut output = Output::default();
    let mut task_id = None;
    let mut steps = TaskSteps::default();
    read_task(root, check, &mut limits, &mut output, &mut task_id, &mut steps);
    let task_id = task_id.and_then(|node| check.name(node)).map(|name| match name {
        Name::Text(text) => text.to_owned(),
        Name::Number(number) => digits(number),
    });
    let task_type = output.task_type.and_then(|node| check.text(node));
    match (task_type, output.reference) {
        (Some(task_type), Some(reference)) if check.problems.is_empty() => {
            let at = locate::path(reference);
            if let Err(problems) = Task::load(task_type, &value::of_node(reference), Options::default()) {
                check.problems.extend(&problems.moved("$.reference", &at));
            }
        }
        (Some(_), Some(_)) => {}
        _ => check.note(
            root,
            "without `task_type` and `reference` no output can be graded: a score will need `output_quality`"
                .to_owned(),
        ),
    }
    let members = match value::of_node(root) {
        Json::Object(members) => members,
        _ => Map::new(),
    };
    let tools = members.get("available_tools").and_then(Json::as_object);
    let tools = tools.map(|tools| tools.keys().cloned().collect::<Vec<_>>());
    RunTask {
        task_id,
        max_budget_tao: limits.budget,
        allowed_subnets: limits.allowed_subnets.or(tools).filter(|names| !names.is_empty()),
        members,
    }
}

/// Returns a note for each field that nothing reads. `root` is the path under which they were counted.
fn without_effect(unread: &UnknownFields, root: &str) -> Vec<Note> {
    let note = |path: &str| Note {
        path: path
            .strip_prefix(root)
            .filter(|_| !root.is_empty())
            .map_or_else(|| path.to_owned(), |rest| format!("${rest}")),
        text: "this field is not known, and has no effect".to_owned(),
    };
    unread.iter().map(|(path, _)| note(path)).collect()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;
    use karat_graders::workflow::References;

    fn rules() -> PlanRules {
        PlanRules { references: References::Refused, ..PlanRules::published_validator() }
    }

    fn submission(value: &Json) -> Result<(Submission, Vec<Note>), Problems> {
        Submission::from_json(value.to_string().as_bytes(), &rules())
    }

    #[test]
    fn a_plan_comes_by_itself_or_in_an_answer() {
        let plan = json!({"nodes": [{"id": "b", "subnet": "s", "action": "x", "params": {"n": 1.0, "t": "${a.output.text}"}},
            {"id": "a", "subnet": "S", "action": "y"}], "edges": [{"from": "a", "to": "b"}]});
        let (alone, _) = submission(&plan).unwrap();
        let (answer, notes) =
            submission(&json!({"miner_uid": 7, "total_estimated_cost": 0.5, "workflow_plan": plan})).unwrap();
        assert_eq!((alone.subject, alone.total_estimated_cost_tao), (None, None));
        assert_eq!((answer.subject.as_deref(), answer.total_estimated_cost_tao), (Some("7"), Some(0.5)));
        assert_eq!((&alone.plan, &alone.calls), (&answer.plan, &answer.calls));
        assert_eq!(alone.members["workflow_plan"], answer.members["workflow_plan"]);
        assert!(notes.is_empty());
        // In the order of the steps, by id; a step without parameters has none.
        assert_eq!(answer.calls[0], Call { subnet: "S".into(), action: "y".into(), params: json!({}) });
        assert_eq!(answer.calls[1].params, json!({"n": 1, "t": "${a.output.text}"}));
    }

    #[test]
    fn an_answer_cannot_say_what_its_run_gave() {
        let refused = submission(&json!({
            "workflow_plan": {"nodes": [{"id": "a", "subnet": "s", "action": "x", "parms": 1}]},
            "output_quality": 1, "result": {}, "taskid": "t",
        }));
        assert_snapshot!(refused.unwrap_err(), @r"
        $.output_quality: found `output_quality`, expected a member of an answer with a plan (line 1, column 19)
        $.result: found `result`, expected a member of an answer with a plan (line 1, column 30)
        $.taskid: found `taskid`, expected a member of an answer with a plan; did you mean `task_id`? (line 1, column 42)
        ");
        let (_, notes) =
            submission(&json!({"nodes": [{"id": "a", "subnet": "s", "action": "x", "parms": 1}]})).unwrap();
        assert_snapshot!(notes[0], @"$.nodes[*].parms: this field is not known, and has no effect");
        assert_snapshot!(submission(&json!([])).unwrap_err(), @"$: found an array, expected an object (line 1, column 1)");
    }

    #[test]
    fn a_task_says_what_may_be_spent_and_called() {
        let task = json!({"task_id": "t", "task_type": "agent", "constraints": {"max_budget_tao": 0.5, "budget": 1},
            "available_tools": {"a": {}, "b": {}}, "reference": {"goal_checklist": [{"text": "x"}]}});
        let (read, notes) = RunTask::from_json(task.to_string().as_bytes()).unwrap();
        assert_eq!((read.task_id.as_deref(), read.max_budget_tao), (Some("t"), Some(0.5)));
        assert_eq!(read.allowed_subnets, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_snapshot!(notes[0], @"$.constraints.budget: this field is not known, and has no effect");

        let (bare, notes) = RunTask::from_json(b"{}").unwrap();
        assert_eq!(bare.allowed_subnets, None);
        assert_snapshot!(notes[0], @"$: without `task_type` and `reference` no output can be graded: a score will need `output_quality`");
        let bad = json!({"task_type": "agent", "reference": {"goal_checklist": []}, "constraints": {"max_budget_tao": -1}});
        assert_snapshot!(RunTask::from_json(bad.to_string().as_bytes()).unwrap_err(), @"$.constraints.max_budget_tao: found `-1`, expected a number not below 0 (line 1, column 34)");
        let bad = json!({"task_type": "agent", "reference": {"goal_checklist": []}});
        assert_snapshot!(RunTask::from_json(bad.to_string().as_bytes()).unwrap_err(), @"$.reference.goal_checklist: found an array of 0, expected an array of 1 to 1000 criteria");
    }
}
