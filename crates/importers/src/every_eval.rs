//! Every Eval Ever: samples, one on each line; records of whole evaluations.

use karat_core::facts::Outcome;
use serde_json::Value;

use super::json::Wanted;
use super::out::{MEAN, Out, Run, known};
use super::{Fault, Importer, Input, Role, Samples, Stop, json};

pub(super) static IMPORTER: Importer = Importer {
    name: "every-eval-ever",
    words: "a record of Every Eval Ever",
    role: Role::Samples { sums: "evaluation_results[]", add: Samples::add_evaluation },
    marks: &[
        &["evaluation_id", "sample_id", "model_id"],
        &["evaluation_id", "model_info", "evaluation_results[]"],
    ],
    read,
    ..Importer::RUNS
};

const SAMPLE: &str = "evaluation_id model_id evaluation_name sample_id sample_hash evaluation_result_id evaluation.score \
    evaluation.is_correct token_usage.total_tokens token_usage.input_tokens token_usage.output_tokens \
    performance.latency_ms performance.cost_usd error interaction_type evaluation.num_turns";
/// Members that karat adds where the schema has none.
const OWN: &str = "metadata.karat_id metadata.karat_task metadata.karat_time metadata.karat_outcome metadata.karat_score \
    metadata.karat_tokens";
const RECORD: &str = "evaluation_id model_info.id model_info.name detailed_evaluation_results.file_path \
    detailed_evaluation_results.total_rows schema_version";
const RESULT: &str = "evaluation_name evaluation_result_id evaluation_timestamp metric_config score_details.score \
    score_details.uncertainty.num_samples score_details.uncertainty.sample_size";

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let outline = json::outline(&input.head(1 << 20)?);
    if outline.iter().any(|path| path == "evaluation_results[]") {
        return record(input, out);
    }
    json::read_lines(input.json()?, &Wanted::of(&[("", SAMPLE), ("", OWN)]), &mut |row| {
        let own = row.own;
        let (Some(model), Some(sample)) = (own.text("model_id"), own.name("sample_id")) else {
            return Err(Fault::new(row.place, "a sample without `model_id` or `sample_id`", "both").into());
        };
        let name = own.text("evaluation_name").unwrap_or("evaluation");
        // Of a run that ended before it had a score the 0 is only what the schema asks for.
        let has_score = own.text("metadata.karat_score") != Some("none");
        let score = own.number("evaluation.score").filter(|_| has_score);
        let is_correct = own.flag("evaluation.is_correct").filter(|_| has_score);
        let mut run = Run {
            subject: model.to_owned(),
            task: Some(format!("{name}/{sample}")),
            // A sample has a row for each result that it is part of.
            id: match own.text("evaluation_result_id") {
                Some(result) => format!("{result}/{name}/{sample}"),
                None => format!("{}/{name}/{sample}", own.text("evaluation_id").unwrap_or(model)),
            },
            seconds: own.number("performance.latency_ms").map(|milliseconds| milliseconds / 1000.0),
            cost_usd: own.number("performance.cost_usd"),
            ..Run::default()
        };
        if let Some(id) = own.text("metadata.karat_id") {
            run.id = id.to_owned();
            run.task = own.text("metadata.karat_task").map(str::to_owned);
        }
        run.time = own.text("metadata.karat_time").map(str::to_owned);
        run.outcome = own.text("metadata.karat_outcome").and_then(Outcome::from_name);
        run.is_own = run.outcome.is_some();
        let parts = ["token_usage.input_tokens", "token_usage.output_tokens"].map(|name| own.number(name));
        let [input_tokens, output_tokens] = parts;
        let sum = input_tokens.zip(output_tokens).map(|(input, output)| input + output);
        let stated = own.text("metadata.karat_tokens").and_then(|tokens| tokens.parse().ok());
        let total = own.number("token_usage.total_tokens").or(sum).or(stated);
        run.tokens = known(out, "a number of tokens", total);
        // A score may be of any scale; whether the answer is right is not.
        run.solved = match is_correct {
            Some(flag) if score.is_none_or(|score| score == 0.0 || (score - 1.0).abs() <= f64::EPSILON) => {
                Some(f64::from(u8::from(flag)))
            }
            Some(_) | None => score.filter(|score| (0.0..=1.0).contains(score)),
        };
        if run.solved.is_none() && score.is_some() {
            run.solved = is_correct.map(|flag| f64::from(u8::from(flag)));
        }
        run.measured("score", score);
        if own.text("error").is_some_and(|error| !error.is_empty()) && run.outcome.is_none() {
            run.outcome = Some(Outcome::NoVerdict);
            let reason = "the score of a sample that ended in an error: it has no verdict";
            out.left_out_times(reason, run.solved.is_some().into());
            run.solved = None;
        } else if run.solved.is_none() {
            out.left_out("no score of a sample as a share of its task");
        }
        out.run(row.place, run)
    })
}

fn record(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let mut are_elsewhere = 0;
    let wanted = Wanted::of(&[("", RECORD), ("evaluation_results[]", RESULT)]);
    let about = json::read(input.json()?, &wanted, &mut |result| {
        let own = result.own;
        let before = result.before;
        let Some(model) = before.text("model_info.id").or_else(|| before.text("model_info.name")) else {
            let fault = Fault::new("$.model_info", "no model before the results", "its `id` or `name`");
            return Err(fault.into());
        };
        let name = own.text("evaluation_name").unwrap_or("evaluation");
        let names = [own.text("evaluation_name"), own.text("evaluation_result_id")];
        let evaluation = before.text("evaluation_id");
        if let (Some(samples), Some(evaluation)) = (&out.options.samples, evaluation)
            && samples.has(evaluation, &names)
        {
            out.elsewhere(MEAN);
            are_elsewhere = samples.of(evaluation);
            return Ok(());
        }
        let metric = own.get("metric_config").cloned().unwrap_or_default();
        let of = |name: &str| metric.get(name).and_then(Value::as_f64);
        let score = own.number("score_details.score");
        let is_lower = metric.get("lower_is_better").and_then(Value::as_bool) == Some(true);
        let mut run = Run {
            subject: model.to_owned(),
            task: Some(name.to_owned()),
            id: format!(
                "{}/{}",
                before.text("evaluation_id").unwrap_or(model),
                own.text("evaluation_result_id").unwrap_or(name)
            ),
            cases: own
                .number("score_details.uncertainty.num_samples")
                .or_else(|| own.number("score_details.uncertainty.sample_size"))
                .filter(|count| *count >= 1.0),
            ..Run::default()
        };
        match (score, of("min_score").zip(of("max_score"))) {
            (Some(score), Some((low, high))) if high > low => {
                let share = (score - low) / (high - low);
                run.solved = Some(if is_lower { 1.0 - share } else { share });
            }
            (Some(_), _) => out.left_out("a score without the ends of its scale"),
            (None, _) => out.left_out("no score of a result"),
        }
        run.measured("score", score);
        out.left_out("no results of single samples: a record has their mean");
        out.run(result.place, run)
    })?;
    if are_elsewhere > 0 {
        let stated = about.number("detailed_evaluation_results.total_rows");
        if let Some(stated) = stated.filter(|stated| *stated != are_elsewhere as f64) {
            let file = input.name();
            out.note(format!("`{file}` says that it has {stated} samples; {are_elsewhere} are here"));
        }
        return Ok(());
    }
    if let Some(file) = about.text("detailed_evaluation_results.file_path") {
        let file = file.rsplit('/').next().unwrap_or(file);
        out.note(format!(
            "the record has means only; its samples are in `{file}`, which has tasks and intervals"
        ));
    }
    Ok(())
}
