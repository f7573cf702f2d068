//! The interval of a score belongs to the number that is shown, under every card.

use super::*;

const SCALES: [&str; 4] = [
    "max = 1000, publish = \"half-up\"", "max = 100, publish = \"half-up\", places = 1",
    "max = 100, publish = \"floor\", places = 2", "max = 1, publish = \"exact\"",
];
const GATE: &str =
    "gate = { dimension = \"security\", step = [{ below = 0.3, cap = 20 }, { below = 0.7, cap = 55 }] }";
const SECTIONS: [&str; 7] = [
    "window = {}",
    "window = { tasks = 9 }",
    "window = { days = 20 }",
    "window = { tasks = 4, distinct = true }",
    "window = {}\nlate = { after_days = 3, treatment = \"excluded\" }",
    "window = {}\nGATE",
    "window = { tasks = 12 }\nreview = { swing_points = 10 }",
];

fn card_of(scale: &str, section: &str) -> Option<Scorecard> {
    let head = HEAD.replace("max = 1000, publish = \"half-up\"", scale).replace("cap = 300", "cap = 1");
    let text = format!("{head}[standing]\nscore = \"window\"\n{}", section.replace("GATE", GATE));
    karat_checker::parse(&text, &|_| None).ok()
}

type Run = (usize, i64, i64, i64);

fn run<'a>((task, day, points, delay): Run, id: &'a str) -> Item<'a> {
    const TASKS: [&str; 5] = ["v", "w", "x", "y", "z"];
    let arrived_seconds = Some((day + delay) * DAY);
    Item { task: TASKS[task], arrived_seconds, ..item("a", id, day * DAY, points) }
}

/// Returns the number that is shown, and its ends.
fn shown(card: &Scorecard, rows: &[Run]) -> Option<(f64, Option<[f64; 2]>)> {
    let ids: Vec<String> = (0..rows.len()).map(|at| format!("{at:02}")).collect();
    let items: Vec<Item<'_>> = rows.iter().zip(&ids).map(|(row, id)| run(*row, id)).collect();
    let found = only(card, &items, &[], 40 * DAY);
    let spread = found.spread.as_ref()?;
    let number = match spread.is_candidate {
        true => found.gated.unwrap().points as f64,
        false => found.official_points().unwrap(),
    };
    let ends = spread.interval(0.9).unwrap();
    assert_eq!(ends.is_none(), found.counts.distinct_tasks < 2, "{found:?}");
    Some((number, ends.map(|it| [it.low, it.high])))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_number_lies_in_its_interval_and_a_better_result_lowers_nothing(
        rows in prop::collection::vec((0usize..5, 0i64..30, prop_oneof![Just(0i64), Just(1000), 0i64..=1000], 0i64..6), 1..25),
        place in 0usize..25,
        rise in prop_oneof![Just(1000i64), 1i64..20],
        scale in 0..SCALES.len(),
        section in 0..SECTIONS.len(),
    ) {
        let Some(card) = card_of(SCALES[scale], SECTIONS[section]) else { return Ok(()) };
        let Some((number, ends)) = shown(&card, &rows) else { return Ok(()) };
        if let Some([low, high]) = ends {
            prop_assert!(low <= number && number <= high, "{low} {number} {high}");
        }
        let mut better = rows.clone();
        let place = place % rows.len();
        better[place].2 = (better[place].2 + rise).min(1000);
        // A better result may be what is held.
        if card.standing.as_ref().unwrap().review.is_none() {
            let (after, its_ends) = shown(&card, &better).unwrap();
            prop_assert!(after >= number, "{number} {after}");
            for (before, after) in ends.iter().flatten().zip(its_ends.iter().flatten()) {
                prop_assert!(*after >= before - 1e-8, "{before} {after}");
            }
        }
    }
}

/// All cards of the properties are there.
#[test]
fn a_cap_holds_between_its_points_too() {
    let cards = SCALES.iter().flat_map(|scale| SECTIONS.map(|section| (scale, section)));
    let refused: Vec<_> = cards.filter(|(scale, section)| card_of(scale, section).is_none()).collect();
    assert!(refused.iter().all(|(scale, _)| scale.contains("exact")), "{refused:?}");
    // 55.9 was shown where 56.0 was capped to 55.
    let card = card_of(SCALES[1], SECTIONS[5]).unwrap();
    for (points, expected) in [(549, 54.9), (550, 55.0), (559, 55.0), (560, 55.0), (699, 55.0), (700, 70.0)] {
        let (number, ends) = shown(&card, &[(0, 0, points, 0), (1, 1, points, 0)]).unwrap();
        assert_eq!(number, expected, "{points}");
        let [low, high] = ends.unwrap();
        assert!(low < number && high >= number && (high == 55.0) == (points < 700), "{low} {high}");
    }
}

/// Results that are means over cases say how sure they are themselves, also at one task.
#[test]
fn cases_behind_results_give_the_interval_of_their_share() {
    let of = |rules: &str, cases: &[u64]| {
        let ids: Vec<String> = (0..cases.len()).map(|at| format!("{at}")).collect();
        let result = |(at, (id, n)): (usize, (&'static str, &u64))| Item {
            cases: Some(*n),
            ..item("a", id, at as i64, 800)
        };
        let leaked = ids.into_iter().map(|id| &*String::leak(id)).zip(cases);
        let items: Vec<Item<'_>> = leaked.enumerate().map(result).collect();
        let found = only(&card(rules), &items, &[], 99).spread.unwrap().interval(0.95).unwrap().unwrap();
        (found.low, found.high, found.method)
    };
    for rules in ["score = \"window\"\nwindow = {}", "score = \"window\""] {
        let (low, high, method) = of(rules, &[100]);
        assert_eq!((low, high), (711.0, 867.0), "Wilson's interval of 80 in 100: .7112 to .8666");
        assert_eq!(method, karat_stats::IntervalMethod::Wilson);
        let four = of(rules, &[100; 4]);
        assert!(four.0 > low && four.1 < high, "{four:?}");
        // A repeat over the same cases makes nothing surer: where items count, and not tasks, there is one task.
        let again = ["1", "2"].map(|id| Item { cases: Some(100), task: "t", ..item("a", id, 1, 800) });
        let found = only(&card(rules), &again, &[], 99).spread.unwrap().interval(0.95).unwrap();
        assert!(found.is_none_or(|it| (it.low, it.high) == (low, high)), "{rules} {found:?}");
    }
}
