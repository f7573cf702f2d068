//! Leaderboards: the subjects of a scorecard by rank. The command line asks and answers the same; what is more
//! than can be read at once is ranked from the index, or part by part.

use std::sync::LazyLock;

use axum::http::Uri;
use axum::http::header::CACHE_CONTROL;
use karat::answers::LeaderboardMethod;
use karat::answers::basis::{Basis, ItemsUsed, TrustCounts};
use karat::answers::leaderboard::method::{
    COMPARED_ITEMS_MAX, COMPARED_SUBJECTS_MAX, Page, Ranked, answer, counted_values, leaderboard,
    method_of_size, official, rank_values,
};
use karat::answers::leaderboard::{Leaderboard as Board, LeaderboardAnswer, LeaderboardRow, NewerVersion};
use karat::ask::leaderboard::{Base, Door, base, kept, ranked};
use karat::ask::{Confidence, Items, Leaderboard};
use karat::badge::{Badge, Show};
use karat::document::{self, LeaderboardView};
use karat::headline::day;
use karat::leaderboard::{By, Settings};
use karat::record::ScorecardReference;
use karat::rows::{Rows, Unclear};
use karat::standing::events::Events;
use karat::write::{self, Form};
use karat_core::number::Score;
use karat_core::record::ENGINE_VERSION;
use karat_stats::StatisticsError;
use karat_stats::cases::{CaseResult, Cases};
use karat_stats::means::TaskValues;
use karat_stats::outcome::Run;
use serde_json::{Map, from_value};
use utoipa::openapi::path::ParameterIn;

use super::{answered, bytes};
use crate::address;
use crate::decisions::Decisions;
use crate::guard::RESOURCE_POLICY;
use crate::index::{Names, Row};
use crate::params::{in_query, limit, query, timestamp};
use crate::prelude::*;
use crate::rows::{self, RECORDS_MAX, ReadOptions, parts, refuse_left_out, refused, unanswerable};
use crate::select::{Filter, Marks, Selection, marks, size_at};
use crate::subjects::all_subjects;

/// The default number of rows of a page with the method `means`, and the largest number.
const ROWS: (usize, usize) = (100, 1000);
/// The advice of an answer that is too large.
const NARROW: &str = "narrow the leaderboard with track, since, until, trust or where";

/// The names of all parameters, in the order of the alphabet.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let of_query = || Some(ParameterIn::Query);
    let own = [Leaderboard::into_params(of_query), OfLog::into_params(of_query)];
    let shared = [Items::into_params(of_query), Confidence::into_params(of_query)];
    let names = own.into_iter().chain(shared).flatten().map(|parameter| parameter.name);
    names.collect::<BTreeSet<String>>().into_iter().collect()
});

/// The parts of a question that only a log has, and the part of an answer.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OfLog {
    /// Only these tasks, separated by commas.
    pub track: Option<String>,
    /// Only records of at least this trust class.
    pub trust: Option<Trust>,
    /// The state of knowledge at this timestamp: later records and corrections do not count.
    pub known_at: Option<String>,
    /// The largest number of rows, 1 to 1,000; if not given all with the method `pairs`, and 100 with `means`.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// The number of rows to skip: `next` of the previous page.
    pub skip: Option<usize>,
    /// `json`, or `csv`: the rows as `karat leaderboard --format csv` writes them.
    #[param(inline)]
    pub format: Option<Format>,
}

/// The form of an answer with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    #[default]
    Json,
    Csv,
}

impl Format {
    pub(super) const fn media(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Question {
    ask: Leaderboard,
    of_log: OfLog,
}

#[derive(Debug, Clone, Copy)]
pub struct Pages {
    /// With the method `pairs`.
    pub pairs: Page,
    /// With the method `means`.
    pub means: Page,
}

/// A leaderboard and the rows that it was computed from.
pub struct Made {
    pub answer: LeaderboardAnswer,
    /// The scored items; `None` if only the index was read.
    pub rows: Option<Rows>,
}

/// A question, with the scorecard and the records that it is about.
struct Asked {
    question: Question,
    /// The scorecard; for a family, that of the family.
    pool: Arc<ScorerPool>,
    /// The scorecards of the records.
    pools: Vec<Arc<ScorerPool>>,
    positions: Vec<u64>,
    /// Those at the tasks with rows over cases of a subject, by the numbers of subject and task: they are brought together, which
    /// takes the records.
    over_cases: BTreeMap<(u32, Option<u32>), Vec<u64>>,
    size: u64,
    base: Base,
    options: ReadOptions,
    pages: Pages,
}

/// Ranks subjects: means over tasks with intervals, rank ranges, and letters for ties.
///
/// With the method `pairs` the answer is the one of `karat leaderboard`. The method `means` is for very many subjects or
/// records: the same means with the same intervals, in pages; fields that need comparisons are null. Without a method it
/// is `pairs` for up to 200 subjects and 20,000 records.
///
/// A field in `where`, `by`, `with` and `group_by` is a fact of the scorecard, or any field of the evidence, such as
/// `metrics.model` or `$.scores[0].name`. In `with`, `FIELD` is its mean, `FIELD:p95` a percentile, and `FIELD:min`, `max`,
/// `sum` and `count` are there, too. Without `by`, ranks are by the official score if the scorecard has one and all its
/// records count, else by the mean of runs. A family ranks all of its challenges together.
#[utoipa::path(get, operation_id = "show_leaderboard", path = "/v1/leaderboards", tag = "records",
    params(Leaderboard, Items, Confidence, OfLog), responses(
    (status = 200, content((LeaderboardAnswer = "application/json"), (String = "text/csv")), description = "`karat/leaderboard/2`"),
    Absent, Unfit))]
pub(crate) async fn show(Get(app, _): Get, uri: Uri) -> Answer {
    let question = Question::read(&app, &uri)?;
    let media = question.of_log.format.unwrap_or_default().media();
    Ok(bytes(StatusCode::OK, media, written(&app, question).await?.to_vec()))
}

/// Returns the answer to the question about a scorecard without more.
pub async fn of_scorecard(app: &Arc<App>, card: String) -> Result<LeaderboardAnswer, Problem> {
    let question = Question::of(app, vec![(String::from("card"), card)], OfLog::default())?;
    let text = written(app, question).await?;
    serde_json::from_slice(&text).map_err(|error| Problem::internal(&error))
}

/// Returns the answer as it is written.
async fn written(app: &Arc<App>, question: Question) -> Result<Arc<[u8]>, Problem> {
    let size = size_at(app, question.of_log.known_at.as_deref()).await?;
    let key = format!("{size} {question:?}");
    if let Some(known) = app.answers.get(&key) {
        return Ok(known);
    }
    let (pages, format) = (question.pages()?, question.of_log.format.unwrap_or_default());
    let Made { answer, rows } = make(app, question, size, pages).await?;
    let text = match format {
        Format::Json => answered(&answer),
        Format::Csv => {
            let dimensions = rows.as_ref().map_or(&[][..], |rows| &rows.dimensions);
            let view = LeaderboardView { dimensions, ..LeaderboardView::default() };
            write::text(Form::Csv, &document::leaderboard(&answer, view))
        }
    };
    Ok(app.answers.put(key, text.into_bytes()))
}

/// The parameters of a badge.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BadgeParams {
    /// The scorecard, as for a leaderboard.
    #[param(example = "workflow@1.0.0")]
    pub card: String,
    /// The subject.
    #[param(example = "17")]
    pub subject: String,
    /// The contents: the score and its interval if not given. `full` adds tier and day, and leads to the page of the subject.
    #[param(inline)]
    pub show: Option<Show>,
}

/// Draws the badge of a subject as `karat badge` does: its official score or, under a scorecard without one, its mean, with the
/// interval; `no score` if it has none.
#[utoipa::path(get, operation_id = "show_badge", path = "/v1/badge", tag = "records", params(BadgeParams), responses(
    (status = 200, body = String, content_type = "image/svg+xml", description = "may be kept for a minute"), Absent, Unfit))]
pub(crate) async fn badge(
    Get(app, _): Get,
    headers: HeaderMap,
    Params(asked): Params<BadgeParams>,
) -> Answer {
    let pool = app.memory.cards().find_used(&asked.card)?;
    if app.memory.index().number(&asked.subject).is_none() {
        return Err(Problem::unknown("subject", &asked.subject, ""));
    }
    let answer = of_scorecard(&app, asked.card).await?;
    let show = asked.show.unwrap_or_default();
    let today = day(&app.moment().to_string());
    let mut badge = Badge::of(&answer, Some(&pool.card), &asked.subject, show, None, Some(&today));
    if show == Show::Full {
        badge.link = format!(
            "{}{}",
            address::origin(&app.options, &headers),
            address::subject(&asked.subject, Some(&pool.name()))
        );
    }
    let mut response = bytes(StatusCode::OK, "image/svg+xml", badge.svg().into_bytes());
    let mut put = |name, value| response.headers_mut().insert(name, HeaderValue::from_static(value));
    put(CACHE_CONTROL, "max-age=60");
    if app.options.is_public {
        put(RESOURCE_POLICY, "cross-origin");
    }
    Ok(response)
}

/// Returns the first rows of the usual leaderboard of a scorecard by means, each with what it is ranked by, and how many have a
/// rank.
pub(super) async fn of_metrics(
    app: &Arc<App>,
    card: &str,
    size: u64,
    rows_max: usize,
) -> Result<(Vec<(String, LeaderboardRow)>, u64), Problem> {
    let pairs =
        [("card", card), ("method", "means")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let question = Question::of(app, pairs.to_vec(), OfLog { limit: Some(rows_max), ..OfLog::default() })?;
    let pages = question.pages()?;
    let made = make(app, question, size, pages).await?;
    let boards = made.answer.leaderboards.into_iter();
    let ranked = boards.clone().map(|board| board.ranked).sum();
    let rows = boards.flat_map(|board| board.rows.into_iter().map(move |row| (board.by.clone(), row)));
    Ok((rows.collect(), ranked))
}

/// Computes the leaderboard as of the first `size` entries of the log.
pub async fn make(app: &Arc<App>, question: Question, size: u64, pages: Pages) -> Result<Made, Problem> {
    let (asked, subjects) = select(app, question, size, pages).await?;
    let Question { ask, .. } = &asked.question;
    let needs_records = !ask.items.filters.is_empty()
        || ask.group_by.is_some()
        || ask.with.is_some()
        || ask.cost.is_some()
        || asked.base == Base::Key;
    let few = asked.positions.len() <= RECORDS_MAX;
    let has_cases = !asked.over_cases.is_empty();
    if !few && (ask.with.is_some() || ask.cost.is_some() || asked.options.needs_evidence(&asked.pools)) {
        refuse!(
            Unanswerable,
            "columns, and fields that the scorecard does not declare, are of at most {RECORDS_MAX} records; {NARROW}"
        );
    }
    let usual = method_of_size(subjects, asked.positions.len());
    let is_read = needs_records || has_cases || ask.method.unwrap_or(usual) != LeaderboardMethod::Means;
    let question = asked.question.clone();
    let without_official = match asked.base {
        Base::Means(why) => why.map(str::to_owned),
        _ => None,
    };
    let mut made = match (few, is_read) {
        (true, true) => of_records(app, asked).await?,
        (false, _) if ask.method == Some(LeaderboardMethod::Pairs) => return Err(too_many_pairs()),
        (false, _) if needs_records => of_parts(app, asked).await?,
        _ => of_index(app, asked).await?,
    };
    if made.rows.is_none() {
        for board in &mut made.answer.leaderboards {
            board.without_official.clone_from(&without_official);
        }
    }
    made.answer.log_size = Some(size);
    made.answer.newer_version = newer_version(app, question.ask.card.as_deref().unwrap_or_default());
    let boards = made.answer.leaderboards.iter();
    let names: Vec<String> = boards.flat_map(|board| &board.rows).map(|row| row.subject.clone()).collect();
    let known = app.indexed(move |app, index| {
        let looks = app.memory.looks.of(index, names.iter().map(String::as_str), size);
        Ok((marks(app, index, &question.selection(), size)?, looks))
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

/// Returns the newest version of a scorecard that is asked for without one, if another answers meanwhile.
fn newer_version(app: &App, wanted: &str) -> Option<NewerVersion> {
    let cards = app.memory.cards();
    let answering = cards.find_used(wanted).ok().filter(|_| !wanted.contains('@'))?;
    cards.newer(&answering).map(|(card, records, of)| NewerVersion { card, records, of })
}

/// Returns the records that a leaderboard ranks, and the number of their subjects, counted as far as needed.
async fn select(
    app: &Arc<App>,
    question: Question,
    size: u64,
    pages: Pages,
) -> Result<(Asked, usize), Problem> {
    let pool = app.memory.cards().find_used(question.ask.card.as_deref().unwrap_or_default())?;
    let base = base(&question.ask, Some(&pool.card), question.of_log.is_part());
    let base = base.map_err(|error| in_query(&unanswerable(&error), &NAMES))?;
    app.indexed(move |app, index| {
        let (filter, pools) = Filter::new(&app.memory, index, &question.selection())?;
        let mut subjects = BTreeSet::new();
        let mut positions = Vec::new();
        for row in index.rows(size).filter(|row| filter.admits(row)) {
            positions.push(row.position);
            if subjects.len() <= COMPARED_SUBJECTS_MAX {
                subjects.insert(row.subject);
            }
        }
        let all = || index.rows(size).filter(|row| filter.admits(row));
        let key = |row: &Row| (row.subject, row.task);
        let mut over_cases: BTreeMap<_, Vec<u64>> =
            all().filter(|row| row.is_over_cases).map(|row| (key(row), Vec::new())).collect();
        if !over_cases.is_empty() {
            all().for_each(|row| _ = over_cases.entry(key(row)).and_modify(|it| it.push(row.position)));
        }
        let options = question.options(&pools, base);
        let asked = Asked { question, pool, pools, positions, over_cases, size, base, options, pages };
        Ok((asked, subjects.len()))
    })
    .await
}

/// Computes a leaderboard from the records themselves.
async fn of_records(app: &Arc<App>, asked: Asked) -> Result<Made, Problem> {
    let shared = Arc::clone(app);
    let read = app.read(move |reader| {
        let rows = rows::read(&shared.memory, reader, &asked.pools, &asked.positions, &asked.options)?;
        let events = match asked.base {
            Base::Official => Decisions::read(reader, &shared.memory, &asked.pool.name(), None, asked.size)?
                .events(|name| rows.subject(name).is_some(), None)?,
            _ => Events::default(),
        };
        Ok((rows, events, asked))
    });
    let (mut rows, events, asked) = read.await?;
    if rows.rows.is_empty() {
        refuse_left_out(&rows)?;
    }
    app.checked(move || {
        let Asked { question, pool, pages, .. } = asked;
        let usual = method_of_size(rows.subjects.len(), rows.rows.len());
        let method = question.ask.method.unwrap_or(usual);
        let page = match method {
            LeaderboardMethod::Pairs if usual == LeaderboardMethod::Means => {
                return Err(too_many_pairs());
            }
            LeaderboardMethod::Pairs => pages.pairs,
            LeaderboardMethod::Means | LeaderboardMethod::Census => pages.means,
        };
        let is_part = question.of_log.is_part();
        let door = Door { card: Some(&pool.card), is_part, page, ..Door::default() };
        let found = ranked(&question.ask, door, &mut rows, &events);
        let (mut answer, _) = found.map_err(|error| in_query(&unanswerable(&error), &NAMES))?;
        answer.leave_out(&rows.left_out);
        Ok(Made { answer, rows: Some(rows) })
    })
    .await
}

/// A value that counts: the numbers of its subject and task, and its billionths.
type NumberedValue = (u32, Option<u32>, i64);

/// The values of a leaderboard that were read, and for subjects with rows over cases also the cases of each.
#[derive(Default)]
struct Collected {
    values: Vec<NumberedValue>,
    cases: Vec<CaseResult>,
}

impl Collected {
    fn add(&mut self, value: NumberedValue, cases: Option<u64>, with_cases: &mut BTreeSet<u32>) {
        if cases.is_some() {
            with_cases.insert(value.0);
        }
        if with_cases.contains(&value.0) {
            self.cases.push(case_result(value, cases));
        }
        self.values.push(value);
    }
}

fn case_result((subject, task, value): NumberedValue, cases: Option<u64>) -> CaseResult {
    let place = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    CaseResult { subject: place(subject), task: task.map_or(usize::MAX, place), value, cases }
}

/// Ranks subjects by values. Returns the leaderboard, and the number of subjects that have a value.
fn rank<'n>(
    values: TaskValues,
    cases: Cases,
    method: LeaderboardMethod,
    settings: &Settings,
    (page, name, number): (Page, impl Fn(u32) -> &'n str, impl Fn(&str) -> Option<u32>),
) -> Result<(Board, usize), StatisticsError> {
    let ranking = rank_values(values, cases.clone(), method, settings)?;
    let mut board = leaderboard(&ranking, page, name);
    for row in &mut board.rows {
        row.cases = number(&row.subject).and_then(|it| cases.of(usize::try_from(it).ok()?));
    }
    Ok((board, ranking.subjects()))
}

/// Computes leaderboards of more records than are read at once, part by part, with the method `means`.
async fn of_parts(app: &Arc<App>, asked: Asked) -> Result<Made, Problem> {
    let memory = Arc::clone(&app.memory);
    app.read(move |reader| {
        let Asked { question, pools, positions, over_cases, options, pages, .. } = asked;
        let (mut subjects, mut tasks) = (Names::default(), Names::default());
        let mut groups: BTreeMap<Option<String>, Collected> = BTreeMap::new();
        let mut last = None;
        let (mut trust, mut filtered) = (TrustCounts::default(), 0);
        let (mut with_cases, mut left_out) = (BTreeSet::new(), BTreeMap::new());
        for part in parts(&over_cases, Some(&positions)) {
            let Some(rows) = rows::read_part(&memory, reader, &pools, &part, &options)? else {
                filtered += part.len() as u64;
                continue;
            };
            let by = match question.ask.by.as_deref().and_then(|key| rows.dimension(key)) {
                Some(dimension) => By::Dimension(dimension),
                None => By::Score,
            };
            let settings = Settings { by, ..question.settings(&pools) };
            for (label, subject, task, value, cases) in counted_values(&rows, &settings) {
                let value = (subjects.place(subject), Some(tasks.place(task)), value);
                groups.entry(label.map(str::to_owned)).or_default().add(value, cases, &mut with_cases);
            }
            trust.add_rows(&rows);
            filtered += rows.filtered;
            last = Some((settings, karat::answers::leaderboard::by(&rows, &settings)));
            left_out.extend(rows.left_out);
        }
        let Some((settings, by)) = last else {
            refuse!(Unanswerable, "none of the {filtered} records matches the conditions");
        };
        let method = question.ask.method.unwrap_or(LeaderboardMethod::Means);
        let without: BTreeSet<u32> = left_out.keys().map(|name| subjects.place(name)).collect();
        let shown = || (pages.means, |subject| subjects.name(subject), |name: &str| subjects.number(name));
        let boards = groups.into_iter().map(|(value, collected)| {
            let values = collected.values.into_iter().filter(|(subject, ..)| !without.contains(subject));
            let values = TaskValues::new(values, subjects.len());
            let found = rank(values, Cases::new(collected.cases), method, &settings, shown());
            let (board, _) = found.map_err(|error| refused(&error))?;
            let group = question.ask.group_by.as_ref().zip(value);
            let group = group.map(|(field, value)| format!("{field} = {value}"));
            Ok(Board { group, by: by.clone(), ..board })
        });
        let boards = boards.collect::<Result<Vec<_>, Problem>>()?;
        let basis = basis_of(&pools, (trust, subjects.len(), Some(filtered)), &settings);
        let mut answer = answer(basis, method, question.ask.group_by, boards, pages.means);
        answer.leave_out(&left_out);
        Ok(Made { answer, rows: None })
    })
    .await
}

/// Computes a leaderboard from the index and from what is kept of every subject, with the method `means`. The records of rows
/// over cases are read, as the index does not say what they are.
async fn of_index(app: &Arc<App>, asked: Asked) -> Result<Made, Problem> {
    let Asked { question, pool, pools, over_cases, size, base, options, pages, .. } = asked;
    let page = pages.means;
    let all = match (base, &question.ask.items.as_of) {
        (Base::Official, Some(as_of)) => Some(all_subjects(app, &pool, as_of.at, size).await?),
        _ => None,
    };
    let settings = question.settings(&pools);
    let mut left_out = all.as_ref().map(|all| all.left_out.clone()).unwrap_or_default();
    let (mut collected, mut with_cases) = (Collected::default(), BTreeSet::new());
    let shared = Arc::clone(app);
    let (own, parts) = (pools.clone(), parts(&over_cases, None));
    if !parts.is_empty() {
        (collected, with_cases, left_out) = app
            .read(move |reader| {
                for part in parts {
                    let rows = rows::read_part(&shared.memory, reader, &own, &part, &options)?;
                    let Some(rows) = rows else { continue };
                    let index = shared.memory.index();
                    for (_, subject, task, value, cases) in counted_values(&rows, &settings) {
                        let value = (index.number(subject).unwrap_or(u32::MAX), index.number(task), value);
                        collected.add(value, cases, &mut with_cases);
                    }
                    left_out.extend(rows.left_out);
                }
                Ok((collected, with_cases, left_out))
            })
            .await?;
    }
    let shared = Arc::clone(app);
    app.checked(move || {
        let Collected { values, mut cases } = collected;
        let mut trust = TrustCounts::default();
        // The index is released while subjects are ranked, so that commits do not wait for it.
        let values = {
            let index = shared.memory.index();
            let without: BTreeSet<u32> = left_out.keys().filter_map(|name| index.number(name)).collect();
            let (filter, _) = Filter::new(&shared.memory, &index, &question.selection())?;
            let rows =
                index.rows(size).filter(|row| filter.admits(row)).inspect(|row| trust.add(row.trust, 1));
            let rest = rows.filter(|row| !over_cases.contains_key(&(row.subject, row.task)));
            let rest = rest.filter_map(|row| {
                let score = row.score.map(Score::billionths);
                let run = Run { subject: 0, task: 0, outcome: row.outcome, score };
                let value = (row.subject, row.task, run.value(settings.policy)?);
                cases.extend(with_cases.contains(&row.subject).then(|| case_result(value, None)));
                Some(value)
            });
            let all = values.into_iter().chain(rest);
            TaskValues::new(all.filter(|(subject, ..)| !without.contains(subject)), index.names())
        };
        let index = shared.memory.index();
        let method = match question.ask.method {
            Some(LeaderboardMethod::Census) => LeaderboardMethod::Census,
            _ => LeaderboardMethod::Means,
        };
        let officials = all.as_ref().and_then(|all| all.officials.as_ref());
        let shown = if officials.is_some() { Page::ALL } else { page };
        let names = (shown, |subject| index.name(subject), |name: &str| index.number(name));
        let found = rank(values, Cases::new(cases), method, &settings, names);
        let subjects = found.as_ref().map_or(0, |(_, subjects)| *subjects);
        let board = found.map(|(board, _)| board);
        let board = match officials {
            Some(officials) => {
                let means = board.map(|leaderboard| Ranked { leaderboard, ranking: None });
                official(means, officials, method, &settings, page).map(|ranked| ranked.leaderboard)
            }
            None => board,
        };
        let board = board.map_err(|error| refused(&error))?;
        let basis = basis_of(&pools, (trust, subjects, None), &settings);
        let mut answer = answer(basis, method, None, vec![board], page);
        answer.leave_out(&left_out);
        Ok(Made { answer, rows: None })
    })
    .await
}

/// Returns the basis of an answer from the number of items by trust class, of subjects, and of items left out.
fn basis_of(
    pools: &[Arc<ScorerPool>],
    (trust, subjects, left_out): (TrustCounts, usize, Option<u64>),
    settings: &Settings,
) -> Basis {
    let decays = pools.iter().any(|pool| pool.card.decay().is_some());
    Basis {
        engine: ENGINE_VERSION.to_owned(),
        scorecards: pools.iter().map(|pool| ScorecardReference::of(&pool.card)).collect(),
        scale: pools.first().map_or(1, |pool| pool.card.scale.max),
        items: ItemsUsed {
            count: trust.sum(),
            subjects: subjects as u64,
            left_out,
            trust,
            ..ItemsUsed::default()
        },
        decay: decays.then_some(karat::answers::DecayMoment::Own),
        level: settings.level,
        outcomes: settings.policy.into(),
        outcome_sources: settings.sources,
    }
}

impl OfLog {
    /// Returns true if it selects records.
    fn is_part(&self) -> bool {
        self.track.is_some() || self.trust.is_some()
    }
}

impl Question {
    /// Reads a query. Without a moment of official scores it is about the present one, so that an answer is kept under its own.
    pub(crate) fn read(app: &App, uri: &Uri) -> Result<Self, Problem> {
        Self::of(app, query(uri)?, query(uri)?)
    }

    fn of(app: &App, pairs: Vec<(String, String)>, of_log: OfLog) -> Result<Self, Problem> {
        let mut all = Map::new();
        for (name, text) in pairs {
            let at_fault = match NAMES.contains(&name) {
                false => Some(format!(
                    "unknown field `{}`, expected one of {}",
                    name.escape_debug(),
                    NAMES.join(", ")
                )),
                true => all.contains_key(&name).then(|| format!("`{name}` is given twice")),
            };
            if let Some(detail) = at_fault {
                return Err(Problem::parameter("query", detail));
            }
            if ["as_of", "since", "until"].contains(&name.as_str()) {
                timestamp(&name, Some(&text))?;
            }
            if let Err(error) = from_value::<Leaderboard>(json!({ name.as_str(): text })) {
                return Err(Problem::parameter(&name, format!("found `{}`: {error}", text.escape_debug())));
            }
            all.insert(name, Value::String(text));
        }
        if !all.contains_key("card") {
            refuse!(BadRequest at "query", "missing field `card`");
        }
        if !all.contains_key("as_of") {
            all.insert(String::from("as_of"), Value::String(app.moment().to_string()));
        }
        let ask: Leaderboard = from_value(Value::Object(all)).map_err(|error| Problem::internal(&error))?;
        Ok(Self { ask, of_log })
    }

    /// Returns the part of the question that the index answers.
    fn selection(&self) -> Selection {
        Selection {
            card: self.ask.card.clone(),
            track: self.of_log.track.clone(),
            since: self.ask.items.since.map(|since| since.to_string()),
            until: self.ask.items.until.map(|until| until.to_string()),
            trust: self.of_log.trust,
            ..Selection::default()
        }
    }

    /// Returns what to read of the records: dimensions are in all of them.
    fn options(&self, pools: &[Arc<ScorerPool>], base: Base) -> ReadOptions {
        let is_value = |pool: &ScorerPool, key: &str| {
            let card = &pool.card;
            card.dimensions.iter().any(|it| it.key == key) || card.groups.iter().any(|it| it.key == key)
        };
        let mut fields = kept(&self.ask);
        fields.retain(|key| {
            self.ask.by.as_deref() != Some(key) || !pools.iter().any(|pool| is_value(pool, key))
        });
        ReadOptions {
            filters: self.ask.items.filters.clone(),
            labels: self.ask.group_by.clone().into_iter().collect(),
            kept: fields,
            unclear: match base {
                Base::Official => Unclear::LeftOutOfStandings,
                _ => Unclear::LeftOut,
            },
        }
    }

    /// Returns the page of each method that is asked for.
    fn pages(&self) -> Result<Pages, Problem> {
        let skip = self.of_log.skip.unwrap_or(0);
        let means = Page { skip, limit: limit(self.of_log.limit, ROWS.0, ROWS.1)? };
        let whole = self.of_log.limit.unwrap_or(usize::MAX);
        Ok(Pages { pairs: Page { skip, limit: whole }, means })
    }

    fn settings(&self, pools: &[Arc<ScorerPool>]) -> Settings {
        let confidence = &self.ask.sure.confidence;
        Settings {
            level: confidence.level,
            tasks_min: self.ask.min_tasks,
            ..Settings::usual_for(pools.first().map(|pool| &**pool.card))
        }
    }
}

fn too_many_pairs() -> Problem {
    let detail = format!(
        "pairs are compared of at most {COMPARED_SUBJECTS_MAX} subjects and {COMPARED_ITEMS_MAX} records; narrow the leaderboard, or ask for method=means"
    );
    Problem::new(Code::Unanswerable, detail).at("method")
}
