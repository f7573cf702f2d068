//! Harbor and Terminal-Bench: results of trials.

use karat_core::facts::Outcome;
use karat_core::timestamp::Timestamp;
use serde_json::Value;

use super::json::{Element, Members, Wanted};
use super::out::{Out, Run, known};
use super::{Fault, Importer, Input, Role, Stop, atif, json};

/// The importer of trials of Harbor and Terminal-Bench.
pub(super) static IMPORTER: Importer = Importer {
    name: "harbor",
    words: "a result of Harbor",
    has_traces: true,
    has_scores: true,
    role: Role::Trial,
    marks: &[&["task_name", "trial_name", "agent_info"], &["results[].task_id", "results[].is_resolved"]],
    read,
    ..Importer::RUNS
};

const TRIAL: &str = "task_name trial_name id agent_info.name agent_info.model_info.name agent_info.model_info.provider \
    agent_result.n_input_tokens agent_result.n_output_tokens agent_result.cost_usd verifier_result.rewards \
    verifier_result.reward exception_info.exception_type started_at finished_at agent_execution.started_at \
    agent_execution.finished_at";
const LISTED: &str = "id trial_name task_id is_resolved failure_mode total_input_tokens total_output_tokens agent_started_at \
    agent_ended_at trial_started_at";

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let wanted = Wanted::of(&[("", TRIAL), ("", "accuracy n_resolved n_unresolved"), ("results[]", LISTED)]);
    let agent = agent_beside(input);
    let (mut runs, mut judged, mut resolved) = (0, 0, 0);
    let about = json::read(input.json()?, &wanted, &mut |row| {
        let solved = old(row, input, agent.as_deref(), out)?;
        runs += 1;
        judged += usize::from(solved.is_some());
        resolved += usize::from(solved == Some(1.0));
        Ok(())
    })?;
    if about.has("task_name") {
        return trial(&about, input, out);
    }
    out.states_count("`n_resolved`", about.number("n_resolved").filter(|_| runs > 0), resolved);
    out.states_count("`n_unresolved`", about.number("n_unresolved").filter(|_| runs > 0), runs - resolved);
    let share = |of: usize| resolved as f64 / of as f64;
    // Of none with a verdict there is no share, whatever is stated.
    let is_other = |stated: &f64| judged == 0 || (stated - share(judged)).abs() > 1e-4;
    if let Some(stated) = about.number("accuracy").filter(|stated| runs > 0 && is_other(stated)) {
        let own = if judged > 0 { ((share(judged) * 1e4).round() / 1e4).to_string() } else { "none".into() };
        let is_failed = (stated - share(runs)).abs() < 1e-4;
        let why = if is_failed { ": the others are failures there" } else { ", and does not say why" };
        let file = input.name();
        out.contradiction(format!(
            "`{file}` states {stated} as its accuracy; its items give {own} over the {judged} of {runs} with a verdict{why}"
        ));
    }
    Ok(())
}

fn between(own: &Members, from: &str, to: &str) -> Option<f64> {
    // Times without a zone are of one clock, so their difference is known.
    let at = |name: &str| {
        let text = own.text(name)?;
        Timestamp::parse(text).or_else(|_| Timestamp::parse(&format!("{text}Z"))).ok()
    };
    Some(at(to)?.seconds_since(at(from)?)).filter(|seconds| *seconds >= 0.0)
}

fn trial(own: &Members, input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let task = own.text("task_name").unwrap_or_default();
    let agent = own.text("agent_info.name").unwrap_or("agent");
    let subject = match own.text("agent_info.model_info.name") {
        Some(model) => format!("{agent} ({model})"),
        None => agent.to_owned(),
    };
    let id = own.text("id").or_else(|| own.text("trial_name")).unwrap_or_else(|| input.stem());
    let tokens = own.number("agent_result.n_input_tokens");
    let tokens = tokens.zip(own.number("agent_result.n_output_tokens")).map(|(input, output)| input + output);
    let mut run = Run {
        subject,
        task: Some(task.to_owned()),
        id: id.to_owned(),
        time: own.text("started_at").map(str::to_owned),
        seconds: between(own, "agent_execution.started_at", "agent_execution.finished_at"),
        tokens: known(out, "a number of tokens", tokens),
        cost_usd: known(out, "a cost", own.number("agent_result.cost_usd")),
        ..Run::default()
    };
    let rewards = own.get("verifier_result.rewards").and_then(Value::as_object);
    let only =
        rewards.and_then(|rewards| rewards.keys().next()).filter(|_| rewards.is_some_and(|it| it.len() == 1));
    let name = match &out.options.score {
        Some(wanted) => wanted,
        None => {
            only.filter(|_| rewards.is_some_and(|it| !it.contains_key("reward"))).map_or("reward", |it| it)
        }
    };
    let reward = match rewards {
        Some(rewards) => rewards.get(name).and_then(Value::as_f64),
        None => own.number("verifier_result.reward"),
    };
    run.score = Some(name.to_owned());
    for (name, value) in rewards.into_iter().flatten().take(64) {
        if rewards.is_some_and(|all| all.len() > 1) {
            run.scored(name, value.as_f64());
        }
    }
    run.solved = reward;
    match own.text("exception_info.exception_type") {
        // The agent is not at fault if it could not be set up in time.
        Some(kind) if kind.contains("Timeout") && kind.contains("Agent") && !kind.contains("Setup") => {
            run.outcome = Some(Outcome::Stopped);
        }
        Some(_) => {
            run.outcome = Some(Outcome::NoVerdict);
            let reason = "the reward of a trial that ended in an exception";
            out.left_out_times(reason, run.solved.is_some().into());
            run.solved = None;
        }
        None if run.solved.is_none() => {
            run.outcome = Some(Outcome::NoVerdict);
            out.left_out("no reward of a trial: it has no verdict");
        }
        None => {}
    }
    if out.wants_steps()
        && let Some(file) =
            input.path().and_then(|path| path.parent()).map(|trial| trial.join("agent/trajectory.json"))
        && Input::is_plain(&file)
    {
        let beside = Input::file(file);
        let in_file = |place: &str| format!("agent/trajectory.json, {place}");
        let way = atif::way(&beside).map_err(|stop| stop.at(in_file))?;
        (run.steps, run.objective) = (way.steps, way.objective);
    }
    if run.solved.is_some_and(|solved| solved < 1.0) {
        run.outcome = run.outcome.or(Some(Outcome::Failed));
    }
    out.run("$", run)
}

/// Returns agent and model as the settings beside the results of Terminal-Bench name them.
fn agent_beside(input: &Input) -> Option<String> {
    let file = Some(input.path()?.with_file_name("run_metadata.json")).filter(|file| Input::is_plain(file));
    let text = Input::file(file?).json().ok()?;
    let own = json::read(text, &Wanted::of(&[("", "agent_name model_name")]), &mut |_| Ok(())).ok()?;
    let agent = own.text("agent_name")?;
    Some(own.text("model_name").map_or_else(|| agent.to_owned(), |model| format!("{agent} ({model})")))
}

/// Takes a result of the first form of Terminal-Bench, and returns its verdict.
fn old(
    row: &Element<'_>,
    input: &Input,
    agent: Option<&str>,
    out: &mut Out<'_>,
) -> Result<Option<f64>, Stop> {
    let own = row.own;
    let Some(task) = own.text("task_id") else {
        return Err(Fault::new(row.place, "a result without `task_id`", "the id of the task").into());
    };
    let folder = input.folder().unwrap_or_else(|| input.stem());
    let name = own.text("trial_name").or_else(|| own.text("id")).unwrap_or(task);
    let tokens = own.number("total_input_tokens");
    let tokens = tokens.zip(own.number("total_output_tokens")).map(|(input, output)| input + output);
    let mut run = Run {
        subject: agent.unwrap_or(folder).to_owned(),
        task: Some(task.to_owned()),
        id: format!("{folder}/{name}"),
        time: own.text("trial_started_at").map(str::to_owned),
        seconds: between(own, "agent_started_at", "agent_ended_at"),
        tokens: known(out, "a number of tokens", tokens),
        ..Run::default()
    };
    let resolved = own.flag("is_resolved");
    run.solved = resolved.map(|flag| f64::from(u8::from(flag)));
    match own.text("failure_mode") {
        Some("agent_timeout" | "context_length_exceeded" | "output_length_exceeded") => {
            run.outcome = Some(Outcome::Stopped);
        }
        Some("none" | "unset") | None => {}
        Some(_) if run.solved != Some(1.0) => {
            run.solved = None;
            run.outcome = Some(Outcome::NoVerdict);
            out.left_out("the result of a trial that the program broke off");
        }
        Some(_) => {}
    }
    if resolved.is_none() && run.outcome.is_none() {
        run.outcome = Some(Outcome::NoVerdict);
        out.left_out("no result of a trial: it has no verdict");
    }
    let solved = run.solved;
    out.run(row.place, run)?;
    Ok(solved)
}
