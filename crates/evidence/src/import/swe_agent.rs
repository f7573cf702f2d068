//! SWE-agent and mini-SWE-agent: trajectories. That something was submitted does not say that it solves the task.

use karat_core::facts::Outcome;

use super::json::{Members, Wanted};
use super::out::{Out, Run, known, plain};
use super::{Fault, Input, Stop, json};

pub(super) fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let paths = [
        "environment",
        "info.exit_status",
        "info.model_stats.instance_cost",
        "info.model_stats.tokens_sent",
        "info.model_stats.tokens_received",
        "info.model_stats.api_calls",
        "trajectory[].execution_time",
    ];
    let mut steps = 0u32;
    let log = json::read(input.json()?, &Wanted::new(&paths), &mut |_| {
        steps += 1;
        Ok(())
    })?;
    let tokens = log.number("info.model_stats.tokens_sent");
    let tokens = tokens.zip(log.number("info.model_stats.tokens_received")).map(|(sent, got)| sent + got);
    let tokens = known(out, "a number of tokens", tokens);
    one(input, &log, "swe-agent", tokens, f64::from(steps), out)
}

pub(super) fn read_mini(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let paths = [
        "instance_id",
        "trajectory_format",
        "info.exit_status",
        "info.model_stats.instance_cost",
        "info.model_stats.api_calls",
        "info.config.model.model_name",
        "messages[].role",
    ];
    let mut steps = 0u32;
    let log = json::read(input.json()?, &Wanted::new(&paths), &mut |message| {
        steps += u32::from(message.own.text("role") == Some("assistant"));
        Ok(())
    })?;
    let model = log.text("info.config.model.model_name").unwrap_or("mini-swe-agent").to_owned();
    one(input, &log, &model, None, f64::from(steps), out)
}

fn one(
    input: &Input,
    log: &Members,
    subject: &str,
    tokens: Option<f64>,
    steps: f64,
    out: &mut Out<'_>,
) -> Result<(), Stop> {
    let Some(status) = log.text("info.exit_status") else {
        let fault = Fault::new("$.info", "no `exit_status`", "how the run ended");
        return Err(fault.hint("the run may still be going on, or the file be of an older version").into());
    };
    let outcome = match status.to_ascii_lowercase().as_str() {
        // It was not judged.
        "submitted" => None,
        status if status.starts_with("submitted (") => Some(Outcome::Stopped),
        "limitsexceeded" | "timeexceeded" => Some(Outcome::Stopped),
        status if status.starts_with("exit_cost") || status.starts_with("exit_context") => {
            Some(Outcome::Stopped)
        }
        status if status.contains("time") && status.starts_with("exit") => Some(Outcome::Stopped),
        "exit_forfeit" => Some(Outcome::Refused),
        // An exception of the harness or of the model behind it.
        _ => Some(Outcome::NoVerdict),
    };
    out.left_out(match outcome {
        None => "whether a submission solves the task: `submitted` does not say so",
        Some(_) => "whether the task was solved: the run ended before a submission",
    });
    let task = log.text("instance_id").unwrap_or_else(|| input.stem());
    let mut run = Run {
        subject: subject.to_owned(),
        task: Some(task.to_owned()),
        id: format!("{subject}/{}", input.stem()),
        outcome,
        cost_usd: known(out, "a cost", log.number("info.model_stats.instance_cost")),
        tokens,
        ..Run::default()
    };
    let calls = log.number("info.model_stats.api_calls");
    for (name, value) in [("steps", Some(steps)), ("calls", calls.filter(|calls| *calls > 0.0))] {
        run.other.extend(value.and_then(plain).map(|value| (name.to_owned(), value.into())));
    }
    run.other.push((String::from("exit_status"), status.into()));
    out.left_out("no time of the run");
    out.run("$.info", run)
}
