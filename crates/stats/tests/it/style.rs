//! Strengths and coefficients beside length and headers agree with another implementation.

use karat_stats::random::Random;
use karat_stats::rating::bradley_terry::LOGIT_POINTS;
use karat_stats::rating::covariates::{Controlled, Fitted};

#[path = "../../examples/style_coverage.rs"]
#[expect(dead_code, reason = "the program around the simulation")]
mod simulation;

use simulation::{COMPETITORS, Votes, coverage, votes};

/// Ratings in points around 1,000 with the lower ends at 95 %, by competitor.
type Ratings = [[f64; 2]; COMPETITORS];

/// From arena-rank 0.1.1 (jax 0.8.1): `BradleyTerry`, `hessian_reg=1e-7`.
const WITHOUT: Ratings = [
    [1175.64743319, 1164.47772197],
    [1213.90924022, 1202.20281737],
    [1093.52757378, 1083.23333880],
    [1106.20521293, 1095.84437321],
    [1010.39555386, 1000.30251641],
    [1069.54235904, 1059.43669267],
    [992.23891589, 982.04029037],
    [960.53220320, 950.27548246],
    [848.62146875, 837.65073236],
    [914.14164229, 903.74770477],
    [838.11666831, 826.76002302],
    [777.12172853, 765.52872748],
];
/// `ContextualBradleyTerry` of the contrasts over their deviations around 0, `normalize_features=False`, `reweighted=False`,
/// `reg=0`, `hessian_reg=1e-7`.
const WITH: Ratings = [
    [1193.32279033, 1181.90148929],
    [1143.88482333, 1131.144975],
    [1128.48387409, 1117.7597027],
    [1082.61688539, 1071.98936667],
    [1063.52288775, 1052.66888693],
    [1016.31813788, 1005.36966651],
    [987.44565765, 977.15096986],
    [941.96490376, 931.49664131],
    [922.4551836, 910.31726428],
    [872.13556253, 861.13339214],
    [836.69026312, 825.19973335],
    [811.15903058, 799.31504469],
];
/// Of the same fit, whose search ends at about this digit.
const COEFFICIENTS: [f64; 2] = [0.51014907, 0.09922834];

#[test]
fn ratings_and_coefficients_are_those_of_arena_rank() {
    let Votes { names, matches, covariates } = votes(20_000, &mut Random::new(1));
    let found = Controlled::new(&names, &matches, &covariates).unwrap();
    let is_near = |fitted: &Fitted, expected: &Ratings| {
        let intervals = fitted.intervals(0.95).unwrap();
        for ((strength, interval), [points, low]) in fitted.fit.strengths.iter().zip(&intervals).zip(expected)
        {
            let near = |logits: f64, points: f64| (1000.0 + LOGIT_POINTS * logits - points).abs() < 1e-4;
            assert!(
                near(*strength, *points) && near(interval.lower, *low),
                "{strength} {interval:?} {points}"
            );
        }
    };
    is_near(&found.without, &WITHOUT);
    is_near(&found.with, &WITH);
    for (coefficient, expected) in found.coefficients.iter().zip(COEFFICIENTS) {
        assert!((coefficient.logits - expected).abs() < 5e-8, "{coefficient:?}");
    }
    // The second is first where its long answers count.
    let order = |fitted: &Fitted| -> Vec<usize> {
        fitted.places(0.95).unwrap().iter().map(|place| place.competitor).collect()
    };
    assert_eq!(order(&found.without), [1, 0, 3, 2, 5, 4, 6, 7, 9, 8, 10, 11]);
    assert_eq!(order(&found.with), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn intervals_with_covariates_hold_the_truth_and_those_without_do_not() {
    // Four standard errors of 100 experiments: .09 of one coefficient, less of twelve strengths together.
    let found = coverage(2_000, 100).unwrap();
    assert!(found.strengths[1] > 0.9 && found.effects.iter().all(|share| *share > 0.86), "{found:?}");
    assert!(found.strengths[0] < 0.6 && found.first[0] < 0.2 && found.first[1] > 0.7, "{found:?}");
}
