//! Free slots of a day: the answer is a program, which hidden cases call.

use karat_stats::random::Random;
use serde_json::{Value, json};

use super::{Game, Run, Way, below, example};

/// The meetings of an example.
const MEETINGS: usize = 4;

pub const GAME: Game = Game {
    slug: "slots",
    title: "Free slots",
    briefing: "Write `free_slots(busy, opens, closes, least)` in Python and answer with its source as `code`. `busy` is a list of \
               meetings `[start, end]` in minutes, in any order, which may overlap; a meeting of no length takes no time. \
               Return the free slots `[start, end]` from `opens` to `closes` that are at least `least` long, in their order. \
               `day.json` has the meetings of a day. Hidden cases call the function.",
    card: "slots@1.0.0",
    category: "coding",
    difficulty: "veteran",
    time_limit_seconds: 60,
    file: "day.json",
    hidden: &["slots/cases.toml"],
    make,
    play,
};

/// An instance has meetings to look at; the cases are the same everywhere.
fn make(chance: &mut Random) -> (String, Value) {
    let meetings = (0..MEETINGS).map(|_| {
        let start = 480 + 15 * below(chance, 30);
        [start, start + 15 * (1 + below(chance, 8))]
    });
    let day = json!({ "busy": meetings.collect::<Vec<_>>(), "opens": 480, "closes": 1020, "least": 30 });
    (format!("{day}\n"), json!({}))
}

/// Each program writes its way of solving the problem down. Who thinks about more writes longer.
fn play(_: &str, way: Way, run: &mut Run) -> Option<Value> {
    let (name, steps) = match way {
        Way::Careful => ("careful", 900),
        Way::Greedy => ("greedy", 500),
        Way::Hasty => ("hasty", 200),
        Way::Random => ("random", 300),
        Way::Exhaustive => ("exhaustive", 2000),
    };
    run.spend(steps)?;
    Some(json!({ "code": example(&format!("slots/{name}.py"))? }))
}
