//! tau-bench and tau2-bench: attempts at tasks with a simulated user.

use std::collections::BTreeSet;

use karat_core::facts::Outcome;
use serde_json::Value;

use super::json::{Element, Members, Wanted};
use super::out::{NEAR, Out, Run, known, share};
use super::steps::Steps;
use super::{Fault, Importer, Input, Stop, json};

/// The importer of tau2-bench.
pub(super) static TAU_2: Importer = Importer {
    name: "tau2",
    words: "a file of results of tau2-bench",
    has_traces: true,
    has_scores: true,
    marks: &[
        &["simulations[].task_id", "info"],
        &["info.environment_info", "info.agent_info"],
        &["task_id", "termination_reason", "trial"],
        &["model_name", "submitting_organization", "results"],
    ],
    read: read_2,
    ..Importer::RUNS
};

pub(super) static TAU_BENCH: Importer = Importer {
    name: "tau-bench",
    words: "a file of results of tau-bench",
    has_traces: true,
    has_scores: true,
    marks: &[&["[].task_id", "[].reward", "[].info"]],
    read,
    ..Importer::RUNS
};

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let steps = if out.wants_steps() { "info.task.instruction traj" } else { "" };
    let wanted = Wanted::of(&[("[]", "task_id trial reward info.error"), ("[]", steps)]);
    let subject = input.stem().to_owned();
    json::read(input.json()?, &wanted, &mut |element| {
        let own = element.own;
        let Some(task) = own.name("task_id") else {
            return Err(Fault::new(element.place, "a result without `task_id`", "the id of the task").into());
        };
        let trial = own.name("trial").unwrap_or_else(|| String::from("0"));
        let mut run = Run {
            subject: subject.clone(),
            id: format!("{subject}/{task}/{trial}"),
            task: Some(task),
            steps: steps_of(own.get("traj"), |_, text| text.starts_with("Error")),
            objective: own.text("info.task.instruction").map(str::to_owned),
            result: own.name("reward").map(|reward| format!("reward {reward}")),
            ..Run::default()
        };
        if own.has("info.error") {
            run.outcome = Some(Outcome::NoVerdict);
            out.left_out("the reward of 0 of a run that ended in an error of the program");
        } else {
            reward(own.number("reward"), &mut run, out);
        }
        if !out.wants_steps() {
            out.left_out(
                "no cost, time and tokens of the agent: the log has only the cost of the simulated user",
            );
        }
        out.run(element.place, run)
    })?;
    Ok(())
}

/// Returns the steps in a list of messages; those of the simulated user are what the agent observes.
fn steps_of(list: Option<&Value>, has_failed: impl Fn(&Value, &str) -> bool) -> Steps {
    let mut steps = Steps::default();
    for message in list.and_then(Value::as_array).into_iter().flatten() {
        // In tau2 the user has tools too.
        if message.get("requestor").and_then(Value::as_str) != Some("user") {
            steps.message(message, &has_failed);
        }
    }
    steps
}

fn reward(reward: Option<f64>, run: &mut Run, out: &mut Out<'_>) {
    run.score = Some(String::from("reward"));
    match reward {
        Some(reward) if (reward - 1.0).abs() <= NEAR => run.solved = Some(1.0),
        Some(reward) => {
            run.solved = Some(reward);
            run.outcome = run.outcome.or(Some(Outcome::Failed));
        }
        None => {
            run.outcome = run.outcome.or(Some(Outcome::NoVerdict));
            out.left_out("no reward of a run: it has no verdict");
        }
    }
}

/// A run, without its messages, which are most of a log.
const RUN: &str = "id task_id trial start_time end_time duration termination_reason agent_cost reward_info.reward \
    reward_info.info.error mode seed timestamp";
/// Facts that all runs of a log share.
const SHARED: &str = "info.agent_info.llm info.environment_info.domain_name";

fn read_2(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let messages = if out.wants_steps() { "messages" } else { "" };
    let submitted =
        "info.agent_info.implementation model_name submitting_organization submission_date results";
    let wanted = Wanted::of(&[
        ("", SHARED),
        ("", submitted),
        ("", RUN),
        ("", messages),
        ("", "info.num_trials"),
        ("tasks[]", "id"),
        ("simulations[]", RUN),
        ("simulations[]", messages),
    ]);
    let (mut count, mut tasks, mut seen, mut again) = (0, 0, BTreeSet::new(), 0);
    let about = json::read(input.json()?, &wanted, &mut |element| {
        if element.place.starts_with("$.tasks") {
            tasks += 1;
            return Ok(());
        }
        count += 1;
        again += u64::from(!seen.insert((element.own.name("task_id"), element.own.name("trial"))));
        simulation(element, element.before, out)
    })?;
    if again > 0 {
        let file = input.name();
        out.contradiction(format!("`{file}` has {again} simulations of the same task and trial as another"));
    }
    if let Some(trials) = about.number("info.num_trials").filter(|_| tasks > 0) {
        let what = format!("the number of simulations ({tasks} tasks by {trials} trials)");
        out.states_count(&what, Some(f64::from(tasks) * trials), count);
    }
    if about.has("submitting_organization") && about.has("results") {
        return submission(&about, input, out);
    }
    if about.has("task_id") && about.has("termination_reason") {
        // One run of the form with a folder: what all runs share is in the file beside that folder.
        let shared = beside(input)?;
        let shared = shared.unwrap_or_default();
        return simulation(&Element { place: "$", before: &shared, own: &about, line: &[] }, &shared, out);
    }
    if count == 0 && about.has("info.agent_info.implementation") {
        out.note("the runs are in the folder `simulations` beside this file: give that");
    }
    Ok(())
}

/// Takes an entry of the leaderboard: shares in percent for each domain, and no runs.
fn submission(about: &Members, input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let subject = about.text("model_name").unwrap_or_else(|| input.stem());
    for (domain, result) in about.get("results").and_then(Value::as_object).into_iter().flatten() {
        let of = |name: &str| result.get(name).and_then(Value::as_f64);
        let Some(pass) = of("pass_1") else {
            out.left_out("a domain without a share of tasks passed at the first try");
            continue;
        };
        let mut run = Run {
            subject: subject.to_owned(),
            task: Some(domain.clone()),
            id: format!("{}/{domain}", input.stem()),
            solved: Some(share(pass)),
            cost_usd: known(out, "a cost", of("cost")),
            ..Run::default()
        };
        for name in ["pass_2", "pass_3", "pass_4"] {
            run.measured(name, of(name).map(share));
        }
        out.left_out("no results of single tasks: an entry has their share");
        out.run(&format!("$.results.{domain}"), run)?;
    }
    Ok(())
}

/// Returns the members of `results.json` above the folder of a run.
fn beside(input: &Input) -> Result<Option<Members>, Stop> {
    let file =
        input.path().and_then(|path| path.parent()?.parent()).map(|folder| folder.join("results.json"));
    let Some(file) = file.filter(|file| Input::is_plain(file)) else { return Ok(None) };
    json::read(Input::file(file).json()?, &Wanted::of(&[("", SHARED)]), &mut |_| Ok(())).map(Some)
}

fn simulation(element: &Element<'_>, about: &Members, out: &mut Out<'_>) -> Result<(), Stop> {
    let own = element.own;
    let Some(task) = own.name("task_id") else {
        return Err(Fault::new(element.place, "a run without `task_id`", "the id of the task").into());
    };
    let domain = about.text("info.environment_info.domain_name");
    let task = domain.map_or(task.clone(), |domain| format!("{domain}/{task}"));
    let subject = about.text("info.agent_info.llm").unwrap_or("agent");
    if subject == "agent" && out.options.subject.is_none() {
        out.left_out(
            "the name of the agent, which `results.json` above the folder of a run has (--subject NAME)",
        );
    }
    let trial = own.name("trial").unwrap_or_else(|| String::from("0"));
    let id = own.text("id").map_or_else(|| format!("{subject}/{task}/{trial}"), str::to_owned);
    let mut run = Run {
        subject: subject.to_owned(),
        id,
        task: Some(task),
        seconds: own.number("duration"),
        time: own.text("start_time").map(str::to_owned),
        steps: steps_of(own.get("messages"), |message, _| {
            message.get("error").and_then(Value::as_bool) == Some(true)
        }),
        result: own.text("termination_reason").map(|reason| format!("ended by {reason}")),
        ..Run::default()
    };
    run.cost_usd = known(out, "a cost", own.number("agent_cost"));
    match own.text("termination_reason") {
        Some("max_steps" | "too_many_errors" | "timeout") => run.outcome = Some(Outcome::Stopped),
        // These two are in no metric of tau2 itself.
        Some("infrastructure_error" | "context_window_exceeded" | "error") => {
            run.outcome = Some(Outcome::NoVerdict)
        }
        _ => {}
    }
    let given = own.get("reward_info.reward").and_then(Value::as_f64);
    if run.outcome == Some(Outcome::NoVerdict) {
        out.left_out_times("the reward of a run that the program broke off", given.is_some().into());
    } else {
        reward(given, &mut run, out);
    }
    out.run(element.place, run)
}
