//! Leaderboards: the subjects of a scorecard by rank.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::http::StatusCode;
use karat::answers::LeaderboardMethod;
use karat::answers::basis::{Basis, ItemsUsed};
use karat::answers::leaderboard::columns::{self, Column};
use karat::answers::leaderboard::key::Key;
use karat::answers::leaderboard::method::{
    Page, RESAMPLED_ITEMS_MAX, RESAMPLED_SUBJECTS_MAX, Ranked, answer, counted_values, leaderboard,
    method_of_size, official as with_official, rank, rank_by_official, rank_values,
};
use karat::answers::leaderboard::officials::Officials;
use karat::answers::leaderboard::{Leaderboard, LeaderboardAnswer, MEAN, OFFICIAL, official};
use karat::leaderboard::{By, Settings};
use karat::record::ScorecardReference;
use karat::rows::Rows;
use karat::rows::filter::Filter as Condition;
use karat::standing::events::Events;
use karat_core::number::Score;
use karat_core::record::ENGINE_VERSION;
use karat_core::timestamp::Timestamp;
use karat_standing::stand::Interval;
use karat_stats::bootstrap::Plan;
use karat_stats::outcome::Run;
use karat_stats::student::{StudentRanking, TaskValues};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{answered, bytes};
use crate::cards::ScorerPool;
use crate::decisions::Decisions;
use crate::index::Names;
use crate::params::{Answer, Get, Params, limit, timestamp};
use crate::problem::{Absent, Code, Problem, Unfit};
use crate::rows::{self, RECORDS_MAX, ReadOptions, refused, unanswerable};
use crate::select::{Filter, Marks, Selection, marks, size_at};
use crate::state::App;
use crate::stored::Trust;
use crate::subjects::all_subjects;

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
    /// Only records of at least this trust class.
    pub trust: Option<Trust>,
    /// The state of knowledge at this timestamp: later records and corrections do not count.
    pub known_at: Option<String>,
    /// Only records that match: `FIELD=VALUE` or `FIELD!=VALUE`, where a field is `subject`, `id`, `task`, `outcome`
    /// or a fact of the scorecard.
    #[serde(rename = "where")]
    pub condition: Option<String>,
    /// One leaderboard for each value of this field: a fact, or any field of the evidence, such as `metrics.model` or
    /// `$.scores[0].name`.
    pub group_by: Option<String>,
    /// The value to rank by: `official`, `mean`, the key of a dimension, or a field of the evidence that holds numbers, with
    /// `:asc` or `:desc` where the scorecard does not say which end is better, such as `cost_usd:asc`. If not given, the
    /// official score for a scorecard that has one, unless records are selected by task, time, trust, condition or group;
    /// else the mean of runs.
    pub by: Option<String>,
    /// More columns, separated by commas: a field is its mean, `FIELD:p95` a percentile, `FIELD:min`, `max`, `sum` and
    /// `count` those, `FIELD:counts`, `gates`, `tiers`, `bands` and `outcomes` the number of records by value.
    #[param(example = "cost_usd,cost_usd:p95,gates")]
    pub with: Option<String>,
    /// The timestamp of official scores; the present one if not given.
    pub as_of: Option<String>,
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
            sender: None,
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
    /// Their positions in the log.
    positions: Vec<u64>,
    /// The number of their subjects, counted as far as needed.
    subjects: usize,
}

/// Ranks subjects: means over tasks with intervals, rank ranges, and letters for ties.
///
/// With the method `bootstrap` the answer is the same as from `karat leaderboard`. The method `student` is for very many
/// subjects or records: the same means, with intervals from the spread of the tasks, in pages; fields that need
/// resamples are null.
#[utoipa::path(get, operation_id = "show_leaderboard", path = "/v1/leaderboards", tag = "records", params(LeaderboardParams), responses(
    (status = 200, body = LeaderboardAnswer, content_type = "application/json", description = "`karat/leaderboard/2`"),
    Absent, Unfit))]
pub(crate) async fn show(Get(app, _): Get, Params(params): Params<LeaderboardParams>) -> Answer {
    let size = size_at(&app, params.known_at.as_deref()).await?;
    let params = params.at_moment(&app)?;
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
pub async fn make(
    app: &Arc<App>,
    params: &LeaderboardParams,
    size: u64,
    pages: Pages,
) -> Result<Made, Problem> {
    let pool = app.memory.cards().find_used(&params.card)?;
    let basing = params.basing(&pool)?;
    let columns = params.columns()?;
    let Selected { pools, positions, subjects } = select(app, params, size).await?;
    let needs_records = params.condition.is_some()
        || params.group_by.is_some()
        || params.with.is_some()
        || basing.is_dimension;
    let few = positions.len() <= RECORDS_MAX;
    let options = params.options(&pools)?;
    if !few && (!columns.is_empty() || !options.kept.is_empty() || options.needs_evidence(&pools)) {
        let detail = format!(
            "columns, and fields that the scorecard does not declare, are of at most {RECORDS_MAX} records; narrow the leaderboard with track, since, until, trust or where"
        );
        return Err(Problem::new(Code::Unanswerable, detail));
    }
    let usual = method_of_size(subjects, positions.len());
    if !few && params.method == Some(LeaderboardMethod::Bootstrap) {
        return Err(too_many_resamples());
    }
    let is_read = needs_records || params.method.unwrap_or(usual) != LeaderboardMethod::Student;
    let as_of = params.moment(app)?;
    let is_official = basing.is_official;
    let asked = Asked { params: params.clone(), columns, pool, size, as_of, pages, is_official };
    let mut made = match (few, is_read) {
        (true, true) => of_records(app, asked, pools, positions).await?,
        (false, _) if needs_records => of_parts(app, asked, pools, positions).await?,
        _ => of_index(app, asked).await?,
    };
    for board in &mut made.answer.leaderboards {
        board.without_official.clone_from(&basing.without_official);
    }
    made.answer.log_size = Some(size);
    let asked = params.clone();
    let boards = made.answer.leaderboards.iter();
    let names: Vec<String> = boards.flat_map(|board| &board.rows).map(|row| row.subject.clone()).collect();
    let known = app.indexed(move |app, index| {
        let looks = app.memory.looks.of(index, names.iter().map(String::as_str), size);
        Ok((marks(app, index, &asked.selection(), size)?, looks))
    });
    let (marked, look_alikes) = known.await?;
    made.answer.mark_look_alikes(&look_alikes);
    let mut all = Marks::default();
    marked.values().for_each(|it| all.add(it));
    (made.answer.corrected, made.answer.backfilled) = (all.corrected, all.backfilled);
    for row in made.answer.leaderboards.iter_mut().flat_map(|board| &mut board.rows) {
        let Marks { corrected, backfilled } = marked.get(&row.subject).cloned().unwrap_or_default();
        (row.corrected, row.backfilled) = (corrected, backfilled);
    }
    Ok(made)
}

/// A leaderboard that was asked for.
#[derive(Clone)]
struct Asked {
    params: LeaderboardParams,
    /// The columns beside the score.
    columns: Vec<Column>,
    /// The scorecard; for a family, that of the family.
    pool: Arc<ScorerPool>,
    size: u64,
    as_of: Timestamp,
    pages: Pages,
    /// True if ranks are by official scores.
    is_official: bool,
}

/// The basis of ranks.
struct Basing {
    is_official: bool,
    is_dimension: bool,
    /// The reason why ranks are by means although the scorecard has official scores; none if means were asked for.
    without_official: Option<String>,
}

async fn select(app: &Arc<App>, params: &LeaderboardParams, size: u64) -> Result<Selected, Problem> {
    let params = params.clone();
    app.indexed(move |app, index| {
        let (filter, pools) = Filter::new(app, index, &params.selection())?;
        let mut subjects = BTreeSet::new();
        let mut positions = Vec::new();
        for row in index.rows(size).filter(|row| filter.admits(row)) {
            positions.push(row.position);
            if subjects.len() <= RESAMPLED_SUBJECTS_MAX {
                subjects.insert(row.subject);
            }
        }
        Ok(Selected { pools, positions, subjects: subjects.len() })
    })
    .await
}

/// Computes a leaderboard from the records themselves.
async fn of_records(
    app: &Arc<App>,
    asked: Asked,
    pools: Vec<Arc<ScorerPool>>,
    positions: Vec<u64>,
) -> Result<Made, Problem> {
    let shared = Arc::clone(app);
    let read = app.read(move |reader| {
        let rows = rows::read(&shared.memory, reader, &pools, &positions, &asked.params.options(&pools)?)?;
        let events = match asked.is_official {
            true => Decisions::read(reader, &shared.memory, &asked.pool.name(), None, asked.size)?
                .events(|name| rows.subject(name).is_some(), None)?,
            false => Events::default(),
        };
        Ok((rows, events, asked, pools))
    });
    let (mut rows, events, asked, pools) = read.await?;
    app.checked(move || {
        let Asked { params, columns, pool, as_of, pages, is_official, .. } = asked;
        let settings = settings(&params, Some(&mut rows), &pools)?;
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
        let interval = Interval { plan: settings.plan, level: settings.level };
        let interval = (method == LeaderboardMethod::Bootstrap).then_some(interval);
        let officials = match is_official {
            true => Some(Officials::new(&rows, &pool.card, &events, as_of, interval)),
            false => None,
        };
        let officials = officials.transpose().map_err(|error| unanswerable(&error))?;
        let boards = rows.groups().into_iter().map(|(value, items)| {
            let name = params.group_by.as_ref().zip(value).map(|(field, value)| format!("{field} = {value}"));
            let ranked = match &officials {
                Some(officials) => rank_by_official(&rows, &items, method, &settings, page, officials),
                None => rank(&rows, &items, name, method, &settings, page),
            };
            let mut board = ranked.map_err(|error| refused(&error))?.leaderboard;
            let added = columns::add(&mut board, &rows, &items, &columns, "with");
            added.map_err(|error| unanswerable(&error).at("with"))?;
            Ok(board)
        });
        let boards = boards.collect::<Result<_, Problem>>()?;
        let answer = answer(Basis::new(&rows, &settings), method, params.group_by, boards, page);
        Ok(Made { answer, rows: Some(rows) })
    })
    .await
}

/// Computes leaderboards of more records than are read at once, part by part, with the method `student`.
async fn of_parts(
    app: &Arc<App>,
    asked: Asked,
    pools: Vec<Arc<ScorerPool>>,
    positions: Vec<u64>,
) -> Result<Made, Problem> {
    asked.params.may_draw(LeaderboardMethod::Student)?;
    let memory = Arc::clone(&app.memory);
    app.read(move |reader| {
        let Asked { params, pages, .. } = asked;
        let options = params.options(&pools)?;
        let (mut subjects, mut tasks) = (Names::default(), Names::default());
        let mut groups: BTreeMap<Option<String>, Vec<NumberedValue>> = BTreeMap::new();
        let mut last = None;
        let (mut count, mut left_out) = (0, 0);
        for part in positions.chunks(RECORDS_MAX) {
            let Some(mut rows) = rows::read_part(&memory, reader, &pools, part, &options)? else {
                left_out += part.len() as u64;
                continue;
            };
            let settings = settings(&params, Some(&mut rows), &pools)?;
            for (label, subject, task, value) in counted_values(&rows, &settings) {
                let value = (subjects.place(subject), Some(tasks.place(task)), value);
                match groups.get_mut(&label.map(str::to_owned)) {
                    Some(group) => group.push(value),
                    None => _ = groups.insert(label.map(str::to_owned), vec![value]),
                }
            }
            (count, left_out) = (count + rows.rows.len() as u64, left_out + rows.filtered);
            last = Some((settings, karat::answers::leaderboard::by(&rows, &settings)));
        }
        let Some((settings, by)) = last else {
            let detail = format!("none of the {left_out} records matches the conditions");
            return Err(Problem::new(Code::Unanswerable, detail));
        };
        let method = params.method.unwrap_or(LeaderboardMethod::Student);
        let boards = groups.into_iter().map(|(value, values)| {
            let group =
                params.group_by.as_ref().zip(value).map(|(field, value)| format!("{field} = {value}"));
            let ranking = rank_values(TaskValues::new(values, subjects.len()), &settings);
            let ranking = ranking.map_err(|error| refused(&error))?;
            let board = leaderboard(&ranking, method, pages.student, |subject| subjects.name(subject));
            Ok(Leaderboard { group, by: by.clone(), ..board })
        });
        let boards = boards.collect::<Result<Vec<_>, Problem>>()?;
        let items = ItemsUsed {
            count,
            subjects: subjects.len() as u64,
            repeated: None,
            left_out: Some(left_out),
            digest: None,
        };
        let basis = basis_of(&pools, items, &settings);
        Ok(Made { answer: answer(basis, method, params.group_by, boards, pages.student), rows: None })
    })
    .await
}

/// A value that counts: the numbers of its subject and task, and its billionths.
type NumberedValue = (u32, Option<u32>, i64);

/// Computes a leaderboard from the index and from what is kept of every subject, with the method `student`.
async fn of_index(app: &Arc<App>, asked: Asked) -> Result<Made, Problem> {
    let Asked { params, pool, size, as_of, pages, is_official, .. } = asked;
    let page = pages.student;
    params.may_draw(LeaderboardMethod::Student)?;
    let all = match is_official {
        true => Some(all_subjects(app, &pool, as_of, size).await?),
        false => None,
    };
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
        let ranking = rank_values(values, &settings);
        let subjects = ranking.as_ref().map_or(0, StudentRanking::subjects) as u64;
        let items = ItemsUsed { count, subjects, repeated: None, left_out: None, digest: None };
        let basis = basis_of(&pools, items, &settings);
        let index = shared.memory.index();
        let method = match params.method {
            Some(LeaderboardMethod::Census) => LeaderboardMethod::Census,
            _ => LeaderboardMethod::Student,
        };
        let board = |ranking, page| leaderboard(&ranking, method, page, |subject| index.name(subject));
        let board = match all.as_ref().and_then(|all| all.officials.as_ref()) {
            Some(officials) => {
                let means = ranking.map(|it| Ranked { leaderboard: board(it, Page::ALL), ranking: None });
                with_official(means, officials, &settings, page).map(|ranked| ranked.leaderboard)
            }
            None => ranking.map(|ranking| board(ranking, page)),
        };
        let board = board.map_err(|error| refused(&error))?;
        Ok(Made { answer: answer(basis, method, None, vec![board], page), rows: None })
    })
    .await
}

/// Returns the basis of an answer that draws no resamples.
fn basis_of(pools: &[Arc<ScorerPool>], items: ItemsUsed, settings: &Settings) -> Basis {
    Basis {
        engine: ENGINE_VERSION.to_owned(),
        scorecards: pools.iter().map(|pool| ScorecardReference::of(&pool.card)).collect(),
        scale: pools.first().map_or(1, |pool| pool.card.scale.max),
        items,
        decay: pools
            .iter()
            .any(|pool| pool.card.decay().is_some())
            .then_some(karat::answers::DecayMoment::Own),
        level: settings.level,
        resamples: None,
        seed: None,
        outcomes: settings.policy.into(),
        outcome_sources: settings.sources.into(),
    }
}

impl LeaderboardParams {
    /// Returns the moment of official scores.
    fn moment(&self, app: &App) -> Result<Timestamp, Problem> {
        Ok(timestamp("as_of", self.as_of.as_deref())?.unwrap_or_else(|| app.moment()))
    }

    /// Returns the same parameters with the moment that they mean now, so that an answer is kept under its own.
    pub(crate) fn at_moment(self, app: &App) -> Result<Self, Problem> {
        let as_of = Some(self.moment(app)?.to_string());
        Ok(Self { as_of, ..self })
    }

    /// Returns the columns beside the score.
    fn columns(&self) -> Result<Vec<Column>, Problem> {
        let columns = self.with.as_deref().map(Column::parse).transpose();
        Ok(columns.map_err(|problem| Problem::parameter("with", problem))?.unwrap_or_default())
    }

    /// Returns the key to rank by, if it is neither the official score nor the mean.
    fn key(&self) -> Option<Key> {
        self.by.as_deref().map(Key::parse).filter(|key| key.field().is_some())
    }

    /// Returns what to read of the records.
    fn options(&self, pools: &[Arc<ScorerPool>]) -> Result<ReadOptions, Problem> {
        let condition = self.condition.as_deref().map(str::parse::<Condition>).transpose();
        let condition = condition.map_err(|problem| Problem::parameter("where", problem))?;
        let is_value = |pool: &ScorerPool, key: &str| {
            let card = &pool.card;
            card.dimensions.iter().any(|it| it.key == key) || card.groups.iter().any(|it| it.key == key)
        };
        let key = self.key().map(|key| key.name);
        let key = key.filter(|key| !pools.iter().any(|pool| is_value(pool, key)));
        let columns = self.columns()?;
        let kept: BTreeSet<String> = columns.iter().filter_map(Column::kept).chain(key).collect();
        Ok(ReadOptions {
            filters: condition.into_iter().collect(),
            labels: self.group_by.clone().into_iter().collect(),
            kept: kept.into_iter().collect(),
        })
    }

    /// Returns what ranks are based on: official scores are of all records of a subject.
    fn basing(&self, pool: &ScorerPool) -> Result<Basing, Problem> {
        let selected = [&self.track, &self.since, &self.until, &self.condition];
        let asked = official::Asked {
            is_selection: selected.iter().any(|it| it.is_some()) || self.trust.is_some(),
            is_grouped: self.group_by.is_some(),
            has_other_outcomes: false,
        };
        let refusal = match pool.card.standing {
            None => Some("the scorecard has no section [standing]"),
            Some(_) => asked.without_official(),
        };
        let without = |why: Option<&str>| Basing {
            is_official: false,
            is_dimension: false,
            without_official: why.map(str::to_owned),
        };
        match (self.by.as_deref(), refusal) {
            (None | Some(OFFICIAL), None) => Ok(Basing { is_official: true, ..without(None) }),
            (None, Some(why)) => Ok(without(Some(why).filter(|_| pool.card.standing.is_some()))),
            (Some(OFFICIAL), Some(why)) => {
                Err(Problem::parameter("by", format!("there are no official scores: {why}; ask for by=mean")))
            }
            (Some(MEAN), _) => Ok(without(None)),
            (Some(_), _) => Ok(Basing { is_dimension: true, ..without(None) }),
        }
    }

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

fn too_many_resamples() -> Problem {
    let detail = format!(
        "resamples are drawn for at most {RESAMPLED_SUBJECTS_MAX} subjects and {RESAMPLED_ITEMS_MAX} records; narrow the leaderboard, or ask for method=student"
    );
    Problem::new(Code::Unanswerable, detail).at("method")
}

fn settings(
    params: &LeaderboardParams,
    rows: Option<&mut Rows>,
    pools: &[Arc<ScorerPool>],
) -> Result<Settings, Problem> {
    let by = match (params.by.as_deref(), rows) {
        (None | Some(OFFICIAL | MEAN), _) | (_, None) => By::Score,
        (Some(key), Some(rows)) => match (rows.dimension(key), params.key()) {
            (Some(dimension), _) => By::Dimension(dimension),
            (None, Some(field)) if field.rank(rows, "by").map_err(|it| unanswerable(&it).at("by"))? => {
                By::Fact
            }
            _ => {
                let known: Vec<&str> = rows.dimensions.iter().map(|(key, _)| key.as_str()).collect();
                let (key, known) = (key.escape_debug(), known.join(", "));
                let detail = format!(
                    "found `{key}`, expected official, mean, one of {known}, or a field of the evidence"
                );
                return Err(Problem::parameter("by", detail));
            }
        },
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
