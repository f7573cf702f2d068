//! The headline of a scorecard: what counts, and how much.

use karat_core::mean::Mean;
use karat_core::scorecard::{Scorecard, StandingScore};

use super::{Headline, capital, name};
use crate::estimate::whole_percent;

/// The most dimensions that a sentence names.
const NAMED: usize = 4;

/// Returns the share of each dimension in the whole, the largest first; none where each challenge has its own.
pub fn weights(card: &Scorecard) -> Vec<(String, f64)> {
    let weights: Vec<i64> =
        crate::leaderboard::stress::weights(card).iter().map(|weight| weight.millionths()).collect();
    let total: i64 = weights.iter().sum();
    if card.family.is_some() || total <= 0 {
        return Vec::new();
    }
    let all = card.dimensions.iter().zip(weights).filter(|(_, weight)| *weight > 0);
    let mut all: Vec<(String, f64)> =
        all.map(|(it, weight)| (it.label.clone(), weight as f64 / total as f64)).collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all
}

/// Returns the headline of a scorecard.
pub fn card(card: &Scorecard) -> Headline {
    let all = weights(card);
    let share = |share: f64| whole_percent(share).trim_end_matches('%').to_owned();
    let text = match (all.as_slice(), card.mean) {
        ([], _) => format!("{} has other weights for each challenge", card.title),
        ([(only, _)], _) => format!("{} alone counts", capital(only)),
        (_, Mean::Minimum) => format!("The weakest of {} dimensions counts", all.len()),
        ([first, rest @ ..], _) => {
            let named = rest
                .iter()
                .take(NAMED - 1)
                .map(|(it, part)| format!("{} {}", name(it).to_lowercase(), share(*part)));
            let left = rest.len().saturating_sub(NAMED - 1);
            let more = (left > 0).then(|| {
                let rest: f64 = rest.iter().skip(NAMED - 1).map(|it| it.1).sum();
                format!("{left} more {}", share(rest))
            });
            let named: Vec<String> = named.chain(more).collect();
            format!("{} counts {}, {}", capital(&name(&first.0)), share(first.1), named.join(", "))
        }
    };
    let mean = match card.mean {
        Mean::WeightedSum | Mean::WeightedMean => None,
        Mean::Geometric => Some("The parts are multiplied: one that is nearly 0 takes nearly everything"),
        Mean::Harmonic => Some("The harmonic mean of the parts counts, which low ones pull down"),
        Mean::Minimum => Some("All others count for nothing"),
    };
    let ranks = card.standing.as_ref().map(|rules| match rules.score {
        StandingScore::Window => "The mean of the newest items is the official score",
        StandingScore::Latest => "The newest value of each dimension makes the official score",
    });
    Headline::new(text).and(mean.into_iter().chain(ranks).map(str::to_owned))
}
