//! Who stands where under a scorecard.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use karat_evidence::canonical_json;
use karat_report::board::json as board_json;
use karat_report::board::{Board, By, Settings};
use karat_report::rows::Rows;
use karat_report::rows::filter::Filter as Condition;
use karat_stats::bootstrap::Plan;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::{bytes, ranked};
use crate::cards::Rule;
use crate::guard::Caller;
use crate::params::Params;
use crate::problem::Problem;
use crate::rows::{self, Kept, RECORDS_MAX, policy, refused};
use crate::select::{Wanted, Wish, size_at};
use crate::state::App;
use crate::stored::Trust;

/// Most subjects for whom samples are drawn.
pub const DRAWN_MAX: usize = 200;
/// The confidence of intervals, if nothing else is asked for.
pub const LEVEL: f64 = 0.95;
/// Draws, if nothing else is asked for; as many as the command line makes.
const DRAWS: u32 = 1000;
/// Most draws.
const DRAWS_MAX: u32 = 10_000;

/// Which leaderboard is wanted.
#[derive(Debug, Clone, PartialEq, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BoardParams {
    /// The scorecard; of a family, all of its challenges together.
    #[param(example = "workflow@1.0.0")]
    pub card: String,
    /// Only these tasks, with commas between them.
    pub track: Option<String>,
    /// Only what took place at this moment or later.
    pub since: Option<String>,
    /// Only what took place before this moment.
    pub until: Option<String>,
    /// Only records with facts that are at least so trustworthy.
    pub trust: Option<Trust>,
    /// As it was known at this moment: what came later, corrections too, is not there.
    pub known_at: Option<String>,
    /// Only records that meet this: `FIELD=VALUE` or `FIELD!=VALUE`, where a field is `subject`, `id`, `task`, `outcome`
    /// or a fact of the scorecard. Not for large boards.
    #[serde(rename = "where")]
    pub condition: Option<String>,
    /// One board for each value of this field. Not for large boards.
    pub group_by: Option<String>,
    /// What is ranked by: `score`, or the key of a dimension. Not for large boards.
    pub by: Option<String>,
    /// Subjects with fewer tasks take no place; 1 if not given.
    pub min_tasks: Option<u32>,
    /// The confidence of intervals, above 0 and below 1; 0.95 if not given.
    pub level: Option<f64>,
    /// Draws of tasks, 1 to 10,000; 1,000 if not given. Not for large boards.
    pub draws: Option<u32>,
    /// Where the draws start; 1 if not given.
    pub seed: Option<u64>,
    /// Of a large board, how many standings, 1 to 1,000; 100 if not given.
    pub limit: Option<usize>,
    /// Of a large board, after so many standings.
    pub skip: Option<usize>,
}

impl BoardParams {
    pub(crate) fn wanted(&self) -> Wanted<'_> {
        Wanted {
            subject: None,
            card: Some(&self.card),
            track: self.track.as_deref(),
            since: self.since.as_deref(),
            until: self.until.as_deref(),
            trust: self.trust,
        }
    }
}

/// What a leaderboard is made of.
pub struct Made {
    /// The scored items.
    pub rows: Rows,
    /// How it was made.
    pub settings: Settings,
    /// One board, or one for each value of a field.
    pub boards: Vec<Board>,
}

/// The records that a leaderboard is about.
struct Selected {
    rules: Vec<Arc<Rule>>,
    positions: Vec<u64>,
    is_large: bool,
}

/// Who stands where: means of tasks with intervals, places that are shared, and groups that cannot be told apart.
///
/// Up to 200 subjects and 20,000 records tasks are drawn anew, as `karat leaderboard` does. A larger board comes page by page,
/// and its intervals are worked out from the spread of the tasks (`method` is `student`).
#[utoipa::path(get, operation_id = "show_leaderboard", path = "/v1/leaderboards", tag = "records", params(BoardParams), responses(
    (status = 200, description = "`karat/leaderboard/1`", content_type = "application/json", body = Object),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<BoardParams>,
) -> Result<Response<Body>, Problem> {
    caller.may_read()?;
    let size = size_at(&app, params.known_at.as_deref()).await?;
    let question = format!("{size} {params:?}");
    if let Some(known) = app.boards.get(&question) {
        return Ok(bytes(StatusCode::OK, "application/json", known.to_vec()));
    }
    let answer = match make(&app, &params, size).await? {
        Some(made) => drawn(&made, &params, size),
        None => ranked::answer(&app, params, size).await?,
    };
    let answer = app.boards.put(question, answer.into_bytes());
    Ok(bytes(StatusCode::OK, "application/json", answer.to_vec()))
}

/// Makes the leaderboard as of the first `size` entries of the log; none if tasks are not drawn anew for so many, who are
/// [ranked] by their means alone.
///
/// # Errors
/// What is wrong with the parameters, or that there is nothing to rank.
pub async fn make(app: &Arc<App>, params: &BoardParams, size: u64) -> Result<Option<Made>, Problem> {
    let selected = select(app, params, size).await?;
    if selected.is_large {
        return Ok(None);
    }
    made(app, params.clone(), selected).await.map(Some)
}

async fn select(app: &Arc<App>, params: &BoardParams, size: u64) -> Result<Selected, Problem> {
    let params = params.clone();
    app.indexed(move |app, index| {
        let (wish, rules) = Wish::new(app, index, &params.wanted())?;
        let mut subjects = BTreeSet::new();
        let mut positions = Vec::new();
        for row in index.rows(size).filter(|row| wish.admits(row)) {
            positions.push(row.position);
            subjects.insert(row.subject);
            if positions.len() > RECORDS_MAX || subjects.len() > DRAWN_MAX {
                return Ok(Selected { rules, positions: Vec::new(), is_large: true });
            }
        }
        Ok(Selected { rules, positions, is_large: false })
    })
    .await
}

/// A board whose tasks are drawn anew.
fn drawn(made: &Made, params: &BoardParams, size: u64) -> String {
    let Made { rows, settings, boards } = made;
    let mut map = board_json::head("karat/leaderboard/1", rows, settings);
    let written: Vec<Value> =
        boards.iter().map(|board| Value::Object(board_json::board(rows, board, settings))).collect();
    map.insert("boards".to_owned(), json!(written));
    map.insert("group_by".to_owned(), json!(params.group_by));
    map.insert("log_size".to_owned(), json!(size));
    canonical_json(&Value::Object(map))
}

async fn made(app: &Arc<App>, params: BoardParams, selected: Selected) -> Result<Made, Problem> {
    for (name, is_given) in [("limit", params.limit.is_some()), ("skip", params.skip.is_some())] {
        if is_given {
            return Err(Problem::parameter(name, "this board is small enough to come whole"));
        }
    }
    let read = app.read(move |reader| {
        let condition = params.condition.as_deref().map(Condition::parse).transpose();
        let condition = condition.map_err(|problem| Problem::parameter("where", problem))?;
        let kept = Kept {
            filters: condition.into_iter().collect(),
            labels: params.group_by.clone().into_iter().collect(),
        };
        let rows = rows::read(reader, &selected.rules, &selected.positions, &kept)?;
        Ok((rows, params, selected.rules))
    });
    let (rows, params, rules) = read.await?;
    app.checked(move || {
        let settings = settings(&params, &rows, &rules)?;
        let boards = rows.groups().into_iter().map(|(value, items)| {
            let name = params.group_by.as_ref().zip(value).map(|(field, value)| format!("{field} = {value}"));
            Board::new(&rows, &items, name, &settings).map_err(|error| refused(&error))
        });
        let boards = boards.collect::<Result<_, _>>()?;
        Ok(Made { rows, settings, boards })
    })
    .await
}

fn settings(params: &BoardParams, rows: &Rows, rules: &[Arc<Rule>]) -> Result<Settings, Problem> {
    let by = match params.by.as_deref() {
        None | Some("score") => By::Score,
        Some(key) => By::Dimension(rows.dimension(key).ok_or_else(|| {
            let known: Vec<&str> = rows.dimensions.iter().map(|(key, _)| key.as_str()).collect();
            let key = key.escape_debug();
            Problem::parameter("by", format!("found `{key}`, expected score or one of {}", known.join(", ")))
        })?),
    };
    let draws = params.draws.unwrap_or(DRAWS);
    if !(1..=DRAWS_MAX).contains(&draws) {
        return Err(Problem::parameter("draws", format!("found {draws}, expected 1 to {DRAWS_MAX}")));
    }
    Ok(Settings {
        by,
        policy: rules.first().map(|rule| policy(rule)).unwrap_or_default(),
        level: params.level.unwrap_or(LEVEL),
        plan: Plan { draws, seed: params.seed.unwrap_or(1) },
        attempts: None,
        tasks_min: usize::try_from(params.min_tasks.unwrap_or(1)).unwrap_or(usize::MAX),
    })
}
