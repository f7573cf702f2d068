//! Events beside the evaluations of the support agents: who operates them, an incident, a decision.

use std::sync::Arc;

use karat::Timestamp;

use karat_server::api::reviews::{ReviewEvent, ReviewRequest, ReviewVerdict, held, keep};
use karat_server::keys::SERVER;
use karat_server::problem::Problem;
use karat_server::state::App;

/// The reviewer.
const REVIEWER: &str = "northlab";

/// An event with its time.
pub struct Happened {
    /// The time of the event.
    pub moment: Timestamp,
    request: ReviewRequest,
}

/// Returns all events, in the order of time.
pub fn events() -> impl Iterator<Item = Happened> {
    let about = |moment, subject: &str, event| {
        let request = ReviewRequest {
            card: String::from("support-agent@1.0.0"),
            subject: subject.to_owned(),
            event,
            ..ReviewRequest::default()
        };
        Happened { moment: Timestamp { milliseconds: moment }, request }
    };
    let operated = |moment, subject| {
        let it = about(moment, subject, ReviewEvent::Operated);
        Happened { request: ReviewRequest { operator: Some(String::from("acme")), ..it.request }, ..it }
    };
    let incident = |moment, event| {
        let it = about(moment, "wren", event);
        Happened { request: ReviewRequest { incident: Some(String::from("leak-7")), ..it.request }, ..it }
    };
    let ran = about(1_771_498_800_000, "heron", ReviewEvent::Ran);
    let ran =
        ReviewRequest { id: Some(String::from("heron-3")), runner: Some(REVIEWER.to_owned()), ..ran.request };
    let rejected = about(1_772_971_200_000, "ibis", ReviewEvent::Decided);
    let rejected = ReviewRequest {
        verdict: Some(ReviewVerdict::Reject),
        reason: Some(String::from("our own runs of the same tickets solve 61 of 100")),
        ..rejected.request
    };
    [
        operated(1_771_495_200_000, "heron"),
        operated(1_771_495_200_000, "ibis"),
        Happened { moment: Timestamp { milliseconds: 1_771_498_800_000 }, request: ran },
        incident(1_772_884_800_000, ReviewEvent::IncidentOpened),
        Happened { moment: Timestamp { milliseconds: 1_772_971_200_000 }, request: rejected },
        incident(1_774_008_000_000, ReviewEvent::IncidentClosed),
    ]
    .into_iter()
}

/// Stores the event as a request of a reviewer would.
pub async fn happen(app: &Arc<App>, happened: Happened) -> Result<(), Problem> {
    app.clock.put(happened.moment);
    let mut request = happened.request;
    if request.event == ReviewEvent::Decided {
        request.seen = held(app, &request.card, &request.subject).await?.map(|held| held.digest);
    }
    keep(app, request, REVIEWER, SERVER).await.map(|_| ())
}
