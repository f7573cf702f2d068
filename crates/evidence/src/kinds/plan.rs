//! Workflow plans: a directed graph of steps, checked to be one, and the retries that it declares.

use crate::check::{AMOUNT, Check};
use crate::document::{Document, Node, Value};
use crate::problem::quoted;

/// Reusable memory: the plan's graph. Nodes are known by their place among the sorted ids.
#[derive(Debug, Default)]
pub(crate) struct PlanMemory {
    /// Places of the id values in the document, sorted by id.
    ids: Vec<usize>,
    /// From and to, sorted.
    edges: Vec<(usize, usize)>,
    /// For each node, how many of its predecessors have not been visited.
    waiting: Vec<usize>,
    ready: Vec<usize>,
}

/// What a plan says.
pub(crate) struct Plan {
    pub steps: f64,
    /// Sum of `retry_count` over all entries of `error_handling`, those of unknown steps included.
    pub declared_retries: f64,
}

/// Reads and checks a plan (C-SWON, sections 2.3 and 6.1).
pub(crate) fn read(plan: Node<'_>, check: &mut Check<'_>, memory: &mut PlanMemory) -> Plan {
    let [mut nodes, mut edges, mut error_handling] = [None; 3];
    for member in check.members(plan).filter(|member| !member.is_null()) {
        match member.key() {
            "nodes" => nodes = Some(member),
            "edges" => edges = Some(member),
            "error_handling" => error_handling = Some(member),
            _ => check.unknown("$.workflow_plan", member),
        }
    }
    memory.ids.clear();
    memory.edges.clear();
    let mut steps = 0;
    if let Some(nodes) = check.required(plan, "nodes", nodes, "an array of at least one step") {
        steps = read_nodes(nodes, check, memory);
    }
    if let Some(edges) = edges {
        read_edges(edges, check, memory);
    }
    let declared_retries = error_handling.map_or(0.0, |entries| read_error_handling(entries, check, memory));
    Plan { steps: steps as f64, declared_retries }
}

impl PlanMemory {
    /// The node with this id.
    pub(crate) fn find(&self, document: Document<'_>, id: &str) -> Option<usize> {
        self.ids.binary_search_by(|&at| text(document, at).cmp(id)).ok()
    }

    /// Puts every node after its predecessors (Kahn 1962), and returns one of the cycles that prevent it.
    fn cycle(&mut self) -> Option<Vec<usize>> {
        let Self { ids, edges, waiting, ready } = self;
        edges.sort_unstable();
        waiting.clear();
        waiting.resize(ids.len(), 0);
        for &(_, to) in edges.iter() {
            if let Some(count) = waiting.get_mut(to) {
                *count += 1;
            }
        }
        ready.clear();
        ready.extend(waiting.iter().enumerate().filter(|&(_, &count)| count == 0).map(|(node, _)| node));
        while let Some(node) = ready.pop() {
            let first = edges.partition_point(|&(from, _)| from < node);
            for &(_, to) in edges.iter().skip(first).take_while(|&&(from, _)| from == node) {
                if let Some(count) = waiting.get_mut(to) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(to);
                    }
                }
            }
        }

        // Every node that still waits has a predecessor that waits too: going back from one must come round.
        let waits = |node: usize| waiting.get(node).is_some_and(|&count| count > 0);
        let mut before = vec![None; ids.len()];
        for &(from, to) in edges.iter().filter(|&&(from, to)| waits(from) && waits(to)) {
            if let Some(before) = before.get_mut(to) {
                *before = Some(from);
            }
        }
        let mut walk: Vec<usize> = Vec::new();
        let mut met = vec![false; ids.len()];
        let mut here = (0..ids.len()).find(|&node| waits(node))?;
        while let Some(met) = met.get_mut(here).filter(|met| !**met) {
            *met = true;
            walk.push(here);
            here = before.get(here).copied().flatten()?;
        }
        let start = walk.iter().position(|&node| node == here)?;
        let mut cycle = walk.split_off(start);
        cycle.push(here);
        cycle.reverse();
        Some(cycle)
    }
}

fn text(document: Document<'_>, at: usize) -> &str {
    match document.node(at).value() {
        Value::Text(text) => text,
        _ => "",
    }
}

fn read_nodes(nodes: Node<'_>, check: &mut Check<'_>, memory: &mut PlanMemory) -> usize {
    let document = nodes.document();
    let mut count = 0;
    for node in check.elements(nodes) {
        count += 1;
        let mut id = None;
        for member in check.members(node).filter(|member| !member.is_null()) {
            match member.key() {
                "id" => id = Some(member),
                "estimated_cost" | "estimated_latency" => drop(check.number(member, AMOUNT)),
                "subnet" | "action" | "params" => {}
                _ => check.unknown("$.workflow_plan.nodes[*]", member),
            }
        }
        if let Some(id) = check.required(node, "id", id, "a text that is not blank")
            && check.filled_text(id).is_some()
        {
            memory.ids.push(id.at());
        }
    }
    if count == 0 && nodes.value() == Value::Array {
        check.refuse_as(nodes, "no steps", "at least one step", "a plan without steps is no plan");
    }
    memory.ids.sort_unstable_by(|&a, &b| text(document, a).cmp(text(document, b)).then(a.cmp(&b)));
    let mut previous = None;
    memory.ids.retain(|&at| {
        let id = text(document, at);
        let is_new = previous.replace(id) != Some(id);
        if !is_new {
            let found = format!("the id {} a second time", quoted(id));
            check.refuse_as(document.node(at), found, "an id of its own for each step", "");
        }
        is_new
    });
    count
}

fn read_edges(edges: Node<'_>, check: &mut Check<'_>, memory: &mut PlanMemory) {
    let document = edges.document();
    for edge in check.elements(edges) {
        let [mut from, mut to] = [None; 2];
        for member in check.members(edge).filter(|member| !member.is_null()) {
            match member.key() {
                "from" => from = Some(member),
                "to" => to = Some(member),
                _ => check.unknown("$.workflow_plan.edges[*]", member),
            }
        }
        let from = check.required(edge, "from", from, "the id of a step");
        let to = check.required(edge, "to", to, "the id of a step");
        let from = from.and_then(|end| known_step(end, check, memory));
        let to = to.and_then(|end| known_step(end, check, memory));
        if let (Some(from), Some(to)) = (from, to) {
            if from == to {
                check.refuse_as(
                    edge,
                    "an edge from a step to itself",
                    "an edge between two steps",
                    "remove it",
                );
            } else {
                memory.edges.push((from, to));
            }
        }
    }
    if let Some(cycle) = memory.cycle() {
        const SHOWN: usize = 20;
        let id = |&node: &usize| memory.ids.get(node).map_or("", |&at| text(document, at));
        let mut names: Vec<_> = cycle.iter().take(SHOWN).map(|node| quoted(id(node))).collect();
        if cycle.len() > SHOWN {
            names.push(format!("… ({} more)", cycle.len() - SHOWN));
        }
        let found = format!("the cycle {}", names.join(" -> "));
        check.refuse_as(edges, found, "steps that never wait for themselves", "remove one edge of the cycle");
    }
}

fn known_step(end: Node<'_>, check: &mut Check<'_>, memory: &PlanMemory) -> Option<usize> {
    let id = check.text(end)?;
    let found = memory.find(end.document(), id);
    if found.is_none() {
        let known = || memory.ids.iter().take(100).map(|&at| text(end.document(), at));
        check.refuse_name(end, id, "the id of a step of the plan", known);
    }
    found
}

fn read_error_handling(entries: Node<'_>, check: &mut Check<'_>, memory: &PlanMemory) -> f64 {
    let mut declared = 0.0;
    for entry in check.members(entries).filter(|entry| !entry.is_null()) {
        for member in check.members(entry).filter(|member| !member.is_null()) {
            match member.key() {
                "retry_count" => declared += check.count(member, 0.0).unwrap_or_default(),
                "timeout_seconds" => drop(check.number(member, AMOUNT)),
                _ => check.unknown("$.workflow_plan.error_handling[*]", member),
            }
        }
        if memory.find(entries.document(), entry.key()).is_none() {
            let text = format!(
                "the plan has no step {}; its retries count as declared all the same",
                quoted(entry.key())
            );
            check.note(entry, text);
        }
    }
    declared
}
