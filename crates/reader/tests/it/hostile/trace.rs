//! Votes, the cache of vectors and its saved form.

use karat_core::timestamp::Timestamp;
use karat_graders::trace::eigentrust::{Options, Vote, eigentrust, votes};
use karat_graders::trace::novelty::{Basis, Item, Settings, VectorCache, novelty, observe, vector};
use serde_json::{Value, json};

use super::{HALF_PAIRS, SCRIPTS, deep, ends, numbers, ten_megabytes};

const MANY: usize = 100_000;

fn vote(validator: usize, target: usize, is_valid: bool) -> Vote {
    Vote { validator: format!("agent {validator}"), target: format!("agent {target}"), is_valid }
}

#[test]
fn a_hundred_thousand_votes_in_the_worst_forms() {
    const LESS: usize = 30_000;
    let graphs: [Vec<Vote>; 7] = [
        (1..MANY).map(|from| vote(from, 0, true)).collect(),
        (1..LESS).map(|to| vote(0, to, true)).collect(),
        (0..MANY).map(|from| vote(from, (from + 1) % MANY, true)).collect(),
        (0..LESS).map(|from| vote(from, from ^ 1, true)).collect(),
        (0..LESS).map(|from| vote(from, from, true)).collect(),
        (0..MANY).map(|at| vote(at % 2, (at + 1) % 2, at % 3 == 0)).collect(),
        numbers().zip(numbers().skip(1)).take(MANY).map(|(a, b)| vote(a % 500, b % 500, a % 5 > 0)).collect(),
    ];
    for votes in graphs {
        ends(move || {
            let trust = eigentrust(&votes, &Options::default()).unwrap();
            let sum: f64 = trust.scores.iter().map(|(_, score)| score).sum();
            assert!(trust.iterations <= 50 && (sum - 1.0).abs() < 1e-9, "{sum}");
            assert!(trust.scores.iter().all(|(_, score)| (0.0..=1.0).contains(score)));
        });
    }
}

#[test]
fn votes_of_hostile_names() {
    for script in SCRIPTS {
        let list = json!([{"validatorId": script, "targetId": format!("{script}x"), "valid": true}]);
        let read = votes(&list, "$").unwrap_or_default();
        assert_eq!(read.len(), usize::from(!script.trim().is_empty()), "{script:?}");
    }
    ends(|| {
        let name = ten_megabytes("क");
        let list = json!([{"validatorId": name, "targetId": "b", "valid": true}]);
        assert_eq!(eigentrust(&votes(&list, "$").unwrap(), &Options::default()).unwrap().scores.len(), 2);
        let refused = votes(&json!(vec![json!({"validatorId": " "}); MANY]), "$").unwrap_err();
        assert_eq!(refused.len(), 3 * MANY);
    });
    let deep: &Value = Box::leak(Box::new(deep(json!(1), None)));
    assert!(votes(deep, "$").is_err() && vector(deep, "$").is_err());
    for half in HALF_PAIRS {
        assert!(serde_json::from_str::<Value>(half).is_err(), "no votes to read");
    }
}

fn settings(capacity: u64, dimension: usize) -> Settings {
    Settings { capacity, dimension, ttl_milliseconds: None }
}

fn at(milliseconds: i64) -> Timestamp {
    Timestamp { milliseconds }
}

#[test]
fn vectors_of_odd_numbers() {
    let odd = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let finite = [0.0, -0.0, 1e-45, -1e-45, f32::MIN_POSITIVE, 1.0, f32::MAX, f32::MIN];
    let mut cache = VectorCache::new(settings(1000, 2)).unwrap();
    for (id, (a, b)) in finite.iter().flat_map(|a| finite.map(|b| (*a, b))).enumerate() {
        for wrong in odd {
            for vector in [[a, wrong], [wrong, b], [wrong, wrong]] {
                let item = Item { id: "odd", replaces: &[], vector: Some(&vector) };
                assert!(novelty(&cache, &item, at(0)).is_err());
                assert!(cache.nearest(&vector).is_err() && cache.insert("odd", &vector, at(0)).is_err());
            }
        }
        let (next, reading) =
            observe(cache, &Item { id: &id.to_string(), replaces: &[], vector: Some(&[a, b]) }, at(0));
        let reading = reading.unwrap();
        assert!((0.0..=1.0).contains(&reading.value), "{a:e} {b:e}: {reading:?}");
        let is_zero = a == 0.0 && b == 0.0;
        assert_eq!(reading.basis == Basis::ZeroVector, is_zero);
        cache = next;
        // What was stored is found, however small or large.
        if !is_zero {
            let again = cache.nearest(&[a, b]).unwrap().unwrap();
            assert!(again.similarity > 0.999_999, "{a:e} {b:e}: {again:?}");
        }
    }
    assert_eq!(cache.len(), finite.len() * finite.len() - 4);
}

#[test]
fn caches_of_the_largest_sizes() {
    ends(|| {
        let most = Settings::DIMENSION_MAX;
        let mut cache = VectorCache::new(settings(u64::MAX, most)).unwrap();
        for (row, value) in [f32::MAX, 1e-45, 1.0].into_iter().enumerate() {
            cache.insert(&row.to_string(), &vec![value; most], at(0)).unwrap();
        }
        let best = cache.nearest(&vec![f32::MAX; most]).unwrap().unwrap();
        assert!((best.similarity - 1.0).abs() < 1e-9);
        assert!(
            VectorCache::new(settings(1, most + 1)).is_err() && VectorCache::new(settings(1, 0)).is_err()
        );
        assert!(VectorCache::new(settings(1, usize::MAX)).is_err());
    });
    ends(|| {
        // A hundred thousand of one direction, so that nothing can be left out, through a cache that forgets most.
        let mut cache = VectorCache::new(settings(1000, 3)).unwrap();
        for row in 0..MANY {
            cache.insert("same id", &[1.0, 1.0, 1.0], at(row as i64)).unwrap();
        }
        assert_eq!((cache.len(), cache.expire(at(i64::MAX))), (1000, 0));
        let item = Item { id: "same id", replaces: &[], vector: Some(&[1.0, 0.0, 0.0]) };
        assert_eq!(novelty(&cache, &item, at(i64::MAX)).unwrap().compared, 1000);
        let correction = Item { id: "other", replaces: &["same id".to_owned()], ..item };
        assert_eq!(novelty(&cache, &correction, at(i64::MAX)).unwrap().compared, 0);
    });
}

#[test]
fn moments_at_the_ends_of_time() {
    let ttl = Settings { ttl_milliseconds: Some(u64::MAX), ..settings(10, 1) };
    let mut cache = VectorCache::new(ttl).unwrap();
    cache.insert("a", &[1.0], at(i64::MIN)).unwrap();
    cache.insert("b", &[1.0], at(i64::MAX)).unwrap();
    assert!(cache.insert("c", &[1.0], at(0)).is_err(), "time does not go back");
    assert_eq!(cache.expire(at(i64::MAX)), 1, "the age is exactly the time to live");
    for text in ["+275760-09-13T00:00:00Z", "2016-12-31T23:59:60Z", "yesterday", ""] {
        assert!(Timestamp::parse(text).is_err(), "{text}");
    }
    let [first, last] =
        ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"].map(|text| Timestamp::parse(text).unwrap());
    assert!(first < last && last.seconds_since(first) == 315_569_519_999.0);
    for ends in [i64::MIN, i64::MAX] {
        assert!(!at(ends).to_string().is_empty());
    }
}
