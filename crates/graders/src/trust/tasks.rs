//! Dimensions that rest on tasks: accuracy, reliability, selfAudit, latency, costEfficiency, harnessStability, evalRigor.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::facts::Fact;
use serde_json::{Value, json};

use super::estimators::{
    Forecast, brier_score, budget_score, entropy, expected_calibration_error, mean, pass_hat_k, percentile,
    pooled_deviation,
};
use super::evidence::{Category, Evaluation, EvaluationStatus, Independence, Method};
use super::grade::{Graded, Measured};
use super::items::{Agent, Item};
use super::options::minimum;
use super::select::{Need, estimate, not_yet, select};

/// Late answers count as this many budgets: they are cut there, never left out.
const LATE_BUDGETS: f64 = 4.0;
/// Bins of the calibration error.
const BINS: usize = 10;
/// The power of pass^k.
const TRIALS_IN_A_ROW: u64 = 3;

/// Returns whether nothing but rules of thumb decided.
pub(super) fn is_heuristic<'a>(items: impl IntoIterator<Item = &'a Item<'a>>) -> Fact<'static> {
    Fact::Flag(items.into_iter().all(|item| item.check.method == Method::Heuristic))
}

/// Returns the weighted mean of the scores of tasks.
pub(super) fn accuracy(agent: &Agent<'_>) -> Graded {
    let items = agent.counting(Category::Task);
    let need = Need::of(minimum::ACCURACY_TASKS, "tasks");
    let used = select(agent, &items, |item| item.time, |item| &item.check.task, need)?;
    let used_items = || used.items.iter().map(|item| **item);
    let score = |item: &Item<'_>| item.score.unwrap_or_default();
    let estimate = estimate(used_items(), score, agent.options.family_share)
        .ok_or_else(|| not_yet(0, need.units, need.name))?;
    Ok(Measured {
        age_seconds: agent.age_seconds(used.anchor),
        facts: vec![
            ("accuracy_task_mean", Fact::Number(estimate.mean)),
            ("accuracy_heuristic_only", is_heuristic(used_items())),
        ],
        seen: json!({
            "checks": used.items.len(),
            "is_beyond_window": used.is_beyond_window,
            "estimate": estimate,
        }),
    })
}

/// Grades how much of what an agent solves once it solves three times in a row, over groups of equivalent inputs.
pub(super) fn reliability(agent: &Agent<'_>) -> Graded {
    let mut items = agent.counting(Category::Task);
    items.retain(|item| item.check.group.is_some());
    let trials = minimum::TRIALS_PER_GROUP.max(TRIALS_IN_A_ROW as usize);
    let name = "groups with enough trials";
    let need = Need { units: minimum::RELIABILITY_GROUPS, items_per_unit: trials, name };
    let used = select(agent, &items, |item| item.time, |item| &item.check.group, need)?;
    let mut groups: BTreeMap<&str, Vec<&Item<'_>>> = BTreeMap::new();
    for item in &used.items {
        groups.entry(item.check.group.as_deref().unwrap_or_default()).or_default().push(item);
    }
    groups.retain(|_, trials| trials.len() >= need.items_per_unit);
    let passed =
        |trials: &[&Item<'_>]| trials.iter().filter(|item| item.success == Some(true)).count() as u64;
    let pass = |k: u64| {
        let chances = groups.values().map(|trials| pass_hat_k(passed(trials), trials.len() as u64, k));
        mean(chances.flatten()).unwrap_or_default()
    };
    let trials = || groups.values().flatten();
    let completed = mean(trials().map(|item| f64::from(u8::from(item.check.completed)))).unwrap_or_default();
    let (pass_1, pass_3) = (pass(1), pass(TRIALS_IN_A_ROW));
    let seen: serde_json::Map<String, Value> = groups
        .iter()
        .map(|(group, trials)| {
            ((*group).to_owned(), json!({ "trials": trials.len(), "passed": passed(trials) }))
        })
        .collect();
    Ok(Measured {
        age_seconds: agent.age_seconds(used.anchor),
        facts: vec![
            ("reliability_completion_share", Fact::Number(completed)),
            ("reliability_pass_1", Fact::Number(pass_1)),
            ("reliability_pass_3", Fact::Number(pass_3)),
            ("reliability_heuristic_only", is_heuristic(trials().copied())),
        ],
        seen: json!({ "is_beyond_window": used.is_beyond_window, "groups": seen }),
    })
}

/// Grades how well stated confidence fits what came true, and how many failures the agent found first. A task counts
/// once, with the means over its forecasts: one that is easy to foretell does not help by being asked again.
pub(super) fn self_audit(agent: &Agent<'_>) -> Graded {
    let mut items = agent.counting(Category::Task);
    items.retain(|item| item.check.confidence.is_some());
    let need = Need::of(minimum::FORECASTS, "forecasts of different tasks");
    let used = select(agent, &items, |item| item.time, |item| &item.check.task, need)?;
    let mut tasks: BTreeMap<&str, Vec<&Item<'_>>> = BTreeMap::new();
    for item in &used.items {
        tasks.entry(&item.check.task).or_default().push(item);
    }
    let forecast =
        |item: &&Item<'_>| Some(Forecast { confidence: item.check.confidence?, outcome: item.passed() });
    let (mut forecasts, mut errors, mut flags) = (Vec::new(), Vec::new(), Vec::new());
    for items in tasks.values() {
        let single: Vec<Forecast> = items.iter().filter_map(forecast).collect();
        let confidence = mean(single.iter().map(|it| it.confidence)).unwrap_or_default();
        let outcome = mean(single.iter().map(|it| it.outcome)).unwrap_or_default();
        forecasts.push(Forecast { confidence, outcome });
        errors.extend(brier_score(&single));
        let failures = items.iter().filter(|item| item.success != Some(true));
        flags.extend(mean(failures.filter_map(|it| it.check.flagged).map(|it| f64::from(u8::from(it)))));
    }
    let mut facts = vec![
        ("calibration_error", Fact::Number(expected_calibration_error(&forecasts, BINS).unwrap_or_default())),
        ("brier_score", Fact::Number(mean(errors).unwrap_or_default())),
        ("success_share", Fact::Number(mean(forecasts.iter().map(|it| it.outcome)).unwrap_or_default())),
        ("self_audit_heuristic_only", is_heuristic(used.items.iter().map(|item| **item))),
    ];
    let tasks_asked = flags.len();
    facts.extend(mean(flags).map(|share| ("failures_flagged_share", Fact::Number(share))));
    let failures = used.items.iter().filter(|item| item.success != Some(true));
    Ok(Measured {
        age_seconds: agent.age_seconds(used.anchor),
        facts,
        seen: json!({
            "forecasts": used.items.len(),
            "tasks": forecasts.len(),
            "bins": BINS,
            "failures": failures.count(),
            "tasks_with_failures_asked": tasks_asked,
            "is_beyond_window": used.is_beyond_window,
        }),
    })
}

/// Returns the mean over classes of tasks, by samples, of how the 95th percentile of response times stays within the
/// class's budget.
pub(super) fn latency(agent: &Agent<'_>) -> Graded {
    let budgets: BTreeMap<&str, f64> = agent
        .evidence
        .task_classes
        .iter()
        .filter_map(|class| Some((class.name.as_str(), class.latency_budget_seconds?)))
        .collect();
    let is_timed = |item: &&Item<'_>| {
        item.check.category == Category::Task
            && (item.check.latency_seconds.is_some() || item.check.timed_out)
    };
    let timed: Vec<&Item<'_>> = agent.items.iter().filter(is_timed).collect();
    let items: Vec<&Item<'_>> =
        timed.iter().copied().filter(|item| budgets.contains_key(item.class())).collect();
    let need = Need::of(minimum::LATENCY_SAMPLES, "response times with a budget");
    let used = select(agent, &items, |item| item.time, |item| &item.check.id, need)?;
    let mut classes: BTreeMap<&str, (f64, Vec<f64>)> = BTreeMap::new();
    for item in &used.items {
        let Some(&budget) = budgets.get(item.class()) else { continue };
        let late = LATE_BUDGETS * budget;
        let seconds = item.check.latency_seconds.unwrap_or(late);
        let seconds = if item.check.timed_out { late } else { seconds };
        classes.entry(item.class()).or_insert_with(|| (budget, Vec::new())).1.push(seconds);
    }
    let (mut sum, mut samples, mut seen) = (0.0, 0.0, serde_json::Map::new());
    for (class, (budget, seconds)) in &classes {
        let Some(p95) = percentile(seconds, 95) else { continue };
        let score = budget_score(p95 / budget).unwrap_or_default();
        sum += score * seconds.len() as f64;
        samples += seconds.len() as f64;
        let detail =
            json!({ "samples": seconds.len(), "p95_seconds": p95, "budget_seconds": budget, "score": score });
        seen.insert((*class).to_owned(), detail);
    }
    if samples <= 0.0 {
        return Err(not_yet(0, need.units, need.name).into());
    }
    Ok(Measured {
        age_seconds: agent.age_seconds(used.anchor),
        facts: vec![("latency_budget_score", Fact::Number((sum / samples).clamp(0.0, 1.0)))],
        seen: json!({
            "classes": seen,
            "timed_out": used.items.iter().filter(|item| item.check.timed_out).count(),
            "without_budget": timed.len() - items.len(),
            "is_beyond_window": used.is_beyond_window,
        }),
    })
}

/// Grades the cost of the tasks, failures included, against what the solved ones may cost by their classes. A task
/// counts once, with the means over its attempts.
pub(super) fn cost_efficiency(agent: &Agent<'_>) -> Graded {
    let baselines: BTreeMap<&str, f64> = agent
        .evidence
        .task_classes
        .iter()
        .filter_map(|class| Some((class.name.as_str(), class.cost_baseline_usd?)))
        .collect();
    let is_priced = |item: &&Item<'_>| {
        item.check.category == Category::Task && item.check.cost_usd.is_some() && item.success.is_some()
    };
    let priced: Vec<&Item<'_>> = agent.items.iter().filter(is_priced).collect();
    let items: Vec<&Item<'_>> =
        priced.iter().copied().filter(|item| baselines.contains_key(item.class())).collect();
    let need = Need::of(minimum::COST_TASKS, "tasks with a cost and a baseline");
    let used = select(agent, &items, |item| item.time, |item| &item.check.task, need)?;
    // Per task: what an attempt costs on average, and the baseline by the share of attempts that solved it.
    let mut tasks: BTreeMap<(&str, &str), (f64, f64, f64)> = BTreeMap::new();
    for item in &used.items {
        let (attempts, cost, solved) = tasks.entry((item.class(), &item.check.task)).or_default();
        *attempts += 1.0;
        *cost += item.check.cost_usd.unwrap_or_default();
        *solved += item.passed();
    }
    let (cost, baseline) =
        tasks.iter().fold((0.0, 0.0), |(sum, allowed), ((class, _), (attempts, cost, solved))| {
            let baseline = baselines.get(class).copied().unwrap_or_default();
            (sum + cost / attempts, allowed + baseline * (solved / attempts))
        });
    if !(cost.is_finite() && baseline.is_finite()) {
        return Err("not measured: the costs are too large to be added".to_owned().into());
    }
    Ok(Measured {
        age_seconds: agent.age_seconds(used.anchor),
        facts: vec![("cost_usd", Fact::Number(cost)), ("cost_baseline_usd", Fact::Number(baseline))],
        seen: json!({
            "checks": used.items.len(),
            "tasks": tasks.len(),
            "solved": used.items.iter().filter(|item| item.success == Some(true)).count(),
            "without_baseline": priced.len() - items.len(),
            "is_beyond_window": used.is_beyond_window,
        }),
    })
}

/// Grades how alike the runs of one suite are: how many end, and how far the scores of those scatter around their
/// suite's mean.
pub(super) fn harness_stability(agent: &Agent<'_>) -> Graded {
    let runs: Vec<&Evaluation> =
        agent.evaluations.iter().copied().filter(|run| run.suite_digest.is_some()).collect();
    let need = Need { units: 1, items_per_unit: minimum::SUITE_RUNS, name: "suites with enough runs" };
    let used = select(agent, &runs, |run| run.time, |run| &run.suite_digest, need)?;
    let mut items: BTreeMap<&str, Vec<&Item<'_>>> = BTreeMap::new();
    for item in agent.items.iter().filter(|item| item.counts()) {
        items.entry(item.evaluation.id.as_str()).or_default().push(item);
    }
    let nothing = Vec::new();
    let of = |run: &Evaluation| items.get(run.id.as_str()).unwrap_or(&nothing);
    let score = |run: &Evaluation| {
        // A run is one condition: families and repetitions are the suite's own.
        let (sum, weight) = of(run).iter().fold((0.0, 0.0), |(sum, weight), item| {
            (sum + item.weight * item.score.unwrap_or_default(), weight + item.weight)
        });
        if weight > 0.0 { Some(sum / weight) } else { None }
    };
    let mut suites: BTreeMap<&str, Vec<&Evaluation>> = BTreeMap::new();
    for run in &used.items {
        suites.entry(run.suite_digest.as_deref().unwrap_or_default()).or_default().push(run);
    }
    suites.retain(|_, runs| runs.len() >= need.items_per_unit);
    let completed = |run: &&&Evaluation| run.status == EvaluationStatus::Completed;
    let scores: BTreeMap<&str, Vec<f64>> = suites
        .iter()
        .map(|(suite, runs)| (*suite, runs.iter().filter(completed).filter_map(|run| score(run)).collect()))
        .collect();
    let all_runs = || suites.values().flatten();
    let completion = mean(all_runs().map(|run| f64::from(u8::from(completed(&run))))).unwrap_or_default();
    let deviation = pooled_deviation(scores.values().map(Vec::as_slice));
    let mut facts = vec![
        ("suite_completion_share", Fact::Number(completion)),
        ("harness_heuristic_only", is_heuristic(all_runs().flat_map(|run| of(run)).copied())),
    ];
    facts.extend(deviation.map(|deviation| ("suite_score_deviation", Fact::Number(deviation))));
    let seen: serde_json::Map<String, Value> = scores
        .iter()
        .map(|(suite, scores)| {
            let runs = suites.get(suite).map_or(0, Vec::len);
            ((*suite).to_owned(), json!({ "runs": runs, "scores": scores }))
        })
        .collect();
    Ok(Measured {
        age_seconds: agent.age_seconds(used.anchor),
        facts,
        seen: json!({ "suites": seen, "is_beyond_window": used.is_beyond_window }),
    })
}

pub(super) fn eval_rigor(agent: &Agent<'_>, measured: usize, fed: usize) -> Graded {
    let need = Need::of(minimum::EVALUATIONS, "evaluations with checks");
    let counted: BTreeSet<&str> =
        agent.items.iter().filter(|item| item.counts()).map(|item| item.evaluation.id.as_str()).collect();
    let mut runs = agent.evaluations.clone();
    runs.retain(|run| counted.contains(run.id.as_str()));
    let used = select(agent, &runs, |run| run.time, |run| &run.id, need)?;
    let ids: BTreeSet<&str> = used.items.iter().map(|run| run.id.as_str()).collect();
    let items: Vec<&Item<'_>> = agent
        .items
        .iter()
        .filter(|item| item.counts() && ids.contains(item.evaluation.id.as_str()))
        .collect();
    let mut families: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for item in &items {
        families.entry(item.family()).or_default().insert(&item.check.task);
    }
    let tasks: Vec<u64> = families.values().map(|tasks| tasks.len() as u64).collect();
    let share = |count: usize, of: usize| count as f64 / of.max(1) as f64;
    let adversarial = items.iter().filter(|item| item.check.category.is_adversarial()).count();
    let inputs: BTreeSet<&str> = items.iter().map(|item| item.input()).collect();
    let is_independent = |run: &&&&Evaluation| run.runner.independence == Independence::ThirdParty;
    let independent = used.items.iter().filter(is_independent).count();
    Ok(Measured {
        age_seconds: agent.age_seconds(used.anchor),
        facts: vec![
            ("measured_dimension_share", Fact::Number(share(measured, fed))),
            ("task_family_entropy_nats", Fact::Number(entropy(&tasks).unwrap_or_default())),
            ("adversarial_share", Fact::Number(share(adversarial, items.len()))),
            ("independent_runner_share", Fact::Number(share(independent, used.items.len()))),
            ("distinct_input_share", Fact::Number(share(inputs.len(), items.len()))),
        ],
        seen: json!({
            "evaluations": used.items.len(),
            "independent_evaluations": independent,
            "checks": items.len(),
            "adversarial_checks": adversarial,
            "distinct_inputs": inputs.len(),
            "task_families": families.len(),
            "measured_dimensions": measured,
            "dimensions_fed_by_evaluations": fed,
            "is_beyond_window": used.is_beyond_window,
        }),
    })
}
