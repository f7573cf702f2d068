//! Tests of settling a match.

use super::*;
use alloc::string::ToString;
use proptest::prelude::*;

const FIRST: Attempt = Attempt { attempt_number: 1, memoryless: true, verified: true, outcome: Outcome::Win };

fn challenge(difficulty: &str) -> Challenge<'_> {
    Challenge { category: "coding", difficulty, calibrated_difficulty: None }
}

fn settle(career: &Career, difficulty: &str, attempt: &Attempt) -> Settlement {
    Arena::default().settle(career, &challenge(difficulty), attempt).unwrap()
}

#[test]
fn trust_multiplies_gains_by_the_published_table() {
    let arena = Arena::default();
    let gains = [1, 2, 3, 4, 5, 8, 15, 16, 20, 24, 25, 29];
    let bonus = |grade| gains.map(|gain| gain + arena.bonus(gain, grade, Outcome::Win));
    assert_eq!(bonus(Grade::Unverified), gains);
    assert_eq!(bonus(Grade::Verified), [1, 2, 3, 4, 6, 9, 17, 18, 22, 26, 28, 32]);
    assert_eq!(bonus(Grade::BenchmarkGrade), [1, 2, 4, 5, 6, 10, 18, 19, 24, 29, 30, 35]);
    for gain in [-16, 0] {
        assert_eq!(arena.bonus(gain, Grade::BenchmarkGrade, Outcome::Loss), 0);
    }
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
fn a_draw_may_gain_like_a_win_or_not() {
    let drawn = Attempt { outcome: Outcome::Draw, ..FIRST };
    let mut arena = Arena::default();
    let newcomer = arena.newcomer();
    let given = arena.settle(&newcomer, &challenge("legendary"), &drawn).unwrap();
    assert_eq!((given.play_points, given.bonus_points), (13, 3));
    arena.draws = DrawBonus::Withheld;
    let withheld = arena.settle(&newcomer, &challenge("legendary"), &drawn).unwrap();
    assert_eq!((withheld.play_points, withheld.bonus_points), (13, 0));
}

#[test]
fn calibration_goes_before_the_author_and_an_unlisted_difficulty_is_told() {
    let mut arena = Arena::default();
    let newcomer = arena.newcomer();
    let calibrated = Challenge { calibrated_difficulty: Some("legendary"), ..challenge("newcomer") };
    let settled = arena.settle(&newcomer, &calibrated, &FIRST).unwrap();
    assert_eq!((settled.opponent_elo, settled.opponent_source), (1400, OpponentSource::Calibrated));
    let settled = arena.settle(&newcomer, &challenge("mythic"), &FIRST).unwrap();
    assert_eq!((settled.opponent_elo, settled.opponent_source), (1000, OpponentSource::Unlisted));
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

#[test]
fn a_factor_below_one_takes_nobody_below_the_floor() {
    let arena = Arena { verified_factor: Decimal::from_millionths(500_000), ..Arena::default() };
    let attempt = Attempt { attempt_number: 2, memoryless: false, verified: true, outcome: Outcome::Win };
    let from = |elo| {
        let career = Career { elo, ..arena.newcomer() };
        let settled = arena.settle(&career, &challenge("contender"), &attempt).unwrap();
        (settled.floor_points, settled.bonus_points, settled.career.elo)
    };
    assert_eq!(from(1000), (0, -8, 1008));
    // Lifted to the floor from below: half of that gain would leave 75.
    assert_eq!(from(50), (18, 0, 100));
}

#[test]
fn the_factor_is_that_of_all_matches_and_categories_get_no_bonus() {
    let veteran = Career { match_count: 30, ..Arena::default().newcomer() };
    let settled = settle(&veteran, "contender", &FIRST);
    assert_eq!((settled.elo_change, settled.career.category_elo["coding"]), (10, 1008));
}

#[test]
fn streaks_count_wins_up_and_losses_down() {
    let mut career = Arena::default().newcomer();
    let mut streaks = Vec::new();
    for outcome in [Outcome::Win, Outcome::Win, Outcome::Loss, Outcome::Loss, Outcome::Draw, Outcome::Loss] {
        career = settle(&career, "contender", &Attempt { outcome, ..FIRST }).career;
        streaks.push((career.current_streak, career.best_streak));
    }
    assert_eq!(streaks, [(1, 1), (2, 2), (-1, 2), (-2, 2), (0, 2), (-1, 2)]);
    let counts = (career.match_count, career.win_count, career.draw_count, career.loss_count);
    assert_eq!(counts, (6, 2, 1, 3));
}

proptest! {
    #[test]
    fn the_steps_add_up(
        elo in -1_000_000..=1_000_000i64, matches in any::<u64>(), streak in any::<i64>(), number in 1..4u64,
        memoryless in any::<bool>(), verified in any::<bool>(), outcome in 0..3usize,
    ) {
        let outcome = [Outcome::Win, Outcome::Draw, Outcome::Loss][outcome];
        let career = Career {
            elo, match_count: matches, win_count: matches, draw_count: matches, loss_count: matches,
            current_streak: streak, ..Arena::default().newcomer()
        };
        let attempt = Attempt { attempt_number: number, memoryless, verified, outcome };
        let settled = settle(&career, "veteran", &attempt);
        prop_assert_eq!(settled.elo_change, settled.play_points + settled.floor_points + settled.bonus_points);
        prop_assert_eq!(settled.career.elo, elo + settled.elo_change);
        prop_assert!(settled.career.elo >= 100 && settled.floor_points >= 0 && settled.bonus_points >= 0);
        prop_assert!(settled.play_points.abs() <= 32);
    }
}
