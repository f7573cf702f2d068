//! Systems that move ratings match by match, and the file that keeps their ratings between two seasons.

use std::collections::BTreeMap;

use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use karat_stats::rating::bradley_terry::normal_deviations;
use karat_stats::rating::glicko2::Seat;
use karat_stats::rating::{
    self as rules, Applied, Elo, EloRating, Glicko2, Glicko2Rating, League, Season, System, WengLin,
    WengLinRating,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::{Settings, described, shown};
use super::{Board, Competitor, Drift, Ends, Pool, State, SystemName, Task, ranked, refused, tallies};
use crate::error::Error;

/// The format that the file names.
const FORMAT: &str = "karat/league/1";

/// A system whose ratings are kept in a file.
pub(super) trait Stored: System {
    /// The numbers of a rating by name.
    const NUMBERS: &'static [&'static str];

    /// Returns the numbers of a rating.
    fn numbers(rating: &Self::Rating) -> Vec<f64>;

    /// Returns the rating of some numbers; `None` if they are too few, or not of its kind.
    fn rating(numbers: &[f64]) -> Option<Self::Rating>;

    /// Returns the volatility of a rating, if it has one.
    fn volatility(_: &Self::Rating) -> Option<f64> {
        None
    }
}

impl Stored for Elo {
    const NUMBERS: &'static [&'static str] = &["points", "matches"];

    fn numbers(rating: &EloRating) -> Vec<f64> {
        vec![rating.points, f64::from(rating.matches)]
    }

    fn rating(numbers: &[f64]) -> Option<EloRating> {
        let &[points, matches] = numbers else { return None };
        let is_count = (0.0..=f64::from(u32::MAX)).contains(&matches) && matches.fract() == 0.0;
        is_count.then_some(EloRating { points, matches: matches as u32 })
    }
}

impl Stored for Glicko2 {
    const NUMBERS: &'static [&'static str] = &["points", "deviation", "volatility"];

    fn numbers(rating: &Glicko2Rating) -> Vec<f64> {
        vec![rating.points, rating.deviation, rating.volatility]
    }

    fn rating(numbers: &[f64]) -> Option<Glicko2Rating> {
        let &[points, deviation, volatility] = numbers else { return None };
        Some(Glicko2Rating { points, deviation, volatility })
    }

    fn volatility(rating: &Glicko2Rating) -> Option<f64> {
        Some(rating.volatility)
    }
}

impl Stored for WengLin {
    const NUMBERS: &'static [&'static str] = &["mean", "deviation"];

    fn numbers(rating: &WengLinRating) -> Vec<f64> {
        vec![rating.mean, rating.deviation]
    }

    fn rating(numbers: &[f64]) -> Option<WengLinRating> {
        let &[mean, deviation] = numbers else { return None };
        Some(WengLinRating { mean, deviation })
    }
}

/// The leagues by category; the one of all matches has no category.
type Leagues<R> = BTreeMap<Option<String>, League<R>>;

/// Plays the seasons of all pools match by match, and writes the file of the ratings after them.
///
/// # Errors
/// If the file before them cannot be continued from, or a season begins before the last match of its league.
pub(super) fn boards<S: Stored>(
    task: &Task<'_>,
    system: &S,
    state: &mut String,
) -> Result<Vec<Board>, Error> {
    let (name, settings) = (task.question.system, task.system.settings());
    let mut leagues = match task.before {
        Some(before) => read(before, system, name, &settings)?,
        None => Leagues::new(),
    };
    let mut boards = Vec::new();
    for pool in &task.pools {
        let league = leagues.remove(&pool.category).unwrap_or_default();
        let (league, played) = league.play(system, &pool.season);
        let drift = played.map_err(|error| {
            refused(error.to_string())
                .hint("start without --state, with all matches, or leave out those that have counted")
        })?;
        boards.push(board(task, system, &league, pool, drift)?);
        leagues.insert(pool.category.clone(), league);
    }
    *state = written::<S>(name, settings, &leagues);
    Ok(boards)
}

/// Plays the season of a pool in rating periods of a length in milliseconds; ratings are those at the end of its last
/// period.
///
/// # Errors
/// If the matches have no time, or the periods are refused.
pub(super) fn board_of_periods(
    task: &Task<'_>,
    system: &Glicko2,
    period_milliseconds: i64,
    pool: &Pool,
) -> Result<Board, Error> {
    if pool.input.first_time.is_none() {
        return Err(refused("the matches have no time, and period_days needs one")
            .hint("give them one: --columns time=COLUMN"));
    }
    let season = &pool.season;
    let before = vec![system.initial(); season.names.len()];
    let after = in_periods(system, season, period_milliseconds)?;
    let drift = rules::Drift::between(system, &before, &after);
    let competitors = season.names.iter().cloned().zip(after).collect();
    let league =
        League { competitors, last: Some(season.last.clone()), matches: season.matches.len() as u64 };
    board(task, system, &league, pool, drift)
}

/// Returns the ratings at the end of the last period, in the order of the season's names.
pub(super) fn in_periods(
    system: &Glicko2,
    season: &Season,
    period_milliseconds: i64,
) -> Result<Vec<Glicko2Rating>, Error> {
    let mut seats = vec![system.seat(); season.names.len()];
    let rated = system.rate_periods(&mut seats, season, period_milliseconds);
    rated.map_err(|error| refused(error.to_string()))?;
    let last = season.at_milliseconds.last().map_or(0, |last| last.div_euclid(period_milliseconds));
    Ok(seats.iter().map(|seat: &Seat| seat.at(system, last.saturating_add(1))).collect())
}

fn board<S: Stored>(
    task: &Task<'_>,
    system: &S,
    league: &League<S::Rating>,
    pool: &Pool,
    drift: rules::Drift,
) -> Result<Board, Error> {
    let deviations = normal_deviations(task.question.level).unwrap_or(f64::NAN);
    let tallies = tallies(pool.season.names.len(), pool.season.matches.iter().copied());
    let competitor = |(name, rating): (&String, &S::Rating)| {
        let place = pool.season.names.binary_search(name).ok();
        let tally = place.and_then(|place| tallies.get(place)).copied().unwrap_or_default();
        let (points, deviation) = (system.points(rating), system.deviation(rating));
        let ends = |deviation: f64| {
            let reach = deviations * deviation;
            Ends { low: points - reach, high: points + reach }
        };
        Competitor {
            deviation_points: deviation,
            interval: deviation.map(ends),
            volatility: S::volatility(rating),
            ..Competitor::new(name.clone(), points, tally)
        }
    };
    let everybody: Vec<Competitor> = league.competitors.iter().map(competitor).collect();
    let known = |place: usize| {
        let it = everybody.get(place)?;
        Some((it.points, it.deviation_points?))
    };
    // The two deviations are treated as independent, as the systems do.
    let told_apart = |above: usize, below: usize| match (known(above), known(below)) {
        (Some((high, one)), Some((low, other))) => {
            high - low > deviations * (one * one + other * other).sqrt()
        }
        _ => false,
    };
    let is_sure = everybody.iter().all(|it| it.deviation_points.is_some());
    let (competitors, groups) = ranked(&everybody, if is_sure { Some(&told_apart) } else { None });
    let drift = Drift {
        competitors: drift.competitors as u64,
        mean_before_points: shown(drift.mean_before),
        mean_after_points: shown(drift.mean_after),
        points: shown(drift.points()),
    };
    Ok(Board { competitors, groups, drift: Some(drift), ..pool.board(task)? })
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    system: String,
    settings: Settings,
    leagues: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    category: Option<String>,
    matches: u64,
    last: Option<Last>,
    competitors: BTreeMap<String, BTreeMap<String, f64>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Last {
    time: String,
    id: String,
}

/// Reads a file of ratings.
///
/// # Errors
/// If it is not such a file, of another system or other settings, or has a rating out of range.
fn read<S: Stored>(
    (path, text): State<'_>,
    system: &S,
    name: SystemName,
    settings: &Settings,
) -> Result<Leagues<S::Rating>, Error> {
    let refuse = |why: String| {
        refused(format!("`{path}` is not a file of ratings to continue from: {why}"))
            .hint("--state reads what --state-out wrote")
    };
    let value: Value = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
    let member = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    if member("format") != FORMAT {
        return Err(refuse(format!("`format` is `{}`, expected `{FORMAT}`", member("format"))));
    }
    if member("system") != name.name() {
        let why = format!("its ratings are of `{}`, expected `{}`", member("system"), name.name());
        return Err(refuse(why));
    }
    // Compared in written form: a whole number has one form there, and two in memory.
    let found: Settings =
        value.get("settings").and_then(|it| Settings::deserialize(it).ok()).unwrap_or_default();
    if canonical_json(&json!(found)) != canonical_json(&json!(settings)) {
        let why = format!("its settings are {}, expected {}", described(&found), described(settings));
        return Err(refuse(why).hint("give the same settings, or rate all matches again"));
    }
    let file: File = serde_json::from_value(value).map_err(|error| refuse(error.to_string()))?;
    let mut leagues = Leagues::new();
    for entry in file.leagues {
        let mut competitors = BTreeMap::new();
        for (name, numbers) in entry.competitors {
            let known: Vec<f64> =
                S::NUMBERS.iter().filter_map(|number| numbers.get(*number)).copied().collect();
            let rating = S::rating(&known).filter(|_| numbers.len() == S::NUMBERS.len());
            let rating = rating.ok_or_else(|| {
                refuse(format!("the rating of `{name}` does not have {}", S::NUMBERS.join(", ")))
            })?;
            if let Some(problem) = system.rating_outside(&rating).first() {
                return Err(refuse(format!("of `{name}`, {problem}")));
            }
            competitors.insert(name, rating);
        }
        let last = entry.last.map(|Last { time, id }| match Timestamp::parse(&time) {
            Ok(Timestamp { milliseconds }) => Ok(Applied { at_milliseconds: milliseconds, id }),
            Err(error) => Err(refuse(format!("`time` is `{time}`, {error}"))),
        });
        let league = League { competitors, last: last.transpose()?, matches: entry.matches };
        if leagues.insert(entry.category.clone(), league).is_some() {
            return Err(refuse(format!("category `{}` is given twice", entry.category.unwrap_or_default())));
        }
    }
    Ok(leagues)
}

/// Returns the text of a file of ratings.
fn written<S: Stored>(name: SystemName, settings: Settings, leagues: &Leagues<S::Rating>) -> String {
    let numbers = |rating: &S::Rating| {
        S::NUMBERS.iter().map(|name| (*name).to_owned()).zip(S::numbers(rating)).collect()
    };
    let entry = |(category, league): (&Option<String>, &League<S::Rating>)| Entry {
        category: category.clone(),
        matches: league.matches,
        last: league.last.as_ref().map(|last| Last {
            time: Timestamp { milliseconds: last.at_milliseconds }.to_string(),
            id: last.id.clone(),
        }),
        competitors: league
            .competitors
            .iter()
            .map(|(name, rating)| (name.clone(), numbers(rating)))
            .collect(),
    };
    let leagues = leagues.iter().map(entry).collect();
    let file = File { format: FORMAT.to_owned(), system: name.name().to_owned(), settings, leagues };
    format!("{}\n", canonical_json(&json!(file)))
}
