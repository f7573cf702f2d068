//! The section as it is read, and what is refused in it.

use alloc::format;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use crate::check_text;
use karat_core::number::Decimal;
use karat_core::outcome::{Policy, Treatment};
use karat_core::scorecard::Scorecard;
use karat_core::scorecard::*;

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "agent"
version = "1.0.0"
title = "Two dimensions"
evidence = "facts"
scale = { max = 1000, publish = "half-up" }
facts = { accuracy = { min = 0, max = 1 }, security = { min = 0, max = 1 }, open = { type = "boolean" } }
dimension = [{ key = "accuracy", weight = 0.6 }, { key = "security", weight = 0.4 }]
gate = [{ name = "incident", when = "open", cap = 300 }]
tier = [{ name = "bronze", score = 400, mandatory = ["accuracy"], floor = 0.3 }, { name = "gold", score = 750 }]
"#;

fn card(section: &str) -> Scorecard {
    let checked = check_text(&format!("{CARD}{section}"), &|_| None);
    checked.card.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics))
}

fn released(name: &str) -> Standing {
    let text = match name {
        "workflow" => include_str!("../../../scorecards/workflow/1.0.0.toml"),
        "arena" => include_str!("../../../scorecards/arena/1.0.0.toml"),
        "trust 1.0.0" => include_str!("../../../scorecards/trust/1.0.0.toml"),
        _ => include_str!("../../../scorecards/trust/1.1.0.toml"),
    };
    crate::parse(text, &|_| None).unwrap().standing.unwrap()
}

#[test]
fn the_trust_cards_say_what_the_engine_takes_by_default() {
    for name in ["trust 1.0.0", "trust 1.1.0"] {
        let standing = released(name);
        assert_eq!(standing.score, StandingScore::Latest);
        assert_eq!(standing.decay, Some(DecayRule::default()));
        assert_eq!(standing.review, Some(ReviewRules::default()));
        assert_eq!(standing.certification, Some(CertificationRules::default()));
        let gate = standing.gate.unwrap();
        let default = SecurityGate::default();
        assert_eq!((gate.dimension.as_str(), gate.rule.steps), ("security", default.steps));
        assert_eq!(gate.rule.open_unmeasured, default.open_unmeasured);
        assert_eq!(gate.incident_gate.as_deref(), Some("critical incident open"));
        assert_eq!(gate.rule.incident.map(|step| (step.cap_points, step.open_tiers)), Some((399, 0)));
    }
}

#[test]
fn the_workflow_card_has_the_window_and_the_cap_of_its_document() {
    let standing = released("workflow");
    let section = |text: &'static str| text.split("\n[standing]\n").nth(1).unwrap();
    let newer = section(include_str!("../../../scorecards/workflow/1.1.0.toml"));
    let older = section(include_str!("../../../scorecards/workflow/1.0.0.toml"));
    let settings =
        |text: &'static str| text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>();
    assert_eq!(settings(newer), settings(older));
    assert_eq!((standing.score, standing.window), (StandingScore::Window, WindowLimits::default()));
    let shares = standing.shares.unwrap();
    assert_eq!((shares.rules, shares.whole), (ShareRules::default(), Some(WholeShares::SixteenBit)));
    assert_eq!(standing.outcomes.stopped, Treatment::Scored);
    assert_eq!(standing.late, LateRules { after_seconds: 7 * 86_400, treatment: LateTreatment::AsStated });
    assert_eq!(standing.warm_up, Some(WarmUp { tasks: 20, period_seconds: None }));
    assert_eq!(standing.lifecycle.map(|life| life.rules), Some(LifecycleRules::default()));
    assert_eq!(released("arena").calibration, Some(CalibrationRules::default()));
}

#[test]
fn every_setting_is_read() {
    let standing = card(
        r#"
        [standing]
        score = "latest"
        window = { tasks = 7, days = 30 }
        outcomes = { no-verdict = "scored", stopped = "excluded", not-applicable = "scored" }
        late = { after_days = 2, treatment = "as-arrived" }
        warm_up = { tasks = 5, days = 2 }
        decay = { grace_days = 0, period_days = 1, points_per_period = 3, point = 0.01, periods = "whole", scope = "composite" }
        review = { swing_points = 100, cumulative_points = 150, cumulative_days = 3, cumulative = "flag", deadline_hours = 5, approvals = 2, approvals_into_top = 3 }
        certification = { confirm_hours = 1, promotion_days = 2, at_risk_days = 3, silence_days = 4 }
        confidence = { items = 8, items_by = { security = 3 }, full_days = 1, least_days = 2, least = 0.25 }
        batch_evaluations = 4
        shares = { cap = 0.5, too_few = "leave-rest", whole = 100 }
        lifecycle = { solved_above = 0.8, failed_below = 0.2, share_above = 0.6, periods = 2, quarantine_periods = 1, period_days = 7 }
        [standing.gate]
        dimension = "security"
        step = [{ below = 0.5, cap = 399, tier = "none" }]
        incident = { gate = "incident", tier = "bronze" }
        [[standing.tier]]
        name = "bronze"
        evaluations = 5
        require = { security = 0.2 }
        [[standing.tier]]
        name = "silver"
        score = 500
        coverage = 0.5
        mandatory = ["accuracy", "security"]
        floor = 0.4
        evaluations = 5
        newest_batch_days = 30
        "#,
    );
    let standing = standing.standing.unwrap();
    let some = NonZeroU32::new;
    assert_eq!(
        standing.window,
        WindowLimits { tasks: some(7), span_seconds: some(30 * 86_400), is_distinct: false }
    );
    assert_eq!(
        standing.outcomes,
        Policy {
            no_verdict: Treatment::Scored,
            stopped: Treatment::Excluded,
            not_applicable: Treatment::Scored,
            refused: Treatment::Scored,
        }
    );
    let late = LateRules { after_seconds: 172_800, treatment: LateTreatment::AsArrived };
    assert_eq!(standing.late, late);
    assert_eq!(standing.warm_up, Some(WarmUp { tasks: 5, period_seconds: Some(172_800) }));
    assert_eq!(
        standing.decay,
        Some(DecayRule {
            grace_seconds: 0,
            period_seconds: some(86_400).unwrap(),
            points_per_period: 3,
            point_billionths: 10_000_000,
            periods: Periods::Whole,
            scope: DecayScope::Composite,
        })
    );
    assert_eq!(
        standing.review,
        Some(ReviewRules {
            swing_points: 100,
            cumulative_points: 150,
            cumulative_seconds: 3 * 86_400,
            cumulative_holds: false,
            deadline_seconds: 5 * 3600,
            approvals: 2,
            approvals_into_top: 3,
        })
    );
    let certification = standing.certification.unwrap();
    assert_eq!((certification.confirm_seconds, certification.silence_seconds), (3600, 4 * 86_400));
    let confidence = standing.confidence.unwrap();
    assert_eq!((confidence.items, confidence.items_by["security"]), (8, 3));
    let freshness =
        FreshnessRule { full_until_seconds: 86_400, least_from_seconds: 172_800, least: 250_000_000 };
    assert_eq!(confidence.freshness, freshness);
    let shares = standing.shares.unwrap();
    assert_eq!(
        shares.rules,
        ShareRules { cap: Decimal::from_millionths(500_000), too_few: TooFew::LeaveRest }
    );
    assert_eq!(shares.whole, Some(WholeShares::Sum(100)));
    assert_eq!(standing.lifecycle.unwrap().period_seconds, 7 * 86_400);
    let gate = standing.gate.unwrap();
    assert_eq!((gate.rule.open_unmeasured, gate.rule.open_on_hold), (None, 0));
    assert_eq!(gate.rule.incident.map(|step| (step.cap_points, step.open_tiers)), Some((i64::MAX, 1)));
    let [bronze, silver] = standing.tiers.try_into().unwrap();
    assert_eq!((bronze.points, bronze.evaluations), (400, 5), "the score is that of the card's own tier");
    assert_eq!(bronze.floors, [("accuracy".into(), 300_000_000), ("security".into(), 200_000_000)]);
    assert_eq!(silver.floors, [("accuracy".into(), 400_000_000), ("security".into(), 400_000_000)]);
    assert_eq!(silver.newest_batch_seconds, Some(30 * 86_400));
}

#[test]
fn a_section_without_tiers_takes_those_of_the_card_and_a_card_may_have_no_section() {
    let distinct = card("[standing]\nscore = \"window\"\nwindow = { distinct = true }").standing.unwrap();
    assert_eq!(distinct.window, WindowLimits { tasks: None, span_seconds: None, is_distinct: true });
    let standing = card("[standing]\nscore = \"window\"").standing.unwrap();
    let names: Vec<_> = standing.tiers.iter().map(|tier| (tier.name.as_str(), tier.points)).collect();
    assert_eq!(names, [("bronze", 400), ("gold", 750)]);
    assert_eq!(standing.window, WindowLimits::default());
    assert!(standing.decay.is_none() && standing.review.is_none() && standing.shares.is_none());
    assert!(card("").standing.is_none());
    assert_ne!(card("").digest, card("[standing]\nscore = \"window\"").digest);
}
