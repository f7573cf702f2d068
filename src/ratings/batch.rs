//! Bradley-Terry: all matches at once, with intervals and groups.

use karat_stats::rating::bradley_terry::{
    Counts, Covariance, Fit, FitError, Interval, LOGIT_POINTS, Resamples, Separation, normal_deviations,
};
use karat_stats::rating::{BradleyTerry, Match, Season};

use super::answer::shown;
use super::resamples::{Clusters, resample};
use super::{
    Board, Competitor, Component, Ends, LeftOut, Pool, Tally, Task, controlled, ranked, refused, tallies,
};
use crate::error::Error;
use crate::text::{NAMED, named};

/// The counts of the rated competitors, and the names of the others.
pub(super) struct Part {
    pub(super) counts: Counts,
    pub(super) left_out: Vec<String>,
}

impl Part {
    /// Returns the counts of all competitors, or of the largest part whose members can be compared.
    ///
    /// # Errors
    /// If the matches cannot be counted.
    pub(super) fn new(names: &[String], matches: &[Match], component: Component) -> Result<Self, Error> {
        let counts = Counts::new(names, matches);
        let counts = counts.map_err(|error| refused(error.to_string()))?;
        let largest = (component == Component::Largest)
            .then(|| counts.among(counts.groups().first().map_or(&[], Vec::as_slice)));
        // If no two can be compared, the fit of all competitors reports why.
        let Some(part) = largest.filter(|part| part.names.len() > 1) else {
            return Ok(Self { counts, left_out: Vec::new() });
        };
        let is_out = |name: &&String| part.names.binary_search(name).is_err();
        let left_out = counts.names.iter().filter(is_out).cloned().collect();
        Ok(Self { counts: part, left_out })
    }
}

/// Fits the matches of a pool. If the pairs behind them are known, a bootstrap draws pairs with all their votes.
///
/// # Errors
/// If they do not give every competitor a strength, or the strengths no interval.
pub(super) fn board(
    task: &Task<'_>,
    model: &BradleyTerry,
    mean_points: f64,
    pool: &Pool,
) -> Result<Board, Error> {
    let found = match pool.covariates.is_empty() {
        true => fit(task, model, mean_points, pool),
        false => controlled::fit(task, mean_points, pool),
    };
    found.map_err(|error| match &pool.category {
        Some(category) => error.hint(format!("this is category `{category}`")),
        None => error,
    })
}

fn fit(task: &Task<'_>, model: &BradleyTerry, mean_points: f64, pool: &Pool) -> Result<Board, Error> {
    let (question, season) = (task.question, &pool.season);
    let Part { counts, left_out } = Part::new(&season.names, &season.matches, question.component)?;
    let fit = model.fit(&counts).map_err(|error| unfit(error, question.component))?;
    let uncertainty = if question.bootstrap {
        let clusters = pool.pairs.as_ref().map(|numbers| Clusters::new(season, &counts, numbers));
        let drawn = (question.seed, question.resamples);
        Uncertainty::Bootstrap(resample(model, &counts, &fit, clusters.as_ref(), drawn)?)
    } else {
        // With a prior the covariances describe the posterior.
        let covariance = fit.covariance(&counts);
        Uncertainty::Normal(
            covariance
                .map_err(|error| refused(error.to_string()).hint("--bootstrap resamples the matches"))?,
        )
    };
    let tallies = tallies(counts.names.len(), season.matches.iter().filter_map(among(season, &counts.names)));
    let (competitors, groups) =
        rated(&counts.names, &tallies, &fit, &uncertainty, (mean_points, question.level))?;
    let one_sided = competitors.iter().filter(|it| question.bootstrap && it.matches.is_one_sided());
    Ok(Board {
        one_sided: one_sided.map(|it| it.name.clone()).collect(),
        groups,
        competitors,
        tie: Some(shown(fit.tie)),
        parts: Some(counts.parts().len() as u64),
        resamples_without_fit: uncertainty.resamples_without_fit(),
        left_out: LeftOut {
            competitors: left_out,
            matches: (season.matches.len() as u64).saturating_sub(counts.matches()),
            matches_without_covariates: None,
        },
        ..pool.board(task)?
    })
}

/// Returns what gives a match of a season with the positions of its competitors among `names`, if both are there.
pub(super) fn among(season: &Season, names: &[String]) -> impl Fn(&Match) -> Option<Match> + use<> {
    let place = |name: &String| u32::try_from(names.binary_search(name).ok()?).ok();
    let places: Vec<Option<u32>> = season.names.iter().map(place).collect();
    move |found| {
        let place = |old: u32| places.get(old as usize).copied().flatten();
        Some(Match { first: place(found.first)?, second: place(found.second)?, ..*found })
    }
}

/// Returns the competitors by rank, and the number of groups.
pub(super) fn rated(
    names: &[String],
    tallies: &[Tally],
    fit: &Fit,
    uncertainty: &Uncertainty,
    (mean_points, level): (f64, f64),
) -> Result<(Vec<Competitor>, Option<u32>), Error> {
    let intervals = uncertainty.intervals(fit, level)?;
    let point = |logits: f64| mean_points + LOGIT_POINTS * logits;
    let each = names.iter().zip(tallies).zip(fit.strengths.iter().zip(&intervals)).enumerate();
    let rated = each.map(|(at, ((name, tally), (strength, interval)))| Competitor {
        deviation_points: uncertainty.standard_error(at).map(|error| LOGIT_POINTS * error),
        interval: Some(Ends { low: point(interval.lower), high: point(interval.upper) }),
        ..Competitor::new(name.clone(), point(*strength), *tally)
    });
    let told_apart = |above: usize, below: usize| uncertainty.told_apart(fit, above, below, level);
    Ok(ranked(&rated.collect::<Vec<_>>(), Some(&told_apart)))
}

/// The source of the intervals.
pub(super) enum Uncertainty {
    /// Covariances: of the sandwich estimator, or of the posterior.
    Normal(Covariance),
    Bootstrap(Resamples),
}

impl Uncertainty {
    fn intervals(&self, fit: &Fit, level: f64) -> Result<Vec<Interval>, Error> {
        match self {
            Self::Normal(covariance) => {
                covariance.intervals(fit, level).map_err(|error| refused(error.to_string()))
            }
            Self::Bootstrap(resamples) => {
                resamples.intervals(level).map_err(|error| refused(format!("--bootstrap: {error}")))
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

/// Returns the refusal of matches that give no strengths, a line for each reason.
pub(super) fn unfit(error: FitError, component: Component) -> Error {
    let FitError::Separated(separation) = error else { return refused(error.to_string()) };
    let Separation { without_match, only_won, only_lost, groups } = &separation;
    let competitors: usize = groups.iter().map(Vec::len).sum();
    let largest = groups.iter().map(Vec::len).max().unwrap_or(0);
    let mut error = refused(format!(
        "the matches do not compare all competitors with each other: of {competitors} competitors, at most {largest} can \
         be rated together"
    ));
    let kinds = [
        (without_match, "without a match"),
        (only_won, "never lost a point"),
        (only_lost, "never won a point"),
    ];
    let several = groups.iter().filter(|group| group.len() > 1).take(NAMED);
    for (names, what) in kinds.into_iter().chain(several.map(|group| (group, "comparable with each other"))) {
        if let Some(names) = named(names) {
            error = error.hint(format!("{what}: {names}"));
        }
    }
    if component == Component::All && largest > 1 {
        error = error.hint("--component largest rates the largest part and names the others");
    }
    error.hint(
        "or add matches between the parts; --set prior=gaussian and the other systems rate every competitor",
    )
}
