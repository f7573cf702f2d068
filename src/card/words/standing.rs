//! The section `[standing]` in sentences.

use karat_core::scorecard::{
    LateRules, LateTreatment, Scorecard, SharePolicy, Standing, StandingScore, WholeShares,
};
use karat_standing::decay::{DecayRule, DecayScope, Periods};
use karat_standing::gate::GateStep;
use karat_standing::review::ReviewRules;
use karat_standing::shares::TooFew;
use karat_standing::tiers::TierRule;
use karat_stats::outcome::Policy;

use crate::number::billionths;
use crate::text::count;

const HOUR: u32 = 3600;
const DAY: u32 = 24 * HOUR;

/// The topic of the lines about tiers, which a ladder shows better.
pub(crate) const TIER: &str = "tier";

/// Describes the section, one sentence per line, each with its topic.
pub(crate) fn lines(card: &Scorecard, standing: &Standing) -> Vec<(&'static str, String)> {
    let mut lines = vec![("official score", score(standing)), ("outcomes", outcomes(standing.outcomes))];
    lines.extend((standing.late != LateRules::default()).then(|| ("late items", late(standing.late))));
    lines.extend(standing.decay.map(|rule| ("decay", decay(rule))));
    lines.extend(standing.review.map(|rules| ("review", review(rules))));
    lines.extend(standing.gate.as_ref().map(|gate| {
        let unmeasured =
            gate.rule.open_unmeasured.map(|open| format!("not measured: {}", limit(open, &standing.tiers)));
        let step = |step: &GateStep, when: String| {
            let cap =
                (step.cap_points != i64::MAX).then(|| format!("the score is at most {}", step.cap_points));
            let tier =
                (step.open_tiers < standing.tiers.len()).then(|| limit(step.open_tiers, &standing.tiers));
            format!("{when}: {}", cap.into_iter().chain(tier).collect::<Vec<_>>().join(" and "))
        };
        let steps = gate.rule.steps.iter().map(|one| step(one, format!("below {}", billionths(one.below))));
        let incident = gate.rule.incident.iter().map(|one| step(one, "with an open incident".to_owned()));
        let parts: Vec<String> = unmeasured.into_iter().chain(steps).chain(incident).collect();
        ("gate", format!("gate on {}: {}", gate.dimension, parts.join("; ")))
    }));
    lines.extend(
        standing.tiers.iter().map(|rule| (TIER, format!("{}: {}", rule.name, tier(card, rule).join(", ")))),
    );
    lines.extend(standing.certification.map(|rules| {
        let text = format!(
            "tiers are confirmed after {}, rise one step in {}, are kept {} where only decay takes them, and one is lost for {} of silence",
            time(rules.confirm_seconds),
            time(rules.promotion_seconds),
            time(rules.at_risk_seconds),
            time(rules.silence_seconds)
        );
        ("certified tiers", text)
    }));
    lines.extend(standing.confidence.as_ref().map(|rule| {
        let own: Vec<String> =
            rule.items_by.iter().map(|(key, items)| format!(", {items} of {key}")).collect();
        let text = format!(
            "confidence is half with {}{} of a dimension; evidence counts in full for {} and {} from {} on",
            count(rule.items as usize, "item"),
            own.concat(),
            time(rule.freshness.full_until_seconds),
            billionths(rule.freshness.least),
            time(rule.freshness.least_from_seconds)
        );
        ("confidence", text)
    }));
    lines.extend(standing.shares.map(|policy| ("shares", shares(policy))));
    lines.extend(standing.warm_up.map(|rule| {
        let end =
            rule.period_seconds.map_or(String::new(), |seconds| format!(", for {} at most", time(seconds)));
        (
            "warm-up",
            format!("warm-up: the share counts by the tasks seen, in full from {} on{end}", rule.tasks),
        )
    }));
    lines.extend(standing.lifecycle.map(|life| {
        let (rules, period) = (life.rules, time(life.period_seconds));
        let text = format!(
            "a task is deprecated when more than {} of its subjects are above {} in {} of {period} in a row, and quarantined when they are below {}",
            rules.share_above, rules.solved_above, count(rules.periods as usize, "period"), rules.failed_below
        );
        ("retired tasks", text)
    }));
    lines.extend(standing.calibration.as_ref().map(|rules| {
        let step = |step: &karat_standing::calibration::CalibrationStep| {
            format!(
                "{} from {} won and {} completed",
                step.difficulty.name(),
                step.win_rate,
                step.completion_rate
            )
        };
        let steps: Vec<String> = rules.steps.iter().map(step).collect();
        let text = format!(
            "difficulty from {} completed items on: {}, else legendary",
            rules.completed_min,
            steps.join(", ")
        );
        ("difficulty", text)
    }));
    lines
}

fn score(standing: &Standing) -> String {
    let noun = if standing.window.is_distinct { "task" } else { "item" };
    let tasks = standing.window.tasks.map(|tasks| count(tasks.get() as usize, noun));
    let span = standing.window.span_seconds.map(|span| time(span.get()));
    let reach = match (tasks, span) {
        (None, None) => "all items".to_owned(),
        (Some(tasks), None) => format!("the last {tasks}"),
        (None, Some(span)) => format!("the last {span}"),
        (Some(tasks), Some(span)) => format!("the last {tasks} of the last {span}"),
    };
    match standing.score {
        StandingScore::Window => format!("the mean over {reach}, each with the same weight"),
        StandingScore::Latest => {
            format!("the newest value of each dimension, of {reach}, and their weighted mean")
        }
    }
}

fn late(rules: LateRules) -> String {
    let treatment = match rules.treatment {
        LateTreatment::AsStated => "are as old as they say",
        LateTreatment::AsArrived => "are as old as if they had taken place on arrival",
        LateTreatment::Excluded => "do not count",
    };
    format!("items that arrive more than {} after their time {treatment}", time(rules.after_seconds))
}

fn outcomes(policy: Policy) -> String {
    let Policy { no_verdict, stopped, not_applicable, refused } = policy;
    format!(
        "no verdict: {}; stopped: {}; not applicable: {}; refused: {}",
        no_verdict.name(),
        stopped.name(),
        not_applicable.name(),
        refused.name()
    )
}

fn decay(rule: DecayRule) -> String {
    let of = match rule.scope {
        DecayScope::Dimension => "each dimension by its own age",
        DecayScope::Composite => "the composite by the age of its newest evidence",
    };
    let periods = match rule.periods {
        Periods::Exact => "parts of it count",
        Periods::Whole => "only whole ones count",
    };
    let point = billionths(i64::from(rule.point_billionths));
    format!(
        "decay: {of}, {} of {point} for every {} after the first {}; {periods}",
        count(rule.points_per_period as usize, "point"),
        time(rule.period_seconds.get()),
        time(rule.grace_seconds)
    )
}

fn review(rules: ReviewRules) -> String {
    let holds = if rules.cumulative_holds { "are held" } else { "are flagged" };
    format!(
        "review: swings over {} points are held, those over {} within {} {holds}; {} within {}, {} into the highest tier",
        rules.swing_points,
        rules.cumulative_points,
        time(rules.cumulative_seconds),
        count(rules.approvals as usize, "approval"),
        time(rules.deadline_seconds),
        rules.approvals_into_top
    )
}

/// Returns what the official score needs for a tier, beyond what one score needs.
pub(crate) fn tier(card: &Scorecard, rule: &TierRule) -> Vec<String> {
    let mut asked = vec![format!("score {}", rule.points)];
    if rule.coverage > 0 {
        asked.push(format!("coverage {}", billionths(rule.coverage)));
    }
    // Floors of the card's own tier are listed there.
    let own = card.tiers.iter().find(|tier| tier.name == rule.name);
    let is_own = |key: &str, floor: i64| {
        own.is_some_and(|tier| {
            let known = |at: usize| card.dimensions.get(at).is_some_and(|dimension| dimension.key == key);
            tier.floors.iter().any(|&(at, least)| known(at) && least == floor)
        })
    };
    let floors = rule.floors.iter().filter(|(key, floor)| !is_own(key, *floor));
    asked.extend(floors.map(|(key, floor)| format!("{key} {}", billionths(*floor))));
    let counts = [
        (rule.evaluations, "evaluation"),
        (rule.distinct_days, "distinct day"),
        (rule.independent_runners, "independent runner"),
    ];
    asked.extend(
        counts
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| count(number as usize, what)),
    );
    if rule.confidence > 0 {
        asked.push(format!("confidence {}", billionths(rule.confidence)));
    }
    asked.extend(
        rule.newest_batch_seconds.map(|age| format!("a batch of the last {} days", age / i64::from(DAY))),
    );
    asked
}

fn limit(open: usize, tiers: &[TierRule]) -> String {
    match open.checked_sub(1).and_then(|at| tiers.get(at)) {
        Some(tier) => format!("the tier is at most {}", tier.name),
        None => "there is no tier".to_owned(),
    }
}

fn shares(policy: SharePolicy) -> String {
    let too_few = match policy.rules.too_few {
        TooFew::RaiseCap => "a cap that is too low is raised",
        TooFew::LeaveRest => "what no subject may have is left over",
    };
    let whole = match policy.whole {
        None => String::new(),
        Some(WholeShares::Sum(sum)) => format!("; whole numbers that sum to {sum}"),
        Some(WholeShares::SixteenBit) => "; whole numbers up to 65535".to_owned(),
    };
    format!(
        "what is shared out by score: no subject has more than {} of it; {too_few}{whole}",
        policy.rules.cap
    )
}

/// Formats a time in the largest unit that divides it.
fn time(seconds: u32) -> String {
    if seconds.is_multiple_of(DAY) {
        count((seconds / DAY) as usize, "day")
    } else {
        count((seconds / HOUR) as usize, "hour")
    }
}
