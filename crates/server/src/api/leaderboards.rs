//! Leaderboards: the subjects of a scorecard by rank. The command line asks and answers the same; what is more
//! than can be read at once is ranked from the index, or part by part.

use std::sync::LazyLock;

use axum::http::Uri;
use karat::answers::LeaderboardMethod;
use karat::answers::basis::{Basis, ItemsUsed};
use karat::answers::leaderboard::LeaderboardAnswer;
use karat::answers::leaderboard::method::{
    COMPARED_ITEMS_MAX, COMPARED_SUBJECTS_MAX, Page, Ranked, answer, counted_values, leaderboard,
    method_of_size, official, rank_values,
};
use karat::ask::leaderboard::{Base, Door, base, kept, ranked};
use karat::ask::{Confidence, Items, Leaderboard};
use karat::leaderboard::{By, Settings};
use karat::record::ScorecardReference;
use karat::rows::Rows;
use karat::standing::events::Events;
use karat_core::number::Score;
use karat_core::record::ENGINE_VERSION;
use karat_stats::StatisticsError;
use karat_stats::cases::Cases;
use karat_stats::means::{Means, TaskValues};
use karat_stats::outcome::Run;
use serde_json::{Map, from_value};
use utoipa::openapi::path::ParameterIn;

use super::{answered, bytes};
use crate::decisions::Decisions;
use crate::index::Names;
use crate::params::{limit, query, timestamp};
use crate::prelude::*;
use crate::rows::{self, RECORDS_MAX, ReadOptions, refused, unanswerable};
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
#[derive(Debug, Clone, Deserialize, IntoParams)]
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
    (status = 200, body = LeaderboardAnswer, content_type = "application/json", description = "`karat/leaderboard/2`"),
    Absent, Unfit))]
pub(crate) async fn show(Get(app, _): Get, uri: Uri) -> Answer {
    let question = Question::read(&app, &uri)?;
    let size = size_at(&app, question.of_log.known_at.as_deref()).await?;
    let key = format!("{size} {question:?}");
    if let Some(known) = app.answers.get(&key) {
        return Ok(bytes(StatusCode::OK, "application/json", known.to_vec()));
    }
    let pages = question.pages()?;
    let made = make(&app, question, size, pages).await?;
    let text = app.answers.put(key, answered(&made.answer).into_bytes());
    Ok(bytes(StatusCode::OK, "application/json", text.to_vec()))
}

/// Computes the leaderboard as of the first `size` entries of the log.
pub async fn make(app: &Arc<App>, question: Question, size: u64, pages: Pages) -> Result<Made, Problem> {
    let (asked, subjects) = select(app, question, size, pages).await?;
    let Question { ask, .. } = &asked.question;
    let needs_records = !ask.items.filters.is_empty()
        || ask.group_by.is_some()
        || ask.with.is_some()
        || asked.base == Base::Key;
    let few = asked.positions.len() <= RECORDS_MAX;
    if !few && (ask.with.is_some() || asked.options.needs_evidence(&asked.pools)) {
        refuse!(
            Unanswerable,
            "columns, and fields that the scorecard does not declare, are of at most {RECORDS_MAX} records; {NARROW}"
        );
    }
    let usual = method_of_size(subjects, asked.positions.len());
    let is_read = needs_records || ask.method.unwrap_or(usual) != LeaderboardMethod::Means;
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

/// Returns the records that a leaderboard ranks, and the number of their subjects, counted as far as needed.
async fn select(
    app: &Arc<App>,
    question: Question,
    size: u64,
    pages: Pages,
) -> Result<(Asked, usize), Problem> {
    let pool = app.memory.cards().find_used(question.ask.card.as_deref().unwrap_or_default())?;
    let base = base(&question.ask, Some(&pool.card), question.of_log.is_part());
    let base = base.map_err(|error| in_query(&unanswerable(&error)))?;
    app.indexed(move |app, index| {
        let (filter, pools) = Filter::new(app, index, &question.selection())?;
        let mut subjects = BTreeSet::new();
        let mut positions = Vec::new();
        for row in index.rows(size).filter(|row| filter.admits(row)) {
            positions.push(row.position);
            if subjects.len() <= COMPARED_SUBJECTS_MAX {
                subjects.insert(row.subject);
            }
        }
        let options = question.options(&pools);
        Ok((Asked { question, pool, pools, positions, size, base, options, pages }, subjects.len()))
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
        let (answer, _) = found.map_err(|error| in_query(&unanswerable(&error)))?;
        Ok(Made { answer, rows: Some(rows) })
    })
    .await
}

/// A value that counts: the numbers of its subject and task, and its billionths.
type NumberedValue = (u32, Option<u32>, i64);

/// Computes leaderboards of more records than are read at once, part by part, with the method `means`.
async fn of_parts(app: &Arc<App>, asked: Asked) -> Result<Made, Problem> {
    let memory = Arc::clone(&app.memory);
    app.read(move |reader| {
        let Asked { question, pools, positions, options, pages, .. } = asked;
        let (mut subjects, mut tasks) = (Names::default(), Names::default());
        let mut groups: BTreeMap<Option<String>, Vec<NumberedValue>> = BTreeMap::new();
        let mut last = None;
        let (mut count, mut left_out) = (0, 0);
        let mut means: BTreeSet<(String, String)> = BTreeSet::new();
        for part in positions.chunks(RECORDS_MAX) {
            let Some(rows) = rows::read_part(&memory, reader, &pools, part, &options)? else {
                left_out += part.len() as u64;
                continue;
            };
            let by = match question.ask.by.as_deref().and_then(|key| rows.dimension(key)) {
                Some(dimension) => By::Dimension(dimension),
                None => By::Score,
            };
            let settings = Settings { by, ..question.settings(&pools) };
            // Rows over cases at one task are brought together where they are read together.
            let own: BTreeSet<(String, String)> = rows.means_over_cases().collect();
            if let Some((subject, task)) = own.intersection(&means).next() {
                refuse!(
                    Unanswerable,
                    "`{subject}` has rows over cases (`n`) at `{task}` more than {RECORDS_MAX} records apart, which are not brought together; narrow the leaderboard with track, since, until, trust or where"
                );
            }
            means.extend(own);
            for (label, subject, task, value) in counted_values(&rows, &settings) {
                let value = (subjects.place(subject), Some(tasks.place(task)), value);
                groups.entry(label.map(str::to_owned)).or_default().push(value);
            }
            (count, left_out) = (count + rows.rows.len() as u64, left_out + rows.filtered);
            last = Some((settings, karat::answers::leaderboard::by(&rows, &settings)));
        }
        let Some((settings, by)) = last else {
            refuse!(Unanswerable, "none of the {left_out} records matches the conditions");
        };
        let method = question.ask.method.unwrap_or(LeaderboardMethod::Means);
        let name = |subject| subjects.name(subject);
        let boards = groups.into_iter().map(|(value, values)| {
            let ranking =
                rank_values(TaskValues::new(values, subjects.len()), Cases::default(), method, &settings);
            let ranking = ranking.map_err(|error| refused(&error))?;
            let group = question.ask.group_by.as_ref().zip(value);
            let group = group.map(|(field, value)| format!("{field} = {value}"));
            let board = leaderboard(&ranking, pages.means, name);
            Ok(karat::answers::leaderboard::Leaderboard { group, by: by.clone(), ..board })
        });
        let boards = boards.collect::<Result<Vec<_>, Problem>>()?;
        let basis = basis_of(&pools, (count, subjects.len(), Some(left_out)), &settings);
        Ok(Made { answer: answer(basis, method, question.ask.group_by, boards, pages.means), rows: None })
    })
    .await
}

/// Computes a leaderboard from the index and from what is kept of every subject, with the method `means`.
async fn of_index(app: &Arc<App>, asked: Asked) -> Result<Made, Problem> {
    let Asked { question, pool, pools, size, base, pages, .. } = asked;
    let page = pages.means;
    let all = match (base, &question.ask.items.as_of) {
        (Base::Official, Some(as_of)) => Some(all_subjects(app, &pool, as_of.at, size).await?),
        _ => None,
    };
    let shared = Arc::clone(app);
    app.checked(move || {
        let settings = question.settings(&pools);
        let mut count = 0;
        // The index is released while subjects are ranked, so that commits do not wait for it.
        let values = {
            let index = shared.memory.index();
            let (filter, _) = Filter::new(&shared, &index, &question.selection())?;
            let rows = index.rows(size).filter(|row| filter.admits(row)).inspect(|_| count += 1);
            let values = rows.filter_map(|row| {
                let score = row.score.map(Score::billionths);
                let run = Run { subject: 0, task: 0, outcome: row.outcome, score };
                Some((row.subject, row.task, run.value(settings.policy)?))
            });
            TaskValues::new(values, index.names())
        };
        let index = shared.memory.index();
        let method = match question.ask.method {
            Some(LeaderboardMethod::Census) => LeaderboardMethod::Census,
            _ => LeaderboardMethod::Means,
        };
        let ranking = rank_values(values, Cases::default(), method, &settings);
        let subjects = ranking.as_ref().map_or(0, Means::subjects);
        let board = |ranking, page| leaderboard(&ranking, page, |subject| index.name(subject));
        let board = match all.as_ref().and_then(|all| all.officials.as_ref()) {
            Some(officials) => {
                let means = ranking.map(|it| Ranked { leaderboard: board(it, Page::ALL), ranking: None });
                official(means, officials, method, &settings, page).map(|ranked| ranked.leaderboard)
            }
            None => ranking.map(|ranking| board(ranking, page)),
        };
        let board = board.map_err(|error: StatisticsError| refused(&error))?;
        let basis = basis_of(&pools, (count, subjects, None), &settings);
        Ok(Made { answer: answer(basis, method, None, vec![board], page), rows: None })
    })
    .await
}

/// Returns the basis of an answer from the number of items and subjects, and of items left out.
fn basis_of(
    pools: &[Arc<ScorerPool>],
    (count, subjects, left_out): (u64, usize, Option<u64>),
    settings: &Settings,
) -> Basis {
    let decays = pools.iter().any(|pool| pool.card.decay().is_some());
    Basis {
        engine: ENGINE_VERSION.to_owned(),
        scorecards: pools.iter().map(|pool| ScorecardReference::of(&pool.card)).collect(),
        scale: pools.first().map_or(1, |pool| pool.card.scale.max),
        items: ItemsUsed {
            count,
            subjects: subjects as u64,
            repeated: None,
            left_out,
            digest: None,
            first_attempts: false,
            notes: Vec::new(),
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
        let pairs: Vec<(String, String)> = query(uri)?;
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
        Ok(Self { ask, of_log: query(uri)? })
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
    fn options(&self, pools: &[Arc<ScorerPool>]) -> ReadOptions {
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

/// Returns a refusal in the words of a query: `by=KEY` for `--by KEY`, and the parameter that it begins with.
fn in_query(problem: &Problem) -> Problem {
    let named = problem.detail.strip_prefix("--");
    let named = named.and_then(|rest| rest.split([' ', ':', '=']).next()).map(|name| name.replace('-', "_"));
    let written = |line: &str| {
        NAMES.iter().fold(line.to_owned(), |line, name| {
            let flag = format!("--{}", name.replace('_', "-"));
            line.replace(&format!("{flag} "), &format!("{name}=")).replace(&flag, name)
        })
    };
    let lines = problem.detail.split("; ").map(written).filter(|line| !line.contains("--"));
    let detail = lines.collect::<Vec<_>>().join("; ");
    match named {
        Some(name) => Problem::parameter(&name, detail),
        None => Problem::new(problem.code, detail).with_parts(problem.problems.clone()),
    }
}
