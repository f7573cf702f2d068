//! The time to find the highest cosine of a vector of 384 numbers against many, exactly, on one core; and what
//! the rest of a novelty costs: the whole observation, the digest of the cache, saving and loading.
//!
//! Run with `cargo bench -p karat-graders --bench novelty`. The smallest time of several rounds is the one that other
//! work on the machine disturbed least.

use std::hint::black_box;
use std::time::Instant;

use karat_core::timestamp::Timestamp;
use karat_graders::trace::novelty::{Item, Settings, VectorCache, observe};

const DIMENSION: usize = 384;
/// Vectors lie around this many centres, as texts on this many topics do.
const CENTRES: usize = 256;
const QUERIES: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut random = Random(1);
    let centres: Vec<Vec<f32>> = (0..CENTRES).map(|_| random.vector()).collect();
    let queries: Vec<Vec<f32>> = (0..QUERIES).map(|_| random.near(&centres)).collect();
    for (count, goal_microseconds, rounds) in [(1_000, 15.0, 200), (100_000, 4_000.0, 12)] {
        let settings = Settings { capacity: count, ..Settings::default() };
        let mut cache = VectorCache::new(settings)?;
        for at in 0..count {
            cache.insert(&format!("kp:trace:{at}"), &random.near(&centres), moment(at))?;
        }
        println!("{count} vectors");
        let best = report("highest cosine", rounds, QUERIES, || {
            for query in &queries {
                black_box(cache.nearest(black_box(query)).ok());
            }
        });
        let verdict = if best < goal_microseconds { "within" } else { "OVER" };
        println!("{:>24}  {verdict} {goal_microseconds} µs", "");
        report("digest", rounds.min(20), 1, || {
            black_box(cache.digest());
        });
        let bytes = cache.save();
        report("save", 5, 1, || {
            black_box(cache.save());
        });
        report("load", 3, 1, || {
            black_box(VectorCache::load(black_box(&bytes)).ok());
        });
        let mut held = Some(cache);
        let mut at = count;
        report("observe", rounds.min(20), QUERIES, || {
            for query in &queries {
                at += 1;
                let id = format!("kp:trace:{at}");
                let item = Item { id: &id, replaces: &[], vector: Some(query) };
                held = held.take().map(|cache| observe(cache, &item, moment(at)).0);
            }
        });
    }
    Ok(())
}

fn moment(at: u64) -> Timestamp {
    Timestamp { milliseconds: at.cast_signed() }
}

/// Prints and returns microseconds of one of the `units` that `work` does.
fn report(name: &str, rounds: usize, units: usize, mut work: impl FnMut()) -> f64 {
    let times = (0..rounds).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e6 / units as f64
    });
    let best = times.fold(f64::INFINITY, f64::min);
    println!("{name:>24}: {best:.2} µs");
    best
}

/// Numbers that look random, the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    /// Returns a number from -1 to 1.
    fn number(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 40) as f32 / 8_388_608.0 - 1.0
    }

    fn vector(&mut self) -> Vec<f32> {
        (0..DIMENSION).map(|_| self.number()).collect()
    }

    /// Returns a vector of length 1 around one of the centres.
    fn near(&mut self, centres: &[Vec<f32>]) -> Vec<f32> {
        let which = ((self.number() + 1.0) * 0.5 * CENTRES as f32) as usize;
        let centre = centres.get(which).map_or(&[][..], Vec::as_slice);
        let sums: Vec<f32> = centre.iter().map(|number| number + self.number()).collect();
        let length = sums.iter().map(|number| number * number).sum::<f32>().sqrt();
        sums.iter().map(|number| number / length).collect()
    }
}
