//! Reviews: the scores that wait for a decision, and the decisions. A decision is an item of the log like any other;
//! its content is a line of the events that `karat standing --events` reads.

use data_encoding::HEXLOWER;
pub use karat::answers::ReviewVerdict;
use karat::answers::review::{HeldScore, PendingReview, Review};
use karat::answers::standing::Standing;
use karat::standing::written;

use super::answer as response;
use crate::clock::random;
use crate::prelude::*;
use crate::select::size_at;
use crate::standing::{Question, answer, of_one, refusal, rules};
use crate::subjects::all_subjects;

/// The number of times that a decision is made again because something else about its subject came meanwhile.
const TRIES: usize = 16;

/// The parameters of the list of reviews.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct QueueParams {
    /// Only reviews of this scorecard; of all scorecards if not given.
    pub card: Option<String>,
}

/// A decision or another event, and the person behind it.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
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
    params: Result<Params<QueueParams>, Problem>,
) -> Answer {
    caller.may(&Act::ReadReviews)?;
    let Params(params) = params?;
    let (reviews, _) = waiting(&app, params.card.as_deref()).await?;
    Ok(response(StatusCode::OK, &ReviewQueue { reviews }))
}

/// Returns the scores that wait for a decision now, under one scorecard or all, and which of all scorecards cannot be answered for.
pub async fn waiting(
    app: &Arc<App>,
    card: Option<&str>,
) -> Result<(Vec<PendingReview>, Vec<String>), Problem> {
    let pools = match card {
        Some(card) => vec![app.memory.cards().find_used(card)?],
        None => {
            let has_reviews = |pool: &&Arc<ScorerPool>| {
                pool.card.standing.as_ref().is_some_and(|standing| standing.review.is_some())
            };
            app.memory.cards().iter().filter(has_reviews).map(Arc::clone).collect()
        }
    };
    let size = size_at(app, None).await?;
    let as_of = app.moment();
    let (mut reviews, mut problems) = (Vec::new(), Vec::new());
    for pool in pools {
        rules(&pool)?;
        let all = match all_subjects(app, &pool, as_of, size).await {
            Ok(all) => all,
            // The card has scored nothing yet.
            Err(problem) if problem.code == Code::NotFound => continue,
            // It does not hide the others.
            Err(problem) if problem.code == Code::Unanswerable && card.is_none() => {
                problems.push(format!("`{}`: {}", pool.name(), problem.detail));
                continue;
            }
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
    Ok((reviews, problems))
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
    let size = size_at(app, None).await?;
    let pool = app.memory.cards().find_used(card)?;
    let (_, review) =
        review(app, Question::new(pool, vec![subject.to_owned()], app.clock.now(), size)).await?;
    Ok(review.and_then(|review| review.held))
}

/// Returns the standing that a verdict by this reviewer would lead to; the reason if it would be refused.
pub async fn tried(
    app: &Arc<App>,
    it: &PendingReview,
    verdict: ReviewVerdict,
    reviewer: &str,
) -> Result<Result<Standing, String>, Problem> {
    let pool = app.memory.cards().find_used(&it.card)?;
    let seen = it.review.held.as_ref().map(|held| held.digest.clone());
    let (card, subject) = (it.card.clone(), it.subject.clone());
    let request = ReviewRequest {
        card,
        subject,
        verdict: Some(verdict),
        reason: Some(String::from("tried")),
        seen,
        ..ReviewRequest::default()
    };
    let now = app.clock.now();
    let (line, size) = (line(&request, reviewer, now)?, size_at(app, None).await?);
    let question = Question { proposed: Some(line), ..Question::new(pool, vec![request.subject], now, size) };
    let shared = Arc::clone(app);
    app.read(move |reader| {
        if let (Some(why), _) = refusal(&shared.memory, reader, &question)? {
            return Ok(Err(why));
        }
        let found = of_one(&shared.memory, reader, &question)?;
        Ok(found.ok_or_else(|| String::from("nothing of the subject counts")))
    })
    .await
}

/// Returns the review of the one subject of a question, and why the line that it proposes would be refused.
async fn review(app: &Arc<App>, question: Question) -> Result<(Option<String>, Option<Review>), Problem> {
    let shared = Arc::clone(app);
    app.read(move |reader| refusal(&shared.memory, reader, &question)).await
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
    // Decisions wait for each other; if anything else about the subject comes between the question and the entry in the log, the
    // writer refuses the entry, and the question is asked again.
    let _turn = app.reviews_turn.lock().await;
    let mut tries = TRIES;
    loop {
        tries -= 1;
        match keep_now(app, &pool, &request, reviewer, sender).await {
            Err(problem) if problem.code == Code::Busy && tries > 0 => {}
            kept => return kept,
        }
    }
}

/// Stores a review that was decided by the log as it is now.
async fn keep_now(
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    request: &ReviewRequest,
    reviewer: &str,
    sender: &str,
) -> Result<(Option<u64>, Option<Review>), Problem> {
    let is_decision = request.event == ReviewEvent::Decided;
    let mut now = app.clock.now();
    // More may still be entered in the second of the score, so a decision comes after it.
    if is_decision
        && let Some(held) = held(app, &request.card, &request.subject).await?
        && held.time == written(now.seconds())
    {
        let rest = std::time::Duration::from_millis(now.milliseconds.rem_euclid(1000).abs_diff(1000));
        tokio::time::sleep(rest).await;
        now = app.clock.now();
    }
    let line = line(request, reviewer, now)?;
    let question = |size| Question::new(Arc::clone(pool), vec![request.subject.clone()], now, size);
    let size = size_at(app, None).await?;
    let proposed = Question { proposed: Some(line.clone()), ..question(size) };
    if let (Some(refusal), _) = review(app, proposed).await? {
        return Err(Problem::new(Code::Conflict, refusal));
    }
    let nonce = HEXLOWER.encode(&random::<8>().map_err(|error| Problem::internal(&error))?);
    let id = format!("{}/{}/{nonce}", ids::part(&pool.name()), ids::part(&request.subject));
    let item = NewItem { subject: Some(request.subject.clone()), ..NewItem::new(Kind::Review, id, line) };
    let batch = Submission::from_sender(sender).with(item, Some(Effect::Review(size)));
    let accepted = app.append_one(batch).await?;
    let position = accepted.first().map(|it| it.position);
    let (_, review) = review(app, question(position.map_or(0, |position| position + 1))).await?;
    Ok((position, review))
}

fn line(request: &ReviewRequest, reviewer: &str, now: Timestamp) -> Result<String, Problem> {
    let mut line = serde_json::to_value(request).map_err(|error| Problem::internal(&error))?;
    let is_timed = !matches!(request.event, ReviewEvent::Operated | ReviewEvent::Ran);
    let time = is_timed.then(|| ("time", now.to_string()));
    let reviewer = (request.event == ReviewEvent::Decided).then(|| ("reviewer", reviewer.to_owned()));
    for (name, text) in time.into_iter().chain(reviewer) {
        line.as_object_mut().and_then(|line| line.insert(name.to_owned(), text.into()));
    }
    let text = canonical_json(&line);
    let read = karat::standing::events::read("$", &text);
    read.map(|_| text).map_err(|failure| Problem::of_error(Code::BadRequest, &failure))
}
