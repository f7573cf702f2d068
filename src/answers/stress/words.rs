//! Sentences on the ranks under other weights, dimensions and means.

use crate::answers::basis::MovedSubject;
use crate::answers::stress::Robustness;
use crate::estimate::whole_percent;
use crate::text::{clean, count, list, short};

/// The largest number of names listed.
const LISTED: usize = 5;

/// A ranking under another choice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OtherChoice<'a> {
    /// True if other subjects have rank 1.
    pub first_differs: bool,
    /// The subjects with rank 1.
    pub first: &'a [String],
    /// The subjects with another rank.
    pub moved: &'a [MovedSubject],
}

/// Returns the other choices by name, with the ranking under each.
pub(crate) fn other_choices(found: &Robustness) -> impl Iterator<Item = (String, OtherChoice<'_>)> {
    let without = found.without_dimension.iter().map(|it| {
        let choice = OtherChoice { first_differs: it.first_differs, first: &it.first, moved: &it.moved };
        (format!("without {}", it.dimension), choice)
    });
    let groups = found.without_group.iter().map(|it| {
        let choice = OtherChoice { first_differs: it.first_differs, first: &it.first, moved: &it.moved };
        (format!("without group {}", it.group), choice)
    });
    let means = found.other_means.iter().map(|it| {
        let choice = OtherChoice { first_differs: it.first_differs, first: &it.first, moved: &it.moved };
        (format!("mean {}", it.mean.name()), choice)
    });
    without.chain(groups).chain(means)
}

/// Describes the effect of another choice.
pub(crate) fn effect(choice: OtherChoice<'_>) -> String {
    let first: Vec<String> = choice.first.iter().map(|name| short(name)).take(LISTED).collect();
    let moved = match choice.moved.len() {
        1 => String::from("1 subject moves"),
        more => format!("{more} subjects move"),
    };
    match first.as_slice() {
        _ if !choice.first_differs => format!("{moved}, rank 1 stays"),
        [] => format!("{moved}, and no subject has rank 1"),
        [only] => format!("{moved}, and {only} has rank 1"),
        several => format!("{moved}, and {} share rank 1", list(several)),
    }
}

/// Describes what rank 1 depends on.
pub(crate) fn rank_1(found: &Robustness) -> Vec<String> {
    let mut lines = vec![format!(
        "stays the same under {} of random weights around those of the scorecard",
        whole_percent(found.weights_around.chance_of_same_rank_1)
    )];
    lines.push(match &found.fewest_tasks {
        None => String::from("no removal of tasks puts another subject first by score"),
        Some(fewest) => {
            let tasks = &fewest.removed;
            let shown: Vec<String> =
                tasks.iter().take(LISTED).map(|task| format!("`{}`", clean(task))).collect();
            let more = if tasks.len() > LISTED {
                format!(" and {} more", tasks.len() - LISTED)
            } else {
                String::new()
            };
            let smallest = if fewest.is_smallest { "no fewer do" } else { "fewer may do" };
            format!(
                "without {} of {} ({}{more}; {smallest}) {} is ahead of {} by score",
                count(tasks.len(), "task"),
                fewest.tasks,
                shown.join(", "),
                short(&fewest.overtaker),
                short(&fewest.first)
            )
        }
    });
    lines
}
