//! Code shared by the verbs over many items: loading them, the policy for outcomes, one line of JSON.

use std::io::Write as _;

use karat_core::facts::Outcome;
use karat_core::number::{BILLION, Decimal};
use karat_core::scorecard::Scale;
use karat_stats::StatisticsError;
use karat_stats::bootstrap::Plan;
use karat_stats::outcome::{Policy, Treatment};
use serde::Serialize;

use crate::args::{AsOf, Cli, FormArgs, ItemArgs, SureArgs};
use crate::failure::Failure;
use crate::load::{Request, load};
use crate::output::{is_watched, lines};
use karat::answers;
use karat::leaderboard::attempts::Pass;
use karat::leaderboard::{By, Settings};
use karat::rows::filter::Wish;
use karat::rows::gaps::{all_or_nothing, gaps};
use karat::rows::{Rows, Selection};

/// Loads the selected items, with the values of `labels`.
pub fn rows(
    items: &ItemArgs,
    card: Option<&str>,
    files: &[String],
    labels: &[String],
    cli: &Cli,
) -> Result<Rows, Failure> {
    let request = request(items, card, files);
    load(&Request { selection: Selection { labels, ..request.selection }, ..request }, cli)
}

/// Loads the selected items, each file as one subject.
pub fn rows_by_file(
    items: &ItemArgs,
    card: Option<&str>,
    files: &[String],
    cli: &Cli,
) -> Result<Rows, Failure> {
    let request = request(items, card, files);
    load(&Request { selection: Selection { by_file: true, ..request.selection }, ..request }, cli)
}

fn request<'a>(items: &'a ItemArgs, card: Option<&'a str>, files: &'a [String]) -> Request<'a> {
    Request {
        files,
        card,
        subject_field: items.subject_field.as_deref(),
        as_of: items.as_of.as_ref().map(AsOf::written),
        selection: Selection {
            wish: Wish { filters: &items.filters, since: items.since, until: items.until },
            renames: &items.rename,
            ..Selection::default()
        },
        quiet: items.no_progress,
    }
}

/// Returns the settings that every answer has.
pub fn settings(sure: &SureArgs, by: By, rows: &Rows) -> Settings {
    Settings {
        by,
        policy: policy(rows, &sure.counts),
        level: sure.level,
        plan: Plan { draws: sure.resamples, seed: sure.seed },
        attempts: None,
        tasks_min: 1,
    }
}

/// Returns the treatment of outcomes: from the command line, else from the card, else the default.
fn policy(rows: &Rows, given: &[(Outcome, Treatment)]) -> Policy {
    let mut policy = Settings::usual(rows).policy;
    for &(outcome, treatment) in given {
        match outcome {
            Outcome::NoVerdict => policy.no_verdict = treatment,
            Outcome::Stopped => policy.stopped = treatment,
            Outcome::NotApplicable => policy.not_applicable = treatment,
            Outcome::Refused => policy.refused = treatment,
            Outcome::Succeeded | Outcome::Failed => {}
        }
    }
    policy
}

/// Returns the condition for a pass: at these points and above, or by the outcome.
pub fn pass(points: Option<Decimal>, scale: Scale) -> Result<Pass, Failure> {
    let Some(points) = points else { return Ok(Pass::Stated) };
    let share = i128::from(points.millionths()) * 1000 / i128::from(scale.max);
    match i64::try_from(share) {
        Ok(share @ 0..=BILLION) => Ok(Pass::From(share)),
        _ => Err(Failure::new(format!("--pass: the scale of the scorecard ends at {}", scale.max))
            .help("give a score on that scale")),
    }
}

/// Returns true if the answer is JSON.
pub fn wants_json(form: &FormArgs) -> bool {
    form.json || (!form.table && !is_watched())
}

/// Returns the gaps of the items, and their effect on a ranking by `by`.
pub fn gaps_of(rows: &Rows, by: By) -> Vec<String> {
    gaps(rows).into_iter().chain(all_or_nothing(rows).filter(|_| by == By::Score)).collect()
}

/// Writes an answer as one line of JSON.
pub fn print<T: Serialize>(answer: &T) -> Result<(), Failure> {
    let mut out = lines();
    writeln!(out, "{}", answers::write(answer))?;
    Ok(out.flush()?)
}

/// Returns the refusal of the statistics on `rows`, for a person.
pub fn refused(error: &StatisticsError, rows: &Rows) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        StatisticsError::Draws { .. } => failure.help("give more with --resamples, or a lower --level"),
        StatisticsError::TooMany { .. } => {
            failure.help("give fewer with --resamples, or fewer items with --where")
        }
        StatisticsError::TooFew { .. } => gaps(rows)
            .into_iter()
            .fold(failure, Failure::help)
            .help("an item counts if it has a score, or an outcome that counts")
            .help("check --count and --where"),
        _ => failure,
    }
}
