//! Questions about the records of a scorecard that the command line asks, too, each with one answer and one document: as JSON, and as
//! a page.

use axum::http::Uri;
use karat::answers;
use karat::ask::About;
use karat::ask::answer::gaps_of;
use karat::ask::{Confidence, Draws, Duel, Grid, Items, Judges, Stress, Tasks, Trend};
use karat::document::Document;
use karat::error::Error;
use karat::leaderboard::By;
use karat::question::Question;
use karat::rows::Unclear;
use karat::text::clean;
use serde_json::{Map, from_value};

use super::bytes;
use crate::params::{in_query, query};
use crate::prelude::*;
use crate::rows::{self, RECORDS_MAX, ReadOptions, refuse_left_out, unanswerable};
use crate::select::{Filter, Selection, size_at};

/// The parts of a question that only a log has.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OfRecords {
    /// Only these tasks, separated by commas.
    pub track: Option<String>,
    /// Only records of at least this trust class.
    pub trust: Option<Trust>,
    /// The state of knowledge at this timestamp: later records and corrections do not count.
    pub known_at: Option<String>,
}

/// The most subjects that the rankings of one question may have together.
const RANKED_MAX: u64 = 5_000_000;

const OF_RECORDS: [&str; 3] = ["track", "trust", "known_at"];

/// An answer with its document, and the scorecard that it was asked about.
pub struct Made<Q: Question> {
    pub card: Option<String>,
    pub answer: Q::Answer,
    pub document: Document,
}

/// Holds the verdicts of judges against labels of people, and corrects the means of subjects by them.
#[utoipa::path(get, operation_id = "show_judges", path = "/v1/judges", tag = "records",
    params(Judges, About, Items, Confidence, OfRecords), responses(
    (status = 200, content((answers::judges::Judges = "application/json")), description = "`karat/judges/1`"),
    Absent, Unfit))]
pub(crate) async fn judges(Get(app, _): Get, uri: Uri) -> Answer {
    ask::<Judges>(&app, &uri).await
}

/// Says what results tell of the tasks: difficulty, what they decide, suspect keys, flaky outcomes, and which of them would do.
#[utoipa::path(get, operation_id = "show_tasks", path = "/v1/tasks", tag = "records",
    params(Tasks, About, Items, Confidence, OfRecords), responses(
    (status = 200, content((answers::tasks::Tasks = "application/json")), description = "`karat/tasks/1`"),
    Absent, Unfit))]
pub(crate) async fn tasks(Get(app, _): Get, uri: Uri) -> Answer {
    ask::<Tasks>(&app, &uri).await
}

/// Follows the runs of subjects over time, with an alarm that may be looked at every night.
#[utoipa::path(get, operation_id = "show_trend", path = "/v1/trend", tag = "records",
    params(Trend, About, Items, Confidence, OfRecords), responses(
    (status = 200, content((answers::trend::Trend = "application/json")), description = "`karat/trend/1`"),
    Absent, Unfit))]
pub(crate) async fn trend(Get(app, _): Get, uri: Uri) -> Answer {
    ask::<Trend>(&app, &uri).await
}

/// Compares two subjects on the tasks that both have, as `karat compare` does.
#[utoipa::path(get, operation_id = "show_comparison", path = "/v1/compare", tag = "records",
    params(Duel, About, Items, Confidence, OfRecords), responses(
    (status = 200, content((answers::comparison::Comparison = "application/json")), description = "`karat/comparison/2`"),
    Absent, Unfit))]
pub(crate) async fn compare(Get(app, _): Get, uri: Uri) -> Answer {
    ask::<Duel>(&app, &uri).await
}

/// Puts subjects or runs side by side, task by task, the largest differences first.
#[utoipa::path(get, operation_id = "show_grid", path = "/v1/grid", tag = "records",
    params(Grid, About, Items, Confidence, OfRecords), responses(
    (status = 200, content((answers::grid::Grid = "application/json")), description = "`karat/grid/1`"),
    Absent, Unfit))]
pub(crate) async fn grid(Get(app, _): Get, uri: Uri) -> Answer {
    ask::<Grid>(&app, &uri).await
}

/// Ranks under other weights, other means, without each dimension and without tasks, as `karat stress` does.
#[utoipa::path(get, operation_id = "show_stress", path = "/v1/stress", tag = "records",
    params(Stress, Draws, About, Items, Confidence, OfRecords), responses(
    (status = 200, content((answers::stress::Stress = "application/json")), description = "`karat/stress/2`"),
    Absent, Unfit))]
pub(crate) async fn stress(Get(app, _): Get, uri: Uri) -> Answer {
    ask::<Stress>(&app, &uri).await
}

/// Answers a question with its JSON, which is kept as long as the log is as it is.
pub(super) async fn ask<Q: Question + Send + 'static>(app: &Arc<App>, uri: &Uri) -> Answer
where
    Q::Answer: Send,
{
    let (asked, of_log, pairs) = read::<Q>(uri)?;
    let size = size_at(app, of_log.known_at.as_deref()).await?;
    let key = format!("{size} {} {pairs:?}", Q::NAME);
    if let Some(known) = app.answers.get(&key) {
        return Ok(bytes(StatusCode::OK, "application/json", known.to_vec()));
    }
    let made = asked_at(app, asked, of_log, size).await?;
    let text = app.answers.put(key, super::answered(&made.answer).into_bytes());
    Ok(bytes(StatusCode::OK, "application/json", text.to_vec()))
}

/// Answers the question of a query.
pub(crate) async fn asked<Q: Question + Send + 'static>(app: &Arc<App>, uri: &Uri) -> Result<Made<Q>, Problem>
where
    Q::Answer: Send,
{
    let (asked, of_log, _) = read::<Q>(uri)?;
    let size = size_at(app, of_log.known_at.as_deref()).await?;
    asked_at(app, asked, of_log, size).await
}

/// Answers a question as of the first `size` entries of the log.
pub(crate) async fn asked_at<Q: Question + Send + 'static>(
    app: &Arc<App>,
    asked: Q,
    of_log: OfRecords,
    size: u64,
) -> Result<Made<Q>, Problem>
where
    Q::Answer: Send,
{
    let About { card, items, .. } = asked.about();
    let (own, selection) = (card.clone(), selection(card, items, &of_log));
    let options = ReadOptions {
        filters: items.filters.clone(),
        kept: asked.kept(),
        unclear: Unclear::LeftOut,
        ..ReadOptions::default()
    };
    let found = app.indexed(move |app, index| {
        let (filter, pools) = Filter::new(&app.memory, index, &selection)?;
        let positions: Vec<u64> =
            index.rows(size).filter(|row| filter.admits(row)).map(|row| row.position).collect();
        Ok((positions, pools))
    });
    let (positions, pools) = found.await?;
    if positions.len() > RECORDS_MAX {
        refuse!(
            Unanswerable,
            "this is answered for at most {RECORDS_MAX} records; narrow it with track, since, until, trust or where"
        );
    }
    let shared = Arc::clone(app);
    let read = app.read(move |reader| rows::read(&shared.memory, reader, &pools, &positions, &options));
    let mut rows = read.await?;
    if rows.rows.is_empty() {
        refuse_left_out(&rows)?;
    }
    let subjects = rows.subjects.len() as u64;
    if asked.rankings().saturating_mul(subjects) > RANKED_MAX {
        let most = RANKED_MAX / subjects;
        refuse!(
            Unanswerable,
            "of {subjects} subjects a server draws at most {most} sets of weights; ask with fewer"
        );
    }
    let left_out: Vec<String> = rows
        .left_out
        .iter()
        .map(|(subject, why)| format!("`{}` is left out: {why}", clean(subject)))
        .collect();
    rows.notes.extend(left_out);
    app.checked(move || {
        let names = [Q::SETTINGS, About::SETTINGS].concat();
        let refused = |error: Error| in_query(&unanswerable(&error), &names);
        let answer = asked.answer(&rows).map_err(refused)?;
        let document = Q::document(&answer, &gaps_of(&rows, By::Score));
        Ok(Made { card: own, answer, document })
    })
    .await
}

fn selection(card: &Option<String>, items: &Items, of_log: &OfRecords) -> Selection {
    Selection {
        card: card.clone(),
        track: of_log.track.clone(),
        since: items.since.map(|since| since.to_string()),
        until: items.until.map(|until| until.to_string()),
        trust: of_log.trust,
        ..Selection::default()
    }
}

/// Reads the question of a query, and returns its parameters in order.
pub(crate) fn read<Q: Question>(uri: &Uri) -> Result<(Q, OfRecords, Map<String, Value>), Problem> {
    let known = || {
        // What names fields of evidence was decided when it was taken in.
        let of_all = About::SETTINGS.iter().filter(|name| !name.ends_with("_field") && **name != "rename");
        of_all.chain(Q::SETTINGS).copied()
    };
    let mut all = Map::new();
    for (name, text) in query::<Vec<(String, String)>>(uri)? {
        if OF_RECORDS.contains(&name.as_str()) {
            continue;
        }
        if !known().any(|it| it == name) {
            let known: Vec<&str> = known().chain(OF_RECORDS).collect();
            let name = name.escape_debug();
            let detail = format!("unknown field `{name}`, expected one of {}", known.join(", "));
            return Err(Problem::parameter("query", detail));
        }
        if let Err(error) = from_value::<Q>(json!({ name.as_str(): text })) {
            return Err(Problem::parameter(&name, format!("found `{}`: {error}", text.escape_debug())));
        }
        if all.insert(name.clone(), Value::String(text)).is_some() {
            return Err(Problem::parameter("query", format!("`{name}` is given twice")));
        }
    }
    if !all.contains_key("card") {
        refuse!(BadRequest at "query", "missing field `card`");
    }
    let asked: Q = from_value(Value::Object(all.clone())).map_err(|error| Problem::internal(&error))?;
    asked.check().map_err(|error| Problem::parameter("query", error.message().to_owned()))?;
    let of_log: OfRecords = query(uri)?;
    let more = [("track", &of_log.track), ("known_at", &of_log.known_at)];
    let mut key = all;
    more.into_iter().for_each(|(name, value)| _ = key.insert(name.to_owned(), json!(value)));
    key.insert(String::from("trust"), json!(of_log.trust.map(|trust| format!("{trust:?}"))));
    Ok((asked, of_log, key))
}
