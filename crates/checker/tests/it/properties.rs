//! Properties of every card and every item: of the released cards, the cards made for tests, and random ones.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::sync::LazyLock;

use crate::common::random::{CardText, card_text, choices, facts, fill};
use crate::common::{card, card_of, cards, in_column, is_missing, item, record_bytes, root};
use karat_checker::{Direction, check};
use karat_core::decay::decayed;
use karat_core::evaluate::{Column, Columns, Context, Scorer, Scores, Source, Workspace, status};
use karat_core::facts::Fact;
use karat_core::number::{BILLION, Decimal, UNITS_PER_ONE, round_ratio};
use karat_core::record::Record;
use karat_core::scorecard::{DecayRule, FactType, Scorecard};
use karat_core::timestamp::{Timestamp, WrittenTimestamp};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use serde_json::Value;

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(20), ..ProptestConfig::default() }
}

/// Every card in files that can be scored.
static FILES: LazyLock<Vec<Scorer>> = LazyLock::new(|| {
    let mut found = Vec::new();
    for folder in [root().join("scorecards"), cards()] {
        let cards = crate::common::files(&folder, "toml").into_iter().map(|path| card(&path, &folder));
        found.extend(cards.filter_map(|card| Scorer::new(card).ok()));
    }
    assert!(found.len() > 12);
    found
});

/// Makes a random card, compiled.
fn compiled(text: &CardText) -> Scorer {
    let text = text.text(1);
    match card_of(&text, &cards()) {
        Ok(card) => Scorer::new(card).unwrap(),
        Err(message) => panic!("{message}\n{text}"),
    }
}

/// Makes a card from a file, or a random one.
fn scorer() -> impl Strategy<Value = Scorer> {
    prop_oneof![
        1 => any::<Index>().prop_map(|index| index.get(&FILES).clone()),
        2 => card_text().prop_map(|text| compiled(&text)),
    ]
}

/// Seconds between the time of each item and the moment of its score.
const ELAPSED_SECONDS: f64 = 7.0;

/// Calls `look` with the record of an item that breaks no declaration.
fn scored<T>(scorer: &Scorer, facts: &[Fact<'_>], look: impl FnOnce(&Record<'_>) -> T) -> T {
    let mut work = Workspace::new(scorer);
    let at = Timestamp::from_seconds(ELAPSED_SECONDS as i64);
    let context = Context { as_of: Some(WrittenTimestamp { text: "", at }) };
    let mut item = item(facts);
    item.context.time = Some(Timestamp::from_seconds(0));
    let record = scorer.score(&mut work, &item, &context);
    look(&record.unwrap_or_else(|errors| panic!("{errors:?}")))
}

fn units(record: &Record<'_>) -> Option<i64> {
    record.score.map(|score| score.units())
}

/// Writes JSON after RFC 8785, implemented a second time.
fn canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let mut keys: Vec<&String> = members.keys().collect();
            keys.sort_by_key(|key| key.encode_utf16().collect::<Vec<u16>>());
            for (place, key) in keys.into_iter().enumerate() {
                out.push(if place == 0 { b'{' } else { b',' });
                karat_core::json::write_string(out, key);
                out.push(b':');
                canonical(&members[key], out);
            }
            out.extend_from_slice(if members.is_empty() { b"{}" } else { b"}" });
        }
        Value::Array(elements) => {
            out.push(b'[');
            for (place, element) in elements.iter().enumerate() {
                out.extend((place > 0).then_some(b','));
                canonical(element, out);
            }
            out.push(b']');
        }
        Value::Number(number) => karat_core::json::write_number(out, number.as_f64().unwrap()),
        Value::String(text) => karat_core::json::write_string(out, text),
        Value::Bool(_) | Value::Null => out.extend_from_slice(value.to_string().as_bytes()),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn bounds_hold_whatever_the_missing_facts_turn_out_to_be(
        scorer in scorer(),
        first in choices(),
        rest in proptest::collection::vec(choices(), 6),
    ) {
        let card = scorer.card();
        let known = facts(card, &first, false);
        let Some((low, high)) = scored(&scorer, &known, |record| record.bounds) else { return Ok(()) };
        let within = |facts: &[Fact<'_>]| {
            scored(&scorer, facts, |record| {
                let published = record.published.map(|published| published.value);
                let fits = published.is_none_or(|value| (low.value..=high.value).contains(&value));
                prop_assert!(fits, "{published:?} is not in {low}..{high}\nwith {facts:?}\nfrom {known:?}\n{}", describe(card));
                Ok(())
            })
        };
        within(&known)?;
        for choices in &rest {
            within(&fill(card, &known, choices))?;
        }
    }

    #[test]
    fn a_better_fact_never_lowers_a_score(
        scorer in scorer(),
        choices in choices(),
        steps in proptest::collection::vec((any::<u8>(), 0.0..=1.0), 32),
    ) {
        let card = scorer.card();
        let (_, report) = check(card);
        let before = facts(card, &choices, true);
        let Some(from) = scored(&scorer, &before, units) else { return Ok(()) };
        for (name, direction) in &report.directions {
            let at = card.facts.iter().position(|fact| fact.name == *name).unwrap();
            let mut after = before.clone();
            after[at] = Fact::Missing;
            let after = fill(card, &after, &steps);
            let rose = in_column(card.facts[at].kind, after[at]) > in_column(card.facts[at].kind, before[at]);
            let Some(to) = scored(&scorer, &after, units) else { continue };
            let (lower, higher) = if rose { (from, to) } else { (to, from) };
            let holds = match direction {
                Direction::Up => lower <= higher,
                Direction::Down => lower >= higher,
                Direction::Flat => lower == higher,
                Direction::Both => true,
            };
            prop_assert!(holds, "`{name}` is {direction:?}: {before:?} gives {from}, {:?} gives {to}\n{}", after[at], describe(card));
        }
    }

    #[test]
    fn records_are_canonical_and_repeatable(scorer in scorer(), one in choices(), two in choices()) {
        let card = scorer.card();
        let (one, two) = (facts(card, &one, false), facts(card, &two, false));
        let mut work = Workspace::new(&scorer);
        let bytes = record_bytes(&scorer, &mut work, &one).unwrap();
        record_bytes(&scorer, &mut work, &two).unwrap();
        prop_assert_eq!(&record_bytes(&scorer, &mut work, &one).unwrap(), &bytes);
        let mut again = Vec::new();
        canonical(&serde_json::from_slice(&bytes).unwrap(), &mut again);
        prop_assert_eq!(String::from_utf8(again).unwrap(), String::from_utf8(bytes).unwrap());
    }

    #[test]
    fn any_numbers_are_scored_or_refused(scorer in scorer(), numbers in proptest::collection::vec(any::<f64>(), 32)) {
        let facts: Vec<Fact<'_>> = scorer.card().facts.iter().zip(&numbers).map(|(_, &it)| Fact::Number(it)).collect();
        let mut work = Workspace::new(&scorer);
        if let Err(errors) = scorer.score(&mut work, &item(&facts), &Context { as_of: None }) {
            prop_assert!(!errors.is_empty());
        };
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn how_a_card_is_written_does_not_matter(text in card_text(), choices in choices()) {
        let one = compiled(&text);
        let other = Scorer::new(card_of(&text.rewritten(), &cards()).unwrap()).unwrap();
        prop_assert_eq!(one.card().digest, other.card().digest);
        let given = facts(one.card(), &choices, false);
        let moved: Vec<Fact<'_>> = other.card().facts.iter().map(|fact| {
            given[one.card().facts.iter().position(|it| it.name == fact.name).unwrap()]
        }).collect();
        let bytes = record_bytes(&one, &mut Workspace::new(&one), &given);
        prop_assert_eq!(bytes, record_bytes(&other, &mut Workspace::new(&other), &moved));
    }

    #[test]
    fn weights_are_relative(text in card_text(), scale in 2..40u32, choices in choices()) {
        let one = compiled(&text);
        let other = Scorer::new(card_of(&text.text(scale), &cards()).unwrap()).unwrap();
        prop_assert_ne!(one.card().digest, other.card().digest);
        let given = facts(one.card(), &choices, false);
        let said = |scorer: &Scorer| scored(scorer, &given, |record| {
            let dimensions = record.dimensions.iter().map(|it| (it.contribution, it.effective_weight));
            (units(record), record.coverage, record.bounds, dimensions.collect::<Vec<_>>())
        });
        prop_assert_eq!(said(&one), said(&other));
    }

    #[test]
    fn columns_give_the_numbers_of_single_items(scorer in scorer(), rows in proptest::collection::vec(choices(), 1..12), cut in 0..=ROWS) {
        let card = scorer.card();
        let mut rows: Vec<Vec<Fact<'_>>> =
            (0..ROWS).map(|row| facts(card, &rows[row % rows.len()], row % 5 == 0)).collect();
        // Some rows break a declaration.
        let limited = card.facts.iter().position(|fact| fact.kind == FactType::Number && fact.max < 1e9);
        for row in rows.iter_mut().skip(3).step_by(97) {
            limited.into_iter().for_each(|at| row[at] = Fact::Number(card.facts[at].max + 1.0));
        }
        let columns: Vec<Vec<f64>> = card.facts.iter().enumerate()
            .map(|(at, fact)| rows.iter().map(|row| in_column(fact.kind, row[at])).collect())
            .collect();
        let profiles: Vec<u32> = match &card.profiles {
            Some(profiles) => rows.iter().map(|row| {
                let by = row[profiles.by];
                profiles.list.iter().position(|(name, _)| by == Fact::Text(name)).unwrap_or(profiles.fallback) as u32
            }).collect(),
            None => Vec::new(),
        };
        let values: Vec<Column<'_>> = columns.iter().map(|column| Column::Values(column)).collect();
        let elapsed = [ELAPSED_SECONDS; ROWS];
        let (each, all) = (Column::Values(&elapsed), Column::Constant(ELAPSED_SECONDS));
        let wide = score_columns(&scorer, &values, &profiles, each);
        let shortened: Vec<Column<'_>> = columns.iter().map(|column| shortened(column)).collect();
        let sources: Vec<Elsewhere<'_>> = columns.iter().map(|column| Elsewhere(column)).collect();
        let sources: Vec<Column<'_>> = sources.iter().map(|source| Column::Source(source)).collect();
        for columns in [&values, &shortened, &sources] {
            prop_assert_eq!(&wide, &score_columns(&scorer, columns, &profiles, all));
        }
        // In two parts it is the same table.
        let part = |from: usize, to: usize| {
            let values: Vec<Column<'_>> = columns.iter().map(|column| Column::Values(&column[from..to])).collect();
            score_columns(&scorer, &values, profiles.get(from..to).unwrap_or_default(), Column::Values(&elapsed[from..to]))
        };
        let (mut first, second) = (part(0, cut), part(cut, ROWS));
        first.extend(second);
        prop_assert_eq!(&wide, &first);
        for (place, (facts, row)) in rows.iter().zip(wide).enumerate() {
            if let Some(why) = row.broken {
                let mut work = Workspace::new(&scorer);
                let errors = scorer.score(&mut work, &item(facts), &Context::default()).unwrap_err();
                prop_assert!(errors.iter().any(|error| error.to_string() == why), "{} {:?}", why, errors);
                prop_assert!(f64::from_bits(row.score).is_nan() && f64::from_bits(row.coverage).is_nan());
                continue;
            }
            prop_assert!(limited.is_none() || place % 97 != 3, "row {} is not broken", place);
            scored(&scorer, facts, |record| {
                let score = f64::from_bits(row.score);
                prop_assert_eq!(units(record), (!score.is_nan()).then_some(score as i64));
                prop_assert_eq!(record.status, status(score));
                prop_assert_eq!(record.coverage, f64::from_bits(row.coverage) as i64);
                let band = usize::from(row.band).checked_sub(1).map(|at| card.bands[at].name.as_str());
                prop_assert_eq!(record.band, band.filter(|_| record.score.is_some()));
                let tier = usize::from(row.tier).checked_sub(1).map(|at| card.tiers[at].name.as_str());
                prop_assert_eq!(record.tier.as_ref().and_then(|tier| tier.name), tier.filter(|_| record.score.is_some()));
                let readings = row.readings.iter().map(|bits| f64::from_bits(*bits));
                let readings: Vec<Option<i64>> = readings.map(|it| (!it.is_nan()).then_some(it as i64)).collect();
                let expected: Vec<Option<i64>> = record.dimensions.iter().map(|it| it.reading).collect();
                prop_assert_eq!(readings, expected);
                let gates = card.gates.iter().zip(&row.gates).filter(|(_, held)| **held == 1);
                prop_assert_eq!(gates.map(|(gate, _)| gate.name.as_str()).collect::<Vec<_>>(), record.gates.clone());
                Ok(())
            })?;
        }
    }
}

/// A column in the form of another library.
#[derive(Debug)]
struct Elsewhere<'a>(&'a [f64]);

impl Source for Elsewhere<'_> {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn read(&self, start: usize, out: &mut [f64]) {
        let rows = out.len();
        out.copy_from_slice(&self.0[start..start + rows]);
    }
}

/// Everything that a table says of a row, numbers as bits.
#[derive(Debug, PartialEq)]
struct Row {
    score: u64,
    coverage: u64,
    band: u8,
    tier: u8,
    readings: Vec<u64>,
    gates: Vec<u8>,
    broken: Option<String>,
}

/// Rows of a table: more than a block has.
const ROWS: usize = 701;

/// Shortens a column to one value if all of its values are the same.
fn shortened(column: &[f64]) -> Column<'_> {
    match column {
        [first, rest @ ..] if rest.iter().all(|value| value.to_bits() == first.to_bits()) => {
            Column::Constant(*first)
        }
        values => Column::Values(values),
    }
}

fn score_columns(
    scorer: &Scorer,
    columns: &[Column<'_>],
    profiles: &[u32],
    elapsed_seconds: Column<'_>,
) -> Vec<Row> {
    let rows = columns.iter().chain([&elapsed_seconds]).find_map(|column| match column {
        Column::Values(values) => Some(values.len()),
        Column::Source(source) => Some(source.rows()),
        Column::Constant(_) => None,
    });
    let rows = rows.unwrap_or(ROWS);
    let (mut score, mut coverage) = (vec![0.0; rows], vec![0.0; rows]);
    let (mut band, mut tier) = (vec![0; rows], vec![0; rows]);
    let mut readings = vec![vec![0.0; rows]; scorer.card().dimensions.len()];
    let mut gates = vec![vec![0; rows]; scorer.card().gates.len()];
    let mut scores = Scores::new(&mut score, &mut coverage, &mut band, &mut tier);
    (scores.readings, scores.gates) = (&mut readings, &mut gates);
    let columns = Columns { facts: columns, profiles, elapsed_seconds };
    let broken = scorer.score_columns(&mut Workspace::new(scorer), &columns, &mut scores).unwrap();
    let why = |row| broken.iter().find(|it| it.row == row).map(|it| it.error.to_string());
    let of = |row: usize| Row {
        score: score[row].to_bits(),
        coverage: coverage[row].to_bits(),
        band: band[row],
        tier: tier[row],
        readings: readings.iter().map(|readings| readings[row].to_bits()).collect(),
        gates: gates.iter().map(|gates| gates[row]).collect(),
        broken: why(row),
    };
    (0..rows).map(of).collect()
}

/// Returns the formulas of a card, for a message.
fn describe(card: &Scorecard) -> String {
    let mut lines: Vec<String> = vec![format!("{} {:?}", card.name(), card.mean)];
    for dimension in &card.dimensions {
        let text = |formula: &Option<karat_core::formula::Formula>| {
            formula.as_ref().map_or("-", |it| &it.text).to_string()
        };
        lines.push(format!(
            "{} x {} = {} when {} applies {} missing {:?} group {:?}",
            dimension.key,
            dimension.weight,
            dimension.formula.text,
            text(&dimension.when),
            text(&dimension.applies),
            dimension.missing,
            dimension.group
        ));
    }
    lines.extend(card.groups.iter().map(|group| format!("group {} {:?}", group.key, group.mean)));
    lines.extend(card.rules.iter().map(|rule| format!("rule if {} then {}", rule.when.text, rule.set.text)));
    lines.extend(card.gates.iter().map(|gate| format!("gate if {} cap {:?}", gate.when.text, gate.cap)));
    lines.join("\n")
}

proptest! {
    #![proptest_config(config())]

    /// For ages in whole seconds, what is left is the exact fraction, rounded once.
    #[test]
    fn decay_is_exact_for_whole_seconds(reading in 0..=BILLION, age_seconds in 0..2_000_000_000i64) {
        const WEEK: i128 = 604_800;
        let lost = i128::from(age_seconds - 604_800).max(0) * 1_000_000;
        let left = round_ratio((i128::from(reading) * WEEK - lost).max(0), WEEK);
        prop_assert_eq!(i128::from(decayed(DecayRule::default(), reading, age_seconds as f64)), left);
    }
}

#[test]
fn a_profile_that_the_card_does_not_have_is_refused() {
    let scorer = FILES.iter().find(|scorer| scorer.card().profiles.is_some()).unwrap();
    let facts = vec![Column::Constant(f64::NAN); scorer.card().facts.len()];
    let (mut score, mut coverage, mut band, mut tier) = ([0.0; 2], [0.0; 2], [0; 2], [0; 2]);
    let mut scores = Scores::new(&mut score, &mut coverage, &mut band, &mut tier);
    let columns = Columns { facts: &facts, profiles: &[0, 99], elapsed_seconds: Column::Constant(f64::NAN) };
    let error = scorer.score_columns(&mut Workspace::new(scorer), &columns, &mut scores).unwrap_err();
    assert_eq!(error.to_string(), "row 1: the card has no profile of this number");
}

#[test]
fn missing_facts_are_drawn() {
    // The properties mean little if all items are complete or nothing is ever scored.
    let scorer = &FILES[0];
    let (all, none): (Vec<_>, Vec<_>) = (vec![(0, 0.5); 32], vec![(255, 0.5); 32]);
    let missing = |choices: &[(u8, f64)]| {
        let facts = facts(scorer.card(), choices, false);
        (0..facts.len()).filter(|&at| is_missing(scorer.card(), at, facts[at])).count()
    };
    assert_eq!((missing(&all), missing(&none)), (scorer.card().facts.len(), 0));
}

const HEAD: &str =
    "schema = \"karat/scorecard/1\"\nid = \"t\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\n";

#[test]
fn lets_that_double_are_followed_once() {
    // Read naively, the last of these names the missing fact 2^60 times.
    let mut text = format!("{HEAD}[facts]\nx = {{ min = 0, max = 1 }}\n[let]\nl0 = \"x\"\n");
    for at in 1..=60 {
        text += &format!("l{at} = \"min(l{}, l{})\"\n", at - 1, at - 1);
    }
    text += "[[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"clamp(coalesce(l60, 0.25), 0, 1)\"\n";
    let scorer = Scorer::new(card_of(&text, &cards()).unwrap()).unwrap();
    scored(&scorer, &[Fact::Missing], |record| {
        assert_eq!(units(record), Some(UNITS_PER_ONE / 4));
        assert_eq!(record.bounds.map(|(low, high)| (low.to_f64(), high.to_f64())), Some((0.0, 1.0)));
    });
}

#[test]
fn what_was_not_measured_bounds_nothing() {
    let text = format!(
        "{HEAD}[facts]\ndone = {{ min = 0, max = \"asked\" }}\nasked = {{ min = 0, unknown = 0 }}\n\
         [[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"clamp(done / 10, 0, 1)\"\n"
    );
    let scorer = Scorer::new(card_of(&text, &cards()).unwrap()).unwrap();
    let mut work = Workspace::new(&scorer);
    let mut refused = |asked: f64| {
        let facts = [Fact::Number(5.0), Fact::Number(asked)];
        scorer.score(&mut work, &item(&facts), &Context { as_of: None }).is_err()
    };
    assert_eq!([refused(0.0), refused(4.0), refused(5.0)], [false, true, false]);
}

#[test]
fn a_challenge_picks_what_its_formulas_need() {
    let challenge = |dims: &str| {
        let text = "schema = \"karat/scorecard/1\"\nid = \"t\"\nversion = \"1.0.0\"\ntitle = \"t\"\nbase = \"palette@1.0.0\"\n";
        card_of(&format!("{text}[dims]\n{dims}"), &cards())
    };
    let message = challenge("neat = 0.5\nquick = 0.5\n").unwrap_err();
    for needed in ["`solved > 0.5` needs the dimension `solved`", "tier `solid` needs the dimension `solved`"]
    {
        assert!(message.contains(needed), "{message}");
    }
    // Read by the place it had in the palette, `solved` would be another dimension here.
    let scorer = Scorer::new(challenge("joint = 0.4\nsolved = 0.1\nneat = 0.5\n").unwrap()).unwrap();
    let facts = [Fact::Number(0.6), Fact::Number(0.9), Fact::Number(1.0)];
    scored(&scorer, &facts, |record| {
        let readings: Vec<Option<i64>> =
            record.dimensions.iter().map(|dimension| dimension.reading).collect();
        assert_eq!(readings, [Some(540_000_000), Some(600_000_000), Some(900_000_000)]);
        assert_eq!(record.tier.as_ref().and_then(|tier| tier.name), Some("solid"));
    });
}

#[test]
fn the_largest_caps_and_weights_stay_exact() {
    let text = format!(
        "{HEAD}scale = {{ max = 10000, publish = \"half-up\", places = 6 }}\n\
         [facts]\na = {{ min = 0, max = 1 }}\nb = {{ min = 0, max = 1 }}\n\
         [[dimension]]\nkey = \"a\"\nweight = 1\n[[dimension]]\nkey = \"b\"\nweight = 1\n\
         [[gate]]\nname = \"cap\"\nwhen = \"a > 0\"\ncap = 9500.5\n"
    );
    let scorer = Scorer::new(card_of(&text, &cards()).unwrap()).unwrap();
    scored(&scorer, &[Fact::Number(1.0), Fact::Missing], |record| {
        let bounds = record.bounds.map(|(low, high)| (low.to_string(), high.to_string()));
        assert_eq!(bounds, Some(("5000".to_owned(), "9500.5".to_owned())));
    });

    let weighed = |a: &str, b: &str| {
        let text = format!(
            "{HEAD}mean = \"weighted-sum\"\n[facts]\na = {{ min = 0, max = 1 }}\nb = {{ min = 0, max = 1 }}\n\
             [[group]]\nkey = \"g\"\nweight = 1\nmean = \"weighted-mean\"\n\
             [[dimension]]\nkey = \"a\"\nweight = {a}\ngroup = \"g\"\n\
             [[dimension]]\nkey = \"b\"\nweight = {b}\ngroup = \"g\"\n"
        );
        card_of(&text, &cards())
    };
    let contributions = |a: &str, b: &str| {
        let scorer = Scorer::new(weighed(a, b).unwrap()).unwrap();
        scored(&scorer, &[Fact::Number(0.9), Fact::Number(0.7)], |record| {
            record.dimensions.iter().map(|dimension| dimension.contribution).collect::<Vec<_>>()
        })
    };
    assert_eq!(contributions("6000000000000", "2000000000000"), contributions("3", "1"));
    let refused = weighed("9000000000000", "9000000000000").unwrap_err();
    assert!(refused.contains("sum to more than"), "{refused}");
}

#[test]
fn a_guard_on_weights_guards() {
    let guarded = |mean: &str, guard: &str| {
        let text = format!(
            "{HEAD}mean = \"{mean}\"\n{guard}\n[facts]\na = {{ min = 0, max = 1 }}\n\
             [[dimension]]\nkey = \"a\"\nweight = 100\n"
        );
        card_of(&text, &cards()).err().unwrap_or_default()
    };
    let sum = "weights = { sum = 100, tolerance = 1 }";
    assert_eq!(guarded("weighted-mean", sum), "");
    assert!(guarded("weighted-sum", sum).contains("must sum to 1"));
    assert!(guarded("weighted-mean", "weights = { sum = 100, tolerance = 100 }").contains("accepts"));
    assert!(guarded("weighted-mean", "[override]\ntolerance = 1").contains("accepts"));
}

#[test]
fn an_override_beyond_all_sums_is_refused_as_too_large() {
    let text = format!(
        "{HEAD}[override]\ntolerance = 0.5\n[facts]\na = {{ min = 0, max = 1 }}\nb = {{ min = 0, max = 1 }}\n\
         [[dimension]]\nkey = \"a\"\nweight = 0.5\n[[dimension]]\nkey = \"b\"\nweight = 0.5\n"
    );
    let scorer = Scorer::new(card_of(&text, &cards()).unwrap()).unwrap();
    let (most, _) = Decimal::parse("9000000000000").unwrap();
    let scorer = scorer.with_override(&[("a".to_owned(), most), ("b".to_owned(), most)]).unwrap();
    let used = scorer.override_use().unwrap();
    assert!(!used.applied && used.merged_sum > most, "{used:?}");
}

#[test]
fn an_override_that_names_a_dimension_twice_is_refused() {
    let path = root().join("scorecards/trust/1.0.0.toml");
    let scorer = Scorer::new(card(&path, &root().join("scorecards"))).unwrap();
    let weight = |name: &str, millionths| (name.to_owned(), Decimal::from_millionths(millionths));
    for second in [110_000, 120_000] {
        let given = [weight("accuracy", 120_000), weight("safety", 80_000), weight("accuracy", second)];
        let refusal = scorer.with_override(&given).map(|_| ()).unwrap_err();
        assert_eq!(refusal.to_string(), "`accuracy` is given two weights, expected one");
    }
}
