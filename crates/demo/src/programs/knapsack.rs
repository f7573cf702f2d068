//! A knapsack: the items of the highest total value that can be carried.

use karat_stats::random::Random;
use serde_json::{Value, json};

use super::{Game, Run, Way, below};

/// The number of random tries.
const DRAWS: usize = 60;

pub const GAME: Game = Game {
    slug: "knapsack",
    title: "Knapsack",
    briefing: "The first line of `items.txt` is what can be carried, each other one the weight and the value of an item. \
               Answer with the highest `value` that can be carried, and the `items` that make it, counted from 0 in \
               ascending order.",
    card: "knapsack@1.0.0",
    category: "optimization",
    difficulty: "veteran",
    time_limit_seconds: 120,
    file: "items.txt",
    hidden: &[],
    make,
    play,
};

struct Sack {
    capacity: usize,
    items: Vec<Item>,
}

#[derive(Clone, Copy)]
struct Item {
    weight: usize,
    value: usize,
}

impl Sack {
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let capacity = lines.next()?.parse().ok()?;
        let item = |line: &str| {
            let (weight, value) = line.split_once(' ')?;
            Some(Item { weight: weight.parse().ok()?, value: value.parse().ok()? })
        };
        Some(Self { capacity, items: lines.map(item).collect::<Option<_>>()? })
    }

    /// Returns the items that fit if they are tried in that order.
    fn fill(&self, order: &[usize]) -> Vec<usize> {
        let mut room = self.capacity;
        let mut chosen: Vec<usize> = order
            .iter()
            .copied()
            .filter(|place| {
                let rest = self.items.get(*place).and_then(|item| room.checked_sub(item.weight));
                room = rest.unwrap_or(room);
                rest.is_some()
            })
            .collect();
        chosen.sort_unstable();
        chosen
    }

    fn value(&self, chosen: &[usize]) -> usize {
        chosen.iter().filter_map(|place| self.items.get(*place)).map(|item| item.value).sum()
    }

    fn answer(&self, chosen: &[usize]) -> Value {
        json!({"value": self.value(chosen), "items": chosen})
    }
}

fn make(chance: &mut Random) -> (String, Value) {
    let count = 10 + below(chance, 15);
    let item = |chance: &mut Random| {
        let weight = 5 + below(chance, 36);
        Item { weight, value: weight + below(chance, 60) }
    };
    let items: Vec<Item> = (0..count).map(|_| item(chance)).collect();
    let capacity = items.iter().map(|item| item.weight).sum::<usize>() / 3;
    let sack = Sack { capacity, items };
    let mut text = format!("{capacity}\n");
    for item in &sack.items {
        text.push_str(&format!("{} {}\n", item.weight, item.value));
    }
    let mut run = Run { steps: 0, limit: u64::MAX, chance: chance.clone(), calls: Vec::new() };
    let best = table(&sack, &mut run).unwrap_or_default();
    let truth = sack.answer(&best);
    (text, truth)
}

fn play(text: &str, way: Way, run: &mut Run) -> Option<Value> {
    let sack = Sack::parse(text)?;
    let mut order: Vec<usize> = (0..sack.items.len()).collect();
    let chosen = match way {
        Way::Careful => table(&sack, run)?,
        Way::Exhaustive => every_choice(&sack, run)?,
        Way::Hasty => {
            run.spend(order.len() as u64)?;
            sack.fill(&order)
        }
        Way::Greedy => {
            run.spend(8 * order.len() as u64)?;
            // By value for its weight, the better first; in integers.
            let worth = |place: &usize| sack.items.get(*place).map(|item| item.value * 1000 / item.weight);
            order.sort_by_key(|place| std::cmp::Reverse(worth(place)));
            sack.fill(&order)
        }
        Way::Random => {
            let mut best = Vec::new();
            for _ in 0..DRAWS {
                run.spend(order.len() as u64)?;
                for place in (1..order.len()).rev() {
                    order.swap(place, run.below(place + 1));
                }
                let chosen = sack.fill(&order);
                if sack.value(&chosen) > sack.value(&best) {
                    best = chosen;
                }
            }
            best
        }
    };
    Some(sack.answer(&chosen))
}

/// Solves it by dynamic programming: the best value for each capacity, item by item. A step is a row.
fn table(sack: &Sack, run: &mut Run) -> Option<Vec<usize>> {
    let mut rows = vec![vec![0usize; sack.capacity + 1]];
    for item in &sack.items {
        run.spend(sack.capacity as u64)?;
        let before = rows.last()?;
        let best = |room: usize| {
            let without = before.get(room).copied().unwrap_or(0);
            let rest = room.checked_sub(item.weight).and_then(|rest| before.get(rest));
            rest.map_or(without, |rest| without.max(rest + item.value))
        };
        let row = (0..=sack.capacity).map(best).collect();
        rows.push(row);
    }
    let (mut room, mut chosen) = (sack.capacity, Vec::new());
    for (place, item) in sack.items.iter().enumerate().rev() {
        if rows.get(place + 1)?.get(room) != rows.get(place)?.get(room) {
            chosen.push(place);
            room -= item.weight;
        }
    }
    chosen.reverse();
    Some(chosen)
}

/// Tries every choice, one step each.
fn every_choice(sack: &Sack, run: &mut Run) -> Option<Vec<usize>> {
    let count = u32::try_from(sack.items.len()).ok()?;
    let mut best = Vec::new();
    for choice in 0..1u64.checked_shl(count)? {
        run.step()?;
        let chosen: Vec<usize> = (0..sack.items.len()).filter(|place| choice >> place & 1 == 1).collect();
        let weight: usize =
            chosen.iter().filter_map(|place| sack.items.get(*place)).map(|item| item.weight).sum();
        if weight <= sack.capacity && sack.value(&chosen) > sack.value(&best) {
            best = chosen;
        }
    }
    Some(best)
}
