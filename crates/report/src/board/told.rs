//! What becomes of the ranks under other rules, in sentences.

use karat_stats::ranks::OtherRanking;

use super::stress::Stress;
use crate::estimate::whole_percent;
use crate::rows::Rows;
use crate::text::{clean, count, list, short};

/// Most names that are listed.
const LISTED: usize = 5;

/// The other rules by name, and the ranks under each.
pub fn tried<'s>(rows: &'s Rows, stress: &'s Stress) -> impl Iterator<Item = (String, &'s OtherRanking)> {
    let without = stress.without.iter().enumerate();
    let without = without.map(move |(at, ranking)| (format!("without {}", key(rows, stress, at)), ranking));
    without.chain(stress.means.iter().map(|(mean, ranking)| (format!("mean {}", mean.name()), ranking)))
}

/// What happens under another rule.
pub fn told(rows: &Rows, stress: &Stress, ranking: &OtherRanking) -> String {
    let first = ranking.ranks.iter().enumerate().filter(|(_, rank)| rank.is_some_and(|rank| rank.best == 1));
    let first: Vec<String> = first.map(|(at, _)| short(name(rows, stress, at))).take(LISTED).collect();
    let moved = match ranking.moved.len() {
        1 => String::from("1 subject moves"),
        more => format!("{more} subjects move"),
    };
    match first.as_slice() {
        _ if !ranking.first_differs => format!("{moved}, not the first"),
        [] => format!("{moved}, and nobody is first"),
        [only] => format!("{moved}, and {only} comes first"),
        several => format!("{moved}, and {} share first place", list(several)),
    }
}

/// What first place hangs on.
pub fn first(rows: &Rows, stress: &Stress) -> Vec<String> {
    let subject = |at: usize| short(rows.subjects.get(at).map_or("", String::as_str));
    let mut lines = vec![format!(
        "stays in {} of draws around the weights of the card",
        whole_percent(stress.around.share_first_kept)
    )];
    lines.push(match &stress.influence {
        None => String::from("no removal of tasks puts anybody else first by score"),
        Some((found, tasks)) => {
            let shown: Vec<String> =
                tasks.iter().take(LISTED).map(|task| format!("`{}`", clean(task))).collect();
            let more = if tasks.len() > LISTED {
                format!(" and {} more", tasks.len() - LISTED)
            } else {
                String::new()
            };
            let smallest = if found.is_smallest { "no fewer do" } else { "fewer may do" };
            format!(
                "without {} of {} ({}{more}; {smallest}) {} is ahead of {} by score",
                count(tasks.len(), "task"),
                found.items,
                shown.join(", "),
                subject(found.overtaker),
                subject(found.first)
            )
        }
    });
    lines
}

/// The name of a subject of `stress`.
pub fn name<'r>(rows: &'r Rows, stress: &Stress, at: usize) -> &'r str {
    stress.subjects.get(at).and_then(|&it| rows.subjects.get(it)).map_or("", String::as_str)
}

/// The key of a dimension of `stress`.
pub fn key<'r>(rows: &'r Rows, stress: &Stress, at: usize) -> &'r str {
    stress.dimensions.get(at).and_then(|&it| rows.dimensions.get(it)).map_or("", |(key, _)| key.as_str())
}
