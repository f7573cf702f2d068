//! Ratings of competitors from their matches: Elo, Glicko-2, Weng-Lin, Bradley-Terry, and the careers of the arena.
//!
//! A [`Question`] says which matches and which system, a [`MatchReader`] reads the matches, and [`rate()`] answers with a
//! [`Rating`], which is what every format shows.
//!
//! - `matches`: rows to matches; `system`: the system that was asked for
//! - `online`: systems that go match by match, and their file of ratings; `batch`, `resamples`: Bradley-Terry and its
//!   bootstrap; `controlled`: the same beside covariates; `holdout`: predictions; `careers`: matches at challenges;
//!   `agreement`: judges beside people

mod agreement;
mod answer;
mod batch;
mod careers;
mod controlled;
mod holdout;
mod matches;
mod online;
mod question;
mod resamples;
mod system;

use std::collections::BTreeMap;

use karat_core::facts::Digest;
use karat_core::json::{write_integer, write_string};
use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use karat_stats::rating::covariates::Covariate as Values;
use karat_stats::rating::places::places;
use karat_stats::rating::{Match, Season};

pub use answer::{
    Agent, Agreement, Board, Careers, Competitor, CovariateEffect, Drawn, Drift, Ends, Forecaster, Holdout,
    Input, IntervalSource, Judge, LeftOut, Loss, Played, RankRange, Rating, RatingSchema, Reference, Share,
    Tally, Uncontrolled,
};
pub use matches::{Columns, Covariate, MatchReader, Matches};
pub use question::{Component, Question, SystemName};

use crate::error::{Code, Error};
use answer::shown;
use system::System;

/// The beginning of a file of ratings, in any version of its format.
pub const STATE_MARK: &str = r#"{"format":"karat/league/"#;

/// A file of ratings to continue from: its name and its text.
pub type State<'s> = (&'s str, &'s str);

/// Rates the competitors of all matches.
///
/// # Errors
/// If the parts of the question do not go together, or the matches do not give what it asks for.
pub fn rate(question: &Question, matches: &Matches) -> Result<Rating, Error> {
    answer(question, matches, None).map(|(rating, _)| rating)
}

/// Rates the competitors of matches after those behind a file of ratings, if one is given; returns the text of the next
/// file, too.
///
/// # Errors
/// As [`rate()`], and if the file cannot be continued from.
pub fn resume(
    question: &Question,
    matches: &Matches,
    before: Option<State<'_>>,
) -> Result<(Rating, String), Error> {
    answer(question, matches, Some(before))
}

fn answer(
    question: &Question,
    matches: &Matches,
    kept: Option<Option<State<'_>>>,
) -> Result<(Rating, String), Error> {
    let system = question.system(kept.is_some())?;
    if kept.is_some() && !matches.has_time {
        return Err(refused(
            "the matches have no time, so it is unknown which come after the ratings of a file",
        )
        .hint("give them one: --columns time=COLUMN"));
    }
    let has_judges = question.judge.is_some();
    let judges = has_judges.then(|| agreement::agreement(matches, question)).transpose()?;
    let task = Task { question, system, pools: pools(question, matches)?, before: kept.flatten() };
    let (mut arena, mut state) = (None, String::new());
    let boards = match system {
        System::Elo(elo) if matches.is_solo() => {
            refuse_solo(question, kept.is_some())?;
            let settled = |pool: &Pool| {
                let (careers, competitors) = careers::careers(&elo, matches, pool)?;
                arena = Some(careers);
                Ok(Board { competitors, ..pool.board(&task)? })
            };
            task.pools.iter().map(settled).collect::<Result<Vec<_>, Error>>()?
        }
        System::Elo(elo) => online::boards(&task, &elo, &mut state)?,
        System::Glicko2(glicko2, None) => online::boards(&task, &glicko2, &mut state)?,
        System::WengLin(weng_lin) => online::boards(&task, &weng_lin, &mut state)?,
        System::Glicko2(glicko2, Some(period)) => {
            let rated = |pool| online::board_of_periods(&task, &glicko2, period, pool);
            task.pools.iter().map(rated).collect::<Result<Vec<_>, Error>>()?
        }
        System::BradleyTerry(model, mean_points) => {
            let fitted = |pool| batch::board(&task, &model, mean_points, pool);
            task.pools.iter().map(fitted).collect::<Result<Vec<_>, Error>>()?
        }
    };
    let intervals = match system {
        System::Elo(_) => IntervalSource::None,
        System::Glicko2(..) | System::WengLin(_) => IntervalSource::Deviation,
        System::BradleyTerry(..) if question.bootstrap => IntervalSource::Bootstrap,
        System::BradleyTerry(model, _) if model.prior.is_some() => IntervalSource::Posterior,
        System::BradleyTerry(..) => IntervalSource::Sandwich,
    };
    let if_drawn = |number| question.bootstrap.then_some(number);
    let rating = Rating {
        schema: RatingSchema::default(),
        system: question.system,
        settings: system.settings(),
        level: question.level,
        intervals,
        resamples: if_drawn(question.resamples),
        drawn: question.bootstrap.then_some(if has_judges { Drawn::Pairs } else { Drawn::Matches }),
        seed: if_drawn(question.seed),
        skipped_rows: matches.skipped,
        late_rows: if matches.has_time { matches.late } else { 0 },
        unread_columns: matches.unread.clone(),
        boards,
        arena,
        judges,
    };
    Ok((rating, state))
}

/// The parts that every system needs.
struct Task<'t> {
    question: &'t Question,
    system: System,
    pools: Vec<Pool>,
    before: Option<State<'t>>,
}

/// The matches decided by people, of one category or of all.
struct Pool {
    category: Option<String>,
    season: Season,
    input: Input,
    /// The row of each event of the season.
    rows: Vec<usize>,
    /// The pair behind each match of the season, if judges were asked for.
    pairs: Option<Vec<u32>>,
    /// The covariates that were asked for, with their values for each match of the season.
    covariates: Vec<Values>,
}

impl Pool {
    fn new(
        category: Option<&str>,
        question: &Question,
        matches: &Matches,
        rows: Vec<usize>,
    ) -> Result<Self, Error> {
        let season = matches.season(&rows)?;
        let mut outcomes = Tally::default();
        season.matches.iter().for_each(|found| outcomes.add(found.outcome));
        let time = |at: Option<&i64>| {
            at.filter(|_| matches.has_time).map(|&milliseconds| Timestamp { milliseconds }.to_string())
        };
        let input = Input {
            digest: digest(&season, question, matches, &rows).to_string(),
            matches: season.matches.len() as u64,
            outcomes,
            repeated_rows: season.repeated as u64,
            first_time: time(season.at_milliseconds.first()),
            last_time: time(season.at_milliseconds.last()),
        };
        let row = |place: &usize| matches.rows.get(*rows.get(*place)?);
        let pairs = season.places.iter().map(|place| row(place)?.pair).collect();
        let values = |(at, asked): (usize, &Covariate)| Values {
            name: asked.name.clone(),
            contrast: asked.contrast,
            values: season.places.iter().map(|place| *row(place)?.covariates.get(at)?).collect(),
        };
        let covariates = question.covariates.iter().enumerate().map(values).collect();
        Ok(Self { category: category.map(str::to_owned), season, input, rows, pairs, covariates })
    }

    /// Returns the answer without its ratings and the parts that only some systems have.
    fn board(&self, task: &Task<'_>) -> Result<Board, Error> {
        let holdout = task.question.holdout;
        let holdout =
            holdout.map(|share| holdout::holdout(&task.system, &self.season, share, task.question.level));
        Ok(Board {
            category: self.category.clone(),
            input: self.input.clone(),
            holdout: holdout.transpose()?,
            ..Board::default()
        })
    }
}

fn pools(question: &Question, matches: &Matches) -> Result<Vec<Pool>, Error> {
    let people = question.judge.as_ref().and_then(|_| matches.judges.find(&question.people));
    let is_rated =
        |at: &usize| matches.rows.get(*at).is_some_and(|row| question.judge.is_none() || row.judge == people);
    let rated: Vec<usize> = (0..matches.rows.len()).filter(is_rated).collect();
    if question.by.is_none() {
        return Ok(vec![Pool::new(None, question, matches, rated)?]);
    }
    let of = |category: u32| {
        let is_of = |at: &usize| matches.rows.get(*at).is_some_and(|row| row.category == Some(category));
        rated.iter().copied().filter(is_of).collect::<Vec<usize>>()
    };
    let categories = matches.categories.sorted().map(|(name, place)| (name, of(place)));
    let played = categories.filter(|(_, rows)| !rows.is_empty());
    let pools: Vec<Pool> = played
        .map(|(name, rows)| Pool::new(Some(name), question, matches, rows))
        .collect::<Result<_, Error>>()?;
    if pools.is_empty() { Err(matches::nothing()) } else { Ok(pools) }
}

/// Refuses parts of a question that mean nothing for matches at challenges.
fn refuse_solo(question: &Question, is_kept: bool) -> Result<(), Error> {
    let given = [
        (question.by.is_some(), "--by", "each career has its rating in every `category`"),
        (question.judge.is_some(), "--judge", "a challenge has an evaluator and no judge"),
        (question.holdout.is_some(), "--holdout", "challenges have fixed ratings: only careers move"),
        (is_kept, "--state", "give all matches each time"),
    ];
    match given.into_iter().find(|(is_given, ..)| *is_given) {
        None => Ok(()),
        Some((_, flag, hint)) => Err(invalid(format!("{flag} is not for matches at challenges")).hint(hint)),
    }
}

/// Returns the digest of the matches in order, each as a line such as
/// `{"at_milliseconds":0,"first":"a","id":"m","outcome":"win","second":"b"}`; of matches at challenges with a member `solo`,
/// which has what their rows state besides; with a member `covariates` after the first if they were asked for, such as
/// `{"length":[900,400]}`.
///
/// `rows` are the rows behind the events of the season.
fn digest(season: &Season, question: &Question, matches: &Matches, rows: &[usize]) -> Digest {
    let mut text = Vec::with_capacity(season.matches.len() * 100);
    let name = |place: u32| season.names.get(place as usize).map_or("", String::as_str);
    for ((found, place), at) in season.matches.iter().zip(&season.places).zip(&season.at_milliseconds) {
        let row = rows.get(*place).and_then(|&row| matches.rows.get(row));
        text.extend_from_slice(b"{\"at_milliseconds\":");
        write_integer(&mut text, *at);
        if let Some(row) = row.filter(|row| !row.covariates.is_empty()) {
            let names = question.covariates.iter().map(|it| it.name.as_str());
            let values: BTreeMap<&str, _> = names.zip(&row.covariates).collect();
            text.extend_from_slice(b",\"covariates\":");
            text.extend_from_slice(canonical_json(&serde_json::json!(values)).as_bytes());
        }
        for (key, value) in [
            ("first", name(found.first)),
            ("id", row.map_or("", |row| &row.id)),
            ("outcome", found.outcome.name()),
            ("second", name(found.second)),
        ] {
            text.push(b',');
            write_string(&mut text, key);
            text.push(b':');
            write_string(&mut text, value);
        }
        if let Some(solo) = row.and_then(|row| row.solo.as_deref()) {
            text.extend_from_slice(b",\"solo\":");
            text.extend_from_slice(canonical_json(&serde_json::json!(solo)).as_bytes());
        }
        text.extend_from_slice(b"}\n");
    }
    Digest::of(&text)
}

/// Returns the matches of each of a number of competitors, by their positions.
fn tallies(competitors: usize, matches: impl IntoIterator<Item = Match>) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); competitors];
    for found in matches {
        for (place, outcome) in [(found.first, found.outcome), (found.second, found.outcome.opposite())] {
            tallies.get_mut(place as usize).into_iter().for_each(|tally| tally.add(outcome));
        }
    }
    tallies
}

/// Ranks competitors by their ratings, and returns the number of groups. `told_apart` is true if the difference of two of
/// them is more than chance; without it there are no groups.
fn ranked(
    rated: &[Competitor],
    told_apart: Option<&dyn Fn(usize, usize) -> bool>,
) -> (Vec<Competitor>, Option<u32>) {
    let points: Vec<f64> = rated.iter().map(|it| it.points).collect();
    let found = match told_apart {
        Some(told_apart) => places(&points, told_apart),
        None => places(&points, |_, _| false),
    };
    let groups = told_apart.and(found.last()).map(|last| last.group);
    let competitors = found.iter().filter_map(|place| {
        let it = rated.get(place.competitor)?.clone();
        let range =
            told_apart.and(place.range).map(|range| RankRange { best: range.best, worst: range.worst });
        Some(Competitor {
            rank: place.rank,
            rank_range: range,
            group: told_apart.map(|_| place.group),
            points: shown(it.points),
            deviation_points: it.deviation_points.map(shown),
            interval: it.interval.map(|ends| Ends::new(ends.low, ends.high)),
            volatility: it.volatility.map(shown),
            ..it
        })
    });
    (competitors.collect(), groups)
}

/// Returns the refusal of a question.
fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidOption, message)
}

/// Returns the refusal of matches.
fn refused(message: impl Into<String>) -> Error {
    Error::new(Code::EvidenceRefused, message)
}
