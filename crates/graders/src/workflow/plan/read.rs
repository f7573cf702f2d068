//! A plan out of JSON: its fields, and then its checks, all faults at once.

use super::{Plan, PlanRules, References, Step};
use crate::workflow::graph::Graph;
use crate::workflow::reference::{Piece, Reference, pieces};
use karat_evidence::json::check::{AMOUNT, Check};
use karat_evidence::json::document::{Document, Node, Value};
use karat_evidence::json::problem::quoted;

/// A step with the places of what its checks may have to point at.
struct Draft {
    step: Step,
    /// The node of its id.
    at: usize,
    /// The nodes of the texts with its references, one for each.
    references_at: Vec<usize>,
}

/// Reads a plan and adds its faults to the `check`; with faults, what is returned is what could be read. `root` is the
/// path of the plan, for counting the fields that no one reads.
pub fn read(plan: Node<'_>, check: &mut Check<'_>, rules: &PlanRules, root: &str) -> Plan {
    let [nodes, edges, error_handling] = check.fields(plan, root, ["nodes", "edges", "error_handling"]);
    let mut read = Plan::default();
    let mut places = Vec::new();
    if let Some(nodes) = check.required(plan, "nodes", nodes, "an array of at least one step") {
        let drafts = read_nodes(nodes, check, rules, root);
        read.nodes = nodes.children().count();
        for draft in one_of_each_id(drafts, nodes.document(), check) {
            read.steps.push(draft.step);
            places.push(draft.references_at);
        }
    }
    let connections = edges.map_or_else(Vec::new, |edges| read_edges(edges, check, root, &read));
    read.graph = Graph::new(read.steps.len(), connections);
    let cycles = match read.graph.tiers() {
        Ok(tiers) => {
            read.tiers = tiers;
            Vec::new()
        }
        Err(cycles) => cycles,
    };
    for cycle in &cycles {
        refuse_cycle(edges.unwrap_or(plan), check, &read, cycle);
    }
    check_references(plan.document(), check, rules, &read, &places);
    if let Some(entries) = error_handling {
        read_error_handling(entries, check, rules, root, &mut read);
    }
    read
}

fn read_nodes(nodes: Node<'_>, check: &mut Check<'_>, rules: &PlanRules, root: &str) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut count = 0;
    for node in check.elements(nodes) {
        count += 1;
        drafts.extend(read_node(node, check, rules, root));
    }
    if count == 0 && nodes.value() == Value::Array {
        check.refuse_as(nodes, "no steps", "at least one step", "give the plan a step");
    }
    if let Some(most) = rules.steps_max.filter(|&most| count > most) {
        check.refuse_as(nodes, format!("{count} steps"), format!("at most {most}"), "");
    }
    drafts
}

fn read_node(node: Node<'_>, check: &mut Check<'_>, rules: &PlanRules, root: &str) -> Option<Draft> {
    let [mut id, mut subnet, mut action] = [None; 3];
    let mut step = Step::default();
    let mut references_at = Vec::new();
    for member in check.members(node).filter(|member| !member.is_null()) {
        match member.key() {
            "id" => id = Some(member),
            "subnet" => subnet = Some(member),
            "action" => action = Some(member),
            "params" if rules.references == References::Unread => {}
            "params" => read_references(member, check, &mut step.references, &mut references_at),
            "estimated_cost" => step.estimated_cost_tao = check.number(member, AMOUNT),
            "estimated_latency" => drop(check.number(member, AMOUNT)),
            _ => check.unknown(&format!("{root}.nodes[*]"), member),
        }
    }
    if rules.subnet_and_action_required
        && let Some(action) = check.required(node, "action", action, "what the step does")
    {
        let _ = check.filled_text(action);
    } else if let Some(action) = action {
        let _ = check.text(action);
    }
    if (rules.subnet_and_action_required || rules.allowed_subnets.is_some())
        && let Some(subnet) = check.required(node, "subnet", subnet, "who carries out the step")
    {
        check_subnet(subnet, check, rules.allowed_subnets.as_deref());
    } else if let Some(subnet) = subnet {
        let _ = check.text(subnet);
    }
    if let Some(Value::Text(subnet)) = subnet.map(Node::value) {
        step.subnet = Some(subnet.to_owned());
    }
    let id = check.required(node, "id", id, "a text that is not blank")?;
    step.id = check.filled_text(id)?.to_owned();
    Some(Draft { step, at: id.at(), references_at })
}

fn check_subnet(subnet: Node<'_>, check: &mut Check<'_>, allowed: Option<&[String]>) {
    let (Some(name), Some(allowed)) = (check.filled_text(subnet), allowed) else { return };
    let names = || allowed.iter().map(String::as_str);
    if names().any(|known| known == name) {
        return;
    }
    match names().find(|known| known.eq_ignore_ascii_case(name)) {
        Some(known) => check.note(subnet, format!("{} is taken as {}", quoted(name), quoted(known))),
        None => check.refuse_name(subnet, name, "one of the allowed subnets", names),
    }
}

/// References are in texts at any depth of the parameters, but not in keys. The document lists its values one after
/// the other, so no depth of brackets is too much.
fn read_references(
    params: Node<'_>,
    check: &mut Check<'_>,
    references: &mut Vec<Reference>,
    places: &mut Vec<usize>,
) {
    let document = params.document();
    for node in (params.at()..params.end()).map(|at| document.node(at)) {
        let Value::Text(text) = node.value() else { continue };
        for piece in pieces(text) {
            match piece {
                Piece::Text(_) => {}
                Piece::Lookalike(text) => check.note(
                    node,
                    format!("{} is not a reference and stays as it is: ids of letters, digits and `_` can be referred to", quoted(text)),
                ),
                Piece::Reference { step, path } => {
                    references.push(Reference { step: step.to_owned(), path: path.to_owned() });
                    places.push(node.at());
                }
            }
        }
    }
}

/// Returns the drafts sorted by id; of those with the same id, the first.
fn one_of_each_id(mut drafts: Vec<Draft>, document: Document<'_>, check: &mut Check<'_>) -> Vec<Draft> {
    drafts.sort_by(|a, b| a.step.id.cmp(&b.step.id));
    drafts.dedup_by(|later, first| {
        let is_repeated = later.step.id == first.step.id;
        if is_repeated {
            let found = format!("the id {} a second time", quoted(&later.step.id));
            check.refuse_as(document.node(later.at), found, "a different id for each step", "");
        }
        is_repeated
    });
    drafts
}

/// Reads the edges between known steps.
fn read_edges(edges: Node<'_>, check: &mut Check<'_>, root: &str, plan: &Plan) -> Vec<(usize, usize)> {
    let mut connections = Vec::new();
    let path = format!("{root}.edges[*]");
    for edge in check.elements(edges) {
        let [from, to] = check.fields(edge, &path, ["from", "to"]);
        let from = check.required(edge, "from", from, "the id of a step");
        let to = check.required(edge, "to", to, "the id of a step");
        let from = from.and_then(|end| known_step(end, check, plan));
        let to = to.and_then(|end| known_step(end, check, plan));
        match (from, to) {
            (Some(from), Some(to)) if from == to => {
                let found = "an edge from a step to itself";
                check.refuse_as(edge, found, "an edge between two steps", "remove it");
            }
            (Some(from), Some(to)) => connections.push((from, to, edge.at())),
            _ => {}
        }
    }
    connections.sort_unstable();
    connections.dedup_by(|later, first| {
        let is_repeated = (later.0, later.1) == (first.0, first.1);
        if is_repeated {
            check.note(edges.document().node(later.2), "this edge has been given before".to_owned());
        }
        is_repeated
    });
    connections.into_iter().map(|(from, to, _)| (from, to)).collect()
}

fn known_step(end: Node<'_>, check: &mut Check<'_>, plan: &Plan) -> Option<usize> {
    let id = check.text(end)?;
    let found = plan.find(id);
    if found.is_none() {
        let known = || plan.steps.iter().take(100).map(|step| step.id.as_str());
        check.refuse_name(end, id, "the id of a step of the plan", known);
    }
    found
}

fn refuse_cycle(edges: Node<'_>, check: &mut Check<'_>, plan: &Plan, cycle: &[usize]) {
    const SHOWN: usize = 20;
    let id = |&node: &usize| quoted(plan.steps.get(node).map_or("", |step| &step.id));
    let round = cycle.iter().chain(cycle.first());
    let mut names: Vec<_> = round.take(SHOWN).map(id).collect();
    if cycle.len() >= SHOWN {
        names.push(format!("… ({} more)", cycle.len() + 1 - SHOWN));
    }
    let found = format!("the cycle {}", names.join(" -> "));
    check.refuse_as(edges, found, "steps that never wait for themselves", "remove one edge of the cycle");
}

/// Checks that what a step refers to will be there when it is needed. `places` has those of the references of each step.
fn check_references(
    document: Document<'_>,
    check: &mut Check<'_>,
    rules: &PlanRules,
    plan: &Plan,
    places: &[Vec<usize>],
) {
    let mut complain = |at: usize, reference: &Reference, what: &str, hint: String| {
        let (node, text) = (document.node(at), quoted(&reference.text()));
        match rules.references {
            References::Refused => {
                check.refuse_as(node, format!("{text}, {what}"), "a step from which edges lead here", hint);
            }
            References::Noted | References::Unread => {
                check.note(node, format!("{text} refers to {what}: the step may fail"))
            }
        }
    };
    let mut pairs = Vec::new();
    let mut asked = Vec::new();
    for (at_step, (step, places)) in plan.steps.iter().zip(places).enumerate() {
        for (reference, &at) in step.references.iter().zip(places) {
            match plan.find(&reference.step) {
                Some(target) if target == at_step => {
                    complain(at, reference, "the step itself", String::new())
                }
                Some(target) => {
                    pairs.push((target, at_step));
                    asked.push((at, reference, step));
                }
                None => complain(at, reference, "a step that the plan does not have", String::new()),
            }
        }
    }
    // A plan with a cycle has no order of steps; the cycle has been reported.
    let answers =
        if plan.tiers.is_empty() { Vec::new() } else { plan.graph.lies_before(&plan.tiers, &pairs) };
    for (answer, (at, reference, step)) in answers.iter().zip(asked) {
        let hint = || format!("add an edge from {} to {}", quoted(&reference.step), quoted(&step.id));
        match answer {
            Some(true) => {}
            Some(false) => complain(at, reference, "a step that does not lie upstream", hint()),
            None => complain(
                at,
                reference,
                "a step that cannot be seen to lie upstream in so large a plan",
                hint(),
            ),
        }
    }
}

fn read_error_handling(
    entries: Node<'_>,
    check: &mut Check<'_>,
    rules: &PlanRules,
    root: &str,
    plan: &mut Plan,
) {
    let path = format!("{root}.error_handling[*]");
    for entry in check.members(entries).filter(|entry| !entry.is_null()) {
        let [retries, timeout] = check.fields(entry, &path, ["retry_count", "timeout_seconds"]);
        let retries = retries.map_or(0, |node| read_retries(node, check, rules));
        let timeout_seconds = timeout.and_then(|node| check.number(node, AMOUNT));
        plan.declared_retry_budget = plan.declared_retry_budget.saturating_add(retries);
        match plan.find(entry.key()).and_then(|at| plan.steps.get_mut(at)) {
            Some(step) => (step.declared_retries, step.timeout_seconds) = (retries, timeout_seconds),
            None => {
                let text = format!(
                    "the plan has no step {}; its retries count as declared all the same",
                    quoted(entry.key())
                );
                check.suspect(entry, text);
            }
        }
    }
}

/// Declared retries of a step beyond which they are hardly meant as defence. The documents set no limit.
const RETRIES_MEANT: u64 = 100;

fn read_retries(node: Node<'_>, check: &mut Check<'_>, rules: &PlanRules) -> u64 {
    // A count is a whole number that a double holds, so nothing is cut off.
    let retries = check.count(node, 0.0).unwrap_or_default() as u64;
    if let Some(most) = rules.declared_retries_max.filter(|&most| retries > most) {
        check.refuse_as(node, format!("{retries} retries"), format!("at most {most}"), "");
    } else if retries > RETRIES_MEANT {
        let text = format!("{retries} declared retries are more than a step needs, and all of them are free");
        check.suspect(node, text);
    }
    retries
}
