//! Headlines of answers that only a server has, as `karat::headline` has those of the library: what was found, in a sentence for
//! people who read one. No page writes such a sentence itself.

use karat::answers::arena::Settled;
use karat::answers::skill::SkillRating;
use karat::headline::{Headline, name, names};
use karat::text::{Writing, count, whole_percent};
use karat_core::number::Score;

use crate::api::arena::{ShownAgent, ShownChallenge};
use crate::arena::{Match, RatedAgent, Scored, State as Played, VoidCause};
use crate::basics::*;
use crate::flows::{PlanState, TaskState, VerdictState};

/// The most names in a sentence.
const NAMES: usize = 3;

fn told(text: impl Into<String>, lead: impl IntoIterator<Item = String>) -> Headline {
    Headline { text: text.into(), lead: lead.into_iter().collect(), ..Headline::default() }
}

/// Says who leads, and who is tied with them.
pub(crate) fn arena(rows: &[RatedAgent], category: Option<&str>) -> Headline {
    let firsts: Vec<&str> = rows.iter().filter(|it| it.rank == 1).map(|it| it.agent_id.as_str()).collect();
    let can_lead = |it: &&RatedAgent| it.rank > 1 && it.rank_range.is_some_and(|[best, _]| best == 1);
    let close: Vec<&str> = rows.iter().filter(can_lead).map(|it| it.agent_id.as_str()).collect();
    let shown = names(&firsts, NAMES, "agents");
    let place = category.map_or_else(String::new, |category| format!(" in {category}"));
    let Some(first) = rows.first() else {
        return told(format!("No agent has played{place} yet"), []);
    };
    let text = match (firsts.len(), close.as_slice()) {
        (2.., []) => format!("{shown} share the lead{place}"),
        (_, []) if category.is_some() || rows.len() == 1 => format!("{shown} leads{place}"),
        (_, []) => format!("{shown} leads, clear of all others"),
        (2.., _) => format!("{shown} share the lead, and {} may be as good", names(&close, NAMES, "others")),
        (_, [_]) => format!("{shown} leads, but {} is too close to call", names(&close, NAMES, "others")),
        (_, _) => format!("{shown} leads, but {} are too close to call", names(&close, NAMES, "others")),
    };
    let lead = match category {
        Some(_) => {
            format!("The rating in a category is the Elo of its matches alone: {} at the top.", first.points)
        }
        None => format!(
            "The skill of {} is {} (95% interval). Agents whose intervals overlap are tied.",
            first.agent_id,
            with_deviation(&first.skill.full)
        ),
    };
    told(text, [lead])
}

/// Writes a skill with two deviations, and says if it is provisional.
fn with_deviation(rating: &SkillRating) -> String {
    let mark = if rating.provisional { ", provisional" } else { "" };
    format!("{:.0}\u{a0}±\u{a0}{:.0}{mark}", rating.points, 2.0 * rating.deviation_points)
}

/// Writes a number of matches.
pub(crate) fn matches_of(number: usize) -> String {
    if number == 1 { String::from("one match") } else { format!("{number} matches") }
}

/// Says how many won at a challenge.
pub(crate) fn challenge(it: &ShownChallenge) -> String {
    match it.scored_count {
        0 => format!("{}: no match has ended yet", it.title),
        _ => format!("{}: {} of {} won", it.title, it.win_count, matches_of(it.match_count)),
    }
}

/// Says where the agent stands, and how sure that is.
pub(crate) fn agent(it: &ShownAgent) -> Headline {
    let own = name(&it.agent.agent_id);
    let career = &it.career;
    let Some(place) = &it.place else {
        return told(format!("{own} has not played yet"), []);
    };
    let [best, worst] = place.rank_range;
    let text = format!(
        "{own} has rank {} of {}, with a skill of {:.0}",
        place.rank, place.ranked, it.skill.full.points
    );
    let (low, high) = (place.interval.low, place.interval.high);
    let may =
        if best == worst { String::new() } else { format!(", so it could have rank {best} to {worst}") };
    let played = matches_of(usize::try_from(career.match_count).unwrap_or(usize::MAX));
    let mut lead = vec![
        format!("The 95% interval of the skill is {low:.0} to {high:.0}{may}."),
        format!(
            "It won {} of {played}, lost {} and drew {}.",
            career.win_count, career.loss_count, career.draw_count
        ),
    ];
    if it.skill.full.provisional {
        lead.push(String::from("The skill is provisional: too few matches to compare by."));
    }
    told(text, lead)
}

/// Says how a match ended and why, and what that did to the rating.
pub(crate) fn game(game: &Match) -> Headline {
    let (agent, at) = (name(&game.agent_id), name(&game.challenge));
    let (text, lead) = match &game.state {
        Played::Entered => (format!("{agent} plays {at} now"), Vec::new()),
        Played::Submitted(_) => (
            format!("{agent} has answered {at}, without a verdict yet"),
            vec![String::from("The answer came in time, and waits for a judge to run it.")],
        ),
        Played::Void(voided) => {
            let cause = match voided.cause {
                VoidCause::Challenge => "A fault of the challenge was found when the answer was judged.",
                VoidCause::Operator => "An administrator ended it.",
            };
            (
                format!("{agent} got no verdict at {at}"),
                vec![format!("{cause} The match counts for nothing.")],
            )
        }
        Played::Scored(scored) => {
            (format!("{agent} {} at {at}: {}", verb(&scored.result), why(scored)), changed(&scored.settled))
        }
        Played::Expired(_) => (
            format!("{agent} did not answer {at} in time"),
            vec![String::from("That counts as a draw, and does not change the rating.")],
        ),
    };
    told(text, lead)
}

/// Says what decided a match.
fn why(scored: &Scored) -> String {
    let answer = &scored.answer;
    if let Some(error) = answer.submission_warnings.iter().find(|it| it.severity == "error") {
        return format!("the {} of its answer is not as asked", error.field.replace('_', " "));
    }
    if scored.result == "win" {
        return format!("{} of 1000", scored.score());
    }
    let is_wrong = answer.score_breakdown.get("correctness").is_some_and(|it| it.score <= 0.0);
    let lost = answer.score_breakdown.iter().map(|(key, it)| (key, (1000.0 - it.score) * it.weight));
    match lost.max_by(|one, other| one.1.total_cmp(&other.1)) {
        _ if is_wrong => String::from("the answer is wrong"),
        Some((key, lost)) if lost > 0.0 => format!("{key} took most of the points"),
        _ => format!("{} of 1000", scored.score()),
    }
}

fn changed(settled: &Settled) -> Vec<String> {
    let it = &settled.rating;
    let expected = it.expected.map_or_else(String::new, |expected| {
        format!(
            "Against an opponent of {} points, {} was expected. ",
            it.opponent_points,
            whole_percent(expected)
        )
    });
    let course = match it.change_points {
        0 => format!("The rating stays at {}.", it.after_points),
        change => {
            format!("The rating goes from {} to {}: {}.", it.before_points, it.after_points, signed(change))
        }
    };
    vec![format!("{expected}{course}")]
}

/// Says how a match ended, or until when it is open.
pub(crate) fn ended(game: &Match) -> String {
    match &game.state {
        Played::Entered => format!("open until {}", game.expires_at),
        Played::Submitted(_) => String::from("waits for its verdict"),
        Played::Void(_) => String::from("void"),
        Played::Scored(scored) => verb(&scored.result).to_owned(),
        Played::Expired(_) => String::from("expired: a draw"),
    }
}

/// Returns the result of a match as its agent has it.
fn verb(result: &str) -> &str {
    match result {
        "win" => "won",
        "loss" => "lost",
        "draw" => "drew",
        other => other,
    }
}

/// Writes a change of points with its sign; 0 has no sign.
pub(crate) fn signed(points: i64) -> String {
    if points == 0 { String::from("0") } else { format!("{points:+}") }
}

/// Says what the best plan for these tasks is worth.
pub(crate) fn flows(tasks: &[&TaskState], now: Timestamp) -> Headline {
    let public = tasks.iter().filter(|it| it.is_public(now));
    let scored =
        public.flat_map(|it| it.plans.values()).filter_map(|plan| Some((score(plan)?, &plan.plan.miner)));
    let mut scored: Vec<(Score, &String)> = scored.collect();
    scored.sort_by_key(|(score, miner)| (std::cmp::Reverse(*score), *miner));
    let rule = String::from(
        "A plan is worth the median of its recordings, by score; of two in the middle, the lower one.",
    );
    match (scored.as_slice(), tasks) {
        ([], []) => told("There is no task yet", []),
        ([], [only]) if !only.is_public(now) => {
            let until = format!("Plans are accepted until {}.", only.task.task.plans_until);
            told(format!("{} so far, all secret", count(only.plans.len(), "plan")), [until])
        }
        ([], _) => told("No plan has a score yet", [rule]),
        ([(best, miner), rest @ ..], _) => {
            let next = rest.iter().map(|(score, miner)| format!("{}’s {}", name(miner), share(*score)));
            let next: Vec<String> = next.take(NAMES - 1).collect();
            let next = (!next.is_empty()).then(|| format!("Behind it: {}.", next.join(", ")));
            told(format!("{}’s plan is worth {}", name(miner), share(*best)), [rule].into_iter().chain(next))
        }
    }
}

/// Returns the score of a plan, if it has one.
pub(crate) fn score(plan: &PlanState) -> Option<Score> {
    match plan.verdict.as_ref()?.state {
        VerdictState::Scored { score, .. } => Some(score),
        VerdictState::NoVerdict { .. } => None,
    }
}

/// Writes a score from 0 to 1.
pub(crate) fn share(score: Score) -> String {
    Writing::shares().number(score.to_f64())
}

#[cfg(test)]
mod tests {
    use karat::answers::skill::Skill;

    use super::*;
    use crate::api::arena::Place;
    use crate::arena::{Agent, Career, SkillInterval};

    fn row(rank: usize, range: Option<[usize; 2]>, name: &str) -> RatedAgent {
        let skill =
            SkillRating { points: 1388.4, deviation_points: 30.2, volatility: 0.06, provisional: false };
        RatedAgent {
            rank,
            rank_range: range,
            agent_id: name.to_owned(),
            points: 1388,
            title: None,
            career: Career::default(),
            skill: Skill { full: skill, discounted: skill, as_of: None },
            interval: SkillInterval { low: 1328.0, high: 1448.8 },
        }
    }

    #[test]
    fn who_leads_is_told_with_those_that_may() {
        let clear = [row(1, Some([1, 1]), "ant"), row(2, Some([2, 2]), "bee")];
        let close = [row(1, Some([1, 2]), "ant"), row(2, Some([1, 2]), "bee"), row(3, Some([3, 3]), "fly")];
        let shared = [row(1, Some([1, 2]), "ant"), row(1, Some([1, 2]), "bee")];
        let wide = [row(1, Some([1, 3]), "ant"), row(1, Some([1, 3]), "bee"), row(3, Some([1, 3]), "fly")];
        let of_category = [row(1, None, "ant"), row(2, None, "bee")];
        for (rows, category, text) in [
            (&clear[..], None, "ant leads, clear of all others"),
            (&close, None, "ant leads, but bee is too close to call"),
            (&shared, None, "ant and bee share the lead"),
            (&wide, None, "ant and bee share the lead, and fly may be as good"),
            (&clear[..1], None, "ant leads"),
            (&of_category, Some("coding"), "ant leads in coding"),
            (&[], None, "No agent has played yet"),
            (&[], Some("coding"), "No agent has played in coding yet"),
        ] {
            assert_eq!(arena(rows, category).text, text);
        }
        assert_eq!(
            arena(&clear, None).lead[0],
            "The skill of ant is 1388\u{a0}±\u{a0}60 (95% interval). Agents whose intervals overlap are tied."
        );
    }

    #[test]
    fn an_agent_has_a_rank_once_it_has_played() {
        let skill =
            SkillRating { points: 1012.3, deviation_points: 120.0, volatility: 0.06, provisional: true };
        let hare = Agent { agent_id: String::from("hare"), harness_id: None, registered_at: String::new() };
        let mut it = ShownAgent {
            agent: hare,
            career: Career { match_count: 3, win_count: 1, loss_count: 2, ..Career::default() },
            skill: Skill { full: skill, discounted: skill, as_of: None },
            place: None,
            titles: Vec::new(),
            open_match: None,
            next_commitment: None,
            challenges: Vec::new(),
            history: Vec::new(),
        };
        assert_eq!(agent(&it).text, "hare has not played yet");
        let interval = SkillInterval { low: 772.3, high: 1252.3 };
        it.place = Some(Place { rank: 5, rank_range: [3, 6], ranked: 6, interval });
        let told = agent(&it);
        assert_eq!(told.text, "hare has rank 5 of 6, with a skill of 1012");
        assert_eq!(
            told.lead,
            [
                "The 95% interval of the skill is 772 to 1252, so it could have rank 3 to 6.",
                "It won 1 of 3 matches, lost 2 and drew 0.",
                "The skill is provisional: too few matches to compare by.",
            ]
        );
    }

    #[test]
    fn a_match_is_told_by_its_result_and_why() {
        let match_in = |state: Value| -> Match {
            let mut game = json!({
                "match_id": "hare.maze.1", "agent_id": "hare", "challenge": "maze", "attempt_number": 1, "memoryless": false,
                "seed": 1, "started_at": "2026-06-08T12:00:00Z", "expires_at": "2026-06-08T12:00:20Z",
            });
            if let (Some(all), Value::Object(more)) = (game.as_object_mut(), state) {
                all.extend(more);
            }
            serde_json::from_value(game).unwrap()
        };
        let settled = |before: i64, change: i64| {
            json!({
                "rating": {"before_points": before, "after_points": before + change, "change_points": change,
                    "opponent_points": 1000, "expected": 0.95, "factor_points": 32.0, "play_points": change, "floor_points": 0,
                    "bonus_factor": 1.0, "bonus_points": 0, "category": null},
                "career": {"rating_points": before + change, "category_points": {}, "match_count": 1, "win_count": 0,
                    "draw_count": 0, "loss_count": 1, "current_streak": 0, "best_streak": 0},
                "titles": [],
            })
        };
        let scored = |result: &str, correctness: f64, change: i64, warnings: Value| {
            let mut state = json!({
                "state": "scored", "submitted_at": "2026-06-08T12:00:04Z", "submission": "", "evidence": "", "record": "",
                "score": 620.0, "result": result, "verified": false, "benchmark_grade": false, "submission_warnings": warnings,
                "score_breakdown": {
                    "correctness": {"score": correctness, "weight": 0.5, "weighted": 0.5 * correctness},
                    "speed": {"score": 100.0, "weight": 0.5, "weighted": 50.0},
                },
            });
            let Value::Object(more) = settled(1200, change) else { unreachable!() };
            state.as_object_mut().unwrap().extend(more);
            game(&match_in(state))
        };
        let none = || json!([]);
        assert_eq!(scored("win", 1000.0, 2, none()).text, "hare won at maze: 620 of 1000");
        assert_eq!(scored("loss", 0.0, -18, none()).text, "hare lost at maze: the answer is wrong");
        assert_eq!(
            scored("draw", 700.0, -8, none()).text,
            "hare drew at maze: speed took most of the points"
        );
        let error = json!([{"severity": "error", "field": "summary", "message": "missing"}]);
        assert_eq!(
            scored("loss", 0.0, -18, error).text,
            "hare lost at maze: the summary of its answer is not as asked"
        );
        assert_eq!(
            scored("loss", 0.0, -18, none()).lead,
            ["Against an opponent of 1000 points, 95% was expected. The rating goes from 1200 to 1182: -18."]
        );
        let mut expired = settled(1200, 0);
        expired["state"] = json!("expired");
        for (state, text) in [
            (json!({"state": "entered"}), "hare plays maze now"),
            (
                json!({"state": "submitted", "submitted_at": ""}),
                "hare has answered maze, without a verdict yet",
            ),
            (
                json!({"state": "void", "submitted_at": "", "voided_at": "", "cause": "operator"}),
                "hare got no verdict at maze",
            ),
            (expired, "hare did not answer maze in time"),
        ] {
            assert_eq!(game(&match_in(state)).text, text);
        }
    }
}
