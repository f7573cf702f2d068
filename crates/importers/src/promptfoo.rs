//! promptfoo: results of tests of prompts and providers, as `.json` or one on each line.

use karat_core::facts::{Digest, Outcome};
use serde_json::Value;

use super::json::{Element, Members, Wanted};
use super::out::{Out, Run, fact_name, known, plain};
use super::{Fault, Importer, Input, Stop, json};

pub(super) static IMPORTER: Importer = Importer {
    name: "promptfoo",
    words: "a file of results of promptfoo",
    marks: &[
        &["results.results[]", "results.prompts[]"],
        &["results.results[]", "evalId"],
        &["promptIdx", "testIdx", "success"],
    ],
    read,
    ..Importer::RUNS
};

const ROW: [&str; 20] = [
    "results.results[].id",
    "results.results[].success",
    "results.results[].score",
    "results.results[].failureReason",
    "results.results[].error",
    "results.results[].cost",
    "results.results[].latencyMs",
    "results.results[].provider",
    "results.results[].promptIdx",
    "results.results[].promptId",
    "results.results[].testIdx",
    "results.results[].testCase.description",
    "results.results[].testCase.assert",
    "results.results[].vars",
    "results.results[].namedScores",
    "results.results[].response.cached",
    "results.results[].tokenUsage.total",
    "results.results[].response.tokenUsage.total",
    "results.results[].prompt.label",
    "results.results[].gradingResult.pass",
];

/// The reason of a failure that no assertion gave.
const ERROR: f64 = 2.0;

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let mut head = input.head(1 << 16)?;
    head.retain(|byte| !byte.is_ascii_whitespace());
    if !head.starts_with(b"{\"evalId\"") && !head.starts_with(b"{\"results\"") && is_row(&head) {
        let own: Vec<&str> = ROW.iter().filter_map(|path| path.strip_prefix("results.results[].")).collect();
        return json::read_lines(input.json()?, &Wanted::new(&own), &mut |row| take(row, input, out));
    }
    let paths: Vec<&str> = ROW.iter().copied().chain(["evalId", "results.timestamp"]).collect();
    let mut count = 0;
    json::read(input.json()?, &Wanted::new(&paths), &mut |row| {
        count += 1;
        take(row, input, out)
    })?;
    if count == 0 {
        out.note("the file has no results of tests, only sums, which have no tasks: export it again");
    }
    Ok(())
}

fn is_row(head: &[u8]) -> bool {
    json::outline(head).iter().any(|path| path == "promptIdx")
}

fn take(row: &Element<'_>, input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let own = row.own;
    let provider = own.get("provider").and_then(|provider| {
        let named = |name: &str| provider.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
        provider.as_str().or_else(|| named("label")).or_else(|| named("id"))
    });
    let Some(provider) = provider else {
        return Err(Fault::new(row.place, "a result without `provider`", "who answered").into());
    };
    let run_id = row.before.text("evalId").unwrap_or_else(|| input.stem());
    let part = |name: &str| own.name(name).unwrap_or_else(|| String::from("0"));
    let mut run = Run {
        subject: provider.to_owned(),
        task: Some(task(own)),
        // The same in each file that an evaluation is written to.
        id: match own.text("id").filter(|id| !id.is_empty()) {
            Some(id) => id.to_owned(),
            None => format!("{run_id}/{}/{}", part("testIdx"), part("promptIdx")),
        },
        time: row.before.text("results.timestamp").map(str::to_owned),
        seconds: own.number("latencyMs").map(|milliseconds| milliseconds / 1000.0),
        ..Run::default()
    };
    let is_cached = own.get("response.cached").and_then(Value::as_bool) == Some(true);
    if is_cached {
        run.seconds = None;
        out.left_out("the time and cost of an answer that came from a cache");
    } else {
        run.cost_usd = known(out, "a cost", own.number("cost"));
    }
    let tokens = own.number("response.tokenUsage.total").or_else(|| own.number("tokenUsage.total"));
    run.tokens = known(out, "a number of tokens", tokens);
    if own.number("failureReason") == Some(ERROR) {
        run.outcome = Some(Outcome::NoVerdict);
        out.left_out("the score of 0 of a test that ended in an error: it has no verdict");
    } else {
        judge(own, &mut run, row.place)?;
        if let Some(Value::Object(scores)) = own.get("namedScores") {
            for (name, value) in scores.iter().take(64) {
                if let Some(value) = value.as_f64().and_then(plain) {
                    run.other.push((fact_name("score_", name), value.into()));
                }
            }
        }
    }
    out.run(row.place, run)
}

/// Takes whether the test passed for `solved`: its score may be another number, by weights and thresholds.
fn judge(own: &Members, run: &mut Run, place: &str) -> Result<(), Stop> {
    let Some(success) = own.get("success").and_then(Value::as_bool) else {
        return Err(Fault::new(place, "a result without `success`", "true or false").into());
    };
    run.solved = Some(f64::from(u8::from(success)));
    if let Some(score) = own.number("score").and_then(plain) {
        run.other.push(("score".to_owned(), score.into()));
    }
    Ok(())
}

/// Returns the name of the test: the same for each repetition, which promptfoo does not mark.
fn task(own: &Members) -> String {
    let description = own.text("testCase.description").unwrap_or_default();
    let vars = match own.get("vars") {
        Some(vars @ Value::Object(members)) if !members.is_empty() => vars.to_string(),
        _ => String::new(),
    };
    let prompt = own.text("promptId").map_or_else(
        || own.text("prompt.label").unwrap_or_default().to_owned(),
        |id| id.chars().take(8).collect(),
    );
    // Tests of the same variables ask for different things of the answer.
    let asked = own.get("testCase.assert").filter(|it| it.as_array().is_some_and(|list| !list.is_empty()));
    let asked = asked.filter(|_| description.is_empty()).map(|asked| {
        let digest = Digest::of(asked.to_string().as_bytes()).to_string();
        digest.get(7..15).unwrap_or_default().to_owned()
    });
    let parts = [description.to_owned(), vars, prompt, asked.unwrap_or_default()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::from("test") } else { parts.join(" ") }
}
