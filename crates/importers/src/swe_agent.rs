//! SWE-agent and mini-SWE-agent: trajectories. That something was submitted does not say that it solves the task.

use karat_core::facts::Outcome;

use serde_json::{Value, json};

use super::json::{Element, Members, Wanted};
use super::out::{Out, Run, known, moment};
use super::steps::{Steps, text_of};
use super::{Fault, Importer, Input, Role, Stop, json, verdicts};

pub(super) static SWE_AGENT: Importer = Importer {
    name: "swe-agent",
    words: "a trajectory of SWE-agent",
    has_traces: true,
    role: Role::Trajectory,
    marks: &[&["trajectory[].action", "trajectory[].observation"]],
    read,
    ..Importer::RUNS
};

pub(super) static MINI_SWE_AGENT: Importer = Importer {
    name: "mini-swe-agent",
    words: "a trajectory of mini-SWE-agent",
    has_traces: true,
    role: Role::Trajectory,
    marks: &[&["trajectory_format", "messages[]"], &["info.exit_status", "info.model_stats", "messages[]"]],
    read: read_mini,
    ..Importer::RUNS
};

/// Words that a command prints when it did not do what was asked. A crash that the agent provokes on purpose looks the same, which
/// is why only a second call of the same tool counts as recovery.
const FAILURES: [&str; 5] = [
    "Traceback (most recent call last)", "Your proposed edit has introduced new syntax error",
    "EXECUTION TIMED OUT", "Wrong flag!", "command not found",
];

/// The steps of a trajectory, and the message that sets the task.
#[derive(Default)]
struct Way {
    steps: Steps,
    objective: Option<String>,
}

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let about = "environment replay_config info.exit_status info.model_stats.instance_cost info.model_stats.tokens_sent \
        info.model_stats.tokens_received info.model_stats.api_calls";
    let (turn, asked) =
        if out.wants_steps() { ("thought action observation", "role content is_demo") } else { ("", "") };
    let wanted = Wanted::of(&[
        ("", about),
        ("trajectory[]", "execution_time"),
        ("trajectory[]", turn),
        ("history[]", asked),
    ]);
    let mut way = Way::default();
    let mut steps = 0u32;
    let log = json::read(input.json()?, &wanted, &mut |element| {
        if element.place.starts_with("$.history") {
            way.ask(element.own);
        } else {
            steps += 1;
            way.turn(element.own);
        }
        Ok(())
    })?;
    let tokens = log.number("info.model_stats.tokens_sent");
    let tokens = tokens.zip(log.number("info.model_stats.tokens_received")).map(|(sent, got)| sent + got);
    let tokens = known(out, "a number of tokens", tokens);
    let run = Run { tokens, steps: way.steps, objective: way.objective, ..Run::default() };
    let model = models(input, &log).into_iter().next().unwrap_or_else(|| String::from("swe-agent"));
    one(input, &log, &model, run, f64::from(steps), out)
}

impl Way {
    /// Takes the first message of the user that sets the task: not the system's, not a demonstration.
    fn ask(&mut self, own: &Members) {
        let is_demo = own.flag("is_demo") == Some(true);
        if self.objective.is_none() && own.text("role") == Some("user") && !is_demo {
            self.objective = Some(text_of(own.get("content")));
        }
    }

    fn turn(&mut self, own: &Members) {
        self.steps.thought(own.text("thought").unwrap_or_default());
        let action = own.text("action").unwrap_or_default().trim();
        if let Some(tool) = action.split_whitespace().next() {
            self.steps.call(tool, Some(json!({ "command": action })));
        }
        let seen = own.text("observation").unwrap_or_default();
        self.steps.observation(seen, FAILURES.iter().any(|sign| seen.contains(sign)));
    }

    /// Takes a message of mini-SWE-agent, whose one tool is a shell.
    fn message(&mut self, element: &Element<'_>) {
        let own = element.own;
        let role = match own.text("type") {
            _ if is_answer(own) => Some("assistant"),
            Some("function_call_output") => Some("tool"),
            _ => own.text("role"),
        };
        let text = match own.get("output") {
            // The texts of an answer lie in parts of parts.
            Some(Value::Array(parts)) => {
                let texts = parts.iter().map(|part| text_of(part.get("content")));
                texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
            }
            Some(output) => text_of(Some(output)),
            None => text_of(own.get("content")),
        };
        match role {
            Some("user") if self.objective.is_none() => self.objective = Some(text),
            Some("user" | "tool") => {
                let stated = own.number("extra.returncode").map(|code| code != 0.0);
                let written =
                    || !text.contains("<returncode>0</returncode>") && text.contains("<returncode>");
                self.steps.observation(&text, stated.unwrap_or_else(written));
            }
            Some("assistant") => {
                self.steps.thought(&text);
                for command in commands(own, &text) {
                    self.steps.call("bash", Some(json!({ "command": command })));
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a message is an answer of the model, as messages have it or as the interface for responses does.
fn is_answer(own: &Members) -> bool {
    own.text("role") == Some("assistant") || own.text("object") == Some("response")
}

/// Returns the commands of a message: those that the log lists, that a call has, or that a block of the text is.
fn commands(own: &Members, text: &str) -> Vec<String> {
    let command = |it: &Value| it.get("command").and_then(Value::as_str).map(str::to_owned);
    if let Some(listed) = own.get("extra.actions").and_then(Value::as_array) {
        return listed.iter().filter_map(command).collect();
    }
    if let Some(calls) = own.get("tool_calls").and_then(Value::as_array) {
        let given = |call: &Value| json::members_of(call.get("function")?.get("arguments")?);
        return calls.iter().filter_map(|call| command(&given(call)?)).collect();
    }
    let block = ["```mswea_bash_command\n", "```bash\n"].iter().find_map(|start| text.split_once(start));
    let command = block.and_then(|(_, rest)| rest.split_once("```"));
    command.map(|(command, _)| vec![command.trim().to_owned()]).unwrap_or_default()
}

fn read_mini(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let has_steps = out.wants_steps();
    let (said, listed) = if has_steps {
        ("content type output tool_calls extra.actions extra.returncode", "content")
    } else {
        ("", "")
    };
    let about = "instance_id trajectory_format info.exit_status info.model_stats.instance_cost info.model_stats.api_calls \
        info.config.model.model_name";
    let wanted = Wanted::of(&[
        ("", about),
        ("messages[]", "role object extra.timestamp"),
        ("messages[]", said),
        ("[]", "role"),
        ("[]", listed),
    ]);
    let mut way = Way::default();
    let mut steps = 0u32;
    let mut span: Option<(f64, f64)> = None;
    let log = json::read(input.json()?, &wanted, &mut |message| {
        steps += u32::from(is_answer(message.own));
        if let Some(at) = message.own.number("extra.timestamp").filter(|at| *at > 0.0) {
            let (first, last) = span.unwrap_or((at, at));
            span = Some((first.min(at), last.max(at)));
        }
        if has_steps {
            way.message(message);
        }
        Ok(())
    })?;
    let model = log.text("info.config.model.model_name").unwrap_or("mini-swe-agent").to_owned();
    let mut run = Run { steps: way.steps, objective: way.objective, ..Run::default() };
    if let Some((first, last)) = span {
        // The first moment that a log has is the end of the first answer.
        run.time = moment((first * 1000.0) as i128 * 1_000_000);
        run.measured("seconds_after_first_answer", Some(((last - first) * 1000.0).round() / 1000.0));
        if !out.wants_steps() {
            out.left_out("the time that the run took: the log does not say when it began");
        }
    }
    one(input, &log, &model, run, f64::from(steps), out)
}

/// Returns the models that a trajectory names: in its settings, in the prediction that lies beside it, and in the name of the
/// folder that the program gave its runs.
fn models(input: &Input, log: &Members) -> Vec<String> {
    // A run that only repeats or shows one has no model.
    const NO_MODELS: [&str; 5] =
        ["replay", "human", "human_thought", "human-thought", "instant_empty_submit"];
    let settings = log.get("replay_config").and_then(json::members_of);
    let replayed = settings.as_ref().and_then(|it| it.pointer("/agent/model/name")).and_then(Value::as_str);
    let stated = log.text("info.config.model.model_name");
    let prediction =
        input.path().map(|path| path.with_extension("pred")).filter(|path| Input::is_plain(path));
    let predicted = prediction.and_then(|path| {
        let wanted = Wanted::of(&[("", "model_name_or_path")]);
        let found = json::read(Input::file(path).json().ok()?, &wanted, &mut |_| Ok(())).ok()?;
        found.text("model_name_or_path").map(str::to_owned)
    });
    // Before version 1, whose settings name the model, folders were called MODEL__DATASET__CONFIG__t-0.00__p-0.95.
    let is_old = |name: &&str| name.contains("__t-") && !name.contains("___");
    let named = [input.folder_above(), input.folder(), Some(input.stem())].into_iter().flatten().find(is_old);
    let named = named.and_then(|name| name.split("__").next()).map(str::to_owned);
    let all = [stated.map(str::to_owned), replayed.map(str::to_owned), predicted, named];
    all.into_iter().flatten().filter(|name| !NO_MODELS.contains(&name.as_str())).collect()
}

/// Returns whether a run ended by a failure of what runs the agent.
fn is_of_harness(status: &str) -> bool {
    matches!(status, "exit_api" | "exit_environment_error" | "exit_error")
}

fn one(
    input: &Input,
    log: &Members,
    subject: &str,
    run: Run,
    steps: f64,
    out: &mut Out<'_>,
) -> Result<(), Stop> {
    let is_list = log.is_empty() && steps > 0.0;
    let Some(status) = log.text("info.exit_status").or(is_list.then_some("")) else {
        let fault = Fault::new("$.info", "no `exit_status`", "how the run ended");
        return Err(fault.hint("the run may still be going on, or the file be of an older version").into());
    };
    let outcome = match status.to_ascii_lowercase().as_str() {
        // It was not judged, or does not say how it ended.
        "submitted" | "" => None,
        // The program submitted what there was, when the run ended so.
        status if status.starts_with("submitted (") => {
            let ended = status.trim_start_matches("submitted (").trim_end_matches(')');
            Some(if is_of_harness(ended) { Outcome::NoVerdict } else { Outcome::Stopped })
        }
        "limitsexceeded" | "timeexceeded" => Some(Outcome::Stopped),
        // The agent did not keep to the form, or left.
        "repeatedformaterror" | "exit_format" | "exit_command" => Some(Outcome::Stopped),
        status if status.starts_with("exit_cost") || status.starts_with("exit_context") => {
            Some(Outcome::Stopped)
        }
        status if status.contains("time") && status.starts_with("exit") => Some(Outcome::Stopped),
        "exit_forfeit" => Some(Outcome::Refused),
        // An exception of the harness or of the model behind it.
        _ => Some(Outcome::NoVerdict),
    };
    let unsolved = match outcome {
        None if is_list => "how the run ended, cost and model: version 1 wrote only messages",
        None => "whether a submission solves the task: `submitted` does not say so",
        Some(_) => "whether the task was solved: the run ended before a submission",
    };
    let task = log.text("instance_id").unwrap_or_else(|| input.stem());
    let verdict = match &out.options.verdicts {
        Some(verdicts) => {
            let names = [Some(task), input.folder(), input.stem().rsplit("__install-1__").next()];
            let names = names.into_iter().flatten().collect();
            Some(verdicts.take(&verdicts::Run { names, subject, models: models(input, log), input })?)
        }
        None => None,
    };
    let (outcome, solved) = match (verdict, outcome) {
        // What a report says of it counts; one that was stopped stays so.
        (Some(Some(Outcome::Succeeded)), outcome) => {
            (outcome.filter(|it| *it == Outcome::Stopped), Some(1.0))
        }
        (Some(Some(Outcome::Failed)), outcome) => (outcome.filter(|it| *it == Outcome::Stopped), Some(0.0)),
        (Some(Some(_)), _) => (Some(Outcome::NoVerdict), None),
        (Some(None), outcome) => {
            out.left_out("the verdict on an instance that no report has");
            (outcome, None)
        }
        (None, outcome) => (outcome, None),
    };
    if is_list || (verdict.is_none() && !out.wants_steps()) {
        out.left_out(unsolved);
    }
    let mut run = Run {
        subject: subject.to_owned(),
        task: Some(task.to_owned()),
        id: format!("{subject}/{}", input.stem()),
        outcome,
        solved,
        cost_usd: known(out, "a cost", log.number("info.model_stats.instance_cost")),
        result: (!status.is_empty()).then(|| format!("exit status: {status}")),
        ..run
    };
    let calls = log.number("info.model_stats.api_calls");
    run.measured("steps", Some(steps));
    run.measured("calls", calls.filter(|calls| *calls > 0.0));
    if !status.is_empty() {
        run.other.push((String::from("exit_status"), status.into()));
    }
    if run.time.is_none() {
        out.left_out("no time of the run");
    }
    out.run(if is_list { "$" } else { "$.info" }, run)
}
