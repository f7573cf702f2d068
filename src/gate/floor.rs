//! The gate on each subject: the least score, or the least value of a dimension.

use super::{Status, Verdict};
use crate::answers::basis::Basis;
use crate::answers::leaderboard::LeaderboardAnswer;
use crate::answers::leaderboard::floor::{Floor, On, Shortfall};
use crate::ask::answer::{billionths_of_scale, invalid, subject, unknown_key};
use crate::ask::{Floor as AskedFloor, Floors};
use crate::document::Failing;
use crate::error::Error;
use crate::estimate::{Writing, percent};
use crate::leaderboard::By;
use crate::leaderboard::evidence::Named;
use crate::text::{clean, count, short};

/// Returns the floors that are asked for.
pub(crate) fn floors(asked: &Floors, rows: &impl Named, by: By) -> Result<Vec<Floor>, Error> {
    for name in &asked.subject {
        subject(rows, name)?;
    }
    let floor = |floor: &AskedFloor| {
        let least = match &floor.dimension {
            Some(key) if rows.dimension(key).is_none() => {
                return Err(unknown_key("--fail-under", key, &[], rows));
            }
            Some(_) => floor.least.millionths() * 1000,
            None if by != By::Score => {
                return Err(invalid("--fail-under: these subjects are ranked by something else than points")
                    .hint("give the dimension, such as --fail-under safety=0.99, or leave out --by"));
            }
            None => billionths_of_scale("--fail-under", floor.least, rows.scale())?,
        };
        Ok(Floor { dimension: floor.dimension.clone(), least, on: asked.on })
    };
    asked.all().map(floor).collect()
}

/// Returns the subjects that fail the floors.
pub(crate) fn failing(floors: &[Floor], asked: &Floors, answer: &LeaderboardAnswer) -> Vec<Failing> {
    let mut all = Vec::new();
    for floor in floors {
        for board in &answer.leaderboards {
            let found = floor.shortfalls(board, &asked.subject, answer.basis.scale).into_iter();
            all.extend(found.map(|found| Failing {
                line: below(floor, &found, board.group.as_deref(), &answer.basis),
                subject: found.subject,
                group: board.group.clone(),
                is_open: !found.is_below,
            }));
        }
    }
    all
}

/// Returns the status of the floors, and who is below.
pub(crate) fn judge(failing: &[Failing]) -> Verdict {
    let of = |is_open| failing.iter().filter(|it| it.is_open == is_open).map(|it| it.line.clone()).collect();
    let mut verdict = Verdict::default();
    verdict.add(Status::Below, of(false));
    verdict.add(Status::Inconclusive, of(true));
    verdict
}

/// Returns why a subject of a leaderboard is below a floor, or has nothing to compare.
fn below(floor: &Floor, found: &Shortfall, group: Option<&str>, basis: &Basis) -> String {
    let who = match group {
        Some(group) => format!("`{}` ({})", short(&found.subject), clean(group)),
        None => format!("`{}`", short(&found.subject)),
    };
    let (what, scale) = match &floor.dimension {
        Some(key) => (format!("{} ", clean(key)), 1),
        None => (String::new(), basis.scale),
    };
    let writing = Writing::points(scale);
    let least = (floor.least as f64 / 1e9 * f64::from(scale) * 1e6).round() / 1e6;
    let Some(estimate) = found.estimate.filter(|_| found.is_below) else {
        let what = if what.is_empty() { "score " } else { &what };
        let end = if floor.on == On::Low { "with an interval " } else { "" };
        return format!("`{}` has no {what}{end}to compare with {least}", short(&found.subject));
    };
    let level = percent(basis.level);
    let tasks = count(usize::try_from(estimate.tasks).unwrap_or(usize::MAX), "task");
    // An official score without an interval has no number of tasks.
    let over = (estimate.tasks > 0).then(|| format!("over {tasks}"));
    let interval = estimate.interval().map(|ends| format!("{level} interval {}", writing.ends(Some(ends))));
    let mean = writing.number(estimate.mean);
    let score = if floor.dimension.is_none() { "score" } else { "mean" };
    match (floor.on, estimate.low) {
        // Where the score itself is below, the end is not the reason.
        (On::Low, Some(low)) if estimate.mean >= least => format!(
            "{who} has {what}{}, the lower end of the {level} interval, below {least} ({score} {mean} over {tasks})",
            writing.number(low)
        ),
        _ => {
            let about: Vec<String> = [interval, over].into_iter().flatten().collect();
            let about = if about.is_empty() { about.concat() } else { format!(" ({})", about.join(" ")) };
            format!("{who} has {what}{mean}, below {least}{about}")
        }
    }
}
