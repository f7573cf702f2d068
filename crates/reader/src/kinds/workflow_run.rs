//! Workflow runs: a task, the plan for it, what executing the plan took (as a log, as totals), and how good the output is.

use karat_core::facts::Fact;

use crate::graders::Work;
use crate::kinds::workflow_output::{Output, test_report};
use crate::kinds::workflow_steps::{Run, TaskSteps};
use crate::vocabulary::vocabulary;
use karat_core::timestamp::Timestamp;
use karat_evidence::json::check::{AMOUNT, Check, Identity, UNIT, digits, flag, number};
use karat_evidence::json::document::{Node, Value};
use karat_evidence::json::locate;
use karat_evidence::json::problem::quoted;
use karat_evidence::json::value;
use karat_graders::workflow::{
    Account, Contradiction, Plan, PlanRules, Totals, budget_stopped, impossible, read_log, read_plan, settle,
};

vocabulary! {
    /// Facts of a run.
    RunFacts {
        output_quality: Number in "1", "quality of the final output, 0 to 1";
        steps_completed: Number in "count", "steps that ended in success, of those counted by `steps_total`";
        steps_total: Number in "count", "steps of the plan, or of the task where it states them";
        actual_tao: Number in "TAO", "cost of the run";
        max_budget_tao: Number in "TAO", "budget of the task";
        actual_seconds: Number in "s", "wall-clock time of the run";
        max_latency_seconds: Number in "s", "time limit of the task";
        actual_retries: Number in "count", "retries that were made";
        declared_retry_budget: Number in "count", "sum of `retry_count` over the plan's error handling, 0 without one";
        timeouts: Number in "count", "step executions beyond their declared timeout";
        hard_failures: Number in "count", "steps that failed after all declared retries";
        budget_aborted: Boolean in "1", "whether the budget stopped the run; missing where it may have and nothing says so";
    }
}

/// Reads one run (C-SWON, sections 2 to 6).
pub(crate) fn read<'a>(
    root: Node<'a>,
    check: &mut Check<'_>,
    work: &mut Work<'_>,
) -> (RunFacts<'a>, Identity<'a>) {
    let mut facts = RunFacts::default();
    let mut limits = Limits::default();
    let [mut subject, mut agent, mut miner, mut id, mut run_id] = [None; 5];
    let [mut workflow_plan, mut result] = [None; 2];
    let (mut time, mut task_id, mut outcome) = (None, None, None);
    let mut output = Output::default();
    let mut steps = TaskSteps::default();
    for member in check.members(root).filter(|member| !member.is_null()) {
        match member.key() {
            "id" => id = check.name(member),
            "run_id" => run_id = check.name(member),
            "subject" => subject = check.name(member),
            "agent_id" => agent = check.name(member),
            "miner_uid" => miner = check.name(member),
            "task" => read_task(member, check, &mut limits, &mut output, &mut task_id, &mut steps),
            "task_type" => tell_once(&mut output.task_type, member, check),
            "reference" => tell_once(&mut output.reference, member, check),
            "constraints" => limits.read(member, check, "$.constraints"),
            "workflow_plan" => {
                check.refuse_inexact(member);
                workflow_plan = Some(member);
            }
            "output_quality" => output.quality = Some(member),
            "result" => result = Some(member),
            "time" => time = check.timestamp(member, Timestamp::parse),
            "task_id" => tell_once(&mut task_id, member, check),
            "outcome" => outcome = check.outcome(member),
            // The rest of the documented message plays no part in a score.
            _ if read_message(member, check) => {}
            _ => check.unknown("$", member),
        }
    }
    let has_log = |result: Node<'_>| result.children().any(|member| member.key() == "attempts");
    let rules = PlanRules {
        // An empty list allows all, as the document's default.
        allowed_subnets: limits.allowed_subnets.take().filter(|names| !names.is_empty()),
        ..PlanRules::of_evidence(result.is_some_and(has_log))
    };
    let faults = check.problems.len();
    let plan = workflow_plan.map(|node| read_plan(node, check, &rules, "$.workflow_plan"));
    if let Some(result) = check.required(root, "result", result, "an object with `steps_completed`") {
        let account = read_result(result, check, work, (plan.as_ref(), faults), &mut facts, &mut output);
        suspect_output_of_nothing(check, &output, &facts);
        if let Fact::Number(planned) = facts.steps_total {
            facts.budget_aborted = flag(budget_stopped(&totals(&facts), planned as u64));
            let run = Run {
                result,
                plan: plan.as_ref(),
                account: account.as_ref(),
                planned,
                done: amount(&facts.steps_completed),
            };
            if let Some((completed, total)) = steps.of_run(&run, check, work) {
                (facts.steps_completed, facts.steps_total) = (number(completed), Fact::Number(total));
            }
        }
    }
    facts.output_quality = number(output.grade(root, check, work));
    output.suspect_empty(&facts.output_quality, check);
    facts.max_budget_tao = number(limits.budget);
    facts.max_latency_seconds = number(limits.latency);
    facts.declared_retry_budget = Fact::Number(plan.map_or(0.0, |plan| plan.declared_retry_budget() as f64));
    let task = task_id.and_then(|node| check.name(node));
    let time = time.or_else(|| result.and_then(last_moment));
    let (subject, id) = (subject.or(agent).or(miner), id.or(run_id));
    (facts, Identity { subject, id, time, task, outcome, ..Identity::default() })
}

/// The limits of the task, from any place in the item.
#[derive(Default)]
pub(super) struct Limits {
    pub budget: Option<f64>,
    pub latency: Option<f64>,
    pub allowed_subnets: Option<Vec<String>>,
}

impl Limits {
    fn read(&mut self, node: Node<'_>, check: &mut Check<'_>, path: &str) {
        for member in check.members(node).filter(|member| !member.is_null()) {
            let limit = match member.key() {
                "max_budget_tao" => &mut self.budget,
                "max_latency_seconds" => &mut self.latency,
                "allowed_subnets" => {
                    let subnets = check.elements(member);
                    let names = subnets.filter_map(|subnet| check.text(subnet).map(str::to_owned)).collect();
                    let other = self.allowed_subnets.replace(names);
                    if other.is_some() && other != self.allowed_subnets {
                        let found = "another list than in the item's other constraints";
                        check.refuse_as(member, found, "one list", "give the constraints once");
                    }
                    continue;
                }
                _ => {
                    check.unknown(path, member);
                    continue;
                }
            };
            let Some(value) = check.number(member, AMOUNT) else { continue };
            match limit.replace(value) {
                Some(other) if other != value => {
                    let found = format!(
                        "`{}`, and `{}` in the item's other constraints",
                        digits(value),
                        digits(other)
                    );
                    check.refuse_as(member, found, "one limit", "give the constraints once");
                }
                _ if value == 0.0 => check.note(member, "a limit of 0 cannot be met".to_owned()),
                _ => {}
            }
        }
    }
}

/// Keeps a member that the task and the item itself may have. If both have it, they must agree: their order in the text
/// means nothing.
fn tell_once<'a>(place: &mut Option<Node<'a>>, member: Node<'a>, check: &mut Check<'_>) {
    if let Some(other) = place.replace(member)
        && value::of_node(other) != value::of_node(member)
    {
        let found = format!("another {} than {}", quoted(member.key()), locate::path(other));
        check.refuse_as(member, found, "the same in both places", "give it once");
    }
}

pub(super) fn read_task<'a>(
    node: Node<'a>,
    check: &mut Check<'_>,
    limits: &mut Limits,
    output: &mut Output<'a>,
    task_id: &mut Option<Node<'a>>,
    steps: &mut TaskSteps<'a>,
) {
    for member in check.members(node).filter(|member| !member.is_null()) {
        match member.key() {
            "constraints" => limits.read(member, check, "$.task.constraints"),
            "task_id" => tell_once(task_id, member, check),
            "task_type" => tell_once(&mut output.task_type, member, check),
            "reference" => tell_once(&mut output.reference, member, check),
            "steps" => steps.read(member, check),
            "reference_plan" => steps.read_plan(member, check),
            "status" => drop(check.one_of(member, &["active", "quarantined", "deprecated"])),
            "type" => drop(check.text(member)),
            "description" | "quality_criteria" | "available_tools" | "routing_policy" => {
                read_message(member, check);
            }
            _ => check.unknown("$.task", member),
        }
    }
}

/// Checks a member of the documented message that plays no part in a score. Returns false for any other.
pub(super) fn read_message(member: Node<'_>, check: &mut Check<'_>) -> bool {
    match member.key() {
        "description" | "scoring_version" | "reasoning" | "miner_hotkey" => drop(check.text(member)),
        "quality_criteria" | "available_tools" | "routing_policy" => drop(check.members(member)),
        "send_block" => drop(check.count(member, 0.0)),
        "total_estimated_cost" | "total_estimated_latency" => drop(check.number(member, AMOUNT)),
        "confidence" => drop(check.number(member, UNIT)),
        _ => return false,
    }
    true
}

/// Reads the result. `faults` is the number of problems before the plan was read.
fn read_result<'a>(
    node: Node<'a>,
    check: &mut Check<'_>,
    work: &mut Work<'_>,
    (plan, faults): (Option<&Plan>, usize),
    facts: &mut RunFacts<'_>,
    output: &mut Output<'a>,
) -> Option<Account> {
    let [mut completed, mut total, mut retries, mut retry_total, mut attempts] = [None; 5];
    let mut unplanned = None;
    for member in check.members(node) {
        match member.key() {
            // Here `null` says that there was no output, which is known.
            "final_output" => output.output = Some(member),
            _ if member.is_null() => {}
            "tests" => output.tests = test_report(member, check),
            "lint_violations" => output.lint_violations = check.count(member, 0.0),
            "steps_completed" => completed = Some(member),
            "total_steps" => total = Some(member),
            "actual_cost" => facts.actual_tao = number(check.number(member, AMOUNT)),
            "actual_latency" => facts.actual_seconds = number(check.number(member, AMOUNT)),
            "attempts" => attempts = Some(member),
            "retries" => retries = Some(member),
            "actual_retries" => retry_total = Some(member),
            "timeouts" => facts.timeouts = number(check.count(member, 0.0)),
            "hard_failures" => facts.hard_failures = number(check.count(member, 0.0)),
            "budget_aborted" => facts.budget_aborted = flag(check.flag(member)),
            "unplanned_retries" => unplanned = check.count(member, 0.0).map(|count| (member, count)),
            _ => check.unknown("$.result", member),
        }
    }

    let given_total = total.and_then(|total| Some((total, check.count(total, 0.0)?)));
    let planned = plan.map(|plan| plan.nodes() as f64);
    if let (Some((node, given)), Some(planned)) = (given_total, planned)
        && given != planned
    {
        let found = format!("{} steps, where the plan has {}", digits(given), digits(planned));
        check.refuse_as(node, found, "the number of steps of the plan", "leave one of them out");
    }
    let steps_total = given_total.map(|(_, total)| total).or(planned);
    if total.is_none() && planned.is_none() {
        check.absent(node, "total_steps", "the number of steps, or a `workflow_plan`");
    }

    if completed.is_none() && attempts.is_none() {
        check.absent(node, "steps_completed", "the number of steps done, or a log of `attempts`");
    }
    if let Some(completed) = completed
        && let Some(done) = check.count(completed, 0.0)
    {
        if let Some(total) = steps_total.filter(|&total| done > total) {
            let found = format!("{} steps done of {}", digits(done), digits(total));
            check.refuse_as(completed, found, "at most as many as there are", "");
        }
        facts.steps_completed = Fact::Number(done);
    }
    facts.steps_total = number(steps_total);
    facts.actual_retries = number(read_retries(retries, retry_total, check, plan));
    let account = match (attempts, plan) {
        (Some(attempts), Some(plan)) => read_attempts(attempts, node, check, work, plan, facts),
        (Some(attempts), None) => {
            let expected = "the `workflow_plan` that the attempts belong to";
            check.refuse_as(attempts, "a log without a plan", expected, "add `workflow_plan` to the item");
            None
        }
        (None, _) => {
            // Beside a plan or totals that could not be read, others would seem to be wrong.
            if let Some(total) = steps_total.filter(|_| check.problems.len() == faults) {
                let retries_with_limit = plan.zip(retries).map(|(plan, retries)| at_limited(plan, retries));
                let contradictions = impossible(&totals(facts), total as u64, plan, retries_with_limit);
                refuse_totals(contradictions, node, node, check);
            }
            None
        }
    };
    if let (Some((unplanned, given)), Fact::Number(made)) = (unplanned, facts.actual_retries)
        && check.problems.len() == faults
    {
        let declared = plan.map_or(0.0, |plan| plan.declared_retry_budget() as f64);
        let beyond = (made - declared).max(0.0);
        if given != beyond {
            let [given, beyond, made, declared] = [given, beyond, made, declared].map(digits);
            let found = format!("{given}, where {made} retries were made and {declared} declared");
            check.refuse_as(unplanned, found, beyond, "leave it out: it follows from retries and plan");
        }
    }
    account
}

/// Returns the retries at steps with a time limit, of those by step.
fn at_limited(plan: &Plan, retries: Node<'_>) -> u64 {
    let is_limited = |id: &str| {
        plan.find(id).and_then(|at| plan.steps().get(at)).is_some_and(|step| step.timeout_seconds.is_some())
    };
    let counts = retries
        .children()
        .filter(|entry| is_limited(entry.key()))
        .filter_map(|entry| if let Value::Number(count) = entry.value() { Some(count as u64) } else { None });
    counts.fold(0, u64::saturating_add)
}

/// Refuses the totals that contradict others, each at its member of `result`, else at `place`.
fn refuse_totals(
    contradictions: Vec<Contradiction>,
    result: Node<'_>,
    place: Node<'_>,
    check: &mut Check<'_>,
) {
    for Contradiction { field, found, expected, hint } in contradictions {
        let total = |name| result.children().find(|member| member.key() == name && !member.is_null());
        let by_step = || (field == "actual_retries").then(|| total("retries")).flatten();
        check.refuse_as(total(field).or_else(by_step).unwrap_or(place), found, expected, hint);
    }
}

fn suspect_output_of_nothing(check: &mut Check<'_>, output: &Output<'_>, facts: &RunFacts<'_>) {
    let given = output.output.filter(|output| !output.is_null());
    if let Some(given) = given.filter(|_| facts.steps_completed == Fact::Number(0.0)) {
        check.suspect(given, "an output, where no step was completed".to_owned());
    }
}

fn amount(fact: &Fact<'_>) -> Option<f64> {
    if let Fact::Number(amount) = *fact { Some(amount) } else { None }
}

fn totals(facts: &RunFacts<'_>) -> Totals {
    // A count is a whole number that a double holds, so nothing is cut off.
    let count = |fact: &Fact<'_>| amount(fact).map(|count| count as u64);
    Totals {
        steps_completed: count(&facts.steps_completed),
        actual_tao: amount(&facts.actual_tao),
        actual_seconds: amount(&facts.actual_seconds),
        actual_retries: count(&facts.actual_retries),
        timeouts: count(&facts.timeouts),
        hard_failures: count(&facts.hard_failures),
        budget_aborted: if let Fact::Flag(flag) = facts.budget_aborted { Some(flag) } else { None },
    }
}

/// Puts what the log amounts to in place of the totals of the `result`, which must agree with it.
fn read_attempts(
    attempts: Node<'_>,
    result: Node<'_>,
    check: &mut Check<'_>,
    work: &mut Work<'_>,
    plan: &Plan,
    facts: &mut RunFacts<'_>,
) -> Option<Account> {
    let faults = check.problems.len();
    let log = read_log(attempts, check, plan, "$.result.attempts");
    if check.problems.len() > faults {
        return None;
    }
    let (run, account, contradictions) = settle(plan, &log, &totals(facts));
    refuse_totals(contradictions, result, attempts, check);
    let count = |count: Option<u64>| number(count.map(|count| count as f64));
    facts.steps_completed = count(run.steps_completed);
    facts.actual_tao = number(run.actual_tao);
    facts.actual_seconds = number(run.actual_seconds);
    facts.actual_retries = count(run.actual_retries);
    facts.timeouts = count(run.timeouts);
    facts.hard_failures = count(run.hard_failures);
    facts.budget_aborted = flag(run.budget_aborted);
    work.saw("log", serde_json::json!(account));
    Some(account)
}

/// Reads the retries that were made: per step, as a total, or both if they agree.
fn read_retries(
    retries: Option<Node<'_>>,
    total: Option<Node<'_>>,
    check: &mut Check<'_>,
    plan: Option<&Plan>,
) -> Option<f64> {
    let total = total.and_then(|total| Some((total, check.count(total, 0.0)?)));
    let Some(retries) = retries else { return total.map(|(_, count)| count) };
    let mut sum = 0.0;
    for entry in check.members(retries) {
        sum += check.count(entry, 0.0).unwrap_or_default();
        if plan.is_some_and(|plan| plan.find(entry.key()).is_none()) {
            let found = format!("retries of {}", quoted(entry.key()));
            check.refuse_as(entry, found, "the id of a step of the plan", "");
        }
    }
    if let Some((node, total)) = total.filter(|&(_, total)| total != sum) {
        let found = format!("{} retries, where `retries` adds up to {}", digits(total), digits(sum));
        check.refuse_as(node, found, "one number of retries", "leave one of them out");
    }
    Some(sum)
}

fn last_moment(result: Node<'_>) -> Option<Timestamp> {
    let attempts = result.children().find(|member| member.key() == "attempts")?;
    let ends = attempts.children().filter_map(|attempt| {
        match attempt.children().find(|member| member.key() == "end")?.value() {
            Value::Text(text) => Timestamp::parse(text).ok(),
            _ => None,
        }
    });
    ends.max()
}
