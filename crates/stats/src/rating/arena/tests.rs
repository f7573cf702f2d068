//! Tests of settling a match.

use super::*;
use alloc::string::ToString;

const FIRST: Attempt = Attempt { attempt_number: 1, memoryless: true, verified: true, outcome: Outcome::Win };

fn challenge(difficulty: &str) -> Challenge<'_> {
    Challenge { category: "coding", difficulty, calibrated_difficulty: None }
}

fn settle(career: &Career, difficulty: &str, attempt: &Attempt) -> Settlement {
    Arena::default().settle(career, &challenge(difficulty), attempt).unwrap()
}

#[test]
fn benchmark_grade_asks_for_all_three() {
    let newcomer = Arena::default().newcomer();
    let change = |attempt| settle(&newcomer, "contender", &attempt).elo_change;
    assert_eq!(change(FIRST), 19);
    assert_eq!(change(Attempt { memoryless: false, ..FIRST }), 18);
    assert_eq!(change(Attempt { attempt_number: 2, ..FIRST }), 18);
    assert_eq!(change(Attempt { verified: false, ..FIRST }), 16);
}

#[test]
fn calibration_goes_before_the_author_and_an_unlisted_difficulty_is_told() {
    let mut arena = Arena::default();
    let newcomer = arena.newcomer();
    let calibrated = Challenge { calibrated_difficulty: Some("legendary"), ..challenge("newcomer") };
    let settled = arena.settle(&newcomer, &calibrated, &FIRST).unwrap();
    assert_eq!(settled.opponent_elo, 1400);
    let settled = arena.settle(&newcomer, &challenge("mythic"), &FIRST).unwrap();
    assert_eq!(settled.opponent_elo, 1000);
    arena.unlisted_difficulty = None;
    let wrong = Attempt { attempt_number: 0, ..FIRST };
    let career = Career { elo: i64::MIN, ..newcomer };
    let errors = arena.settle(&career, &challenge("mythic"), &wrong).unwrap_err();
    let told: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "rating `elo` is `-9223372036854775808`, expected -1000000 to 1000000 points",
            "`attempt_number` is `0`, expected 1 for the first attempt",
            "`mythic` is not a difficulty, expected `newcomer`, `contender`, `veteran`, `legendary`",
        ]
    );
}

#[test]
fn settings_without_sense_are_told_or_do_no_harm() {
    let newcomer = Arena::default().newcomer();
    let wrong = Arena { elo: Elo { factor_new: f64::INFINITY, ..Elo::ARENA }, ..Arena::default() };
    let errors = wrong.settle(&newcomer, &challenge("contender"), &FIRST).unwrap_err();
    assert_eq!(errors[0].to_string(), "`factor_new` is `inf`, expected a number from 0 to 1000000");
    let generous = Arena { benchmark_grade_factor: Decimal::from_millionths(i64::MAX), ..Arena::default() };
    let settled = generous.settle(&newcomer, &challenge("contender"), &FIRST).unwrap();
    assert_eq!(settled.bonus_points, 1_000_000);
}
