//! Leaderboards: the subjects of a scorecard by rank.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use karat::answers::LeaderboardMethod;
use karat::answers::basis::{Basis, ItemsUsed};
use karat::answers::leaderboard::LeaderboardAnswer;
use karat::answers::leaderboard::method::{
    Page, RESAMPLED_ITEMS_MAX, RESAMPLED_SUBJECTS_MAX, answer, leaderboard, method_of_size, rank, rank_values,
};
use karat::leaderboard::{By, Settings};
use karat::record::ScorecardReference;
use karat::rows::Rows;
use karat::rows::filter::Filter as Condition;
use karat_core::number::Score;
use karat_core::record::ENGINE_VERSION;
use karat_stats::bootstrap::Plan;
use karat_stats::outcome::Run;
use karat_stats::student::TaskValues;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{answered, bytes};
use crate::cards::ScorerPool;
use crate::guard::Caller;
use crate::params::{Params, limit};
use crate::problem::{Code, Problem};
use crate::rows::{self, RECORDS_MAX, ReadOptions, refused};
use crate::select::{Filter, Selection, size_at};
use crate::state::App;
use crate::stored::Trust;

/// The default confidence of intervals.
pub const LEVEL: f64 = Settings::LEVEL;
/// The default number of bootstrap resamples, the same as on the command line.
pub const RESAMPLES: u32 = Settings::RESAMPLES;
/// The largest number of resamples.
const RESAMPLES_MAX: u32 = 10_000;
/// The default number of rows of a page with the method `student`.
const ROWS: usize = 100;
/// The largest number of rows of a page.
const ROWS_MAX: usize = 1000;

/// The parameters of a leaderboard.
#[derive(Debug, Clone, PartialEq, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct LeaderboardParams {
    /// The scorecard; for a family, all of its challenges together.
    #[param(example = "workflow@1.0.0")]
    pub card: String,
    /// Only these tasks, separated by commas.
    pub track: Option<String>,
    /// Only items that took place at this timestamp or later.
    pub since: Option<String>,
    /// Only items that took place before this timestamp.
    pub until: Option<String>,
    /// Only records whose facts have at least this trust class.
    pub trust: Option<Trust>,
    /// The state of knowledge at this timestamp: later records and corrections do not count.
    pub known_at: Option<String>,
    /// Only records that match: `FIELD=VALUE` or `FIELD!=VALUE`, where a field is `subject`, `id`, `task`, `outcome`
    /// or a fact of the scorecard. For at most 20,000 records.
    #[serde(rename = "where")]
    pub condition: Option<String>,
    /// One leaderboard for each value of this field. For at most 20,000 records.
    pub group_by: Option<String>,
    /// The value to rank by: `score`, or the key of a dimension. A dimension is for at most 20,000 records.
    pub by: Option<String>,
    /// The method for ranks: `bootstrap` for up to 200 subjects and 20,000 records, else `student`, if not given; `census`
    /// if the records are all there are, so that there are no intervals, letters or shares.
    pub method: Option<LeaderboardMethod>,
    /// Subjects with fewer tasks have no rank; 1 if not given.
    pub min_tasks: Option<u32>,
    /// The confidence of intervals, above 0 and below 1; 0.95 if not given.
    pub level: Option<f64>,
    /// Bootstrap resamples of tasks, 1 to 10,000; 1,000 if not given. Only with the method `bootstrap`.
    #[param(minimum = 1, maximum = 10_000)]
    pub resamples: Option<u32>,
    /// The seed of the resamples; 1 if not given.
    pub seed: Option<u64>,
    /// The largest number of rows, 1 to 1,000; if not given all with the method `bootstrap`, and 100 with `student`.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// The number of rows to skip: `next` of the previous page.
    pub skip: Option<usize>,
}

impl LeaderboardParams {
    pub(crate) fn selection(&self) -> Selection<'_> {
        Selection {
            subject: None,
            card: Some(&self.card),
            track: self.track.as_deref(),
            since: self.since.as_deref(),
            until: self.until.as_deref(),
            trust: self.trust,
        }
    }
}

/// The pages of a leaderboard by method.
#[derive(Debug, Clone, Copy)]
pub struct Pages {
    /// With the method `bootstrap`.
    pub bootstrap: Page,
    /// With the method `student`.
    pub student: Page,
}

/// A leaderboard and the rows that it was computed from.
pub struct Made {
    /// The leaderboard.
    pub answer: LeaderboardAnswer,
    /// The scored items; `None` if only the index was read.
    pub rows: Option<Rows>,
}

/// The records that a leaderboard ranks.
struct Selected {
    pools: Vec<Arc<ScorerPool>>,
    /// Their positions in the log; `None` if there are more than may be read.
    positions: Option<Vec<u64>>,
    /// The number of their subjects, counted as far as needed.
    subjects: usize,
}

/// Ranks subjects: means over tasks with intervals, rank ranges, and letters for ties.
///
/// With the method `bootstrap` the answer is that of `karat leaderboard`. The method `student` is for very many
/// subjects or records: the same means, with intervals from the spread of the tasks, in pages; fields that need
/// resamples are null.
#[utoipa::path(get, operation_id = "show_leaderboard", path = "/v1/leaderboards", tag = "records", params(LeaderboardParams), responses(
    (status = 200, body = LeaderboardAnswer, content_type = "application/json", description = "`karat/leaderboard/1`"),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<LeaderboardParams>,
) -> Result<Response<Body>, Problem> {
    caller.may_read()?;
    let size = size_at(&app, params.known_at.as_deref()).await?;
    let question = format!("{size} {params:?}");
    if let Some(known) = app.answers.get(&question) {
        return Ok(bytes(StatusCode::OK, "application/json", known.to_vec()));
    }
    let made = make(&app, &params, size, params.pages()?).await?;
    let text = answered(&made.answer);
    let text = app.answers.put(question, text.into_bytes());
    Ok(bytes(StatusCode::OK, "application/json", text.to_vec()))
}

/// Computes the leaderboard as of the first `size` entries of the log.
///
/// # Errors
/// If a parameter is invalid, or no subject has a rank.
pub async fn make(
    app: &Arc<App>,
    params: &LeaderboardParams,
    size: u64,
    pages: Pages,
) -> Result<Made, Problem> {
    let Selected { pools, positions, subjects } = select(app, params, size).await?;
    let needs_records = [
        ("where", params.condition.is_some()),
        ("group_by", params.group_by.is_some()),
        ("by", params.by.as_deref().is_some_and(|by| by != "score")),
    ];
    let needs_records = needs_records.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name);
    let usual = method_of_size(subjects, positions.as_ref().map_or(usize::MAX, Vec::len));
    let mut made = match (positions, needs_records) {
        (None, Some(name)) => return Err(too_many_records().at(name)),
        (None, None) if params.method == Some(LeaderboardMethod::Bootstrap) => {
            return Err(too_many_resamples());
        }
        (Some(positions), needs)
            if needs.is_some() || params.method.unwrap_or(usual) != LeaderboardMethod::Student =>
        {
            of_records(app, params.clone(), pools, positions, pages).await?
        }
        _ => of_index(app, params.clone(), size, pages.student).await?,
    };
    made.answer.log_size = Some(size);
    Ok(made)
}

async fn select(app: &Arc<App>, params: &LeaderboardParams, size: u64) -> Result<Selected, Problem> {
    let params = params.clone();
    app.indexed(move |app, index| {
        let (filter, pools) = Filter::new(app, index, &params.selection())?;
        let mut subjects = BTreeSet::new();
        let mut positions = Vec::new();
        for row in index.rows(size).filter(|row| filter.admits(row)) {
            if positions.len() == RECORDS_MAX {
                return Ok(Selected { pools, positions: None, subjects: subjects.len() });
            }
            positions.push(row.position);
            if subjects.len() <= RESAMPLED_SUBJECTS_MAX {
                subjects.insert(row.subject);
            }
        }
        Ok(Selected { pools, positions: Some(positions), subjects: subjects.len() })
    })
    .await
}

/// Computes a leaderboard from the records themselves.
async fn of_records(
    app: &Arc<App>,
    params: LeaderboardParams,
    pools: Vec<Arc<ScorerPool>>,
    positions: Vec<u64>,
    pages: Pages,
) -> Result<Made, Problem> {
    let read = app.read(move |reader| {
        let condition = params.condition.as_deref().map(Condition::parse).transpose();
        let condition = condition.map_err(|problem| Problem::parameter("where", problem))?;
        let options = ReadOptions {
            filters: condition.into_iter().collect(),
            labels: params.group_by.clone().into_iter().collect(),
        };
        let rows = rows::read(reader, &pools, &positions, &options)?;
        Ok((rows, params, pools))
    });
    let (rows, params, pools) = read.await?;
    app.checked(move || {
        let settings = settings(&params, Some(&rows), &pools)?;
        let usual = method_of_size(rows.subjects.len(), rows.rows.len());
        let method = params.method.unwrap_or(usual);
        let page = match method {
            LeaderboardMethod::Bootstrap if usual == LeaderboardMethod::Student => {
                return Err(too_many_resamples());
            }
            LeaderboardMethod::Bootstrap => pages.bootstrap,
            LeaderboardMethod::Student | LeaderboardMethod::Census => pages.student,
        };
        params.may_draw(method)?;
        let boards = rows.groups().into_iter().map(|(value, items)| {
            let name = params.group_by.as_ref().zip(value).map(|(field, value)| format!("{field} = {value}"));
            let ranked = rank(&rows, &items, name, method, &settings, page);
            ranked.map(|ranked| ranked.leaderboard).map_err(|error| refused(&error))
        });
        let boards = boards.collect::<Result<_, _>>()?;
        let answer = answer(Basis::new(&rows, &settings), method, params.group_by, boards, page);
        Ok(Made { answer, rows: Some(rows) })
    })
    .await
}

/// Computes a leaderboard from the index alone, with the method `student`.
async fn of_index(app: &Arc<App>, params: LeaderboardParams, size: u64, page: Page) -> Result<Made, Problem> {
    params.may_draw(LeaderboardMethod::Student)?;
    let shared = Arc::clone(app);
    app.checked(move || {
        let mut count = 0;
        // The index is released while subjects are ranked, so that commits do not wait for it.
        let (pools, settings, values) = {
            let index = shared.memory.index();
            let (filter, pools) = Filter::new(&shared, &index, &params.selection())?;
            let settings = settings(&params, None, &pools)?;
            let rows = index.rows(size).filter(|row| filter.admits(row)).inspect(|_| count += 1);
            let values = rows.filter_map(|row| {
                let score = row.score.map(Score::billionths);
                let run = Run { subject: 0, task: 0, outcome: row.outcome, score };
                Some((row.subject, row.task, run.value(settings.policy)?))
            });
            let values = TaskValues::new(values, index.names());
            (pools, settings, values)
        };
        let ranking = rank_values(values, &settings).map_err(|error| refused(&error))?;
        let basis = Basis {
            engine: ENGINE_VERSION.to_owned(),
            scorecards: pools.iter().map(|pool| ScorecardReference::of(&pool.card)).collect(),
            scale: pools.first().map_or(1, |pool| pool.card.scale.max),
            items: ItemsUsed {
                count,
                subjects: ranking.subjects() as u64,
                repeated: None,
                left_out: None,
                digest: None,
            },
            level: settings.level,
            resamples: None,
            seed: None,
            outcomes: settings.policy.into(),
            outcome_sources: settings.sources.into(),
        };
        let index = shared.memory.index();
        let method = match params.method {
            Some(LeaderboardMethod::Census) => LeaderboardMethod::Census,
            _ => LeaderboardMethod::Student,
        };
        let board = leaderboard(&ranking, method, page, |subject| index.name(subject));
        Ok(Made { answer: answer(basis, method, None, vec![board], page), rows: None })
    })
    .await
}

impl LeaderboardParams {
    /// Returns the page of each method that the parameters ask for.
    fn pages(&self) -> Result<Pages, Problem> {
        let skip = self.skip.unwrap_or(0);
        let whole = match self.limit {
            None => usize::MAX,
            Some(_) => limit(self.limit, ROWS, ROWS_MAX)?,
        };
        let student = Page { skip, limit: limit(self.limit, ROWS, ROWS_MAX)? };
        Ok(Pages { bootstrap: Page { skip, limit: whole }, student })
    }

    /// Refuses `resamples` with a method that draws none.
    fn may_draw(&self, method: LeaderboardMethod) -> Result<(), Problem> {
        let given = [("resamples", self.resamples.is_some()), ("seed", self.seed.is_some())];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) if method != LeaderboardMethod::Bootstrap => {
                let detail = format!(
                    "the method {} draws no resamples; leave it out, or narrow the leaderboard with track, since, until, trust or where",
                    method.name()
                );
                Err(Problem::new(Code::Unanswerable, detail).at(name))
            }
            _ => Ok(()),
        }
    }
}

fn too_many_records() -> Problem {
    let detail = format!(
        "this needs the records themselves, of which at most {RECORDS_MAX} are read; narrow the leaderboard with track, since, until or trust"
    );
    Problem::new(Code::Unanswerable, detail)
}

fn too_many_resamples() -> Problem {
    let detail = format!(
        "resamples are drawn for at most {RESAMPLED_SUBJECTS_MAX} subjects and {RESAMPLED_ITEMS_MAX} records; narrow the leaderboard, or ask for method=student"
    );
    Problem::new(Code::Unanswerable, detail).at("method")
}

fn settings(
    params: &LeaderboardParams,
    rows: Option<&Rows>,
    pools: &[Arc<ScorerPool>],
) -> Result<Settings, Problem> {
    let by = match (params.by.as_deref(), rows) {
        (None | Some("score"), _) | (_, None) => By::Score,
        (Some(key), Some(rows)) => By::Dimension(rows.dimension(key).ok_or_else(|| {
            let known: Vec<&str> = rows.dimensions.iter().map(|(key, _)| key.as_str()).collect();
            let key = key.escape_debug();
            Problem::parameter("by", format!("found `{key}`, expected score or one of {}", known.join(", ")))
        })?),
    };
    let resamples = params.resamples.unwrap_or(RESAMPLES);
    if !(1..=RESAMPLES_MAX).contains(&resamples) {
        return Err(Problem::parameter(
            "resamples",
            format!("found {resamples}, expected 1 to {RESAMPLES_MAX}"),
        ));
    }
    Ok(Settings {
        by,
        level: params.level.unwrap_or(LEVEL),
        plan: Plan { draws: resamples, seed: params.seed.unwrap_or(1) },
        tasks_min: usize::try_from(params.min_tasks.unwrap_or(1)).unwrap_or(usize::MAX),
        ..Settings::usual_for(pools.first().map(|pool| &**pool.card))
    })
}
