//! Reviews: the scores that wait for a decision, for those who may decide, with what each answer would do.

use karat::answers::ReviewVerdict;
use karat::answers::review::{HeldScore, PendingReview};
use karat::answers::standing::Standing;
use karat::headline::{capital, day};
use karat::text::plain;

use super::arena::signed;
use super::items;
use super::layout::*;
use crate::api::reviews::{ReviewRequest, keep, tried, waiting};
use crate::index::Row;
use crate::prelude::*;
use crate::select::{Filter, Selection};

/// The explanation at the top of the page.
pub const LEAD: &str = "A score that swings too far is held until reviewers who do not operate its subject decide, or the deadline passes: \
                    then the official score stays.";
/// The most records that a review links to.
const EVIDENCE: usize = 5;

/// A review with its evidence, and the standing that each answer leads to or why it would be refused.
struct Shown {
    review: PendingReview,
    evidence: Vec<(u64, Option<Timestamp>)>,
    answers: Vec<(ReviewVerdict, Result<Standing, String>)>,
}

pub async fn show(State(app): State<Arc<App>>, caller: Caller) -> Answer {
    caller.may(&Act::ReadReviews)?;
    let (mut held, problems) = waiting(&app, None).await?;
    held.retain(|it| it.review.held.is_some());
    held.sort_by_key(|it| it.review.held.as_ref().map(|held| held.deadline.clone()));
    let deadline = held.iter().find_map(|it| it.review.held.as_ref()).map(|held| day(&held.deadline));
    let title = finding(held.len(), deadline.as_deref());
    let mut shown = Vec::new();
    for review in held {
        let mut answers = Vec::new();
        for verdict in [ReviewVerdict::Approve, ReviewVerdict::Reject] {
            answers.push((verdict, tried(&app, &review, verdict, caller.name().unwrap_or_default()).await?));
        }
        shown.push(Shown { evidence: evidence(&app, &review).await?, review, answers });
    }
    let content = html! {
        (heading(&[("/", "Home")], &title, LEAD))
        @if shown.is_empty() { div.empty { p { "A score that is held shows up here by itself." } } }
        @for (at, it) in shown.iter().enumerate() {
            @if let Some(held) = &it.review.review.held { (review(at, it, held)) }
        }
        (notes(&problems))
        (acts(&[(String::from("/api#list_reviews"), "API")]))
    };
    Ok(Sheet { title: &title, part: "/reviews", caller: Some(&caller) }.answer(content))
}

/// Says how many scores wait, and for how long the first of them.
fn finding(number: usize, deadline: Option<&str>) -> String {
    let until = deadline.map_or_else(String::new, |day| format!(" until {day}"));
    match number {
        0 => String::from("No score waits for a decision"),
        1 => format!("One score waits{until}"),
        several => format!("{several} scores wait; the first{until}"),
    }
}

/// Returns the records of the subject since its official score, the newest first.
async fn evidence(app: &Arc<App>, it: &PendingReview) -> Result<Vec<(u64, Option<Timestamp>)>, Problem> {
    let selection = Selection { subject: Some(it.subject.clone()), ..Selection::of_card(&it.card) };
    let official = it.review.official.as_ref();
    let since = official.and_then(|official| Timestamp::parse(&official.since).ok());
    app.indexed(move |app, index| {
        let (filter, _) = Filter::new(&app.memory, index, &selection)?;
        let is_new = |row: &&Row| filter.admits(row) && row.time.is_none_or(|time| Some(time) > since);
        let rows = index.rows(u64::MAX).rev().filter(is_new);
        Ok(rows.take(EVIDENCE).map(|row| (row.position, row.time)).collect())
    })
    .await
}

fn review(at: usize, shown: &Shown, held: &HeldScore) -> Markup {
    let PendingReview { card, subject, review } = &shown.review;
    let id = format!("r{at}");
    let rows = shown.answers.iter().map(|(verdict, after)| {
        let [score, tier, why] = effect(after);
        line([text(capital(verdict.name())), text(score), text(tier), text(why)])
    });
    let effects = grid("What each answer does now", "=answer | official score | tier | &and", rows.collect());
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { a href=(address::subject(subject, Some(card))) { (subject) } ": "
                @match &review.official { Some(official) => { (official.points) " or " (held.points) }, None => { "a first score of " (held.points) } } }
            dl.figures {
                @if let Some(official) = &review.official { div { dt { "official score" } dd { (official.points) small { "since " (day(&official.since)) } } } }
                div { dt { "waits" } dd.care { (held.points) small { "scored on " (day(&held.time)) } } }
                @if let Some(delta) = held.flags.delta { div { dt { "change" } dd { (signed(delta)) } } }
                div { dt { "decide by" } dd { (day(&held.deadline)) small { "else nothing changes" } } }
            }
            dl.about {
                div { dt { "cause" } dd { (capital(&held.cause.replace('-', " "))) } }
                div { dt { "scorecard" } dd { a href=(address::scorecard(card)) { (card) } } }
                div { dt { "evidence since the official score" } dd {
                    @if shown.evidence.is_empty() { "none: time or weights moved it" }
                    @for (place, (position, time)) in shown.evidence.iter().enumerate() {
                        @if place > 0 { ", " }
                        a href=(address::record(*position)) { @match time { Some(time) => (day(&time.to_string())), None => { "entry " (position) } } }
                    }
                } }
            }
            @for it in &held.approvals { p { "Approved by " b { (it.reviewer) } ": " (words(&it.reason)) } }
            (figure(&format!("{id}-answers"), &effects))
            form.fields.stacked method="post" action="/reviews" {
                input type="hidden" name="card" value=(card);
                input type="hidden" name="subject" value=(subject);
                input type="hidden" name="seen" value=(held.digest);
                label { "Reason, which anyone can read" textarea name="reason" rows="2" required maxlength="2000" {} }
                div.buttons {
                    button.go type="submit" name="verdict" value="approve" { "Approve " (held.points) }
                    button.go.quiet type="submit" name="verdict" value="reject" { "Reject " (held.points) }
                }
            }
        }
    }
}

/// Says what follows from an answer: score, tier, and what else.
fn effect(after: &Result<Standing, String>) -> [String; 3] {
    match after {
        Err(why) => [String::from("unchanged"), String::from("unchanged"), format!("refused: {why}")],
        Ok(after) => {
            let score = after.points.map_or_else(|| String::from("none"), plain);
            let tier = after.tier.as_ref().and_then(|tier| tier.held.clone());
            let waits = after.review.as_ref().is_some_and(|it| it.held.is_some());
            let what = if waits { "it waits on: another approval is needed" } else { "the review ends" };
            [score, tier.unwrap_or_else(|| String::from("none")), what.to_owned()]
        }
    }
}

pub async fn decide(Post { app, caller, body }: Post) -> Answer {
    let reviewer = Arc::clone(caller.key(&Act::Review)?);
    let mut fields = items::read(&app, body).await?;
    let mut field = |name: &str| {
        let given = fields.remove(name).filter(|text| !text.trim().is_empty());
        let empty = || format!("the {name} is empty, and a decision needs one");
        given.ok_or_else(|| Problem::parameter(name, empty()))
    };
    let verdict = field("verdict")?;
    let expected = || format!("found `{}`, expected approve or reject", verdict.escape_debug());
    let verdict =
        ReviewVerdict::from_name(&verdict).ok_or_else(|| Problem::parameter("verdict", expected()))?;
    let request = ReviewRequest {
        card: field("card")?,
        subject: field("subject")?,
        verdict: Some(verdict),
        reason: Some(field("reason")?),
        seen: Some(field("seen")?),
        ..ReviewRequest::default()
    };
    keep(&app, request, &reviewer.name, &reviewer.id).await?;
    see_other("/reviews")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finding_says_how_many_wait_and_how_long() {
        assert_eq!(finding(0, None), "No score waits for a decision");
        assert_eq!(finding(1, Some("10 June 2026")), "One score waits until 10 June 2026");
        assert_eq!(finding(3, Some("10 June 2026")), "3 scores wait; the first until 10 June 2026");
    }
}
