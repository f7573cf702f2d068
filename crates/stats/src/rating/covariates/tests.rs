//! Tests of the fit beside covariates. `tests/it/style.rs` has the digits of another implementation.

use super::*;
use crate::random::Random;
use crate::rating::bradley_terry::Separation;
use crate::rating::outcome::Outcome;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use proptest::prelude::*;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("c{at}")).collect()
}

fn covariate(name: &str, contrast: Contrast, values: Vec<Option<[f64; 2]>>) -> Covariate {
    Covariate { name: name.to_string(), contrast, values }
}

fn found(first: u32, second: u32, outcome: Outcome) -> Match {
    Match { first, second, outcome }
}

/// Matches of five competitors at random, with a length of few values and a date.
fn league(seed: u64, count: usize) -> (Vec<Match>, [Covariate; 2]) {
    let mut random = Random::new(seed);
    let mut draw = |below: f64| libm::floor(below * random.open_unit());
    let (mut matches, mut lengths, mut dates) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let first = draw(5.0) as u32;
        let second = (first + 1 + draw(4.0) as u32) % 5;
        let length = [draw(4.0), draw(4.0)];
        let better = f64::from(second) - f64::from(first) + length[0] - length[1];
        let outcome = match draw(12.0) + better {
            low if low < 4.0 => Outcome::Loss,
            middle if middle < 7.0 => Outcome::Draw,
            _ => Outcome::Win,
        };
        matches.push(found(first, second, outcome));
        lengths.push(Some(length));
        dates.push(Some([draw(100.0) / 8.0 - 5.0, draw(100.0) / 8.0]));
    }
    let length = covariate("length", Contrast::Relative, lengths);
    (matches, [length, covariate("date", Contrast::Difference, dates)])
}

/// Returns the variables of each match as the rows were given, with the first competitor's strength taken for 0.
fn variables(matches: &[Match], covariates: &[Covariate], fitted: &Controlled) -> Vec<[f64; 6]> {
    let row = |(at, found): (usize, &Match)| {
        let mut row = [0.0; 6];
        for (place, sign) in [(found.first, 1.0), (found.second, -1.0)] {
            if place > 0 {
                row[place as usize - 1] += sign;
            }
        }
        for (of, covariate) in covariates.iter().enumerate() {
            let [x, y] = covariate.values[at].unwrap();
            let contrast = match covariate.contrast {
                Contrast::Relative if x + y == 0.0 => 0.0,
                Contrast::Relative => (x - y) / (x + y),
                Contrast::Difference => x - y,
            };
            row[4 + of] = contrast / fitted.coefficients[of].deviation;
        }
        row
    };
    matches.iter().enumerate().map(row).collect()
}

/// Solves linear equations by Gauss's elimination with rows swapped.
fn solved(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let size = matrix.len();
    for at in 0..size {
        let pivot = (at..size).max_by(|a, b| matrix[*a][at].abs().total_cmp(&matrix[*b][at].abs())).unwrap();
        matrix.swap(at, pivot);
        for other in (0..size).filter(|other| *other != at) {
            let factor = matrix[other][at] / matrix[at][at];
            let pivot = matrix[at].clone();
            matrix[other].iter_mut().zip(pivot).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    (0..size).map(|at| matrix[at][size] / matrix[at][at]).collect()
}

#[test]
fn a_fit_and_its_errors_are_those_of_a_logistic_regression_by_hand() {
    let (matches, covariates) = league(3, 400);
    let fitted = Controlled::new(&names(5), &matches, &covariates).unwrap();
    let rows = variables(&matches, &covariates, &fitted);
    let strengths = &fitted.with.fit.strengths;
    let mut parameters: Vec<f64> = strengths.iter().skip(1).map(|strength| strength - strengths[0]).collect();
    parameters.extend(fitted.coefficients.iter().map(|coefficient| coefficient.logits));
    let (mut surpluses, mut slopes, mut scattered) = ([0.0; 6], [[0.0; 6]; 6], [[0.0; 6]; 6]);
    for (found, row) in matches.iter().zip(&rows) {
        let odds: f64 = row.iter().zip(&parameters).map(|(value, parameter)| value * parameter).sum();
        let expected = 1.0 / (1.0 + libm::exp(-odds));
        let surplus = found.outcome.score() - expected;
        for one in 0..6 {
            surpluses[one] += surplus * row[one];
            for other in 0..6 {
                slopes[one][other] += expected * (1.0 - expected) * row[one] * row[other];
                scattered[one][other] += surplus * surplus * row[one] * row[other];
            }
        }
    }
    assert!(surpluses.iter().all(|surplus| surplus.abs() < 1e-10), "{surpluses:?}");
    // What a linear form of the parameters scatters.
    let variance = |form: [f64; 6]| -> f64 {
        let rows = slopes.iter().zip(form);
        let pull = solved(rows.map(|(row, value)| [row.as_slice(), &[value]].concat()).collect());
        let cells = (0..6).flat_map(|one| (0..6).map(move |other| (one, other)));
        cells.map(|(one, other)| pull[one] * scattered[one][other] * pull[other]).sum()
    };
    for (at, coefficient) in fitted.coefficients.iter().enumerate() {
        let mut form = [0.0; 6];
        form[4 + at] = 1.0;
        assert!((coefficient.standard_error - libm::sqrt(variance(form))).abs() < 1e-12);
        let interval = coefficient.interval(0.95).unwrap();
        let reach = 1.959_963_984_540_054 * coefficient.standard_error;
        assert!((interval.upper - coefficient.logits - reach).abs() < 1e-12);
        assert!((interval.lower + interval.upper - 2.0 * coefficient.logits).abs() < 1e-12);
        assert_eq!(coefficient.points(), LOGIT_POINTS * coefficient.logits);
    }
    let covariance = &fitted.with.covariance;
    let apart = covariance.difference_error(2, 4).unwrap();
    assert!((apart - libm::sqrt(variance([0.0, 1.0, 0.0, -1.0, 0.0, 0.0]))).abs() < 1e-12);
    // The strength of the first over the mean of all five.
    let own = covariance.standard_error(0).unwrap();
    assert!((own - libm::sqrt(variance([-0.2, -0.2, -0.2, -0.2, 0.0, 0.0]))).abs() < 1e-12);
    assert!(strengths.iter().sum::<f64>().abs() < 1e-12);
}

#[test]
fn the_advantage_of_the_first_has_a_closed_form() {
    let results = |first, second, [wins, draws, losses]: [usize; 3]| {
        let outcomes = [(Outcome::Win, wins), (Outcome::Draw, draws), (Outcome::Loss, losses)];
        outcomes
            .into_iter()
            .flat_map(move |(outcome, count)| core::iter::repeat_n(found(first, second, outcome), count))
    };
    // The first scores 7 of 10 at home, and 4 of 10 away.
    let matches: Vec<Match> = results(0, 1, [6, 2, 2]).chain(results(1, 0, [5, 2, 3])).collect();
    let home = covariate("home", Contrast::Difference, vec![Some([1.0, 0.0]); 20]);
    let fitted = Controlled::new(&names(2), &matches, &[home]).unwrap();
    let (at_home, away) = (libm::log(0.7 / 0.3), libm::log(0.4 / 0.6));
    let home = &fitted.coefficients[0];
    assert!((home.logits - 0.5 * (at_home - away)).abs() < 1e-12 && home.deviation == 1.0, "{home:?}");
    assert!((fitted.with.fit.strengths[0] - 0.25 * (at_home + away)).abs() < 1e-12);
    assert!((fitted.without.fit.expected(0, 1).unwrap() - 0.55).abs() < 1e-12);
    assert_eq!((fitted.matches, fitted.left_out, home.missing), (20, 0, 0));
}

#[test]
fn a_match_without_a_covariate_is_in_neither_fit() {
    let (mut matches, mut covariates) = league(5, 300);
    let whole = Controlled::new(&names(5), &matches, &covariates).unwrap();
    matches.extend([found(0, 1, Outcome::Loss), found(1, 2, Outcome::Win), found(4, 0, Outcome::Win)]);
    let [length, date] = &mut covariates;
    length.values.extend([None, Some([1.0, 2.0]), None]);
    date.values.extend([Some([1.0, 2.0]), None, None]);
    let part = Controlled::new(&names(5), &matches, &covariates).unwrap();
    assert_eq!((part.matches, part.left_out), (300, 3));
    assert_eq!((part.coefficients[0].missing, part.coefficients[1].missing), (2, 2));
    assert_eq!((&part.with, &part.without), (&whole.with, &whole.without));
    let model = BradleyTerry { ties: Ties::HalfWins, prior: None };
    let counts = Counts::new(&names(5), matches.get(..300).unwrap()).unwrap();
    assert_eq!(part.without.fit, model.fit(&counts).unwrap());
}

#[test]
fn ranks_are_told_apart_by_the_error_of_the_difference() {
    let (matches, covariates) = league(8, 200);
    let fitted = Controlled::new(&names(5), &matches, &covariates).unwrap().with;
    let places = fitted.places(0.95).unwrap();
    let strengths = &fitted.fit.strengths;
    assert!(places.is_sorted_by(|a, b| strengths[a.competitor] >= strengths[b.competitor]));
    let [first, second] = [places[0].competitor, places[1].competitor];
    let error = fitted.covariance.difference_error(first as u32, second as u32).unwrap();
    let apart = (strengths[first] - strengths[second]) / error;
    assert_eq!(places[1].group, if apart > 1.959_963_984_540_054 { 2 } else { 1 });
    // At this confidence they are a tie, at a hair less they are not.
    let level = 1.0 - libm::erfc(apart * core::f64::consts::FRAC_1_SQRT_2);
    let group = |level| fitted.places(level).unwrap()[1].group;
    assert_eq!((group(level + 1e-9), group(level - 1e-9)), (1, 2));
    for wrong in [0.0, 1.0, f64::NAN] {
        assert!(fitted.places(wrong).is_err() && fitted.intervals(wrong).is_err());
    }
}

fn error(matches: &[Match], covariates: &[Covariate]) -> String {
    Controlled::new(&names(5), matches, covariates).unwrap_err().to_string()
}

#[test]
fn covariates_that_have_no_effect_to_tell_are_refused() {
    let (matches, [length, date]) = league(7, 300);
    assert!(error(&matches, &[]).starts_with("there is no covariate"));
    let short = Covariate { values: vec![None; 299], ..length.clone() };
    let text = error(&matches, &[date.clone(), short]);
    assert_eq!(text, "the covariate `length` has 299 values, expected one for each of 300 matches");
    for wrong in [[-1.0, 1.0], [1.0, f64::NAN], [f64::INFINITY, 1.0], [f64::MAX; 2]] {
        let mut length = length.clone();
        length.values[4] = Some(wrong);
        let text = error(&matches, &[length]);
        assert!(text.starts_with("match 4: the covariate `length` is "), "{text}");
    }
    let alike = length.values.iter().map(|values| values.map(|[x, _]| [x, x])).collect();
    let text = error(&matches, &[covariate("alike", Contrast::Relative, alike)]);
    assert!(text.starts_with("the covariate `alike` is the same for both sides"), "{text}");
    let double = date.values.iter().map(|values| values.map(|pair| pair.map(|value| 3.0 * value + 1.0)));
    let double = covariate("double", Contrast::Difference, double.collect());
    let text = error(&matches, &[date, length, double]);
    assert!(text.starts_with("the covariate `double` follows from"), "{text}");
    // The price of a competitor is as good as its strength.
    let price =
        matches.iter().map(|found| Some([found.first, found.second].map(|at| f64::from(at * at) / 7.0)));
    let text = error(&matches, &[covariate("price", Contrast::Difference, price.collect())]);
    assert!(text.starts_with("the covariate `price` follows from"), "{text}");
}

#[test]
fn a_covariate_that_separates_is_refused() {
    let (matches, [length, date]) = league(7, 300);
    let mut random = Random::new(1);
    let told =
        |found: &Match| Some([found.outcome.score() - 0.5, 0.0].map(|value| value * random.open_unit()));
    let told = covariate("told", Contrast::Difference, matches.iter().map(told).collect());
    let text = error(&matches, &[length.clone(), told, date]);
    assert!(text.starts_with("the covariate `told` separates wins from losses"), "{text}");
    // In one match alone, which was won.
    let won = matches.iter().position(|found| found.outcome == Outcome::Win).unwrap();
    let once = (0..300).map(|at| Some([f64::from(u8::from(at == won)), 0.0])).collect();
    let text = error(&matches, &[length, covariate("once", Contrast::Difference, once)]);
    assert!(text.starts_with("the covariate `once` separates wins from losses"), "{text}");
}

#[test]
fn what_has_no_fit_without_covariates_has_none_with_them() {
    let (mut matches, [mut length, _]) = league(2, 200);
    matches.push(found(0, 5, Outcome::Win));
    length.values.push(Some([1.0, 2.0]));
    let text = error(&matches, &[length.clone()]);
    assert!(
        text.starts_with("match 200") || text.contains("expected two different places below 5"),
        "{text}"
    );
    // The last competitor has no match with a length.
    length.values[200] = None;
    let refused = Controlled::new(&names(6), &matches, &[length]).unwrap_err();
    let CovariatesError::Fit(FitError::Separated(Separation { without_match, .. })) = refused else {
        panic!("{refused}")
    };
    assert_eq!(without_match, ["c5"]);
}

#[test]
fn values_of_any_size_have_a_deviation() {
    let (matches, [length, date]) = league(9, 300);
    let plain = Controlled::new(&names(5), &matches, &[length.clone(), date.clone()]).unwrap();
    for scale in [libm::exp2(300.0), libm::exp2(-300.0)] {
        let scaled = [&length, &date].map(|covariate| Covariate {
            values: covariate
                .values
                .iter()
                .map(|it| it.map(|pair| pair.map(|value| scale * value)))
                .collect(),
            ..covariate.clone()
        });
        let found = Controlled::new(&names(5), &matches, &scaled).unwrap();
        assert_eq!(found.with, plain.with, "a relative contrast has no unit, a deviation takes it away");
        assert_eq!(found.coefficients[0], plain.coefficients[0]);
        assert_eq!(found.coefficients[1].deviation, scale * plain.coefficients[1].deviation);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_order_and_the_sides_of_matches_change_no_bit(
        seed in 0u64..1000, turn in 0usize..300, swapped in 1usize..7,
    ) {
        let (mut matches, mut covariates) = league(seed, 300);
        let plain = Controlled::new(&names(5), &matches, &covariates).unwrap();
        for (at, found) in matches.iter_mut().enumerate().filter(|(at, _)| at % swapped == 0) {
            *found = Match { first: found.second, second: found.first, outcome: found.outcome.opposite() };
            for covariate in &mut covariates {
                let pair = covariate.values[at].unwrap();
                covariate.values[at] = Some([pair[1], pair[0]]);
            }
        }
        matches.rotate_left(turn);
        covariates.iter_mut().for_each(|covariate| covariate.values.rotate_left(turn));
        prop_assert_eq!(plain, Controlled::new(&names(5), &matches, &covariates).unwrap());
    }
}
