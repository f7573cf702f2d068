//! Bradley-Terry: all matches at once, with intervals and groups.

use std::collections::BTreeMap;

use karat_stats::rating::bradley_terry::{
    Counts, Covariance, Fit, FitError, Interval, LOGIT_POINTS, Resamples, Separation, normal_deviations,
};
use karat_stats::rating::{BradleyTerry, Season};

use super::board::{Estimate, Line, Tally, lines};
use super::resamples::{Clusters, resample};
use crate::args::rate::{Component, RateArgs};
use crate::failure::Failure;
use karat::text::clean;

/// The result of a fit.
pub struct Fitted {
    /// The competitors that can be rated, the highest rating first.
    pub lines: Vec<Line>,
    /// The number of groups.
    pub groups: Option<u32>,
    /// Davidson's tie parameter.
    pub tie: f64,
    /// Resamples whose matches had no fit; `None` without a bootstrap.
    pub resamples_without_fit: Option<u64>,
    /// The number of parts that no match connects.
    pub parts: usize,
    /// Competitors whose matches all ended alike; empty without a bootstrap.
    pub one_sided: Vec<String>,
    /// The competitors that are not rated.
    pub left_out: Vec<String>,
    /// Matches that are not rated because one of their competitors is not.
    pub left_out_matches: u64,
}

/// The counts of the rated competitors, and the names of the others.
pub struct Part {
    /// The counts.
    pub counts: Counts,
    /// The names of the others.
    pub left_out: Vec<String>,
}

impl Part {
    /// Returns the counts of all competitors, or of the largest part whose members can be compared.
    ///
    /// # Errors
    /// If the matches cannot be counted.
    pub fn new(season: &Season, component: Component) -> Result<Self, Failure> {
        let counts = Counts::new(&season.names, &season.matches);
        let counts = counts.map_err(|error| Failure::new(error.to_string()))?;
        if component == Component::All {
            return Ok(Self { counts, left_out: Vec::new() });
        }
        let part = counts.among(counts.groups().first().map_or(&[], Vec::as_slice));
        if part.names.len() < 2 {
            // No two can be compared: the fit of all competitors reports why.
            return Ok(Self { counts, left_out: Vec::new() });
        }
        let is_out = |name: &&String| part.names.binary_search(name).is_err();
        let left_out = counts.names.iter().filter(is_out).cloned().collect();
        Ok(Self { counts: part, left_out })
    }
}

/// Fits the matches of `season`. `pairs` names the pair behind each of them, if that is known: a bootstrap then draws
/// pairs with all their votes.
///
/// # Errors
/// If they do not give every competitor a strength, or the strengths no interval.
pub fn fit(
    model: &BradleyTerry,
    mean_points: f64,
    season: &Season,
    pairs: Option<&[u32]>,
    args: &RateArgs,
) -> Result<Fitted, Failure> {
    let Part { counts, left_out } = Part::new(season, args.component)?;
    let fit = model.fit(&counts).map_err(|error| refused(error, args.component))?;
    let uncertainty = if args.bootstrap {
        let clusters = pairs.map(|numbers| Clusters::new(season, &counts, numbers));
        let drawn = resample(model, &counts, &fit, clusters.as_ref(), (args.seed, args.resamples))?;
        Uncertainty::Bootstrap(drawn)
    } else {
        // With a prior the covariances are those of the posterior.
        let covariance = fit
            .covariance(&counts)
            .map_err(|error| Failure::new(error.to_string()).help("--bootstrap resamples the matches"))?;
        Uncertainty::Normal(covariance)
    };
    let intervals = uncertainty.intervals(&fit, args.level)?;
    let point = |logits: f64| mean_points + LOGIT_POINTS * logits;
    let tallies = tallies(&counts);
    let rated = counts.names.iter().enumerate().filter_map(|(place, name)| {
        let (&strength, interval) = (fit.strengths.get(place)?, intervals.get(place)?);
        let estimate = Estimate {
            points: point(strength),
            deviation: uncertainty.standard_error(place).map(|error| LOGIT_POINTS * error),
            interval: Some((point(interval.lower), point(interval.upper))),
            volatility: None,
        };
        Some((name.clone(), estimate, tallies.get(place).copied()?))
    });
    let rated: Vec<(String, Estimate, Tally)> = rated.collect();
    let told_apart = |above: usize, below: usize| uncertainty.told_apart(&fit, above, below, args.level);
    let (lines, groups) = lines(rated, Some(&told_apart));
    let one_sided = lines.iter().filter(|line| args.bootstrap && line.tally.is_one_sided());
    let one_sided = one_sided.map(|line| line.name.clone()).collect();
    Ok(Fitted {
        parts: counts.parts().len(),
        one_sided,
        lines,
        groups,
        tie: fit.tie,
        resamples_without_fit: uncertainty.resamples_without_fit(),
        left_out_matches: (season.matches.len() as u64).saturating_sub(counts.matches()),
        left_out,
    })
}

/// The source of the intervals.
enum Uncertainty {
    /// From covariances: of the sandwich estimator, or of the posterior.
    Normal(Covariance),
    Bootstrap(Resamples),
}

impl Uncertainty {
    fn intervals(&self, fit: &Fit, level: f64) -> Result<Vec<Interval>, Failure> {
        match self {
            Self::Normal(covariance) => {
                covariance.intervals(fit, level).map_err(|error| Failure::new(error.to_string()))
            }
            Self::Bootstrap(resamples) => {
                resamples.intervals(level).map_err(|error| Failure::new(format!("--bootstrap: {error}")))
            }
        }
    }

    fn standard_error(&self, place: usize) -> Option<f64> {
        match self {
            Self::Normal(covariance) => covariance.standard_error(u32::try_from(place).ok()?),
            Self::Bootstrap(_) => None,
        }
    }

    /// Returns true if zero lies outside the interval of the difference.
    fn told_apart(&self, fit: &Fit, above: usize, below: usize, level: f64) -> bool {
        match self {
            Self::Normal(covariance) => {
                let strengths = fit.strengths.get(above).zip(fit.strengths.get(below));
                let error = u32::try_from(above).ok().zip(u32::try_from(below).ok());
                let error = error.and_then(|(above, below)| covariance.difference_error(above, below));
                match (strengths, error, normal_deviations(level)) {
                    (Some((high, low)), Some(error), Some(deviations)) => high - low > deviations * error,
                    _ => false,
                }
            }
            Self::Bootstrap(resamples) => {
                let is_reversed = |round: &&Vec<f64>| match (round.get(above), round.get(below)) {
                    (Some(high), Some(low)) => high <= low,
                    _ => true,
                };
                // A resample without a fit might have reversed them.
                let reversed =
                    resamples.strengths.iter().filter(is_reversed).count() as u64 + resamples.without_fit;
                let rounds = resamples.strengths.len() as u64 + resamples.without_fit;
                (reversed as f64) < 0.5 * (1.0 - level) * rounds as f64
            }
        }
    }

    fn resamples_without_fit(&self) -> Option<u64> {
        match self {
            Self::Normal(_) => None,
            Self::Bootstrap(resamples) => Some(resamples.without_fit),
        }
    }
}

fn tallies(counts: &Counts) -> Vec<Tally> {
    let mut tallies: BTreeMap<u32, Tally> = BTreeMap::new();
    for pair in &counts.pairs {
        for (place, won, lost) in
            [(pair.first, pair.wins, pair.losses), (pair.second, pair.losses, pair.wins)]
        {
            let tally = tallies.entry(place).or_default();
            tally.won += won;
            tally.drawn += pair.draws;
            tally.lost += lost;
        }
    }
    (0..counts.names.len() as u32).map(|place| tallies.get(&place).copied().unwrap_or_default()).collect()
}

/// Most names that a line lists.
const NAMED: usize = 10;

/// Returns the refusal of matches that give no strengths, a line for each reason.
pub fn refused(error: FitError, component: Component) -> Failure {
    let FitError::Separated(separation) = error else { return Failure::new(error.to_string()) };
    let Separation { without_match, only_won, only_lost, groups } = &separation;
    let competitors: usize = groups.iter().map(Vec::len).sum();
    let largest = groups.iter().map(Vec::len).max().unwrap_or(0);
    let mut failure = Failure::new(format!(
        "the matches do not compare all competitors with each other: of {competitors} competitors, at most {largest} can \
         be rated together"
    ));
    for (names, what) in [
        (without_match, "without a match"),
        (only_won, "never lost a point"),
        (only_lost, "never won a point"),
    ] {
        if !names.is_empty() {
            failure = failure.help(format!("{what}: {}", named(names)));
        }
    }
    for group in groups.iter().filter(|group| group.len() > 1).take(NAMED) {
        failure = failure.help(format!("comparable with each other: {}", named(group)));
    }
    if component == Component::All && largest > 1 {
        failure = failure.help("--component largest rates the largest part and names the others");
    }
    failure.help(
        "or add matches between the parts; --set prior=gaussian and the other systems rate every competitor",
    )
}

/// Returns some names in backticks, and the number of the others.
pub fn named(names: &[String]) -> String {
    let listed: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{}`", clean(name))).collect();
    match names.len().saturating_sub(NAMED) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}
