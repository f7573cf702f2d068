//! Reviews: the scores that wait for a decision, for those who may decide.

use axum::http::header::LOCATION;
use karat::answers::ReviewVerdict;
use karat::answers::review::PendingReview;

use super::arena::signed;
use super::items;
use super::layout::*;
use crate::api::reviews::{ReviewRequest, keep, waiting};
use crate::prelude::*;

/// The explanation at the top of the page.
const LEAD: &str = "A score that swings too far is held until reviewers who do not operate its subject decide, or the deadline passes.";

pub async fn show(State(app): State<Arc<App>>, caller: Caller) -> Answer {
    caller.may(&Act::ReadReviews)?;
    let (held, problems) = waiting(&app, None).await?;
    let sheet = Sheet { title: "Reviews", part: "/reviews", caller: Some(&caller) };
    Ok(sheet.answer(html! {
        (heading(&[], "Reviews", LEAD))
        @if held.is_empty() {
            div.empty { p { b { "No score waits for a decision." } " A score that is held shows up here by itself." } }
        }
        @for (at, held) in held.iter().enumerate() { (review(at, held)) }
        (notes(&problems))
    }))
}

fn review(at: usize, it: &PendingReview) -> Markup {
    let PendingReview { card, subject, review } = it;
    let Some(held) = &review.held else { return html! {} };
    html! {
        section aria-labelledby=(format!("r{at}")) {
            h2 id=(format!("r{at}")) { a href=(address::subject(subject, Some(card))) { (subject) } }
            dl.figures {
                div { dt { "proposed" } dd { (held.points) } }
                @if let Some(official) = &review.official { div { dt { "official score" } dd { (official.points) } } }
                @if let Some(delta) = held.flags.delta { div { dt { "change" } dd { (signed(delta)) } } }
            }
            dl.about {
                div { dt { "scorecard" } dd { a href=(address::scorecard(card)) { (card) } } }
                div { dt { "cause" } dd { (held.cause) } }
                div { dt { "scored" } dd { time { (held.time) } } }
                div { dt { "decide by" } dd { time { (held.deadline) } } }
            }
            @for approval in &held.approvals {
                p { "Approved by " b { (approval.reviewer) } ": " (approval.reason) }
            }
            form.fields.stacked method="post" action="/reviews" {
                input type="hidden" name="card" value=(card);
                input type="hidden" name="subject" value=(subject);
                input type="hidden" name="seen" value=(held.digest);
                label { "Reason" textarea name="reason" rows="2" required maxlength="2000" {} }
                div.buttons {
                    button.go type="submit" name="verdict" value="approve" { "Approve" }
                    button.go.quiet type="submit" name="verdict" value="reject" { "Reject" }
                }
            }
        }
    }
}

pub async fn decide(Post { app, caller, body }: Post) -> Answer {
    let reviewer = Arc::clone(caller.key(&Act::Review)?);
    let mut fields = items::read(&app, body).await?;
    let mut field = |name: &str| {
        let given = fields.remove(name).filter(|text| !text.trim().is_empty());
        given.ok_or_else(|| Problem::parameter(name, format!("expected a `{name}`")))
    };
    let verdict = field("verdict")?;
    let expected = || format!("found `{}`, expected approve or reject", verdict.escape_debug());
    let verdict = ReviewVerdict::from_name(&verdict);
    let verdict = verdict.ok_or_else(|| Problem::parameter("verdict", expected()))?;
    let request = ReviewRequest {
        card: field("card")?,
        subject: field("subject")?,
        verdict: Some(verdict),
        reason: Some(field("reason")?),
        seen: Some(field("seen")?),
        ..ReviewRequest::default()
    };
    keep(&app, request, &reviewer.name, &reviewer.id).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(LOCATION, HeaderValue::from_static("/reviews"));
    Ok(response)
}
