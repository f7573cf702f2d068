//! Matches of agents at challenges: careers by the arena's rules, every match step by step.

use std::collections::BTreeMap;

use karat_core::timestamp::Timestamp;
use karat_stats::rating::arena::{Arena, Attempt, Career, Challenge};
use karat_stats::rating::{Elo, Outcome};

use super::matches::Matches;
use super::matches::solo::{EXPIRED, Solo};
use super::{Agent, Careers, Competitor, Played, Pool, Tally, ranked, refused};
use crate::answers::Voucher;
use crate::answers::arena::Settled;
use crate::answers::skill::Skills;
use crate::error::Error;
use crate::text::named;

/// Value that rows may leave open, and how it is taken.
type Open = (fn(&Solo) -> bool, &'static str);
const OPEN: [Open; 4] = [
    (
        |solo| solo.difficulty.is_none() && solo.calibrated_difficulty.is_none(),
        "without a difficulty, the challenge counts as one of 1000 points",
    ),
    (
        |solo| solo.verified && solo.memoryless && solo.attempt_number.is_none(),
        "without an `attempt_number`, not known to be a first attempt and so verified only",
    ),
    (
        |solo| solo.verified && matches!(solo.verified_by, None | Some(Voucher::Claimed)),
        "`verified` and `memoryless` are claims of the rows, which nothing here checked",
    ),
    (|solo| solo.expired, "expired: a draw that moves no rating"),
];

/// Settles the matches of a pool in their order; returns the agents as competitors, too.
///
/// # Errors
/// If a match cannot be settled.
pub(super) fn careers(
    elo: &Elo,
    matches: &Matches,
    pool: &Pool,
) -> Result<(Careers, Vec<Competitor>), Error> {
    let rules = Arena { elo: *elo, ..Arena::default() };
    let mut careers: BTreeMap<&str, (Career, Settled)> = BTreeMap::new();
    let (mut skills, mut played) = (Skills::default(), Vec::new());
    let mut open: [Vec<&str>; OPEN.len()] = Default::default();
    let rows = pool.season.places.iter().filter_map(|place| matches.rows.get(*pool.rows.get(*place)?));
    for row in rows {
        let Some(solo) = row.solo.as_deref() else { continue };
        let (agent, challenge) = (matches.names.name(row.first), matches.names.name(row.second));
        let before = careers.get(agent).map_or_else(|| rules.newcomer(), |(career, _)| career.clone());
        let (career, settled) = settle(&rules, &before, row.outcome, solo)
            .map_err(|problem| refused(format!("{}: {problem}", matches.place(row))))?;
        let ended = matches.has_time.then_some(Timestamp { milliseconds: row.at_milliseconds });
        skills.add(agent, challenge, &settled, row.outcome, ended);
        played.push(Played {
            match_id: row.id.to_string(),
            agent_id: agent.to_owned(),
            challenge: challenge.to_owned(),
            result: (if solo.expired { EXPIRED } else { row.outcome.name() }).to_owned(),
            difficulty: solo.difficulty.clone(),
            calibrated_difficulty: solo.calibrated_difficulty.clone(),
            verified: solo.verified,
            verified_by: solo.verified.then(|| solo.verified_by.unwrap_or(Voucher::Claimed)),
            memoryless: solo.memoryless,
            attempt_number: solo.attempt_number,
            rating: settled.rating.clone(),
        });
        for (ids, (is_open, _)) in open.iter_mut().zip(OPEN) {
            ids.extend(is_open(solo).then_some(&*row.id));
        }
        careers.insert(agent, (career, settled));
    }
    let agents: Vec<Agent> = careers
        .into_iter()
        .map(|(name, (_, settled))| Agent {
            agent_id: name.to_owned(),
            career: settled.career,
            skill: skills.of(name),
            titles: settled.titles,
        })
        .collect();
    let notes = open.iter().zip(OPEN).filter_map(|(ids, (_, text))| Some(format!("{text}: {}", named(ids)?)));
    let competitors: Vec<Competitor> = agents.iter().map(competitor).collect();
    Ok((Careers { notes: notes.collect(), agents, matches: played }, ranked(&competitors, None).0))
}

fn competitor(agent: &Agent) -> Competitor {
    let career = &agent.career;
    let matches = Tally { won: career.win_count, drawn: career.draw_count, lost: career.loss_count };
    Competitor::new(agent.agent_id.clone(), career.rating_points as f64, matches)
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
        calibrated_difficulty: solo.calibrated_difficulty.as_deref(),
    };
    let attempt = Attempt {
        // An attempt of unknown number counts as a later one.
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
