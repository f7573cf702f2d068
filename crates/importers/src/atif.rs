//! The Agent Trajectory Interchange Format. A trajectory has no outcome.

use karat_core::timestamp::Timestamp;

use serde_json::Value;

use super::json::{Members, Wanted};
use super::out::{Out, Run, known};
use super::steps::{Steps, text_of};
use super::{Fault, Importer, Input, Stop, json};

/// The importer of the Agent Trajectory Interchange Format.
pub(super) static IMPORTER: Importer = Importer {
    name: "atif",
    words: "a trajectory in ATIF",
    has_traces: true,
    marks: &[&["schema_version=ATIF*"], &["session_id", "agent.name", "steps[].source"]],
    read,
    ..Importer::RUNS
};

const STEP: &str = "message reasoning_content tool_calls observation";

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let about = "schema_version session_id trajectory_id agent.name agent.model_name final_metrics.total_prompt_tokens \
        final_metrics.total_completion_tokens final_metrics.total_cost_usd";
    let measured =
        "timestamp source is_copied_context metrics.prompt_tokens metrics.completion_tokens metrics.cost_usd";
    let wanted = Wanted::of(&[
        ("", about),
        ("steps[]", measured),
        ("steps[]", if out.wants_steps() { STEP } else { "" }),
        ("subagent_trajectories[]", "trajectory_id"),
    ]);
    let mut way = Way::default();
    let (mut count, mut first, mut last) = (0u32, None, None);
    let (mut tokens, mut cost): (Option<f64>, Option<f64>) = (None, None);
    let (mut unpriced, mut uncounted, mut copied, mut within) = (0u32, 0u32, 0u64, 0u64);
    let log = json::read(input.json()?, &wanted, &mut |step| {
        let own = step.own;
        if step.place.starts_with("$.subagent_trajectories") {
            within += 1;
            return Ok(());
        }
        if own.flag("is_copied_context") == Some(true) {
            // The trajectory that this one continues counts it.
            copied += 1;
            return Ok(());
        }
        way.step(own);
        count += u32::from(own.text("source") == Some("agent"));
        if let Some(time) = own.text("timestamp") {
            let at = Timestamp::parse(time).ok();
            first = first.take().or_else(|| at.map(|at| (at, time.to_owned())));
            last = at.or(last);
        }
        // Prompt tokens include those that were cached.
        let parts = ["metrics.prompt_tokens", "metrics.completion_tokens"].map(|name| own.number(name));
        let used = match parts {
            [Some(prompt), Some(completion)] => Some(prompt + completion),
            [None, None] => None,
            _ => {
                uncounted += 1;
                None
            }
        };
        if let Some(used) = used {
            tokens = Some(tokens.unwrap_or_default() + used);
        }
        match own.number("metrics.cost_usd") {
            Some(price) => cost = Some(cost.unwrap_or_default() + price),
            None => unpriced += u32::from(used.is_some()),
        }
        Ok(())
    })?;
    let Some(agent) = log.text("agent.name") else {
        return Err(Fault::new("$.agent", "no `name`", "the name of the agent").into());
    };
    let total = log.number("final_metrics.total_prompt_tokens");
    let total =
        total.zip(log.number("final_metrics.total_completion_tokens")).map(|(prompt, own)| prompt + own);
    let subject = match log.text("agent.model_name") {
        Some(model) => format!("{agent} ({model})"),
        None => agent.to_owned(),
    };
    // Trajectories of one session may share its id.
    let id = log.text("trajectory_id").or_else(|| log.text("session_id")).unwrap_or_else(|| input.stem());
    let summed = cost.filter(|_| unpriced == 0);
    if total.is_none() && uncounted > 0 {
        tokens = None;
        out.left_out("tokens of a trajectory: a step has those of the prompt or of the answer alone");
    }
    out.left_out_times("a trajectory of a subagent within another: it counts as a separate file", within);
    out.left_out_times("a step copied from the trajectory that this one continues", copied);
    let id = if copied > 0 { format!("{id}/{}", input.stem()) } else { id.to_owned() };
    let mut run = Run {
        subject,
        id,
        seconds: first.as_ref().zip(last).map(|((first, _), last)| last.seconds_since(*first)),
        time: first.map(|(_, time)| time),
        tokens: known(out, "a number of tokens", total.or(tokens)),
        cost_usd: known(out, "a cost", log.number("final_metrics.total_cost_usd").or(summed)),
        steps: way.steps,
        objective: way.objective,
        ..Run::default()
    };
    run.measured("steps", Some(f64::from(count)));
    if !out.wants_steps() {
        out.left_out("whether the task was solved: a trajectory does not say so");
    }
    out.left_out("the task: a trajectory names none");
    out.run("$", run)
}

/// The steps of a trajectory, and what the user asked for first.
#[derive(Default)]
pub(super) struct Way {
    pub steps: Steps,
    pub objective: Option<String>,
}

impl Way {
    fn step(&mut self, own: &Members) {
        let text = text_of(own.get("message"));
        match own.text("source") {
            Some("user") if self.objective.is_none() => self.objective = Some(text),
            Some("user") => self.steps.observation(&text, false),
            Some("agent") => {
                self.steps.thought(own.text("reasoning_content").unwrap_or_default());
                self.steps.thought(&text);
                for call in own.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                    let Some(tool) = call.get("function_name").and_then(Value::as_str) else { continue };
                    self.steps.call(tool, call.get("arguments").and_then(json::members_of));
                }
            }
            _ => {}
        }
        let results = own.get("observation").and_then(|it| it.get("results")).and_then(Value::as_array);
        for result in results.into_iter().flatten() {
            self.steps.observation(&text_of(result.get("content")), false);
        }
    }
}

/// Returns the steps of a trajectory that lies beside the result of its run.
pub(super) fn way(input: &Input) -> Result<Way, Stop> {
    let wanted = Wanted::of(&[("steps[]", STEP), ("steps[]", "source")]);
    let mut way = Way::default();
    json::read(input.json()?, &wanted, &mut |step| {
        way.step(step.own);
        Ok(())
    })?;
    Ok(way)
}
