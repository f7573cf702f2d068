//! A maze with mud: the answer is a route, which a script walks and scores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use karat_stats::random::Random;
use serde_json::{Value, json};

use super::maze::{self, Grid, SIDE};
use super::{Game, Run, Way, below};

/// Of this many free fields one is mud.
const MUD_OF: usize = 4;
/// The price of entering mud, of which a free field is 1.
const MUD_PRICE: usize = 3;

pub const GAME: Game = Game {
    slug: "trail",
    title: "Trail",
    briefing: "`trail.txt` is a maze: `#` is a wall, `.` is free, `~` is mud. To enter a field costs 1, mud 3. Answer with the \
               `route` from S to G that costs least: a text with one of `U`, `D`, `L`, `R` for each move. A script walks it.",
    card: "trail@1.0.0",
    category: "reasoning",
    difficulty: "contender",
    time_limit_seconds: 20,
    file: "trail.txt",
    hidden: &["trail/judge.py"],
    make,
    play,
};

fn make(chance: &mut Random) -> (String, Value) {
    let (drawn, _) = maze::make(chance);
    let muddy = |field| if field == '.' && below(chance, MUD_OF) == 0 { '~' } else { field };
    let text: String = drawn.chars().map(muddy).collect();
    let rows: Vec<&str> = text.lines().collect();
    let truth = json!({ "maze": rows });
    (text, truth)
}

fn play(text: &str, way: Way, run: &mut Run) -> Option<Value> {
    let grid = Grid::parse(text)?;
    let path = match way {
        Way::Careful => cheapest(&grid, text, run)?,
        Way::Random => maze::walk(&grid, run)?,
        Way::Exhaustive => maze::every_way(&grid, run)?,
        // These take mud for free ground.
        way => maze::search(&grid, way, run)?,
    };
    Some(json!({ "route": moves(&path) }))
}

/// Searches by what a way has cost so far.
fn cheapest(grid: &Grid, text: &str, run: &mut Run) -> Option<Vec<usize>> {
    let fields: Vec<char> = text.lines().flat_map(str::chars).collect();
    let mut from = vec![None; fields.len()];
    let mut open = BinaryHeap::from([Reverse((0, grid.start, grid.start))]);
    while let Some(Reverse((spent, at, before))) = open.pop() {
        run.step()?;
        let known = from.get_mut(at)?;
        if known.is_some() {
            continue;
        }
        *known = Some(before);
        if at == grid.goal {
            break;
        }
        for field in grid.next(at) {
            let price = if fields.get(field) == Some(&'~') { MUD_PRICE } else { 1 };
            open.push(Reverse((spent + price, field, at)));
        }
    }
    let mut path = vec![grid.goal];
    while let Some(&at) = path.last().filter(|at| **at != grid.start) {
        path.push((*from.get(at)?)?);
    }
    path.reverse();
    Some(path)
}

/// Returns the letters of a path.
fn moves(path: &[usize]) -> String {
    let steps = path.iter().zip(path.iter().skip(1));
    let letters = steps.map(|(from, to)| match to.wrapping_sub(*from) {
        1 => 'R',
        SIDE => 'D',
        _ if to + 1 == *from => 'L',
        _ => 'U',
    });
    letters.collect()
}
