//! Cases about ratings.

use karat_stats::rating::arena::{Arena, Attempt, Career, Challenge};
use karat_stats::rating::title::{self, Deeds, Title};
use karat_stats::rating::{Elo, EloRating, Outcome};
use serde_json::{Value, json};

use crate::given::Given;
use crate::judge::{all, number};

/// Returns the answer of the function called `name`; `None` if it is not in this file.
pub fn answer(name: &str, given: &Given<'_>) -> Option<Result<Value, String>> {
    Some(match name {
        "elo_update" => elo_update(given),
        "settle_match" | "settle_match.draw_bonus" => settle_match(given),
        "title" => titles(given),
        _ => return None,
    })
}

/// `elo_update`: a rating of the arena after a match against an opponent whose rating stays.
fn elo_update(given: &Given<'_>) -> Result<Value, String> {
    let outcome = given.member("outcome")?;
    let outcome: Outcome =
        outcome.text()?.parse().map_err(|_| outcome.expected("`win`, `draw` or `loss`"))?;
    let matches = u32::try_from(given.member("match_count")?.count::<u64>()?).unwrap_or(u32::MAX);
    let before = EloRating { points: given.member("rating")?.number()?, matches };
    let after = Elo::ARENA.against(&before, given.member("opponent")?.number()?, outcome);
    Ok(json!({ "new_rating": number(after.points), "change": number(after.points - before.points) }))
}

/// `settle_match`: a career after a match of the arena.
fn settle_match(given: &Given<'_>) -> Result<Value, String> {
    let arena = Arena::default();
    let agent = given.member("agent")?;
    let ratings = agent.member("category_elo")?.members()?;
    let ratings = ratings.into_iter().map(|(name, rating)| Ok((name.to_owned(), rating.whole()?)));
    let career = Career {
        elo: agent.member("elo")?.whole()?,
        match_count: agent.member("match_count")?.count()?,
        win_count: agent.member("win_count")?.count()?,
        draw_count: agent.member("draw_count")?.count()?,
        loss_count: agent.member("loss_count")?.count()?,
        current_streak: agent.member("current_streak")?.whole()?,
        best_streak: agent.member("best_streak")?.whole()?,
        category_elo: ratings.collect::<Result<_, String>>()?,
        challenges_authored: 0,
    };
    let challenge = given.member("challenge")?;
    let calibrated = challenge.member("calibrated_difficulty")?.optional_text()?;
    let challenge = Challenge {
        category: challenge.member("category")?.text()?,
        difficulty: challenge.member("difficulty")?.text()?,
        calibrated_difficulty: calibrated.as_deref(),
    };
    let played = given.member("match")?;
    let attempt = Attempt {
        attempt_number: played.member("attempt_number")?.count()?,
        memoryless: played.member("memoryless")?.flag()?,
        verified: played.member("verified")?.flag()?,
        outcome: arena.outcome(given.member("score")?.number()?),
    };
    let settled = arena.settle(&career, &challenge, &attempt).map_err(all)?;
    let after = &settled.career;
    Ok(json!({
        "result": attempt.outcome.name(),
        "opponent_elo": settled.opponent_elo,
        "elo_before": settled.elo_before,
        "elo_change": settled.elo_change,
        "elo_after": after.elo,
        "category_elo": after.category_elo,
        "match_count": after.match_count,
        "win_count": after.win_count,
        "draw_count": after.draw_count,
        "loss_count": after.loss_count,
        "current_streak": after.current_streak,
        "best_streak": after.best_streak,
        "title": settled.titles.first().map(|title| title.name),
        "titles": settled.titles.iter().map(|title| title.name).collect::<Vec<_>>(),
    }))
}

/// `title`: the titles of the arena that a career holds.
fn titles(given: &Given<'_>) -> Result<Value, String> {
    let deeds = Deeds {
        elo: given.member("elo")?.whole()?,
        match_count: given.member("match_count")?.count()?,
        win_count: given.member("win_count")?.count()?,
        challenges_authored: given.member("challenges_authored")?.count()?,
    };
    let held: Vec<&Title> = title::held(&title::ARENA, &deeds);
    let names: Vec<&str> = held.iter().map(|title| title.name).collect();
    Ok(json!({ "title": names.first(), "titles": names }))
}
