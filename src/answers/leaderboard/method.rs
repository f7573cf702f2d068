//! The methods of a leaderboard, and the choice between them.
//!
//! The method `pairs` compares each pair of subjects: it gives rank ranges, letters for ties and a profile of dimensions. The
//! method `means` ranks a million items in tens of milliseconds, by the same means with the same intervals. The method
//! `census` estimates nothing. All give an answer of the same type.

use karat_stats::StatisticsError;
use karat_stats::cases::Cases;
use karat_stats::means::{Means, MeansRow, TaskValues};

use super::{Leaderboard, LeaderboardAnswer, LeaderboardRow, LeaderboardSchema, by};
use crate::answers::LeaderboardMethod;
use crate::answers::basis::Basis;
use crate::answers::leaderboard::officials::Officials;
use crate::leaderboard::evidence::{Evidence, Items};
use crate::leaderboard::{
    By, NO_ATTEMPTS, Ranking, Settings, is_measured, nothing_counts, run, too_few_tasks,
};
use crate::rows::{NO_LABEL, Rows};

/// The largest number of subjects that are compared by default.
pub const COMPARED_SUBJECTS_MAX: usize = 200;
/// The largest number of items whose subjects are compared by default.
pub const COMPARED_ITEMS_MAX: usize = 20_000;

/// Returns the default method for this number of subjects and items.
pub const fn method_of_size(subjects: usize, items: usize) -> LeaderboardMethod {
    if subjects > COMPARED_SUBJECTS_MAX || items > COMPARED_ITEMS_MAX {
        LeaderboardMethod::Means
    } else {
        LeaderboardMethod::Pairs
    }
}

/// The rows of a leaderboard to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The number of rows to skip.
    pub skip: usize,
    /// The largest number of rows.
    pub limit: usize,
}

impl Page {
    /// Every row.
    pub const ALL: Self = Self { skip: 0, limit: usize::MAX };
}

/// A leaderboard and the ranking behind it.
#[derive(Debug, Clone)]
pub struct Ranked {
    /// The leaderboard.
    pub leaderboard: Leaderboard,
    /// The ranking behind it, for a stress test; None with the method `means`.
    pub ranking: Option<Ranking>,
}

/// Ranks the subjects of the `items` of `rows`, given by index.
///
/// # Errors
/// If no subject has a rank, or the level cannot be used.
pub fn rank(
    rows: &Rows,
    items: &[usize],
    group: Option<String>,
    method: LeaderboardMethod,
    settings: &Settings,
    page: Page,
) -> Result<Ranked, StatisticsError> {
    let mut ranked = rank_evidence(&Items { rows, items }, group, method, settings, page)?;
    in_units(&mut ranked.leaderboard, rows, settings);
    Ok(ranked)
}

/// Ranks the subjects of items, or of sums of items.
///
/// # Errors
/// If no subject has a rank, or the level cannot be used.
pub(crate) fn rank_evidence(
    evidence: &impl RankedByMeans,
    group: Option<String>,
    method: LeaderboardMethod,
    settings: &Settings,
    page: Page,
) -> Result<Ranked, StatisticsError> {
    match method {
        LeaderboardMethod::Pairs | LeaderboardMethod::Census => {
            let is_census = method == LeaderboardMethod::Census;
            let ranking = Ranking::of(evidence, group, &Settings { is_census, ..*settings })?;
            let mut leaderboard = Leaderboard::of_ranking(evidence.names(), &ranking, settings);
            leaderboard.rows = leaderboard.rows.into_iter().skip(page.skip).take(page.limit).collect();
            Ok(Ranked { leaderboard, ranking: Some(ranking) })
        }
        LeaderboardMethod::Means => {
            let leaderboard = evidence.means(settings, page)?;
            let leaderboard = Leaderboard { group, by: by(evidence.names(), settings), ..leaderboard };
            Ok(Ranked { leaderboard, ranking: None })
        }
    }
}

/// Evidence that the method `means` ranks.
pub(crate) trait RankedByMeans: Evidence {
    /// Returns the leaderboard of that method.
    ///
    /// # Errors
    /// If no subject has a rank, or the level cannot be used.
    fn means(&self, settings: &Settings, page: Page) -> Result<Leaderboard, StatisticsError>;
}

impl RankedByMeans for Items<'_> {
    fn means(&self, settings: &Settings, page: Page) -> Result<Leaderboard, StatisticsError> {
        means_of_items(self.rows, self.items, settings, page)
    }
}

/// Ranks subjects with the method `means`.
///
/// # Errors
/// If no subject has a rank, or the level cannot be used.
pub(crate) fn means_of_items(
    rows: &Rows,
    items: &[usize],
    settings: &Settings,
    page: Page,
) -> Result<Leaderboard, StatisticsError> {
    let evidence = Items { rows, items };
    let cases = evidence.cases(settings);
    let values = values(rows, items, settings);
    let ranking = rank_values(values, cases.clone(), LeaderboardMethod::Means, settings)?;
    let name = |subject: u32| usize::try_from(subject).map_or("", |at| rows.subject_name(at));
    let mut leaderboard = leaderboard(&ranking, page, name);
    let stopping = evidence.stopping(settings);
    for row in &mut leaderboard.rows {
        let subject = rows.subject(&row.subject);
        row.cases = subject.and_then(|subject| cases.of(subject));
        row.attempts_stop_at = subject.and_then(|subject| stopping.get(&subject).copied());
    }
    Ok(leaderboard)
}

/// Writes the values of a ranking by a fact in its unit.
fn in_units(leaderboard: &mut Leaderboard, rows: &Rows, settings: &Settings) {
    if let Some(fact) = rows.ranked_fact().filter(|_| settings.by == By::Fact) {
        fact.write(leaderboard);
    }
}

/// Ranks the subjects of `items` by their official scores, with the means of their runs by `method` beside them. Every
/// item of a subject is among `items`.
///
/// # Errors
/// If no subject has a rank, or the level cannot be used.
pub(crate) fn rank_by_official(
    rows: &Rows,
    items: &[usize],
    method: LeaderboardMethod,
    settings: &Settings,
    page: Page,
    officials: &Officials,
) -> Result<Ranked, StatisticsError> {
    let means = rank(rows, items, None, method, settings, Page::ALL);
    official(means, officials, method, settings, page)
}

/// Replaces the ranks of `means` by those of official scores. A subject none of whose runs counts may have such a score.
///
/// # Errors
/// If no subject has a rank, or `means` is another error.
pub fn official(
    means: Result<Ranked, StatisticsError>,
    officials: &Officials,
    method: LeaderboardMethod,
    settings: &Settings,
    page: Page,
) -> Result<Ranked, StatisticsError> {
    let mut ranked = match means {
        Ok(ranked) => ranked,
        Err(error @ StatisticsError::TooFew { .. }) if error != NO_ATTEMPTS => {
            Ranked { leaderboard: Leaderboard::empty(None), ranking: None }
        }
        Err(error) => return Err(error),
    };
    let level = (method != LeaderboardMethod::Census).then_some(settings.level);
    super::official::rank_by_official(&mut ranked.leaderboard, officials, settings.tasks_min, level, page);
    match (ranked.leaderboard.ranked, settings.tasks_min) {
        (0, 0..=1) => Err(nothing_counts()),
        (0, _) => Err(too_few_tasks()),
        _ => Ok(ranked),
    }
}

/// Ranks subjects by values with the method `means`, in a census without intervals.
///
/// # Errors
/// If no subject has a rank, or the level cannot be used.
pub fn rank_values(
    values: TaskValues,
    cases: Cases,
    method: LeaderboardMethod,
    settings: &Settings,
) -> Result<Means, StatisticsError> {
    let tasks_min = u32::try_from(settings.tasks_min).unwrap_or(u32::MAX);
    let level = (method != LeaderboardMethod::Census).then_some(settings.level);
    let ranking = Means::new(values, cases, tasks_min, level)?;
    match (ranking.ranked(), ranking.subjects()) {
        (0, 0) => Err(nothing_counts()),
        (0, _) => Err(too_few_tasks()),
        _ => Ok(ranking),
    }
}

/// Returns the leaderboard by score; `name` gives the name of a subject.
pub fn leaderboard<'n>(ranking: &Means, page: Page, name: impl Fn(u32) -> &'n str) -> Leaderboard {
    let row = |row: MeansRow| LeaderboardRow::of_means(name(row.subject), &row);
    Leaderboard {
        ranked: ranking.ranked() as u64,
        rows: ranking.rows(page.skip, page.limit).into_iter().map(row).collect(),
        ..Leaderboard::empty(None)
    }
}

/// Combines leaderboards with their basis to the whole answer.
pub fn answer(
    basis: Basis,
    method: LeaderboardMethod,
    group_by: Option<String>,
    mut leaderboards: Vec<Leaderboard>,
    page: Page,
) -> LeaderboardAnswer {
    leaderboards.iter_mut().for_each(|board| board.write_points(basis.scale));
    let next = page.skip.saturating_add(page.limit) as u64;
    LeaderboardAnswer {
        schema: LeaderboardSchema::V1,
        basis,
        method,
        group_by,
        log_size: None,
        newer_version: None,
        corrected: None,
        backfilled: None,
        sums: None,
        next: leaderboards.iter().any(|it| it.ranked > next).then_some(next),
        leaderboards,
    }
}

/// A value that counts: of the first label, the subject and the task, in billionths, and the cases that it is a mean over.
pub(crate) type CountedValue<'r> = (Option<&'r str>, &'r str, &'r str, i64, Option<u64>);

/// Returns the values of the items that count, for a ranking of more items than are read at once.
pub fn counted_values<'r>(
    rows: &'r Rows,
    settings: &Settings,
) -> impl Iterator<Item = CountedValue<'r>> + use<'r> {
    let Settings { by, policy, .. } = *settings;
    rows.rows.iter().zip(&rows.tasks.of_rows).filter_map(move |(row, &task)| {
        let value = run(row, task, by).value(policy)?;
        let label = row.labels().first().map(|label| label.as_deref().unwrap_or(NO_LABEL));
        let task = rows.tasks.names.get(task).map_or("", String::as_str);
        is_measured(row, by).then(|| (label, rows.subject_name(row.subject), task, value, row.cases()))
    })
}

/// Returns the values of the items that count.
fn values(rows: &Rows, items: &[usize], settings: &Settings) -> TaskValues {
    let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    let value = |&at: &usize| {
        let (row, &task) = (rows.rows.get(at)?, rows.tasks.of_rows.get(at)?);
        let value = run(row, task, settings.by).value(settings.policy)?;
        is_measured(row, settings.by).then(|| (number(row.subject), Some(number(task)), value))
    };
    TaskValues::new(items.iter().filter_map(value), rows.subjects.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_alone_chooses_the_method() {
        let (subjects, items) = (COMPARED_SUBJECTS_MAX, COMPARED_ITEMS_MAX);
        assert_eq!(method_of_size(subjects, items), LeaderboardMethod::Pairs);
        assert_eq!(method_of_size(subjects + 1, items), LeaderboardMethod::Means);
        assert_eq!(method_of_size(subjects, items + 1), LeaderboardMethod::Means);
    }
}
