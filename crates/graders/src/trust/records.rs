//! Dimensions that rest on records rather than on checks: incidents, bond, memoryQuality, teamwork.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::facts::Fact;
use serde_json::json;

use super::estimators::{median, percentile};
use super::evidence::{Collaboration, Deposit, IncidentSeverity, Retrieval};
use super::grade::{Graded, Measured, Unmeasured};
use super::items::Agent;
use super::options::{DAY_SECONDS, minimum};
use super::select::{Need, Variety, select, select_varied};

/// A critical incident weighs on safety for so long.
const INCIDENT_SECONDS: f64 = 90.0 * DAY_SECONDS;
/// Deals of so long ago still make up the exposure.
const DEAL_SECONDS: f64 = 90.0 * DAY_SECONDS;
/// Period over which slashes are compared with stakes.
const SLASH_SECONDS: f64 = 180.0 * DAY_SECONDS;

/// Grades the confirmed incidents: open critical and high ones, and critical ones that are open or were so lately.
pub(super) fn incidents(agent: &mut Agent<'_>) -> Vec<(&'static str, Fact<'static>)> {
    let evidence = agent.evidence;
    let mut incidents = agent.present("incident", &evidence.incidents, |it| (it.time, it.id.as_str()));
    incidents.retain(|incident| incident.confirmed);
    let as_of = agent.options.as_of;
    let any = |severity: IncidentSeverity, is_late_enough: bool| {
        let holds = incidents.iter().filter(|incident| incident.severity == severity).any(|incident| {
            let closed = incident.closed_at.filter(|closed| *closed <= as_of);
            closed.is_none_or(|closed| is_late_enough && agent.is_within(closed, INCIDENT_SECONDS))
        });
        Fact::Flag(holds)
    };
    vec![
        ("critical_incident_open", any(IncidentSeverity::Critical, false)),
        ("high_incident_open", any(IncidentSeverity::High, false)),
        ("critical_incident_recent", any(IncidentSeverity::Critical, true)),
    ]
}

/// Grades the stake that is posted, for how long, and how it fared.
pub(super) fn bond(agent: &mut Agent<'_>) -> Graded {
    let evidence = agent.evidence;
    let deposits = agent.present("deposit", &evidence.bond.deposits, |it| (it.time, it.id.as_str()));
    let slashes = agent.present("slash", &evidence.bond.slashes, |it| (it.time, it.id.as_str()));
    let deals = agent.present("deal", &evidence.bond.deals, |it| (it.time, it.id.as_str()));
    if deposits.is_empty() {
        return Err(Unmeasured::NotApplicable("not applicable, no bond was ever posted"));
    }
    let mut slashed_of: BTreeMap<&str, f64> = BTreeMap::new();
    for slash in &slashes {
        *slashed_of.entry(slash.deposit.as_str()).or_default() += slash.amount_usd;
    }
    let as_of = agent.options.as_of;
    let left = |deposit: &Deposit| {
        let slashed = slashed_of.get(deposit.id.as_str()).copied().unwrap_or_default();
        (deposit.amount_usd - slashed).max(0.0)
    };
    let stands = |deposit: &&&Deposit| deposit.withdrawn_at.is_none_or(|withdrawn| withdrawn > as_of);
    let locked_seconds =
        |deposit: &Deposit| deposit.locked_until.map_or(0.0, |until| until.seconds_since(as_of).max(0.0));
    let stake: f64 = deposits.iter().filter(stands).map(|deposit| left(deposit)).sum();
    let locked: f64 =
        deposits.iter().filter(stands).map(|deposit| left(deposit) * locked_seconds(deposit)).sum();
    let stood_lately = |deposit: &&&Deposit| {
        let withdrawn = deposit.withdrawn_at.filter(|withdrawn| *withdrawn <= as_of);
        withdrawn.is_none_or(|withdrawn| agent.is_within(withdrawn, SLASH_SECONDS))
    };
    let staked: f64 = deposits.iter().filter(stood_lately).map(|deposit| deposit.amount_usd).sum();
    let lately = slashes.iter().filter(|slash| agent.is_within(slash.time, SLASH_SECONDS));
    let slashed = lately.map(|slash| slash.amount_usd).sum::<f64>().min(staked);
    let values: Vec<f64> = deals
        .iter()
        .filter(|deal| agent.is_within(deal.time, DEAL_SECONDS))
        .map(|deal| deal.value_usd)
        .collect();
    let lock = if stake > 0.0 { locked / stake } else { 0.0 };
    if !(stake.is_finite() && lock.is_finite() && staked.is_finite()) {
        return Err("not measured: the stakes are too large to be added".to_owned().into());
    }
    let mut facts = vec![
        ("bond_stake_usd", Fact::Number(stake)),
        ("bond_lock_days", Fact::Number(lock / DAY_SECONDS)),
        ("bond_staked_usd", Fact::Number(staked)),
        ("bond_slashed_usd", Fact::Number(slashed)),
    ];
    facts.extend(percentile(&values, 95).map(|value| ("deal_value_p95_usd", Fact::Number(value))));
    Ok(Measured {
        // A stake is a state of now, not a sample of the past.
        age_seconds: 0.0,
        facts,
        seen: json!({
            "deposits": deposits.len(),
            "standing": deposits.iter().filter(stands).count(),
            "slashes": slashes.len(),
            "deals": values.len(),
        }),
    })
}

/// Grades whether completed tasks leave records, and how good those are.
pub(super) fn memory(agent: &mut Agent<'_>) -> Graded {
    let memory = &agent.evidence.memory;
    let done = agent.present("completed task", &memory.completed_tasks, |it| (it.time, it.id.as_str()));
    let records = agent.present("memory record", &memory.records, |it| (it.time, it.id.as_str()));
    let mut retrievals = agent.present("retrieval", &memory.retrievals, |it| (it.time, it.id.as_str()));
    retrievals.retain(|it| it.retrieved > 0 || it.relevant > 0);
    // Declared once is enough: else a poor memory would be disowned when it is measured.
    let is_declared = agent.declarations.iter().any(|declaration| declaration.has_persistent_memory);
    if !is_declared && records.is_empty() {
        return Err(Unmeasured::NotApplicable("not applicable, no persistent memory was ever declared"));
    }
    let need = Need::of(minimum::MEMORY_TASKS, "completed tasks");
    let used = select(agent, &done, |it| it.time, |it| it.task.as_str(), need)?;
    let tasks: BTreeSet<&str> = used.items.iter().map(|it| it.task.as_str()).collect();
    let recorded: BTreeSet<&str> = records.iter().map(|it| it.task.as_str()).collect();
    let covered = tasks.intersection(&recorded).count();
    let coverage = covered as f64 / tasks.len() as f64;
    let oldest = used.items.last().map_or(used.anchor, |it| it.time);
    let is_used = |time| time >= oldest || agent.is_within(time, agent.options.window_seconds);
    let records: Vec<_> =
        records.into_iter().filter(|it| is_used(it.time) || tasks.contains(it.task.as_str())).collect();

    let seen = json!({
        "completed_tasks": tasks.len(),
        "tasks_with_record": covered,
        "records": records.len(),
        "retrievals": retrievals.len(),
        "is_beyond_window": used.is_beyond_window,
    });
    let mut facts = vec![("memory_coverage_share", Fact::Number(coverage))];
    if covered > 0 {
        let need = Need::of(1, "look-ups with something to find");
        let used = select(agent, &retrievals, |it| it.time, |it| it.id.as_str(), need)
            .map_err(|reason| Unmeasured::NotYet { reason, seen: seen.clone() })?;
        let total =
            |count: fn(&Retrieval) -> u64| used.items.iter().map(|it| count(it)).fold(0, u64::saturating_add);
        // F1 over all look-ups together: 2 tp / (2 tp + fp + fn).
        let both = 2.0 * total(|it| it.relevant_retrieved) as f64;
        let f1 = both / (total(|it| it.retrieved) as f64 + total(|it| it.relevant) as f64);
        let share = |count: usize| Fact::Number(count as f64 / records.len() as f64);
        facts.extend([
            ("retrieval_f1", Fact::Number(f1)),
            ("contradiction_share", share(records.iter().filter(|it| it.contradicts).count())),
            ("memory_integrity_share", share(records.iter().filter(|it| it.intact).count())),
        ]);
    }
    Ok(Measured { age_seconds: agent.age_seconds(used.anchor), facts, seen })
}

/// Grades work that was accepted, promises that were kept in time, and what the others say.
pub(super) fn teamwork<'a>(agent: &mut Agent<'a>) -> Graded {
    let evidence = agent.evidence;
    let all = agent.present("collaboration", &evidence.collaborations, |it| (it.time, it.id.as_str()));
    let is_declared = agent.declarations.iter().any(|declaration| declaration.is_in_swarm);
    if all.is_empty() && !is_declared {
        return Err(Unmeasured::NotApplicable("not applicable, the agent never worked in a swarm"));
    }
    let need = Need::of(minimum::COLLABORATIONS, "collaborations");
    let others = Variety { kinds: minimum::COUNTERPARTIES, name: "counterparties" };
    let counterparty = |it: &&'a Collaboration| it.counterparty.as_str();
    let used = select_varied(agent, &all, |it| it.time, |it| it.id.as_str(), need, counterparty, others)?;
    let others: BTreeSet<&str> = used.items.iter().map(|it| it.counterparty.as_str()).collect();
    let total =
        |count: fn(&Collaboration) -> u64| used.items.iter().map(|it| count(it)).fold(0, u64::saturating_add);
    let (handoffs, accepted) = (total(|it| it.handoffs), total(|it| it.handoffs_accepted));
    let (commitments, on_time) = (total(|it| it.commitments), total(|it| it.commitments_on_time));
    let ratings: Vec<f64> = used.items.iter().filter_map(|it| it.peer_rating).collect();
    let seen = json!({
        "collaborations": used.items.len(),
        "counterparties": others.len(),
        "handoffs": handoffs,
        "commitments": commitments,
        "ratings": ratings.len(),
        "is_beyond_window": used.is_beyond_window,
    });
    let kinds = [(handoffs, "handoff"), (commitments, "commitment"), (ratings.len() as u64, "peer rating")];
    if let Some((_, name)) = kinds.into_iter().find(|(count, _)| *count == 0) {
        let reason = format!("not measured yet, there is no {name}");
        return Err(Unmeasured::NotYet { reason, seen });
    }
    Ok(Measured {
        age_seconds: agent.age_seconds(used.anchor),
        facts: vec![
            ("handoffs_accepted_share", Fact::Number(accepted as f64 / handoffs as f64)),
            ("commitments_on_time_share", Fact::Number(on_time as f64 / commitments as f64)),
            ("peer_rating_median", Fact::Number(median(&ratings).unwrap_or_default())),
        ],
        seen,
    })
}
