use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

/// Returns the logarithm of the evidence after each score, ties ordered by `tie`.
fn evidence(scores: &[i64], baseline: usize, direction: Direction) -> Vec<f64> {
    let mut evidence = RankEvidence::new(baseline, direction);
    scores.iter().map(|score| evidence.push(*score, 0)).collect()
}

const STEP_DOWN: [i64; 11] = [50, 47, 52, 49, 51, 48, 53, 40, 39, 41, 38];

#[test]
fn the_evidence_is_the_integral_of_its_definition() {
    // By scipy 1.17.1: `quad` over d of the half-normal density times the product over nights, from `norm.pdf` and `ndtri`.
    let last = |scores: &[i64], baseline, direction| *evidence(scores, baseline, direction).last().unwrap();
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-10, "{found} {expected}");
    near(last(&STEP_DOWN, 1, Direction::Decline), 0.681_054_799_934_815_1);
    near(last(&STEP_DOWN, 4, Direction::Decline), 0.804_458_624_307_521_7);
    near(last(&STEP_DOWN, 1, Direction::Improvement), -0.251_720_403_173_068_93);
    near(last(&STEP_DOWN[..7], 1, Direction::Decline), -0.125_412_106_809_105_3);
    let score = [6.0, 0.0, 5.0].map(|others| normal_score(others, 7.0));
    near(score[0], -1.579_515_578_470_375_2);
    near(score[0], -score[1]);
    let both = libm::log((libm::exp(0.681_054_799_934_815_1) + libm::exp(-0.251_720_403_173_068_93)) / 2.0);
    near(last(&STEP_DOWN, 1, Direction::Either), both);
}

/// Calls `see` with every order of `values`.
fn orders(values: &mut Vec<i64>, from: usize, see: &mut impl FnMut(&[i64])) {
    if from == values.len() {
        return see(values);
    }
    for at in from..values.len() {
        values.swap(from, at);
        orders(values, from + 1, see);
        values.swap(from, at);
    }
}

#[test]
fn over_all_orders_of_the_same_nights_the_evidence_is_one_at_most_whenever_someone_stops() {
    for values in [alloc::vec![1, 2, 3, 4, 5, 6, 7], alloc::vec![1, 1, 1, 2, 2, 3, 3]] {
        for direction in Direction::ALL {
            let (mut at_end, mut stopped, mut count) = (0.0, 0.0, 0.0);
            orders(&mut values.clone(), 0, &mut |order| {
                let found = evidence(order, 1, direction);
                at_end += libm::exp(*found.last().unwrap());
                // Stops at the first evidence above 1.02.
                let stop = found.iter().find(|it| **it > 0.02).or(found.last()).unwrap();
                stopped += libm::exp(*stop);
                count += 1.0;
            });
            assert!(
                at_end / count <= 1.0 + 1e-12 && at_end / count > 0.7,
                "{direction:?} {}",
                at_end / count
            );
            assert!(
                stopped / count <= 1.0 + 1e-12 && stopped / count > 0.7,
                "{direction:?} {}",
                stopped / count
            );
        }
    }
}

#[test]
fn nights_that_are_all_alike_or_rise_are_no_evidence_and_a_long_decline_is_finite() {
    assert!(evidence(&[7; 300], 1, Direction::Either).iter().all(|it| *it <= 0.0));
    let rise: Vec<i64> = (0..2000).collect();
    assert!(evidence(&rise, 1, Direction::Decline).iter().all(|it| *it <= 0.0 && it.is_finite()));
    let fall = evidence(&rise.iter().map(|it| -it).collect::<Vec<_>>(), 1, Direction::Decline);
    assert!(fall.last().is_some_and(|it| *it > 100.0 && it.is_finite()), "{:?}", fall.last());
}

#[test]
fn ties_are_ordered_by_what_orders_them() {
    let last = |ties: [u64; 4]| {
        let mut evidence = RankEvidence::new(1, Direction::Decline);
        ties.map(|tie| evidence.push(5, tie)).last().copied().unwrap()
    };
    assert!(last([4, 3, 2, 1]) > last([1, 2, 3, 4]));
    assert_eq!(last([1, 1, 1, 1]).to_bits(), last([1, 2, 3, 4]).to_bits());
}

/// Values of an irregular kind.
fn values(count: usize) -> Vec<f64> {
    (0..count).map(|i| 0.6 + 0.4 * (((7 * i * i + 3 * i) % 11) as f64 / 10.0 - 0.5)).collect()
}

fn sequence(values: &[f64], lowest: f64, level: f64) -> (ConfidenceSequence, Vec<Option<Interval>>) {
    let mut sequence = ConfidenceSequence::new(lowest, level).unwrap();
    let ends = values.iter().map(|value| sequence.push(*value).unwrap()).collect();
    (sequence, ends)
}

#[test]
fn the_capitals_of_confseq() {
    // confseq 0.0.11, `betting_mart(x, m, alpha=0.05)`: twice the half that is the higher one.
    let near =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    let (first, _) = sequence(&values(10), 0.0, 0.95);
    let (all, _) = sequence(&values(60), 0.0, 0.95);
    for (mean, after_10, after_60) in [
        (0.4, 2.772_129_445_312_498, 14_659.514_418_042_609),
        (0.5, 0.817_725_387_397_276_7, 10.011_645_273_376_654),
        (0.55, 0.503_836_663_904_672_5, 0.545_607_298_063_475_3),
        (0.7, 3.282_135_503_472_220_6, 18_690.440_321_522_8),
        (0.8, 40.896_968_000_000_044, 305_003_800.603_406_3),
    ] {
        let highest = |it: &ConfidenceSequence| it.capitals(mean).0.max(it.capitals(mean).1) / 2.0;
        near(highest(&first), after_10);
        near(highest(&all), after_60);
    }
}

#[test]
fn the_confidence_sequence_of_confseq() {
    // confseq 0.0.11, `betting_cs(x, breaks=100000, running_intersection=True)`: the first and last of a grid of 0.00001.
    let near = |found: &[Option<Interval>], at: usize, low: f64, high: f64| {
        let it = found[at - 1].unwrap();
        assert!((it.low - low).abs() < 1e-5 && (it.high - high).abs() < 1e-5, "{it:?} {low} {high}");
    };
    let (_, found) = sequence(&values(60), 0.0, 0.95);
    near(&found, 1, 0.0, 1.0);
    near(&found, 10, 0.289_67, 0.776_94);
    near(&found, 30, 0.434_71, 0.659_37);
    near(&found, 60, 0.489_09, 0.621_53);
    let passes: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i * 5 % 7 < 5))).collect();
    let (_, found) = sequence(&passes, 0.0, 0.9);
    near(&found, 10, 0.313_81, 0.966_83);
    near(&found, 40, 0.511_21, 0.866_97);
}

#[test]
fn a_mean_that_moves_leaves_none_and_values_out_of_range_are_refused() {
    let moved: Vec<f64> = (0..200).map(|night| if night < 100 { 0.9 } else { 0.1 }).collect();
    let (_, found) = sequence(&moved, 0.0, 0.95);
    assert!(found[99].is_some_and(|it| it.low > 0.8) && found[199].is_none());
    let mut it = ConfidenceSequence::new(0.0, 0.95).unwrap();
    assert_eq!(it.interval().map(|it| (it.low, it.high)), Some((0.0, 1.0)));
    assert!(it.push(-0.1).is_err() && it.push(f64::NAN).is_err() && it.push(1.5).is_err());
    assert!(ConfidenceSequence::new(0.0, 1.0).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_night_that_is_worse_is_more_evidence_of_a_decline(
        scores in prop::collection::vec(0i64..20, 2..30), baseline in 1usize..4,
    ) {
        let mut worse = scores.clone();
        *worse.last_mut().unwrap() -= 3;
        let last = |scores: &[i64]| *evidence(scores, baseline, Direction::Decline).last().unwrap();
        prop_assert!(last(&worse) >= last(&scores) - 1e-12);
        let mirrored: Vec<i64> = scores.iter().map(|it| -it).collect();
        let up = *evidence(&mirrored, baseline, Direction::Improvement).last().unwrap();
        prop_assert_eq!(up.to_bits(), last(&scores).to_bits());
    }

    #[test]
    fn intervals_shrink_hold_the_mirror_image_and_differences_are_scaled(
        values in prop::collection::vec(0.0f64..=1.0, 1..40),
    ) {
        let (_, own) = sequence(&values, 0.0, 0.9);
        let (_, mirrored) = sequence(&values.iter().map(|it| 1.0 - it).collect::<Vec<_>>(), 0.0, 0.9);
        let (_, scaled) = sequence(&values.iter().map(|it| 2.0 * it - 1.0).collect::<Vec<_>>(), -1.0, 0.9);
        for ((own, mirrored), scaled) in own.iter().zip(&mirrored).zip(&scaled) {
            prop_assert_eq!(own.is_some(), mirrored.is_some());
            if let (Some(own), Some(mirrored), Some(scaled)) = (own, mirrored, scaled) {
                prop_assert!((own.low + mirrored.high - 1.0).abs() < 1e-9);
                prop_assert!((2.0 * own.low - 1.0 - scaled.low).abs() < 1e-9);
            }
        }
        let ends = own.iter().flatten();
        prop_assert!(ends.clone().zip(ends.skip(1)).all(|(a, b)| a.low <= b.low && b.high <= a.high));
    }
}
