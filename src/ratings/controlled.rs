//! Bradley-Terry beside covariates: strengths of sides that are alike in them, and what the covariates are worth.

use std::collections::BTreeMap;

use karat_stats::rating::Match;
use karat_stats::rating::bradley_terry::LOGIT_POINTS;
use karat_stats::rating::covariates::{
    Coefficient, Contrast, Controlled, Covariate, CovariatesError, Fitted,
};

use super::answer::{CovariateEffect, Uncontrolled, shown};
use super::batch::{Part, Uncertainty, among, rated, unfit};
use super::{Board, Competitor, Ends, LeftOut, Pool, Task, refused, tallies};
use crate::error::{Code, Error};
use crate::text::{clean, list};

/// Fits the matches of a pool that have all covariates, without and with them.
///
/// # Errors
/// If they do not give every competitor a strength, and every covariate an effect.
pub(super) fn fit(task: &Task<'_>, mean_points: f64, pool: &Pool) -> Result<Board, Error> {
    let (question, season) = (task.question, &pool.season);
    let is_complete = |at: usize| pool.covariates.iter().all(|it| matches!(it.values.get(at), Some(Some(_))));
    let numbered = || season.matches.iter().enumerate();
    let complete: Vec<Match> =
        numbered().filter(|(at, _)| is_complete(*at)).map(|(_, found)| *found).collect();
    let missing = |of: &Covariate| of.values.iter().filter(|values| values.is_none()).count();
    if complete.is_empty() {
        let each =
            pool.covariates.iter().map(|of| format!("`{}` is missing in {}", clean(&of.name), missing(of)));
        let each = list(&each.collect::<Vec<_>>());
        let message = format!("no match has all covariates: of {}, {each}", season.matches.len());
        return Err(Error::new(Code::NothingCounts, message));
    }
    let Part { counts, left_out } = Part::new(&season.names, &complete, question.component)?;
    let moved = among(season, &counts.names);
    let kept: Vec<(usize, Match)> = numbered().filter_map(|(at, found)| Some((at, moved(found)?))).collect();
    let of_kept = |of: &Covariate| Covariate {
        values: kept.iter().map(|(at, _)| of.values.get(*at).copied().flatten()).collect(),
        ..of.clone()
    };
    let covariates: Vec<Covariate> = pool.covariates.iter().map(of_kept).collect();
    let matches: Vec<Match> = kept.iter().map(|(_, found)| *found).collect();
    let found = Controlled::new(&counts.names, &matches, &covariates).map_err(|error| match error {
        CovariatesError::Fit(error) => unfit(error, question.component),
        CovariatesError::Counts(error) => refused(error.to_string()),
        other => Error::new(Code::NothingCounts, other.to_string()),
    })?;
    // The competitors have one strength less: their sum is fixed.
    let parameters = counts.names.len() - 1 + covariates.len();
    let used = kept.iter().filter(|(at, _)| is_complete(*at)).map(|(_, found)| *found);
    let tallies = tallies(counts.names.len(), used);
    let rated = |Fitted { fit, covariance }: Fitted| {
        rated(&counts.names, &tallies, &fit, &Uncertainty::Normal(covariance), (mean_points, question.level))
    };
    let (mut competitors, groups) = rated(found.with)?;
    let (without, _) = rated(found.without)?;
    let mut without: BTreeMap<String, Uncontrolled> = without
        .into_iter()
        .map(|Competitor { name, rank, rank_range, points, interval, .. }| {
            (name, Uncontrolled { rank, rank_range, points, interval })
        })
        .collect();
    competitors.iter_mut().for_each(|it| it.without_covariates = without.remove(&it.name));
    let effect = |(of, it): (&Covariate, &Coefficient)| effect(of, it, missing(of), question.level);
    let effects = pool.covariates.iter().zip(&found.coefficients).map(effect);
    Ok(Board {
        groups,
        competitors,
        covariates: effects.collect::<Result<_, _>>()?,
        matches_per_parameter: Some(shown(found.matches as f64 / parameters as f64)),
        tie: Some(0.0),
        parts: Some(counts.parts().len() as u64),
        left_out: LeftOut {
            competitors: left_out,
            matches: (season.matches.len() - kept.len()) as u64,
            matches_without_covariates: Some(found.left_out),
        },
        ..pool.board(task)?
    })
}

fn effect(of: &Covariate, it: &Coefficient, missing: usize, level: f64) -> Result<CovariateEffect, Error> {
    let interval = it.interval(level).map_err(|error| refused(error.to_string()))?;
    Ok(CovariateEffect {
        name: of.name.clone(),
        contrast: of.contrast,
        matches_without: missing as u64,
        deviation: format!("{:.6e}", it.deviation).parse().unwrap_or(it.deviation),
        log_odds: shown(it.logits),
        points: shown(it.points()),
        interval: Ends::new(LOGIT_POINTS * interval.lower, LOGIT_POINTS * interval.upper),
        // The contrast of 2 and 1 is a third.
        double_points: (of.contrast == Contrast::Relative).then(|| shown(it.points() / it.deviation / 3.0)),
    })
}
