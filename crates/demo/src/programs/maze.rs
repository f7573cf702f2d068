//! A maze drawn in letters: the shortest way from S to G.

use std::collections::{BTreeSet, VecDeque};

use karat_stats::random::Random;
use serde_json::{Value, json};

use super::{Game, Run, Way, below};

/// The fields on each side, walls included; odd.
pub(super) const SIDE: usize = 21;
/// The walls that are removed again, so that there is more than one way.
const GAPS: usize = 12;

pub const GAME: Game = Game {
    slug: "maze",
    title: "Maze",
    briefing: "`maze.txt` is a maze: `#` is a wall, `.` is free. Answer with the `length` of the shortest way from S to \
               G in moves, with the fields that it goes through as `path`, a list of `COLUMN,ROW` counted from 0, and \
               with your `method`, a text.",
    card: "maze@1.0.0",
    category: "reasoning",
    difficulty: "contender",
    time_limit_seconds: 20,
    file: "maze.txt",
    hidden: &[],
    make,
    play,
};

/// A maze; a field is its index in the rows, written one after the other.
pub(super) struct Grid {
    pub walls: Vec<bool>,
    pub start: usize,
    pub goal: usize,
}

impl Grid {
    pub fn parse(text: &str) -> Option<Self> {
        let fields: Vec<char> = text.lines().flat_map(str::chars).collect();
        let find = |letter| fields.iter().position(|it| *it == letter);
        let (start, goal) = (find('S')?, find('G')?);
        Some(Self { walls: fields.iter().map(|it| *it == '#').collect(), start, goal })
    }

    pub fn next(&self, at: usize) -> impl Iterator<Item = usize> {
        let around = [at.wrapping_sub(SIDE), at.wrapping_sub(1), at + 1, at + SIDE];
        around.into_iter().filter(|field| self.walls.get(*field) == Some(&false))
    }

    /// Returns the distance of two fields without walls.
    fn apart(&self, at: usize) -> usize {
        (at / SIDE).abs_diff(self.goal / SIDE) + (at % SIDE).abs_diff(self.goal % SIDE)
    }
}

pub(super) fn make(chance: &mut Random) -> (String, Value) {
    let mut walls = vec![true; SIDE * SIDE];
    let mut free = |at: usize| {
        if let Some(field) = walls.get_mut(at) {
            *field = false;
        }
    };
    // Depth first from room to room; rooms have odd columns and rows.
    let first = SIDE + 1;
    let mut seen = BTreeSet::from([first]);
    let mut trail = vec![first];
    free(first);
    while let Some(&at) = trail.last() {
        let rooms: Vec<(usize, usize)> = [(0, 1), (2, 1), (1, 0), (1, 2)]
            .into_iter()
            .filter_map(|(right, down)| {
                let column = (at % SIDE + 2 * right).checked_sub(2)?;
                let row = (at / SIDE + 2 * down).checked_sub(2)?;
                let room = row * SIDE + column;
                let is_room = column < SIDE && row < SIDE && column % 2 == 1 && row % 2 == 1;
                (is_room && !seen.contains(&room)).then_some((room, usize::midpoint(at, room)))
            })
            .collect();
        let Some(&(room, door)) = rooms.get(below(chance, rooms.len())) else {
            trail.pop();
            continue;
        };
        free(door);
        free(room);
        seen.insert(room);
        trail.push(room);
    }
    for _ in 0..GAPS {
        let (column, row) = (1 + below(chance, SIDE - 2), 1 + below(chance, SIDE - 2));
        free(row * SIDE + column);
    }
    let goal = (SIDE - 2) * SIDE + SIDE - 2;
    let grid = Grid { walls, start: first, goal };
    let mut text = String::new();
    for at in 0..SIDE * SIDE {
        text.push(match grid.walls.get(at) {
            _ if at == grid.start => 'S',
            _ if at == grid.goal => 'G',
            Some(false) => '.',
            _ => '#',
        });
        if at % SIDE == SIDE - 1 {
            text.push('\n');
        }
    }
    // The same search as for `Careful`, without a limit.
    let mut run = Run { steps: 0, limit: u64::MAX, chance: chance.clone(), calls: Vec::new() };
    let path = search(&grid, Way::Careful, &mut run).unwrap_or_default();
    (text, json!({ "length": path.len().saturating_sub(1), "path": written(&path) }))
}

fn play(text: &str, way: Way, run: &mut Run) -> Option<Value> {
    let grid = Grid::parse(text)?;
    let path = match way {
        Way::Random => walk(&grid, run)?,
        Way::Exhaustive => every_way(&grid, run)?,
        way => search(&grid, way, run)?,
    };
    let mut answer = json!({"length": path.len().saturating_sub(1), "path": written(&path)});
    // A hasty program leaves out a required field.
    if way != Way::Hasty {
        answer["method"] = format!("{way:?}").to_lowercase().into();
    }
    Some(answer)
}

/// Searches breadth first, nearest first, or depth first.
pub(super) fn search(grid: &Grid, way: Way, run: &mut Run) -> Option<Vec<usize>> {
    let mut from = vec![None; SIDE * SIDE];
    let mut open = VecDeque::from([grid.start]);
    *from.get_mut(grid.start)? = Some(grid.start);
    loop {
        run.step()?;
        let at = match way {
            Way::Greedy => {
                let (place, _) = open.iter().enumerate().min_by_key(|(_, field)| grid.apart(**field))?;
                open.remove(place)?
            }
            Way::Hasty => open.pop_back()?,
            _ => open.pop_front()?,
        };
        if at == grid.goal {
            break;
        }
        for field in grid.next(at) {
            let known = from.get_mut(field)?;
            if known.is_none() {
                *known = Some(at);
                open.push_back(field);
            }
        }
    }
    let mut path = vec![grid.goal];
    while let Some(&at) = path.last().filter(|at| **at != grid.start) {
        path.push((*from.get(at)?)?);
    }
    path.reverse();
    Some(path)
}

/// Walks at random until it meets the goal; loops are left out.
pub(super) fn walk(grid: &Grid, run: &mut Run) -> Option<Vec<usize>> {
    let mut path = vec![grid.start];
    while let Some(&at) = path.last().filter(|at| **at != grid.goal) {
        run.step()?;
        let fields: Vec<usize> = grid.next(at).collect();
        let field = *fields.get(run.below(fields.len()))?;
        match path.iter().position(|it| *it == field) {
            Some(place) => path.truncate(place + 1),
            None => path.push(field),
        }
    }
    Some(path)
}

/// Tries every way that visits no field twice.
pub(super) fn every_way(grid: &Grid, run: &mut Run) -> Option<Vec<usize>> {
    let mut best: Option<Vec<usize>> = None;
    let mut path = vec![grid.start];
    let mut left: Vec<Vec<usize>> = vec![grid.next(grid.start).collect()];
    while let Some(fields) = left.last_mut() {
        run.step()?;
        let Some(field) = fields.pop() else {
            left.pop();
            path.pop();
            continue;
        };
        if path.contains(&field) {
            continue;
        }
        path.push(field);
        if field == grid.goal && best.as_ref().is_none_or(|best| path.len() < best.len()) {
            best = Some(path.clone());
        }
        left.push(if field == grid.goal { Vec::new() } else { grid.next(field).collect() });
    }
    best
}

fn written(path: &[usize]) -> Vec<String> {
    path.iter().map(|at| format!("{},{}", at % SIDE, at / SIDE)).collect()
}
