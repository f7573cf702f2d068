//! Scores of leaderboards and counts of gates, as metrics. They are computed beside the requests that ask for them, and again
//! only after the log has grown or time has passed.

use std::sync::atomic::Ordering;

use karat::answers::leaderboard::LeaderboardRow;
use karat::record::Record;
use tokio::time::timeout;

use super::leaderboards;
use crate::metrics::Gauge;
use crate::prelude::*;

/// The most scorecards: those with the most records.
const CARDS_MAX: usize = 100;
/// The most subjects of all leaderboards, and the most gates.
const SERIES_MAX: usize = 1000;
/// The time for which a request waits for new values; then it has those from before.
const WAIT: Duration = Duration::from_secs(2);
/// The shortest time between two computations, and the longest if the log does not grow: official scores decay.
const AGAIN_SECONDS: (f64, f64) = (10.0, 600.0);
/// The rest for each time that a computation took.
const REST_SHARE: f64 = 4.0;
/// The most records whose gates are counted at once.
const RECORDS: usize = 10_000;

/// Returns the lines of scores and gates.
pub(super) async fn lines(app: &Arc<App>) -> String {
    let work = Arc::clone(app);
    let work = uninterrupted(async move { refresh(&work).await });
    if let Ok(Err(problem)) = timeout(WAIT, work).await {
        tracing::warn!(why = problem.detail, "the scores in the metrics are those from before");
    }
    app.boards.text()
}

/// Computes the lines again, if it is time and no other request does.
async fn refresh(app: &Arc<App>) -> Result<(), Problem> {
    let Ok(mut turn) = app.boards.turn.try_lock() else { return Ok(()) };
    let (size, now) = (*app.memory.size().borrow(), app.clock.running_seconds());
    let passed = now - turn.at_seconds;
    let is_due = passed
        >= if turn.size == Some(size) { AGAIN_SECONDS.1 } else { AGAIN_SECONDS.0.max(turn.rest_seconds) };
    if turn.size.is_some() && !is_due {
        return Ok(());
    }
    let counts = gates(app, turn.counted, size).await?;
    turn.counted = counts.0;
    for gate in counts.1 {
        let is_known = turn.gates.contains_key(&gate) || turn.gates.len() < SERIES_MAX;
        *(if is_known { turn.gates.entry(gate).or_default() } else { &mut turn.gates_left_out }) += 1;
    }
    let records = |pool: &Arc<ScorerPool>| (pool.records.load(Ordering::Relaxed), pool.name());
    let mut cards: Vec<(u64, String)> =
        app.memory.cards().iter().map(records).filter(|it| it.0 > 0).collect();
    cards.sort_unstable_by(|one, other| other.cmp(one));
    let (mut found, mut left_out) = (Vec::new(), cards.split_off(cards.len().min(CARDS_MAX)).len() as u64);
    for (_, card) in cards {
        let room = SERIES_MAX.saturating_sub(found.len());
        let (mut rows, more) = match leaderboards::of_metrics(app, &card, size, room.max(1)).await {
            Ok(board) => board,
            // No subject has a score, or the records cannot be put together.
            Err(problem) if matches!(problem.code, Code::NotFound | Code::Unanswerable) => continue,
            Err(problem) => return Err(problem),
        };
        rows.truncate(room);
        left_out += more.saturating_sub(rows.len() as u64);
        found.extend(rows.into_iter().map(|(by, row)| (card.clone(), by, row)));
    }
    app.boards.put(text(&found, left_out, &turn.gates, turn.gates_left_out));
    let ended = app.clock.running_seconds();
    (turn.size, turn.at_seconds, turn.rest_seconds) = (Some(size), ended, REST_SHARE * (ended - now));
    // What was not counted is counted next time.
    if turn.counted < size {
        turn.size = Some(turn.counted);
    }
    Ok(())
}

/// Returns scorecard and name of each gate that held in the records from `start` on, and the position up to which they were read.
async fn gates(app: &Arc<App>, start: u64, size: u64) -> Result<(u64, Vec<(String, String)>), Problem> {
    let positions: Vec<u64> =
        app.memory.index().from(start, size).take(RECORDS).map(|row| row.position).collect();
    let end = positions.last().filter(|_| positions.len() == RECORDS).map_or(size, |last| last + 1);
    app.read(move |reader| {
        let mut found = Vec::new();
        for position in positions {
            let item = reader.item(position)?;
            let Ok(Some(record)) = Record::parse(&item.content) else { continue };
            let record = record.document();
            let card = record.scorecard.name();
            found.extend(record.gates.iter().map(|gate| (card.clone(), gate.clone())));
        }
        Ok((end, found))
    })
    .await
}

fn text(
    rows: &[(String, String, LeaderboardRow)],
    left_out: u64,
    gates: &BTreeMap<(String, String), u64>,
    gates_left_out: u64,
) -> String {
    let of_rows = |value: fn(&LeaderboardRow) -> Option<f64>| {
        let labels = |(card, by, row): &(String, String, LeaderboardRow)| {
            vec![("card", card.clone()), ("subject", row.subject.clone()), ("by", by.clone())]
        };
        rows.iter().filter_map(|it| Some((labels(it), value(&it.2)?))).collect::<Vec<_>>()
    };
    let of_gate = |((card, gate), count): (&(String, String), &u64)| {
        (vec![("card", card.clone()), ("gate", gate.clone())], *count as f64)
    };
    let one = |value: u64| vec![(Vec::new(), value as f64)];
    let gauge = |name, help, values| Gauge { name, help, is_counter: false, values }.text();
    [
        gauge(
            "karat_score",
            "Score in points by which a leaderboard ranks.",
            of_rows(|row| Some(row.score.mean)),
        ),
        gauge("karat_score_low", "Lower end of the interval of the score.", of_rows(|row| row.score.low)),
        gauge("karat_score_high", "Upper end of the interval of the score.", of_rows(|row| row.score.high)),
        gauge("karat_score_items", "Items that the score is of.", of_rows(|row| Some(row.items as f64))),
        gauge(
            "karat_scores_left_out",
            "Ranked subjects, and whole scorecards, that are not among these scores.",
            one(left_out),
        ),
        Gauge {
            name: "karat_gates_total",
            help: "Records since the start in which a gate of the scorecard held.",
            is_counter: true,
            values: gates.iter().map(of_gate).collect(),
        }
        .text(),
        gauge(
            "karat_gates_left_out",
            "Records since the start with gates that are not among these.",
            one(gates_left_out),
        ),
    ]
    .concat()
}
