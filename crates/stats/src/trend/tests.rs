use alloc::vec::Vec;

use super::super::random::Random;
use super::*;

const SETTINGS: TrendSettings =
    TrendSettings { baseline: 1, direction: Direction::Decline, level: 0.95, seed: 1 };

/// `count` nights of 20 tasks, of which the first four fail from `from` on.
fn nights(count: usize, from: usize) -> Vec<Vec<(usize, f64)>> {
    let mut random = Random::new(5);
    let night = |night: usize| {
        let chance = |task: usize| if night >= from && task < 4 { 0.05 } else { 0.8 };
        (0..20).map(|task| (task, f64::from(u8::from(random.open_unit() < chance(task))))).collect()
    };
    (0..count).map(night).collect()
}

fn trend(nights: &[Vec<(usize, f64)>], settings: &TrendSettings) -> Result<Trend, StatisticsError> {
    Trend::new(&nights.iter().map(|results| Night { results }).collect::<Vec<_>>(), settings)
}

#[test]
fn a_decline_is_found_with_its_night_and_its_tasks() {
    let found = trend(&nights(60, 30), &SETTINGS).unwrap();
    let alarm = found.alarm.unwrap();
    assert!((31..45).contains(&alarm), "{alarm}");
    let change = found.change.unwrap();
    assert!(change.plausible.contains(&30) && change.plausible.contains(&change.first), "{change:?}");
    assert!((change.before - change.after - 0.15).abs() < 0.05, "{change:?}");
    let tasks: Vec<usize> = found.tasks.iter().filter(|it| it.is_found).map(|it| it.task).collect();
    assert_eq!(tasks, [0, 1, 2, 3]);
    assert!(found.slope.is_some_and(|it| it.interval.is_some_and(|ends| ends.high < 0.0)));
    let after = found.nights.last().unwrap();
    assert!((found.nights[alarm].chance <= 0.05) && after.chance <= found.nights[alarm].chance);
    assert!(found.nights[alarm - 1].chance > 0.05);
}

#[test]
fn later_nights_never_change_what_was_said() {
    let all = nights(50, 25);
    let whole = trend(&all, &SETTINGS).unwrap();
    for count in 2..50 {
        let part = trend(&all[..count], &SETTINGS).unwrap();
        assert_eq!(part.nights, whole.nights[..count]);
        assert_eq!(part.alarm, whole.alarm.filter(|night| *night < count));
    }
    let mut mixed = all.clone();
    mixed.iter_mut().for_each(|night| night.reverse());
    assert_eq!(trend(&mixed, &SETTINGS).unwrap(), whole, "the order of tasks");
    let improved = TrendSettings { direction: Direction::Improvement, ..SETTINGS };
    assert_eq!(trend(&all, &improved).unwrap().alarm, None);
}

#[test]
fn tasks_that_are_missing() {
    let all = nights(40, 100);
    let whole = trend(&all, &SETTINGS).unwrap();
    let mut some = all.clone();
    // Two tasks of 20 are a tenth; three are more.
    some[10].truncate(18);
    some[11].truncate(17);
    // A task that the baseline does not have.
    some[12].push((99, 0.0));
    let found = trend(&some, &SETTINGS).unwrap();
    let state = |night: usize| (found.nights[night].score.is_some(), found.nights[night].missing);
    assert_eq!([10, 11, 12].map(state), [(true, 2), (false, 3), (true, 0)]);
    let center = |task: usize| all[0][task].1;
    let expected = (some[10].iter().map(|it| it.1).sum::<f64>() + center(18) + center(19)) / 20.0;
    assert!((found.nights[10].score.unwrap() - expected).abs() < 1e-12);
    assert_eq!(found.nights[11].log_evidence, found.nights[10].log_evidence);
    assert_eq!(found.nights[12].score, whole.nights[12].score);
    assert_eq!(found.tasks.len(), if found.change.is_some() { 20 } else { 0 });
}

#[test]
fn what_is_refused() {
    let all = nights(3, 9);
    assert_eq!(
        trend(&all[..1], &SETTINGS).unwrap_err(),
        StatisticsError::TooFew { what: "runs", found: 1, needed: 2 }
    );
    assert!(trend(&[], &SETTINGS).is_err());
    assert!(trend(&all, &TrendSettings { baseline: 0, ..SETTINGS }).is_err());
    assert!(trend(&all, &TrendSettings { baseline: 3, ..SETTINGS }).is_err());
    assert!(trend(&all, &TrendSettings { level: 0.0, ..SETTINGS }).is_err());
    assert!(trend(&[Vec::new(), Vec::new()], &SETTINGS).is_err(), "no task");
    assert!(trend(&[alloc::vec![(0, 1.0)], alloc::vec![(0, 1.5)]], &SETTINGS).is_err());
    assert!(trend(&alloc::vec![alloc::vec![(0, 1.0)]; MOST_NIGHTS + 1], &SETTINGS).is_err());
    let same = trend(&alloc::vec![alloc::vec![(0, 1.0)]; 5], &SETTINGS).unwrap();
    assert_eq!((same.alarm, same.change, same.tasks.len()), (None, None, 0));
    assert_eq!(same.slope.map(|it| (it.per_night, it.interval)), Some((0.0, None)));
}

/// Gives each score the night of its place.
fn scores(values: &[f64]) -> Vec<(usize, f64)> {
    values.iter().copied().enumerate().collect()
}

#[test]
fn the_slopes_of_scipy() {
    // scipy 1.17.1, `theilslopes`, with and without ties.
    let slope = |values: &[f64], level| {
        let found = Slope::fit(&scores(values), level).unwrap().unwrap();
        let ends = found.interval.unwrap();
        [found.per_night, ends.low, ends.high].map(|it| libm::rint(it * 1e12) / 1e12)
    };
    let few_ties = [0.62, 0.60, 0.64, 0.61, 0.58, 0.60, 0.57, 0.59, 0.55, 0.56, 0.58, 0.52];
    assert_eq!(slope(&few_ties, 0.95), [-0.0075, -0.011_428_571_429, -0.004]);
    let many_ties = [0.5, 0.5, 0.5, 0.4, 0.6, 0.5, 0.4, 0.4, 0.3, 0.4];
    assert_eq!(slope(&many_ties, 0.9), [-0.016_666_666_667, -0.033_333_333_333, 0.0]);
    assert_eq!(Slope::fit(&scores(&[0.5]), 0.9), Ok(None));
    // Three nights in one order are 1 of 6.
    assert_eq!(Slope::fit(&scores(&[0.5, 0.4, 0.3]), 0.95).unwrap().unwrap().interval, None);
    // A night that was left out.
    let gap = Slope::fit(&[(0, 0.5), (2, 0.3)], 0.9).unwrap().unwrap();
    assert_eq!(gap.per_night, -0.1);
}

#[test]
fn the_change_is_the_split_with_the_least_squares() {
    let values = [0.61, 0.58, 0.63, 0.60, 0.62, 0.49, 0.52, 0.50, 0.47, 0.51, 0.58];
    let count = values.len();
    let left = |first: usize| {
        let part = |part: &[f64]| {
            let mean = part.iter().sum::<f64>() / part.len() as f64;
            part.iter().map(|it| (it - mean) * (it - mean)).sum::<f64>()
        };
        part(&values[..first]) + part(&values[first..])
    };
    let best = (1..count).min_by(|a, b| left(*a).total_cmp(&left(*b))).unwrap();
    // 3.676 is -ln(1 - sqrt(.95)).
    let is_near = |first: &usize| count as f64 / 2.0 * libm::log(left(*first) / left(best)) <= 3.676_156;
    let expected: Vec<usize> = (1..count).filter(is_near).collect();
    let found = Change::find(&scores(&values), 1, Direction::Either, 0.95).unwrap().unwrap();
    assert_eq!((found.first, &found.plausible), (best, &expected));
    assert!((found.before - 0.608).abs() < 1e-12);
    assert_eq!(Change::find(&scores(&values[..8]), 1, Direction::Improvement, 0.95), Ok(None));
    let exact =
        Change::find(&scores(&[0.5, 0.5, 0.5, 0.4, 0.4]), 1, Direction::Decline, 0.95).unwrap().unwrap();
    assert_eq!((exact.first, exact.plausible.as_slice()), (3, [3].as_slice()));
    assert_eq!(Change::find(&scores(&[0.5; 9]), 1, Direction::Either, 0.95), Ok(None));
    assert_eq!(Change::find(&[], 1, Direction::Either, 0.95), Ok(None));
}
