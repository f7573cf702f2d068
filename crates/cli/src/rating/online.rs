//! Systems that move ratings match by match: the league after a season.

use karat_stats::rating::bradley_terry::normal_deviations;
use karat_stats::rating::glicko2::Seat;
use karat_stats::rating::{
    Drift, Elo, EloRating, Glicko2, Glicko2Rating, League, Season, System, WengLin, WengLinRating,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::board::{Estimate, Line, Tally, lines, tallies};
use crate::failure::Failure;

/// A system whose ratings are kept in a file.
pub trait Stored: System {
    /// The form of a rating in the file.
    type Entry: Serialize + DeserializeOwned;

    /// Returns the form in the file.
    fn entry(rating: &Self::Rating) -> Self::Entry;

    /// Returns the form in the system.
    fn rating(entry: Self::Entry) -> Self::Rating;

    /// Returns the volatility of a rating, if it has one.
    fn volatility(_: &Self::Rating) -> Option<f64> {
        None
    }
}

/// Points and experience.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EloEntry {
    matches: u32,
    points: f64,
}

/// Points, deviation and volatility.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Glicko2Entry {
    deviation: f64,
    points: f64,
    volatility: f64,
}

/// Mean and deviation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WengLinEntry {
    deviation: f64,
    mean: f64,
}

impl Stored for Elo {
    type Entry = EloEntry;

    fn entry(&EloRating { points, matches }: &EloRating) -> EloEntry {
        EloEntry { matches, points }
    }

    fn rating(EloEntry { matches, points }: EloEntry) -> EloRating {
        EloRating { points, matches }
    }
}

impl Stored for Glicko2 {
    type Entry = Glicko2Entry;

    fn entry(&Glicko2Rating { points, deviation, volatility }: &Glicko2Rating) -> Glicko2Entry {
        Glicko2Entry { deviation, points, volatility }
    }

    fn rating(Glicko2Entry { deviation, points, volatility }: Glicko2Entry) -> Glicko2Rating {
        Glicko2Rating { points, deviation, volatility }
    }

    fn volatility(rating: &Glicko2Rating) -> Option<f64> {
        Some(rating.volatility)
    }
}

impl Stored for WengLin {
    type Entry = WengLinEntry;

    fn entry(&WengLinRating { mean, deviation }: &WengLinRating) -> WengLinEntry {
        WengLinEntry { deviation, mean }
    }

    fn rating(WengLinEntry { deviation, mean }: WengLinEntry) -> WengLinRating {
        WengLinRating { mean, deviation }
    }
}

/// The result of a season.
pub struct Rated {
    /// The competitors, the highest rating first.
    pub lines: Vec<Line>,
    /// The number of groups.
    pub groups: Option<u32>,
    /// The change of the mean; `None` if it is fixed.
    pub drift: Option<Drift>,
}

/// Plays `season` in `league`, match by match.
///
/// # Errors
/// If the season begins before the league's last match.
pub fn play<S: Stored>(
    system: &S,
    league: League<S::Rating>,
    season: &Season,
    level: f64,
) -> Result<(League<S::Rating>, Rated), Failure> {
    let (league, played) = league.play(system, season);
    let drift = played.map_err(|error| {
        Failure::new(error.to_string())
            .help("start without --state, with all matches, or leave out those that have counted")
    })?;
    let rated = rated(system, &league, season, level, drift);
    Ok((league, rated))
}

/// Plays `season` in rating periods of a length in milliseconds; ratings are those at the end of its last period.
///
/// # Errors
/// If the library refuses the periods.
pub fn play_periods(
    system: &Glicko2,
    season: &Season,
    period_milliseconds: i64,
    level: f64,
) -> Result<Rated, Failure> {
    let before = vec![system.initial(); season.names.len()];
    let after = in_periods(system, season, period_milliseconds)?;
    let drift = Drift::between(system, &before, &after);
    let competitors = season.names.iter().cloned().zip(after).collect();
    let league =
        League { competitors, last: Some(season.last.clone()), matches: season.matches.len() as u64 };
    Ok(rated(system, &league, season, level, drift))
}

/// Returns the ratings at the end of the last period, in the order of the season's names.
pub fn in_periods(
    system: &Glicko2,
    season: &Season,
    period_milliseconds: i64,
) -> Result<Vec<Glicko2Rating>, Failure> {
    let mut seats = vec![system.seat(); season.names.len()];
    let rated = system.rate_periods(&mut seats, season, period_milliseconds);
    rated.map_err(|error| Failure::new(error.to_string()))?;
    let end = season
        .at_milliseconds
        .last()
        .map_or(0, |last| last.div_euclid(period_milliseconds))
        .saturating_add(1);
    Ok(seats.iter().map(|seat: &Seat| seat.at(system, end)).collect())
}

fn rated<S: Stored>(
    system: &S,
    league: &League<S::Rating>,
    season: &Season,
    level: f64,
    drift: Drift,
) -> Rated {
    let deviations = normal_deviations(level).unwrap_or(f64::NAN);
    let tallies = tallies(season);
    let entry = |(name, rating): (&String, &S::Rating)| {
        let (points, deviation) = (system.points(rating), system.deviation(rating));
        let interval =
            deviation.map(|deviation| (points - deviations * deviation, points + deviations * deviation));
        let estimate = Estimate { points, deviation, interval, volatility: S::volatility(rating) };
        let place = season.names.binary_search(name).ok();
        let tally: Tally = place.and_then(|place| tallies.get(place).copied()).unwrap_or_default();
        (name.clone(), estimate, tally)
    };
    let everybody: Vec<(String, Estimate, Tally)> = league.competitors.iter().map(entry).collect();
    let estimates: Vec<Estimate> = everybody.iter().map(|(_, estimate, _)| *estimate).collect();
    let known = |place: usize| {
        let estimate = estimates.get(place)?;
        Some((estimate.points, estimate.deviation?))
    };
    // The two deviations are treated as independent, as the systems do.
    let told_apart = |above: usize, below: usize| match (known(above), known(below)) {
        (Some((high, one)), Some((low, other))) => {
            high - low > deviations * (one * one + other * other).sqrt()
        }
        _ => false,
    };
    let is_sure = estimates.iter().all(|estimate| estimate.deviation.is_some());
    let (lines, groups) = lines(everybody, if is_sure { Some(&told_apart) } else { None });
    Rated { lines, groups, drift: Some(drift) }
}
