//! Swings: what is held, what gates see, who decides, what time does.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use super::*;
use proptest::prelude::*;

const HOUR: i64 = 3600;

fn scored(at_seconds: i64, points: i64) -> Event {
    scored_by(at_seconds, points, "lab")
}

fn scored_by(at_seconds: i64, points: i64, runner: &str) -> Event {
    let is_into_top = points >= 900;
    Event::Scored(Candidate {
        at_seconds,
        points,
        is_into_top,
        runner: runner.into(),
        cause: "evaluation".into(),
        evidence: Digest::of(&points.to_le_bytes()),
        basis: Basis::default(),
    })
}

fn decided(at_seconds: i64, reviewer: &str, verdict: ReviewVerdict) -> Event {
    let (reason, evidence) = ("checked".into(), vec!["digest".into()]);
    Event::Decided(Decision {
        at_seconds,
        reviewer: reviewer.into(),
        verdict,
        reason,
        seen: Seen::Any,
        evidence,
    })
}

fn after(events: impl IntoIterator<Item = Event>) -> (History, Vec<Outcome>) {
    let mut history = History::new("operator".into());
    let mut outcomes = Vec::new();
    for event in events {
        let outcome;
        (history, outcome) = history.next(&ReviewRules::default(), event);
        outcomes.push(outcome);
    }
    (history, outcomes)
}

fn states(outcome: &Outcome) -> Vec<&'static str> {
    outcome.transitions.iter().map(|line| line.state.name()).collect()
}

fn points(history: &History) -> (i64, i64) {
    (history.canonical.as_ref().unwrap().points, history.gating_points().unwrap())
}

#[test]
fn a_change_of_the_limit_itself_is_no_swing() {
    let (history, outcomes) = after([scored(0, 500), scored(1, 700)]);
    assert_eq!(states(&outcomes[1]), ["committed"]);
    assert_eq!(points(&history), (700, 700));
    assert_eq!(swing(Some(i64::MIN), i64::MAX, 200), Swing { delta: Some(i64::MAX), was_anomalous: true });
}

#[test]
fn a_first_score_is_canonical_at_once() {
    let (history, outcomes) = after([scored(0, 1000)]);
    assert_eq!(
        outcomes[0].transitions[0].flags,
        Flags { delta: None, was_anomalous: false, was_cumulative: false }
    );
    assert_eq!(points(&history), (1000, 1000));
    assert_eq!(History::new("operator".into()).gating_points(), None);
}

#[test]
fn a_fall_closes_gates_at_once_and_a_rise_opens_none() {
    let (fallen, _) = after([scored(0, 800), scored(1, 300)]);
    assert_eq!(points(&fallen), (800, 300));
    assert!(fallen.is_under_review());
    let (risen, _) = after([scored(0, 300), scored(1, 800)]);
    assert_eq!(points(&risen), (300, 300));
}

#[test]
fn two_steps_below_the_limit_are_one_swing() {
    let (history, outcomes) = after([scored(0, 500), scored(HOUR, 660), scored(2 * HOUR, 820)]);
    assert_eq!(states(&outcomes[1]), ["committed"]);
    let flags = outcomes[2].transitions[0].flags;
    assert_eq!((flags.delta, flags.was_anomalous, flags.was_cumulative), (Some(160), false, true));
    assert_eq!(points(&history), (660, 660));

    let slowly = [scored(0, 500), scored(8 * 24 * HOUR, 660), scored(16 * 24 * HOUR, 820)];
    assert_eq!(points(&after(slowly).0), (820, 820), "500 was replaced more than seven days before");

    let only_flagged = ReviewRules { cumulative_holds: false, ..ReviewRules::default() };
    let (next, outcome) =
        after([scored(0, 500), scored(HOUR, 660)]).0.next(&only_flagged, scored(2 * HOUR, 820));
    assert!(outcome.transitions[0].flags.was_cumulative);
    assert_eq!(points(&next), (820, 820));
}

#[test]
fn a_reviewed_swing_does_not_hold_what_comes_after_it() {
    let events = [scored(0, 900), scored(1, 500), decided(2, "ann", ReviewVerdict::Approve), scored(3, 490)];
    let (history, outcomes) = after(events);
    assert_eq!(states(&outcomes[2]), ["approved", "committed"]);
    assert_eq!(states(&outcomes[3]), ["committed"]);
    assert_eq!(points(&history), (490, 490));
}

#[test]
fn without_a_decision_a_fall_is_committed_and_a_rise_expires() {
    let (fallen, outcomes) =
        after([scored(0, 800), scored(1, 300), Event::Passed { at_seconds: 2 + 72 * HOUR }]);
    assert_eq!(states(&outcomes[2]), ["committed"]);
    assert_eq!(outcomes[2].transitions[0].at_seconds, 1 + 72 * HOUR);
    assert_eq!(points(&fallen), (300, 300));

    let (risen, outcomes) =
        after([scored(0, 300), scored(1, 800), Event::Passed { at_seconds: 2 + 72 * HOUR }]);
    assert_eq!(states(&outcomes[2]), ["expired"]);
    assert_eq!(points(&risen), (300, 300));
    assert_eq!(risen.expired, Some(Expired { points: 800, runner: "lab".into() }));

    let (again, outcome) = risen.next(&ReviewRules::default(), scored(100 * HOUR, 810));
    assert_eq!(states(&outcome), ["expired"], "the same runner is no corroboration");
    let (corroborated, outcome) = again.next(&ReviewRules::default(), scored_by(101 * HOUR, 805, "other"));
    assert_eq!(states(&outcome), ["pending_review"]);
    let (approved, _) =
        corroborated.next(&ReviewRules::default(), decided(102 * HOUR, "ann", ReviewVerdict::Approve));
    assert_eq!(points(&approved), (805, 805));
}

#[test]
fn a_decision_can_be_given_up_to_the_deadline_itself() {
    let at =
        |seconds| after([scored(0, 300), scored(0, 800), decided(seconds, "ann", ReviewVerdict::Approve)]);
    assert_eq!(points(&at(72 * HOUR).0), (800, 800));
    let (late, outcomes) = at(72 * HOUR + 1);
    assert_eq!(points(&late), (300, 300));
    assert_eq!(outcomes[2].refusal, Some(Refusal::NothingHeld));
    assert_eq!(states(&outcomes[2]), ["expired"], "the deadline itself is not lost");
}

#[test]
fn fresh_scores_do_not_put_a_deadline_off() {
    let mut events = vec![scored(0, 800)];
    events.extend((1..75).map(|hour| scored(hour * HOUR, 300 + hour % 2)));
    let (history, outcomes) = after(events);
    assert_eq!(states(&outcomes[2]), ["superseded", "pending_review"]);
    assert_eq!(
        states(&outcomes[74]),
        ["committed", "committed"],
        "72 hours after the first fall, then the next score"
    );
    assert_eq!(outcomes[74].transitions[0].at_seconds, 73 * HOUR);
    assert_eq!(points(&history), (300, 300));
}

#[test]
fn a_later_swing_does_not_lift_what_gates_see() {
    let (history, _) = after([scored(0, 700), scored(1, 300), scored(2, 480)]);
    assert_eq!(points(&history), (700, 300));
    let (history, _) = after([scored(0, 700), scored(1, 300), scored(2, 950)]);
    assert_eq!(points(&history), (700, 300));
    let (history, outcomes) = after([scored(0, 700), scored(1, 300), scored(2, 690)]);
    assert_eq!(states(&outcomes[2]), ["superseded", "committed"]);
    assert_eq!(points(&history), (690, 690), "a score within the limit ends the review");
}

#[test]
fn a_rise_into_the_highest_tier_needs_two_reviewers() {
    let rise = [scored(0, 600), scored(1, 950), decided(2, "ann", ReviewVerdict::Approve)];
    let (one, outcomes) = after(rise.clone());
    assert_eq!((points(&one), states(&outcomes[2])), ((600, 600), vec![]));
    let (same, outcome) =
        one.clone().next(&ReviewRules::default(), decided(3, "ann", ReviewVerdict::Approve));
    assert_eq!(outcome.refusal, Some(Refusal::ApprovedBefore("ann".into())));
    assert_eq!(points(&same), (600, 600));
    let (two, outcome) = same.next(&ReviewRules::default(), decided(4, "bo", ReviewVerdict::Approve));
    assert_eq!(states(&outcome), ["approved", "committed"]);
    assert_eq!(outcome.transitions[0].decisions.len(), 2);
    assert_eq!(points(&two), (950, 950));
    let (refused, outcome) = one.next(&ReviewRules::default(), decided(4, "bo", ReviewVerdict::Reject));
    assert_eq!(states(&outcome), ["rejected"]);
    assert_eq!((points(&refused), refused.held), ((600, 600), None));
}

#[test]
fn what_cannot_be_taken_in_says_why_and_changes_nothing() {
    let (held, _) = after([scored(0, 600), scored(10, 300)]);
    let told = |event| {
        let (next, outcome) = held.clone().next(&ReviewRules::default(), event);
        assert_eq!(History { latest_seconds: held.latest_seconds, ..next }, held);
        outcome.refusal.unwrap().to_string()
    };
    assert_eq!(
        told(scored(9, 600)),
        "the event is of second 9, expected 10 or later; give events in order of time"
    );
    assert_eq!(
        told(decided(11, "operator", ReviewVerdict::Approve)),
        "`operator` operates the subject, expected a reviewer who does not"
    );
    assert_eq!(
        told(decided(11, " ", ReviewVerdict::Approve)),
        "the decision names no reviewer, expected one"
    );
    let Event::Decided(decision) = decided(11, "ann", ReviewVerdict::Approve) else { unreachable!() };
    let silent = Event::Decided(Decision { reason: " ".into(), ..decision });
    assert_eq!(told(silent), "the decision gives no reason, expected a code or a sentence");
}

fn any_event() -> impl Strategy<Value = (i64, u8, i64)> {
    (0i64..60 * HOUR, 0u8..10, prop_oneof![0i64..=1000, Just(500i64), 400i64..700])
}

proptest! {
    #[test]
    fn a_held_swing_never_raises_what_gates_see(steps in prop::collection::vec(any_event(), 1..60)) {
        let rules = ReviewRules::default();
        let mut history = History::new("operator".into());
        let mut now = 0;
        for (passed, kind, points) in steps {
            now += passed;
            (history, _) = history.next(&rules, Event::Passed { at_seconds: now });
            let before = history.clone();
            let event = match kind {
                0 => decided(now, "ann", ReviewVerdict::Approve),
                1 => decided(now, "bo", ReviewVerdict::Reject),
                runner => scored_by(now, points, &format!("{runner}")),
            };
            let is_score = matches!(event, Event::Scored(_));
            let outcome;
            (history, outcome) = history.next(&rules, event);
            prop_assert!(history.gating_points() <= history.canonical.as_ref().map(|canonical| canonical.points));
            let committed = outcome.transitions.iter().rfind(|line| line.state == ReviewState::Committed);
            let is_committed = committed.is_some();
            let expected = committed.map(|line| Canonical {
                points: line.candidate.points,
                basis: Basis::default(),
                since_seconds: line.at_seconds,
            });
            prop_assert_eq!(&history.canonical, &expected.or_else(|| before.canonical.clone()));
            if is_score && !is_committed {
                prop_assert!(history.gating_points() <= before.gating_points());
            }
            if let (true, true, Some(was)) = (is_score, is_committed, before.canonical) {
                let is = history.canonical.as_ref().unwrap().points;
                prop_assert!(was.points.abs_diff(is) <= 200, "committed without review: {} to {is}", was.points);
            }
        }
    }

    #[test]
    fn the_lists_of_the_past_know_its_extremes(steps in prop::collection::vec((0i64..100 * HOUR, 400i64..600), 1..60)) {
        let rules = ReviewRules { cumulative_points: 100, cumulative_holds: false, ..ReviewRules::default() };
        let mut history = History::new("operator".into());
        let mut committed: Vec<(i64, i64)> = Vec::new();
        let mut now = 0;
        for (passed, points) in steps {
            now += passed;
            let outcome;
            (history, outcome) = history.next(&rules, scored(now, points));
            let ends = committed.iter().map(|&(since, _)| since).skip(1).chain([i64::MAX]);
            let still = committed.iter().zip(ends).filter(|&(_, end)| end >= now - 7 * 24 * HOUR);
            let expected = still.clone().any(|((_, past), _)| past.abs_diff(points) > 100);
            prop_assert_eq!(outcome.transitions[0].flags.was_cumulative, expected);
            committed.push((now, points));
        }
    }
}
