//! The course of runs over made sources: the same whatever the timing, and the same out of a recording.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::recording::{Head, Recording};
use crate::replay::attempts;

/// A source that decides by step and attempt, after a delay.
struct Made {
    /// Outcome and cost of each attempt at a step; of later ones, the last.
    plans: BTreeMap<String, Vec<(Outcome, u64)>>,
    delays_milliseconds: BTreeMap<String, u64>,
}

impl Source for Made {
    fn tier<T: Send>(&self, steps: &[&Step], run: impl Fn(&Step) -> T + Sync) -> Vec<Result<T, String>> {
        thread::scope(|scope| {
            let run = &run;
            let threads: Vec<_> = steps.iter().map(|step| scope.spawn(move || run(step))).collect();
            threads.into_iter().map(|thread| Ok(thread.join().unwrap())).collect()
        })
    }

    fn attempt(&self, step: &Step, request: Request) -> Result<Attempt, Halt> {
        if let Some(&delay) = self.delays_milliseconds.get(&step.id) {
            thread::sleep(Duration::from_millis(delay));
        }
        let plan = &self.plans[&step.id];
        let at = usize::try_from(request.attempt).unwrap() - 1;
        let &(outcome, cost_nano_tao) = plan.get(at).or(plan.last()).unwrap();
        let output = json!({"text": format!("{}:{}", step.id, request.text.len())});
        // Tiers follow each other, attempts at a step too; a timeout is as long as the plan declares.
        let bytes = step.id.as_bytes();
        let tier = bytes.get(1).or(bytes.first()).map_or(0, |&byte| u64::from(byte));
        Ok(Attempt {
            key: request.key,
            step: request.step,
            number: request.attempt,
            outcome,
            output: (outcome == Outcome::Success).then_some(output),
            reason: (outcome == Outcome::Failed).then(|| String::from("it broke")),
            cost_nano_tao,
            start_microseconds: tier * 100_000_000 + request.attempt * 2_000_000,
            duration_microseconds: 1_000_000,
        })
    }
}

fn job(plan: &Value, budget: f64) -> Job {
    let task = json!({"task_type": "agent", "reference": {"goal_checklist": [{"text": "n"}]},
        "constraints": {"max_budget_tao": budget}});
    match Job::new(plan.to_string().as_bytes(), task.to_string().as_bytes(), Some("m"), None) {
        Ok((job, _)) => job,
        Err(refusal) => panic!("{refusal:?}"),
    }
}

fn recorded(job: &Job, course: &Course) -> Recording {
    let head = Head {
        plan: job.plan_digest(),
        task: job.task_digest(),
        is_stopped: course.is_stopped,
        started_microseconds: 1_700_000_000_000_000,
    };
    Recording::parse(&Recording::new(head, attempts(course).cloned().collect()).text()).unwrap()
}

/// The log in short: `a1+`, `b1-`, `b2t`, `c?` for no value, `d1$` for the budget.
fn log(course: &Course) -> String {
    let short = course.events.iter().map(|event| match event {
        Event::Attempt(attempt) => {
            let mark = ["+", "-", "t"][attempt.outcome as usize];
            format!("{}{}{mark}", attempt.step, attempt.number)
        }
        Event::Unresolved { step, .. } => format!("{step}?"),
        Event::BudgetAbort { step, number } => format!("{step}{number}$"),
    });
    short.collect::<Vec<_>>().join(" ")
}

fn node(id: &str, params: &str) -> Value {
    json!({"id": id, "subnet": "s", "action": "x", "params": params})
}

#[test]
fn failures_retries_and_the_budget_go_as_the_documents_say() {
    use Outcome::{Failed, Success};
    let plan = json!({
        "nodes": [node("a", ""), node("b", ""), node("c", "${a.output.text}"), node("d", "${b.output.text}")],
        "edges": [{"from": "a", "to": "c"}, {"from": "b", "to": "c"}, {"from": "b", "to": "d"}],
        "error_handling": {"b": {"retry_count": 2}},
    });
    let run_with = |budget, b: Vec<(Outcome, u64)>| {
        let a = ("a".to_owned(), vec![(Success, 100_000_000)]);
        let c = ("c".to_owned(), vec![(Success, 100_000_000)]);
        let d = ("d".to_owned(), vec![(Success, 100_000_000)]);
        let plans = [a, ("b".to_owned(), b), c, d].into();
        let job = job(&plan, budget);
        let course = run(&job, &Made { plans, delays_milliseconds: BTreeMap::new() });
        let recording = recorded(&job, &course);
        assert_eq!(job.replay(&recording).unwrap().events, course.events);
        log(&course)
    };
    // A failure hands on by reference, not by edge; declared retries are made.
    assert_eq!(run_with(9.0, vec![(Failed, 0)]), "a1+ b1- b2- b3- c1+ d?");
    assert_eq!(run_with(9.0, vec![(Failed, 0), (Success, 0)]), "a1+ b1- b2+ c1+ d1+");
    // The spend of a tier counts from its end on: `a` does not keep `b` from being tried, however cheap the budget.
    assert_eq!(run_with(0.1, vec![(Failed, 50_000_000)]), "a1+ b1- b2- b3$ c1$ d1$");
    assert_eq!(run_with(0.2, vec![(Success, 100_000_000)]), "a1+ b1+ c1$ d1$");
    assert_eq!(run_with(0.200_001, vec![(Success, 100_000_000)]), "a1+ b1+ c1+ d1+");
    assert_eq!(run_with(0.0, vec![(Success, 0)]), "a1$ b1$ c1$ d1$");
}

#[test]
fn the_output_is_that_of_the_first_step_of_the_last_tier_with_a_success() {
    use Outcome::{Failed, Success};
    let plan = json!({
        "nodes": [node("a", ""), node("b", ""), node("c", ""), node("d", "")],
        "edges": [{"from": "a", "to": "c"}, {"from": "a", "to": "b"}, {"from": "b", "to": "d"}],
    });
    let job = job(&plan, 9.0);
    let final_output = |outcomes: [Outcome; 4]| {
        let steps = ["a", "b", "c", "d"].into_iter().zip(outcomes);
        let plans = steps.map(|(id, outcome)| (id.to_owned(), vec![(outcome, 0)])).collect();
        let course = run(&job, &Made { plans, delays_milliseconds: BTreeMap::new() });
        let text = course.final_output.and_then(|output| output["text"].as_str().map(str::to_owned));
        text.map_or_else(|| "none".to_owned(), |text| text[..1].to_owned())
    };
    assert_eq!(final_output([Success, Success, Success, Success]), "d");
    assert_eq!(final_output([Success, Success, Success, Failed]), "b");
    assert_eq!(final_output([Success, Failed, Success, Failed]), "c");
    assert_eq!(final_output([Success, Failed, Failed, Failed]), "a");
    assert_eq!(final_output([Failed; 4]), "none");
}

proptest! {
    /// Ids begin with the letter `t`, then their tier, so that the moments of the source fit the plan.
    #[test]
    fn a_run_is_the_same_whatever_the_timing_and_out_of_its_recording(
        tiers in prop::collection::vec(1usize..4, 1..4),
        shape in prop::collection::vec((any::<u8>(), any::<bool>()), 12),
        outcomes in prop::collection::vec(prop::collection::vec((0usize..3, 0u64..4), 1..4), 12),
        retries in prop::collection::vec(0u64..3, 12),
        delays in prop::collection::vec((0u64..4, 0u64..4), 12),
        budget in 1u64..30,
    ) {
        let ids: Vec<Vec<String>> = tiers.iter().enumerate()
            .map(|(tier, &count)| (0..count).map(|at| format!("t{tier}{at}")).collect())
            .collect();
        let (mut nodes, mut edges, mut handling) = (Vec::new(), Vec::new(), serde_json::Map::new());
        let (mut plans, mut first, mut second) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut count = 0;
        for (tier, of_tier) in ids.iter().enumerate() {
            for id in of_tier {
                let (pick, refers) = shape[count];
                let before = tier.checked_sub(1).and_then(|tier| ids.get(tier));
                let mut params = String::new();
                if let Some(from) = before.map(|before| &before[usize::from(pick) % before.len()]) {
                    edges.push(json!({"from": from, "to": id}));
                    if refers {
                        params = format!("${{{from}.output.text}}");
                    }
                }
                nodes.push(node(id, &params));
                handling.insert(id.clone(), json!({"retry_count": retries[count], "timeout_seconds": 1}));
                let of_step = outcomes[count].iter().map(|&(at, cost)| (Outcome::ALL[at], cost * 1_000_000));
                plans.insert(id.clone(), of_step.collect::<Vec<_>>());
                first.insert(id.clone(), delays[count].0);
                second.insert(id.clone(), delays[count].1);
                count += 1;
            }
        }
        prop_assume!(count <= crate::STEPS_MAX);
        let plan = json!({"nodes": nodes, "edges": edges, "error_handling": handling});
        let job = job(&plan, budget as f64 / 1000.0);
        let one = run(&job, &Made { plans: plans.clone(), delays_milliseconds: first });
        let other = run(&job, &Made { plans, delays_milliseconds: second });
        prop_assert_eq!(&one, &other);
        let recording = recorded(&job, &one);
        let live = job.ended(one, &recording).unwrap();
        let replayed = job.replay(&recording).unwrap();
        prop_assert_eq!(&live.events, &replayed.events);
        let is_stopped = live.events.iter().any(|event| matches!(event, Event::BudgetAbort { .. }));
        prop_assert!(live.evidence.contains(&format!("\"budget_aborted\":{is_stopped},")), "{}", live.evidence);
        prop_assert_eq!(live.evidence, replayed.evidence);
    }
}
