//! The answer to [`Leaderboard`](AskedBoard).

use std::borrow::Cow;
use std::collections::BTreeSet;

use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use karat_standing::stand::is_plain;

use super::Leaderboard as AskedBoard;
use super::answer::{card_of, invalid, pass, refused, settings as usual, unknown_key};
use super::{Attempts, Draws, Items};
use crate::answers::LeaderboardMethod;
use crate::answers::basis::Basis;
use crate::answers::leaderboard::columns::{self, Column};
use crate::answers::leaderboard::cost::CostFront;
use crate::answers::leaderboard::key::Key;
use crate::answers::leaderboard::method::{Page, answer, method_of_size, rank, rank_by_official};
use crate::answers::leaderboard::official::Asked;
use crate::answers::leaderboard::officials::Officials;
use crate::answers::leaderboard::{Leaderboard, LeaderboardAnswer, LeaderboardRow, MEAN, OFFICIAL};
use crate::answers::stress::Robustness;
use crate::error::Error;
use crate::leaderboard::attempts;
use crate::leaderboard::evidence::Named;
use crate::leaderboard::stress::{CONCENTRATION, Stress};
use crate::leaderboard::{By, Ranking, Settings};
use crate::rows::Rows;
use crate::standing::events::Events;
use crate::standing::notes::UNTIMED;
use crate::text::clean;

/// Returns the key of `--by`, if it is neither the official score nor the mean.
fn fact_asked(ask: &AskedBoard) -> Option<Key> {
    let flags = (ask.lower_is_better || ask.higher_is_better).then_some(ask.lower_is_better);
    let key = Key::parse(ask.by.as_deref()?);
    key.field()?;
    Some(Key { is_lower_better: key.is_lower_better.or(flags), ..key })
}

/// Returns the fields of the items that columns and the order need.
pub fn kept(ask: &AskedBoard) -> Vec<String> {
    let columns = ask.with.iter().flat_map(|all| all.0.iter()).filter_map(Column::kept);
    let named = fact_asked(ask).map(|key| key.name).into_iter().chain(ask.cost.clone());
    let named = named.chain(Attempts::kept(ask.attempts));
    let all: BTreeSet<_> = columns.chain(named).collect();
    all.into_iter().collect()
}

/// Returns the parameters of the question to a server of which pages are made; card and moment are said to it apart.
///
/// # Errors
/// If it asks for more than those.
pub fn query(ask: &AskedBoard) -> Result<Vec<(&'static str, String)>, Error> {
    let AskedBoard { card, by, group_by, cost, min_tasks, .. } = ask.clone();
    let Items { since, until, as_of, .. } = ask.items.clone();
    let items = Items { since, until, as_of, ..Items::default() };
    let known = AskedBoard { card, by, group_by, cost, min_tasks, items, ..AskedBoard::default() };
    if known != *ask {
        let all = "--card, --by, --group-by, --cost, --min-tasks, --since, --until and --as-of";
        return Err(invalid(format!("of the flags of a leaderboard, a server takes {all}"))
            .hint("leave out the others, or name files"));
    }
    let all = [
        ("by", known.by),
        ("group_by", known.group_by),
        ("cost", known.cost),
        ("min_tasks", Some(min_tasks).filter(|min| *min > 1).map(|min| min.to_string())),
        ("since", since.map(|time| time.to_string())),
        ("until", until.map(|time| time.to_string())),
    ];
    Ok(all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect())
}

/// The context of a question, which its door knows.
#[derive(Debug, Clone, Copy)]
pub struct Door<'a> {
    /// The card whose section `[standing]` applies; that of the items if it is not given.
    pub card: Option<&'a Scorecard>,
    /// True if the items are a part of all by more than the question says.
    pub is_part: bool,
    /// True if the answer is used for more, which needs the values of dimensions.
    pub needs_dimensions: bool,
    /// The rows to return.
    pub page: Page,
}

impl Default for Door<'_> {
    fn default() -> Self {
        Self { card: None, is_part: false, needs_dimensions: false, page: Page::ALL }
    }
}

/// Ranks the subjects.
///
/// # Errors
/// If a key names nothing, options exclude each other, or the items are too few.
pub fn ranked(
    ask: &AskedBoard,
    door: Door<'_>,
    rows: &mut Rows,
    events: &Events,
) -> Result<(LeaderboardAnswer, Settings), Error> {
    if ask.attempts == Some(Attempts::First) {
        *rows = rows.first_attempts()?;
    }
    let by_fact = match fact_asked(ask).filter(|key| rows.dimension(&key.name).is_none()) {
        Some(key) => rank_by_fact(ask, rows, &key)?,
        None => None,
    };
    let method = method(ask, door.needs_dimensions, (rows.subjects.len(), rows.rows.len()))?;
    let (by, officials) = match by_fact {
        Some(by) => (by, Basing::Means(None)),
        None => by(ask, door, rows, events)?,
    };
    let settings = settings(ask, rows, by)?;
    let mut boards = leaderboards(ask, rows, method, &settings, officials, door.page)?;
    let columns: &[Column] = ask.with.as_ref().map_or(&[], |all| all.0.as_slice());
    for (board, (_, items)) in boards.iter_mut().zip(rows.groups()) {
        columns::add(board, rows, &items, columns, "--with")?;
        let cost = ask.cost.as_ref().map(|fact| CostFront::new(rows, &items, fact, &settings));
        board.cost = cost.transpose()?;
    }
    boards.iter_mut().try_for_each(|board| sort(rows, board, &ask.sort))?;
    let basis = Basis::new(rows, &settings);
    Ok((answer(basis, method, ask.group_by.clone(), boards, door.page), settings))
}

/// Ranks by a field, if an item has it. Key or flags give the direction, else it is the one in which the score
/// moves.
fn rank_by_fact(ask: &AskedBoard, rows: &mut Rows, key: &Key) -> Result<Option<By>, Error> {
    if !key.rank(rows, "--by")? {
        return Ok(None);
    }
    for (flag, is_given) in [("--attempts", most(ask).is_some()), ("--robustness", ask.robustness)] {
        if is_given {
            return Err(invalid(format!("{flag} is about scores, and `{}` is a fact", clean(&key.name)))
                .hint(format!("leave out {flag}, or --by")));
        }
    }
    Ok(Some(By::Fact))
}

/// Returns the method asked for, or the one for the number of items. Options that need more than means choose the comparison of pairs.
pub(crate) fn method(
    ask: &AskedBoard,
    needs_dimensions: bool,
    (subjects, items): (usize, usize),
) -> Result<LeaderboardMethod, Error> {
    let needs = [
        ("--attempts", most(ask).is_some()),
        ("--robustness", ask.robustness),
        ("--fail-under of a dimension", needs_dimensions),
    ];
    let needs = needs.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name);
    match (ask.method.or(ask.census.then_some(LeaderboardMethod::Census)), needs) {
        (Some(LeaderboardMethod::Means), Some(name)) => {
            Err(invalid(format!("{name} needs more than --method means computes"))
                .hint("leave out --method, or give --method pairs"))
        }
        (Some(method), _) => Ok(method),
        (None, Some(_)) => Ok(LeaderboardMethod::Pairs),
        (None, None) => Ok(method_of_size(subjects, items)),
    }
}

/// Returns the most attempts whose chances are asked for.
const fn most(ask: &AskedBoard) -> Option<u32> {
    match ask.attempts {
        Some(Attempts::UpTo(most)) => Some(most),
        _ => None,
    }
}

fn settings(ask: &AskedBoard, rows: &Rows, by: By) -> Result<Settings, Error> {
    let attempts = match most(ask) {
        Some(most) => Some(attempts::Attempts { most, pass: pass(ask.pass, rows.scale)? }),
        None => None,
    };
    let Draws { draws, seed } = ask.weights;
    Ok(Settings { attempts, draws, seed, tasks_min: ask.min_tasks, ..usual(&ask.sure, by, rows) })
}

/// The basis of ranks, as far as question and scorecard say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Official scores.
    Official,
    /// Means; with the reason if they were not asked for and the scorecard has official scores.
    Means(Option<&'static str>),
    /// A dimension, or a field of the items.
    Key,
}

/// Returns what ranks are by, under the card whose section `[standing]` applies.
///
/// # Errors
/// If official scores are asked for that the scorecard does not have.
pub fn base(ask: &AskedBoard, card: Option<&Scorecard>, is_part: bool) -> Result<Base, Error> {
    let is_asked = match ask.by.as_deref() {
        None => false,
        Some(OFFICIAL) => true,
        Some(MEAN) => return Ok(Base::Means(None)),
        Some(_) => return Ok(Base::Key),
    };
    let refused =
        |why: &str| Err(invalid(format!("--by official: {why}")).hint("rank by the mean of runs: --by mean"));
    let Some(rules) = card.and_then(|card| card.standing.as_ref()) else {
        return match is_asked {
            false => Ok(Base::Means(None)),
            true => refused("there are no official scores, as the scorecard has no section [standing]"),
        };
    };
    let items = &ask.items;
    let is_selection = is_part || !items.filters.is_empty() || items.since.is_some() || items.until.is_some();
    let has_other_outcomes = !ask.sure.counts.is_empty();
    let is_of_firsts = ask.attempts == Some(Attempts::First) && !is_plain(rules);
    let asked = Asked { is_selection, is_grouped: ask.group_by.is_some(), has_other_outcomes, is_of_firsts };
    match asked.without_official() {
        None => Ok(Base::Official),
        Some(why) if is_asked => refused(why),
        why => Ok(Base::Means(why)),
    }
}

/// Returns the basis of the means, and the official scores, or why ranks are not by them.
fn by(ask: &AskedBoard, door: Door<'_>, rows: &Rows, events: &Events) -> Result<(By, Basing), Error> {
    let card = match door.card {
        Some(card) => Some(Cow::Borrowed(card)),
        None if matches!(ask.by.as_deref(), None | Some(OFFICIAL)) => card_of(rows)?,
        None => None,
    };
    match (base(ask, card.as_deref(), door.is_part)?, card) {
        (Base::Key, _) => {
            let key = ask.by.as_deref().unwrap_or_default();
            let known = || unknown_key("--by", key, &[OFFICIAL, MEAN], rows);
            Ok((By::Dimension(rows.dimension(key).ok_or_else(known)?), Basing::Means(None)))
        }
        (Base::Official, Some(card)) => {
            let as_of = ask.items.as_of.as_ref().map(|as_of| as_of.at).or_else(|| rows.newest());
            let as_of = as_of.unwrap_or(Timestamp { milliseconds: 0 });
            match Officials::new(rows, &card, events, as_of) {
                Ok(officials) => Ok((By::Score, Basing::Officials(officials))),
                Err(error) if rows.newest().is_none() && ask.by.is_none() => {
                    Ok((By::Score, Basing::Means(Some(error.to_string()))))
                }
                Err(error) if rows.newest().is_none() => {
                    Err(invalid(format!("--by official: {error}"))
                        .hint("rank by the mean of runs: --by mean"))
                }
                Err(error) => Err(error),
            }
        }
        (Base::Means(why), _) => Ok((By::Score, Basing::Means(why.map(str::to_owned)))),
        (Base::Official, None) => Ok((By::Score, Basing::Means(None))),
    }
}

/// The basis of ranks.
enum Basing {
    /// Official scores.
    Officials(Officials),
    /// Means; with the reason if it was not asked for and the scorecard has official scores.
    Means(Option<String>),
}

/// Returns one leaderboard over all items, or one for each value of a field.
fn leaderboards(
    ask: &AskedBoard,
    rows: &Rows,
    method: LeaderboardMethod,
    settings: &Settings,
    basing: Basing,
    page: Page,
) -> Result<Vec<Leaderboard>, Error> {
    let (officials, without_official) = match basing {
        Basing::Officials(officials) => (Some(officials), None),
        Basing::Means(why) => (None, why),
    };
    let found = rows.groups().into_iter().map(|(value, items)| {
        let name = ask.group_by.as_ref().zip(value).map(|(field, value)| format!("{field} = {value}"));
        let ranked = match &officials {
            Some(officials) => rank_by_official(rows, &items, method, settings, page, officials),
            None => rank(rows, &items, name, method, settings, page),
        };
        let ranked = ranked.map_err(|error| {
            let error = refused(&error, rows);
            let is_untimed = officials.as_ref().is_some_and(|it| !it.untimed.is_empty());
            let error =
                if is_untimed { error.hint(format!("no official score, as {UNTIMED}")) } else { error };
            let error = match ask.group_by.as_ref().zip(value) {
                Some((field, value)) => {
                    let (field, value) = (clean(field), clean(value));
                    error.hint(format!(
                        "this is about {field} = {value}; to leave it out: --where '{field}!={value}'"
                    ))
                }
                None => error,
            };
            if ask.min_tasks > 1 { error.hint("or lower --min-tasks") } else { error }
        })?;
        let robustness = match ranked.ranking.filter(|_| ask.robustness) {
            Some(ranking) => Some(robustness(rows, &items, &ranking, settings)?),
            None => None,
        };
        let without_official = without_official.clone();
        Ok(Leaderboard { robustness, without_official, ..ranked.leaderboard })
    });
    found.collect()
}

/// Returns how the ranks change under other weights, dimensions and means.
fn robustness(
    rows: &Rows,
    items: &[usize],
    ranking: &Ranking,
    settings: &Settings,
) -> Result<Robustness, Error> {
    let Some(card) = rows.only_card() else {
        return Err(invalid(
            "--robustness: the items are scored by several scorecards, each with its own weights",
        )
        .hint("give the records of one challenge alone"));
    };
    let found = Stress::new(rows, items, ranking, card, CONCENTRATION, settings);
    Ok(Robustness::new(rows, &found.map_err(|error| refused(&error, rows))?))
}

/// Sorts the rows of a leaderboard by a key; their ranks are unchanged.
pub(crate) fn sort(rows: &impl Named, board: &mut Leaderboard, key: &str) -> Result<(), Error> {
    let has_dimension = rows.dimension(key).is_some() || board.columns.iter().any(|column| column == key);
    let by = |row: &LeaderboardRow| {
        let value = match key {
            _ if row.columns.contains_key(key) => row.column(key),
            "tasks" => Some(row.tasks as f64),
            "low" => row.score.low,
            "high" => row.score.high,
            _ => row.dimensions.as_ref().and_then(|all| all.get(key)?.as_ref()).map(|value| value.mean),
        };
        value.map_or(f64::INFINITY, |value| -value)
    };
    match key {
        "rank" => {}
        "subject" => board.rows.sort_by(|a, b| a.subject.cmp(&b.subject)),
        "tasks" | "low" | "high" => board.rows.sort_by(|a, b| by(a).total_cmp(&by(b))),
        _ if has_dimension => board.rows.sort_by(|a, b| by(a).total_cmp(&by(b))),
        _ => return Err(unknown_key("--sort", key, &["rank", "subject", "tasks", "low", "high"], rows)),
    }
    Ok(())
}
