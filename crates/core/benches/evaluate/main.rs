//! Rows per second of two compiled cards against loops written by hand for their one rule, and the time of one record.
//!
//! One thread. Every figure is the best of several rounds over the same columns, in the same run; the sums of all
//! results are compared, so that a fast wrong answer shows.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a benchmark may stop")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "it reads a clock and its arguments"
)]
#![expect(clippy::print_stdout, reason = "it is a program")]

mod by_hand;

use std::hint::black_box;
use std::time::Instant;

use karat_core::evaluate::{Column, Columns, Context, Scorer, Scores, Workspace};
use karat_core::facts::{Digest, Fact, Item, ItemContext};
use karat_core::scorecard::{FactType, Scorecard};

const ROWS: usize = 10_000_000;
/// Rounds, of which the best counts, and passes in each: a clock of the system may go in steps of milliseconds.
const ROUNDS: usize = 4;
const PASSES: usize = 4;
const NAMES: [&str; 3] = ["trust", "workflow", "record"];

fn main() {
    let given = std::env::args().skip_while(|argument| argument != "--rows").nth(1);
    // A run under `cargo test` only asks whether it works.
    let few = std::env::args().any(|argument| argument == "--test").then_some(32 * 300);
    let rows = given.map(|rows| rows.parse().unwrap()).or(few).unwrap_or(ROWS);
    let clock = if processor_seconds().is_some() { "processor time" } else { "wall time" };
    println!("{rows} rows, one thread, best of {ROUNDS} rounds of {PASSES} passes, {clock}");
    // A name as argument chooses one of the three.
    let names: Vec<String> =
        std::env::args().skip(1).filter(|given| NAMES.contains(&given.as_str())).collect();
    let chosen = |name: &str| names.is_empty() || names.iter().any(|given| given == name);
    if chosen("trust") {
        trust(rows);
    }
    if chosen("workflow") {
        workflow(rows);
    }
    if chosen("record") {
        record();
    }
}

fn card(text: &str) -> Scorer {
    Scorer::new(Scorecard::read(text, &|_| None).0.unwrap()).unwrap()
}

/// Returns the numbers of a counter-based generator: the same everywhere.
fn uniform(seed: u64, at: usize) -> f64 {
    let mut x = (at as u64)
        .wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
}

/// Decimals of four places, as scores are given.
fn score_at(seed: u64, at: usize) -> f64 {
    (uniform(seed, at) * 10_000.0).round() / 10_000.0
}

#[derive(Default)]
struct Outputs {
    score: Vec<f64>,
    coverage: Vec<f64>,
    band: Vec<u8>,
    tier: Vec<u8>,
}

impl Outputs {
    fn new(rows: usize) -> Self {
        Self { score: vec![1.0; rows], coverage: vec![1.0; rows], band: vec![1; rows], tier: vec![1; rows] }
    }

    fn scores(&mut self) -> Scores<'_> {
        Scores::new(&mut self.score, &mut self.coverage, &mut self.band, &mut self.tier)
    }

    /// Sums the results as whole numbers, so the sum does not depend on its order.
    fn check(&self) -> (i128, i128, u64) {
        let whole = |values: &[f64]| values.iter().filter(|x| !x.is_nan()).map(|&x| x as i128).sum();
        (whole(&self.score), whole(&self.coverage), self.tier.iter().map(|&tier| u64::from(tier)).sum())
    }
}

/// Returns the time that this thread has spent on a processor: other programs on the machine do not count.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// Seconds that `run` takes.
fn seconds(mut run: impl FnMut()) -> f64 {
    let (start, wall) = (processor_seconds(), Instant::now());
    run();
    let wall = wall.elapsed().as_secs_f64();
    processor_seconds().zip(start).map_or(wall, |(end, start)| end - start)
}

/// One way of scoring the columns of a benchmark: its name, and a pass over all rows.
type Way<'a> = (&'static str, Box<dyn FnMut(&mut Scores<'_>) + 'a>);

/// Measures all ways in turn, round after round, so that a change of the machine's speed meets them all. Prints millions of
/// rows per second, and returns them.
fn measure(ways: &mut [Way<'_>], rows: usize) -> Vec<f64> {
    let mut out = Outputs::new(rows);
    let checks: Vec<_> = (ways.iter_mut())
        .map(|(_, pass)| {
            out = Outputs::new(rows);
            pass(&mut out.scores());
            out.check()
        })
        .collect();
    let passes = PASSES * (ROWS / rows).max(1);
    let mut best = vec![f64::INFINITY; ways.len()];
    for _ in 0..ROUNDS {
        for ((_, pass), best) in ways.iter_mut().zip(&mut best) {
            *best = best.min(seconds(|| (0..passes).for_each(|_| pass(&mut out.scores()))));
        }
    }
    let rates: Vec<f64> = best.iter().map(|best| (rows * passes) as f64 / best / 1e6).collect();
    for ((name, _), rate) in ways.iter().zip(&rates) {
        println!("  {name:<44} {rate:>8.1} M rows/s");
    }
    let same = checks.windows(2).all(|pair| pair[0] == pair[1]);
    println!(
        "  sums of score, coverage, tier: {:?}, {}",
        checks[0],
        if same { "all equal" } else { "NOT EQUAL" }
    );
    assert!(same, "{checks:?}");
    rates
}

/// A rule written by hand: columns in, scores out.
type Loop<'a> = &'a dyn Fn(&[&[f64]], &mut Scores<'_>);

/// Times the compiled card and the loop by hand.
fn compare(scorer: &Scorer, columns: &[Vec<f64>], rows: usize, by_hand: Loop<'_>) {
    let facts: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    // A column of one value means a fact that is the same everywhere.
    let mut table = Vec::new();
    for column in &facts {
        table.push(if let [value] = **column { Column::Constant(value) } else { Column::Values(column) });
    }
    let columns = &Columns { facts: &table, profiles: &[], elapsed_seconds: Column::Constant(f64::NAN) };
    let mut work = Workspace::new(scorer);
    let card = move |out: &mut Scores<'_>| {
        scorer.score_columns(&mut work, columns, out).unwrap();
    };
    let by_hand = |out: &mut Scores<'_>| by_hand(black_box(&facts), out);
    let mut ways: [Way<'_>; 2] = [("card", Box::new(card)), ("loop by hand", Box::new(by_hand))];
    let rates = measure(&mut ways, rows);
    println!("  ratio to the loop by hand: {:.2}", rates[0] / rates[1]);
}

fn trust(rows: usize) {
    let scorer = card(include_str!("../../../../scorecards/trust/1.0.0.toml"));
    println!("trust: 16 dimensions in columns, 20 % missing, gates and tiers");
    let columns: Vec<Vec<f64>> = (scorer.card().facts.iter().enumerate())
        .map(|(place, fact)| {
            let seed = place as u64;
            let value =
                |at: usize| if uniform(seed + 1000, at) < 0.2 { f64::NAN } else { score_at(seed, at) };
            match fact.kind {
                FactType::Boolean => vec![f64::from(u8::from(fact.name.ends_with("_applies")))],
                _ => (0..rows).map(value).collect(),
            }
        })
        .collect();
    let names: Vec<&str> = scorer.card().facts.iter().map(|fact| fact.name.as_str()).collect();
    let at = by_hand::TrustPlaces::new(&names);
    compare(&scorer, &columns, rows, &|facts, out| by_hand::trust(&at, facts, out));
}

fn workflow(rows: usize) {
    let scorer = card(include_str!("../../../../scorecards/workflow/1.0.0.toml"));
    println!("workflow: 4 dimensions behind a gate");
    let columns: Vec<Vec<f64>> = (scorer.card().facts.iter().enumerate())
        .map(|(place, fact)| {
            let seed = 77 + place as u64;
            let value = |at: usize| {
                let (x, whole) = (uniform(seed, at), |most: f64| (uniform(seed, at) * most).floor());
                let steps = 1.0 + (uniform(76, at) * 9.0).floor();
                match fact.name.as_str() {
                    "output_quality" => 0.5 + score_at(seed, at) / 2.0,
                    "steps_total" => steps,
                    "steps_completed" => steps - if x < 0.3 { 1.0 } else { 0.0 },
                    "actual_tao" => 0.03 * x,
                    "max_budget_tao" => 0.01 + 0.02 * x,
                    "actual_seconds" => 12.0 * x,
                    "max_latency_seconds" => 5.0 + 10.0 * x,
                    "actual_retries" | "declared_retry_budget" => whole(4.0),
                    "timeouts" | "hard_failures" => whole(1.4),
                    name => panic!("the benchmark does not know the fact {name}"),
                }
            };
            (0..rows).map(value).collect()
        })
        .collect();
    let names: Vec<&str> = scorer.card().facts.iter().map(|fact| fact.name.as_str()).collect();
    let at = by_hand::WorkflowPlaces::new(&names);
    compare(&scorer, &columns, rows, &|facts, out| by_hand::workflow(&at, facts, out));
}

/// Times one trace of five steps, facts to full record, without serialising.
fn record() {
    let scorer = card(include_str!("../../../../scorecards/trace/1.0.0.toml"));
    let mut work = Workspace::new(&scorer);
    for (name, novelty) in [("novelty given", Some(0.62)), ("novelty missing", None)] {
        let facts: Vec<Fact<'_>> = (scorer.card().facts.iter())
            .map(|fact| match fact.name.as_str() {
                "step_count" => Fact::Number(5.0),
                "step_type_count" => Fact::Number(3.0),
                "thought_count" => Fact::Number(1.0),
                "tool_step_count" | "unique_tool_count" => Fact::Number(2.0),
                "error_recovery_count" => Fact::Number(0.0),
                "success" => Fact::Flag(true),
                "confidence" => Fact::Number(0.92),
                "novelty" => novelty.map_or(Fact::Missing, Fact::Number),
                "task_domain" => Fact::Text("finance"),
                other => panic!("the benchmark does not know the fact {other}"),
            })
            .collect();
        let item = Item {
            subject: "agent",
            id: "trace",
            context: ItemContext::default(),
            digest: Digest([0; 32]),
            facts: &facts,
            grading: None,
            suspicions: &[],
        };
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let mut pass =
                || drop(black_box(scorer.score(&mut work, black_box(&item), &Context::default()).unwrap()));
            best = best.min(seconds(|| (0..20_000).for_each(|_| pass())) / 20_000.0);
        }
        println!("trace of 5 steps to full record, {name}: {:.0} ns", best * 1e9);
    }
}
