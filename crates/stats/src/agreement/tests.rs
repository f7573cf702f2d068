use alloc::string::ToString;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::judge::centered;
use super::*;
use crate::random::Random;

/// Reads raters, each a digit for each item, or a point where it gave none.
fn read(raters: &[&str]) -> Vec<Vec<Option<usize>>> {
    let rater = |it: &&str| it.chars().map(|it| it.to_digit(10).map(|it| it as usize)).collect::<Vec<_>>();
    let all: Vec<Vec<Option<usize>>> = raters.iter().map(rater).collect();
    (0..all[0].len()).map(|item| all.iter().map(|rater| rater[item]).collect()).collect()
}

/// Measures items that are each the only one of their task.
fn measured(raters: &[&str], categories: usize, weighting: Weighting) -> Agreement {
    let items = read(raters);
    let items: Vec<RatedItem<'_>> =
        items.iter().enumerate().map(|(task, verdicts)| RatedItem { task, verdicts }).collect();
    Agreement::new(&items, raters.len(), categories, weighting, 0.95).unwrap()
}

const TWO: [&str; 2] =
    ["3223233001133013030131112131122223332213", "3223233001033023031132102231112223033203"];
const FOUR: [&str; 4] = [
    "02.1.1001.222001..1.2200201201", "10112..20122001.01.22022222210", "221021221.22100101122022220.1.",
    "220112.211.210.101102021222202",
];

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1.1e-12, "{found} {expected}");
}

#[test]
fn the_digits_of_the_reference_implementations() {
    // irrCAC 0.4.4 for Python, 12 digits: Conger (Cohen), Fleiss, Gwet, each with its standard error. cohen_kappa_score of scikit-learn
    // 1.9.1 has these kappas of the two: 0.6601529311809686, 0.7510373443984402, 0.8102266736953083.
    type Row<'r> = (&'r [&'r str], Weighting, f64, [(f64, f64); 3]);
    let table: [Row<'_>; 5] = [
        (
            &TWO,
            Weighting::Identity,
            0.75,
            [
                (0.660152931181, 0.090533842676),
                (0.658265698419, 0.092022105518),
                (0.6693759471, 0.092744542435),
            ],
        ),
        (
            &TWO,
            Weighting::Linear,
            0.9,
            [
                (0.751037344398, 0.078408743085),
                (0.750390015601, 0.078964998055),
                (0.767985176831, 0.076976354654),
            ],
        ),
        (
            &TWO,
            Weighting::Quadratic,
            0.95,
            [
                (0.810226673695, 0.095164032363),
                (0.810126582278, 0.09546870676),
                (0.830813816872, 0.088322895153),
            ],
        ),
        (
            &FOUR,
            Weighting::Identity,
            0.572222222222,
            [
                (0.346746563271, 0.097429523786),
                (0.346611667649, 0.098779077645),
                (0.36403785489, 0.098428978359),
            ],
        ),
        (
            &FOUR,
            Weighting::Quadratic,
            0.751388888889,
            [(0.270949088624, 0.129283571231), (0.243439976519, 0.134622309216), (0.28, 0.140853437094)],
        ),
    ];
    for (raters, weighting, share, coefficients) in table {
        let found = measured(raters, if raters.len() == 2 { 4 } else { 3 }, weighting);
        near(found.share.value, share);
        for (found, (value, standard_error)) in [found.kappa, found.fleiss, found.ac].iter().zip(coefficients)
        {
            let found = found.unwrap();
            near(found.value, value);
            near(found.standard_error, standard_error);
            let interval = found.interval.unwrap();
            assert!(interval.low < value && value < interval.high && interval.high < 1.0, "{interval:?}");
        }
    }
    near(measured(&TWO, 4, Weighting::Quadratic).kappa.unwrap().value, 0.810_226_673_695_308_3);
}

#[test]
fn base_rates_belong_to_a_rater() {
    let found = measured(&FOUR, 3, Weighting::Identity);
    let zeros = FOUR[2].matches('0').count() as f64 / FOUR[2].matches(|it: char| it != '.').count() as f64;
    near(found.base_rates[2][0].unwrap().value, zeros);
    for rates in &found.base_rates {
        near(rates.iter().map(|it| it.unwrap().value).sum(), 1.0);
    }
}

#[test]
fn items_of_a_task_are_no_more_evidence_than_the_task() {
    let items = read(&TWO);
    let of = |times: usize| {
        let items: Vec<RatedItem<'_>> = items
            .iter()
            .enumerate()
            .flat_map(|(task, verdicts)| (0..times).map(move |_| RatedItem { task, verdicts }))
            .collect();
        Agreement::new(&items, 2, 4, Weighting::Identity, 0.95).unwrap()
    };
    let (once, often) = (of(1), of(9));
    near(once.kappa.unwrap().standard_error, often.kappa.unwrap().standard_error);
    near(once.ac.unwrap().interval.unwrap().low, often.ac.unwrap().interval.unwrap().low);
    assert!((once.share.interval.unwrap().low - often.share.interval.unwrap().low).abs() < 0.01);
}

#[test]
fn full_agreement_is_not_certain_and_chance_is_no_agreement() {
    let all = measured(&["010101010101010101010101", "010101010101010101010101"], 2, Weighting::Identity);
    let kappa = all.kappa.unwrap();
    assert_eq!((kappa.value, kappa.standard_error), (1.0, 0.0));
    // Wilson of 24 of 24 with Student's t is above .848, and half is chance.
    let interval = kappa.interval.unwrap();
    assert!(interval.high == 1.0 && (0.66..0.72).contains(&interval.low), "{interval:?}");
    // One rater says always the same: kappa is 0 whatever the other says, and its error not to be seen.
    let one = measured(&["110101110101110101", "111111111111111111"], 2, Weighting::Identity);
    assert!(one.kappa.unwrap().value.abs() < 1e-12 && one.kappa.unwrap().interval.is_none());
    let both = measured(&["111111111111", "111111111111"], 2, Weighting::Identity);
    assert_eq!((both.kappa, both.fleiss), (None, None));
    assert_eq!(both.ac.unwrap().value, 1.0);
}

#[test]
fn the_errors_of_a_judge() {
    // 40 tasks of 3 items; of 80 passes 8 are failed, of 40 failures 10 are passed.
    let items: Vec<JudgedItem> = (0..120)
        .map(|at| {
            let label = at % 3 > 0;
            let verdict = if label { at % 15 != 1 } else { at % 12 == 0 };
            JudgedItem { task: at / 3, label, verdict }
        })
        .collect();
    let found = Accuracy::new(&items, 0.95).unwrap();
    let value = |it: Option<Measure>| it.unwrap().value;
    near(value(found.sensitivity), 0.9);
    near(value(found.specificity), 0.75);
    near(value(found.balanced), 0.825);
    near(found.accuracy.value, 102.0 / 120.0);
    near(found.base_rate.value, 2.0 / 3.0);
    near(found.verdict_rate.value, 82.0 / 120.0);
    // One failure a task: 30 of 40 by Wilson with 39 degrees, n - 1 for n.
    let specificity = found.specificity.unwrap();
    near(specificity.standard_error, libm::sqrt(0.75 * 0.25 / 39.0));
    let (low, high) = score_ends(0.75, 39.0, 2.022_690_911_734_728);
    let interval = specificity.interval.unwrap();
    assert!((interval.low - low).abs() < 1e-9 && (interval.high - high).abs() < 1e-9);
    let balanced = found.balanced.unwrap().interval.unwrap();
    assert!(balanced.low < 0.825 && 0.825 < balanced.high && balanced.low > interval.low);
    // Without a failure there is no specificity.
    let passes: Vec<JudgedItem> = items.into_iter().filter(|it| it.label).collect();
    let found = Accuracy::new(&passes, 0.95).unwrap();
    assert_eq!((found.specificity, found.balanced), (None, None));
    assert_eq!(found.base_rate.value, 1.0);
    assert_eq!(
        Accuracy::new(&passes[..1], 0.95),
        Err(StatisticsError::TooFew { what: "tasks", found: 1, needed: 2 })
    );
}

/// The items of the slopes that statsmodels computed.
fn slopes() -> Vec<BiasItem> {
    (0..40)
        .map(|at| {
            let label = if at % 3 > 0 { 1.0 } else { 0.0 };
            let verdict = if at % 4 == 0 { 1.0 - label } else { label };
            BiasItem { task: at, label, verdict, covariate: ((3 * at * 37 + 11) % 101) as f64 / 100.0 }
        })
        .collect()
}

#[test]
fn the_slopes_of_least_squares() {
    // statsmodels 0.15.0, OLS without and with the label as a second variable.
    let found = Bias::by_covariate(&slopes(), 0.95).unwrap();
    near(found.slope.value, -0.065_596_453_289_610_38);
    near(found.at_equal_labels.unwrap().value, -0.036_869_719_707_449_62);
    // Shifted and stretched it is the same.
    let other: Vec<BiasItem> =
        slopes().into_iter().map(|it| BiasItem { covariate: 1e4 - 300.0 * it.covariate, ..it }).collect();
    near(Bias::by_covariate(&other, 0.95).unwrap().slope.value, 0.065_596_453_289_610_38);
}

#[test]
fn the_jackknife_leaves_out_each_task() {
    // Without a constant, which is left out before, deleting a task gives exactly these slopes.
    let items: Vec<BiasItem> = slopes().into_iter().map(|it| BiasItem { task: it.task / 3, ..it }).collect();
    let y = centered(items.iter().map(|it| it.verdict - it.label));
    let x = centered(items.iter().map(|it| it.covariate));
    let slope = |left_out: Option<usize>| {
        let each = || y.iter().zip(&x).zip(&items).filter(|it| Some(it.1.task) != left_out).map(|it| it.0);
        each().map(|it| it.0 * it.1).sum::<f64>() / each().map(|it| it.1 * it.1).sum::<f64>()
    };
    let all = slope(None);
    let squares: f64 = (0..14).map(|task| square(slope(Some(task)) - all)).sum();
    let deviation = libm::sqrt(x.iter().map(|it| it * it).sum::<f64>() / 40.0);
    let found = Bias::by_covariate(&items, 0.95).unwrap().slope;
    near(found.standard_error, libm::sqrt(squares * 13.0 / 14.0) * deviation);
}

#[test]
fn a_noisy_judge_takes_from_the_better_family_but_does_not_favour_any() {
    // One in five verdicts is wrong, of passes and of failures; the own family passes 8 in 10, the other 4.
    let mut items = Vec::new();
    for task in 0..50 {
        for (covariate, passes) in [(1.0, 8), (0.0, 4)] {
            for at in 0..10 {
                let label = f64::from(u8::from(at < passes));
                let is_wrong = task % 5 == at % 5;
                items.push(BiasItem {
                    task,
                    label,
                    verdict: (label - f64::from(u8::from(is_wrong))).abs(),
                    covariate,
                });
            }
        }
    }
    let found = Bias::of_group(&items, 0.95).unwrap();
    near(found.slope.value, -0.16);
    let favour = found.at_equal_labels.unwrap();
    assert!(favour.value.abs() < 1e-12, "{favour:?}");
    items.iter_mut().filter(|it| it.covariate == 1.0 && it.task % 4 == 0).for_each(|it| it.verdict = 1.0);
    assert!(Bias::of_group(&items, 0.95).unwrap().at_equal_labels.unwrap().interval.unwrap().low > 0.0);
}

#[test]
fn what_cannot_be_used_is_refused() {
    let level = |level| Agreement::new(&[], 2, 2, Weighting::Identity, level);
    assert_eq!(level(1.0), Err(StatisticsError::Level { found: 1.0 }));
    assert_eq!(level(0.9), Err(StatisticsError::TooFew { what: "tasks", found: 0, needed: 2 }));
    assert!(Agreement::new(&[], 1, 2, Weighting::Identity, 0.9).is_err());
    assert!(Agreement::new(&[], 2, 1, Weighting::Identity, 0.9).is_err());
    let of = |verdicts: &[Option<usize>]| {
        let items = [RatedItem { task: 0, verdicts }, RatedItem { task: 1, verdicts }];
        Agreement::new(&items, 2, 2, Weighting::Identity, 0.9)
    };
    let error = of(&[Some(0), Some(2)]).unwrap_err().to_string();
    assert_eq!(error, "row 0: the category is 2, expected a number below that of the categories");
    assert!(of(&[Some(0)]).is_err());
    assert_eq!(of(&[Some(0), None]), Err(StatisticsError::TooFew { what: "tasks", found: 0, needed: 2 }));
    assert!(of(&[Some(0), Some(1)]).unwrap().share.interval.is_none(), "two tasks have no interval");
    let mut items = slopes();
    assert!(Bias::of_group(&items, 0.9).is_err(), "not two groups");
    items.iter_mut().for_each(|it| it.covariate = 1.0);
    assert!(Bias::of_group(&items, 0.9).is_err(), "one group");
    let refusal = StatisticsError::TooFew { what: "different covariates", found: 1, needed: 2 };
    assert_eq!(Bias::by_covariate(&items, 0.9), Err(refusal));
    items[3].covariate = f64::NAN;
    assert!(Bias::by_covariate(&items, 0.9).is_err());
    assert!(Bias::by_covariate(&[], 0.9).is_err());
    let mut items = slopes();
    items[3].verdict = 1.5;
    assert!(Bias::by_covariate(&items, 0.9).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn linearised_is_about_the_jackknife(seed in 0u64..10_000) {
        let mut random = Random::new(seed);
        let mut draw = |task: usize| {
            let one = (random.next_u64() % 3) as usize;
            let other = if !random.next_u64().is_multiple_of(3) { one } else { (random.next_u64() % 3) as usize };
            (task / 2, [Some(one), Some(other)])
        };
        let items: Vec<(usize, [Option<usize>; 2])> = (0..160).map(&mut draw).collect();
        let of = |left_out: Option<usize>| {
            let items: Vec<RatedItem<'_>> = items
                .iter()
                .filter(|it| Some(it.0) != left_out)
                .map(|(task, verdicts)| RatedItem { task: *task, verdicts })
                .collect();
            Agreement::new(&items, 2, 3, Weighting::Linear, 0.9).unwrap()
        };
        let all = of(None);
        let without: Vec<Agreement> = (0..80).map(|task| of(Some(task))).collect();
        for value in [|it: &Agreement| it.kappa, |it: &Agreement| it.fleiss, |it: &Agreement| it.ac] {
            let center = value(&all).unwrap();
            let squares: f64 = without.iter().map(|it| square(value(it).unwrap().value - center.value)).sum();
            let jackknife = libm::sqrt(squares * 79.0 / 80.0);
            prop_assert!((jackknife / center.standard_error - 1.0).abs() < 0.1, "{jackknife} {center:?}");
        }
    }
}
