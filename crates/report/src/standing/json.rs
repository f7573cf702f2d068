//! One standing as canonical JSON, `karat/standing/1`: enough that a stranger can compute it again and see why it is so.
//! Shares are 0 to 1; exact numbers stand beside as texts.

use karat_core::facts::Digest;
use karat_core::record::ENGINE_VERSION;
use karat_core::scorecard::Standing;
use karat_standing::certification::{Certificate, Certified};
use karat_standing::review::{Decision, Flags, Transition, Verdict};
use karat_standing::shares::ShareCase;
use karat_standing::stand::{Change, DimensionStanding, ReviewStanding, SubjectStanding, TierHeld};
use karat_standing::tiers::{Missing, Requirement};
use serde_json::{Value, json};

use super::Answer;
use crate::board::json::share;
use crate::rows::Rows;
use crate::standing::written;

/// The schema of a line.
pub const SCHEMA: &str = "karat/standing/1";

/// The standing of one subject.
pub fn subject(answer: &Answer<'_>, standing: &SubjectStanding) -> Value {
    let card = answer.card;
    let rules = card.standing.as_ref();
    let counts = &standing.counts;
    let outcomes: serde_json::Map<String, Value> = karat_core::facts::Outcome::ALL
        .into_iter()
        .map(|outcome| (outcome.name().to_owned(), json!(counts.outcomes.count(outcome))))
        .collect();
    let interval = standing.interval.as_ref().map(|found| {
        json!({
            "low": share(found.interval.low), "high": share(found.interval.high), "level": found.interval.level,
            "method": found.interval.method.name(), "tasks": found.tasks, "draws": found.draws, "seed": found.seed,
        })
    });
    let score = standing.score.map(|score| {
        json!({
            "exact": score.to_string(), "value": share(score.to_f64()),
            "published": standing.ungated.map(|published| published.to_f64()),
        })
    });
    let gate = standing.gated.map(|gated| {
        json!({
            "ungated_points": gated.ungated_points, "points": gated.points,
            "open_tiers": gated.open_tiers.map(|open| tiers(rules, open)),
        })
    });
    let facts = &standing.facts;
    let window: Vec<Value> = standing
        .window
        .iter()
        .filter_map(|place| answer.rows.rows.get(*place))
        .map(|row| json!({"id": row.id, "digest": row.digest.to_string()}))
        .collect();
    let history: Vec<Value> = standing
        .history
        .iter()
        .map(|point| {
            json!({
                "time": time(answer, point.at_seconds), "points": point.points, "canonical": point.canonical,
                "score": point.score.map(|score| share(score.to_f64())),
                "tier": point.tier.map(|held| tier_name(rules, held)),
            })
        })
        .collect();
    json!({
        "schema": SCHEMA,
        "engine": ENGINE_VERSION,
        "scorecard": {"id": card.id, "version": card.version, "digest": card.digest.to_string()},
        "scale": card.scale.max,
        "as_of": answer.as_of.to_string(),
        "events_digest": answer.events.digest.map(|digest| digest.to_string()),
        "kind": rules.map(|rules| rules.score.name()),
        "subject": standing.subject,
        "operator": standing.operator,
        "score": score,
        "interval": interval,
        "gate": gate,
        "points": standing.points,
        "gating_points": standing.gating_points,
        "items": {
            "given": standing.items.len(), "seen": counts.seen, "in_window": counts.in_window,
            "window_tasks": counts.window_tasks, "excluded": counts.excluded, "unscored": counts.unscored,
            "outcomes": outcomes, "outcome_unstated": counts.outcome_unstated,
            "first": standing.span_seconds.map(|(first, _)| written(first)),
            "last": standing.span_seconds.map(|(_, last)| written(last)),
            "by_id": answer.standings.by_id,
            "digest": items_digest(answer.rows, &standing.items).to_string(),
        },
        "window": window,
        "dimensions": standing.dimensions.iter().map(dimension).collect::<Vec<_>>(),
        "coverage": billionths(facts.coverage),
        "confidence": facts.confidence.map(billionths),
        "evaluations": facts.evaluations,
        "distinct_days": facts.distinct_days,
        "independent_runners": facts.independent_runners,
        "newest_batch_seconds": facts.newest_batch_seconds,
        "incidents": standing.incidents,
        "incident_gate_holds": standing.has_incident_gate,
        "on_hold": standing.is_on_hold,
        "changes": standing.changes.iter().map(|(at, it)| change(*at, it)).collect::<Vec<_>>(),
        "review": standing.review.as_ref().map(|found| review(answer, found)),
        "tier": standing.tier.as_ref().map(|found| tier(rules, found)),
        "warm_up": standing.warm_up.map(|it| {
            json!({"seen": it.seen, "needed": it.needed, "factor": billionths(it.factor)})
        }),
        "share": standing.share.map(|it| {
            json!({
                "share": it.share.to_f64(), "whole": it.whole,
                "case": answer.standings.shared.map(|shared| case(shared.case)),
            })
        }),
        "history": history,
    })
}

/// The digest over all items that were looked at, in their order: lines of digest, blank and id as a JSON string.
pub(super) fn items_digest(rows: &Rows, places: &[usize]) -> Digest {
    let rows = places.iter().filter_map(|place| rows.rows.get(*place));
    let lines: Vec<String> = rows.map(|row| format!("{} {}\n", row.digest, json!(row.id))).collect();
    Digest::of(lines.concat().as_bytes())
}

fn dimension(part: &DimensionStanding) -> Value {
    json!({
        "key": part.key, "weight": part.weight.to_f64(), "applies": part.applies,
        "measured": part.measured.map(billionths), "reading": part.reading.map(billionths),
        "points_lost": part.points_lost.map(|lost| lost.to_string()), "age_seconds": part.age_seconds,
        "items": part.items, "confidence": part.confidence.map(billionths),
    })
}

fn review(answer: &Answer<'_>, found: &ReviewStanding) -> Value {
    let history = &found.history;
    let held = history.held.as_ref().map(|held| {
        json!({
            "points": held.candidate.points, "time": written(held.candidate.at_seconds),
            "cause": held.candidate.cause, "runner": held.candidate.runner,
            "deadline": written(held.deadline_seconds), "lowest_points": held.lowest_points,
            "flags": flags(held.flags), "approvals": held.approvals.iter().map(decision).collect::<Vec<_>>(),
        })
    });
    let canonical = history
        .canonical
        .as_ref()
        .map(|canonical| json!({"points": canonical.points, "since": written(canonical.since_seconds)}));
    let refusals: Vec<Value> = found
        .refusals
        .iter()
        .map(|(place, why)| json!({"line": answer.events.lines.get(*place), "reason": why.to_string()}))
        .collect();
    json!({
        "under_review": history.is_under_review(), "canonical": canonical, "held": held,
        "transitions": found.transitions.iter().map(transition).collect::<Vec<_>>(), "refusals": refusals,
    })
}

fn transition(line: &Transition) -> Value {
    json!({
        "time": written(line.at_seconds), "points": line.candidate.points, "scored": written(line.candidate.at_seconds),
        "cause": line.candidate.cause, "state": line.state.name(), "flags": flags(line.flags),
        "decisions": line.decisions.iter().map(decision).collect::<Vec<_>>(),
    })
}

fn flags(flags: Flags) -> Value {
    json!({"delta": flags.delta, "was_anomalous": flags.was_anomalous, "was_cumulative": flags.was_cumulative})
}

fn decision(decision: &Decision) -> Value {
    let verdict = match decision.verdict {
        Verdict::Approve => "approve",
        Verdict::Reject => "reject",
    };
    json!({
        "time": written(decision.at_seconds), "reviewer": decision.reviewer, "verdict": verdict,
        "reason": decision.reason, "evidence": decision.evidence,
    })
}

fn tier(rules: Option<&Standing>, found: &TierHeld) -> Value {
    let missing: Vec<Value> = found.earned.missing.iter().map(missing).collect();
    let changes: Vec<Value> = found
        .changes
        .iter()
        .map(|(at, change)| {
            json!({
                "time": written(*at), "from": tier_name(rules, change.from), "to": tier_name(rules, change.to),
                "cause": change.cause.name(),
            })
        })
        .collect();
    json!({
        "held": found.name, "earned": found.earned.name, "next": found.earned.next, "missing": missing,
        "single_blocker": found.earned.single_blocker().map(ToString::to_string),
        "certificate": found.certificate.as_ref().map(|(held, shown)| certificate(held, shown)),
        "changes": changes,
    })
}

fn certificate(held: &Certificate, shown: &Certified) -> Value {
    json!({
        "promoted": held.promoted_seconds.map(written), "rising_since": held.rising_since_seconds.map(written),
        "at_risk_since": held.at_risk_since_seconds.map(written), "lost_to_silence": held.lost_to_silence,
        "promotion_from": shown.promotion_from_seconds.map(written),
        "at_risk_until": shown.at_risk_until_seconds.map(written),
    })
}

fn missing(missing: &Missing) -> Value {
    let (requirement, places) = match &missing.requirement {
        Requirement::Points => ("score", 0),
        Requirement::Coverage => ("coverage", 9),
        Requirement::Dimension(key) => (key.as_str(), 9),
        Requirement::Evaluations => ("evaluations", 0),
        Requirement::DistinctDays => ("distinct_days", 0),
        Requirement::Confidence => ("confidence", 9),
        Requirement::IndependentRunners => ("independent_runners", 0),
        Requirement::Freshness => ("newest_batch_seconds", 0),
        Requirement::Gate => ("gate", 0),
    };
    let number = |value: i64| if places == 9 { billionths(value) } else { json!(value) };
    json!({
        "requirement": requirement, "needed": number(missing.needed), "found": missing.found.map(number),
        "text": missing.to_string(),
    })
}

fn change(at_seconds: i64, change: &Change) -> Value {
    let (event, incident) = match change {
        Change::IncidentOpened(id) => ("incident-opened", Some(id)),
        Change::IncidentClosed(id) => ("incident-closed", Some(id)),
        Change::Held => ("hold-placed", None),
        Change::Released => ("hold-lifted", None),
    };
    json!({"time": written(at_seconds), "event": event, "incident": incident})
}

/// Which case of shares it was, as written.
pub const fn case(case: ShareCase) -> &'static str {
    match case {
        ShareCase::NothingToShare => "nothing-to-share",
        ShareCase::Proportional => "proportional",
        ShareCase::Redistributed => "redistributed",
        ShareCase::CapRaised => "cap-raised",
        ShareCase::RestLeft => "rest-left",
    }
}

/// The names of the lowest `open` tiers.
fn tiers(rules: Option<&Standing>, open: usize) -> Vec<String> {
    rules.into_iter().flat_map(|rules| rules.tiers.iter().take(open)).map(|tier| tier.name.clone()).collect()
}

fn tier_name(rules: Option<&Standing>, held: usize) -> Option<String> {
    held.checked_sub(1).and_then(|at| rules?.tiers.get(at)).map(|tier| tier.name.clone())
}

fn time(answer: &Answer<'_>, at_seconds: i64) -> Option<String> {
    (!answer.standings.by_id).then(|| written(at_seconds))
}

/// Billionths as the nearest double.
fn billionths(value: i64) -> Value {
    json!(value as f64 / 1e9)
}
