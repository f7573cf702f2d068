//! Matches of agents at challenges: careers by the arena's rules, every match step by step.

use std::collections::BTreeMap;

use karat::answers::Voucher;
use karat::answers::arena::Settled;
use karat::answers::skill::Skills;
use karat_core::timestamp::Timestamp;
use karat_stats::rating::arena::{Arena, Attempt, Career, Challenge};
use karat_stats::rating::{Elo, Outcome};

use super::board::{Estimate, Line, Tally, lines};
use super::{Pool, named};
use crate::failure::Failure;
use crate::matches::solo::{EXPIRED, Solo};
use crate::matches::{Matches, Row};

/// The careers of all agents.
#[derive(Debug, Clone)]
pub struct Careers {
    /// The agents by name, each with the effect of its last match.
    pub agents: BTreeMap<String, Settled>,
    /// The matches in the order in which they counted.
    pub matches: Vec<Played>,
    /// The skills of the agents under Glicko-2.
    pub skills: Skills,
}

/// One match.
#[derive(Debug, Clone)]
pub struct Played {
    /// Its id.
    pub id: String,
    /// The agent.
    pub agent: String,
    /// The challenge.
    pub challenge: String,
    /// `win`, `draw`, `loss` or `expired`.
    pub result: &'static str,
    /// The rest of its row.
    pub solo: Solo,
    /// The effect on the agent.
    pub settled: Settled,
}

impl Careers {
    /// Settles the matches of a pool in their order.
    ///
    /// # Errors
    /// If a match cannot be settled.
    pub(super) fn new(elo: &Elo, matches: &Matches, pool: &Pool) -> Result<Self, Failure> {
        let rules = Arena { elo: *elo, ..Arena::default() };
        let mut careers: BTreeMap<String, Career> = BTreeMap::new();
        let mut found = Self { agents: BTreeMap::new(), matches: Vec::new(), skills: Skills::default() };
        let rows = pool.season.places.iter().filter_map(|place| matches.rows.get(*pool.rows.get(*place)?));
        for row in rows {
            let Some(solo) = row.solo.as_deref() else { continue };
            let agent = matches.names.name(row.first).to_owned();
            let career = careers.entry(agent.clone()).or_insert_with(|| rules.newcomer());
            let (after, settled) = settle(&rules, career, row.outcome, solo)
                .map_err(|problem| Failure::new(format!("{}: {problem}", matches.place(row))))?;
            *career = after;
            found.agents.insert(agent.clone(), settled.clone());
            let ended = Timestamp { milliseconds: row.at_milliseconds };
            let ended = matches.has_time.then_some(ended);
            found.skills.add(&agent, matches.names.name(row.second), &settled, row.outcome, ended);
            found.matches.push(Played {
                id: row.id.to_string(),
                agent,
                challenge: matches.names.name(row.second).to_owned(),
                result: if solo.expired { EXPIRED } else { row.outcome.name() },
                solo: solo.clone(),
                settled,
            });
        }
        Ok(found)
    }

    /// Returns the agents as lines, the highest rating first.
    pub fn lines(&self) -> Vec<Line> {
        let line = |(name, settled): (&String, &Settled)| {
            let career = &settled.career;
            let estimate = Estimate { points: career.rating_points as f64, ..Estimate::default() };
            let (won, drawn, lost) = (career.win_count, career.draw_count, career.loss_count);
            (name.clone(), estimate, Tally { won, drawn, lost })
        };
        lines(self.agents.iter().map(line).collect(), None).0
    }

    /// Returns what the rows left open and how it was taken.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |is_so: fn(&Solo) -> bool, text: &str| {
            let ids: Vec<String> =
                self.matches.iter().filter(|it| is_so(&it.solo)).map(|it| it.id.clone()).collect();
            if !ids.is_empty() {
                notes.push(format!("{text}: {}", named(&ids)));
            }
        };
        note(
            |solo| solo.difficulty.is_none() && solo.calibrated.is_none(),
            "without a difficulty, the challenge counts as one of 1000 points",
        );
        note(
            |solo| solo.verified && solo.memoryless && solo.attempt_number.is_none(),
            "without an `attempt_number`, not known to be a first attempt and so verified only",
        );
        note(
            |solo| solo.verified && matches!(solo.verified_by, None | Some(Voucher::Claimed)),
            "`verified` and `memoryless` are claims of the rows, which nothing here checked",
        );
        note(|solo| solo.expired, "expired: a draw that moves no rating");
        notes
    }
}

fn settle(
    rules: &Arena,
    career: &Career,
    outcome: Outcome,
    solo: &Solo,
) -> Result<(Career, Settled), String> {
    let challenge = Challenge {
        category: solo.category.as_deref().unwrap_or_default(),
        difficulty: solo.difficulty.as_deref().unwrap_or_default(),
        calibrated_difficulty: solo.calibrated.as_deref(),
    };
    let attempt = Attempt {
        // An attempt of unknown number is not the first one.
        attempt_number: solo.attempt_number.unwrap_or(u64::MAX),
        memoryless: solo.memoryless,
        verified: solo.verified,
        outcome,
    };
    let settled = if solo.expired {
        rules.expire(career, &challenge).map_err(|error| error.to_string())?
    } else {
        rules
            .settle(career, &challenge, &attempt)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?
    };
    let mut shown = Settled::of(&settled);
    if solo.category.is_none() {
        shown.rating.category = None;
        shown.career.category_points.remove("");
    }
    Ok((settled.career, shown))
}

/// Returns what a row stated, for the digest of the matches.
pub fn stated(row: &Row) -> Option<serde_json::Value> {
    let Solo { difficulty, calibrated, category, verified, memoryless, attempt_number, expired, .. } =
        row.solo.as_deref()?;
    Some(serde_json::json!({
        "difficulty": difficulty,
        "calibrated_difficulty": calibrated,
        "category": category,
        "verified": verified,
        "memoryless": memoryless,
        "attempt_number": attempt_number,
        "expired": expired,
    }))
}
