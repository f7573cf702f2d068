//! The Agent Trajectory Interchange Format. A trajectory has no outcome.

use karat_core::timestamp::Timestamp;

use super::json::Wanted;
use super::out::{Out, Run, known, plain};
use super::{Fault, Input, Stop, json};

pub(super) fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let paths = [
        "schema_version",
        "session_id",
        "trajectory_id",
        "agent.name",
        "agent.model_name",
        "final_metrics.total_prompt_tokens",
        "final_metrics.total_completion_tokens",
        "final_metrics.total_cost_usd",
        "steps[].timestamp",
        "steps[].source",
        "steps[].metrics.prompt_tokens",
        "steps[].metrics.completion_tokens",
        "steps[].metrics.cost_usd",
    ];
    let (mut count, mut first, mut last) = (0u32, None, None);
    let (mut tokens, mut cost): (Option<f64>, Option<f64>) = (None, None);
    let mut unpriced = 0u32;
    let log = json::read(input.json()?, &Wanted::new(&paths), &mut |step| {
        let own = step.own;
        count += u32::from(own.text("source") == Some("agent"));
        if let Some(time) = own.text("timestamp") {
            let at = Timestamp::parse(time).ok();
            first = first.take().or_else(|| at.map(|at| (at, time.to_owned())));
            last = at.or(last);
        }
        // Prompt tokens include those that were cached.
        let used = own.number("metrics.prompt_tokens").zip(own.number("metrics.completion_tokens"));
        if let Some((prompt, completion)) = used {
            tokens = Some(tokens.unwrap_or_default() + prompt + completion);
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
    let id = log.text("session_id").or_else(|| log.text("trajectory_id")).unwrap_or_else(|| input.stem());
    let summed = cost.filter(|_| unpriced == 0);
    let mut run = Run {
        subject,
        id: id.to_owned(),
        seconds: first.as_ref().zip(last).map(|((first, _), last)| last.seconds_since(*first)),
        time: first.map(|(_, time)| time),
        tokens: known(out, "a number of tokens", total.or(tokens)),
        cost_usd: known(out, "a cost", log.number("final_metrics.total_cost_usd").or(summed)),
        ..Run::default()
    };
    run.other.extend(plain(f64::from(count)).map(|steps| (String::from("steps"), steps.into())));
    out.left_out("whether the task was solved: a trajectory does not say so");
    out.left_out("the task: a trajectory names none");
    out.run("$", run)
}
