//! Efficiency: tokens and calls of a trajectory against what the challenge allows.

use std::collections::BTreeMap;

use serde::Serialize;

use super::constraints::{Constraints, Usage};

/// Efficiency of a trajectory without a single model call, or whose model calls took no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WithoutModelCall {
    /// No points: one tool call in the log, or a model call without tokens, must not earn what a thrifty agent earns.
    #[default]
    Nothing,
    /// Everything, since nothing was used. The deployed arena does so.
    Everything,
}

/// Both efficiency dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Efficiency {
    /// `token_efficiency`.
    pub token_efficiency: EfficiencyGrade,
    /// `call_efficiency`.
    pub call_efficiency: EfficiencyGrade,
}

/// One efficiency dimension.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EfficiencyGrade {
    /// The share of the limit that was left, 0 to 1.
    pub value: f64,
    /// Origin of the value.
    pub basis: EfficiencyBasis,
}

/// Origin of an efficiency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EfficiencyBasis {
    /// Use of a limit; of model and tool calls, the limit with less left.
    Measured {
        /// The limit: `tokenBudget`, `maxLlmCalls` or `maxToolCalls`.
        constraint: &'static str,
        /// The usage.
        used: u64,
        /// The allowance.
        limit: u64,
    },
    /// The match is not verified, or has no trajectory: 0.
    Unverified,
    /// The challenge sets no such limit: 0.
    NoLimit,
    /// The trajectory has no model call: see [`WithoutModelCall`].
    NoModelCall,
    /// Its model calls took no token: see [`WithoutModelCall`].
    NoTokens,
}

impl Efficiency {
    /// Points of both dimensions, 0 to 1000, not rounded.
    pub fn scores(self) -> BTreeMap<&'static str, f64> {
        BTreeMap::from([
            ("token_efficiency", 1000.0 * self.token_efficiency.value),
            ("call_efficiency", 1000.0 * self.call_efficiency.value),
        ])
    }
}

/// Returns `max(0, 1 - used / limit)` for tokens (input and output) and for calls: of model calls and tool calls, where
/// both are limited, the smaller (Scoring, "Efficiency Dimensions": "only scored when the match includes trajectory
/// data and the challenge defines constraints. Unverified matches score 0").
pub fn efficiency(
    constraints: &Constraints,
    verified: bool,
    usage: Option<&Usage>,
    without_model_call: WithoutModelCall,
) -> Efficiency {
    let Some(usage) = usage.filter(|_| verified) else {
        let unverified = EfficiencyGrade { value: 0.0, basis: EfficiencyBasis::Unverified };
        return Efficiency { token_efficiency: unverified, call_efficiency: unverified };
    };
    let is_worthless = usage.llm_calls == 0 && without_model_call == WithoutModelCall::Nothing;
    let is_tokenless = usage.total_tokens() == 0 && without_model_call == WithoutModelCall::Nothing;
    let left = |constraint, used: Option<u64>, limit: Option<u64>| {
        let (used, limit) = used.zip(limit)?;
        let basis = EfficiencyBasis::Measured { constraint, used, limit };
        // A limit of 0, which `Constraints::read` refuses, leaves nothing.
        let value = if used >= limit { 0.0 } else { (limit - used) as f64 / limit as f64 };
        Some(EfficiencyGrade { value, basis })
    };
    let grade = |measured: Option<EfficiencyGrade>| match measured {
        None => EfficiencyGrade { value: 0.0, basis: EfficiencyBasis::NoLimit },
        Some(_) if is_worthless => EfficiencyGrade { value: 0.0, basis: EfficiencyBasis::NoModelCall },
        Some(measured) => measured,
    };
    let tokens = left("tokenBudget", Some(usage.total_tokens()), constraints.token_budget);
    let llm_calls = left("maxLlmCalls", Some(usage.llm_calls), constraints.max_llm_calls);
    let tool_calls = left("maxToolCalls", usage.tool_calls, constraints.max_tool_calls);
    let calls = match (llm_calls, tool_calls) {
        (Some(llm), Some(tool)) if tool.value < llm.value => Some(tool),
        (llm, tool) => llm.or(tool),
    };
    let mut token_efficiency = grade(tokens);
    if is_tokenless && matches!(token_efficiency.basis, EfficiencyBasis::Measured { .. }) {
        token_efficiency = EfficiencyGrade { value: 0.0, basis: EfficiencyBasis::NoTokens };
    }
    Efficiency { token_efficiency, call_efficiency: grade(calls) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::payload::{Action, Step};
    use proptest::prelude::*;

    fn limits(tokens: Option<u64>, llm: Option<u64>, tool: Option<u64>) -> Constraints {
        Constraints {
            token_budget: tokens,
            max_llm_calls: llm,
            max_tool_calls: tool,
            ..Constraints::default()
        }
    }

    fn used(tokens: u64, llm_calls: u64, tool_calls: Option<u64>) -> Usage {
        Usage { input_tokens: tokens, llm_calls, tool_calls, ..Usage::default() }
    }

    #[test]
    fn unverified_is_nothing() {
        let constraints = limits(Some(10), Some(10), None);
        let usage = used(1, 1, None);
        for (verified, usage) in [(false, Some(&usage)), (true, None), (false, None)] {
            let grade = efficiency(&constraints, verified, usage, WithoutModelCall::Everything);
            assert_eq!(grade.token_efficiency.value + grade.call_efficiency.value, 0.0);
            assert_eq!(grade.call_efficiency.basis, EfficiencyBasis::Unverified);
        }
    }

    #[test]
    fn a_single_tool_call_earns_no_efficiency() {
        let step = Step { at: "", action: Action::ToolCall { tool: "bash", input: "ls", output: None } };
        let constraints = limits(Some(1000), Some(10), Some(10));
        let grade = efficiency(&constraints, true, Some(&Usage::of(&[step])), WithoutModelCall::default());
        for grade in [grade.token_efficiency, grade.call_efficiency] {
            assert_eq!(grade, EfficiencyGrade { value: 0.0, basis: EfficiencyBasis::NoModelCall });
        }
    }

    #[test]
    fn a_model_call_without_tokens_earns_no_efficiency_of_tokens() {
        let constraints = limits(Some(1000), Some(10), None);
        let grade = |policy| efficiency(&constraints, true, Some(&used(0, 1, None)), policy);
        let nothing = grade(WithoutModelCall::Nothing);
        assert_eq!(
            nothing.token_efficiency,
            EfficiencyGrade { value: 0.0, basis: EfficiencyBasis::NoTokens }
        );
        assert_eq!(nothing.call_efficiency.value, 0.9);
        assert_eq!(grade(WithoutModelCall::Everything).token_efficiency.value, 1.0);
    }

    #[test]
    fn the_tighter_limit_counts() {
        let calls = |llm, tool, usage: Usage| {
            efficiency(&limits(None, llm, tool), true, Some(&usage), WithoutModelCall::Nothing)
                .call_efficiency
        };
        assert_eq!(calls(Some(20), Some(10), used(0, 5, Some(9))).value, 0.1);
        assert_eq!(calls(Some(20), Some(10), used(0, 5, Some(1))).value, 0.75);
        assert_eq!(calls(None, Some(10), used(0, 5, Some(1))).value, 0.9);
        assert_eq!(calls(Some(20), Some(10), used(0, 5, None)).value, 0.75);
        assert_eq!(calls(None, None, used(0, 5, Some(1))).basis, EfficiencyBasis::NoLimit);
        assert_eq!(calls(Some(20), None, used(0, 50, None)).value, 0.0);
    }

    proptest! {
        #[test]
        fn using_less_never_scores_less(a in 0u64..5000, b in 0u64..5000, budget in 1u64..5000) {
            let value = |tokens| {
                // Without any token there was no model at work.
                let usage = used(tokens + 1, 1, None);
                let constraints = limits(Some(budget), None, None);
                efficiency(&constraints, true, Some(&usage), WithoutModelCall::Nothing).token_efficiency.value
            };
            prop_assert!(value(a.min(b)) >= value(a.max(b)));
        }
    }
}
