//! The results of `karat rate`, and their JSON form.

use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use karat_stats::ranks::RankRange;
use serde_json::{Map, Value, json};

use super::agreement::{Agreement, Count, Judged};
use super::board::{Board, Line, Tally};
use super::holdout::{Holdout, Reference};
use super::settings::Chosen;
use super::solo::{Careers, Played};
use karat::answers::Voucher;
use karat::answers::arena::Settled;

/// The format that the JSON names.
const FORMAT: &str = "karat/rating/1";
/// Ten to the number of decimals shown.
const PLACES: f64 = 1e6;

/// All results, as data.
#[derive(Debug, Clone)]
pub struct Report {
    /// The system and its settings.
    pub chosen: Chosen,
    /// The confidence of intervals and groups.
    pub level: f64,
    /// The source of intervals.
    pub intervals: Intervals,
    /// Rows that are not matches, by their result.
    pub skipped: u64,
    /// Rows after a row of a later time, sorted by time.
    pub late: u64,
    /// Columns that nothing reads.
    pub unread: Vec<String>,
    /// The pools, by category; one pool without categories.
    pub boards: Vec<Board>,
    /// The careers of agents, from matches at challenges.
    pub careers: Option<Careers>,
    /// The agreement of judges with people, if that was asked for.
    pub agreement: Option<Agreement>,
}

/// The source of intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intervals {
    /// No intervals: the system does not estimate its uncertainty.
    None,
    /// From the deviation that the system keeps.
    Deviation,
    /// From the sandwich estimator.
    Sandwich,
    /// From the posterior of a prior, as a normal distribution.
    Posterior,
    /// From bootstrap resamples.
    Bootstrap {
        /// Their number.
        resamples: u64,
        /// The seed.
        seed: u64,
        /// True if pairs were drawn, each with all its votes; else matches.
        of_pairs: bool,
    },
}

impl Intervals {
    /// Returns the name of the method.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Deviation => "deviation",
            Self::Sandwich => "sandwich",
            Self::Posterior => "posterior",
            Self::Bootstrap { .. } => "bootstrap",
        }
    }
}

impl Report {
    /// Returns the report as one line of canonical JSON. Numbers are rounded to six decimals.
    pub fn json(&self) -> String {
        let mut value = json!({
            "format": FORMAT,
            "system": self.chosen.name(),
            "settings": self.chosen.settings(),
            "level": self.level,
            "intervals": self.intervals.name(),
            "skipped_rows": self.skipped,
            "late_rows": self.late,
            "unread_columns": self.unread,
            "boards": self.boards.iter().map(board).collect::<Vec<_>>(),
            "judges": self.agreement.as_ref().map(|agreement| judges(agreement, self.level)),
        });
        if let (Intervals::Bootstrap { resamples, seed, of_pairs }, Some(members)) =
            (self.intervals, value.as_object_mut())
        {
            members.insert("resamples".into(), resamples.into());
            members.insert("drawn".into(), (if of_pairs { "pairs" } else { "matches" }).into());
            members.insert("seed".into(), seed.into());
        }
        if let (Some(careers), Some(members)) = (&self.careers, value.as_object_mut()) {
            members.insert("arena".into(), arena(careers));
        }
        canonical_json(&value)
    }
}

/// Returns the careers of agents and the steps of each match, which are those of a server.
fn arena(careers: &Careers) -> Value {
    let agent = |(name, settled): (&String, &Settled)| {
        let skill = careers.skills.of(name);
        json!({"agent_id": name, "career": settled.career, "skill": skill, "titles": settled.titles})
    };
    let played = |it: &Played| {
        json!({
            "match_id": it.id,
            "agent_id": it.agent,
            "challenge": it.challenge,
            "result": it.result,
            "difficulty": it.solo.difficulty,
            "calibrated_difficulty": it.solo.calibrated,
            "verified": it.solo.verified,
            "verified_by": it.solo.verified.then(|| it.solo.verified_by.unwrap_or(Voucher::Claimed)),
            "memoryless": it.solo.memoryless,
            "attempt_number": it.solo.attempt_number,
            "rating": it.settled.rating,
        })
    };
    json!({
        "agents": careers.agents.iter().map(agent).collect::<Vec<_>>(),
        "matches": careers.matches.iter().map(played).collect::<Vec<_>>(),
        "notes": careers.notes(),
    })
}

/// Returns a number as it is shown; null if it is not finite.
fn shown(number: f64) -> Value {
    let rounded = (number * PLACES).round_ties_even() / PLACES;
    // Minus zero is shown as zero.
    if rounded == 0.0 { json!(0) } else { json!(rounded) }
}

fn time(milliseconds: i64) -> Value {
    Timestamp { milliseconds }.to_string().into()
}

fn tally(tally: Tally) -> Map<String, Value> {
    [("won", tally.won), ("drawn", tally.drawn), ("lost", tally.lost)]
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count.into()))
        .collect()
}

fn board(board: &Board) -> Value {
    json!({
        "category": board.category,
        "input": {
            "digest": board.input.digest.to_string(),
            "matches": board.input.matches,
            "outcomes": tally(board.input.outcomes),
            "repeated_rows": board.input.repeated,
            "first_time": board.input.milliseconds.map(|(first, _)| time(first)),
            "last_time": board.input.milliseconds.map(|(_, last)| time(last)),
        },
        "groups": board.groups,
        "competitors": board.lines.iter().map(line).collect::<Vec<_>>(),
        "drift": board.drift.map(|drift| json!({
            "competitors": drift.competitors,
            "mean_before_points": shown(drift.mean_before),
            "mean_after_points": shown(drift.mean_after),
            "points": shown(drift.points()),
        })),
        "tie": board.tie.map(shown),
        "parts": board.parts,
        "one_sided": board.one_sided,
        "resamples_without_fit": board.resamples_without_fit,
        "left_out": { "competitors": board.left_out, "matches": board.left_out_matches },
        "holdout": board.holdout.as_ref().map(holdout),
    })
}

fn line(line: &Line) -> Value {
    let range = |range: RankRange| json!({"best": range.best, "worst": range.worst});
    json!({
        "name": line.name,
        "rank": line.rank,
        "rank_range": line.range.map(range),
        "group": line.group,
        "points": shown(line.estimate.points),
        "deviation_points": line.estimate.deviation.map(shown),
        "interval": line.estimate.interval.map(|(low, high)| json!({"low": shown(low), "high": shown(high)})),
        "volatility": line.estimate.volatility.map(shown),
        "matches": tally(line.tally),
    })
}

fn holdout(holdout: &Holdout) -> Value {
    let interval = |(mean, low, high): (f64, f64, f64)| json!({"log_loss": shown(mean), "low": shown(low), "high": shown(high)});
    let forecasts = holdout.forecasts.iter().enumerate().map(|(at, it)| {
        let worse_than = holdout.worse_than(at);
        json!({
            "worse_than": worse_than.into_iter().map(Reference::name).collect::<Vec<_>>(),
            "beside_base_rate": it.beside_base_rate.map(interval),
            "name": it.name,
            "log_loss": shown(it.forecast.log_loss),
            "brier": shown(it.forecast.brier),
            "beside_elo": it.beside_elo.map(interval),
        })
    });
    json!({
        "trained_matches": holdout.trained,
        "predicted_matches": holdout.predicted,
        "skipped_unknown": holdout.skipped_unknown,
        "skipped_incomparable": holdout.skipped_incomparable,
        "warnings": holdout.warnings(),
        "forecasts": if holdout.predicted == 0 { Vec::new() } else { forecasts.collect() },
    })
}

fn judges(agreement: &Agreement, level: f64) -> Value {
    let judge = |(name, judged): &(String, Judged)| {
        json!({
            "name": name,
            "votes": tally(judged.votes),
            "same_outcome": share(judged.same, level),
            "same_winner": share(judged.same_winner, level),
        })
    };
    json!({
        "people": judge(&(agreement.people.clone(), agreement.among_people)),
        "pairs": agreement.pairs,
        "pairs_without_majority": agreement.pairs_without_majority,
        "judges": agreement.judges.iter().map(judge).collect::<Vec<_>>(),
    })
}

fn share(count: Count, level: f64) -> Value {
    let proportion = count.proportion();
    let interval = proportion.wilson(level).ok();
    json!({
        "agreed": proportion.successes(),
        "compared": proportion.trials(),
        "share": proportion.share().map(shown),
        "interval": interval.map(|interval| json!({"low": shown(interval.low), "high": shown(interval.high)})),
    })
}
