//! Health and metrics, for monitoring.

use karat_core::record::ENGINE_VERSION;

use super::{bytes, gauges, json};
use crate::deliveries::EndpointState;
use crate::logging;
use crate::metrics::Gauge;
use crate::prelude::*;

/// A sign that the server answers and can read its store.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ServerHealth {
    /// `ok`
    status: &'static str,
    /// The version of the engine.
    engine: &'static str,
    /// The number of entries in the log.
    log_size: u64,
    /// The seconds by which the clock of the server is behind the newest entry: the time of the log stands still until it is past
    /// it. Null if it is not.
    clock_behind_seconds: Option<u64>,
    /// The judge of submitted code; null before one was started.
    judge: Option<JudgeHealth>,
}

/// The judge of submitted code: what it said of itself at its last start, and what it does.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct JudgeHealth {
    /// The engine and its version.
    engine: String,
    /// The version of the judge itself.
    version: String,
    /// Its runtimes, and their digests.
    runtimes: BTreeMap<String, String>,
    /// The most processes.
    processes: usize,
    /// The answers that are being judged.
    at_work: usize,
    /// The answers that wait for a process.
    waiting: usize,
    /// The answers that got no verdict since the server started.
    without_verdict: u64,
    /// The processes that ended, hung or answered nonsense since the server started.
    broken: u64,
}

/// Checks that the server can answer and read its store. Needs no key.
#[utoipa::path(get, operation_id = "show_health", path = "/healthz", tag = "server", security(()), responses(
    (status = 200, body = ServerHealth), (status = 500, body = Problem, content_type = "application/problem+json")))]
pub(crate) async fn health(State(app): State<Arc<App>>) -> Answer {
    let log_size = app.read(|reader| Ok(reader.head()?.size)).await?;
    let judges = app.judging.judges();
    let judge = judges.known_hello().map(|hello| {
        let activity = judges.activity();
        JudgeHealth {
            engine: hello.engine,
            version: hello.version,
            runtimes: hello.runtimes,
            processes: judges.processes(),
            at_work: activity.at_work,
            waiting: activity.waiting,
            without_verdict: activity.without_verdict,
            broken: activity.broken,
        }
    });
    if !app.is_writing() {
        return Err(Problem::internal(&"the thread that writes has ended: restart the server"));
    }
    let clock_behind_seconds = app.clock.behind_seconds();
    let health = ServerHealth { status: "ok", engine: ENGINE_VERSION, log_size, clock_behind_seconds, judge };
    json(StatusCode::OK, &health)
}

/// Returns the metrics in the text format of Prometheus. They need the permission to read, as scores do.
#[utoipa::path(get, operation_id = "read_metrics", path = "/metrics", tag = "server", responses(
    (status = 200, content_type = "text/plain", body = String)))]
pub(crate) async fn metrics(Get(app, _): Get) -> Answer {
    let (records, names) = {
        let index = app.memory.index();
        (index.len(), index.names())
    };
    let behind = app.clock.behind_seconds().unwrap_or_default();
    let of_server = [
        ("karat_log_entries", "Entries of the log.", *app.memory.size().borrow() as f64),
        ("karat_index_records", "Records in the index.", records as f64),
        ("karat_index_names", "Names in the index.", names as f64),
        ("karat_uptime_seconds", "Time since the server started.", app.clock.running_seconds()),
        ("karat_clock_behind_seconds", "Time by which the clock is behind the log.", behind as f64),
        ("karat_panics_total", "Tasks that ended because of a bug.", logging::panics() as f64),
        (
            "karat_log_lines_dropped_total",
            "Lines of this log that could not be written.",
            logging::dropped() as f64,
        ),
    ];
    let mut text = app.metrics.text(&of_server);
    text.push_str(&webhooks(&app));
    text.push_str(&gauges::lines(&app).await);
    Ok(bytes(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text.into_bytes()))
}

/// Returns the metrics of webhooks.
fn webhooks(app: &App) -> String {
    let (size, all) = (*app.memory.size().borrow(), app.deliveries.endpoints());
    let each = |value: &dyn Fn(&EndpointState) -> f64| {
        all.iter().map(|it| (vec![("endpoint", it.name.clone())], value(it))).collect()
    };
    let text = |name, help, is_counter, values| Gauge { name, help, is_counter, values }.text();
    [
        text(
            "karat_webhook_delivered_total",
            "Events that an endpoint took.",
            true,
            each(&|it| it.delivered as f64),
        ),
        text("karat_webhook_failed_total", "Attempts that failed.", true, each(&|it| it.failed as f64)),
        text(
            "karat_webhook_behind",
            "Entries of the log that an endpoint was not told of.",
            false,
            each(&|it| size.saturating_sub(it.position) as f64),
        ),
        text(
            "karat_webhook_off",
            "1 if an endpoint is switched off.",
            false,
            each(&|it| f64::from(u8::from(it.off.is_some()))),
        ),
    ]
    .concat()
}
