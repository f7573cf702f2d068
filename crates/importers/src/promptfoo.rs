//! promptfoo: results of tests of prompts and providers, as `.json` or one on each line.

use std::collections::BTreeMap;

use karat_core::facts::{Digest, Outcome};
use serde_json::Value;

use super::json::{Element, Members, Wanted};
use super::out::{Out, Run, known, mended};
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

const ROW: &str = "id success score failureReason error cost latencyMs provider promptIdx promptId testIdx \
    testCase.description testCase.assert vars namedScores response.cached tokenUsage.total response.tokenUsage.total \
    prompt.label gradingResult";

/// The reason of a failure that no assertion gave.
const ERROR: f64 = 2.0;

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let mut head = input.head(1 << 16)?;
    head.retain(|byte| !byte.is_ascii_whitespace());
    if !head.starts_with(b"{\"evalId\"") && !head.starts_with(b"{\"results\"") && is_row(&head) {
        let mut columns = Columns::default();
        let wanted = Wanted::of(&[("", ROW)]);
        return json::read_lines(input.json()?, &wanted, &mut |row| take(row, input, &mut columns, out));
    }
    let mut columns = Columns::of(input)?;
    let wanted = Wanted::of(&[("", "evalId results.timestamp results.stats"), ("results.results[]", ROW)]);
    let (mut count, mut passed, mut errors) = (0, 0, 0);
    let about = json::read(input.json()?, &wanted, &mut |row| {
        count += 1;
        let is_error = row.own.number("failureReason") == Some(ERROR);
        errors += usize::from(is_error);
        passed += usize::from(!is_error && row.own.flag("success") == Some(true));
        take(row, input, &mut columns, out)
    })?;
    if count == 0 {
        out.note("the file has no results of tests, only sums, which have no tasks: export it again");
        return Ok(());
    }
    for (name, listed) in [("successes", passed), ("failures", count - passed - errors), ("errors", errors)] {
        let stated = about.get("results.stats").and_then(|stats| stats.get(name)?.as_f64());
        out.states_count(&format!("`stats.{name}`"), stated, listed);
    }
    Ok(())
}

fn is_row(head: &[u8]) -> bool {
    json::outline(head).iter().any(|path| path == "promptIdx")
}

/// The columns of an evaluation: of each provider and prompt the places of those that it has.
#[derive(Default)]
struct Columns {
    of: BTreeMap<[String; 2], Vec<String>>,
    /// True if the file says them before its results.
    are_known: bool,
}

impl Columns {
    fn of(input: &Input) -> Result<Self, Stop> {
        let (mut columns, mut count) = (Self::default(), 0u64);
        let wanted =
            Wanted::of(&[("results.prompts[]", "provider label"), ("results.results[]", "promptIdx")]);
        let read = json::read(input.json()?, &wanted, &mut |column| {
            if !column.place.starts_with("$.results.prompts") {
                return Err(Stop::Enough);
            }
            let text = |name: &str| column.own.text(name).unwrap_or_default().to_owned();
            columns.of.entry([text("provider"), text("label")]).or_default().push(count.to_string());
            count += 1;
            Ok(())
        });
        // Earlier versions list no prompts, or after the results.
        columns.are_known = count > 0;
        match read {
            Ok(_) | Err(Stop::Enough) => Ok(columns),
            Err(stop) => Err(stop),
        }
    }

    /// Returns the subject of a result. A provider that has one prompt several times has several settings.
    fn subject(&mut self, provider: &str, prompt: &str, at: String, out: &mut Out<'_>) -> String {
        let of = self.of.entry([provider.to_owned(), prompt.to_owned()]).or_default();
        let place = of.iter().position(|it| *it == at).unwrap_or_else(|| {
            of.push(at);
            of.len() - 1
        });
        match (of.len(), self.are_known) {
            (..2, _) => provider.to_owned(),
            (_, true) => {
                out.note(format!(
                    "`{provider}` is there with several settings: each is a subject, `{provider} #1` the first; labels of \
                     providers name them"
                ));
                format!("{provider} #{}", place + 1)
            }
            (_, false) => {
                out.note(format!(
                    "`{provider}` is there with several settings, and the file does not list them: they count together; give the \
                     JSON of a newer promptfoo"
                ));
                provider.to_owned()
            }
        }
    }
}

fn take(row: &Element<'_>, input: &Input, columns: &mut Columns, out: &mut Out<'_>) -> Result<(), Stop> {
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
    let label = ["prompt.label", "promptId"].into_iter().find_map(|name| own.text(name));
    let mut run = Run {
        subject: columns.subject(provider, label.unwrap_or_default(), part("promptIdx"), out),
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
    let is_cached = own.flag("response.cached") == Some(true);
    if is_cached {
        run.seconds = None;
        out.left_out("the time and cost of an answer that came from a cache");
    } else {
        run.cost_usd = known(out, "a cost", own.number("cost"));
    }
    run.other.extend(label.map(|label| ("prompt".to_owned(), mended(label).into())));
    let tokens = own.number("response.tokenUsage.total").or_else(|| own.number("tokenUsage.total"));
    run.tokens = known(out, "a number of tokens", tokens);
    let success = own.flag("success");
    if own.number("failureReason") == Some(ERROR) {
        run.outcome = Some(Outcome::NoVerdict);
        out.left_out("the score of 0 of a test that ended in an error: it has no verdict");
    } else if success == Some(false) && is_for_want_of_a_grade(own.get("gradingResult")) {
        run.outcome = Some(Outcome::NoVerdict);
        out.left_out("the failure of a test whose judge gave no grade: it has no verdict");
    } else {
        // Its score may be another number, by weights and thresholds.
        let Some(success) = success else {
            return Err(Fault::new(row.place, "a result without `success`", "true or false").into());
        };
        run.solved = Some(f64::from(u8::from(success)));
        run.measured("score", own.number("score"));
        if let Some(Value::Object(scores)) = own.get("namedScores") {
            for (name, value) in scores.iter().take(64) {
                run.scored(name, value.as_f64());
            }
        }
    }
    out.run(row.place, run)
}

/// Returns whether a test failed only because a judge gave no grade: no assertion failed that was judged.
fn is_for_want_of_a_grade(result: Option<&Value>) -> bool {
    fn failed<'a>(result: &'a Value, into: &mut Vec<&'a Value>) {
        let parts = result.get("componentResults").and_then(Value::as_array).filter(|it| !it.is_empty());
        match parts {
            Some(parts) => parts.iter().for_each(|part| failed(part, into)),
            None if result.get("pass").and_then(Value::as_bool) == Some(false) => into.push(result),
            None => {}
        }
    }
    let is_ungraded = |it: &Value| it.pointer("/metadata/graderError").and_then(Value::as_bool) == Some(true);
    let mut all = Vec::new();
    result.into_iter().for_each(|result| failed(result, &mut all));
    !all.is_empty() && all.into_iter().all(is_ungraded)
}

/// Returns the name of the test: the same for each prompt, and for each repetition, which promptfoo does not mark.
fn task(own: &Members) -> String {
    let description = own.text("testCase.description").unwrap_or_default();
    let vars = match own.get("vars") {
        Some(vars @ Value::Object(members)) if !members.is_empty() => vars.to_string(),
        _ => String::new(),
    };
    // Tests of the same variables ask for different things of the answer.
    let asked = own.get("testCase.assert").filter(|it| it.as_array().is_some_and(|list| !list.is_empty()));
    let asked = asked.filter(|_| description.is_empty()).map(|asked| {
        let digest = Digest::of(asked.to_string().as_bytes()).to_string();
        digest.get(7..15).unwrap_or_default().to_owned()
    });
    let parts = [description.to_owned(), vars, asked.unwrap_or_default()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { String::from("test") } else { parts.join(" ") }
}
