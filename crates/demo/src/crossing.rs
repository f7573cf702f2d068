//! A workflow of the season: a task, the plans of five of the programs, and recordings of them.
//!
//! The plans were really run, by four recorders, each with separate services that answer at their pace and price. That
//! was before, because the demo starts no programs, and on another day: the start of each recording is set to the
//! moment at which its recorder begins on the clock of the demo. A recorder that is drawn delivers, through the code
//! that serves requests.

use std::sync::Arc;

use karat::Timestamp;
use serde_json::Value;

use karat_server::keys::SERVER;
use karat_server::market::{self, TaskRequest};
use karat_server::problem::Problem;
use karat_server::registry::register;
use karat_server::signers::Recorder;
use karat_server::state::App;
use karat_store::log::{NoteError, Signer};

use crate::evidence::example;

/// The task.
pub const TASK: &str = "crossing-12";
const CARD: &str = "workflow@1.0.0";
/// The authors of plans, in the order in which they are handed in and run.
pub const MINERS: [&str; 5] = ["hare", "cartographer", "magpie", "surveyor", "tortoise"];
/// The recorders, and how many of the plans each of them ran: one was switched off before the last two.
pub const RECORDERS: [(&str, usize); 4] = [("fulmar", 5), ("gannet", 5), ("petrel", 5), ("skua", 3)];
/// The number of recorders that are drawn for a plan, and of recordings that its verdict needs.
const DRAWN: u32 = 3;
const NEEDED: u32 = 2;

/// The time at which the task is posted: 2026-06-07T06:00:00Z.
pub const POSTED: Timestamp = Timestamp { milliseconds: 1_780_812_000_000 };
const MINUTE: i64 = 60_000;
/// Plans are accepted for eight hours, and recordings for another twelve.
const PLANS_UNTIL: Timestamp = after(POSTED, 8 * 60);
const RECORDINGS_UNTIL: Timestamp = after(PLANS_UNTIL, 12 * 60);
/// The time between two plans of all, and between two runs of a recorder.
const PAUSE_MINUTES: i64 = 20;

const fn after(moment: Timestamp, minutes: i64) -> Timestamp {
    Timestamp { milliseconds: moment.milliseconds + minutes * MINUTE }
}

/// A run of a plan by a recorder.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// The author of the plan.
    pub miner: &'static str,
    /// The recorder that runs it.
    pub recorder: &'static str,
    /// The time at which it begins.
    pub begins: Timestamp,
}

impl Run {
    /// Returns the path of its recording in the folder of the examples.
    pub fn path(&self) -> String {
        format!("season/crossing/recordings/{}.{}.jsonl", self.miner, self.recorder)
    }
}

/// Returns every run, in the order of time.
pub fn runs() -> impl Iterator<Item = Run> {
    let of_plan = |(turn, miner)| {
        let recorders = RECORDERS.into_iter().filter(move |(_, plans)| turn < *plans).zip(1..);
        recorders.map(move |((recorder, _), place)| {
            let start = after(PLANS_UNTIL, place);
            let turns = i64::try_from(turn).unwrap_or(i64::MAX);
            Run { miner, recorder, begins: after(start, turns.saturating_mul(PAUSE_MINUTES)) }
        })
    };
    MINERS.into_iter().enumerate().flat_map(of_plan)
}

/// Returns the path of a plan in the folder of the examples.
pub fn plan_path(miner: &str) -> String {
    format!("season/crossing/plans/{miner}.json")
}

/// Returns the path of the task in the folder of the examples.
pub fn task_path() -> String {
    String::from("season/crossing/task.json")
}

/// Returns the key with which a recorder signs. It is known to all, as everything of the demo.
///
/// # Errors
/// If the name cannot be that of a key.
pub fn signer(recorder: &str) -> Result<Signer, NoteError> {
    let mut secret = [8; 32];
    for (byte, of_name) in secret.iter_mut().zip(recorder.bytes()) {
        *byte = of_name;
    }
    Signer::new(recorder, &secret)
}

/// Posts the task, hands in the plans, delivers what was recorded, and settles what is left after the last moment for
/// recordings.
pub async fn play(app: &Arc<App>) -> Result<(), Problem> {
    app.clock.put(POSTED);
    for (recorder, _) in RECORDERS {
        let key = signer(recorder).map_err(|error| Problem::internal(&error))?;
        register::<Recorder>(app, SERVER, recorder, &key.verifying_key().to_string()).await?;
    }
    let task: Value =
        serde_json::from_str(example(&task_path())?).map_err(|error| Problem::internal(&error))?;
    let request = TaskRequest {
        task,
        card: CARD.to_owned(),
        plans_until: PLANS_UNTIL.to_string(),
        recordings_until: RECORDINGS_UNTIL.to_string(),
        recordings: Some(NEEDED),
        recorders: Some(DRAWN),
        may_record: None,
        retries_max: 1,
    };
    market::publish(app, SERVER, request).await?;
    for (miner, turn) in MINERS.into_iter().zip(1..) {
        let now = after(POSTED, turn * PAUSE_MINUTES);
        app.clock.put(now);
        let plan = example(&plan_path(miner))?.as_bytes().to_vec();
        market::hand_in(app, SERVER, TASK, miner, plan, now).await?;
    }
    for run in runs() {
        let now = after(run.begins, 1);
        app.clock.put(now);
        let drawn = app.memory.flows.state().plan(TASK, run.miner).map(|plan| plan.drawn.clone());
        if drawn.is_some_and(|drawn| drawn.iter().any(|name| name == run.recorder)) {
            let recording = example(&run.path())?.as_bytes().to_vec();
            market::deliver(app, SERVER, TASK, run.miner, recording, now).await?;
        }
    }
    app.clock.put(after(RECORDINGS_UNTIL, 1));
    market::settle_due(app).await
}
