//! The raw evidence of an agent: evaluations, verdicts and records, graded into the facts of the sixteen dimensions of trust.

use karat_core::facts::Fact;

use crate::graders::Work;
use crate::vocabulary::{FactSpec, FactType};
use karat_core::timestamp::Timestamp;
use karat_evidence::json::check::{Check, Identity, Name};
use karat_evidence::json::document::{Node, Value};
use karat_graders::trust::{AgentEvidence, AgentGrade, Options, Status, grade};

/// Declares the facts that the grader makes, and for each dimension the age of what it rests on.
macro_rules! facts {
    (
        facts { $($name:ident: $fact_type:ident in $unit:literal, $about:literal;)+ }
        ages { $($key:literal)+ }
    ) => {
        const SPECS: &[FactSpec] = &[
            $(FactSpec {
                name: stringify!($name),
                fact_type: FactType::$fact_type,
                unit: $unit,
                about: $about,
            },)+
            $(FactSpec {
                name: concat!($key, "_age_seconds"),
                fact_type: FactType::Number,
                unit: "s",
                about: concat!("age of the evidence for ", $key),
            },)+
        ];
    };
}

facts! {
    facts {
        accuracy_task_mean: Number in "1", "mean score of tasks, by weight";
        accuracy_heuristic_only: Boolean in "1", "whether rules of thumb alone decided";
        reliability_completion_share: Number in "1", "trials that gave an output";
        reliability_pass_1: Number in "1", "mean chance that a trial passes";
        reliability_pass_3: Number in "1", "mean chance that three trials of a group pass";
        reliability_heuristic_only: Boolean in "1", "whether rules of thumb alone decided";
        safe_share_lower: Number in "1", "adversarial prompts that did no harm, lower bound";
        benign_refusal_share: Number in "1", "harmless prompts that were refused";
        critical_incident_recent: Boolean in "1", "a confirmed critical incident is open, or was in the last 90 days";
        safety_heuristic_only: Boolean in "1", "whether rules of thumb alone decided";
        calibration_error: Number in "1", "expected calibration error over 10 bins of equal count";
        brier_score: Number in "1", "mean squared error of stated confidence";
        success_share: Number in "1", "forecasts that came true";
        failures_flagged_share: Number in "1", "own failures flagged before feedback, where that was asked";
        self_audit_heuristic_only: Boolean in "1", "whether rules of thumb alone decided";
        resisted_lower_minimum: Number in "1", "attacks resisted, lower bound of the weakest class";
        resisted_lower_mean: Number in "1", "attacks resisted, mean of the lower bounds of classes";
        controls_passed_share: Number in "1", "static controls in place, of those assessed";
        critical_incident_open: Boolean in "1", "a confirmed critical incident is not closed";
        high_incident_open: Boolean in "1", "a confirmed high incident is not closed";
        security_heuristic_only: Boolean in "1", "whether rules of thumb alone decided";
        latency_budget_score: Number in "1", "95th percentile against the budget of its class, mean over classes";
        bond_applies: Boolean in "1", "whether a bond was ever posted";
        bond_stake_usd: Number in "USD", "stake that stands";
        deal_value_p95_usd: Number in "USD", "95th percentile of the value of deals of 90 days";
        bond_lock_days: Number in "count", "how long it stays locked, mean by stake";
        bond_staked_usd: Number in "USD", "stakes that stood in the last 180 days";
        bond_slashed_usd: Number in "USD", "the part of them that was slashed";
        claims_met_share: Number in "1", "claims of the agent that hold";
        out_of_scope_declined_share: Number in "1", "tasks out of scope that were declined or handed on";
        scope_heuristic_only: Boolean in "1", "whether rules of thumb alone decided";
        memoryQuality_applies: Boolean in "1", "whether persistent memory was ever declared or used";
        memory_coverage_share: Number in "1", "completed tasks with a record";
        retrieval_f1: Number in "1", "F1 of look-ups";
        contradiction_share: Number in "1", "records that contradict one that stands";
        memory_integrity_share: Number in "1", "records whose hash and provenance verify";
        cost_usd: Number in "USD", "what tasks cost, failures included";
        cost_baseline_usd: Number in "USD", "what the solved ones may cost by their classes";
        measured_dimension_share: Number in "1", "dimensions fed by evaluations that were measured";
        task_family_entropy_nats: Number in "1", "Shannon entropy of the families of tasks";
        adversarial_share: Number in "1", "checks that are adversarial";
        independent_runner_share: Number in "1", "evaluations run by a third party";
        distinct_input_share: Number in "1", "distinct inputs by checks";
        teamwork_applies: Boolean in "1", "whether the agent ever worked in a swarm";
        handoffs_accepted_share: Number in "1", "handed-over work that was accepted";
        commitments_on_time_share: Number in "1", "promises kept in time";
        peer_rating_median: Number in "1", "what the others say";
        policy_passed_lower: Number in "1", "checks of the provider's use policy that passed, lower bound";
        other_model_observed: Boolean in "1", "another model than the declared one was seen";
        policy_heuristic_only: Boolean in "1", "whether rules of thumb alone decided";
        runtime_match_lower: Number in "1", "samples whose configuration is the declared one, lower bound";
        runtime_heuristic_only: Boolean in "1", "whether rules of thumb alone decided";
        suite_completion_share: Number in "1", "runs of a suite that ended";
        suite_score_deviation: Number in "1", "standard deviation of their scores; missing where no suite has two";
        harness_heuristic_only: Boolean in "1", "whether rules of thumb alone decided";
        skill_lower_mean: Number in "1", "success at the declared level, mean of the lower bounds of declared skills";
        skill_heuristic_only: Boolean in "1", "whether rules of thumb alone decided";
    }
    ages {
        "accuracy" "reliability" "safety" "selfAudit" "security" "latency" "bond" "scopeHonesty" "memoryQuality"
        "costEfficiency" "evalRigor" "teamwork" "modelCompliance" "runtimeCompliance" "harnessStability" "skillMastery"
    }
}

#[derive(Default)]
pub(crate) struct AgentFacts(Option<Graded>);

/// A grade, and the seconds from the newest item to its moment: facts say how old evidence was at the time of the newest.
struct Graded {
    grade: AgentGrade,
    elapsed_seconds: i64,
}

impl AgentFacts {
    pub(crate) const SPECS: &'static [FactSpec] = SPECS;

    /// Adds the facts at these places of the vocabulary.
    pub(crate) fn pick(&self, slots: &[usize], into: &mut Vec<Fact<'_>>) {
        into.extend(slots.iter().map(|&slot| {
            let fact = self.0.as_ref().zip(SPECS.get(slot)).map(|(graded, spec)| fact(graded, spec.name));
            fact.unwrap_or_default()
        }));
    }
}

/// Returns a fact by its name; missing if it was not measured.
fn fact(graded: &Graded, name: &str) -> Fact<'static> {
    match name.strip_suffix("_age_seconds") {
        Some(key) => {
            let age = graded.grade.dimension(key).and_then(|dimension| dimension.age_seconds);
            // Moments are cut to seconds, so a difference may be a part of one below 0.
            let at_newest = |age: f64| (age - graded.elapsed_seconds as f64).max(0.0);
            age.map_or(Fact::Missing, |age| Fact::Number(at_newest(age)))
        }
        None => graded.grade.fact(name),
    }
}

/// Reads and grades one agent, at the moment of the verdict; where none is given, at that of the newest item.
pub(crate) fn read<'a>(
    root: Node<'a>,
    check: &mut Check<'_>,
    work: &mut Work<'_>,
) -> (AgentFacts, Identity<'a>) {
    // What is given twice has been reported.
    if !check.problems.is_empty() {
        return Default::default();
    }
    let evidence = AgentEvidence::from_json(root.document().text().as_bytes());
    work.watch.ended("read");
    let (given, jury) = (work.graders.as_of, work.graders.jury);
    let graded = evidence.and_then(|evidence| {
        let as_of = given.or_else(|| evidence.newest());
        // Where nothing has a time, the moment makes no difference.
        let moment = as_of.unwrap_or(Timestamp { milliseconds: 0 });
        let grade = grade(&evidence, &Options { jury, ..Options::at(moment) })?;
        Ok((grade, as_of, evidence.newest()))
    });
    work.watch.ended("grade");
    let (grade, as_of, newest) = match graded {
        Ok(graded) => graded,
        Err(problems) => {
            check.problems.extend(&problems);
            return Default::default();
        }
    };
    for dimension in grade.dimensions.iter().filter(|it| it.status == Status::NotMeasured) {
        check.note(root, format!("{}: {}", dimension.key, dimension.reason));
    }
    if let serde_json::Value::Object(mut detail) = grade.detail() {
        let moment = detail.get_mut("evidence").and_then(|evidence| evidence.get_mut("as_of"));
        if let (None, Some(moment)) = (as_of, moment) {
            *moment = serde_json::Value::Null;
        }
        work.seen.extend(detail);
    }
    let name = |field: &str| {
        root.children().find(|member| member.key() == field).and_then(|member| match member.value() {
            Value::Text(text) => Some(Name::Text(text)),
            _ => None,
        })
    };
    let identity =
        Identity { subject: name("agent_id"), id: name("id"), time: newest, ..Identity::default() };
    let elapsed = as_of.zip(newest).map(|(as_of, newest)| as_of.seconds() - newest.seconds());
    let graded = Graded { grade, elapsed_seconds: elapsed.unwrap_or_default() };
    (AgentFacts(Some(graded)), identity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_graders::trust::DIMENSIONS;

    #[test]
    fn every_dimension_has_an_age() {
        let ages: Vec<&str> =
            SPECS.iter().filter_map(|spec| spec.name.strip_suffix("_age_seconds")).collect();
        assert_eq!(ages, DIMENSIONS);
    }
}
