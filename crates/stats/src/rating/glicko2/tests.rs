//! Tests of Glicko-2 against its document and its promises.

use super::*;
use crate::rating::season::{Event, Season};
use alloc::string::ToString;
use proptest::prelude::*;

fn rating(points: f64, deviation: f64) -> Glicko2Rating {
    Glicko2Rating { points, deviation, volatility: 0.06 }
}

#[test]
fn the_example_of_the_document_comes_out() {
    let matches = [
        (rating(1400.0, 30.0), Outcome::Win),
        (rating(1550.0, 100.0), Outcome::Loss),
        (rating(1700.0, 300.0), Outcome::Loss),
    ];
    let after = Glicko2::default().period(&rating(1500.0, 200.0), &matches);
    assert!((after.points - 1464.06).abs() < 0.01, "{after:?}");
    assert!((after.deviation - 151.52).abs() < 0.01, "{after:?}");
    assert!((after.volatility - 0.05999).abs() < 0.00001, "{after:?}");
}

#[test]
fn a_match_is_a_period_of_one() {
    let (system, first, second) = (Glicko2::default(), rating(1600.0, 80.0), rating(1450.0, 200.0));
    let meeting = system.update(&first, &second, Outcome::Draw);
    assert_eq!(meeting.0, system.period(&first, &[(second, Outcome::Draw)]));
    assert_eq!(meeting.1, system.period(&second, &[(first, Outcome::Draw)]));
}

#[test]
fn rest_makes_unsure() {
    let (system, before) = (Glicko2::default(), rating(1600.0, 80.0));
    let once = system.rested(&before, 1.0);
    assert_eq!(system.period(&before, &[]), once);
    let expected = POINTS_PER_UNIT * libm::sqrt((80.0 / POINTS_PER_UNIT) * (80.0 / POINTS_PER_UNIT) + 0.0036);
    assert!((once.deviation - expected).abs() < 1e-9);
    let (twice, both) = (system.rested(&once, 1.0), system.rested(&before, 2.0));
    assert!((twice.deviation - both.deviation).abs() < 1e-9);
    assert_eq!(system.rested(&before, u64::MAX as f64).deviation, DEVIATION_LIMIT);
}

fn season(games: &[(&str, i64, &str, &str, Outcome)]) -> Season {
    let event = |&(id, at_milliseconds, first, second, outcome)| Event {
        id,
        at_milliseconds,
        first,
        second,
        outcome,
    };
    Season::new(&games.iter().map(event).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_period_sees_only_the_ratings_at_its_beginning() {
    let system = Glicko2::default();
    let games = season(&[
        ("1", 0, "a", "b", Outcome::Win),
        ("2", 5, "a", "c", Outcome::Loss),
        ("3", 25, "b", "c", Outcome::Draw),
    ]);
    let mut seats = [system.seat(); 3];
    system.rate_periods(&mut seats, &games, 10).unwrap();
    let new = system.initial();
    let a = system.period(&new, &[(new, Outcome::Win), (new, Outcome::Loss)]);
    assert_eq!(seats[0], Seat { rating: a, period: Some(0) });
    let (b, c) = (system.period(&new, &[(new, Outcome::Loss)]), system.period(&new, &[(new, Outcome::Win)]));
    let rested = [b, c].map(|rating| system.rested(&rating, 1.0));
    let after = system.period(&rested[0], &[(rested[1], Outcome::Draw)]);
    assert_eq!(seats[1], Seat { rating: after, period: Some(2) });
}

#[test]
fn seasons_of_whole_periods_add_up() {
    let system = Glicko2::default();
    let early = [("1", 0, "a", "b", Outcome::Win), ("2", 9, "b", "a", Outcome::Draw)];
    let late = [("3", 31, "a", "b", Outcome::Loss), ("4", 58, "b", "a", Outcome::Win)];
    let mut seats = [system.seat(); 2];
    system.rate_periods(&mut seats, &season(&early), 10).unwrap();
    system.rate_periods(&mut seats, &season(&late), 10).unwrap();
    let mut whole = [system.seat(); 2];
    system.rate_periods(&mut whole, &season(&[early, late].concat()), 10).unwrap();
    assert_eq!(seats, whole);
}

#[test]
fn periods_that_cannot_be_rated_are_refused() {
    let system = Glicko2::default();
    let games = season(&[("1", i64::MIN, "a", "b", Outcome::Win), ("2", i64::MAX, "b", "a", Outcome::Draw)]);
    let mut seats = [system.seat(); 2];
    assert_eq!(system.rate_periods(&mut seats, &games, 0), Err(PeriodError::Length { found: 0 }));
    assert!(matches!(system.rate_periods(&mut seats[..1], &games, 1), Err(PeriodError::Match(_))));
    assert_eq!(seats, [system.seat(); 2]);
    system.rate_periods(&mut seats, &games, 1).unwrap();
    let rated = seats;
    let error = system.rate_periods(&mut seats, &games, 1).unwrap_err().to_string();
    assert!(error.contains("has been rated"), "{error}");
    assert_eq!(seats, rated);
}

#[test]
fn settings_outside_their_range_are_named() {
    let wrong = Glicko2 { tau: 0.0, initial_volatility: f64::NAN, ..Glicko2::default() };
    let names: Vec<_> = wrong.settings_outside().iter().map(|problem| problem.name).collect();
    assert_eq!(names, ["tau", "initial_volatility"]);
    assert!(Glicko2::default().settings_outside().is_empty());
}

#[test]
fn the_corners_of_the_ranges_stay_in_range() {
    let system = Glicko2::default();
    let mut corners = Vec::new();
    for points in [-1e6, 1500.0, 1e6] {
        for deviation in [DEVIATION_LEAST, 50.0, DEVIATION_LIMIT] {
            for volatility in [f64::MIN_POSITIVE, 0.06, VOLATILITY_LIMIT] {
                corners.push(Glicko2Rating { points, deviation, volatility });
            }
        }
    }
    for first in &corners {
        for second in &corners {
            for tau in [1e-6, 0.5, 10.0] {
                let meeting = Glicko2 { tau, ..system }.update(first, second, Outcome::Win);
                assert!(system.rating_outside(&meeting.0).is_empty(), "{first:?} {second:?} {meeting:?}");
                assert!(system.rating_outside(&meeting.1).is_empty(), "{first:?} {second:?} {meeting:?}");
            }
        }
    }
}

prop_compose! {
    fn any_rating()(
        points in -1e6..1e6f64, deviation in 1e-9..1e4f64, volatility in 1e-300..10.0f64,
    ) -> Glicko2Rating {
        Glicko2Rating { points, deviation, volatility }
    }
}

proptest! {
    #[test]
    fn what_comes_out_can_go_in(first in any_rating(), second in any_rating(), outcome in 0..3usize) {
        let system = Glicko2::default();
        let outcome = [Outcome::Win, Outcome::Draw, Outcome::Loss][outcome];
        let meeting = system.update(&first, &second, outcome);
        prop_assert!((0.0..=1.0).contains(&system.expected(&first, &second)));
        prop_assert!(system.rating_outside(&meeting.0).is_empty(), "{meeting:?}");
        prop_assert!(system.rating_outside(&meeting.1).is_empty(), "{meeting:?}");
    }

    #[test]
    fn winning_never_lowers(
        points in 0.0..3000.0f64, other in 0.0..3000.0f64, deviation in 20.0..400.0f64,
    ) {
        let system = Glicko2::default();
        let meeting = system.update(&rating(points, deviation), &rating(other, 100.0), Outcome::Win);
        prop_assert!(meeting.0.points >= points && meeting.1.points <= other);
        let (one, two) = (system.expected(&rating(points, 50.0), &rating(other, deviation)),
            system.expected(&rating(other, deviation), &rating(points, 50.0)));
        prop_assert!((one + two - 1.0).abs() < 1e-12);
    }
}

fn whole(matches: &[(Glicko2Rating, Outcome)], weight: f64) -> Vec<WeightedMatch> {
    matches.iter().map(|&(opponent, outcome)| WeightedMatch { opponent, outcome, weight }).collect()
}

proptest! {
    #[test]
    fn weights_of_one_are_no_weights_and_parts_of_a_match_add_up(
        points in 500.0..2500.0f64, deviation in 20.0..400.0f64,
        opponents in prop::collection::vec((500.0..2500.0f64, 20.0..400.0f64, 0..3usize), 0..6),
        parts in 1..8usize,
    ) {
        let (system, before) = (Glicko2::default(), rating(points, deviation));
        let outcomes = [Outcome::Win, Outcome::Draw, Outcome::Loss];
        let matches: Vec<_> = opponents.iter().map(|&(points, deviation, outcome)| (rating(points, deviation), outcomes[outcome])).collect();
        prop_assert_eq!(system.weighted(&before, &whole(&matches, 1.0), 1.0), system.period(&before, &matches));
        let split: Vec<_> = (0..parts).flat_map(|_| whole(&matches, 1.0 / parts as f64)).collect();
        let (split, at_once) = (system.weighted(&before, &split, 1.0), system.period(&before, &matches));
        prop_assert!((split.points - at_once.points).abs() < 1e-6, "{split:?} {at_once:?}");
        prop_assert!((split.deviation - at_once.deviation).abs() < 1e-6, "{split:?} {at_once:?}");
        prop_assert!((split.volatility - at_once.volatility).abs() < 1e-8, "{split:?} {at_once:?}");
    }

    #[test]
    fn a_smaller_weight_moves_less_and_none_moves_nothing(
        points in 500.0..2500.0f64, deviation in 20.0..400.0f64, other in 500.0..2500.0f64,
        weight in 0.01..1.0f64, periods in 0.0..50.0f64, outcome in 0..3usize,
    ) {
        let (system, before) = (Glicko2::default(), rating(points, deviation));
        let meeting = [(rating(other, 58.0), [Outcome::Win, Outcome::Draw, Outcome::Loss][outcome])];
        let after = |weight| system.weighted(&before, &whole(&meeting, weight), periods);
        let moved = |weight| (after(weight).points - points).abs();
        prop_assert!(moved(weight) <= moved(1.0));
        // Over many periods a surprise makes unsure, by the volatility that it raises.
        let at_once = |weight| system.weighted(&before, &whole(&meeting, weight), 0.0).deviation;
        prop_assert!(at_once(1.0) <= at_once(weight) && at_once(weight) <= deviation);
        let rested = system.rested(&before, periods);
        for none in [0.0, -1.0, f64::NAN] {
            prop_assert_eq!(after(none), rested);
        }
    }
}
