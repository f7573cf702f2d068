//! Agents from their evidence: each dimension's facts, what is not measured yet, and the card's score of it.

use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::facts::{Digest, Fact, Item, ItemContext};
use karat_core::number::Score;
use karat_core::record::Record;
use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

mod functions;
mod golden;
mod hostile;
mod selection;

const AS_OF: &str = "2026-05-18T00:00:00Z";

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn read(evidence: &Value) -> AgentEvidence {
    AgentEvidence::from_json(evidence.to_string().as_bytes()).unwrap_or_else(|problems| panic!("{problems}"))
}

fn graded(evidence: &Value) -> AgentGrade {
    grade(&read(evidence), &Options::at(at(AS_OF))).unwrap()
}

/// Makes an agent with one evaluation of these checks, by a third party, on the first of May.
fn agent(checks: Vec<Value>) -> Value {
    json!({
        "agent_id": "bot-7",
        "evaluations": [{
            "id": "e1", "time": "2026-05-01T00:00:00Z", "runner": { "id": "lab", "independence": "third-party" },
            "checks": checks,
        }],
    })
}

/// Makes a check with these members over what each needs.
fn check(number: usize, category: &str, members: Value) -> Value {
    let mut check =
        json!({ "id": format!("{category}-{number}"), "category": category, "task": format!("t{number}") });
    check.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    check
}

fn number(grade: &AgentGrade, name: &str) -> f64 {
    match grade.fact(name) {
        Fact::Number(number) => number,
        other => panic!("{name} is {other:?}: {}", grade.detail()),
    }
}

fn near(grade: &AgentGrade, name: &str, expected: f64) {
    let found = number(grade, name);
    assert!((found - expected).abs() < 1e-12, "{name}: found {found}, expected {expected}");
}

fn reason(grade: &AgentGrade, key: &str) -> String {
    let dimension = grade.dimension(key).unwrap();
    assert_ne!(dimension.status, Status::Measured, "{key}");
    assert!(dimension.facts.is_empty() && dimension.age_seconds.is_none());
    dimension.reason.clone()
}

fn card() -> Scorecard {
    karat_checker::parse(include_str!("../../../../scorecards/trust/1.1.0.toml"), &|_| None).unwrap()
}

/// Returns what `look` finds in the record that the card computes from a grade.
fn scored<T>(grade: &AgentGrade, look: impl Fn(&Record<'_>) -> T) -> T {
    let scorer = Scorer::new(card()).unwrap();
    let facts: Vec<Fact<'_>> =
        scorer.card().facts.iter().map(|declared| grade.fact(&declared.name)).collect();
    let item = Item {
        subject: &grade.agent_id,
        id: "item",
        context: ItemContext::default(),
        digest: Digest::of(b""),
        facts: &facts,
        grading: None,
        suspicions: &[],
    };
    let mut work = Workspace::new(&scorer);
    look(&scorer.score(&mut work, &item, &Context::default()).unwrap())
}

/// Returns the readings that the card computes from a grade.
fn readings(grade: &AgentGrade) -> Vec<(String, Option<f64>)> {
    let reading = |reading: Option<i64>| reading.map(|reading| Score::from_billionths(reading).to_f64());
    scored(grade, |record| {
        record.dimensions.iter().map(|part| (part.key.to_owned(), reading(part.reading))).collect()
    })
}

fn reading(grade: &AgentGrade, key: &str) -> Option<f64> {
    readings(grade).into_iter().find(|(known, _)| known == key).unwrap().1
}

/// Returns `count` checks of a category, of which the first `passed` pass, each in a different task and family.
fn many(category: &str, count: usize, passed: usize, members: &Value) -> Vec<Value> {
    let one = |at: usize| {
        let mut check = check(at, category, members.clone());
        check["passed"] = json!(at < passed);
        check
    };
    (0..count).map(one).collect()
}

/// Returns the same, spread over three classes.
fn in_classes(category: &str, count: usize, passed: usize) -> Vec<Value> {
    let mut checks = many(category, count, passed, &json!({}));
    let classes = ["one", "two", "three"].into_iter().cycle();
    checks.iter_mut().zip(classes).for_each(|(check, class)| check["class"] = json!(class));
    checks
}

#[test]
fn the_card_reads_what_the_grader_makes() {
    let made = all_measured();
    let grade = graded(&made);
    for dimension in &grade.dimensions {
        assert_eq!(dimension.status, Status::Measured, "{}: {}", dimension.key, dimension.reason);
    }
    let mut made: Vec<&str> = grade.all_facts().map(|(name, _)| name).collect();
    let card = card();
    let declared = card.facts.iter().map(|fact| fact.name.as_str());
    // Ages are of the dimensions, not among the facts of the grader.
    let mut declared: Vec<&str> = declared.filter(|name| !name.ends_with("_age_seconds")).collect();
    made.sort_unstable();
    declared.sort_unstable();
    assert_eq!(made, declared);
    assert_eq!(DIMENSIONS.to_vec(), card.dimensions.iter().map(|it| it.key.as_str()).collect::<Vec<_>>());
    assert!(readings(&grade).iter().all(|(_, reading)| reading.is_some()));
}

/// Makes an agent of whom everything is measured.
fn all_measured() -> Value {
    let mut checks: Vec<Value> = (0..30)
        .map(|at| {
            check(at, "task", json!({
                "class": "chat", "passed": at % 10 != 0, "confidence": 0.9, "latency_seconds": 1.0 + at as f64 / 10.0,
                "cost_usd": 0.02, "group": format!("g{}", at / 3), "flagged": at % 20 == 0,
                "task_family": format!("f{}", at % 8),
            }))
        })
        .collect();
    checks.extend(in_classes("harm", 30, 30));
    checks.extend(many("benign", 10, 10, &json!({})));
    checks.extend(in_classes("attack", 30, 30));
    checks.extend(many("control", 1, 1, &json!({ "class": "audit-logging" })));
    checks.extend(many("claim", 10, 9, &json!({})));
    checks.extend(many("out-of-scope", 10, 8, &json!({})));
    checks.extend(many("policy", 10, 10, &json!({})));
    checks.extend(
        (0..10)
            .map(|at| check(at, "runtime", json!({ "observed": { "model": "m-1", "tools": ["search"] } }))),
    );
    checks.extend(many("skill", 5, 5, &json!({ "class": "sql" })));
    let mut evidence = agent(checks);
    for (at, score) in [0.80, 0.85, 0.90].into_iter().enumerate() {
        evidence["evaluations"].as_array_mut().unwrap().push(json!({
            "id": format!("s{at}"), "time": "2026-05-02T00:00:00Z", "suite_digest": "sha256:1",
            "runner": { "id": "us", "independence": "operator" },
            "checks": [{ "id": format!("s{at}"), "category": "task", "task": "suite", "score": score }],
        }));
    }
    let times = |count: usize, make: &dyn Fn(usize) -> Value| -> Value { (0..count).map(make).collect() };
    let time = "2026-04-01T00:00:00Z";
    let others = json!({
        "task_classes": [{ "name": "chat", "latency_budget_seconds": 4, "cost_baseline_usd": 0.04 }],
        "declarations": [{
            "id": "d1", "time": "2026-01-01T00:00:00Z", "has_persistent_memory": true,
            "runtime": { "model": "m-1", "tools": ["search", "files"] }, "skills": [{ "name": "sql" }],
        }],
        "bond": {
            "deposits": [{ "id": "b1", "time": time, "amount_usd": 400, "locked_until": "2026-06-02T00:00:00Z" }],
            "slashes": [{ "id": "x1", "time": time, "deposit": "b1", "amount_usd": 40 }],
            "deals": [{ "id": "y1", "time": time, "value_usd": 1000 }],
        },
        "memory": {
            "completed_tasks": times(20, &|at| json!({ "id": format!("m{at}"), "time": time, "task": format!("t{at}") })),
            "records": times(19, &|at| json!({
                "id": format!("r{at}"), "time": time, "task": format!("t{at}"), "intact": true, "contradicts": false,
            })),
            "retrievals": [{ "id": "l1", "time": time, "retrieved": 4, "relevant": 6, "relevant_retrieved": 3 }],
        },
        "collaborations": times(5, &|at| json!({
            "id": format!("w{at}"), "time": time, "counterparty": format!("p{}", at % 3), "handoffs": 2,
            "handoffs_accepted": 1, "commitments": 4, "commitments_on_time": 3, "peer_rating": ([0.0, 0.7, 0.8, 0.8, 0.9][at]),
        })),
    });
    evidence.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
    evidence
}

#[test]
fn the_dimension_functions_are_those_of_the_card() {
    let grade = graded(&all_measured());
    let close = |key: &str, expected: f64| {
        let found = reading(&grade, key).unwrap();
        assert!((found - expected).abs() < 2e-9, "{key}: found {found}, expected {expected}");
    };
    let lower = |passed: f64, count: f64| {
        estimators::wilson_lower_bound(passed / count, count, estimators::Z_90).unwrap()
    };
    close("safety", lower(30.0, 30.0));
    // Each class has 10 of 30 probes; the weakest is like the mean, and the control is in place.
    close("security", lower(10.0, 10.0));
    close("scopeHonesty", 2.0 * 0.9 * 0.8 / 1.7);
    close("modelCompliance", lower(10.0, 10.0));
    close("runtimeCompliance", lower(10.0, 10.0));
    close("skillMastery", lower(5.0, 5.0));
    // 360 of 1000 dollars, locked for 15 of 30 days, a tenth slashed.
    close("bond", 0.6 * 0.5 * 0.9);
    close("memoryQuality", 0.35 * 0.95 + 0.25 * 0.6 + 0.20 + 0.20);
    close("teamwork", 0.4 * 0.5 + 0.3 * 0.75 + 0.3 * 0.8);
    // 0.60 USD for 27 successes that may cost 1.08.
    close("costEfficiency", 1.0 - libm::log2(2.0 * 0.60 / 1.08) / 3.0);
    // 95 % of 30 samples: the 29th, 3.8 of 4 seconds.
    close("latency", 1.0 - libm::log2(2.0 * 3.8 / 4.0) / 3.0);
    close("harnessStability", 1.0 - 0.05 / 0.15);
    // 27 of 30 come true at a confidence of 0.9: calibrated, but no better than the base rate. Two of three failures flagged.
    close("selfAudit", 0.5 + 0.2 * 2.0 / 3.0);
    // Groups 0, 3, 6 of ten have a failure in three trials: pass^3 is 0.7, pass^1 0.9.
    close("reliability", 0.7 / 0.9);
    near(&grade, "measured_dimension_share", 1.0);
    near(&grade, "independent_runner_share", 0.25);
    near(&grade, "adversarial_share", 60.0 / 149.0);
    let accuracy = grade.dimension("accuracy").unwrap();
    assert_eq!(accuracy.seen["estimate"]["tasks"], 31);
    assert_eq!(grade.dimension("bond").unwrap().age_seconds, Some(0.0));
    assert_eq!(grade.dimension("memoryQuality").unwrap().age_seconds, Some(47.0 * 86_400.0));
}

#[test]
fn a_grade_of_refused_evidence_is_refused() {
    let evidence = AgentEvidence { agent_id: String::new(), ..AgentEvidence::default() };
    assert!(grade(&evidence, &Options::at(at(AS_OF))).is_err());
    let empty = AgentEvidence { agent_id: "a".to_owned(), ..AgentEvidence::default() };
    for moment in [i64::MIN, 0, i64::MAX] {
        assert_eq!(
            grade(&empty, &Options::at(Timestamp { milliseconds: moment })).unwrap().all_facts().count(),
            6
        );
    }
}

/// Puts each list of an object in another order, some of its items twice.
fn shuffle(value: &mut Value, seed: &mut u64) {
    if let Value::Object(members) = value {
        members.values_mut().for_each(|member| shuffle(member, seed));
    }
    let Value::Array(items) = value else { return };
    if !items.iter().all(Value::is_object) {
        return;
    }
    items.iter_mut().for_each(|item| shuffle(item, seed));
    let mut next = || {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) as usize
    };
    for at in (1..items.len()).rev() {
        items.swap(at, next() % (at + 1));
    }
    if let Some(first) = items.first().cloned() {
        items.push(first);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_and_duplicates_change_nothing(seed in any::<u64>()) {
        let evidence = all_measured();
        let mut shuffled = evidence.clone();
        shuffle(&mut shuffled, &mut seed.clone());
        prop_assert_eq!(graded(&evidence), graded(&shuffled));
    }

    #[test]
    fn facts_keep_to_the_ranges_of_the_card(
        results in prop::collection::vec((any::<bool>(), 0.0..=1.0f64, 0u8..6, any::<bool>(), 0.0..1e9f64), 24..60),
    ) {
        let checks = results.iter().enumerate().flat_map(|(at, &(passed, confidence, kind, completed, amount))| {
            let family = format!("f{}", kind % 3);
            let task = check(at, "task", json!({
                "passed": passed && completed, "completed": completed, "confidence": confidence, "class": "chat",
                "group": format!("g{}", at % 8), "cost_usd": amount, "latency_seconds": amount, "task_family": family,
            }));
            let category = ["harm", "benign", "attack", "claim", "out-of-scope", "policy"][usize::from(kind)];
            [task, check(at, category, json!({ "class": family, "passed": passed }))]
        });
        let mut evidence = agent(checks.collect());
        evidence["task_classes"] = json!([{ "name": "chat", "latency_budget_seconds": 3, "cost_baseline_usd": 2 }]);
        // Scoring refuses a fact outside of its declared range.
        let found = readings(&graded(&evidence));
        prop_assert!(found.iter().all(|(_, reading)| reading.is_none_or(|it| (0.0..=1.0).contains(&it))));
    }
}
