//! The cache as a value, its saved form, and the readings.

use std::collections::VecDeque;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn at(milliseconds: i64) -> Timestamp {
    Timestamp { milliseconds }
}

fn cache(capacity: u64, dimension: usize, ttl_milliseconds: Option<u64>) -> VectorCache {
    VectorCache::new(Settings { capacity, dimension, ttl_milliseconds }).unwrap()
}

fn ids(cache: &VectorCache) -> Vec<String> {
    cache.entries().map(|entry| entry.id.to_owned()).collect()
}

/// Observes and expects a reading.
fn read(cache: VectorCache, id: &str, vector: &[f32], moment: i64) -> (VectorCache, Novelty) {
    let (cache, novelty) = observe(cache, &Item { id, replaces: &[], vector: Some(vector) }, at(moment));
    (cache, novelty.unwrap())
}

mod cache_as_a_value {
    use super::*;

    #[test]
    fn an_age_that_is_the_time_to_live_is_expired() {
        let mut cache = cache(9, 1, Some(310));
        cache.insert("a", &[1.0], at(0)).unwrap();
        assert_eq!((cache.expire(at(309)), cache.len()), (0, 1));
        assert_eq!((cache.expire(at(310)), cache.len()), (1, 0));
    }

    #[test]
    fn a_time_to_live_of_nothing_keeps_nothing() {
        let mut cache = cache(9, 1, Some(0));
        cache.insert("a", &[1.0], at(5)).unwrap();
        assert_eq!(cache.expire(at(5)), 1);
    }

    #[test]
    fn moments_as_far_apart_as_can_be_do_not_overflow() {
        let mut cache = cache(9, 1, Some(u64::MAX));
        cache.insert("a", &[1.0], at(i64::MIN)).unwrap();
        assert_eq!(cache.expire(at(i64::MAX - 1)), 0);
        assert_eq!(cache.expire(at(i64::MAX)), 1);
    }

    #[test]
    fn no_room_holds_nothing() {
        let (cache, novelty) = read(cache(0, 1, None), "a", &[1.0], 0);
        assert!(cache.is_empty() && !novelty.is_stored);
        assert_eq!(read(cache, "b", &[1.0], 1).1.value, 0.5);
    }

    #[test]
    fn a_capacity_beyond_all_memory_costs_none() {
        let mut cache = cache(u64::MAX, 1, None);
        cache.insert("a", &[1.0], at(0)).unwrap();
        assert_eq!(cache.len(), 1);
    }

    #[test]
    fn what_is_refused_changes_nothing() {
        let mut cache = cache(2, 2, None);
        cache.insert("a", &[1.0, 0.0], at(10)).unwrap();
        let before = cache.save();
        let refused = [
            cache.insert("b", &[1.0], at(10)).unwrap_err(),
            cache.insert("b", &[1.0, 2.0, 3.0], at(10)).unwrap_err(),
            cache.insert("b", &[1.0, f32::NAN], at(10)).unwrap_err(),
            cache.insert("b", &[f32::INFINITY, 1.0], at(10)).unwrap_err(),
            cache.insert("b", &[1.0, 0.0], at(9)).unwrap_err(),
        ];
        assert_eq!(
            refused.map(|wrong| wrong.at("$.v").to_string()),
            [
                "$.v: found 1 numbers, expected 2 numbers, the dimension of the cache; vectors of one cache come from one \
             embedder; use the one that the cache was filled with, or a new cache",
                "$.v: found 3 numbers, expected 2 numbers, the dimension of the cache; vectors of one cache come from one \
             embedder; use the one that the cache was filled with, or a new cache",
                "$.v[1]: found NaN, expected a finite number of 32 bits",
                "$.v[0]: found inf, expected a finite number of 32 bits",
                "$.v: found a vector of 1970-01-01T00:00:00.009Z, expected one not before 1970-01-01T00:00:00.010Z, the moment of the newest in the cache; \
             score in the order of time, or give the cache as it was then",
            ]
        );
        assert!(cache.nearest(&[1.0]).is_err() && cache.nearest(&[f32::NAN, 0.0]).is_err());
        assert_eq!(cache.save(), before);
    }

    #[test]
    fn dimensions_without_a_meaning_are_refused() {
        for dimension in [0, Settings::DIMENSION_MAX + 1, usize::MAX] {
            assert!(VectorCache::new(Settings { dimension, ..Settings::default() }).is_err(), "{dimension}");
        }
    }

    #[derive(Debug, Clone)]
    enum Step {
        Insert(Vec<f32>),
        Advance(i64),
        Expire,
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            6 => vec(-2_i8..=2, 3).prop_map(|numbers| Step::Insert(numbers.into_iter().map(f32::from).collect())),
            3 => (0_i64..50).prop_map(Step::Advance),
            1 => Just(Step::Expire),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        #[test]
        fn it_is_a_list_with_a_front_and_a_back(
            capacity in 0_u64..5,
            ttl in proptest::option::of(0_u64..100),
            steps in vec(step(), 0..60),
        ) {
            let mut cache = cache(capacity, 3, ttl);
            let mut model: VecDeque<(String, i64, Vec<f32>)> = VecDeque::new();
            let mut now = 0;
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Insert(vector) => {
                        cache.insert(&number.to_string(), &vector, at(now)).unwrap();
                        model.push_back((number.to_string(), now, vector));
                        if model.len() as u64 > capacity {
                            model.pop_front();
                        }
                    }
                    Step::Advance(by) => now += by,
                    Step::Expire => {
                        cache.expire(at(now));
                        model.retain(|(_, moment, _)| ttl.is_none_or(|ttl| ((now - moment) as u64) < ttl));
                    }
                    Step::Clear => {
                        cache.clear();
                        model.clear();
                    }
                }
                let found: Vec<_> = cache
                    .entries()
                    .map(|entry| (entry.id.to_owned(), entry.moment.milliseconds, entry.vector.to_vec()))
                    .collect();
                prop_assert_eq!(&found, &Vec::from(model.clone()));
                let loaded = VectorCache::load(&cache.save()).unwrap();
                prop_assert_eq!(loaded.save(), cache.save());
                prop_assert_eq!(loaded.digest(), cache.digest());
            }
        }
    }
}

mod saved_form {
    use super::*;

    fn small() -> VectorCache {
        let mut cache = cache(3, 2, Some(1000));
        cache.insert("é", &[1.0, -2.0], at(-1)).unwrap();
        cache.insert("", &[0.5, 0.0], at(7)).unwrap();
        cache
    }

    /// Returns `small` written by hand. If this fails, saved caches and digests in records no longer mean what they
    /// did.
    fn by_hand() -> (Vec<u8>, [Vec<u8>; 2]) {
        let number = |number: u64| number.to_le_bytes();
        let mut head = b"karat vectors 2\n".to_vec();
        for word in [3, 2, 1, 1000, 2] {
            head.extend(number(word));
        }
        let first = [&number(u64::MAX)[..], &number(2), &[0xc3, 0xa9], &[0, 0, 0x80, 0x3f], &[0, 0, 0, 0xc0]];
        let second = [&number(7)[..], &number(0), &[0, 0, 0, 0x3f], &[0, 0, 0, 0]];
        (head, [first.concat(), second.concat()])
    }

    /// Returns the digest of a head and entries, from its definition.
    fn digest_by_hand(head: &[u8], entries: &[Vec<u8>]) -> Digest {
        let digests: Vec<[u8; 32]> = entries.iter().map(|entry| Digest::of(entry).0).collect();
        let chunks = digests.split_inclusive(|digest| digest[0] % 32 == 0);
        let of_chunks: Vec<u8> = chunks.flat_map(|chunk| Digest::of(&chunk.concat()).0).collect();
        Digest::of(&[head, &of_chunks].concat())
    }

    proptest! {
        #[test]
        fn the_digest_is_that_of_the_content(
            capacity in 1_u64..200,
            ttl in proptest::option::of(1_u64..300),
            steps in vec((0_i64..5, 0_u8..255), 0..400),
        ) {
            let mut cache = cache(capacity, 1, ttl);
            let mut now = 0;
            for (later, id) in steps {
                now += later;
                cache.expire(at(now));
                cache.insert(&id.to_string(), &[1.0], at(now)).unwrap();
                let mut head = b"karat vectors 2\n".to_vec();
                let life = [u64::from(ttl.is_some()), ttl.unwrap_or(0)];
                for word in [capacity, 1, life[0], life[1], cache.len() as u64] {
                    head.extend(word.to_le_bytes());
                }
                let entry = |entry: Entry<'_>| {
                    let words = [entry.moment.milliseconds.cast_unsigned(), entry.id.len() as u64];
                    let head = words.map(u64::to_le_bytes).concat();
                    [&head[..], entry.id.as_bytes(), &entry.vector[0].to_le_bytes()].concat()
                };
                let entries: Vec<Vec<u8>> = cache.entries().map(entry).collect();
                prop_assert_eq!(cache.digest(), digest_by_hand(&head, &entries));
            }
            prop_assert_eq!(VectorCache::load(&cache.save()).unwrap().digest(), cache.digest());
        }
    }

    #[test]
    fn its_bytes_and_its_digest_are_fixed() {
        let (head, entries) = by_hand();
        let digest = digest_by_hand(&head, &entries);
        assert_eq!(small().digest(), digest);
        assert_eq!(small().save(), [&head[..], &entries.concat(), &digest.0].concat());
    }

    #[test]
    fn everything_counts_for_the_digest() {
        let mut digests: Vec<Digest> = [
            (3, 2, Some(1000), "a", 0.5, 7),
            (4, 2, Some(1000), "a", 0.5, 7),
            (3, 2, Some(1001), "a", 0.5, 7),
            (3, 2, None, "a", 0.5, 7),
            (3, 2, Some(0), "a", 0.5, 7),
            (3, 2, Some(1000), "b", 0.5, 7),
            (3, 2, Some(1000), "a", 0.25, 7),
            (3, 2, Some(1000), "a", 0.5, 8),
        ]
        .map(|(capacity, dimension, ttl, id, number, moment)| {
            let mut cache = cache(capacity, dimension, ttl);
            cache.insert(id, &[number, 1.0], at(moment)).unwrap();
            cache.digest()
        })
        .into();
        digests.push(cache(3, 2, Some(1000)).digest());
        digests.push(cache(3, 3, Some(1000)).digest());
        digests.sort_by_key(|digest| digest.0);
        digests.dedup();
        assert_eq!(digests.len(), 10);
    }

    #[test]
    fn what_is_cut_short_or_too_long_is_refused() {
        let bytes = small().save();
        for end in 0..bytes.len() {
            assert!(VectorCache::load(&bytes[..end]).is_err(), "{end}");
        }
        let longer = [&bytes[..], b"?"].concat();
        assert_eq!(
            VectorCache::load(&longer).unwrap_err().to_string(),
            format!("byte {}: found 1 bytes more, expected the end", bytes.len())
        );
    }

    #[test]
    fn every_bit_that_flips_is_noticed() {
        let bytes = small().save();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(VectorCache::load(&damaged).is_err(), "bit {bit}");
        }
    }

    /// Returns the error for the saved form of `small` with other bytes at a place.
    fn refused(place: usize, bytes: &[u8]) -> String {
        let mut saved = small().save();
        saved[place..place + bytes.len()].copy_from_slice(bytes);
        VectorCache::load(&saved).unwrap_err().to_string()
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let word = u64::to_le_bytes;
        assert_eq!(
            refused(0, b"PK\x03\x04"),
            "byte 0: found `PK\\x03\\x04t vectors 2\\n`, expected `karat vectors 2\\n`, a saved cache"
        );
        assert!(refused(14, b"3").starts_with("byte 0: found `karat vectors 3\\n`"));
        assert_eq!(VectorCache::load(b"").unwrap_err().found, "``");
        assert_eq!(refused(24, &word(0)), "byte 24: found the dimension 0, expected 1 to 65536");
        assert_eq!(
            refused(24, &word(u64::MAX)),
            "byte 24: found the dimension 18446744073709551615, expected 1 to 65536"
        );
        assert_eq!(
            refused(24, &word(65_536)),
            "byte 74 (entry 0): found 64 bytes, expected 262144 bytes or more",
        );
        assert!(refused(32, &word(0)).starts_with("byte 32: found 0 and 1000, expected 0 and 0 for no time"));
        assert_eq!(refused(48, &word(4)), "byte 48: found 4 entries, expected at most 3, the capacity");
        assert!(
            refused(64, &word(u64::MAX)).starts_with("byte 72 (entry 0): found 66 bytes, expected 184467")
        );
        assert_eq!(refused(73, b"!"), "byte 72 (entry 0): found an id that is not UTF-8, expected UTF-8");
        assert_eq!(
            refused(74, &f32::NAN.to_le_bytes()),
            "byte 74 (entry 0): found NaN, expected a finite number of 32 bits"
        );
        assert_eq!(
            refused(102, &f32::NEG_INFINITY.to_le_bytes()),
            "byte 102 (entry 1): found -inf, expected a finite number of 32 bits"
        );
        assert!(
            refused(82, &word(i64::MIN.cast_unsigned()))
                .starts_with("byte 82 (entry 1): found a vector of -292275055-05-16T16:47:04.192Z")
        );
        assert!(refused(106, &[0]).contains("found the digest of another content, expected `sha256:"));
    }

    #[test]
    fn a_head_that_promises_the_world_gets_nothing() {
        let mut bytes = b"karat vectors 2\n".to_vec();
        for word in [u64::MAX, 65_536, 0, 0, u64::MAX] {
            bytes.extend(word.to_le_bytes());
        }
        assert!(
            VectorCache::load(&bytes)
                .unwrap_err()
                .to_string()
                .starts_with("byte 56 (entry 0): found 0 bytes")
        );
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_cache_or_an_error(bytes in vec(any::<u8>(), 0..300), is_ours in any::<bool>()) {
            let bytes = if is_ours { [&by_hand().0[..], &bytes].concat() } else { bytes };
            prop_assert!(VectorCache::load(&bytes).is_err());
        }
    }
}

mod readings {
    use super::*;

    const EAST: [f32; 2] = [1.0, 0.0];
    const NORTH: [f32; 2] = [0.0, 1.0];
    const NORTH_EAST: [f32; 2] = [3.0, 4.0];

    fn empty() -> VectorCache {
        cache(5, 2, None)
    }

    #[test]
    fn a_trace_scored_twice_does_not_lower_its_own_novelty() {
        let (cache, _) = read(empty(), "a", &EAST, 0);
        let (cache, first) = read(cache, "b", &NORTH_EAST, 1);
        let before = cache.digest();
        let (cache, again) = read(cache, "b", &NORTH_EAST, 2);
        assert_eq!((first.value, again.value), (0.4, 0.4));
        assert!(again.is_repeat && !again.is_stored);
        assert_eq!(cache.digest(), before, "and fills no place");
        // Nor do copies by others that came later.
        let (cache, copy) = read(cache, "thief", &NORTH_EAST, 3);
        assert_eq!(copy.value, 0.0);
        let (cache, again) = read(cache, "b", &NORTH_EAST, 4);
        assert_eq!((again.value, again.compared), (0.4, 1));
        let (_, again) = read(cache, "a", &EAST, 5);
        assert_eq!((again.value, again.basis), (0.5, Basis::NothingEarlier));
    }

    #[test]
    fn an_id_with_another_text_is_another_trace() {
        let (cache, _) = read(empty(), "a", &EAST, 0);
        let (cache, _) = read(cache, "b", &NORTH, 1);
        // Or else a subject that keeps to one id would never repeat itself.
        let (cache, changed) = read(cache, "a", &[1.0, 0.1], 2);
        assert_eq!((changed.nearest.unwrap().id.as_str(), changed.compared), ("a", 2));
        assert!(!changed.is_repeat && changed.is_stored);
        assert_eq!(ids(&cache), ["a", "b", "a"]);
    }

    #[test]
    fn a_correction_is_compared_with_all_but_what_it_corrects() {
        let (cache, _) = read(empty(), "a", &EAST, 0);
        let (cache, _) = read(cache, "b", &NORTH, 1);
        let correction = Item { id: "a2", replaces: &["a".to_owned()], vector: Some(&NORTH_EAST) };
        let (cache, corrected) = observe(cache, &correction, at(2));
        let corrected = corrected.unwrap();
        assert_eq!((corrected.nearest.unwrap().id.as_str(), corrected.compared), ("b", 1));
        assert_eq!(ids(&cache), ["a", "b", "a2"]);
        // It does not hide what others did in the meantime.
        let copy = Item { id: "a3", replaces: &["a2".to_owned()], vector: Some(&NORTH) };
        assert_eq!(novelty(&cache, &copy, at(3)).unwrap().value, 0.0);
    }

    #[test]
    fn the_reading_names_what_it_saw() {
        let (cache, _) = read(empty(), "a", &EAST, 5);
        let (cache, novelty) = read(cache.clone(), "b", &NORTH_EAST, 6);
        assert_eq!(ids(&cache), ["a", "b"]);
        let given = read(empty(), "a", &EAST, 5).0.digest().to_string();
        assert_eq!(
            novelty.detail(),
            json!({
                "novelty": 0.4, "basis": "compared", "compared": 1, "expired": 0, "repeat": false, "stored": true,
                "nearest": {"id": "a", "moment": "1970-01-01T00:00:00.005Z", "similarity": 0.6}, "cache": given,
                "capacity": 5, "dimension": 2, "ttl_milliseconds": null,
            })
        );
    }

    #[test]
    fn what_points_away_is_new_but_not_newer_than_new() {
        let (cache, _) = read(empty(), "a", &EAST, 0);
        let (_, novelty) = read(cache, "b", &[-1.0, 0.0], 1);
        assert_eq!(novelty.value, 1.0);
        assert_eq!(novelty.nearest.unwrap().similarity, -1.0, "the similarity is told as it is");
    }

    #[test]
    fn a_similarity_one_rounding_step_above_one_is_no_negative_novelty() {
        let vector = [-1e30, 2e30, -3e30];
        let (cache, _) = read(cache(5, 3, None), "a", &vector, 0);
        let (_, novelty) = read(cache, "b", &vector, 1);
        assert!(novelty.nearest.unwrap().similarity > 1.0);
        assert_eq!(novelty.value.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn what_has_no_direction_or_no_vector_is_half_new_and_not_stored() {
        let (cache, _) = read(empty(), "a", &EAST, 0);
        let before = cache.digest();
        let (cache, zero) = read(cache, "b", &[0.0, -0.0], 1);
        assert_eq!((zero.value, zero.basis, zero.is_stored), (0.5, Basis::ZeroVector, false));
        let (cache, none) = observe(cache, &Item { id: "b", replaces: &[], vector: None }, at(1));
        let none = none.unwrap();
        assert_eq!((none.value, none.basis, none.is_stored), (0.5, Basis::NoVector, false));
        assert_eq!(cache.digest(), before);
    }

    #[test]
    fn a_topic_is_new_again_after_the_time_to_live() {
        let (cache, _) = read(cache(5, 2, Some(100)), "a", &EAST, 0);
        let (cache, _) = read(cache, "b", &NORTH, 60);
        assert_eq!(read(cache.clone(), "c", &EAST, 99).1.value, 0.0);
        let (cache, novelty) = read(cache, "c", &EAST, 100);
        assert_eq!((novelty.value, novelty.expired, novelty.compared), (1.0, 1, 1));
        assert_eq!(ids(&cache), ["b", "c"]);
        assert_eq!(read(cache, "d", &EAST, 1000).1.basis, Basis::NothingEarlier);
    }

    #[test]
    fn a_vector_of_another_length_is_an_error_and_no_nonsense() {
        let (before, _) = read(empty(), "a", &EAST, 0);
        for vector in [&[][..], &[1.0], &[1.0, 0.0, 0.0], &[f32::NAN, 0.0]] {
            let (after, novelty) =
                observe(before.clone(), &Item { id: "b", replaces: &[], vector: Some(vector) }, at(1));
            assert!(novelty.is_err() && after.digest() == before.digest(), "{vector:?}");
        }
        let (_, novelty) = observe(before, &Item { id: "b", replaces: &[], vector: Some(&EAST) }, at(-1));
        assert!(novelty.is_err(), "time does not go back");
    }

    #[test]
    fn what_was_scored_is_scored_again_whatever_came_since() {
        let (cache, _) = read(cache(5, 2, Some(100)), "a", &EAST, 0);
        let (cache, first) = read(cache, "b", &NORTH_EAST, 10);
        let (cache, _) = read(cache, "c", &NORTH_EAST, 20);
        let before = cache.digest();
        let (cache, again) = read(cache, "b", &NORTH_EAST, 10);
        assert_eq!((again.value, again.is_repeat), (first.value, true));
        assert_eq!(cache.digest(), before);
    }

    #[test]
    fn reading_alone_stores_nothing_and_reads_the_same() {
        let (cache, _) = read(cache(5, 2, Some(100)), "a", &EAST, 0);
        for moment in [50, 100] {
            let item = Item { id: "b", replaces: &[], vector: Some(&NORTH_EAST) };
            let before = cache.digest();
            let alone = novelty(&cache, &item, at(moment)).unwrap();
            assert_eq!(cache.digest(), before);
            let (_, observed) = read(cache.clone(), "b", &NORTH_EAST, moment);
            assert_eq!(Novelty { is_stored: true, ..alone }, observed);
        }
    }

    #[test]
    fn ids_of_any_size_and_many_of_one_are_read_in_their_time() {
        let long = "x".repeat(10_000_000);
        let (cache, _) = read(empty(), &long, &EAST, 0);
        assert!(read(cache, &long, &EAST, 1).1.is_repeat);
        let mut many = cache_of_one_id(20_000);
        many.insert("other", &NORTH, at(0)).unwrap();
        let correction = Item { id: "new", replaces: &["one".to_owned()], vector: Some(&NORTH_EAST) };
        let novelty = novelty(&many, &correction, at(0)).unwrap();
        assert_eq!((novelty.compared, novelty.value), (1, 1.0 - 0.8));
        assert_eq!(read(many, "one", &NORTH_EAST, 0).1.compared, 20_001);
    }

    fn cache_of_one_id(count: usize) -> VectorCache {
        let mut cache = cache(u64::MAX, 2, None);
        for at_row in 0..count {
            cache.insert("one", &[1.0, at_row as f32], at(0)).unwrap();
        }
        cache
    }

    proptest! {
        #[test]
        fn a_second_reading_is_the_first(
            before in vec(vec(-2_i8..=2, 2), 0..6),
            own in vec(-2_i8..=2, 2),
            after in vec(vec(-2_i8..=2, 2), 0..6),
        ) {
            let float = |numbers: &[i8]| -> Vec<f32> { numbers.iter().copied().map(f32::from).collect() };
            let mut state = cache(100, 2, None);
            for (number, vector) in before.iter().enumerate() {
                state = read(state, &format!("before {number}"), &float(vector), 0).0;
            }
            let (mut state, first) = read(state, "own", &float(&own), 1);
            for (number, vector) in after.iter().enumerate() {
                state = read(state, &format!("after {number}"), &float(vector), 2).0;
            }
            let (_, second) = read(state, "own", &float(&own), 3);
            prop_assert_eq!(first.value, second.value);
            prop_assert_eq!(first.nearest, second.nearest);
        }
    }
}

#[test]
fn vectors_in_evidence_are_checked_number_by_number() {
    assert_eq!(vector(&json!([0.1, 0.300_000_001]), "$.v").unwrap(), [0.1, 0.3]);
    let wrong = vector(&json!([1, "2", null, 1e39, [1], -3.5e38]), "$.v").unwrap_err();
    let paths: Vec<&str> = wrong.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["$.v[1]", "$.v[2]", "$.v[3]", "$.v[4]", "$.v[5]"]);
    assert_eq!(
        vector(&json!({}), "$.v").unwrap_err().to_string(),
        "$.v: found an object, expected an array of numbers"
    );
    let many = vector(&json!(vec!["x"; 100_000]), "$.v").unwrap_err();
    assert_eq!((many.iter().count(), many.len()), (Problems::LISTED, 100_000));
}
