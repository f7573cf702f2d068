//! The quality of predictions by ratings: of the last matches from the ones before them.

use karat_stats::rating::bradley_terry::normal_deviations;
use karat_stats::rating::{
    self as rules, BradleyTerry, Elo, Forecast, Match, Outcome, Season, mean_score, rate,
};

use super::answer::shown;
use super::batch::{Part, among, unfit};
use super::online::in_periods;
use super::system::System;
use super::{Component, Forecaster, Holdout, Loss, Reference, SystemName, invalid, refused};
use crate::error::Error;

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

/// Fits on all but the last `share` of the season, in the order of time, and predicts those with the ratings at
/// that moment.
///
/// # Errors
/// If that leaves nothing to fit or nothing to predict, or the first part has no fit.
pub(super) fn holdout(system: &System, season: &Season, share: f64, level: f64) -> Result<Holdout, Error> {
    let tested = (share * season.matches.len() as f64).round_ties_even() as usize;
    let (first, last) = season.matches.split_at(season.matches.len().saturating_sub(tested));
    if first.is_empty() || last.is_empty() {
        return Err(invalid(format!(
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
        is_known.get_mut(place as usize).into_iter().for_each(|known| *known = true);
    }
    let known = |found: &&Match| {
        [found.first, found.second].iter().all(|&place| is_known.get(place as usize) == Some(&true))
    };
    let met: Vec<Match> = last.iter().filter(known).copied().collect();
    let forecasters = forecasters(system, &head)?;
    let mut losses: Vec<Vec<f64>> = vec![Vec::new(); forecasters.len()];
    let mut predicted: Vec<Vec<(f64, Outcome)>> = vec![Vec::new(); forecasters.len()];
    for found in &met {
        let expected = forecasters.iter().map(|(_, expected)| expected(found.first, found.second));
        let Some(expected) = expected.collect::<Option<Vec<f64>>>() else { continue };
        for ((own, losses), expected) in predicted.iter_mut().zip(&mut losses).zip(expected) {
            own.push((expected, found.outcome));
            losses.push(Forecast::of([(expected, found.outcome)]).log_loss);
        }
    }
    let beside = |at: usize, other: usize| {
        let (own, others) = losses.get(at).zip(losses.get(other)).filter(|_| at != other)?;
        difference(own, others, level)
    };
    let count = losses.first().map_or(0, Vec::len);
    let base = predicted.get(BASE_RATE).map_or(COIN, |it| Forecast::of(it.iter().copied()).log_loss);
    let (mut forecasts, mut warnings) = (Vec::new(), Vec::new());
    for (at, ((name, _), predicted)) in forecasters.iter().zip(&predicted).enumerate().filter(|_| count > 0) {
        let Forecast { log_loss, brier, .. } = Forecast::of(predicted.iter().copied());
        let worse = [(Reference::BaseRate, base), (Reference::Coin, COIN)];
        let worse_than: Vec<Reference> =
            worse.into_iter().filter(|(_, loss)| log_loss > loss + SAME).map(|(it, _)| it).collect();
        let [beside_base_rate, beside_elo] = [BASE_RATE, ELO].map(|other| beside(at, other));
        warnings.extend(warning(name, log_loss, &worse_than, base, beside_base_rate));
        let rounded =
            |it: Loss| Loss { log_loss: shown(it.log_loss), low: shown(it.low), high: shown(it.high) };
        forecasts.push(Forecaster {
            name: (*name).to_owned(),
            log_loss: shown(log_loss),
            brier: shown(brier),
            worse_than,
            beside_base_rate: beside_base_rate.map(rounded),
            beside_elo: beside_elo.map(rounded),
        });
    }
    Ok(Holdout {
        trained_matches: first.len() as u64,
        predicted_matches: count as u64,
        skipped_unknown: (last.len() - met.len()) as u64,
        skipped_incomparable: (met.len() - count) as u64,
        warnings,
        forecasts,
    })
}

/// Returns a note on a forecast that is worse than what is known without any rating.
fn warning(
    name: &str,
    log_loss: f64,
    worse_than: &[Reference],
    base: f64,
    beside_base_rate: Option<Loss>,
) -> Option<String> {
    let word = |reference: &Reference| match reference {
        Reference::BaseRate => format!("the base rate ({base:.4})"),
        Reference::Coin => format!("a coin ({COIN:.4})"),
    };
    let than: Vec<String> = worse_than.iter().map(word).collect();
    let sure = match beside_base_rate.filter(|_| worse_than.contains(&Reference::BaseRate)) {
        Some(it) if it.low > 0.0 => "; do not predict with it",
        Some(_) => "; by chance perhaps, as the interval of the difference to the base rate contains 0",
        None => "",
    };
    let than = than.join(" and ");
    let told = format!("{name} predicts these matches worse ({log_loss:.4} nats) than {than}{sure}");
    (!worse_than.is_empty()).then_some(told)
}

/// Returns the forecasters by name, each with what it has learnt from the first matches.
fn forecasters<'e>(system: &'e System, head: &Season) -> Result<Vec<(&'static str, Expected<'e>)>, Error> {
    let base = mean_score(head.matches.as_slice());
    let elo = if let System::Elo(elo) = system { *elo } else { Elo::default() };
    let mut all: Vec<(&'static str, Expected<'e>)> =
        vec![("base-rate", Box::new(move |_, _| Some(base))), (SystemName::Elo.name(), online(&elo, head)?)];
    match system {
        System::Elo(_) => {}
        System::Glicko2(system, None) => all.push((SystemName::Glicko2.name(), online(system, head)?)),
        System::Glicko2(system, Some(period)) => {
            let ratings = in_periods(system, head, *period)?;
            all.push((SystemName::Glicko2.name(), expected(*system, ratings)));
        }
        System::WengLin(system) => all.push((SystemName::WengLin.name(), online(system, head)?)),
        System::BradleyTerry(model, _) => {
            all.push((SystemName::BradleyTerry.name(), fitted(model, head)?));
        }
    }
    Ok(all)
}

/// Returns the mean of the differences of two lists, with the ends of its normal interval; `None` for fewer than two.
fn difference(one: &[f64], other: &[f64], level: f64) -> Option<Loss> {
    let differences: Vec<f64> = one.iter().zip(other).map(|(one, other)| one - other).collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|difference| (difference - mean) * (difference - mean)).sum();
    let reach = normal_deviations(level)? * (squares / (count - 1.0) / count).sqrt();
    (differences.len() > 1).then_some(Loss { log_loss: mean, low: mean - reach, high: mean + reach })
}

fn online<'e, S: rules::System + Copy + 'e>(system: &S, head: &Season) -> Result<Expected<'e>, Error> {
    let mut ratings = vec![system.initial(); head.names.len()];
    rate(system, &mut ratings, &head.matches).map_err(|error| refused(error.to_string()))?;
    Ok(expected(*system, ratings))
}

fn expected<'e, S: rules::System + 'e>(system: S, ratings: Vec<S::Rating>) -> Expected<'e> {
    Box::new(move |first, second| {
        Some(system.expected(ratings.get(first as usize)?, ratings.get(second as usize)?))
    })
}

/// Fits Bradley-Terry over the largest part that the first matches connect; over all of them if there is a prior.
fn fitted<'e>(model: &BradleyTerry, head: &Season) -> Result<Expected<'e>, Error> {
    let component = if model.prior.is_some() { Component::All } else { Component::Largest };
    let part = Part::new(&head.names, &head.matches, component)?;
    let fit = model.fit(&part.counts).map_err(|error| unfit(error, component))?;
    let among = among(head, &part.counts.names);
    Ok(Box::new(move |first, second| {
        let found = among(&Match { first, second, outcome: Outcome::Draw })?;
        fit.expected(found.first, found.second)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_taken_match_by_match() {
        assert_eq!(difference(&[1.0], &[0.5], 0.95), None);
        let Loss { log_loss, low, high } = difference(&[1.0, 2.0, 3.0], &[0.5, 1.0, 1.5], 0.95).unwrap();
        // Differences 0.5, 1 and 1.5: a deviation of 0.5, an error of 0.5 / sqrt 3.
        assert!((log_loss - 1.0).abs() < 1e-12);
        assert!((high - 1.565_792).abs() < 1e-6 && (low - 0.434_208).abs() < 1e-6, "{low} {high}");
    }
}
