//! Reasoning traces: the strict schema of the KnowledgePulse `ReasoningTrace`, and the counts a score is made of.
//!
//! A trace that names its source was made of the log of another tool: what that log lacks may be absent, and is missing.

use karat_core::facts::Fact;

use crate::graders::Work;
use crate::kinds::trace_novelty::{self, Given};
use crate::vocabulary::vocabulary;
use karat_core::timestamp::Timestamp;
use karat_evidence::fact_table::SOURCE;
use karat_evidence::json::check::{AMOUNT, Check, Identity, Name, UNIT, flag, number};
use karat_evidence::json::document::{Document, Node, Tape, Value};
use karat_evidence::json::parse::{Limits, parse};
use karat_evidence::json::problem::Problems;
use karat_evidence::json::value;

vocabulary! {
    /// Facts of a trace.
    TraceFacts {
        step_count: Number in "count", "steps of the trace";
        step_type_count: Number in "count", "distinct types among the steps";
        thought_count: Number in "count", "steps of type `thought`";
        tool_step_count: Number in "count", "steps with a tool, whatever their type";
        unique_tool_count: Number in "count", "distinct tool names over all steps";
        error_recovery_count: Number in "count", "steps of type `error_recovery`";
        success: Boolean in "1", "whether the task succeeded";
        confidence: Number in "1", "the agent's confidence in its outcome, 0 to 1";
        novelty: Number in "1", "unlikeness to earlier traces, 0 to 1, where it is supplied";
        task_domain: Text in "1", "domain of the task";
    }
}

const CONTEXTS: [&str; 2] =
    ["https://knowledgepulse.dev/schema/v1", "https://openknowledgepulse.org/schema/v1"];
const STEP_TYPES: [&str; 4] = ["thought", "tool_call", "observation", "error_recovery"];

/// Reads one trace. `names` is reusable memory for the tool names.
pub(crate) fn read<'a>(
    root: Node<'a>,
    check: &mut Check<'_>,
    work: &mut Work<'_>,
    names: &mut Vec<usize>,
) -> (TraceFacts<'a>, Identity<'a>) {
    let mut facts = TraceFacts::default();
    let mut identity = Identity::default();
    let mut given = Given::default();
    let [mut context, mut kind, mut id, mut metadata, mut task, mut steps, mut outcome] = [None; 7];
    let source = source(root);
    let demand = if source.is_some() { Demand::OfLog } else { Demand::All };
    for member in check.members(root) {
        match member.key() {
            "@context" => context = Some(member),
            "@type" => kind = Some(member),
            "id" => id = Some(member),
            "metadata" => metadata = Some(member),
            "task" => task = Some(member),
            "steps" => steps = Some(member),
            "outcome" => outcome = Some(member),
            "source_skill" => drop(check.text(member)),
            "knowledge_graph_delta" => knowledge_graph(member, check),
            "novelty" => given.novelty = Some(member),
            "vector" => given.vector = Some(member),
            SOURCE if source.is_some() => {}
            _ => check.unknown("$", member),
        }
    }
    if let Some(context) = check.required(root, "@context", context, "the schema's address") {
        check.one_of(context, &CONTEXTS);
    }
    if let Some(kind) = check.required(root, "@type", kind, "`ReasoningTrace`") {
        check.one_of(kind, &["ReasoningTrace"]);
    }
    if let Some(id) = check.required(root, "id", id, "an id that begins with `kp:trace:`") {
        match id.value() {
            Value::Text(text) if text.starts_with("kp:trace:") => identity.id = check.name(id),
            _ => check.refuse(id, "an id that begins with `kp:trace:`", ""),
        }
    }
    if let Some(metadata) = demand.of(check, root, "metadata", metadata, "an object") {
        given.created = read_metadata(metadata, demand, check, &mut facts, &mut identity);
    }
    if let Some(task) = demand.of(check, root, "task", task, "an object with the `objective`") {
        identity.task = read_task(task, demand, check);
    }
    if let Some(steps) = check.required(root, "steps", steps, "an array of at least one step") {
        read_steps(steps, check, &mut facts, names);
    }
    if let Some(outcome) = demand.of(check, root, "outcome", outcome, "an object with the `confidence`") {
        read_outcome(outcome, demand, check, &mut facts);
    }
    if let Some(source) = source {
        check.refuse_inexact(source);
        work.seen.insert(SOURCE.to_owned(), value::of_node(source));
    }
    identity.time = given.created;
    facts.novelty = trace_novelty::grade(root, (identity.subject, identity.id), &given, check, work);
    (facts, identity)
}

/// The fields that must be there.
#[derive(Clone, Copy, PartialEq)]
enum Demand {
    /// Those of the schema.
    All,
    OfLog,
}

impl Demand {
    /// Reads a field of the schema.
    fn of<'a>(
        self,
        check: &mut Check<'_>,
        parent: Node<'a>,
        name: &str,
        field: Option<Node<'a>>,
        expected: &str,
    ) -> Option<Node<'a>> {
        if self == Self::OfLog { field } else { check.required(parent, name, field, expected) }
    }
}

/// Returns the source that a trace states: the digest of a log, and the place in it.
fn source(root: Node<'_>) -> Option<Node<'_>> {
    root.children().find(|member| member.key() == SOURCE && member.value() == Value::Object)
}

fn read_metadata<'a>(
    node: Node<'a>,
    demand: Demand,
    check: &mut Check<'_>,
    facts: &mut TraceFacts<'a>,
    identity: &mut Identity<'a>,
) -> Option<Timestamp> {
    const VISIBILITIES: [&str; 3] = ["private", "org", "network"];
    const PRIVACY_LEVELS: [&str; 3] = ["aggregated", "federated", "private"];
    const NAMES: [&str; 9] = [
        "created_at", "agent_id", "framework", "task_domain", "success", "quality_score", "visibility",
        "privacy_level", "validated_by",
    ];
    let [created, agent, framework, domain, success, quality, visibility, privacy, validated_by] =
        check.strict_fields(node, "$.metadata", NAMES);
    identity.subject = agent.and_then(|agent| check.name(agent));
    framework.map(|framework| check.text(framework));
    if let Some(validators) = validated_by {
        for validator in check.elements(validators) {
            check.text(validator);
        }
    }
    let mut time = None;
    if let Some(created) = demand.of(check, node, "created_at", created, "a timestamp in UTC") {
        time = check.timestamp(created, Timestamp::parse_utc);
    }
    // No domain is refused, nor is its absence: some weights apply in any case, and the record says which.
    if let Some(domain) = domain.filter(|domain| !domain.is_null()) {
        facts.task_domain = check.text(domain).map_or(Fact::Missing, Fact::Text);
    }
    if let Some(success) = demand.of(check, node, "success", success, "`true` or `false`") {
        facts.success = flag(check.flag(success));
    }
    if let Some(quality) = demand.of(check, node, "quality_score", quality, "a number from 0 to 1") {
        check.number(quality, UNIT);
    }
    if let Some(visibility) =
        demand.of(check, node, "visibility", visibility, "`private`, `org` or `network`")
    {
        check.one_of(visibility, &VISIBILITIES);
    }
    if let Some(privacy) =
        demand.of(check, node, "privacy_level", privacy, "`aggregated`, `federated` or `private`")
    {
        check.one_of(privacy, &PRIVACY_LEVELS);
    }
    time
}

fn read_task<'a>(node: Node<'a>, demand: Demand, check: &mut Check<'_>) -> Option<Name<'a>> {
    let [objective, id, schema] = check.strict_fields(node, "$.task", ["objective", "id", "input_schema"]);
    let name = id.and_then(|id| check.name(id));
    schema.map(|schema| check.members(schema));
    if let Some(objective) = demand.of(check, node, "objective", objective, "a text")
        && check.text(objective) == Some("")
    {
        check.refuse(objective, "what the task was", "");
    }
    name
}

fn read_steps(node: Node<'_>, check: &mut Check<'_>, facts: &mut TraceFacts<'_>, names: &mut Vec<usize>) {
    names.clear();
    let mut per_type = [0_u32; STEP_TYPES.len()];
    let mut steps = 0_u32;
    let mut tool_steps = 0_u32;
    for step in check.elements(node) {
        steps += 1;
        let [mut id, mut kind] = [None; 2];
        for member in check.members(step) {
            match member.key() {
                "step_id" => id = Some(member),
                "type" => kind = Some(member),
                "content" | "output_summary" => drop(check.text(member)),
                "tool" => {
                    tool_steps += 1;
                    names.extend(read_tool(member, check));
                }
                "input" => drop(check.members(member)),
                "latency_ms" => drop(check.number(member, AMOUNT)),
                _ => check.unknown("$.steps[*]", member),
            }
        }
        if let Some(id) = check.required(step, "step_id", id, "a whole number not below 0") {
            check.count(id, 0.0);
        }
        if let Some(kind) = check.required(step, "type", kind, "the type of the step")
            && let Some(name) = check.one_of(kind, &STEP_TYPES)
            && let Some((_, count)) = STEP_TYPES.iter().zip(&mut per_type).find(|(known, _)| **known == name)
        {
            *count += 1;
        }
    }
    if steps == 0 && node.value() == Value::Array {
        check.refuse_as(node, "no steps", "at least one step", "a trace without steps has nothing to score");
    }

    let document = node.document();
    names.sort_unstable_by_key(|&at| tool_name(document, at));
    names.dedup_by_key(|at| tool_name(document, *at));
    let [thoughts, _, _, recoveries] = per_type.map(f64::from);
    facts.step_count = Fact::Number(f64::from(steps));
    facts.step_type_count = Fact::Number(per_type.iter().filter(|&&count| count > 0).count() as f64);
    facts.thought_count = Fact::Number(thoughts);
    facts.tool_step_count = Fact::Number(f64::from(tool_steps));
    facts.unique_tool_count = Fact::Number(names.len() as f64);
    facts.error_recovery_count = Fact::Number(recoveries);
}

fn tool_name(document: Document<'_>, at: usize) -> &str {
    match document.node(at).value() {
        Value::Text(name) => name,
        _ => "",
    }
}

/// Reads the place of the tool's name, which alone distinguishes tools, to the letter; the server does not matter.
fn read_tool(node: Node<'_>, check: &mut Check<'_>) -> Option<usize> {
    let [name, server] = check.strict_fields(node, "$.steps[*].tool", ["name", "mcp_server"]);
    server.map(|server| check.text(server));
    let name = check.required(node, "name", name, "the name of the tool")?;
    check.text(name).map(|_| name.at())
}

fn read_outcome<'a>(node: Node<'a>, demand: Demand, check: &mut Check<'_>, facts: &mut TraceFacts<'a>) {
    let [summary, confidence] = check.strict_fields(node, "$.outcome", ["result_summary", "confidence"]);
    if let Some(summary) = demand.of(check, node, "result_summary", summary, "a text, which may be empty") {
        check.text(summary);
    }
    if let Some(confidence) = demand.of(check, node, "confidence", confidence, "a number from 0 to 1") {
        facts.confidence = number(check.number(confidence, UNIT));
    }
}

fn knowledge_graph(node: Node<'_>, check: &mut Check<'_>) {
    const PATH: &str = "$.knowledge_graph_delta";
    const LISTS: [(&str, [&str; 2]); 2] =
        [("entities", ["name", "type"]), ("relationships", ["fact", "valid_from"])];
    let lists = check.strict_fields(node, PATH, LISTS.map(|(name, _)| name));
    for ((name, fields), list) in LISTS.into_iter().zip(lists) {
        let Some(list) = check.required(node, name, list, "an array") else { continue };
        let path = format!("{PATH}.{name}[*]");
        for element in check.elements(list) {
            for (name, field) in fields.into_iter().zip(check.strict_fields(element, &path, fields)) {
                check.required(element, name, field, "a text").map(|field| check.text(field));
            }
        }
    }
}

/// Returns the text that a trace's novelty is judged by: the objective, then the content of every step, each after one
/// blank; a step without content adds its blank all the same.
///
/// It does not ask for a valid trace: fields that are absent or of another type count as empty.
///
/// # Errors
/// If the text is not JSON in UTF-8, or larger or deeper than [`ReaderOptions`](crate::ReaderOptions) allows by
/// default.
pub fn embedding_text(trace: &[u8]) -> Result<String, Problems> {
    let mut tape = Tape::default();
    let document = parse(&mut tape, trace, &Limits::default())?;
    Ok(text_of(document.root()))
}

/// Returns the vector that a trace brings; none if it brings none, or is not a trace.
pub fn trace_vector(trace: &[u8]) -> Option<Vec<f32>> {
    let mut tape = Tape::default();
    let document = parse(&mut tape, trace, &Limits::default()).ok()?;
    trace_novelty::read_vector(document.root().children().find(|child| child.key() == "vector")?).ok()
}

pub(crate) fn text_of(root: Node<'_>) -> String {
    let document = root.document();
    let field = |node: Node<'_>, name: &str| node.children().find(|child| child.key() == name).map(Node::at);
    let text = |at: Option<usize>| match at.map(|at| document.node(at).value()) {
        Some(Value::Text(text)) => text,
        _ => "",
    };
    let task = field(root, "task").map(|at| document.node(at));
    let mut joined = text(task.and_then(|task| field(task, "objective"))).to_owned();
    joined.push(' ');
    if let Some(steps) = field(root, "steps").map(|at| document.node(at)) {
        for (at, step) in steps.children().enumerate() {
            if at > 0 {
                joined.push(' ');
            }
            joined.push_str(text(field(step, "content")));
        }
    }
    joined
}
