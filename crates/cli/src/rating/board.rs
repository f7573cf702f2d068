//! The ratings of one pool of competitors after its matches: plain data, for the table, JSON and a page.

use karat_core::facts::Digest;
use karat_core::json::{write_integer, write_string};
use karat_evidence::canonical_json;
use karat_stats::ranks::RankRange;
use karat_stats::rating::places::{Place, places};
use karat_stats::rating::{Drift, Outcome, Season};

use super::holdout::Holdout;
use super::solo::stated;
use crate::matches::Matches;
use karat::draw::interval::Span;

/// A pool of competitors, rated.
#[derive(Debug, Clone)]
pub struct Board {
    /// The category of the matches; `None` for all matches.
    pub category: Option<String>,
    /// The matches that were rated.
    pub input: Input,
    /// The competitors, the highest rating first.
    pub lines: Vec<Line>,
    /// The number of groups; `None` for a system without uncertainty.
    pub groups: Option<u32>,
    /// The change of the mean of the pool; `None` if it is fixed.
    pub drift: Option<Drift>,
    /// Davidson's tie parameter, for Bradley-Terry.
    pub tie: Option<f64>,
    /// Bootstrap resamples whose matches had no fit.
    pub resamples_without_fit: Option<u64>,
    /// The number of parts that no match connects, for Bradley-Terry; above 1 only with a prior.
    pub parts: Option<usize>,
    /// Competitors whose matches all ended alike, of which a bootstrap cannot tell how sure their ratings are.
    pub one_sided: Vec<String>,
    /// The competitors that are not rated.
    pub left_out: Vec<String>,
    /// Matches that are not rated because one of their competitors is not.
    pub left_out_matches: u64,
    /// The quality of predicting the last matches from the others, if that was asked for.
    pub holdout: Option<Holdout>,
}

/// The matches of a pool.
#[derive(Debug, Clone)]
pub struct Input {
    /// The digest of the matches in their order, each as one canonical line.
    pub digest: Digest,
    /// Their number.
    pub matches: u64,
    /// The numbers that the first competitor won, neither, the second.
    pub outcomes: Tally,
    /// Rows that repeat another one, and count once.
    pub repeated: u64,
    /// End of the first and of the last, in milliseconds since 1970-01-01T00:00:00Z; `None` without times.
    pub milliseconds: Option<(i64, i64)>,
}

/// A competitor in a pool.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// The rank by points; equal points share it.
    pub rank: u32,
    /// The rank range; `None` if the system has none, or for too many competitors.
    pub range: Option<RankRange>,
    /// The tie group: those that are tied with its leader.
    pub group: Option<u32>,
    /// The rating and its interval.
    pub estimate: Estimate,
    /// Its matches.
    pub tally: Tally,
}

/// A rating and its uncertainty.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Estimate {
    /// Points.
    pub points: f64,
    /// Their standard deviation or error, in points.
    pub deviation: Option<f64>,
    /// Their interval.
    pub interval: Option<(f64, f64)>,
    /// The expected movement of the strength, for Glicko-2.
    pub volatility: Option<f64>,
}

impl Estimate {
    /// Returns the interval to draw; the point alone without an interval.
    pub fn span(&self) -> Span {
        match self.interval {
            Some((low, high)) => Span { low, point: self.points, high },
            None => Span::at(self.points),
        }
    }
}

/// Matches by their end for one competitor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Won.
    pub won: u64,
    /// Drawn.
    pub drawn: u64,
    /// Lost.
    pub lost: u64,
}

impl Tally {
    /// Counts a match.
    pub fn add(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Win => &mut self.won,
            Outcome::Draw => &mut self.drawn,
            Outcome::Loss => &mut self.lost,
        } += 1;
    }

    /// Returns true if all of them ended alike.
    pub fn is_one_sided(self) -> bool {
        [self.won, self.drawn, self.lost].iter().filter(|count| **count > 0).count() == 1
    }

    /// Returns their number.
    pub const fn matches(self) -> u64 {
        self.won + self.drawn + self.lost
    }
}

impl Input {
    /// Returns the matches of a season.
    pub fn new(season: &Season, matches: &Matches, rows: &[usize]) -> Self {
        let mut outcomes = Tally::default();
        season.matches.iter().for_each(|found| outcomes.add(found.outcome));
        let ends = season.at_milliseconds.first().zip(season.at_milliseconds.last());
        Self {
            digest: digest(season, matches, rows),
            matches: season.matches.len() as u64,
            outcomes,
            repeated: season.repeated as u64,
            milliseconds: ends.map(|(&first, &last)| (first, last)).filter(|_| matches.has_time),
        }
    }
}

/// Returns the digest of the matches in order, each as a line such as
/// `{"at_milliseconds":0,"first":"a","id":"m","outcome":"win","second":"b"}`; of matches at challenges with a member `solo`,
/// which has what their rows state besides.
///
/// `rows` are the rows behind the events of the season.
fn digest(season: &Season, matches: &Matches, rows: &[usize]) -> Digest {
    let mut text = Vec::with_capacity(season.matches.len() * 100);
    let name = |place: u32| season.names.get(place as usize).map_or("", String::as_str);
    for ((found, place), at) in season.matches.iter().zip(&season.places).zip(&season.at_milliseconds) {
        let row = rows.get(*place).and_then(|&row| matches.rows.get(row));
        text.extend_from_slice(b"{\"at_milliseconds\":");
        write_integer(&mut text, *at);
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
        if let Some(stated) = row.and_then(stated) {
            text.extend_from_slice(b",\"solo\":");
            text.extend_from_slice(canonical_json(&stated).as_bytes());
        }
        text.extend_from_slice(b"}\n");
    }
    Digest::of(&text)
}

/// Returns the matches of every competitor of a season, in the order of its names.
pub fn tallies(season: &Season) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); season.names.len()];
    for found in &season.matches {
        for (place, outcome) in [(found.first, found.outcome), (found.second, found.outcome.opposite())] {
            if let Some(tally) = tallies.get_mut(place as usize) {
                tally.add(outcome);
            }
        }
    }
    tallies
}

/// Returns the competitors by rating. `told_apart` is true if the difference of two of `rated` is more than chance;
/// without it there are no groups.
pub fn lines(
    rated: Vec<(String, Estimate, Tally)>,
    told_apart: Option<&dyn Fn(usize, usize) -> bool>,
) -> (Vec<Line>, Option<u32>) {
    let points: Vec<f64> = rated.iter().map(|(_, estimate, _)| estimate.points).collect();
    let found = match told_apart {
        Some(told_apart) => places(&points, told_apart),
        None => places(&points, |_, _| false),
    };
    let groups = told_apart.and(found.last()).map(|last| last.group);
    let line = |place: &Place| {
        let (name, estimate, tally) = rated.get(place.competitor)?.clone();
        let (range, group) = (told_apart.and(place.range), told_apart.map(|_| place.group));
        Some(Line { name, rank: place.rank, range, group, estimate, tally })
    };
    (found.iter().filter_map(line).collect(), groups)
}
