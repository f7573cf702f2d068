//! The resamples of a bootstrap: of matches, or of pairs with all their votes.

use std::num::NonZeroU64;
use std::ops::Range;
use std::thread;

use karat_stats::random::Random;
use karat_stats::rating::bradley_terry::{Bootstrap, Counts, Fit, FitError, Resamples};
use karat_stats::rating::{BradleyTerry, Match, Season};

use super::batch::among;
use super::refused;
use crate::error::Error;

/// Threads for the resamples. Their number changes no bit of the result; one is the caller's own.
const THREADS: u64 = if cfg!(target_family = "wasm") { 1 } else { 4 };

/// Matches in clusters that are drawn whole: votes on one pair of answers are not independent of each other.
pub(super) struct Clusters {
    /// The matches of each cluster, between positions of the counts.
    matches: Vec<Vec<Match>>,
}

impl Clusters {
    /// Returns the matches of `season` among the competitors of `counts`. `numbers` has the cluster of every match.
    pub(super) fn new(season: &Season, counts: &Counts, numbers: &[u32]) -> Self {
        let moved = among(season, &counts.names);
        let moved = |(number, found): (&u32, &Match)| Some((*number, moved(found)?));
        let mut matches: Vec<(u32, Match)> = numbers.iter().zip(&season.matches).filter_map(moved).collect();
        // Stable: within a cluster matches keep the order of the season.
        matches.sort_by_key(|&(number, _)| number);
        let clusters = matches.chunk_by(|one, other| one.0 == other.0);
        Self { matches: clusters.map(|cluster| cluster.iter().map(|&(_, found)| found).collect()).collect() }
    }

    /// Draws as many clusters as there are, with replacement, and fits them, for each round.
    fn resample(&self, model: &BradleyTerry, names: &[String], seed: u64, rounds: Range<u64>) -> Resamples {
        let mut resamples = Resamples::default();
        let mut drawn: Vec<Match> = Vec::new();
        for round in rounds {
            let mut random = Random::stream(seed, round);
            drawn.clear();
            if let Some(bound) = NonZeroU64::new(self.matches.len() as u64) {
                for _ in 0..self.matches.len() {
                    let cluster = self.matches.get(random.below(bound) as usize);
                    drawn.extend(cluster.into_iter().flatten());
                }
            }
            match Counts::new(names, &drawn).map(|counts| model.fit(&counts)) {
                Ok(Ok(fit)) => resamples.strengths.push(fit.strengths),
                _ => resamples.without_fit += 1,
            }
        }
        resamples
    }
}

/// Returns all resamples, split over threads: each is the same in any split. `clusters` are drawn as a whole; else
/// matches are drawn.
///
/// # Errors
/// If the counts are not a league.
pub(super) fn resample(
    model: &BradleyTerry,
    counts: &Counts,
    fit: &Fit,
    clusters: Option<&Clusters>,
    (seed, resamples): (u64, u64),
) -> Result<Resamples, Error> {
    let share = resamples.div_ceil(THREADS);
    let ranges = (0..THREADS).map(|part| (part * share).min(resamples)..((part + 1) * share).min(resamples));
    let draw = |rounds: Range<u64>| match clusters {
        Some(clusters) => Ok(clusters.resample(model, &counts.names, seed, rounds)),
        None => model.resample(counts, fit, &Bootstrap { seed, rounds }),
    };
    if THREADS == 1 {
        return draw(0..resamples).map_err(|error| refused(error.to_string()));
    }
    let parts: Vec<Result<Resamples, FitError>> = thread::scope(|scope| {
        let running: Vec<_> = ranges.map(|rounds| scope.spawn(|| draw(rounds))).collect();
        // A thread that panicked has printed why; its resamples are missing.
        running.into_iter().map(|part| part.join().unwrap_or(Err(FitError::NoMatch))).collect()
    });
    let joined = parts.into_iter().try_fold(Resamples::default(), |all, part| Ok(all.followed_by(part?)));
    joined.map_err(|error: FitError| refused(error.to_string()))
}
