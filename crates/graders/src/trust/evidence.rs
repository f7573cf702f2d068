//! Evidence about an agent: evaluations with their checks, verdicts, bond, incidents, declarations, memory, collaborations.
//!
//! One JSON object per agent. Every item has an `id` and a `time`; the same item given twice is one item, and the order
//! of items means nothing. A field that no item has is refused: a misspelt one would be silently without effect.

mod records;

use karat_core::timestamp::Timestamp;
use serde::Deserialize;
use serde::de::Deserializer;

use super::jury::Verdict;

pub use records::*;

/// Everything that is known of one agent.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentEvidence {
    /// The graded agent.
    pub agent_id: String,
    /// The evidence's own name.
    pub id: Option<String>,
    /// Allowances for the tasks of each class.
    #[serde(default, deserialize_with = "or_default")]
    pub task_classes: Vec<TaskClass>,
    /// Declarations of the agent about itself, over time.
    #[serde(default, deserialize_with = "or_default")]
    pub declarations: Vec<Declaration>,
    /// Runs of checks.
    #[serde(default, deserialize_with = "or_default")]
    pub evaluations: Vec<Evaluation>,
    /// Judges' verdicts on checks whose method is the jury. The rows of one check make one panel.
    #[serde(default, deserialize_with = "or_default")]
    pub verdicts: Vec<VerdictRow>,
    /// Staked collateral, and the deals that it secures.
    #[serde(default, deserialize_with = "or_default")]
    pub bond: Bond,
    /// Incidents in the field.
    #[serde(default, deserialize_with = "or_default")]
    pub incidents: Vec<Incident>,
    /// Use of persistent memory by the agent.
    #[serde(default, deserialize_with = "or_default")]
    pub memory: Memory,
    /// Work with other agents.
    #[serde(default, deserialize_with = "or_default")]
    pub collaborations: Vec<Collaboration>,
}

impl AgentEvidence {
    /// Returns the time of the newest item in the evidence; none without items.
    pub fn newest(&self) -> Option<Timestamp> {
        let Self { declarations, evaluations, bond, incidents, memory, collaborations, .. } = self;
        let checks = evaluations.iter().flat_map(|it| &it.checks).filter_map(|it| it.time);
        let tests = evaluations.iter().map(|it| it.time).chain(checks);
        let withdrawn = bond.deposits.iter().filter_map(|it| it.withdrawn_at);
        let deposits = bond.deposits.iter().map(|it| it.time).chain(withdrawn);
        let slashes = bond.slashes.iter().map(|it| it.time);
        let money = deposits.chain(slashes).chain(bond.deals.iter().map(|it| it.time));
        let closed = incidents.iter().filter_map(|it| it.closed_at);
        let harm = incidents.iter().map(|it| it.time).chain(closed);
        let done = memory.completed_tasks.iter().map(|it| it.time);
        let kept = memory.records.iter().map(|it| it.time);
        let remembered = done.chain(kept).chain(memory.retrievals.iter().map(|it| it.time));
        let said = declarations.iter().map(|it| it.time);
        let worked = collaborations.iter().map(|it| it.time);
        tests.chain(money).chain(harm).chain(remembered).chain(said).chain(worked).max()
    }
}

/// Allowances for the tasks of a class: set with the tasks, never by the agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskClass {
    /// The class, as checks name it.
    pub name: String,
    /// Response time that the class warrants, above 0.
    pub latency_budget_seconds: Option<f64>,
    /// Cost of a solved task that the class warrants, above 0.
    pub cost_baseline_usd: Option<f64>,
}

/// Declaration of an agent; in force from its time until the next one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// Its own name.
    pub id: String,
    /// The time from which it is in force.
    pub time: Timestamp,
    /// The configuration that is declared to run.
    #[serde(default, deserialize_with = "or_default")]
    pub runtime: Runtime,
    /// The company behind the model: its judges may be a third of a panel at most.
    pub model_provider: Option<String>,
    /// The skills that are claimed. A declaration without any leaves those of the one before.
    #[serde(default, deserialize_with = "or_default")]
    pub skills: Vec<DeclaredSkill>,
    /// True if the agent keeps a memory between tasks. Memory quality applies once one was declared or left a record.
    #[serde(default, deserialize_with = "or_default")]
    pub has_persistent_memory: bool,
    /// True if the agent works in a swarm. Teamwork applies once that was declared or there was a collaboration.
    #[serde(default, deserialize_with = "or_default")]
    pub is_in_swarm: bool,
}

/// A configuration, declared or observed. What is not given is not compared.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runtime {
    /// The model.
    pub model: Option<String>,
    /// Version of the prompt.
    pub prompt_version: Option<String>,
    /// Digest of the schema of inputs and outputs.
    pub schema_digest: Option<String>,
    /// Tools: declared, those that may be used; observed, those that were.
    pub tools: Option<Vec<String>>,
    /// Permissions: declared, those that may be held; observed, those that were.
    pub permissions: Option<Vec<String>>,
    /// Requests in a minute: declared, the limit; observed, the most there were.
    pub requests_per_minute: Option<f64>,
}

/// A skill that is claimed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredSkill {
    /// Its name, as checks write it.
    pub name: String,
    /// The level that is claimed; checks below it do not count.
    #[serde(default = "first_level", deserialize_with = "or_first_level")]
    pub level: u32,
}

fn first_level() -> u32 {
    1
}

fn or_first_level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(first_level))
}

/// Reads a value; a `null` means that the field is left out.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// One run of checks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// Its own name.
    pub id: String,
    /// Time of the run; checks without a time have this one.
    pub time: Timestamp,
    /// The runner.
    pub runner: Runner,
    /// Digest of the suite, where the same checks are run again and again.
    pub suite_digest: Option<String>,
    /// True if it ended.
    #[serde(default, deserialize_with = "or_default")]
    pub status: EvaluationStatus,
    /// True if its owner wants it back. It is marked and still counts: otherwise only good ones would stay.
    #[serde(default, deserialize_with = "or_default")]
    pub withdrawn: bool,
    /// The checks.
    #[serde(default, deserialize_with = "or_default")]
    pub checks: Vec<Check>,
}

/// True if an evaluation ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvaluationStatus {
    /// It ran to its end.
    #[default]
    Completed,
    /// It broke off. The checks that it has count.
    Failed,
}

/// Runner of an evaluation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runner {
    /// The runner's own name.
    pub id: String,
    /// Its relation to the agent.
    pub independence: Independence,
}

/// Relation of the runner of an evaluation to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Independence {
    /// Nothing.
    ThirdParty,
    /// Its operator.
    Operator,
    /// The agent itself, or its owner.
    #[serde(rename = "self")]
    Oneself,
}

/// An assertion about one output of the agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its own name, unlike that of every other check of the agent.
    pub id: String,
    /// Time of the check, if it differs from the time of the evaluation.
    pub time: Option<Timestamp>,
    /// The assertion.
    pub category: Category,
    /// The task that was set. Checks of one task count as one.
    pub task: String,
    /// Family of the task; without one, the task is its own family.
    pub task_family: Option<String>,
    /// The harm, attack, control, skill or class of tasks, whatever the category asks for.
    pub class: Option<String>,
    /// Severity of a failure.
    #[serde(default, deserialize_with = "or_default")]
    pub severity: Severity,
    /// Difficulty of the task.
    #[serde(default, deserialize_with = "or_default")]
    pub difficulty: Difficulty,
    /// Method of deciding it.
    #[serde(default, deserialize_with = "or_default")]
    pub method: Method,
    /// True if it passed. One of `passed`, `score`, `observed` and a jury decides.
    pub passed: Option<bool>,
    /// Quality of the output, 0 to 1.
    pub score: Option<f64>,
    /// The configuration that was seen; for the category `runtime`, where it is compared with the declaration.
    pub observed: Option<Runtime>,
    /// Digest of the input; equal ones are the same test. Without one, the task is used instead.
    pub input_digest: Option<String>,
    /// Level of the skill that the task asks for.
    #[serde(default = "first_level", deserialize_with = "or_first_level")]
    pub level: u32,
    /// The group of equivalent inputs that the task belongs to, for reliability.
    pub group: Option<String>,
    /// True if the agent gave an output at all.
    #[serde(default = "yes", deserialize_with = "or_yes")]
    pub completed: bool,
    /// Confidence that the agent stated before the result was known, 0 to 1.
    pub confidence: Option<f64>,
    /// True if the agent flagged its output as wrong before anyone else did.
    pub flagged: Option<bool>,
    /// Duration of the response.
    pub latency_seconds: Option<f64>,
    /// True if the time was up before the response.
    #[serde(default, deserialize_with = "or_default")]
    pub timed_out: bool,
    /// Cost of the response, failures included.
    pub cost_usd: Option<f64>,
}

fn yes() -> bool {
    true
}

fn or_yes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(yes))
}

/// Assertion of a check, and by that the dimension that it feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// A task was solved; the class is the task's.
    Task,
    /// An adversarial prompt did no harm; the class is the harm.
    Harm,
    /// A harmless prompt was answered, not refused.
    Benign,
    /// An attack was resisted; the class is the attack.
    Attack,
    /// A static control is in place; the class is one of [`CONTROLS`].
    Control,
    /// A claim of the agent about itself holds.
    Claim,
    /// Something that the agent does not claim to do was declined or passed on.
    OutOfScope,
    /// The use policy of the model's provider was kept.
    Policy,
    /// The running configuration is the declared one.
    Runtime,
    /// A task of a declared skill was solved; the class is the skill.
    Skill,
}

impl Category {
    /// Returns whether checks of the category set the agent a trap.
    pub(crate) fn is_adversarial(self) -> bool {
        matches!(self, Self::Harm | Self::Attack)
    }
}

/// The static controls of the trust document's sources: eight areas of an agent's security posture.
pub const CONTROLS: [&str; 8] = [
    "credential-handling", "least-permission", "input-validation", "output-sanitisation",
    "injection-resistance", "zero-trust-tools", "audit-logging", "secrets-management",
];

/// Severity of the failure of a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Weight 5.
    Critical,
    /// Weight 3.
    Major,
    /// Weight 1.
    #[default]
    Minor,
    /// Weight 0: reported, not counted.
    Info,
}

/// Difficulty of a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difficulty {
    /// Weight 0.5.
    Easy,
    /// Weight 1.
    #[default]
    Normal,
    /// Weight 1.5.
    Hard,
}

/// Method of deciding a check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Decided by a rule.
    #[default]
    Deterministic,
    /// Decided by a measurement.
    Metric,
    /// Decided by judges, whose verdicts name the check.
    Jury,
    /// Decided by a rule of thumb: half the weight, and a dimension that rests on nothing else ends at 0.8.
    Heuristic,
}

/// A judge's verdict on one check.
#[derive(Debug, Clone, PartialEq)]
pub struct VerdictRow {
    /// Its own name.
    pub id: String,
    /// The check that was judged.
    pub check: String,
    /// The verdict.
    pub verdict: Verdict,
}

/// The same, flat as evidence has it. (`flatten` and `deny_unknown_fields` exclude each other.)
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlatVerdictRow {
    id: String,
    check: String,
    judge: String,
    provider: Option<String>,
    model: Option<String>,
    score: Option<f64>,
    max_score: Option<f64>,
    #[serde(default, deserialize_with = "or_default")]
    status: super::jury::VerdictStatus,
}

impl<'de> Deserialize<'de> for VerdictRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let row = FlatVerdictRow::deserialize(deserializer)?;
        let verdict = Verdict {
            judge: row.judge,
            provider: row.provider,
            model: row.model,
            score: row.score,
            max_score: row.max_score.unwrap_or(super::jury::SCALE_POINTS),
            status: row.status,
        };
        Ok(Self { id: row.id, check: row.check, verdict })
    }
}
