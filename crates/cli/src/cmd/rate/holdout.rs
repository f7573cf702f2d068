//! How well ratings predict: the last matches from the ones before them.

use karat_core::rating::{BradleyTerry, Elo, Forecast, Match, Outcome, Season, System, mean_score, rate};

use super::batch::{Part, refused};
use super::online::in_periods;
use super::settings::Chosen;
use crate::args::rate::Component;
use crate::failure::Failure;

/// Predictions of matches that the ratings have not seen. All forecasts are of the same matches.
#[derive(Debug, Clone)]
pub struct Holdout {
    /// Matches from which the ratings come.
    pub trained: u64,
    /// Matches after them that were predicted.
    pub predicted: u64,
    /// Matches with a competitor that none of the first matches has.
    pub skipped_unknown: u64,
    /// Matches between competitors that the first matches do not connect; 0 but for Bradley-Terry.
    pub skipped_incomparable: u64,
    /// The forecasts by the name of what made them: the base rate, Elo, and the system that was asked for.
    pub forecasts: Vec<(&'static str, Forecast)>,
}

/// The expected score of the first competitor, by their places; none if one of them has no rating.
type Expected<'e> = Box<dyn Fn(u32, u32) -> Option<f64> + 'e>;

impl Holdout {
    /// Fits on all but the last `share` of the season, in the order of time, and predicts those with ratings as they are
    /// then.
    ///
    /// # Errors
    /// If that leaves nothing to fit or nothing to predict, or the first part has no fit.
    pub fn new(chosen: &Chosen, season: &Season, share: f64) -> Result<Self, Failure> {
        let tested = (share * season.matches.len() as f64).round_ties_even() as usize;
        let (first, last) = season.matches.split_at(season.matches.len().saturating_sub(tested));
        if first.is_empty() || last.is_empty() {
            return Err(Failure::new(format!(
                "--holdout {share} of {} matches leaves {} to learn from and {} to predict, expected some of both",
                season.matches.len(),
                first.len(),
                last.len()
            )));
        }
        let head = Season {
            matches: first.to_vec(),
            at_milliseconds: season.at_milliseconds.iter().copied().take(first.len()).collect(),
            ..season.clone()
        };
        let mut is_known = vec![false; season.names.len()];
        for place in first.iter().flat_map(|found| [found.first, found.second]) {
            if let Some(known) = is_known.get_mut(place as usize) {
                *known = true;
            }
        }
        let known = |found: &&Match| {
            [found.first, found.second].iter().all(|&place| is_known.get(place as usize) == Some(&true))
        };
        let met: Vec<Match> = last.iter().filter(known).copied().collect();

        let base = mean_score(first);
        let elo = if let Chosen::Elo(elo) = chosen { *elo } else { Elo::default() };
        let mut forecasters: Vec<(&'static str, Expected<'_>)> = vec![
            ("base-rate", Box::new(move |_, _| Some(base))),
            (Chosen::Elo(elo).name(), online(&elo, &head)?),
        ];
        match chosen {
            Chosen::Elo(_) => {}
            Chosen::Glicko2(system, None) => forecasters.push((chosen.name(), online(system, &head)?)),
            Chosen::Glicko2(system, Some(period)) => {
                let ratings = in_periods(system, &head, *period)?;
                forecasters.push((chosen.name(), expected(*system, ratings)));
            }
            Chosen::WengLin(system) => forecasters.push((chosen.name(), online(system, &head)?)),
            Chosen::BradleyTerry(model, _) => forecasters.push((chosen.name(), fitted(model, &head)?)),
        }
        let predict = |found: &Match| -> Option<(Vec<f64>, Outcome)> {
            let expected: Option<Vec<f64>> =
                forecasters.iter().map(|(_, expected)| expected(found.first, found.second)).collect();
            Some((expected?, found.outcome))
        };
        let predicted: Vec<(Vec<f64>, Outcome)> = met.iter().filter_map(predict).collect();
        let forecast = |(at, (name, _)): (usize, &(&'static str, Expected<'_>))| {
            let own = predicted.iter().filter_map(|(expected, outcome)| Some((*expected.get(at)?, *outcome)));
            (*name, Forecast::of(own))
        };
        Ok(Self {
            trained: first.len() as u64,
            predicted: predicted.len() as u64,
            skipped_unknown: (last.len() - met.len()) as u64,
            skipped_incomparable: (met.len() - predicted.len()) as u64,
            forecasts: forecasters.iter().enumerate().map(forecast).collect(),
        })
    }
}

fn online<'e, S: System + Copy + 'e>(system: &S, head: &Season) -> Result<Expected<'e>, Failure> {
    let mut ratings = vec![system.initial(); head.names.len()];
    rate(system, &mut ratings, &head.matches).map_err(|error| Failure::new(error.to_string()))?;
    Ok(expected(*system, ratings))
}

fn expected<'e, S: System + 'e>(system: S, ratings: Vec<S::Rating>) -> Expected<'e> {
    Box::new(move |first, second| {
        Some(system.expected(ratings.get(first as usize)?, ratings.get(second as usize)?))
    })
}

/// Bradley-Terry over the largest part that the first matches connect.
fn fitted<'e>(model: &BradleyTerry, head: &Season) -> Result<Expected<'e>, Failure> {
    let part = Part::new(head, Component::Largest)?;
    let fit = model.fit(&part.counts).map_err(|error| refused(error, Component::Largest))?;
    let place =
        |name: &String| part.counts.names.binary_search(name).ok().and_then(|at| u32::try_from(at).ok());
    let places: Vec<Option<u32>> = head.names.iter().map(place).collect();
    Ok(Box::new(move |first, second| {
        let place = |old: u32| places.get(old as usize).copied().flatten();
        fit.expected(place(first)?, place(second)?)
    }))
}
