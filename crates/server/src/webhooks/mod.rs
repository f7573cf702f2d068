//! Webhooks: events of the log, sent to endpoints as Standard Webhooks says.
//!
//! An endpoint receives the events of the log part by part, in order: `events` derives the events of a part, which are delivered one after
//! the other, and then its cursor moves on (`deliveries`). While an endpoint fails, its part waits, and
//! nothing grows. `file` is the configuration, `address` and `send` the way out.

mod address;
mod events;
mod file;
mod send;

use tokio::time::{Instant, sleep};
use ureq::Agent;
use ureq::tls::RootCerts;

pub use self::file::{Endpoint, TYPES, Watch, Webhooks};
pub use self::send::SigningSecret;

use self::events::{Event, Part};
use crate::clock::{Clock, random};
use crate::deliveries::{Cursor, Delivery};
use crate::prelude::*;

/// The most entries of a part.
const ENTRIES: u64 = 1024;
/// The shortest rest between two parts.
const REST: Duration = Duration::from_millis(500);
/// The rest for each time that events took to derive: more than four fifths of a processor are left.
const REST_SHARE: u32 = 4;
/// The rest after something of the server itself failed.
const AFTER_FAILURE: Duration = Duration::from_secs(10);
/// The longest wait that an endpoint may ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(86_400);

/// Sends every endpoint its events, for as long as the server runs.
pub(crate) async fn run(app: Arc<App>) {
    let mut tasks = tokio::task::JoinSet::new();
    for at in 0..app.options.webhooks.endpoints.len() {
        let app = Arc::clone(&app);
        tasks.spawn(async move {
            let Some(to) = app.options.webhooks.endpoints.get(at) else { return };
            let roots = app.options.webhooks.roots.clone().unwrap_or(RootCerts::WebPki);
            let way = Way { app: &app, to, agent: send::agent(to.allows_private, roots) };
            loop {
                match way.part().await {
                    Ok(Some(rest)) => sleep(rest).await,
                    Ok(None) => return,
                    Err(problem) => {
                        tracing::warn!(endpoint = to.name, why = problem.detail, "a webhook waits");
                        sleep(AFTER_FAILURE).await;
                    }
                }
            }
        });
    }
    while tasks.join_next().await.is_some() {}
}

/// The way to an endpoint.
struct Way<'w> {
    app: &'w Arc<App>,
    to: &'w Endpoint,
    agent: Agent,
}

impl Way<'_> {
    /// Waits for a part of the log and delivers its events. Returns how long to rest; none if the endpoint is switched off.
    async fn part(&self) -> Result<Option<Duration>, Problem> {
        let mut cursor = self.app.deliveries.cursor(&self.to.name);
        if cursor.start == cursor.end {
            let mut size = self.app.memory.size();
            let stopped = |_| Problem::internal(&"the server stops");
            let size = *size.wait_for(|size| *size > cursor.end).await.map_err(stopped)?;
            cursor.end = size.min(cursor.start + ENTRIES);
        }
        let began = Instant::now();
        let hooks = &self.app.options.webhooks;
        let part = Part { app: self.app, to: self.to, hooks, range: cursor.start..cursor.end };
        let events = part.events().await?;
        let rest = REST.max(began.elapsed() * REST_SHARE);
        // From now on it is this part, so that its events are the same after a restart.
        if !events.is_empty() {
            self.keep(cursor.clone()).await?;
        }
        let done = cursor.done.as_ref().and_then(|id| events.iter().position(|event| event.id == *id));
        for event in events.iter().skip(done.map_or(0, |at| at + 1)) {
            if !self.deliver(event, &cursor).await? {
                return Ok(None);
            }
            cursor.done = Some(event.id.clone());
            self.keep(cursor.clone()).await?;
        }
        self.keep(Cursor { start: cursor.end, end: cursor.end, done: None }).await?;
        Ok(Some(rest))
    }

    async fn keep(&self, cursor: Cursor) -> Result<(), Problem> {
        let (app, name) = (Arc::clone(self.app), self.to.name.clone());
        self.app.checked(move || Ok(app.deliveries.put(&name, cursor)?)).await
    }

    /// Delivers an event, with as many attempts as it takes. Returns false if the endpoint is switched off.
    async fn deliver(&self, event: &Event, cursor: &Cursor) -> Result<bool, Problem> {
        let waits = &self.app.options.webhooks.waits;
        for attempt in 1.. {
            let now = Clock::system().now();
            let answered = send::post(&self.agent, self.to, &event.id, &event.body, now.seconds()).await;
            let status = answered.as_ref().ok().map(|(status, _)| *status);
            let problem = match &answered {
                Ok((200..=299, _)) => None,
                Ok((status, _)) => Some(format!("the endpoint answered {status}")),
                Err(why) => Some(why.clone()),
            };
            let wait =
                waits.get(attempt - 1).filter(|_| status != Some(410) && problem.is_some()).map(|wait| {
                    let asked = answered.as_ref().ok().and_then(|(_, after)| after.map(Duration::from_secs));
                    jittered(*wait).max(asked.unwrap_or_default().min(RETRY_AFTER_MAX))
                });
            let next = wait.map(|wait| {
                let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
                Timestamp { milliseconds: now.milliseconds.saturating_add(wait) }.to_string()
            });
            self.app.deliveries.add(Delivery {
                moment: now.to_string(),
                endpoint: self.to.name.clone(),
                event: event.id.clone(),
                r#type: event.kind.to_owned(),
                position: event.position,
                attempt,
                status,
                problem: problem.clone(),
                next,
            });
            let Some(why) = problem else { return Ok(true) };
            tracing::warn!(
                endpoint = self.to.name,
                event = event.id,
                attempt,
                why,
                "an event was not delivered"
            );
            self.keep(cursor.clone()).await?;
            let Some(wait) = wait else {
                tracing::error!(endpoint = self.to.name, why, "the webhook is off until the next start");
                self.app.deliveries.switch_off(&self.to.name, why);
                return Ok(false);
            };
            sleep(wait).await;
        }
        Ok(false)
    }
}

/// Returns a wait that is up to a tenth longer, so that those of many servers do not end at once.
fn jittered(wait: Duration) -> Duration {
    let drawn = random::<1>().map_or(0, |[byte]| u32::from(byte));
    wait + wait * drawn / 2560
}
