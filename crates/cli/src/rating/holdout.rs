//! The quality of predictions by ratings: of the last matches from the ones before them.

use karat_stats::rating::bradley_terry::normal_deviations;
use karat_stats::rating::{BradleyTerry, Elo, Forecast, Match, Outcome, Season, System, mean_score, rate};

use super::batch::{Part, refused};
use super::online::in_periods;
use super::settings::Chosen;
use crate::args::rate::Component;
use crate::failure::Failure;

/// Predictions of matches that the ratings have not seen. All forecasts are of the same matches.
#[derive(Debug, Clone)]
pub struct Holdout {
    /// Matches behind the ratings.
    pub trained: u64,
    /// Matches after them that were predicted.
    pub predicted: u64,
    /// Matches with a competitor that is in none of the first matches.
    pub skipped_unknown: u64,
    /// Matches between competitors that the first matches do not connect; 0 but for Bradley-Terry.
    pub skipped_incomparable: u64,
    /// The forecasts: of the base rate, of Elo, and of the system that was asked for.
    pub forecasts: Vec<Forecaster>,
}

/// The quality of one forecast.
#[derive(Debug, Clone, Copy)]
pub struct Forecaster {
    /// The name of the forecaster.
    pub name: &'static str,
    /// Its losses.
    pub forecast: Forecast,
    /// The mean over the matches of its log-loss minus Elo's, and the ends of the normal interval. `None` for Elo,
    /// and for fewer than two matches.
    pub beside_elo: Option<(f64, f64, f64)>,
    /// The same beside the base rate; `None` for the base rate itself.
    pub beside_base_rate: Option<(f64, f64, f64)>,
}

/// A prediction that needs no rating, and that a forecast may be worse than.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reference {
    /// The mean score of the first competitors.
    BaseRate,
    /// One half for every match.
    Coin,
}

impl Reference {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BaseRate => "base-rate",
            Self::Coin => "coin",
        }
    }
}

/// The log-loss of one half for every match, whatever its outcome.
const COIN: f64 = std::f64::consts::LN_2;
/// Losses that differ by less are shown as equal, and are so but for rounding.
const SAME: f64 = 1e-9;

/// The position of the base rate among the forecasts.
const BASE_RATE: usize = 0;
/// The position of Elo.
const ELO: usize = 1;

/// The expected score of the first competitor, by their numbers; `None` if one of them has no rating.
type Expected<'e> = Box<dyn Fn(u32, u32) -> Option<f64> + 'e>;

impl Holdout {
    /// Returns what forecast number `at` predicts worse than.
    pub fn worse_than(&self, at: usize) -> Vec<Reference> {
        let Some((base, own)) = self.forecasts.get(BASE_RATE).zip(self.forecasts.get(at)) else {
            return Vec::new();
        };
        let references = [(Reference::BaseRate, base.forecast.log_loss), (Reference::Coin, COIN)];
        let is_worse =
            |&(_, loss): &(Reference, f64)| self.predicted > 0 && own.forecast.log_loss > loss + SAME;
        references.into_iter().filter(is_worse).map(|(reference, _)| reference).collect()
    }

    /// Returns a note on each forecast that is worse than what is known without any rating.
    pub fn warnings(&self) -> Vec<String> {
        let base = self.forecasts.get(BASE_RATE).map_or(COIN, |base| base.forecast.log_loss);
        let warning = |(at, Forecaster { name, forecast, beside_base_rate, .. }): (usize, &Forecaster)| {
            let than: Vec<String> = self
                .worse_than(at)
                .into_iter()
                .map(|reference| match reference {
                    Reference::BaseRate => format!("the base rate ({base:.4})"),
                    Reference::Coin => format!("a coin ({COIN:.4})"),
                })
                .collect();
            let than_base = self.worse_than(at).contains(&Reference::BaseRate);
            let sure = match beside_base_rate.filter(|_| than_base) {
                Some((_, low, _)) if low > 0.0 => "; do not predict with it",
                Some(_) => {
                    "; by chance perhaps, as the interval of the difference to the base rate contains 0"
                }
                None => "",
            };
            let told = format!(
                "{name} predicts these matches worse ({:.4} nats) than {}{sure}",
                forecast.log_loss,
                than.join(" and ")
            );
            (!than.is_empty()).then_some(told)
        };
        self.forecasts.iter().enumerate().filter_map(warning).collect()
    }

    /// Fits on all but the last `share` of the season, in the order of time, and predicts those with the ratings at
    /// that moment.
    ///
    /// # Errors
    /// If that leaves nothing to fit or nothing to predict, or the first part has no fit.
    pub fn new(chosen: &Chosen, season: &Season, share: f64, level: f64) -> Result<Self, Failure> {
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
        let losses = |at: usize| -> Vec<f64> {
            let own = predicted.iter().filter_map(|(expected, outcome)| Some((*expected.get(at)?, *outcome)));
            own.map(|one| Forecast::of([one]).log_loss).collect()
        };
        let (losses_of_base, losses_of_elo) = (losses(BASE_RATE), losses(ELO));
        let forecast = |(at, (name, _)): (usize, &(&'static str, Expected<'_>))| {
            let own = predicted.iter().filter_map(|(expected, outcome)| Some((*expected.get(at)?, *outcome)));
            let beside = |other, of_other: &[f64]| {
                if at == other { None } else { difference(&losses(at), of_other, level) }
            };
            let (beside_elo, beside_base_rate) =
                (beside(ELO, &losses_of_elo), beside(BASE_RATE, &losses_of_base));
            Forecaster { name, forecast: Forecast::of(own), beside_elo, beside_base_rate }
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

/// Returns the mean of the differences of two lists, with the ends of its normal interval; `None` for fewer than two.
fn difference(one: &[f64], other: &[f64], level: f64) -> Option<(f64, f64, f64)> {
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|difference| (difference - mean) * (difference - mean)).sum();
    let reach = normal_deviations(level)? * (squares / (count - 1.0) / count).sqrt();
    (differences.len() > 1).then_some((mean, mean - reach, mean + reach))
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

/// Fits Bradley-Terry over the largest part that the first matches connect; over all of them if there is a prior.
fn fitted<'e>(model: &BradleyTerry, head: &Season) -> Result<Expected<'e>, Failure> {
    let component = if model.prior.is_some() { Component::All } else { Component::Largest };
    let part = Part::new(head, component)?;
    let fit = model.fit(&part.counts).map_err(|error| refused(error, component))?;
    let place =
        |name: &String| part.counts.names.binary_search(name).ok().and_then(|at| u32::try_from(at).ok());
    let places: Vec<Option<u32>> = head.names.iter().map(place).collect();
    Ok(Box::new(move |first, second| {
        let place = |old: u32| places.get(old as usize).copied().flatten();
        fit.expected(place(first)?, place(second)?)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_that_of_pairs() {
        assert_eq!(difference(&[1.0], &[0.5], 0.95), None);
        let (mean, low, high) = difference(&[1.0, 2.0, 3.0], &[0.5, 1.0, 1.5], 0.95).unwrap();
        // Differences 0.5, 1 and 1.5: a deviation of 0.5, an error of 0.5 / sqrt 3.
        assert!((mean - 1.0).abs() < 1e-12);
        assert!((high - 1.565_792).abs() < 1e-6 && (low - 0.434_208).abs() < 1e-6, "{low} {high}");
    }
}
