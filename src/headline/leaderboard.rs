//! The headline of a leaderboard: who leads, and how sure that is.

use std::collections::BTreeMap;

use super::{Headline, NAMES, counted, name, names};
use crate::answers::basis::Basis;
use crate::answers::leaderboard::notes::power;
use crate::answers::leaderboard::{Leaderboard, LeaderboardAnswer, LeaderboardRow, OFFICIAL};
use crate::estimate::Writing;

/// Returns the headline of leaderboards: of the only one, or of all groups.
pub fn leaderboard(answer: &LeaderboardAnswer) -> Headline {
    let scale = answer.basis.scale;
    match answer.leaderboards.as_slice() {
        [] => Headline::new("Nothing is ranked"),
        [only] => one(only, scale),
        groups => of_groups(groups),
    }
}

/// Returns the headline of several leaderboards: how many have a clear leader.
pub fn boards(all: &[Headline]) -> Headline {
    let clear = all.iter().filter(|it| it.is_clear).count();
    let text = match (all.len(), clear) {
        (1, 1) => String::from("One leaderboard, with a clear leader"),
        (1, _) => String::from("One leaderboard, without a clear leader"),
        (boards, 0) => format!("{boards} leaderboards, none with a clear leader"),
        (boards, clear) => format!("{boards} leaderboards, {clear} with a clear leader"),
    };
    Headline::new(text)
        .and([String::from("A leader is clear where comparisons of runs separate it from all others")])
}

/// Says who leads in how many groups.
pub(super) fn of_groups(groups: &[Leaderboard]) -> Headline {
    let mut leads: BTreeMap<&str, usize> = BTreeMap::new();
    for first in groups.iter().filter_map(|board| firsts(board).first().copied()) {
        *leads.entry(&first.subject).or_default() += 1;
    }
    let all = groups.len();
    let mut leads: Vec<(&str, usize)> = leads.into_iter().collect();
    leads.sort_by_key(|(subject, times)| (std::cmp::Reverse(*times), *subject));
    match leads.as_slice() {
        [] => Headline::new("Nothing is ranked"),
        [(only, times)] if *times == all => {
            Headline::new(format!("{} leads in all {all} groups", name(only)))
        }
        [(first, times), rest @ ..] => {
            let others = rest.iter().take(NAMES).map(|(other, times)| format!("{} in {times}", name(other)));
            let others: Vec<String> = others.collect();
            let text = format!("{} leads in {times} of {all} groups", name(first));
            if others.is_empty() {
                return Headline::new(text);
            }
            Headline::new(format!("{text}, {}", others.join(", ")))
        }
    }
}

pub(super) fn one(board: &Leaderboard, scale: u32) -> Headline {
    let writing = board.writing(scale);
    let first = firsts(board);
    let Some(leader) = first.first() else {
        return match board.rows.as_slice() {
            [] => {
                Headline::new("Nothing is ranked").and([String::from("No subject has an item that counts")])
            }
            [from, .., to] => {
                Headline::new(format!("Ranks {} to {} of {}", from.rank[0], to.rank[1], board.ranked))
            }
            [only] => Headline::new(format!("Rank {} of {}", only.rank[0], board.ranked)),
        };
    };
    let own = name(&leader.subject);
    let points = |row: &LeaderboardRow| writing.number(row.score.mean);
    let unit = board.unit(scale);
    let of = if board.is_of_scores() { format!(" of {scale}") } else { unit.clone() };
    if board.ranked == 1 {
        return Headline::new(format!("{own} has {}{of}, and no other to be compared with", points(leader)))
            .and([interval(leader, writing)]);
    }
    if first.len() > 1 {
        let shared: Vec<&str> = first.iter().map(|row| row.subject.as_str()).collect();
        return Headline::new(format!("{} share the lead", names(&shared, NAMES, "subjects")))
            .and([format!("Each has {}{of}", points(leader))]);
    }
    let others = || board.rows.iter().filter(|row| row.rank[0] > 1);
    let close: Vec<&str> =
        others().filter(|row| is_close(leader, row)).map(|row| row.subject.as_str()).collect();
    let behind: Vec<&str> =
        others().filter(|row| !is_close(leader, row)).map(|row| row.subject.as_str()).collect();
    // Letters are about runs: they say nothing of a score that is not their mean, such as one of the newest values.
    let is_compared =
        leader.letters.as_ref().is_some_and(|all| !all.is_empty()) && leader.score.interval().is_some();
    let is_first = leader.rank_range.is_none_or(|[best, _]| best == 1);
    let text = match close.len() {
        _ if !is_compared && is_open(board) && could_be_first(board).len() > 1 => {
            let who = possible(board).trim_end_matches(" could be first").to_lowercase();
            format!("{own} leads with {}{of}, but {who} could be first", points(leader))
        }
        _ if !is_compared => format!("{own} leads with {}{of}", points(leader)),
        0 if is_first => format!("{own} leads, clear of all others"),
        0 => format!("{own} leads with {}{of}", points(leader)),
        one => {
            let is = if one == 1 { "is" } else { "are" };
            format!("{own} leads, but {} {is} too close to call", names(&close, NAMES, "others"))
        }
    };
    let ahead = others().next().map(|next| {
        let gap = writing.number((leader.score.mean - next.score.mean).abs());
        format!("{own} has {}{of}, {gap}{unit} ahead of {}", points(leader), name(&next.subject))
    });
    let missing = leader.bounds.as_ref().map(|it| {
        let ends = writing.ends(Some((it.low, it.high)));
        format!("Some of its evidence is missing: with all of it the score would be {ends}")
    });
    let clear =
        (is_compared && !close.is_empty() && !behind.is_empty() && board.ranked == board.rows.len() as u64)
            .then(|| {
                let is = if behind.len() == 1 { "is" } else { "are" };
                format!("{} {is} clearly behind {own}", names(&behind, 2 * NAMES, "others"))
            });
    let review = leader.official.as_ref().filter(|it| it.under_review);
    let review = review.map(|_| format!("A newer score of {own} is under review, and does not count yet"));
    Headline { is_clear: is_compared && is_first && close.is_empty(), ..Headline::new(text) }.and(
        [
            ahead,
            missing,
            review,
            unsure(board),
            clear,
            power(board, scale).filter(|_| unsure(board).is_none()),
        ]
        .into_iter()
        .flatten(),
    )
}

/// Returns the rows with the first rank.
fn firsts(board: &Leaderboard) -> Vec<&LeaderboardRow> {
    board.rows.iter().filter(|row| row.rank[0] == 1).collect()
}

/// Returns true unless a comparison separates two subjects; those without letters were not compared.
fn is_close(one: &LeaderboardRow, other: &LeaderboardRow) -> bool {
    let [one, other] = [one, other].map(|row| row.letters.as_deref().unwrap_or_default());
    one.is_empty() || other.is_empty() || one.iter().any(|letter| other.contains(letter))
}

/// Returns true if intervals say who could be first.
fn is_open(board: &Leaderboard) -> bool {
    board.rows.iter().any(|row| row.rank_range.is_some() && row.score.interval().is_some())
}

/// Says that nothing tells how sure the order is.
fn unsure(board: &Leaderboard) -> Option<String> {
    let has_none = board.rows.iter().all(|row| row.score.interval().is_none());
    has_none.then(|| String::from("These numbers have no interval, so nothing says how sure the order is"))
}

fn interval(row: &LeaderboardRow, writing: Writing) -> String {
    let tasks = counted(row.tasks, "task");
    match row.score.interval() {
        Some(ends) => format!("{} over {tasks}", super::capital(&writing.ends(Some(ends)))),
        None => format!("There is no interval over {tasks}"),
    }
}

/// Says who could be first, for the heading of a leaderboard.
pub fn possible(board: &Leaderboard) -> String {
    let first = could_be_first(board);
    let all = board.ranked;
    match first.len() {
        _ if !is_open(board) => format!("{} by rank", counted(all, "subject")),
        shown if shown as u64 == all && all > 1 => format!("Any of the {all} could be first"),
        few if few <= NAMES => format!("Only {} could be first", names(&first, NAMES, "")),
        several => format!("{several} of {all} could be first"),
    }
}

fn could_be_first(board: &Leaderboard) -> Vec<&str> {
    let first = board.rows.iter().filter(|row| row.rank_range.is_none_or(|[best, _]| best == 1));
    first.map(|row| row.subject.as_str()).collect()
}

/// Says how to read the drawing of a leaderboard.
pub fn reading(board: &Leaderboard, level: f64) -> String {
    let what = if board.by == OFFICIAL { "the official score" } else { "the score" };
    let mut text = format!("Dot: {what}.");
    if board.rows.iter().any(|row| row.score.interval().is_some()) {
        text.push_str(&format!(" Bar: its {} interval.", crate::estimate::percent(level)));
    }
    if board.rows.iter().any(LeaderboardRow::is_behind) {
        text.push_str(" Blue could be first, grey could not.");
    }
    if board.rows.iter().any(|row| row.letters.as_ref().is_some_and(|all| !all.is_empty())) {
        text.push_str(" Brackets join those that a comparison of their runs does not separate.");
    }
    text
}

/// Says what a new subject needs to lead a leaderboard; none without a leader.
pub fn entry(board: &Leaderboard, scale: u32) -> Option<String> {
    let leader = firsts(board).first().copied()?;
    let points = board.writing(scale).number(leader.score.mean);
    let needs = match board.fact.as_ref().is_some_and(|fact| fact.lower_is_better) {
        true => format!("less than {points}"),
        false => format!("more than {points}"),
    };
    Some(format!("To lead, an agent needs {needs}."))
}

/// Returns the headline of the only subject of a leaderboard of an answer, whose numbers are in points.
pub fn subject(board: &Leaderboard, basis: &Basis) -> Headline {
    let Some(row) = board.rows.first() else { return Headline::new("Nothing is ranked") };
    let scale = basis.scale;
    let writing = board.writing(scale);
    let ends = row.score.interval().map(|ends| {
        let level = crate::estimate::percent(basis.level);
        format!("{level} interval {} over {}", writing.ends(Some(ends)), counted(row.tasks, "task"))
    });
    let none = || format!("There is no interval over {}", counted(row.tasks, "task"));
    Headline::new(format!("{} has {} of {scale}", name(&row.subject), writing.number(row.score.mean)))
        .and([ends.unwrap_or_else(none)])
}
