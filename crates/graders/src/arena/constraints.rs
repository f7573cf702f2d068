//! Limits of a challenge, the usage of a trajectory, and the violations.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::members::Members;
use super::payload::{Action, Step};
use karat_evidence::json::problem::{Problems, quoted};

/// The advisory limits of a challenge; none is set by default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Constraints {
    /// Most input and output tokens, above 0.
    pub token_budget: Option<u64>,
    /// Most tool calls, above 0.
    pub max_tool_calls: Option<u64>,
    /// Most model calls, above 0.
    pub max_llm_calls: Option<u64>,
    /// The only tools allowed.
    pub allowed_tools: Option<Vec<String>>,
    /// The only models allowed.
    pub allowed_models: Option<Vec<String>>,
    /// True if the network may be used.
    pub network_access: Option<bool>,
    /// Most cost in US dollars, above 0.
    pub max_cost_usd: Option<f64>,
}

impl Constraints {
    /// Reads `{"tokenBudget", "maxToolCalls", "maxLlmCalls", "allowedTools", "allowedModels", "networkAccess",
    /// "maxCostUsd"}`, all optional, each also in the spelling `token_budget`.
    ///
    /// # Errors
    ///
    /// If a limit is not above 0 or of another type, unknown, or in both spellings.
    pub fn read(value: &Value) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let constraints = Self::read_at(value, "$.constraints", &mut problems);
        if problems.is_empty() { Ok(constraints.unwrap_or_default()) } else { Err(problems) }
    }

    pub(super) fn read_at(value: &Value, path: &str, problems: &mut Problems) -> Option<Self> {
        const NAMES: [(&str, &str); 7] = [
            ("tokenBudget", "token_budget"),
            ("maxToolCalls", "max_tool_calls"),
            ("maxLlmCalls", "max_llm_calls"),
            ("allowedTools", "allowed_tools"),
            ("allowedModels", "allowed_models"),
            ("networkAccess", "network_access"),
            ("maxCostUsd", "max_cost_usd"),
        ];
        let members = Members::of(value, path, problems)?.with_nulls();
        let known: Vec<&str> = NAMES.iter().flat_map(|&(camel, snake)| [camel, snake]).collect();
        members.refuse_unknown(&known, problems);
        let [tokens, tools, calls, allowed_tools, allowed_models, network, cost] =
            NAMES.map(|(camel, snake)| match (members.get(camel), members.get(snake)) {
                (Some(_), Some(again)) => {
                    again.refuse("each limit once", &format!("leave out `{camel}` or `{snake}`"), problems);
                    None
                }
                (camel, snake) => camel.or(snake),
            });
        let [token_budget, max_tool_calls, max_llm_calls] =
            [tokens, tools, calls].map(|limit| limit.and_then(|limit| limit.count(1.0, problems)));
        let [allowed_tools, allowed_models] = [allowed_tools, allowed_models]
            .map(|allowed| allowed.and_then(|allowed| allowed.texts(problems)));
        Some(Self {
            token_budget,
            max_tool_calls,
            max_llm_calls,
            allowed_tools,
            allowed_models,
            network_access: network.and_then(|network| network.flag(problems)),
            max_cost_usd: cost
                .and_then(|cost| cost.number(f64::MIN_POSITIVE, f64::MAX, "a number above 0", problems)),
        })
    }
}

/// Usage of a trajectory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Input tokens of the models.
    pub input_tokens: u64,
    /// Output tokens of the models.
    pub output_tokens: u64,
    /// Model calls.
    pub llm_calls: u64,
    /// Tool calls; none if they were not counted.
    pub tool_calls: Option<u64>,
    /// Calls by name of the tool.
    pub tools: BTreeMap<String, u64>,
    /// Calls by name of the model.
    pub models: BTreeMap<String, u64>,
}

impl Usage {
    /// Counts the steps of a log. The agent's statements about its tokens outside the log do not count.
    pub fn of(steps: &[Step<'_>]) -> Self {
        let mut usage = Self { tool_calls: Some(0), ..Self::default() };
        for step in steps {
            match step.action {
                Action::ToolCall { tool, .. } => {
                    usage.tool_calls = usage.tool_calls.map(|calls| calls + 1);
                    *usage.tools.entry(tool.to_owned()).or_default() += 1;
                }
                Action::LlmCall { model, input_tokens, output_tokens } => {
                    usage.input_tokens = usage.input_tokens.saturating_add(input_tokens);
                    usage.output_tokens = usage.output_tokens.saturating_add(output_tokens);
                    usage.llm_calls += 1;
                    *usage.models.entry(model.to_owned()).or_default() += 1;
                }
            }
        }
        usage
    }

    /// Returns input and output tokens.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// Limits that [`constraint_violations`] looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Model and tool calls: what the deployed arena reports.
    Calls,
    /// Everything that a trajectory shows: calls, tokens, names of tools and models. Network and cost it does not show.
    #[default]
    Trajectory,
}

/// A limit that was not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The limit, as challenges spell it.
    pub constraint: &'static str,
    /// The usage and the limit, in words.
    pub message: String,
}

/// Returns the limits that a trajectory did not keep. None if the match is not verified: a log that is not valid shows
/// nothing. They are advice and change no score.
pub fn constraint_violations(
    constraints: &Constraints,
    verified: bool,
    usage: &Usage,
    scope: Scope,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    if !verified {
        return violations;
    }
    let mut limit = |constraint: &'static str, used: Option<u64>, most: Option<u64>, what: &str| {
        if let (Some(used), Some(most)) = (used, most)
            && used > most
        {
            violations.push(Violation {
                constraint,
                message: format!("{constraint}: {used} {what}, allowed are {most}"),
            });
        }
    };
    if scope == Scope::Trajectory {
        limit("tokenBudget", Some(usage.total_tokens()), constraints.token_budget, "tokens");
    }
    limit("maxLlmCalls", Some(usage.llm_calls), constraints.max_llm_calls, "model calls");
    limit("maxToolCalls", usage.tool_calls, constraints.max_tool_calls, "tool calls");
    if scope == Scope::Trajectory {
        let names = [
            ("allowedTools", &usage.tools, &constraints.allowed_tools),
            ("allowedModels", &usage.models, &constraints.allowed_models),
        ];
        for (constraint, used, allowed) in names {
            let Some(allowed) = allowed else { continue };
            let others: Vec<String> =
                used.keys().filter(|name| !allowed.contains(name)).map(|name| quoted(name)).collect();
            if !others.is_empty() {
                let message = format!("{constraint}: {} not allowed", others.join(", "));
                violations.push(Violation { constraint, message });
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn steps() -> Vec<Step<'static>> {
        let model = |model| Action::LlmCall { model, input_tokens: 40, output_tokens: 60 };
        let tool = |tool| Action::ToolCall { tool, input: "", output: None };
        [model("m-1"), model("m-2"), tool("bash"), tool("bash"), tool("web")]
            .map(|action| Step { at: "", action })
            .to_vec()
    }

    #[test]
    fn a_log_is_counted() {
        let usage = Usage::of(&steps());
        assert_eq!((usage.total_tokens(), usage.llm_calls, usage.tool_calls), (200, 2, Some(3)));
        assert_eq!(usage.tools, BTreeMap::from([("bash".to_owned(), 2), ("web".to_owned(), 1)]));
    }

    #[test]
    fn constraints_are_read_in_both_spellings() {
        let read = |value: Value| Constraints::read(&value);
        let camel =
            read(json!({"tokenBudget": 10, "allowedTools": ["bash"], "networkAccess": null})).unwrap();
        assert_eq!(camel, read(json!({"token_budget": 10, "allowed_tools": ["bash"]})).unwrap());
        let problems = read(json!({
            "tokenBudget": 0, "max_llm_calls": 1.5, "maxToolCalls": 1, "max_tool_calls": 1,
            "allowedModels": ["a", 1], "maxCostUsd": 0, "maxLlmCall": 3,
        }))
        .unwrap_err();
        assert_eq!(problems.len(), 6, "{problems}");
        assert!(problems.to_string().contains("did you mean `maxLlmCalls`?"));
    }

    #[test]
    fn what_goes_beyond_a_limit_is_named() {
        let limits = json!({"tokenBudget": 100, "maxLlmCalls": 1, "maxToolCalls": 3,
            "allowedTools": ["bash"], "allowedModels": ["m-1", "m-2"]});
        let constraints = Constraints::read(&limits).unwrap();
        let usage = Usage::of(&steps());
        let names = |verified, scope| -> Vec<&str> {
            let violations = constraint_violations(&constraints, verified, &usage, scope);
            violations.iter().map(|violation| violation.constraint).collect()
        };
        assert_eq!(names(true, Scope::Trajectory), ["tokenBudget", "maxLlmCalls", "allowedTools"]);
        assert_eq!(names(true, Scope::Calls), ["maxLlmCalls"]);
        assert_eq!(names(false, Scope::Trajectory), [""; 0]);
        let violations = constraint_violations(&constraints, true, &usage, Scope::Trajectory);
        assert_eq!(violations[1].message, "maxLlmCalls: 2 model calls, allowed are 1");
        assert_eq!(violations[2].message, "allowedTools: `web` not allowed");
    }
}
