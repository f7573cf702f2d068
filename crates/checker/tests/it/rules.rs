//! A guard over `scorecards/`: every released card is sound, lies where its name says, and nothing in it is dead: some item
//! of the vectors, or of the examples' numbers below, makes each dimension, rule, gate, band and tier act.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::common::{card, facts, files, item, read, root};
use karat_checker::check_text;
use karat_core::diagnostic::Severity;
use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::record::{Record, ValueStatus};
use karat_core::scorecard::{FactType, Scorecard};
use serde_json::{Map, Value, json};

fn folder() -> PathBuf {
    root().join("scorecards")
}

fn released() -> Vec<PathBuf> {
    let found = files(&folder(), "toml");
    assert!(found.len() >= 8, "{found:?}");
    found
}

/// A run that the budget stopped after 3 of 4 steps, far below the budget of its task.
fn stopped_run() -> Value {
    json!({
        "output_quality": 1, "steps_completed": 3, "steps_total": 4, "actual_tao": 0.0075, "max_budget_tao": 0.05,
        "actual_seconds": 2.5, "max_latency_seconds": 10, "actual_retries": 0, "declared_retry_budget": 0, "timeouts": 0,
        "hard_failures": 0, "budget_aborted": true,
    })
}

/// Facts that no vector gives: verified matches, opted-out dimensions, incidents, what was not measured.
fn by_hand(id: &str) -> Vec<Value> {
    match id {
        "workflow" => vec![
            json!({ "output_quality": 1, "steps_completed": 2, "steps_total": 2 }),
            json!({ "actual_retries": 3, "declared_retry_budget": 1, "timeouts": 1, "hard_failures": 0 }),
            stopped_run(),
        ],
        "trace" => {
            let trace = json!({
                "step_count": 4, "step_type_count": 2, "thought_count": 2, "tool_step_count": 2, "unique_tool_count": 2,
                "error_recovery_count": 0, "success": true, "confidence": 0.9, "novelty": 0.75, "task_domain": "code",
            });
            let without = |name: &str| with(&trace, &[(name, Value::Null)]);
            ["step_type_count", "novelty", "unique_tool_count", "confidence"].map(without).to_vec()
        }
        "trust" => {
            let all = |value: f64| -> Value {
                let scorer = Scorer::new(card(&folder().join("trust/1.0.0.toml"), &folder())).unwrap();
                let dimensions = scorer.card().dimensions.iter();
                let mut facts: Map<String, Value> =
                    dimensions.map(|dimension| (dimension.key.clone(), json!(value))).collect();
                for key in ["bond_applies", "memoryQuality_applies", "teamwork_applies"] {
                    facts.insert(key.to_string(), json!(true));
                }
                Value::Object(facts)
            };
            let good = all(0.95);
            vec![
                all(0.5),
                all(0.7),
                all(0.8),
                good.clone(),
                with(&good, &[("security", json!(0.4))]),
                with(&good, &[("security", json!(0.2))]),
                with(&good, &[("security", Value::Null)]),
                with(&good, &[("critical_incident_open", json!(true))]),
                with(
                    &good,
                    &[
                        ("bond_applies", json!(false)),
                        ("memoryQuality_applies", json!(false)),
                        ("teamwork_applies", json!(false)),
                    ],
                ),
            ]
        }
        FROM_FACTS => {
            let good = agent_facts(0.95);
            let mut items: Vec<Value> = [0.0, 0.3, 0.5, 0.7, 0.8].map(agent_facts).to_vec();
            items.extend([
                with(&good, &[("resisted_lower_minimum", json!(0)), ("resisted_lower_mean", json!(0.8))]),
                with(&good, &[("resisted_lower_minimum", json!(0)), ("resisted_lower_mean", json!(0.3))]),
                with(&good, &[("resisted_lower_mean", Value::Null)]),
                with(&good, &[("critical_incident_open", json!(true))]),
                with(&good, &["bond", "memoryQuality", "teamwork"].map(|key| (applies(key), json!(false)))),
                json!({}),
                good,
            ]);
            items
        }
        "run" => vec![
            json!({ "solved": 1, "cost_usd": 0.1, "seconds": 60, "tokens": 10000 }),
            json!({ "solved": 0, "cost_usd": 2, "seconds": 900, "tokens": 250000 }),
            json!({}),
        ],
        _ => {
            let scores = |value: u32| {
                json!({
                    "correctness_score": value, "completeness_score": value, "precision_score": value,
                    "methodology_score": value, "code_quality_score": value, "analysis_score": value,
                    "time_used_seconds": 30, "time_limit_seconds": 120, "verified": true, "total_tokens": 4000, "llm_calls": 6,
                    "tool_calls": 9, "token_budget": 10000, "max_llm_calls": 20, "max_tool_calls": 20,
                    "limits_llm_calls": true, "limits_tool_calls": true,
                    "speed_refused": false, "token_efficiency_refused": false, "call_efficiency_refused": false,
                })
            };
            vec![
                scores(200),
                scores(500),
                scores(900),
                with(&scores(900), &[("verified", json!(false))]),
                with(&scores(900), &[("speed_refused", json!(true))]),
                json!({}),
            ]
        }
    }
}

/// The trust card that computes its dimensions from graded facts; it has no vectors.
const FROM_FACTS: &str = "trust@1.1.0";

fn applies(key: &str) -> &'static str {
    ["bond_applies", "memoryQuality_applies", "teamwork_applies"]
        .into_iter()
        .find(|it| it.starts_with(key))
        .unwrap()
}

/// Facts under which every dimension of [`FROM_FACTS`] reads about `quality`.
fn agent_facts(quality: f64) -> Value {
    let lack = 1.0 - quality;
    let mut facts = Map::new();
    let card = card(&folder().join("trust/1.1.0.toml"), &folder());
    for fact in &card.facts {
        let value = match (fact.kind, fact.name.as_str()) {
            (FactType::Boolean, name) => json!(name.ends_with("_applies")),
            (_, "reliability_pass_1" | "reliability_completion_share" | "suite_completion_share") => json!(1),
            (_, "benign_refusal_share" | "bond_slashed_usd") => json!(0),
            (_, "contradiction_share") => json!(lack),
            (_, "success_share") => json!(0.5),
            (_, "calibration_error" | "brier_score") => json!(lack * 0.25),
            (_, "suite_score_deviation") => json!(lack * 0.15),
            (_, "bond_stake_usd") => json!(quality * quality * 100.0),
            (_, "deal_value_p95_usd" | "bond_staked_usd" | "bond_lock_days") => json!(100),
            // 1 - log2(2 r) / 3 = quality
            (_, "cost_usd") => json!(libm::exp2(3.0 * lack) / 2.0),
            (_, "cost_baseline_usd") => json!(1),
            (_, "task_family_entropy_nats") => json!(quality * libm::log(8.0)),
            (_, "adversarial_share") => json!(quality * 0.25),
            _ => json!(quality),
        };
        facts.insert(fact.name.clone(), value);
    }
    Value::Object(facts)
}

fn with(facts: &Value, other: &[(&str, Value)]) -> Value {
    let mut facts = facts.clone();
    for (name, value) in other {
        facts[*name] = value.clone();
    }
    facts
}

/// Returns the facts of the vectors that score an item under a card.
fn from_vectors(id: &str) -> Vec<Value> {
    let lines = |name: &str, function: &str| -> Vec<Value> {
        let text = read(&root().join("vectors").join(name));
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["fn"] == function).map(|line| line["input"].clone()).collect()
    };
    match id {
        "workflow" => {
            let given = lines("workflow.jsonl", "workflow.score").into_iter();
            given
                .map(|run| {
                    let (total, retries) = (run["total_steps"].clone(), run["unplanned_retries"].clone());
                    let counted = [("steps_total", total), ("actual_retries", retries)];
                    let said = [("declared_retry_budget", json!(0)), ("budget_aborted", json!(false))];
                    with(&with(&run, &counted), &said)
                })
                .collect()
        }
        "trace" => lines("trace.jsonl", "evaluate").iter().map(trace_facts).collect(),
        "trust" => {
            let given = lines("trust.jsonl", "composite_covered").into_iter();
            given.map(|line| numbers(line["dimensions"].as_object().unwrap(), "")).collect()
        }
        FROM_FACTS | "run" => Vec::new(),
        _ => {
            let given = lines("arena.jsonl", "weighted_total").into_iter();
            given.map(|line| numbers(line["raw"].as_object().unwrap(), "_score")).collect()
        }
    }
}

/// Numbers that may be written as texts, by name and suffix.
fn numbers(given: &Map<String, Value>, suffix: &str) -> Value {
    let number = |value: &Value| match value {
        Value::String(text) => json!(text.parse::<f64>().unwrap()),
        other => other.clone(),
    };
    Value::Object(given.iter().map(|(key, value)| (format!("{key}{suffix}"), number(value))).collect())
}

/// Returns the counts of a trace.
fn trace_facts(line: &Value) -> Value {
    let trace = &line["trace"];
    let steps = trace["steps"].as_array().unwrap();
    let kinds: Vec<&Value> = steps.iter().map(|step| &step["type"]).collect();
    let tools: Vec<&Value> =
        steps.iter().map(|step| &step["tool"]["name"]).filter(|tool| !tool.is_null()).collect();
    let distinct =
        |values: &[&Value]| values.iter().map(|value| value.to_string()).collect::<BTreeSet<_>>().len();
    let count = |kind: &str| kinds.iter().filter(|it| **it == kind).count();
    json!({
        "step_count": steps.len(),
        "step_type_count": distinct(&kinds),
        "thought_count": count("thought"),
        "tool_step_count": tools.len(),
        "unique_tool_count": distinct(&tools),
        "error_recovery_count": count("error_recovery"),
        "success": trace["metadata"]["success"],
        "confidence": trace["outcome"]["confidence"],
        "novelty": line["max_similarity"].as_f64().map(|similarity| 1.0 - similarity.clamp(0.0, 1.0)),
        "task_domain": trace["metadata"]["task_domain"],
    })
}

/// The features of a card, and those that some record used.
#[derive(Default)]
struct Exercised {
    can: BTreeSet<String>,
    did: BTreeSet<String>,
}

impl Exercised {
    fn expect(&mut self, card: &Scorecard) {
        for dimension in &card.dimensions {
            let mut statuses = vec!["above 0", "below 1", "missing"];
            statuses.extend(dimension.when.as_ref().map(|_| "gated"));
            statuses.extend(dimension.applies.as_ref().map(|_| "not-applicable"));
            self.can.extend(statuses.iter().map(|status| format!("dimension {} {status}", dimension.key)));
        }
        self.can.extend(card.rules.iter().map(|rule| format!("rule {}", rule.name)));
        self.can.extend(card.gates.iter().map(|gate| format!("gate {}", gate.name)));
        self.can.extend(card.bands.iter().map(|band| format!("band {}", band.name)));
        self.can.extend(card.tiers.iter().map(|tier| format!("tier {}", tier.name)));
    }

    fn note(&mut self, record: &Record<'_>) {
        for dimension in &record.dimensions {
            let key = dimension.key;
            if dimension.status != ValueStatus::Scored {
                self.did.insert(format!("dimension {key} {}", dimension.status.name()));
                continue;
            }
            let sides = [
                (dimension.reading > Some(0), "above 0"),
                (dimension.reading < Some(1_000_000_000), "below 1"),
            ];
            self.did
                .extend(sides.iter().filter(|side| side.0).map(|side| format!("dimension {key} {}", side.1)));
        }
        let moved = record.steps.iter().filter(|step| step.before != step.after);
        self.did.extend(moved.map(|step| format!("{} {}", step.kind.name(), step.name)));
        self.did.extend(record.gates.iter().map(|gate| format!("gate {gate}")));
        self.did.extend(record.band.map(|band| format!("band {band}")));
        self.did.extend(record.tier.as_ref().and_then(|tier| tier.name).map(|tier| format!("tier {tier}")));
    }

    fn score(&mut self, scorer: &Scorer, items: &[Value]) {
        let mut work = Workspace::new(scorer);
        for given in items {
            let facts = facts(scorer.card(), given.as_object().unwrap());
            // Vectors also hold items that must be refused.
            if let Ok(record) = scorer.score(&mut work, &item(&facts), &Context { as_of: None }) {
                self.note(&record);
            }
        }
    }

    fn check(&self, name: &str) {
        let dead: Vec<&String> = self.can.difference(&self.did).collect();
        assert!(dead.is_empty(), "{name}: no vector and no example exercises {dead:#?}");
    }
}

/// Challenges that together pick every dimension of a family.
fn challenges(family: &Scorecard) -> Vec<Scorer> {
    let keys: Vec<&str> = family.dimensions.iter().map(|dimension| dimension.key.as_str()).collect();
    let head = format!(
        "schema = \"karat/scorecard/1\"\nid = \"all\"\nversion = \"1.0.0\"\ntitle = \"All\"\nbase = \"{}\"\n[dims]\n",
        family.name()
    );
    let picks =
        (0..keys.len()).map(|at| [keys[at], keys[(at + 1) % keys.len()], keys[(at + 2) % keys.len()]]);
    let texts = picks.map(|[a, b, c]| format!("{head}{a} = 0.5\n{b} = 0.3\n{c} = 0.2\n"));
    let cards = texts.filter_map(|text| crate::common::card_of(&text, &folder()).ok());
    cards.map(|card| Scorer::new(card).unwrap()).collect()
}

#[test]
fn every_card_is_sound() {
    for path in released() {
        let library = |name: &str| {
            let (id, version) = name.split_once('@')?;
            std::fs::read_to_string(folder().join(id).join(format!("{version}.toml"))).ok()
        };
        let checked = check_text(&read(&path), &library);
        let bad = checked.diagnostics.iter().filter(|it| it.severity != Severity::Note);
        let bad: Vec<String> = bad.map(|it| format!("{} {}", it.code, it.message)).collect();
        assert!(bad.is_empty(), "{}: {bad:#?}", path.display());
        assert!(checked.card.is_some(), "{}", path.display());
    }
}

/// A budget is overdrawn by any factor, also by one that no double holds: `max(0, 1 - actual / max)` is 0.
#[test]
fn a_run_far_beyond_its_budget_saves_nothing() {
    let scorer = Scorer::new(card(&folder().join("workflow/1.0.0.toml"), &folder())).unwrap();
    let run = json!({
        "output_quality": 1, "steps_completed": 2, "steps_total": 2, "actual_tao": 1e308, "max_budget_tao": 1e-308,
        "actual_seconds": 1e308, "max_latency_seconds": 1e-308, "actual_retries": 0, "declared_retry_budget": 0,
        "timeouts": 0, "hard_failures": 0,
    });
    let facts = facts(scorer.card(), run.as_object().unwrap());
    let mut work = Workspace::new(&scorer);
    let record = scorer.score(&mut work, &item(&facts), &Context { as_of: None }).unwrap();
    let readings: Vec<_> = record.dimensions.iter().map(|part| (part.status, part.reading)).collect();
    let scored = |reading| (ValueStatus::Scored, Some(reading));
    assert_eq!(readings, [scored(1_000_000_000), scored(0), scored(0), scored(1_000_000_000)]);
    assert_eq!(record.score.map(|score| score.to_f64()), Some(0.6));
}

/// "LLM/tool calls relative to limits": what a challenge does not limit is known not to be limited, so nothing stays open.
#[test]
fn a_limit_of_calls_that_is_not_set_leaves_nothing_open() {
    let scorer = Scorer::new(card(&folder().join("arena/challenges/lean-refactor.toml"), &folder())).unwrap();
    let mut work = Workspace::new(&scorer);
    let mut outcome = |limits: &[(&str, Value)]| {
        let calls = json!({
            "correctness_score": 850, "code_quality_score": 700, "precision_score": 900, "analysis_score": 600,
            "verified": true, "total_tokens": 12000, "token_budget": 40000, "llm_calls": 8, "tool_calls": 21,
            "limits_llm_calls": false, "limits_tool_calls": false,
            "token_efficiency_refused": false, "call_efficiency_refused": false,
        });
        let given = with(&calls, limits);
        let facts = facts(scorer.card(), given.as_object().unwrap());
        let record = scorer.score(&mut work, &item(&facts), &Context { as_of: None }).unwrap();
        let calls = record.dimensions.iter().find(|part| part.key == "call_efficiency").unwrap();
        let (low, high) = record.bounds.unwrap();
        (calls.status, calls.reading, low == high)
    };
    let llm = [("max_llm_calls", json!(20)), ("limits_llm_calls", json!(true))];
    let tools = [("max_tool_calls", json!(30)), ("limits_tool_calls", json!(true))];
    let scored = |reading| (ValueStatus::Scored, Some(reading), true);
    assert_eq!(outcome(&llm), scored(600_000_000));
    assert_eq!(outcome(&tools), scored(300_000_000));
    assert_eq!(outcome(&[&llm[..], &tools].concat()), scored(300_000_000), "the tighter of the two");
    assert_eq!(outcome(&[]), (ValueStatus::Gated, Some(0), true), "no constraints are defined");
    // Calls that were not counted are a different case: with them the score could change.
    let uncounted = [&llm[..], &tools, &[("llm_calls", Value::Null)]].concat();
    assert_eq!(outcome(&uncounted), (ValueStatus::Missing, Some(0), false));
}

#[test]
fn every_card_lies_where_its_name_says() {
    for path in released() {
        let card = card(&path, &folder());
        let place = match &card.base {
            Some(base) => {
                let family = base.split('@').next().unwrap();
                format!("{family}/challenges/{}.toml", card.id)
            }
            None => format!("{}/{}.toml", card.id, card.version),
        };
        assert_eq!(path, folder().join(place));
    }
}

#[test]
fn nothing_in_a_card_is_dead() {
    for path in released() {
        let card = card(&path, &folder());
        let name = card.name();
        let kind = match &card.base {
            Some(base) => base.split('@').next().unwrap(),
            None if name == FROM_FACTS => FROM_FACTS,
            None => &card.id,
        };
        let items = [from_vectors(kind), by_hand(kind)].concat();
        let mut exercised = Exercised::default();
        exercised.expect(&card);
        if card.family.is_some() {
            challenges(&card).iter().for_each(|scorer| exercised.score(scorer, &items));
        } else {
            exercised.score(&Scorer::new(card.clone()).unwrap(), &items);
        }
        exercised.check(&card.name());
    }
}
