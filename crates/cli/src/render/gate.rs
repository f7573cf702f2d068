//! The lines of gates that fail, on standard error: each with who, what, how far, and the status.

use std::io::Write as _;

use karat::answers::basis::Basis;
use karat::answers::changes::Gate;
use karat::answers::comparison::ComparedPair;
use karat::answers::leaderboard::floor::{Floor, On, Shortfall};
use karat::answers::{ComparisonVerdict, GateChange};
use karat::estimate::{Writing, percent};
use karat::rows::{Row, Rows};
use karat::text::{clean, count, named, short};
use karat_core::number::Decimal;
use karat_core::timestamp::Timestamp;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{CARE, Color, LOSS, Screen};

/// Most lines that are written; the others are counted.
const LINES: usize = 20;

/// Writes why gates fail, a line each; `lines` are in the order of the answer.
fn tell(lines: &[String], exit: Exit, color: Color) -> Result<(), Failure> {
    let mut screen = Screen::stderr(color);
    for line in lines.iter().take(LINES) {
        writeln!(screen, "{LOSS}failed{LOSS:#}: {line}; status {}", exit as u8)?;
    }
    if lines.len() > LINES {
        writeln!(screen, "{LOSS}failed{LOSS:#}: and {} more; status {}", lines.len() - LINES, exit as u8)?;
    }
    Ok(())
}

/// The findings of gates, by the status that each failure has.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    failed: Vec<(Exit, Vec<String>)>,
    /// Sentences about what a gate that passes did not see.
    unseen: Vec<String>,
}

impl Verdict {
    /// Adds failures with a status, a line each.
    pub fn add(&mut self, exit: Exit, lines: Vec<String>) {
        if !lines.is_empty() {
            self.failed.push((exit, lines));
        }
    }

    /// Adds a sentence about what the gate did not see.
    pub fn warn(&mut self, line: String) {
        self.unseen.push(line);
    }

    /// Returns what gates did not see, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.unseen
    }

    /// Adds what another gate found.
    pub fn extend(&mut self, other: Self) {
        self.failed.extend(other.failed);
        for line in other.unseen {
            if !self.unseen.contains(&line) {
                self.unseen.push(line);
            }
        }
    }

    /// Returns whether every gate lets it pass.
    pub fn is_passed(&self) -> bool {
        self.failed.is_empty()
    }

    /// Returns why gates fail, a line each.
    pub fn lines(&self) -> Vec<&str> {
        self.failed.iter().flat_map(|(_, lines)| lines).map(String::as_str).collect()
    }

    /// Returns the status: that of the gravest failure.
    pub fn exit(&self) -> Exit {
        gravest(self.failed.iter().map(|(exit, _)| *exit))
    }

    /// Writes why gates fail, and returns the status.
    pub fn tell(&self, color: Color) -> Result<Exit, Failure> {
        let mut screen = Screen::stderr(color);
        for line in self.unseen.iter().take(LINES) {
            writeln!(screen, "{CARE}warning{CARE:#}: {line}")?;
        }
        if self.unseen.len() > LINES {
            writeln!(screen, "{CARE}warning{CARE:#}: and {} more", self.unseen.len() - LINES)?;
        }
        drop(screen);
        self.failed.iter().try_for_each(|(exit, lines)| tell(lines, *exit, color))?;
        Ok(self.exit())
    }
}

/// Returns the gravest of the statuses of gates; of none that all of them passed.
pub fn gravest(exits: impl Iterator<Item = Exit>) -> Exit {
    let failed: Vec<Exit> = exits.filter(|exit| *exit != Exit::Done).collect();
    let gravity = [Exit::Worse, Exit::Blocked, Exit::BelowBar];
    let gravest = gravity.into_iter().find(|exit| failed.contains(exit));
    gravest.or(failed.first().copied()).unwrap_or(Exit::Done)
}

/// Formats a size on the scale of a card: `5.5 points`, `0.055`.
fn points(points: f64, scale: u32) -> String {
    let number = Writing::points(scale).number(points.abs());
    if scale == 1 { number } else { format!("{number} points") }
}

/// Formats the margin, which may be finer than scores are shown.
fn margin(gate: &Gate, scale: u32) -> String {
    let number = (gate.margin * 1e6).round() / 1e6;
    if scale == 1 { format!("{number}") } else { format!("{number} points") }
}

/// Returns why the gate of a comparison fails; none if it does not.
pub fn failed(pair: &ComparedPair, scale: u32) -> Option<String> {
    let gate = pair.gate.filter(|gate| !gate.passed)?;
    let writing = Writing::points(scale);
    let tasks = count(usize::try_from(pair.difference.estimate.tasks).unwrap_or(usize::MAX), "task");
    let interval = gate.low.zip(gate.high).map_or_else(
        || String::from("no interval"),
        |(low, high)| {
            format!(
                "{} interval {} to {}",
                percent(round(gate.level)),
                writing.signed(low),
                writing.signed(high)
            )
        },
    );
    let who = short(&pair.second.subject);
    let than = first_of(pair);
    let counts = format!("{} worse, {} better", pair.changes.regressed.len(), pair.changes.fixed.len());
    if gate.finding == GateChange::Worse {
        let allowed = if gate.margin > 0.0 {
            format!(", and {} are allowed", margin(&gate, scale))
        } else {
            String::new()
        };
        return Some(format!(
            "`{who}` is worse than {than} by {} over {tasks} ({interval}; {counts}){allowed}",
            points(gate.difference, scale)
        ));
    }
    if gate.finding == GateChange::NotWorse {
        let missing = missing(pair)?;
        return Some(format!("it is not shown that `{who}` is not worse than {than}: {missing}"));
    }
    let gone = missing(pair).map_or_else(String::new, |missing| format!("; {missing}"));
    if pair.difference.verdict == ComparisonVerdict::TooFewSharedTasks {
        return Some(format!(
            "`{who}` and {than} share {tasks}, too few to show that it is not worse ({interval}; {counts}){gone}"
        ));
    }
    let by = if gate.margin > 0.0 { format!(" by {}", margin(&gate, scale)) } else { String::new() };
    let needed = gate.tasks_needed.filter(|needed| *needed > pair.difference.estimate.tasks);
    let needed =
        needed.map(|needed| format!("; if both are alike it takes about {needed} tasks to show that"));
    Some(format!(
        "it is not shown that `{who}` is not worse than {than}{by}: the difference is {} over {tasks} ({interval}; {counts}){}{gone}",
        writing.signed(gate.difference),
        needed.unwrap_or_default()
    ))
}

/// Returns which tasks of the first have no result of the second, or fewer; none if all have as many.
pub fn missing(pair: &ComparedPair) -> Option<String> {
    let all = [without(pair), with_fewer(pair)];
    let all: Vec<String> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Returns the name of the first; of one subject in two files that it was before.
fn first_of(pair: &ComparedPair) -> String {
    match pair.first.subject == pair.second.subject {
        true => String::from("before"),
        false => format!("`{}`", short(&pair.first.subject)),
    }
}

/// Returns at which tasks the second has fewer results than the first: those that are gone may have failed.
fn with_fewer(pair: &ComparedPair) -> Option<String> {
    let all: Vec<&str> = pair.changes.fewer.iter().map(String::as_str).collect();
    let names = named(&all)?;
    let than = first_of(pair);
    let (tasks, second) = (count(all.len(), "task"), short(&pair.second.subject));
    Some(format!("at {tasks} `{second}` has fewer results that count than {than}: {names}"))
}

fn without(pair: &ComparedPair) -> Option<String> {
    let all: Vec<&str> = pair.changes.missing.iter().map(String::as_str).collect();
    let names = named(&all)?;
    let of = pair.difference.estimate.tasks.saturating_add(all.len() as u64);
    let first = first_of(pair);
    Some(format!(
        "{} of {of} of {first} {} no result of `{}` that counts: {names}",
        count(all.len(), "task"),
        if all.len() == 1 { "has" } else { "have" },
        short(&pair.second.subject)
    ))
}

/// Returns which items no official score at a moment has: those after it, and those without a time where others have one.
pub fn outside(rows: &Rows, as_of: Timestamp) -> Vec<String> {
    let about = |what: &str, is_meant: &dyn Fn(&Row) -> bool| {
        let meant: Vec<&Row> = rows.rows.iter().filter(|row| is_meant(row)).collect();
        let mut names: Vec<&str> =
            meant.iter().map(|row| rows.subjects.get(row.subject).map_or("", String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        let items = count(meant.len(), "item");
        Some(format!("no official score has {items} {what}, of {}", named(&names)?))
    };
    let later = about(&format!("after {as_of}"), &|row| row.time().is_some_and(|time| time > as_of));
    let is_by_time = rows.rows.iter().any(|row| row.time().is_some());
    let untimed = about("without a time", &|row| row.time().is_none()).filter(|_| is_by_time);
    later.into_iter().chain(untimed).collect()
}

/// Returns a warning if a number is so small on the scale of a card that a share of it is meant: above 0 and less than one in `part` of a point.
pub fn slight(what: &str, points: Decimal, scale: u32, part: i64) -> Option<String> {
    let most = Decimal::ONE.millionths() / part;
    let meant = points.millionths().checked_mul(i64::from(scale)).map(Decimal::from_millionths)?;
    (scale > 1 && (1..most).contains(&points.millionths())).then(|| {
        format!("{what} of {points} is almost nothing on a scale from 0 to {scale}; for that share of it give {meant}")
    })
}

/// Returns why a subject of a leaderboard is below a floor, or has nothing to compare.
pub fn below(floor: &Floor, found: &Shortfall, group: Option<&str>, basis: &Basis) -> String {
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
    match (floor.on, estimate.low) {
        (On::Low, Some(low)) => format!(
            "{who} has {what}{}, the lower end of the {level} interval, below {least} (mean {mean} over {tasks})",
            writing.number(low)
        ),
        _ => {
            let about: Vec<String> = [interval, over].into_iter().flatten().collect();
            let about = if about.is_empty() { about.concat() } else { format!(" ({})", about.join(" ")) };
            format!("{who} has {what}{mean}, below {least}{about}")
        }
    }
}

/// Returns why an official score is below a floor, or has nothing to compare.
pub fn below_official(subject: &str, points: Option<f64>, least: f64) -> String {
    let who = format!("`{}`", short(subject));
    match points {
        Some(points) => format!("{who} has the official score {points}, below {least}"),
        None => format!("{who} has no official score to compare with {least}"),
    }
}

/// Rounds a confidence to what is worth showing.
fn round(level: f64) -> f64 {
    (level * 1e4).round() / 1e4
}
