//! Answers about all subjects of a scorecard. What is kept of a subject is computed from all of its records, again whenever
//! it has new ones; so a question reads the records of those subjects alone that have changed.

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use karat::answers::leaderboard::officials::{OfficialScore, Officials};
use karat::answers::weights::WeightsInForce;
use karat::leaderboard::Settings;
use karat::leaderboard::what_if::MeanValues;
use karat::rows::Unclear;
use karat::standing::{items, refused};
use karat_core::number::Score;
use karat_core::scorecard::Scorecard;
use karat_standing::stand::{SubjectStanding, keep, share_out, stand_in_brief};

use crate::cost;
use crate::decisions::Decisions;
use crate::kept::{AllSubjects, Card, Seen, Subject};
use crate::prelude::*;
use crate::rows::{self, RECORDS_MAX, ReadOptions, unanswerable};
use crate::select::{Filter, Selection};

/// The standing of a subject at a moment, as far as all subjects need it.
type Stood = (Option<OfficialScore>, Score);

/// Returns all subjects of a scorecard at `as_of`, from the first `size` entries of the log.
pub(crate) async fn all_subjects(
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    as_of: Timestamp,
    size: u64,
) -> Result<Arc<AllSubjects>, Problem> {
    let (shared, pool) = (Arc::clone(app), Arc::clone(pool));
    let card = app.keeper.card(&pool.name());
    app.read(move |reader| {
        let memory = &shared.memory;
        let present = *memory.size().borrow();
        if size < present || as_of.seconds() < memory.newest().seconds() {
            // A question about the past: nothing of it is kept.
            return all(&mut Card::default(), &shared, &pool, reader, size, as_of).map(Arc::new);
        }
        // A second question waits here, and then finds most of it done.
        let mut kept = card.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.answer.as_ref().filter(|it| (it.size, it.as_of) == (present, as_of)) {
            return Ok(Arc::clone(known));
        }
        let answer = Arc::new(all(&mut kept, &shared, &pool, reader, present, as_of)?);
        kept.answer = Some(Arc::clone(&answer));
        Ok(answer)
    })
    .await
}

/// The records of the subjects to read.
struct Plan {
    pools: Vec<Arc<ScorerPool>>,
    /// Subjects with their positions in the log, in parts that are read at once.
    parts: Vec<Vec<(u32, Vec<u64>)>>,
}

/// Brings what is kept up to date, and puts the answer together.
fn all(
    kept: &mut Card,
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    reader: &mut Reader,
    size: u64,
    as_of: Timestamp,
) -> Result<AllSubjects, Problem> {
    let name = pool.name();
    let decisions = Decisions::read(reader, &app.memory, &name, None, size)?;
    let seen = seen(app, &name, size, &decisions)?;
    if seen.is_empty() {
        return Err(Problem::not_found(format!("there is no record under `{name}`")));
    }
    kept.subjects.retain(|subject, _| seen.contains_key(subject));
    let card = &pool.card;
    let mut stood: BTreeMap<u32, Stood> = BTreeMap::new();
    let mut stale: Vec<u32> = Vec::new();
    for (number, seen) in &seen {
        let known = kept.subjects.get(number).filter(|subject| subject.seen == *seen);
        match known.and_then(|subject| subject.kept.as_ref()?.at(card, as_of.seconds())) {
            Some(standing) => _ = stood.insert(*number, summary(card, &standing)),
            None if known.is_some() && card.standing.is_none() => {}
            None => stale.push(*number),
        }
    }
    let plan = plan(app, &name, size, &stale)?;
    let question = Reading { app, pool, pools: &plan.pools, decisions: &decisions, as_of };
    let (found, left_out) = question.all(&plan.parts)?;
    for (number, subject, standing) in found {
        let seen = seen.get(&number).copied().unwrap_or_default();
        stood.extend(standing.map(|standing| (number, standing)));
        kept.subjects.insert(number, Subject { seen, ..subject });
    }
    let names: Vec<(u32, String)> = {
        let index = app.memory.index();
        seen.keys().map(|number| (*number, index.name(*number).to_owned())).collect()
    };
    let weights = WeightsInForce::of(&app.memory.weights().log(pool, size, as_of));
    let told = told(kept, pool, names, stood, (size, as_of, weights))?;
    Ok(AllSubjects { left_out, ..told })
}

/// Puts the answer together, in the order of the names.
fn told(
    kept: &Card,
    pool: &ScorerPool,
    mut names: Vec<(u32, String)>,
    mut stood: BTreeMap<u32, Stood>,
    (size, as_of, weights): (u64, Timestamp, Option<WeightsInForce>),
) -> Result<AllSubjects, Problem> {
    names.sort_by(|(_, one), (_, two)| one.cmp(two));
    let card = &pool.card;
    let mut values = MeanValues::default();
    let mut scores = Vec::new();
    let mut shared_scores = Vec::new();
    for (number, name) in names {
        let found = kept.subjects.get(&number).and_then(|subject| subject.values.clone());
        if let Some(found) = found {
            values.subjects.push(name.clone());
            values.values.push(found);
        }
        // A subject all of whose items are later has no standing yet.
        if let Some((score, shared)) = stood.remove(&number) {
            scores.push((name, score));
            shared_scores.push(shared);
        }
    }
    let shares = match &card.standing {
        Some(rules) => share_out(rules, &shared_scores).map_err(|error| unanswerable(&refused(&[error])))?,
        None => None,
    };
    let name = |(name, _): &(String, _)| name.clone();
    let shares = shares.map(|(sum, each)| (sum, scores.iter().map(name).zip(each).collect()));
    let officials = Officials {
        as_of: Some(as_of),
        weights,
        scale: card.scale.max,
        dimensions: card.dimensions.iter().map(|it| it.key.clone()).collect(),
        subjects: scores,
        untimed: BTreeSet::new(),
    };
    let officials = card.standing.is_some().then_some(officials);
    let values = card.family.is_none().then_some(values);
    Ok(AllSubjects { size, as_of, officials, left_out: BTreeMap::new(), shares, values })
}

fn summary(card: &Scorecard, standing: &SubjectStanding) -> Stood {
    (OfficialScore::new(card, standing), standing.shared_score(card.scale.max))
}

/// Returns what there is about each subject of a scorecard.
fn seen(app: &App, card: &str, size: u64, decisions: &Decisions) -> Result<BTreeMap<u32, Seen>, Problem> {
    let index = app.memory.index();
    let (filter, _) = Filter::new(&app.memory, &index, &Selection::of_card(card))?;
    let mut by_number = vec![Seen::default(); index.names()];
    for row in index.rows(size).filter(|row| filter.admits(row)) {
        let place = usize::try_from(row.subject).ok().and_then(|at| by_number.get_mut(at));
        if let Some(seen) = place {
            (seen.records, seen.newest) = (seen.records + 1, row.position);
        }
    }
    let counts = decisions.counts();
    let found = (0u32..).zip(by_number).filter(|(_, seen)| seen.records > 0);
    let of = |number| counts.get(index.name(number)).copied().unwrap_or_default();
    let (weights, withdrawals) = (decisions.weights(), index.withdrawals(size));
    Ok(found
        .map(|(number, seen)| (number, Seen { decisions: of(number), weights, withdrawals, ..seen }))
        .collect())
}

/// Returns the positions of the records of these subjects, whole subjects together.
fn plan(app: &App, card: &str, size: u64, subjects: &[u32]) -> Result<Plan, Problem> {
    let index = app.memory.index();
    let (filter, pools) = Filter::new(&app.memory, &index, &Selection::of_card(card))?;
    let mut of_subject: BTreeMap<u32, Vec<u64>> = subjects.iter().map(|it| (*it, Vec::new())).collect();
    if !subjects.is_empty() {
        for row in index.rows(size).filter(|row| filter.admits(row)) {
            of_subject.entry(row.subject).and_modify(|positions| positions.push(row.position));
        }
    }
    let mut parts: Vec<Vec<(u32, Vec<u64>)>> = Vec::new();
    let mut records = 0;
    for (subject, positions) in of_subject {
        let own = positions.len();
        match parts.last_mut().filter(|_| records + own <= PART_RECORDS) {
            Some(part) => {
                part.push((subject, positions));
                records += own;
            }
            None => {
                parts.push(vec![(subject, positions)]);
                records = own;
            }
        }
    }
    Ok(Plan { pools, parts })
}

/// The number of records that are read at once, unless one subject has more.
const PART_RECORDS: usize = RECORDS_MAX / 8;

/// A question about subjects whose records are read.
struct Reading<'q> {
    app: &'q Arc<App>,
    pool: &'q Arc<ScorerPool>,
    pools: &'q [Arc<ScorerPool>],
    decisions: &'q Decisions,
    as_of: Timestamp,
}

/// The subjects that were read: number, what is kept of it, and its standing; and those that were left out, with the reason.
type Found = (Vec<(u32, Subject, Option<Stood>)>, BTreeMap<String, String>);

impl Reading<'_> {
    /// Reads all parts, on as many threads as there are processors.
    fn all(&self, parts: &[Vec<(u32, Vec<u64>)>]) -> Result<Found, Problem> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<Found, Problem> {
            let mut found = Found::default();
            let mut reader = None;
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let reader = match &mut reader {
                    Some(reader) => reader,
                    none => none.insert(self.app.reader()?),
                };
                add(&mut found, self.part(reader, part)?);
            }
            Ok(found)
        };
        cost::records(parts.iter().flatten().map(|(_, positions)| positions.len()).sum());
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(parts.len());
        thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let mut all = Found::default();
            for thread in threads {
                add(&mut all, thread.join().map_err(|_| Problem::internal(&"a thread failed"))??);
            }
            Ok(all)
        })
    }

    fn part(&self, reader: &mut Reader, part: &[(u32, Vec<u64>)]) -> Result<Found, Problem> {
        let card = &self.pool.card;
        let mut positions: Vec<u64> = part.iter().flat_map(|(_, positions)| positions).copied().collect();
        positions.sort_unstable();
        let unclear = if card.standing.is_some() { Unclear::LeftOutOfStandings } else { Unclear::LeftOut };
        let options = ReadOptions { unclear, ..ReadOptions::default() };
        let rows = rows::read(&self.app.memory, reader, self.pools, &positions, &options)?;
        let values = match card.family {
            None => MeanValues::new(&rows, card, &Settings::usual_for(Some(card))).unwrap_or_default(),
            Some(_) => MeanValues::default(),
        };
        let mut values: HashMap<String, Vec<Option<i64>>> =
            values.subjects.into_iter().zip(values.values).collect();
        let (mut kept, mut stood) = (HashMap::new(), HashMap::new());
        if card.standing.is_some() && !rows.rows.is_empty() {
            let refused = |errors: Vec<_>| unanswerable(&refused(&errors));
            let events = self.decisions.events(|name| rows.subject(name).is_some(), None)?;
            let items = items::items(&rows, card, &events).map_err(|error| unanswerable(&error))?;
            let as_of = self.as_of.seconds();
            let states = keep(card, &items, &events.events, as_of).map_err(refused)?;
            let mut later = Vec::new();
            for state in states {
                match state.at(card, as_of) {
                    Some(standing) => _ = stood.insert(state.subject().to_owned(), summary(card, &standing)),
                    None => later.push(state.subject().to_owned()),
                }
                kept.insert(state.subject().to_owned(), state);
            }
            if !later.is_empty() {
                let standings = stand_in_brief(card, &items, &events.events, as_of).map_err(refused)?;
                for standing in standings.subjects.iter().filter(|it| later.contains(&it.subject)) {
                    stood.insert(standing.subject.clone(), summary(card, standing));
                }
            }
        }
        let index = self.app.memory.index();
        let subject = |(number, _): &(u32, Vec<u64>)| {
            let name = index.name(*number);
            let seen = Seen::default();
            let subject = Subject { seen, kept: kept.remove(name), values: values.remove(name) };
            (*number, subject, stood.remove(name))
        };
        Ok((part.iter().map(subject).collect(), rows.left_out))
    }
}

fn add(all: &mut Found, (found, left_out): Found) {
    all.0.extend(found);
    all.1.extend(left_out);
}
