//! The panels of twelve that a jury sums up in a second, on one core, from rows in memory: sort, trim, median, mean, median
//! deviation, agreement.
//!
//! Run with `cargo bench -p karat-graders --bench jury`. The best of several rounds is the one that other work on the
//! machine disturbed least; every round must come to the same sum of medians.

use std::hint::black_box;
use std::time::Instant;

use karat_graders::trust::jury::{Seat, summarize};

const SEATS: usize = 12;
const PANELS: usize = 1 << 20;
const ROUNDS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = rows();
    let mut best = f64::INFINITY;
    let mut sums = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut sum = 0.0;
        for panel in black_box(&rows).chunks_exact(SEATS) {
            let summary = black_box(summarize(panel, 10.0)).ok_or("a panel without a median")?;
            sum += summary.median;
        }
        best = best.min(start.elapsed().as_secs_f64());
        sums.push(sum);
    }
    if sums.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err(format!("rounds differ: {sums:?}").into());
    }
    println!(
        "jury of {SEATS} from rows: {:.1} M panels/s, {:.1} ns a panel (mean of medians {:.3})",
        PANELS as f64 / best / 1e6,
        best / PANELS as f64 * 1e9,
        sums.first().unwrap_or(&0.0) / PANELS as f64
    );
    Ok(())
}

/// Points in tenths around a level of each panel, with an outlier now and then, from a fixed generator (splitmix64).
fn rows() -> Vec<Seat> {
    let mut state = 0u64;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    let mut rows = Vec::with_capacity(PANELS * SEATS);
    for _ in 0..PANELS {
        let level = next() % 700;
        for judge in 0..SEATS as u32 {
            let draw = next();
            let tenths = if draw % 16 == 0 { draw % 1001 } else { level + (draw >> 8) % 301 };
            rows.push(Seat { judge, points: tenths as f64 / 10.0 });
        }
    }
    rows
}
