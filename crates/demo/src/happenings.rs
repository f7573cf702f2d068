//! What happened beside the evaluations of the support agents: who operates whom, an incident, a decision.

use std::sync::Arc;

use karat_store::Moment;

use karat_server::api::reviews::{Happening, ReviewRequest, Verdict, keep};
use karat_server::problem::Problem;
use karat_server::state::App;

/// Who decides.
const REVIEWER: &str = "northlab";

/// Something that happened, and when.
pub struct Happened {
    /// When.
    pub moment: Moment,
    request: ReviewRequest,
}

/// All of it, in the order of time.
pub fn happenings() -> impl Iterator<Item = Happened> {
    let about = |moment, subject: &str, event| {
        let request = ReviewRequest {
            card: String::from("support-agent@1.0.0"),
            subject: subject.to_owned(),
            event,
            verdict: None,
            reason: None,
            evidence: None,
            incident: None,
            operator: None,
            id: None,
            runner: None,
        };
        Happened { moment: Moment(moment), request }
    };
    let operated = |moment, subject| {
        let it = about(moment, subject, Happening::Operated);
        Happened { request: ReviewRequest { operator: Some(String::from("acme")), ..it.request }, ..it }
    };
    let incident = |moment, event| {
        let it = about(moment, "wren", event);
        Happened { request: ReviewRequest { incident: Some(String::from("leak-7")), ..it.request }, ..it }
    };
    let ran = about(1_771_498_800_000, "heron", Happening::Ran);
    let ran =
        ReviewRequest { id: Some(String::from("heron-3")), runner: Some(REVIEWER.to_owned()), ..ran.request };
    let rejected = about(1_772_971_200_000, "ibis", Happening::Decided);
    let rejected = ReviewRequest {
        verdict: Some(Verdict::Reject),
        reason: Some(String::from("our own runs of the same tickets solve 61 of 100")),
        ..rejected.request
    };
    [
        operated(1_771_495_200_000, "heron"),
        operated(1_771_495_200_000, "ibis"),
        Happened { moment: Moment(1_771_498_800_000), request: ran },
        incident(1_772_884_800_000, Happening::IncidentOpened),
        Happened { moment: Moment(1_772_971_200_000), request: rejected },
        incident(1_774_008_000_000, Happening::IncidentClosed),
    ]
    .into_iter()
}

/// Writes it down as a reviewer does.
pub async fn happen(app: &Arc<App>, happened: Happened) -> Result<(), Problem> {
    app.clock.put(happened.moment);
    keep(app, happened.request, REVIEWER).await.map(|_| ())
}
