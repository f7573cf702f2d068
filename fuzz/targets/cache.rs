//! Any bytes are a saved cache of vectors, or are refused with the place of what is wrong; a cache that was loaded is saved as the
//! same bytes and answers.
//!
//! The first byte chooses whether the digest at the end is left as it is or made right, so that what lies behind it is reached.

use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use karat_graders::trace::novelty::{Item, VectorCache, novelty, observe};

/// Panics if an input breaks the promise.
pub fn check(bytes: &[u8]) {
    let Some((&choice, saved)) = bytes.split_first() else { return };
    let saved = if choice % 2 == 0 { saved.to_vec() } else { sealed(saved).unwrap_or_default() };
    let cache = match VectorCache::load(&saved) {
        Ok(cache) => cache,
        Err(error) => {
            assert!(error.byte <= saved.len() && !error.found.is_empty(), "{error}");
            return;
        }
    };
    assert_eq!(cache.save(), saved, "saved as it was loaded");
    assert!(cache.len() as u64 <= cache.settings().capacity, "no more than fit");
    let moment = cache.entries().last().map_or(Timestamp { milliseconds: 0 }, |entry| entry.moment);
    let vectors: Vec<Vec<f32>> = cache.entries().take(8).map(|entry| entry.vector.to_vec()).collect();
    for vector in vectors {
        assert!(vector.iter().all(|number| number.is_finite()), "{vector:?}");
        let item = Item { id: "another", replaces: &[], vector: Some(&vector) };
        let reading = novelty(&cache, &item, moment);
        assert!(reading.is_ok_and(|reading| (0.0..=1.0).contains(&reading.value)), "{vector:?}");
        let (next, reading) = observe(cache.clone(), &item, moment);
        let stored = reading.is_ok_and(|reading| reading.is_stored);
        assert!(!stored || next.entries().last().is_some_and(|entry| entry.id == item.id), "{item:?}");
    }
}

/// The bytes with the digest that their head and entries have; none if they end before.
fn sealed(saved: &[u8]) -> Option<Vec<u8>> {
    const HEAD: usize = 16 + 5 * 8;
    let number = |at: usize| -> Option<usize> {
        let bytes = saved.get(at..at + 8)?.try_into().ok()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    };
    let (dimension, count) = (number(16 + 8)?, number(16 + 4 * 8)?);
    let mut hashed = saved.get(..HEAD)?.to_vec();
    let mut at = HEAD;
    for _ in 0..count {
        let size = number(at + 8)?.checked_add(dimension.checked_mul(4)?)?.checked_add(16)?;
        let entry = saved.get(at..at.checked_add(size)?)?;
        hashed.extend_from_slice(&Digest::of(entry).0);
        at += size;
    }
    Some([saved.get(..at)?, &Digest::of(&hashed).0].concat())
}
