//! Weights from outside for a scorecard: proposals, decisions on them, and those in force.

use karat::answers::WeightsVerdict;
use karat::answers::weights::{WeightsInForce, WeightsProposal};
use karat::ask::weights as exact_weights;
use karat_core::number::Decimal;
use karat_core::timestamp::TimestampError;
use karat_core::weights::OverrideUse;
use karat_standing::overrides::{OverrideLog, OverrideRefusal, ProposalRecord};
use serde_json::value::RawValue;

use super::{answer as response, stored};
use crate::arrival;
use crate::params::{limit, timestamp};
use crate::prelude::*;
use crate::select::size_at;
use crate::weights::WeightsItem;

const ID_MAX_CHARACTERS: usize = 100;
pub(crate) const REASON_MAX_CHARACTERS: usize = 1000;
/// The default number of proposals in a list.
const USUAL: usize = 100;
/// The largest number of proposals in a list.
const MOST: usize = 1000;

/// A proposal of weights: the file that `karat tune --proposal-out` writes.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightsRequest {
    /// The kind of event; may be left out.
    #[serde(default)]
    #[expect(dead_code, reason = "it is checked by being read")]
    pub event: ProposalEvent,
    /// An id that no other proposal for the scorecard has, in up to 100 characters.
    #[schema(min_length = 1, max_length = 100, example = "tune-b52163e4e286")]
    pub id: String,
    /// The reason, in up to 1000 characters.
    #[schema(min_length = 1, max_length = 1000)]
    pub reason: String,
    /// The weights, by dimension, that replace those of the scorecard; at most six decimals.
    #[schema(value_type = BTreeMap<String, f64>)]
    pub weights: Box<RawValue>,
    /// The time in the file, not of the future. It does not count: a proposal has the time of its arrival.
    #[serde(default)]
    pub time: Option<String>,
    /// The proposer in the file. It does not count: the proposer is the key that sends the proposal.
    #[serde(default)]
    #[expect(dead_code, reason = "the file may have it")]
    pub proposer: Option<String>,
}

/// The event that a proposal is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub enum ProposalEvent {
    /// Weights are proposed.
    #[default]
    #[serde(rename = "weights-proposed")]
    Proposed,
}

/// A decision on a proposal of weights.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightsDecisionRequest {
    /// The decision.
    pub decision: WeightsVerdict,
    /// The reason, in up to 1000 characters.
    #[schema(min_length = 1, max_length = 1000)]
    pub reason: String,
}

/// The parameters of the history of weights.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WeightsParams {
    /// The timestamp of the weights in force; the present one if not given.
    pub as_of: Option<String>,
    /// The state of knowledge at this timestamp: later events do not count.
    pub known_at: Option<String>,
    /// The largest number of proposals, 1 to 1000; 100 if not given.
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<usize>,
    /// The number of proposals to skip: `next` of the previous list.
    pub skip: Option<usize>,
}

/// The weights of a scorecard at a moment, and all proposals up to then.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WeightsHistory {
    /// The scorecard, `id@version`.
    card: String,
    /// The timestamp of the weights in force.
    as_of: String,
    /// The size of the log up to which events count.
    log_size: u64,
    /// The distance from 1 that the sum of merged weights may have; null if the scorecard accepts no weights from
    /// outside.
    tolerance: Option<f64>,
    /// The proposal in force; null while the weights of the scorecard are.
    in_force: Option<WeightsInForce>,
    /// The weight of every dimension in force, merged; null for a scorecard with profiles, and for a family.
    weights: Option<BTreeMap<String, f64>>,
    /// The number of proposals that wait for a decision.
    open: u64,
    /// The proposals, newest first.
    proposals: Vec<WeightsProposal>,
    /// The value of `skip` for the next list; null at the end.
    next: Option<u64>,
}

/// A stored proposal, or a stored decision on it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WeightsStored {
    /// The position in the log; null if it was stored before.
    position: Option<u64>,
    /// True if the same proposal was already stored, so that nothing changed.
    repeated: bool,
    /// The proposal as it is now. If the check refused it, its status and `check_refusal` say so.
    proposal: WeightsProposal,
}

/// Lists the proposals of weights for a scorecard, newest first, with what became of them and what is in force.
#[utoipa::path(get, operation_id = "list_weights", path = "/v1/scorecards/{card}/weights", tag = "scorecards", params(
    ("card" = String, Path, description = "`id@version`, or the id of its latest version", example = "trust@1.1.0"), WeightsParams,
    ), responses((status = 200, body = WeightsHistory), Unfit))]
pub(crate) async fn list(
    Get(app, _): Get,
    Named(wanted): Named<String>,
    Params(params): Params<WeightsParams>,
) -> Answer {
    let pool = app.memory.cards().find(&wanted)?;
    let as_of = timestamp("as_of", params.as_of.as_deref())?.unwrap_or_else(|| app.moment());
    let size = size_at(&app, params.known_at.as_deref()).await?;
    let limit = limit(params.limit, USUAL, MOST)?;
    let skip = params.skip.unwrap_or(0);
    let log = app.memory.weights().log(&pool, size, as_of);
    let all = WeightsProposal::all(&log);
    let next = skip.saturating_add(limit);
    let open = all.iter().filter(|it| it.status == karat::answers::ProposalStatus::Proposed).count();
    let history = WeightsHistory {
        card: pool.name(),
        as_of: as_of.to_string(),
        log_size: size,
        tolerance: pool.card.override_policy.map(|policy| policy.tolerance.to_f64()),
        in_force: WeightsInForce::of(&log),
        weights: merged(&pool, &log),
        open: open as u64,
        next: (next < all.len()).then_some(next as u64),
        proposals: all.into_iter().skip(skip).take(limit).collect(),
    };
    Ok(response(StatusCode::OK, &history))
}

/// Returns the weight of every dimension in force.
pub(crate) fn merged(pool: &ScorerPool, log: &OverrideLog) -> Option<BTreeMap<String, f64>> {
    let card = &pool.card;
    if card.profiles.is_some() || card.family.is_some() {
        return None;
    }
    let weighted = log.weights().and_then(|weights| OverrideUse::new(card, weights).ok());
    let weight = |(at, own): (usize, Decimal)| {
        weighted.as_ref().and_then(|used| used.effective.get(at)).copied().unwrap_or(own).to_f64()
    };
    let own = card.dimensions.iter().map(|dimension| dimension.weight).enumerate();
    Some(card.dimensions.iter().map(|it| it.key.clone()).zip(own.map(weight)).collect())
}

/// Proposes weights: the file that `karat tune --proposal-out` writes. The proposer is the id of the key, the time that
/// of the server.
///
/// The merged weights are checked at once. A proposal whose sum is off is stored as refused, with the reason. Any other
/// waits until another key decides.
#[utoipa::path(post, operation_id = "propose_weights", path = "/v1/scorecards/{card}/weights", tag = "scorecards", security(("key" = ["write:evidence"])), params(
    ("card" = String, Path, description = "`id@version`, or the id of its latest version", example = "trust@1.1.0"),
    ), request_body = WeightsRequest, responses((status = 201, body = WeightsStored),
    (status = 200, body = WeightsStored, description = "The key has proposed the same before."), Taken, Unfit))]
pub(crate) async fn propose(Named(wanted): Named<String>, Post { app, caller, body }: Post) -> Answer {
    let proposer = caller.key(&Act::ProposeWeights)?.id.clone();
    let request: WeightsRequest = body.json(&app).await?;
    let pool = accepting(&app, &wanted)?;
    is_text("$.id", &request.id, ID_MAX_CHARACTERS)?;
    is_text("$.reason", &request.reason, REASON_MAX_CHARACTERS)?;
    if let Some(time) = &request.time {
        let wrong = |error: TimestampError| Problem::new(Code::BadRequest, error.to_string());
        let time = Timestamp::parse(time).map_err(wrong);
        let checked = time.and_then(|time| arrival::refuse_ahead(app.clock.now(), time));
        checked.map_err(|problem| problem.at("$.time"))?;
    }
    let given = exact_weights(request.weights.get())
        .map_err(|problem| Problem::new(Code::BadRequest, problem).at("$.weights"))?;
    // The log has weights as doubles.
    let is_exact = |weight: &Decimal| Decimal::parse(&weight.to_f64().to_string()) == Ok((*weight, true));
    if let Some((name, weight)) = given.iter().find(|(_, weight)| !is_exact(weight)) {
        refuse!(BadRequest at "$.weights",
            "the weight of `{}` is {weight}, which has too many digits", name.escape_debug());
    }
    let kept = in_turn(&app, move |app| async move {
        let known = app.memory.weights().now(&pool);
        if let Some(record) =
            known.proposals.get(&request.id).filter(|it| is_same(it, &request, &given, &proposer))
        {
            let proposal = WeightsProposal::of(record);
            return Ok(WeightsStored { position: None, repeated: true, proposal });
        }
        let weights: BTreeMap<&str, f64> =
            given.iter().map(|(name, weight)| (name.as_str(), weight.to_f64())).collect();
        let line = |now: Timestamp| {
            json!({
                "event": "weights-proposed",
                "id": request.id,
                "proposer": proposer,
                "reason": request.reason,
                "time": now.to_string(),
                "weights": weights,
            })
        };
        keep(&app, &proposer, &pool, &known, &request.id, line).await
    });
    let kept = kept.await?;
    Ok(response(stored(kept.repeated), &kept))
}

/// Decides on a proposal of weights. The decider is the id of the key, which must differ from the proposer; the server
/// gives the time.
///
/// Accepted weights are in force for all that is scored from then on, and replace those in force before.
#[utoipa::path(post, operation_id = "decide_weights", path = "/v1/scorecards/{card}/weights/{proposal}/decision", tag = "scorecards", security(("key" = ["review"])), params(
    ("card" = String, Path, description = "`id@version`, or the id of its latest version", example = "trust@1.1.0"),
    ("proposal" = String, Path, description = "the id of the proposal", example = "tune-b52163e4e286"),
    ), request_body = WeightsDecisionRequest, responses((status = 201, body = WeightsStored), Taken, Unfit))]
pub(crate) async fn decide(
    Named((wanted, id)): Named<(String, String)>,
    Post { app, caller, body }: Post,
) -> Answer {
    let decider = caller.key(&Act::DecideWeights(None))?.id.clone();
    let request: WeightsDecisionRequest = body.json(&app).await?;
    let pool = accepting(&app, &wanted)?;
    is_text("$.reason", &request.reason, REASON_MAX_CHARACTERS)?;
    let stored = in_turn(&app, move |app| async move {
        let known = app.memory.weights().now(&pool);
        let proposer = known.proposals.get(&id).map(|record| record.proposal.proposer.as_str());
        caller.may(&Act::DecideWeights(proposer))?;
        let event = match request.decision {
            WeightsVerdict::Accept => "weights-accepted",
            WeightsVerdict::Refuse => "weights-refused",
            WeightsVerdict::Revoke => "weights-revoked",
        };
        let line = |now: Timestamp| {
            json!({
                "decider": decider,
                "event": event,
                "id": id,
                "reason": request.reason,
                "time": now.to_string(),
            })
        };
        keep(&app, &decider, &pool, &known, &id, line).await
    });
    Ok(response(StatusCode::CREATED, &stored.await?))
}

/// Does what checks and stores an event about weights, after all earlier ones. It is finished even if the caller no
/// longer waits.
async fn in_turn<W>(
    app: &Arc<App>,
    work: impl FnOnce(Arc<App>) -> W + Send + 'static,
) -> Result<WeightsStored, Problem>
where
    W: Future<Output = Result<WeightsStored, Problem>> + Send,
{
    let app = Arc::clone(app);
    uninterrupted(async move {
        let _turn = app.weights_turn.lock().await;
        work(Arc::clone(&app)).await
    })
    .await
}

/// Stores the event in a line, unless it changes nothing.
async fn keep(
    app: &App,
    sender: &str,
    pool: &ScorerPool,
    known: &OverrideLog,
    id: &str,
    line: impl Fn(Timestamp) -> serde_json::Value,
) -> Result<WeightsStored, Problem> {
    let now = app.clock.now();
    let item = WeightsItem::new(pool.name(), canonical_json(&line(now)))
        .map_err(|why| Problem::new(Code::BadRequest, why))?;
    let (next, refusal) = known.clone().next(&pool.card, item.event.clone());
    // What is refused at any time is not to be sent again in a second.
    if let Some(refusal) = refusal.filter(|it| !matches!(it, OverrideRefusal::OutOfOrder { .. })) {
        return Err(refused(&refusal));
    }
    item.follows(known).map_err(|why| Problem::new(Code::Conflict, why))?;
    let record = next.proposals.get(id).ok_or_else(|| Problem::internal(&"the proposal was not kept"))?;
    let proposal = WeightsProposal::of(record);
    let kept = Submission::from_sender(sender).with(item.item(), Some(Effect::Weights(Box::new(item))));
    let accepted = app.append_one(kept).await?;
    Ok(WeightsStored { position: accepted.first().map(|it| it.position), repeated: false, proposal })
}

fn refused(refusal: &OverrideRefusal) -> Problem {
    match refusal {
        OverrideRefusal::Unknown(_) => Problem::not_found(refusal.to_string()),
        _ => Problem::new(Code::Conflict, refusal.to_string()),
    }
}

/// Returns true if the key has proposed the same before.
fn is_same(
    record: &ProposalRecord,
    request: &WeightsRequest,
    given: &[(String, Decimal)],
    proposer: &str,
) -> bool {
    let sorted =
        |weights: &[(String, Decimal)]| weights.iter().cloned().collect::<BTreeMap<String, Decimal>>();
    let known = &record.proposal;
    known.proposer == proposer && known.reason == request.reason && sorted(&known.weights) == sorted(given)
}

/// Returns the scorecard with this name, which accepts weights from outside.
fn accepting(app: &App, wanted: &str) -> Result<Arc<ScorerPool>, Problem> {
    let pool = app.memory.cards().find(wanted)?;
    match OverrideUse::new(&pool.card, &[]) {
        Ok(_) if pool.card.scorer().is_ok() => Ok(pool),
        Ok(_) => {
            let detail = format!("`{}` is a family of challenges, which have their own weights", pool.name());
            Err(Problem::new(Code::Unanswerable, detail))
        }
        Err(refusal) => Err(Problem::new(Code::Unanswerable, refusal.to_string())),
    }
}

/// Checks a text for people in a request.
pub(crate) fn is_text(field: &str, text: &str, most: usize) -> Result<(), Problem> {
    let is_good =
        !text.trim().is_empty() && !text.chars().any(char::is_control) && text.chars().count() <= most;
    let detail = || format!("expected 1 to {most} characters, and no control character");
    if is_good { Ok(()) } else { Err(Problem::new(Code::BadRequest, detail()).at(field)) }
}
