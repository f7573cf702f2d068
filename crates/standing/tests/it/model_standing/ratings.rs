//! Answers of `karat_stats::rating` in the words of the model's cases.

use karat_core::number::Decimal;
use karat_stats::rating::arena::{Arena, Attempt, Career, Challenge, DrawBonus, Settlement};
use karat_stats::rating::bradley_terry::{BradleyTerry, Counts, Gaussian, Ties};
use karat_stats::rating::{Elo, EloRating, Match, Outcome, Rounding, WengLin, WengLinRating, rate};
use serde_json::{Value, json};

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn small(value: &Value) -> u32 {
    u32::try_from(count(value)).unwrap()
}

fn outcome(value: &Value) -> Outcome {
    value.as_str().unwrap().parse().unwrap()
}

pub fn elo(given: &Value) -> Value {
    let rules = &given["elo"];
    let points = |name: &str| rules[name].as_f64().unwrap();
    let elo = Elo {
        initial_points: points("initial_points"),
        floor_points: rules["floor_points"].as_f64(),
        factor_new: points("factor_new"),
        factor_established: points("factor_established"),
        established_from_matches: small(&rules["established_from_matches"]),
        scale_points: points("scale_points"),
        rounding: if rules["half_up"].as_bool().unwrap() { Rounding::HalfUp } else { Rounding::None },
    };
    let rating = |it: &Value| EloRating { points: it[0].as_f64().unwrap(), matches: small(&it[1]) };
    let mut ratings: Vec<EloRating> = given["ratings"].as_array().unwrap().iter().map(rating).collect();
    rate(&elo, &mut ratings, &played(given)).unwrap();
    json!(ratings.iter().map(|it| json!([it.points, it.matches])).collect::<Vec<_>>())
}

fn played(given: &Value) -> Vec<Match> {
    let played = |it: &Value| Match { first: small(&it[0]), second: small(&it[1]), outcome: outcome(&it[2]) };
    given["matches"].as_array().unwrap().iter().map(played).collect()
}

pub fn ranked_season(given: &Value) -> Value {
    let setting = |name: &str| given["settings"][name].as_f64().unwrap();
    let system =
        WengLin { beta: setting("beta"), kappa: setting("kappa"), tau: setting("tau"), ..WengLin::default() };
    let rating =
        |it: &Value| WengLinRating { mean: it[0].as_f64().unwrap(), deviation: it[1].as_f64().unwrap() };
    let mut ratings: Vec<WengLinRating> = given["ratings"].as_array().unwrap().iter().map(rating).collect();
    rate(&system, &mut ratings, &played(given)).unwrap();
    json!(ratings.iter().map(|it| json!([it.mean, it.deviation])).collect::<Vec<_>>())
}

pub fn bradley_terry(given: &Value) -> Value {
    let names: Vec<String> = (0..count(&given["competitors"])).map(|at| at.to_string()).collect();
    let ties = if given["has_tie"].as_bool().unwrap() { Ties::Davidson } else { Ties::HalfWins };
    let prior = Some(Gaussian { deviation: given["deviation"].as_f64().unwrap() });
    let counts = Counts::new(&names, &played(given)).unwrap();
    let fit = BradleyTerry { ties, prior }.fit(&counts).unwrap();
    json!([fit.strengths, fit.tie])
}

pub fn arena(given: &Value) -> Value {
    let draws = if given["only_wins"].as_bool().unwrap() { DrawBonus::Withheld } else { DrawBonus::Given };
    let factor = |place: usize| Decimal::from_millionths(given["factors"][place].as_i64().unwrap());
    let arena =
        Arena { draws, verified_factor: factor(0), benchmark_grade_factor: factor(1), ..Arena::default() };
    let from = &given["career"];
    let categories = from["category_elo"].as_object().unwrap().iter();
    let mut career = Career {
        elo: from["elo"].as_i64().unwrap(),
        match_count: count(&from["match_count"]),
        win_count: count(&from["win_count"]),
        draw_count: count(&from["draw_count"]),
        loss_count: count(&from["loss_count"]),
        current_streak: from["current_streak"].as_i64().unwrap(),
        best_streak: from["best_streak"].as_i64().unwrap(),
        category_elo: categories.map(|(name, elo)| (name.clone(), elo.as_i64().unwrap())).collect(),
        challenges_authored: count(&from["challenges_authored"]),
    };
    let mut steps = Vec::new();
    for played in given["matches"].as_array().unwrap() {
        let challenge = &played["challenge"];
        let challenge = Challenge {
            category: challenge["category"].as_str().unwrap(),
            difficulty: challenge["difficulty"].as_str().unwrap(),
            calibrated_difficulty: challenge["calibrated_difficulty"].as_str(),
        };
        let attempt = Attempt {
            attempt_number: count(&played["attempt_number"]),
            memoryless: played["memoryless"].as_bool().unwrap(),
            verified: played["verified"].as_bool().unwrap(),
            outcome: outcome(&played["outcome"]),
        };
        let settled = arena.settle(&career, &challenge, &attempt).unwrap();
        steps.push(step(&settled));
        career = settled.career;
    }
    json!(steps)
}

fn step(settled: &Settlement) -> Value {
    let Career {
        elo,
        match_count,
        win_count,
        draw_count,
        loss_count,
        current_streak,
        best_streak,
        category_elo,
        challenges_authored,
    } = &settled.career;
    json!({
        "career": {
            "elo": elo,
            "match_count": match_count,
            "win_count": win_count,
            "draw_count": draw_count,
            "loss_count": loss_count,
            "current_streak": current_streak,
            "best_streak": best_streak,
            "category_elo": category_elo,
            "challenges_authored": challenges_authored,
        },
        "opponent_elo": settled.opponent_elo,
        "expected": settled.expected,
        "play_points": settled.play_points,
        "floor_points": settled.floor_points,
        "bonus_points": settled.bonus_points,
        "elo_change": settled.elo_change,
        "titles": settled.titles.iter().map(|title| title.name).collect::<Vec<_>>(),
    })
}
