//! A standing is a fold over the log: a later answer has what an earlier one said, and time alone only takes.

use super::*;

/// Sections under which something has happened for good, or only age works.
const SECTIONS: [&str; 6] = [
    "score = \"latest\"\nreview = { swing_points = 100, deadline_hours = 72 }",
    "score = \"latest\"\ndecay = { grace_days = 0, points_per_period = 30 }\nreview = { swing_points = 100, deadline_hours = 72 }",
    "score = \"window\"\nwindow = { days = 6 }\nreview = { swing_points = 100, approvals = 2, deadline_hours = 24 }",
    "score = \"window\"\nwindow = { tasks = 2 }\nreview = { swing_points = 60 }\nlate = { after_days = 1, treatment = \"as-arrived\" }",
    "score = \"latest\"\ndecay = { grace_days = 1, points_per_period = 60 }\nreview = { swing_points = 150 }\nconfidence = { items = 3 }\n\
     certification = { confirm_hours = 24, promotion_days = 2, at_risk_days = 3, silence_days = 5 }\nbatch_evaluations = 1\n\
     tier = [{ name = \"low\", score = 300 }, { name = \"high\", score = 500, evaluations = 2, newest_batch_days = 6 }]\n\
     gate = { dimension = \"security\", step = [{ below = 0.3, cap = 399, tier = \"low\" }], incident = { gate = \"incident\", cap = 299 } }",
    "score = \"latest\"\ndecay = { grace_days = 0, points_per_period = 50 }\ncertification = { confirm_hours = 12, at_risk_days = 2 }\n\
     tier = [{ name = \"low\", score = 300 }, { name = \"high\", score = 600 }]",
];

/// An entry of the log: an evaluation of one of the subjects that arrives so late, or something else.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    Evaluated {
        of_other: bool,
        thousandths: [i64; 2],
        late_seconds: i64,
        is_open: bool,
    },
    /// On the score that waits, or on one that waited before.
    Decided {
        reviewer: u8,
        is_approval: bool,
        names_now: bool,
    },
    Changed(u8),
    Weighed(i64),
}

pub(super) fn entries() -> impl Strategy<Value = Vec<(i64, Entry)>> {
    let evaluated = (
        prop::bool::weighted(0.2),
        any::<[u8; 2]>(),
        prop::option::weighted(0.2, 0i64..3 * DAY),
        prop::bool::weighted(0.1),
    );
    let evaluated = evaluated.prop_map(|(of_other, readings, late, is_open)| Entry::Evaluated {
        of_other,
        thousandths: readings.map(|reading| i64::from(reading % 11) * 100),
        late_seconds: late.unwrap_or(0),
        is_open,
    });
    let entry = prop_oneof![
        5 => evaluated,
        4 => (0u8..3, any::<bool>(), prop::bool::weighted(0.8))
            .prop_map(|(reviewer, is_approval, names_now)| Entry::Decided { reviewer, is_approval, names_now }),
        1 => (0u8..4).prop_map(Entry::Changed),
        1 => (1i64..10).prop_map(Entry::Weighed),
    ];
    // Some of one second, some seconds apart, some days.
    let gap = prop_oneof![1 => Just(0i64), 2 => 1i64..4, 4 => 3600i64..2 * DAY];
    prop::collection::vec((gap, entry), 1..14)
}

/// The log as it grows: items, events, and the moment that it has come to.
#[derive(Debug, Default, Clone)]
pub(super) struct Log {
    pub(super) items: Vec<Item<'static>>,
    pub(super) events: Vec<Event>,
    pub(super) now: i64,
    /// Digests of scores that waited.
    pub(super) digests: Vec<Digest>,
}

fn leak(text: String) -> &'static str {
    String::leak(text)
}

impl Log {
    /// Returns the standing of the first subject at a moment.
    pub(super) fn at(&self, card: &Scorecard, as_of: i64) -> SubjectStanding {
        let found = stand(card, &self.items, &self.events, as_of).unwrap().subjects;
        found.into_iter().find(|it| it.subject == "a").unwrap()
    }

    pub(super) fn add(&mut self, card: &Scorecard, number: usize, entry: Entry) {
        let at_seconds = self.now;
        match entry {
            Entry::Evaluated { of_other, thousandths, late_seconds, is_open } => {
                let subject = if of_other { "b" } else { "a" };
                let readings = thousandths.map(|it| Reading::fresh(it * 1_000_000)).to_vec();
                let score = Some(Score::from_billionths(thousandths.iter().sum::<i64>() * 500_000));
                let id = leak(format!("{number:02}"));
                let gates = if is_open { vec!["incident"] } else { Vec::new() };
                let arrived_seconds = Some(at_seconds);
                let given = item(subject, id, at_seconds - late_seconds, 0);
                self.items.push(Item {
                    readings,
                    score,
                    gates,
                    arrived_seconds,
                    runner: Some("lab"),
                    ..given
                });
            }
            Entry::Decided { reviewer, is_approval, names_now } => {
                let seen = if names_now { self.digests.last() } else { self.digests.first() };
                let Some(seen) = seen.copied() else { return };
                let verdict = if is_approval { ReviewVerdict::Approve } else { ReviewVerdict::Reject };
                let (reviewer, reason) = (format!("r{reviewer}"), "seen".into());
                let decision = Decision {
                    at_seconds,
                    reviewer,
                    verdict,
                    reason,
                    seen: Seen::Score(seen),
                    evidence: Vec::new(),
                };
                let proposed = Self {
                    events: [self.events.clone(), vec![happens("a", Happening::Decided(decision))]].concat(),
                    ..self.clone()
                };
                // As a server does: what changes nothing, or is about a score of this very second, is not stored.
                let review = proposed.at(card, at_seconds).review.unwrap();
                let is_young = review
                    .transitions
                    .iter()
                    .any(|line| line.candidate.digest() == seen && line.candidate.at_seconds == at_seconds);
                let again = self.events.iter().any(|event| event.at_seconds() == Some(at_seconds));
                if review.refusals.is_empty() && !is_young && !again {
                    self.events = proposed.events;
                }
            }
            Entry::Changed(kind) => {
                let change = match kind {
                    0 => Change::IncidentOpened("i".into()),
                    1 => Change::IncidentClosed("i".into()),
                    2 => Change::Held,
                    _ => Change::Released,
                };
                self.events.push(changed(at_seconds, change));
            }
            Entry::Weighed(tenths) => {
                let weights = [("accuracy", tenths), ("security", 10 - tenths)];
                let weights = weights.map(|(key, it)| {
                    (key.into(), karat_core::number::Decimal::from_millionths(it * 100_000))
                });
                let id = format!("w{number}");
                self.events.push(Event::Weights(OverrideEvent::Proposed(Proposal {
                    id: id.clone(),
                    at_seconds,
                    proposer: "loop".into(),
                    reason: "better".into(),
                    weights: weights.into(),
                })));
                let (decider, reason) = ("ann".into(), "seen".into());
                self.events.push(Event::Weights(OverrideEvent::Accepted(OverrideDecision {
                    id,
                    at_seconds,
                    decider,
                    reason,
                })));
            }
        }
        if let Some(held) = self.at(card, self.now).review.and_then(|review| review.history.held) {
            self.digests.push(held.candidate.digest());
        }
    }
}

/// Returns the rows of the history: of scores, of what became of them, of tiers.
fn rows(it: &SubjectStanding) -> [Vec<String>; 3] {
    let lines = it.review.iter().flat_map(|review| &review.transitions);
    let tiers = it.tier.iter().flat_map(|tier| &tier.changes);
    [
        it.history.iter().map(|row| format!("{row:?}")).collect(),
        lines.map(|row| format!("{row:?}")).collect(),
        tiers.map(|row| format!("{row:?}")).collect(),
    ]
}

/// Checks what two answers with nothing between them have to do with each other.
fn later(early: &SubjectStanding, late: &SubjectStanding, has_ages: bool) -> Result<(), TestCaseError> {
    for (early, late) in rows(early).iter().zip(rows(late)) {
        prop_assert!(late.starts_with(early), "{late:#?} does not begin with {early:#?}");
    }
    let held = |it: &SubjectStanding| it.review.as_ref().and_then(|review| review.history.held.clone());
    if let (Some(first), Some(second)) = (held(early), held(late)) {
        prop_assert_eq!(first, second, "what waits stays as it is, with its deadline");
    }
    let refused = |it: &SubjectStanding| it.review.as_ref().map(|review| review.refusals.len());
    prop_assert_eq!(refused(early), refused(late), "a decision is answered once");
    // Nothing but a deadline gives another score, and it is a fall.
    prop_assert!(late.points <= early.points, "{:?} after {:?}", late.points, early.points);
    if !has_ages && held(early) == held(late) {
        prop_assert_eq!(late.points, early.points);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_later_answer_has_what_an_earlier_one_said(
        drawn in entries(),
        section in 0..SECTIONS.len(),
        gaps in prop::collection::vec(prop_oneof![Just(1i64), 1i64..4, 1i64..DAY, DAY..9 * DAY], 1..8),
    ) {
        let card = card(SECTIONS[section]);
        let has_ages = SECTIONS[section].contains("decay") || SECTIONS[section].contains("days = 6");
        let mut log = Log { now: 100 * DAY, ..Log::default() };
        log.items.push(Item { runner: Some("lab"), ..item("a", "first", log.now, 500) });
        log.items.push(item("b", "first", log.now, 500));
        for (number, (gap, entry)) in drawn.into_iter().enumerate() {
            // Up to the next entry, answers at any moments agree.
            let until = log.now + gap;
            let mut before = log.at(&card, log.now);
            for step in [1, 2, gap / 2, gap - 1] {
                let moment = log.now + step;
                if moment < until && moment > log.now {
                    let after = log.at(&card, moment);
                    later(&before, &after, has_ages)?;
                    before = if step <= 2 { after } else { before };
                }
            }
            log.now = until;
            let before = log.at(&card, (log.now - 1).max(100 * DAY));
            let is_later = log.now > 100 * DAY;
            log.add(&card, number, entry);
            let after = log.at(&card, log.now);
            for (early, late) in rows(&before).iter().zip(rows(&after)).filter(|_| is_later) {
                prop_assert!(late.starts_with(early), "an entry changes what was: {late:#?} from {early:#?}");
            }
            prop_assert!(after.review.iter().all(|review| review.refusals.is_empty()), "what was answered stands");
        }
        let mut before = log.at(&card, log.now);
        let [kept] = keep(&card, &log.items, &log.events, log.now).unwrap().into_iter().filter(|it| it.subject() == "a").collect::<Vec<_>>().try_into().unwrap();
        let mut moment = log.now;
        for gap in gaps {
            moment += gap;
            let after = log.at(&card, moment);
            later(&before, &after, has_ages)?;
            if let Some(kept) = kept.at(&card, moment) {
                prop_assert_eq!((kept.points, kept.gating_points, &kept.facts), (after.points, after.gating_points, &after.facts));
            }
            before = after;
        }
    }
}

/// A fall or a rise that is rejected stays so, whatever else happens that measures nothing.
#[test]
fn a_rejection_stands_until_something_new_is_measured() {
    let card = card("score = \"latest\"\nreview = { swing_points = 200, deadline_hours = 72 }");
    for (first, second, third) in [(900, 600, 580), (500, 800, 790)] {
        let items = [item("a", "1", 0, first), item("a", "2", DAY, second)];
        let decisions = [
            decided(2 * DAY, "ann", ReviewVerdict::Reject),
            decided(2 * DAY + 9, "bo", ReviewVerdict::Approve),
        ];
        let change = |at, change| changed(3 * DAY + at, change);
        let others = [
            change(0, Change::IncidentOpened("i".into())),
            change(1, Change::IncidentClosed("i".into())),
            change(2, Change::Held),
            change(3, Change::Released),
        ];
        let mut events = decisions.to_vec();
        events.extend(others);
        for moment in [2 * DAY, 2 * DAY + 1, 2 * DAY + 9, 2 * DAY + 10, 3 * DAY + 2, 4 * DAY, 30 * DAY] {
            let found = only(&card, &items, &events, moment);
            let review = found.review.unwrap();
            assert_eq!((found.points, found.gating_points), (Some(first), Some(first)), "at {moment}");
            assert!(!review.history.is_under_review());
            let states: Vec<_> = review.transitions.iter().map(|line| line.state).take(3).collect();
            assert_eq!(states, [ReviewState::Committed, ReviewState::PendingReview, ReviewState::Rejected]);
            assert_eq!(review.refusals.len(), usize::from(moment >= 2 * DAY + 9), "nothing waits any more");
        }
        let again = [items[0].clone(), items[1].clone(), item("a", "3", 5 * DAY, third)];
        assert!(only(&card, &again, &events, 5 * DAY).review.unwrap().history.is_under_review());
    }
}

/// After a rejection the evidence of the score that stayed decays.
#[test]
fn the_official_score_ages_by_its_own_evidence() {
    let card = card(
        "score = \"latest\"\ndecay = { grace_days = 0, period_days = 7, points_per_period = 10 }\nreview = { swing_points = 200 }",
    );
    let items = [item("a", "1", 0, 900), item("a", "2", WEEK, 400)];
    let rejected = [decided(WEEK + 5, "ann", ReviewVerdict::Reject)];
    for week in 2..20 {
        let found = only(&card, &items, &rejected, week * WEEK);
        assert_eq!(found.points, Some(900 - 10 * week), "week {week}");
        assert_eq!(found.review.unwrap().history.canonical.unwrap().points, 900 - 10 * week);
    }
    // A new score is compared with what is left, not with what was accepted.
    let more = [items[0].clone(), items[1].clone(), item("a", "3", 10 * WEEK, 900)];
    let line = only(&card, &more, &rejected, 10 * WEEK).review.unwrap().transitions.pop().unwrap();
    assert_eq!((line.state, line.flags.delta), (ReviewState::Committed, Some(100)));
}

/// A decision is on the score that the reviewer saw, also where another comes in its second.
#[test]
fn a_decision_is_on_the_score_that_was_seen() {
    let card = card("score = \"latest\"\nreview = { swing_points = 200 }");
    let items = [item("a", "1", 0, 500), item("a", "2", DAY, 800), item("a", "3", 2 * DAY, 900)];
    let held = |items: &[Item<'_>], at| {
        only(&card, items, &[], at).review.unwrap().history.held.unwrap().candidate.digest()
    };
    let (first, second) = (held(&items, DAY), held(&items, 2 * DAY));
    assert_ne!(first, second);
    // The same points out of other evidence are another score.
    let other = [items[0].clone(), Item { digest: Digest::of(b"other"), ..items[1].clone() }];
    assert_ne!(held(&other, DAY), first);
    let approve = |at_seconds, seen| {
        let Event::Subject { subject, happening: Happening::Decided(decision) } =
            decided(at_seconds, "ann", ReviewVerdict::Approve)
        else {
            unreachable!()
        };
        Event::Subject {
            subject,
            happening: Happening::Decided(Decision { seen: Seen::Score(seen), ..decision }),
        }
    };
    let after = |event: Event| {
        let found = only(&card, &items, &[event], 3 * DAY);
        (
            found.points.unwrap(),
            found.review.unwrap().refusals.into_iter().map(|(_, why)| why.to_string()).collect::<Vec<_>>(),
        )
    };
    assert_eq!(after(approve(DAY + 5, first)), (900, vec![]));
    assert_eq!(after(approve(2 * DAY, first)), (900, vec![]), "before what comes in its second");
    assert_eq!(after(approve(2 * DAY, second)), (900, vec![]), "and after it");
    let (points, refusals) = after(approve(2 * DAY + 5, first));
    assert_eq!(points, 500);
    assert!(
        refusals[0].starts_with("another score waits than was seen, expected a decision on `sha256:"),
        "{refusals:?}"
    );
}

/// A tier changes at the second from which it must, not at that of a question.
#[test]
fn a_tier_changes_at_its_own_moment() {
    let card = card(SECTIONS[5]);
    let items = [item("a", "1", 0, 640)];
    let found = only(&card, &items, &[], 60 * WEEK).tier.unwrap();
    let promoted = found.changes.iter().map(|(at, change)| (*at, change.to)).take(2).collect::<Vec<_>>();
    assert_eq!(promoted[0], (DAY / 2, 1));
    // 640 points lose 50 a week and are published half up: below 300 once 340.5 are lost, and two days more.
    assert_eq!(promoted[1], (681 * WEEK / 100 + 1 + 2 * DAY, 0));
    for week in 1..60 {
        let early = only(&card, &items, &[], week * WEEK).tier.unwrap();
        assert!(found.changes.starts_with(&early.changes), "week {week}");
    }
}
