//! Tests on made data: known weights are found, noise gains nothing, and the order of cases changes nothing.

use super::*;
use proptest::prelude::*;

fn decimals(thousandths: &[i64]) -> Vec<Decimal> {
    thousandths.iter().map(|it| Decimal::from_millionths(it * 1000)).collect()
}

fn plan(resamples: u32, refits: u32, seed: u64) -> Plan {
    let (sum, step) = (Decimal::from_millionths(1_000_000), Decimal::from_millionths(1000));
    Plan { sum, step, level: 0.95, resamples, refits, seed }
}

/// Made items with random values, and cases whose outcome follows `weights` with odds of `e^slope` from worst to best;
/// clusters have a few cases each, and every second is held out.
struct Made {
    values: Vec<Vec<Option<i64>>>,
    cases: Vec<Case>,
}

impl Made {
    fn new(seed: u64, items: usize, weights: &[f64], slope: f64, in_pairs: bool) -> Self {
        let mut random = Random::new(seed);
        let value = |random: &mut Random| Some((random.open_unit() * 1e9) as i64);
        let values: Vec<Vec<Option<i64>>> =
            (0..items).map(|_| weights.iter().map(|_| value(&mut random)).collect()).collect();
        let composite = |item: usize| -> f64 {
            let values = values[item].iter().zip(weights);
            values.map(|(value, weight)| value.unwrap() as f64 / 1e9 * weight).sum()
        };
        let case = |item: usize| {
            let second = in_pairs.then_some((item + 1) % items);
            let linear = slope * (composite(item) - second.map_or(0.5, composite));
            let outcome = f64::from(u8::from(random.open_unit() < 1.0 / (1.0 + libm::exp(-linear))));
            let cluster = item / 2;
            Case { first: item, second, outcome, cluster, is_held_out: cluster % 2 == 1 }
        };
        let cases = (0..items).map(case).collect();
        Self { values, cases }
    }

    fn tuned(&self, own: &[i64], plan: &Plan) -> Tuned {
        let own = decimals(own);
        let question =
            Question { values: &self.values, own: &own, counts_missing: false, cases: &self.cases };
        tune(&question, plan).unwrap()
    }
}

#[test]
fn known_weights_are_found_within_their_intervals() {
    let weights = [0.6, 0.3, 0.1, 0.0];
    let mut inside = [0; 4];
    for seed in 0..40 {
        let made = Made::new(seed, 1200, &weights, 10.0, seed % 2 == 1);
        let tuned = made.tuned(&[100, 200, 300, 400], &plan(100, 100, seed));
        assert!(tuned.is_better() && tuned.tuned > tuned.own + 0.03, "{tuned:?}");
        assert_eq!(tuned.weights.iter().map(|weight| weight.millionths()).sum::<i64>(), 1_000_000);
        let found = tuned.intervals.iter().zip(weights).zip(&tuned.weights);
        for (((found, truth), weight), inside) in found.zip(&mut inside) {
            *inside += u32::from((found.low..=found.high).contains(&truth));
            assert!((found.point - truth).abs() < 0.16, "{tuned:?}");
            assert!((found.point - weight.millionths() as f64 / 1e6).abs() <= 0.001);
            assert_eq!(weight.millionths() % 1000, 0);
        }
    }
    assert!(
        inside.iter().all(|inside| *inside >= 35),
        "of 40 intervals at 95 % each, {inside:?} have the weight"
    );
}

#[test]
fn noise_gains_nothing() {
    for in_pairs in [false, true] {
        let better = (0..100)
            .filter(|&seed| {
                let made = Made::new(1000 + seed, 120, &[0.25; 4], 0.0, in_pairs);
                made.tuned(&[250; 4], &plan(100, 40, seed)).is_better()
            })
            .count();
        assert!(better <= 5, "{better} of 100 are proposed");
    }
}

#[test]
fn the_own_weights_are_not_beaten_where_they_are_the_truth() {
    let better = (0..40)
        .filter(|&seed| {
            let made = Made::new(5000 + seed, 200, &[0.7, 0.2, 0.1], 8.0, false);
            made.tuned(&[700, 200, 100], &plan(100, 40, seed)).is_better()
        })
        .count();
    assert!(better <= 3, "{better} of 40 are proposed");
}

#[test]
fn a_dimension_that_says_the_opposite_gets_nothing() {
    let mut made = Made::new(7, 600, &[1.0, 0.0], 12.0, false);
    for values in &mut made.values {
        values[1] = values[0].map(|value| 1_000_000_000 - value);
    }
    let tuned = made.tuned(&[500, 500], &plan(100, 40, 1));
    assert_eq!(tuned.weights, decimals(&[1000, 0]));
    // Equal weights make all composites alike, which is half of all pairs.
    assert_eq!(tuned.own, 0.5);
    assert!(tuned.is_better());
}

#[test]
fn outcomes_that_can_be_told_without_error_have_finite_weights() {
    let mut made = Made::new(9, 100, &[0.5, 0.5], 1.0, false);
    for case in &mut made.cases {
        let values = &made.values[case.first];
        case.outcome = f64::from(u8::from(values[0] > Some(500_000_000)));
    }
    let tuned = made.tuned(&[500, 500], &plan(100, 40, 1));
    assert!(tuned.weights[0] > tuned.weights[1] && tuned.tuned > 0.95, "{tuned:?}");
}

#[test]
fn missing_values_share_their_weight_or_count_as_nothing() {
    let weights = decimals(&[600, 400]);
    let (both, one) = ([Some(500_000_000), Some(1_000_000_000)], [Some(500_000_000), None]);
    assert_eq!(composite(&both, &weights, false), Some(700_000_000));
    assert_eq!(composite(&one, &weights, false), Some(500_000_000));
    assert_eq!(composite(&one, &weights, true), Some(300_000_000));
    assert_eq!(composite(&[None, None], &weights, true), None);

    // A third of the values is missing, and the weights are found all the same.
    let mut made = Made::new(11, 1500, &[0.7, 0.2, 0.1], 10.0, false);
    for (at, values) in made.values.iter_mut().enumerate() {
        values[at % 3] = None;
    }
    let tuned = made.tuned(&[333, 333, 334], &plan(100, 40, 1));
    assert!(tuned.is_better() && tuned.weights[0].millionths() > 550_000, "{tuned:?}");
    assert_eq!(tuned.without_composite, 0);
}

#[test]
fn what_cannot_be_judged_is_refused() {
    let own = decimals(&[500, 500]);
    let told = |made: &Made, plan: &Plan| {
        let question =
            Question { values: &made.values, own: &own, counts_missing: false, cases: &made.cases };
        alloc::string::ToString::to_string(&tune(&question, plan).unwrap_err())
    };
    let few = Made::new(1, 36, &[0.5; 2], 1.0, false);
    assert_eq!(told(&few, &plan(100, 40, 1)), "found 9 clusters to learn from, expected 10 or more");
    let mut alike = Made::new(1, 100, &[0.5; 2], 1.0, false);
    alike.cases.iter_mut().for_each(|case| case.outcome = 1.0);
    assert_eq!(told(&alike, &plan(100, 40, 1)), "found 1 outcome to learn from, expected 2 or more");
    assert!(told(&alike, &plan(39, 40, 1)).starts_with("39 resamples are too few"));
    assert!(told(&alike, &Plan { level: 1.0, ..plan(100, 40, 1) }).starts_with("the confidence is 1"));
    let mut drawn = Made::new(1, 100, &[0.5; 2], 1.0, true);
    drawn.cases.iter_mut().for_each(|case| case.outcome = 0.5);
    assert!(told(&drawn, &plan(100, 40, 1)).contains("held-out pairs with different outcomes"));
}

#[test]
fn rounding_keeps_the_sum() {
    let plan = plan(100, 40, 1);
    assert_eq!(on_grid(&[1.0 / 3.0; 3], &plan), decimals(&[334, 333, 333]));
    assert_eq!(on_grid(&[0.0, 1.0], &plan), decimals(&[0, 1000]));
}

/// Counts pairs one by one.
fn slowly(composites: &[i64], outcomes: &[f64], counts: &[f64]) -> Option<f64> {
    let (mut right, mut all) = (0.0, 0.0);
    for one in 0..outcomes.len() {
        for other in 0..outcomes.len() {
            if outcomes[one] > outcomes[other] {
                let times = counts[one] * counts[other];
                all += times;
                right += times * 0.5 * (1.0 + f64::from(composites[one].cmp(&composites[other]) as i8));
            }
        }
    }
    (all > 0.0).then(|| right / all)
}

proptest! {
    #[test]
    fn concordance_counts_pairs(
        rows in prop::collection::vec((0i64..6, 0u8..4, 0u8..4), 1..25),
    ) {
        let composites: Vec<Option<i64>> = rows.iter().map(|row| Some(row.0)).collect();
        let case = |(at, row): (usize, &(i64, u8, u8))| Case {
            first: at, second: None, outcome: f64::from(row.1), cluster: at, is_held_out: true,
        };
        let cases: Vec<Case> = rows.iter().enumerate().map(case).collect();
        let cases: Vec<&Case> = cases.iter().collect();
        let places: Vec<usize> = (0..rows.len()).collect();
        let counts: Vec<f64> = rows.iter().map(|row| f64::from(row.2)).collect();
        let found = Order::new(&cases, &places, &composites).concordance(&counts).map(|(share, _)| share);
        let bare: Vec<i64> = rows.iter().map(|row| row.0).collect();
        let outcomes: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
        match (found, slowly(&bare, &outcomes, &counts)) {
            (Some(found), Some(expected)) => prop_assert!((found - expected).abs() < 1e-12),
            (found, expected) => prop_assert_eq!(found.is_some(), expected.is_some()),
        }
    }

    #[test]
    fn the_sums_of_drawn_clusters_are_their_number(seed in any::<u64>(), clusters in 1usize..50) {
        prop_assert_eq!(draw(seed, 0, clusters).iter().sum::<f64>(), clusters as f64);
    }
}
