//! The order of a log: what was tried against the edges and references of the plan.

use super::account::{StepState, account};
use super::attempts::{Attempt, Log, LogTime, Outcome};
use super::plan::Plan;
use karat_evidence::json::check::digits;
use karat_evidence::json::problem::quoted;

/// A step that was tried where the plan says that it cannot have been, or hardly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Disorder {
    /// Place of its first record among the attempts of the log.
    pub at: usize,
    pub found: String,
    /// The expectation and the hint. `None` if it is possible: the documents let an edge alone block nothing.
    pub expected: Option<(&'static str, &'static str)>,
}

/// A timer may show the end of a step so much after the start of the next one.
const CLOCK_SECONDS: f64 = 0.001;

/// Returns where a log does not respect its plan, step by step: tiers run one after the other, a step whose reference has no
/// value is never tried, and nothing is tried behind a step that the budget stopped.
pub(super) fn disorders(plan: &Plan, log: &Log) -> Vec<Disorder> {
    let states: Vec<_> = account(plan, log, None).steps.iter().map(|step| step.state).collect();
    let of_steps = by_step(plan, log);
    let mut found = Vec::new();
    // The latest moment of a step or of one that leads to it, and the step that it is of.
    let mut ends: Vec<Option<(LogTime, usize)>> = vec![None; plan.steps().len()];
    let mut edges: Vec<_> = plan.edges().iter().map(|&(from, to)| (to, from)).collect();
    edges.sort_unstable();
    for at in plan.order() {
        let Some(tried) = of_steps.get(at) else { continue };
        let first = edges.partition_point(|&(to, _)| to < at);
        let before = edges.iter().skip(first).take_while(|&&(to, _)| to == at).map(|&(_, from)| from);
        let leads = before.clone().filter_map(|from| ends.get(from).copied().flatten()).max();
        let own = tried.attempts.iter().filter(|attempt| attempt.outcome.is_attempt());
        let moments = own.clone().flat_map(|attempt| [attempt.start, attempt.end]).flatten();
        if let Some(end) = ends.get_mut(at) {
            *end = leads.max(moments.clone().max().map(|moment| (moment, at)));
        }
        let mut add = |text: String, expected| {
            found.push(Disorder { at: tried.first, found: text, expected });
        };
        let id = |at: usize| quoted(plan.steps().get(at).map_or("", |step| &step.id));
        let refers = plan.steps().get(at).map_or(&[][..], |step| &step.references);
        let is_unresolved =
            tried.attempts.iter().any(|attempt| attempt.outcome == Outcome::UnresolvedReference);
        if is_unresolved && refers.is_empty() {
            let expected = ("a step whose `params` refer to the output of another", "correct its outcome");
            add(format!("an unresolved reference of {}, which refers to nothing", id(at)), Some(expected));
        }
        if own.clone().next().is_none() {
            continue;
        }
        if let (Some(began), Some((ended, other))) = (moments.min(), leads) {
            let early = ended.seconds_since(began);
            if early > CLOCK_SECONDS {
                let text =
                    format!("the start of {} {} s before the end of {}", id(at), digits(early), id(other));
                let hint = "correct the moments, or the edges of the plan";
                add(text, Some(("a start after the end of every step that leads here", hint)));
            }
        }
        let mut values: Vec<_> = refers.iter().map(|reference| reference.step.as_str()).collect();
        values.sort_unstable();
        values.dedup();
        let mut without_value = Vec::new();
        for name in values {
            let has_value = plan.find(name).is_some_and(|other| {
                other != at && states.get(other).is_some_and(|&state| state == StepState::Completed)
            });
            if !has_value {
                let text =
                    format!("an attempt at {}, which refers to {}: that has no output", id(at), quoted(name));
                let hint = "say `unresolved_reference`, or give what came of the other step";
                add(text, Some(("attempts only where every reference has a value", hint)));
                without_value.extend(plan.find(name));
            }
        }
        for other in before.filter(|other| !without_value.contains(other)) {
            let (by, other_id) = (id(at), id(other));
            match states.get(other) {
                None | Some(StepState::Completed) => {}
                Some(StepState::NotRun) => add(
                    format!("an attempt at {by} and nothing about {other_id}, which leads to it"),
                    Some(("every step that leads to an attempt", "give the whole log, or correct the edges")),
                ),
                Some(StepState::BudgetAborted) => add(
                    format!("an attempt at {by} behind {other_id}, which the budget stopped"),
                    Some((
                        "no attempt behind a step that the budget stopped",
                        "correct the outcome that is wrong",
                    )),
                ),
                Some(_) => {
                    add(format!("{by} was tried though {other_id} had failed, which leads to it"), None)
                }
            }
        }
    }
    found
}

struct OfStep<'a> {
    first: usize,
    attempts: &'a [Attempt],
}

fn by_step<'a>(plan: &Plan, log: &'a Log) -> Vec<OfStep<'a>> {
    let (mut first, mut rest) = (0, log.attempts());
    (0..plan.steps().len())
        .map(|at| {
            let (attempts, others) = rest.split_at(rest.partition_point(|attempt| attempt.step <= at));
            let of_step = OfStep { first, attempts };
            (first, rest) = (first + attempts.len(), others);
            of_step
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::PlanRules;
    use insta::assert_snapshot;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn plan(text: &Value) -> Plan {
        let rules = PlanRules::of_evidence(true);
        Plan::from_json(text.to_string().as_bytes(), &rules).unwrap().0
    }

    /// Reads a log of the outcomes of steps, in order; the notes or the problems.
    fn read(plan: &Plan, outcomes: &[(&str, &str)]) -> String {
        let records = outcomes.iter().map(|(step, outcome)| json!({"step": step, "outcome": outcome}));
        let text = Value::from_iter(records).to_string();
        match Log::from_json(text.as_bytes(), plan) {
            Ok((_, notes)) => notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            Err(problems) => problems.to_string(),
        }
    }

    /// `a` and `b` lead to `c`, which reads `a`; `c` leads to `d`.
    fn fork() -> Plan {
        plan(&json!({
            "nodes": [{"id": "a"}, {"id": "b"}, {"id": "c", "params": "${a.output.text}"}, {"id": "d"}],
            "edges": [{"from": "a", "to": "c"}, {"from": "b", "to": "c"}, {"from": "c", "to": "d"}],
        }))
    }

    /// The documents' own example: `b` fails, `c` uses only `a`, and runs.
    #[test]
    fn an_edge_alone_blocks_nothing_and_is_told() {
        let log = [("a", "success"), ("b", "failed"), ("c", "success"), ("d", "success")];
        assert_snapshot!(read(&fork(), &log), @"$[2]: `c` was tried though `b` had failed, which leads to it");
        assert_snapshot!(read(&fork(), &[("a", "success"), ("b", "success"), ("c", "failed")]), @"");
    }

    #[test]
    fn what_the_plan_forbids_is_refused() {
        let fork = fork();
        let log = [("a", "failed"), ("b", "success"), ("c", "success"), ("d", "success")];
        assert_snapshot!(read(&fork, &log), @"$[2]: found an attempt at `c`, which refers to `a`: that has no output, expected attempts only where every reference has a value; say `unresolved_reference`, or give what came of the other step (line 1, column 67)");
        assert_snapshot!(read(&fork, &[("a", "success"), ("c", "success")]), @"$[1]: found an attempt at `c` and nothing about `b`, which leads to it, expected every step that leads to an attempt; give the whole log, or correct the edges (line 1, column 35)");
        assert_snapshot!(read(&fork, &[("a", "success"), ("b", "budget_abort"), ("c", "success")]), @"$[2]: found an attempt at `c` behind `b`, which the budget stopped, expected no attempt behind a step that the budget stopped; correct the outcome that is wrong (line 1, column 73)");
        assert_snapshot!(read(&fork, &[("a", "unresolved_reference")]), @"$[0]: found an unresolved reference of `a`, which refers to nothing, expected a step whose `params` refer to the output of another; correct its outcome (line 1, column 2)");
        let odd = plan(&json!({"nodes": [{"id": "a", "params": "${a.output.x} ${z.output.x}"}]}));
        assert_snapshot!(read(&odd, &[("a", "failed")]), @r"
        $[0]: found an attempt at `a`, which refers to `a`: that has no output, expected attempts only where every reference has a value; say `unresolved_reference`, or give what came of the other step (line 1, column 2)
        $[0]: found an attempt at `a`, which refers to `z`: that has no output, expected attempts only where every reference has a value; say `unresolved_reference`, or give what came of the other step (line 1, column 2)
        ");
        assert_snapshot!(read(&odd, &[("a", "unresolved_reference")]), @"");
    }

    proptest! {
        #[test]
        fn a_step_starts_after_all_that_lead_to_it(
            nodes in 1usize..7,
            edges in prop::collection::vec((0usize..7, 0usize..7), 0..9),
            moments in prop::collection::vec(prop::option::weighted(0.8, (0u32..20, 0u32..6)), 7),
        ) {
            let edges: Vec<_> =
                edges.into_iter().map(|(from, to)| (from % nodes, to % nodes)).filter(|(from, to)| from < to).collect();
            let mut leads = vec![vec![false; nodes]; nodes];
            for &(from, to) in &edges {
                leads[from][to] = true;
            }
            for middle in 0..nodes {
                for from in 0..middle {
                    for to in middle + 1..nodes {
                        leads[from][to] |= leads[from][middle] && leads[middle][to];
                    }
                }
            }
            let id = |node: usize| format!("n{node}");
            let plan = plan(&json!({
                "nodes": (0..nodes).map(|node| json!({"id": id(node)})).collect::<Vec<_>>(),
                "edges": edges.iter().map(|&(from, to)| json!({"from": id(from), "to": id(to)})).collect::<Vec<_>>(),
            }));
            let at = |second: u32| format!("2026-01-01T00:00:{second:02}Z");
            let record = |node: usize| {
                let mut record = json!({"step": id(node), "outcome": "success"});
                if let Some((start, seconds)) = moments[node] {
                    record["start"] = at(start).into();
                    record["end"] = at(start + seconds).into();
                }
                record
            };
            let log = Value::from_iter((0..nodes).map(record)).to_string();
            let is_ordered = (0..nodes).all(|to| (0..nodes).filter(|&from| leads[from][to]).all(|from| {
                let known = moments[from].zip(moments[to]);
                known.is_none_or(|((start, seconds), (next, _))| next >= start + seconds)
            }));
            prop_assert_eq!(Log::from_json(log.as_bytes(), &plan).is_ok(), is_ordered, "{}", log);
        }
    }
}
