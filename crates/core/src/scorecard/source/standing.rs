//! The section `[standing]`, field by field, into a draft whose dimensions, tiers and gates are not yet resolved.

use alloc::format;
use alloc::vec::Vec;
use core::num::NonZeroU32;
use core::ops::Range;

use super::MOST;
use crate::diagnostic::Code;
use crate::number::{Decimal, Score};
use crate::outcome::{Outcome, Policy, Treatment};
use crate::scorecard::fields::{Fields, Report, Text, decimal, whole};
use crate::scorecard::{
    CalibrationRules, CalibrationStep, CertificationRules, DecayRule, DecayScope, Difficulty, FreshnessRule,
    LateRules, LateTreatment, LifecycleRules, Periods, ReviewRules, SharePolicy, ShareRules, Standing,
    StandingScore, TaskLifecycle, TooFew, WarmUp, WholeShares, WindowLimits,
};

const HOUR: u32 = 3600;
const DAY: u32 = 24 * HOUR;
/// Longest time in the section: a hundred years, whose seconds fit 32 bits.
const MOST_DAYS: u32 = 36_500;
/// Largest count in the section.
const MOST_COUNT: u32 = 1_000_000_000;

/// The section as written.
pub(in crate::scorecard) struct DraftStanding {
    /// All that needs no name of the card; its gate, tiers and items by dimension are empty.
    pub rules: Standing,
    pub gate: Option<DraftStandingGate>,
    pub tiers: Vec<DraftStandingTier>,
    pub confidence: Option<DraftConfidence>,
}

pub(in crate::scorecard) struct DraftStandingGate {
    pub dimension: Option<Text>,
    pub unmeasured: Option<Text>,
    pub on_hold: Option<Text>,
    pub steps: Vec<DraftGateStep>,
    pub incident: Option<DraftGateStep>,
    pub incident_gate: Option<Text>,
}

pub(in crate::scorecard) struct DraftGateStep {
    pub below: i64,
    pub cap: Option<Decimal>,
    pub tier: Option<Text>,
    pub span: Range<usize>,
}

pub(in crate::scorecard) struct DraftStandingTier {
    pub name: Text,
    pub score: Option<Decimal>,
    pub coverage: Option<i64>,
    pub mandatory: Vec<Text>,
    pub floor: i64,
    pub require: Vec<(Text, i64)>,
    pub evaluations: u32,
    pub distinct_days: u32,
    pub confidence: i64,
    pub independent_runners: u32,
    pub newest_batch_seconds: Option<u32>,
}

pub(in crate::scorecard) struct DraftConfidence {
    pub items: u32,
    pub items_by: Vec<(Text, u32)>,
    pub freshness: FreshnessRule,
}

pub(super) fn read(card: &Fields<'_, '_>) -> Option<DraftStanding> {
    const FIELDS: &[&str] = &[
        "score", "window", "outcomes", "late", "warm_up", "decay", "review", "gate", "tier", "certification",
        "confidence", "batch_evaluations", "shares", "calibration", "lifecycle",
    ];
    let section = card.table("standing", "standing", FIELDS)?;
    let words = [StandingScore::Window, StandingScore::Latest].map(|score| (score.name(), score));
    let help = "score = \"window\", or \"latest\" for the newest reading of each dimension";
    section.require("score", help);
    let score = section.word("score", &words).unwrap_or(StandingScore::Window);
    let window = read_window(&section, score);
    if section.has("decay") && score == StandingScore::Window {
        let help = "score = \"latest\" takes the newest reading of each dimension, which may decay";
        let message = format!(
            "`decay` does not go with score = \"{}\", in which all scores count the same",
            score.name()
        );
        card.report.error_if_whole(Code::BadValue, section.place("decay"), message, help);
    }
    let (outcomes, stated_outcomes) = read_outcomes(&section, score);
    let rules = Standing {
        score,
        window,
        outcomes,
        stated_outcomes,
        late: read_late(&section),
        warm_up: read_warm_up(&section),
        decay: read_decay(&section),
        review: read_review(&section),
        gate: None,
        tiers: Vec::new(),
        certification: read_certification(&section),
        confidence: None,
        batch_evaluations: section.whole("batch_evaluations", 1, MOST_COUNT).unwrap_or(1),
        shares: read_shares(&section),
        calibration: read_calibration(&section),
        lifecycle: read_lifecycle(&section),
        span: section.span.clone(),
    };
    let (gate, tiers) = (read_gate(&section), read_tiers(&section));
    Some(DraftStanding { rules, gate, tiers, confidence: read_confidence(&section) })
}

fn days(table: &Fields<'_, '_>, field: &str, least: u32) -> Option<u32> {
    table.whole(field, least, MOST_DAYS).map(|days| days * DAY)
}

fn hours(table: &Fields<'_, '_>, field: &str) -> Option<u32> {
    table.whole(field, 0, MOST_DAYS * 24).map(|hours| hours * HOUR)
}

/// Returns a decimal from 0 to 1 in billionths.
fn share(table: &Fields<'_, '_>, field: &str) -> Option<i64> {
    let value = table.decimal_or(field, Decimal::ZERO);
    table.has(field).then(|| within_one(value, field, table.place(field), table.report))
}

fn within_one(value: Decimal, what: &str, place: Range<usize>, report: &Report<'_>) -> i64 {
    if value > Decimal::ONE {
        report.bad(place, format!("`{what}` is {value}, expected 0 to 1"), "");
    }
    value.min(Decimal::ONE).millionths() * 1000
}

fn read_window(section: &Fields<'_, '_>, score: StandingScore) -> WindowLimits {
    const FIELDS: &[&str] = &["tasks", "days", "distinct"];
    let all = WindowLimits { tasks: None, span_seconds: None, is_distinct: false };
    let default = if score == StandingScore::Window { WindowLimits::default() } else { all };
    let Some(table) = section.table("window", "window", FIELDS) else { return default };
    let tasks = table.whole("tasks", 1, MOST_COUNT).and_then(NonZeroU32::new);
    let span_seconds = days(&table, "days", 1).and_then(NonZeroU32::new);
    let is_distinct = table.flag("distinct").unwrap_or(false);
    if is_distinct && score == StandingScore::Latest {
        let message = format!(
            "`distinct` does not go with score = \"{}\", which takes the newest reading of each dimension",
            score.name()
        );
        section.report.error_if_whole(
            Code::BadValue,
            table.place("distinct"),
            message,
            "take score = \"window\"",
        );
    }
    WindowLimits { tasks, span_seconds, is_distinct }
}

/// Reads the treatment of outcomes. A success or failure by decree has no readings, so where readings are taken an item
/// counts as it is or not at all.
fn read_outcomes(section: &Fields<'_, '_>, score: StandingScore) -> (Policy, Vec<Outcome>) {
    use Treatment::{Excluded, Failure, Scored, Success};
    const FIELDS: &[&str] = &["no-verdict", "stopped", "not-applicable", "refused"];
    let (mut policy, treatments) = match score {
        StandingScore::Window => (Policy::default(), [Success, Failure, Excluded, Scored].as_slice()),
        StandingScore::Latest => {
            (Policy { stopped: Scored, refused: Scored, ..Policy::default() }, [Excluded, Scored].as_slice())
        }
    };
    let mut stated = Vec::new();
    let Some(table) = section.table("outcomes", "outcomes", FIELDS) else { return (policy, stated) };
    let words: Vec<_> = treatments.iter().map(|treatment| (treatment.name(), *treatment)).collect();
    let Policy { no_verdict, stopped, not_applicable, refused } = &mut policy;
    for (field, slot) in FIELDS.iter().zip([no_verdict, stopped, not_applicable, refused]) {
        if let Some(treatment) = table.word(field, &words) {
            *slot = treatment;
            stated.extend(Outcome::from_name(field));
        }
    }
    (policy, stated)
}

fn read_late(section: &Fields<'_, '_>) -> LateRules {
    let mut rules = LateRules::default();
    let Some(table) = section.table("late", "late", &["after_days", "treatment"]) else {
        return rules;
    };
    rules.after_seconds = days(&table, "after_days", 0).unwrap_or(rules.after_seconds);
    let all = [LateTreatment::AsStated, LateTreatment::AsArrived, LateTreatment::Excluded];
    let words = all.map(|treatment| (treatment.name(), treatment));
    rules.treatment = table.word("treatment", &words).unwrap_or(rules.treatment);
    rules
}

fn read_warm_up(section: &Fields<'_, '_>) -> Option<WarmUp> {
    let table = section.table("warm_up", "warm_up", &["tasks", "days"])?;
    table.require("tasks", "after how many tasks does a score count in full?");
    let tasks = table.whole("tasks", 1, MOST_COUNT).unwrap_or(1);
    Some(WarmUp { tasks, period_seconds: days(&table, "days", 1) })
}

fn read_decay(section: &Fields<'_, '_>) -> Option<DecayRule> {
    const FIELDS: &[&str] = &["grace_days", "period_days", "points_per_period", "point", "periods", "scope"];
    let table = section.table("decay", "decay", FIELDS)?;
    let mut rule = DecayRule::default();
    rule.grace_seconds = days(&table, "grace_days", 0).unwrap_or(rule.grace_seconds);
    let period = days(&table, "period_days", 1).and_then(NonZeroU32::new);
    rule.period_seconds = period.unwrap_or(rule.period_seconds);
    let points = table.whole("points_per_period", 0, 1_000_000);
    rule.points_per_period = points.unwrap_or(rule.points_per_period);
    let point = share(&table, "point").and_then(|point| u32::try_from(point).ok());
    rule.point_billionths = point.unwrap_or(rule.point_billionths);
    let periods = [("exact", Periods::Exact), ("whole", Periods::Whole)];
    rule.periods = table.word("periods", &periods).unwrap_or(rule.periods);
    let scopes = [("dimension", DecayScope::Dimension), ("composite", DecayScope::Composite)];
    rule.scope = table.word("scope", &scopes).unwrap_or(rule.scope);
    Some(rule)
}

fn read_review(section: &Fields<'_, '_>) -> Option<ReviewRules> {
    const FIELDS: &[&str] = &[
        "swing_points", "cumulative_points", "cumulative_days", "cumulative", "deadline_hours", "approvals",
        "approvals_into_top",
    ];
    let table = section.table("review", "review", FIELDS)?;
    let mut rules = ReviewRules::default();
    let points = |field, default| table.whole(field, 0, MOST_COUNT).unwrap_or(default);
    rules.swing_points = points("swing_points", rules.swing_points);
    rules.cumulative_points = points("cumulative_points", rules.cumulative_points);
    rules.cumulative_seconds = days(&table, "cumulative_days", 0).unwrap_or(rules.cumulative_seconds);
    let holds = table.word("cumulative", &[("hold", true), ("flag", false)]);
    rules.cumulative_holds = holds.unwrap_or(rules.cumulative_holds);
    rules.deadline_seconds = hours(&table, "deadline_hours").unwrap_or(rules.deadline_seconds);
    let reviewers = |field, default| table.whole(field, 1, 1000).unwrap_or(default);
    rules.approvals = reviewers("approvals", rules.approvals);
    rules.approvals_into_top = reviewers("approvals_into_top", rules.approvals_into_top);
    Some(rules)
}

fn read_gate(section: &Fields<'_, '_>) -> Option<DraftStandingGate> {
    const FIELDS: &[&str] = &["dimension", "unmeasured", "on_hold", "incident", "step"];
    const STEP: &[&str] = &["below", "cap", "tier"];
    let table = section.table("gate", "standing.gate", FIELDS)?;
    let read_step = |step: &Fields<'_, '_>| DraftGateStep {
        below: share(step, "below").unwrap_or_default(),
        cap: step.decimal("cap"),
        tier: step.text("tier"),
        span: step.span.clone(),
    };
    let mut steps = Vec::new();
    for step in table.tables("step", MOST, STEP) {
        step.require("below", "below which reading does it hold?");
        steps.push(read_step(&step));
    }
    let incident = table.table("incident", "incident", &["gate", "cap", "tier"]);
    Some(DraftStandingGate {
        dimension: table.required("dimension", "name the dimension that it looks at"),
        unmeasured: table.text("unmeasured"),
        on_hold: table.text("on_hold"),
        steps,
        incident_gate: incident.as_ref().and_then(|incident| incident.text("gate")),
        incident: incident.as_ref().map(read_step),
    })
}

fn read_tiers(section: &Fields<'_, '_>) -> Vec<DraftStandingTier> {
    const FIELDS: &[&str] = &[
        "name", "score", "coverage", "mandatory", "floor", "require", "evaluations", "distinct_days",
        "confidence", "independent_runners", "newest_batch_days", "about",
    ];
    let mut tiers = Vec::new();
    for tier in section.tables("tier", MOST, FIELDS) {
        let Some(name) = tier.required("name", "name the tier") else {
            section.report.leave_out();
            continue;
        };
        tier.text_or_empty("about");
        let mut require = Vec::new();
        for (key, value) in tier.entries("require") {
            if let Some(floor) = decimal(value, &format!("the floor of `{}`", key.value), section.report) {
                let floor = within_one(floor, &key.value, value.span(), section.report);
                require.push((key, floor));
            }
        }
        let count = |field| tier.whole(field, 0, MOST_COUNT).unwrap_or(0);
        tiers.push(DraftStandingTier {
            score: tier.decimal("score"),
            coverage: share(&tier, "coverage"),
            mandatory: tier.texts("mandatory"),
            floor: share(&tier, "floor").unwrap_or_default(),
            require,
            evaluations: count("evaluations"),
            distinct_days: count("distinct_days"),
            confidence: share(&tier, "confidence").unwrap_or_default(),
            independent_runners: count("independent_runners"),
            newest_batch_seconds: days(&tier, "newest_batch_days", 1),
            name,
        });
    }
    tiers
}

fn read_certification(section: &Fields<'_, '_>) -> Option<CertificationRules> {
    const FIELDS: &[&str] = &["confirm_hours", "promotion_days", "at_risk_days", "silence_days"];
    let table = section.table("certification", "certification", FIELDS)?;
    let rules = CertificationRules::default();
    Some(CertificationRules {
        confirm_seconds: hours(&table, "confirm_hours").unwrap_or(rules.confirm_seconds),
        promotion_seconds: days(&table, "promotion_days", 0).unwrap_or(rules.promotion_seconds),
        at_risk_seconds: days(&table, "at_risk_days", 0).unwrap_or(rules.at_risk_seconds),
        silence_seconds: days(&table, "silence_days", 1).unwrap_or(rules.silence_seconds),
    })
}

fn read_confidence(section: &Fields<'_, '_>) -> Option<DraftConfidence> {
    const FIELDS: &[&str] = &["items", "items_by", "full_days", "least_days", "least"];
    let table = section.table("confidence", "confidence", FIELDS)?;
    let mut freshness = FreshnessRule::default();
    freshness.full_until_seconds = days(&table, "full_days", 0).unwrap_or(freshness.full_until_seconds);
    freshness.least_from_seconds = days(&table, "least_days", 0).unwrap_or(freshness.least_from_seconds);
    freshness.least = share(&table, "least").unwrap_or(freshness.least);
    if freshness.least_from_seconds < freshness.full_until_seconds {
        let message = format!(
            "evidence is worth least from day {} on, but all of it until day {}",
            freshness.least_from_seconds / DAY,
            freshness.full_until_seconds / DAY
        );
        section.report.bad(table.span.clone(), message, "`least_days` is at least `full_days`");
    }
    let items = table.whole("items", 0, MOST_COUNT).unwrap_or(10);
    let mut items_by = Vec::new();
    for (key, value) in table.entries("items_by") {
        let what = format!("the items of `{}`", key.value);
        items_by.extend(whole(value, &what, 0, MOST_COUNT, section.report).map(|items| (key, items)));
    }
    Some(DraftConfidence { items, items_by, freshness })
}

fn read_shares(section: &Fields<'_, '_>) -> Option<SharePolicy> {
    let table = section.table("shares", "shares", &["cap", "too_few", "whole"])?;
    let mut rules = ShareRules::default();
    if let Some(cap) = table.decimal("cap") {
        if cap == Decimal::ZERO || cap > Decimal::ONE {
            let message = format!("the cap of a share is {cap}, expected above 0 and at most 1");
            section.report.bad(table.place("cap"), message, "cap = 0.15 is 15 %");
        }
        rules.cap = cap;
    }
    let words = [("raise-cap", TooFew::RaiseCap), ("leave-rest", TooFew::LeaveRest)];
    rules.too_few = table.word("too_few", &words).unwrap_or(rules.too_few);
    let whole = if table.text_if_text("whole").is_some() {
        table.word("whole", &[("sixteen-bit", WholeShares::SixteenBit)])
    } else {
        table.whole("whole", 1, MOST_COUNT).map(WholeShares::Sum)
    };
    Some(SharePolicy { rules, whole })
}

fn read_calibration(section: &Fields<'_, '_>) -> Option<CalibrationRules> {
    const FIELDS: &[&str] = &["completed", "margin", "newcomer", "contender", "veteran"];
    let table = section.table("calibration", "calibration", FIELDS)?;
    let mut rules = CalibrationRules::default();
    let completed = table.whole("completed", 0, MOST_COUNT).map(u64::from);
    rules.completed_min = completed.unwrap_or(rules.completed_min);
    rules.margin = share(&table, "margin").map_or(rules.margin, millionths);
    for step in &mut rules.steps {
        let name = step.difficulty.name();
        let Some(rates) = table.table(name, name, &["win_rate", "completion_rate"]) else { continue };
        let CalibrationStep { win_rate, completion_rate, .. } = step;
        *win_rate = share(&rates, "win_rate").map_or(*win_rate, millionths);
        *completion_rate = share(&rates, "completion_rate").map_or(*completion_rate, millionths);
    }
    for [easier, harder] in rules.steps.array_windows() {
        if harder.win_rate > easier.win_rate || harder.completion_rate > easier.completion_rate {
            let [easier, harder] = [easier.difficulty, harder.difficulty].map(Difficulty::name);
            let message = format!("`{harder}` asks for a higher rate than `{easier}`, which is easier");
            let help = "the harder a task, the lower its rates";
            section.report.error_if_whole(Code::BadValue, table.span.clone(), message, help);
        }
    }
    Some(rules)
}

fn millionths(billionths: i64) -> Decimal {
    Decimal::from_millionths(billionths / 1000)
}

fn read_lifecycle(section: &Fields<'_, '_>) -> Option<TaskLifecycle> {
    const FIELDS: &[&str] =
        &["solved_above", "failed_below", "share_above", "periods", "quarantine_periods", "period_days"];
    let table = section.table("lifecycle", "lifecycle", FIELDS)?;
    let mut rules = LifecycleRules::default();
    rules.solved_above = share(&table, "solved_above").map_or(rules.solved_above, Score::from_billionths);
    rules.failed_below = share(&table, "failed_below").map_or(rules.failed_below, Score::from_billionths);
    rules.share_above = share(&table, "share_above").map_or(rules.share_above, millionths);
    rules.periods = table.whole("periods", 1, 1000).unwrap_or(rules.periods);
    rules.quarantine_periods = table.whole("quarantine_periods", 0, 1000).unwrap_or(rules.quarantine_periods);
    if rules.failed_below > rules.solved_above {
        let message = format!(
            "a score between {} and {} would be solved and failed at once",
            rules.solved_above, rules.failed_below
        );
        section.report.error_if_whole(
            Code::BadValue,
            table.span.clone(),
            message,
            "`failed_below` is at most `solved_above`",
        );
    }
    table.require("period_days", "how long is a period?");
    let period_seconds = days(&table, "period_days", 1).unwrap_or(DAY);
    Some(TaskLifecycle { rules, period_seconds })
}
