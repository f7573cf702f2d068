//! Reviews: the scores that wait for a decision, and the decisions. A decision is an item of the log like any other;
//! its content is a line of the events that `karat standing --events` reads.

use data_encoding::HEXLOWER;
pub use karat::answers::ReviewVerdict;
use karat::answers::review::{HeldScore, PendingReview, Review, ReviewDecision};
use karat::standing::written;

use super::answer as response;
use crate::clock::random;
use crate::prelude::*;
use crate::select::size_at;
use crate::standing::{Question, answer, rules};
use crate::subjects::all_subjects;

/// The parameters of the list of reviews.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct QueueParams {
    /// Only reviews of this scorecard; of all scorecards if not given.
    pub card: Option<String>,
}

/// A decision or another event, and the person behind it.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewRequest {
    /// The scorecard under which it counts, `id@version`.
    #[serde(skip_serializing)]
    pub card: String,
    /// The subject that it is about.
    pub subject: String,
    /// The kind of event; a decision if not given.
    #[serde(default)]
    pub event: ReviewEvent,
    /// Of a decision: whether the proposed score becomes the official one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<ReviewVerdict>,
    /// Of a decision: the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of a decision: the `digest` of the held score that was seen. The decision is refused if another score waits by then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// Of a decision: digests of what else was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<String>>,
    /// Of an incident: its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incident: Option<String>,
    /// Of `operated`: the operator of the subject, who may not review it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// Of `ran`: the id of the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Of `ran`: the runner of the evaluation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
}

/// An event that is not an evaluation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReviewEvent {
    /// A reviewer decided on the proposed score.
    #[default]
    Decided,
    /// A critical incident was confirmed.
    IncidentOpened,
    /// The incident is closed.
    IncidentClosed,
    /// The subject runs something other than it declares.
    HoldPlaced,
    /// The subject runs what it declares again.
    HoldLifted,
    /// An operator of the subject was named.
    Operated,
    /// A runner of an evaluation was named.
    Ran,
}

/// The scores that wait for a decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReviewQueue {
    /// One review for each subject under review.
    reviews: Vec<PendingReview>,
}

/// A stored decision or other event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeptReview {
    /// The position in the log.
    position: Option<u64>,
    /// The review of the subject that follows from it; null if the scorecard has no reviews.
    review: Option<Review>,
}

/// Lists the scores that wait for a decision.
#[utoipa::path(get, operation_id = "list_reviews", path = "/v1/reviews", tag = "reviews", security(("key" = ["review"])), params(QueueParams), responses(
    (status = 200, body = ReviewQueue), Absent, Unfit))]
pub(crate) async fn queue(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<QueueParams>,
) -> Answer {
    caller.may(&Act::ReadReviews)?;
    let reviews = waiting(&app, params.card.as_deref()).await?;
    Ok(response(StatusCode::OK, &ReviewQueue { reviews }))
}

/// Returns the scores that wait for a decision now, under one scorecard or all: scorecard, subject, review.
pub async fn waiting(app: &Arc<App>, card: Option<&str>) -> Result<Vec<PendingReview>, Problem> {
    let pools = match card {
        Some(card) => vec![app.memory.cards().find_used(card)?],
        None => {
            let has_reviews = |pool: &&Arc<crate::cards::ScorerPool>| {
                pool.card.standing.as_ref().is_some_and(|standing| standing.review.is_some())
            };
            app.memory.cards().iter().filter(has_reviews).map(Arc::clone).collect()
        }
    };
    let size = size_at(app, None).await?;
    let as_of = app.moment();
    let mut reviews = Vec::new();
    for pool in pools {
        rules(&pool)?;
        let all = match all_subjects(app, &pool, as_of, size).await {
            Ok(all) => all,
            // The card has scored nothing yet.
            Err(problem) if problem.code == Code::NotFound => continue,
            Err(problem) if problem.code == Code::Unanswerable && card.is_none() => continue,
            Err(problem) => return Err(problem),
        };
        let subjects = all.officials.iter().flat_map(|officials| &officials.subjects);
        let held = subjects.filter(|(_, score)| score.as_ref().is_some_and(|score| score.is_under_review));
        let held: Vec<String> = held.map(|(name, _)| name.clone()).collect();
        if held.is_empty() {
            continue;
        }
        let question = Question::new(Arc::clone(&pool), held, as_of, size);
        let standings = answer(app, question).await?.subjects;
        reviews.extend(standings.into_iter().filter_map(|standing| {
            let review = standing.review.filter(|review| review.under_review)?;
            Some(PendingReview { card: pool.name(), subject: standing.subject, review })
        }));
    }
    Ok(reviews)
}

/// Decides on the proposed score, or reports another event. The reviewer is the name of the key, the time that of the
/// server.
///
/// A decision names the `digest` of the held score that was seen. It is refused with 409, and not stored, if another score or none
/// waits, or if the reviewer operates the subject. What is answered follows from the log with the decision in it.
#[utoipa::path(post, operation_id = "decide_review", path = "/v1/reviews", tag = "reviews", security(("key" = ["review"])), request_body = ReviewRequest, responses(
    (status = 201, body = KeptReview), Absent, Taken, Unfit))]
pub(crate) async fn decide(Post { app, caller, body }: Post) -> Answer {
    let reviewer = Arc::clone(caller.key(&Act::Review)?);
    let (position, review) = keep(&app, body.json(&app).await?, &reviewer.name, &reviewer.id).await?;
    Ok(response(StatusCode::CREATED, &KeptReview { position, review }))
}

/// Returns the score of a subject that waits for a decision now, by the clock.
pub async fn held(app: &Arc<App>, card: &str, subject: &str) -> Result<Option<HeldScore>, Problem> {
    let pool = app.memory.cards().find_used(card)?;
    let size = size_at(app, None).await?;
    let question = Question::new(pool, vec![subject.to_owned()], app.clock.now(), size);
    let standing = answer(app, question).await?.subjects.into_iter().next();
    Ok(standing.and_then(|standing| standing.review?.held))
}

/// Stores a review that the key `sender` sent; returns its position in the log and the member `review` of the standing that follows.
pub async fn keep(
    app: &Arc<App>,
    request: ReviewRequest,
    reviewer: &str,
    sender: &str,
) -> Result<(Option<u64>, Option<Review>), Problem> {
    let pool = app.memory.cards().find_used(&request.card)?;
    let is_decision = request.event == ReviewEvent::Decided;
    if is_decision && request.seen.is_none() {
        let why = "the decision does not say which score was seen, expected `seen`, the `digest` of a held score of GET /v1/reviews";
        return Err(Problem::new(Code::Conflict, why).at("seen"));
    }
    // Between the question and the entry in the log no other decision may come.
    let _turn = app.reviews_turn.lock().await;
    let subjects = || vec![request.subject.clone()];
    let mut now = app.clock.now();
    let line = loop {
        let line = line(&request, reviewer, now)?;
        let size = size_at(app, None).await?;
        let question = Question::new(Arc::clone(&pool), subjects(), now, size);
        let standings = answer(app, Question { proposed: Some(line.clone()), ..question }).await?;
        let review = standings.subjects.into_iter().next().and_then(|standing| standing.review);
        if let Some(why) = review.as_ref().and_then(|review| refusal(review, standings.events)) {
            return Err(Problem::new(Code::Conflict, why));
        }
        // What is entered into the log in one second has no order there, so a decision waits for a second without another.
        let is_young = review.is_some_and(|review| is_decision && !is_alone(&review, reviewer, now));
        let waited = now.seconds();
        if is_young {
            let rest = now.milliseconds.rem_euclid(1000).abs_diff(1000);
            tokio::time::sleep(std::time::Duration::from_millis(rest)).await;
            now = app.clock.now();
        }
        // A clock that is stopped has but one second.
        if !is_young || now.seconds() == waited {
            break line;
        }
    };
    let nonce = HEXLOWER.encode(&random::<8>().map_err(|error| Problem::internal(&error))?);
    let id = format!("{}/{}/{nonce}", ids::part(&pool.name()), ids::part(&request.subject));
    let item = NewItem { subject: Some(request.subject.clone()), ..NewItem::new(Kind::Review, id, line) };
    let accepted = app.append_one(Submission::from_sender(sender).with(item, None)).await?;
    let position = accepted.first().map(|it| it.position);
    let size = position.map_or(0, |position| position + 1);
    let standings = answer(app, Question::new(Arc::clone(&pool), subjects(), now, size)).await?;
    let review = standings.subjects.into_iter().next().and_then(|standing| standing.review);
    if is_decision && review.as_ref().is_some_and(|review| decided(review, reviewer, now).is_none()) {
        let why = "another score came while the decision was on its way, and waits now; look at that one";
        return Err(Problem::new(Code::Conflict, why));
    }
    Ok((position, review))
}

/// Returns the second of the score that this decision is on, and the decisions on it; none if it is on no score.
fn decided<'r>(
    review: &'r Review,
    reviewer: &str,
    now: Timestamp,
) -> Option<(&'r str, &'r [ReviewDecision])> {
    let held = review.held.iter().map(|held| (held.time.as_str(), held.approvals.as_slice()));
    let decided = review.transitions.iter().map(|line| (line.scored.as_str(), line.decisions.as_slice()));
    let now = written(now.seconds());
    let is_it = |it: &ReviewDecision| it.reviewer == reviewer && it.time == now;
    held.chain(decided).find(|(_, decisions)| decisions.iter().any(is_it))
}

/// Returns true if neither the score that is decided on nor another decision on it is of the second of the decision.
fn is_alone(review: &Review, reviewer: &str, now: Timestamp) -> bool {
    let second = written(now.seconds());
    decided(review, reviewer, now).is_none_or(|(scored, decisions)| {
        scored != second && decisions.iter().filter(|it| it.time == second).count() == 1
    })
}

fn line(request: &ReviewRequest, reviewer: &str, now: Timestamp) -> Result<String, Problem> {
    let mut line = serde_json::to_value(request).map_err(|error| Problem::internal(&error))?;
    let mut put = |name: &str, text: String| {
        if let Some(line) = line.as_object_mut() {
            line.insert(name.to_owned(), Value::String(text));
        }
    };
    if !matches!(request.event, ReviewEvent::Operated | ReviewEvent::Ran) {
        put("time", now.to_string());
    }
    if request.event == ReviewEvent::Decided {
        put("reviewer", reviewer.to_owned());
    }
    let text = canonical_json(&line);
    match karat::standing::events::read("$", &text) {
        Ok(_) => Ok(text),
        Err(failure) => Err(Problem::of_error(Code::BadRequest, &failure)),
    }
}

/// Returns the reason why the decision in that line of events changes nothing.
fn refusal(review: &Review, line: usize) -> Option<String> {
    let proposed = review.refusals.iter().find(|it| it.line == Some(line as u64))?;
    Some(proposed.reason.clone())
}
