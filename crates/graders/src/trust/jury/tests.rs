//! Panels as evidence has them: ties, quorum, kin, outcomes, what is refused.

use proptest::prelude::*;

use super::*;

fn verdict(judge: &str, provider: &str, score: f64) -> Verdict {
    Verdict {
        judge: judge.to_owned(),
        provider: Some(provider.to_owned()),
        model: None,
        score: Some(score),
        max_score: SCALE_POINTS,
        status: VerdictStatus::Valid,
    }
}

/// Returns a panel of judges `a`, `b`, ... of two providers in turn.
fn of(scores: &[f64]) -> Panel {
    let judges = "abcdefghijklmnopqrstuvwxyz".chars();
    let verdicts: Vec<Verdict> = judges
        .zip(scores)
        .enumerate()
        .map(|(at, (judge, &score))| verdict(&judge.to_string(), ["north", "south"][at % 2], score))
        .collect();
    panel(&verdicts, None, &JuryRules::default()).unwrap()
}

fn judges(panel: &Panel, place: SeatPlace) -> Vec<&str> {
    panel.seats.iter().filter(|seat| seat.place == place).map(|seat| seat.judges[0].as_str()).collect()
}

#[test]
fn ties_at_the_boundary_are_ordered_by_judge() {
    let tied = of(&[70.0, 70.0, 70.0, 70.0, 70.0]);
    assert_eq!(judges(&tied, SeatPlace::TrimmedLow), ["a"]);
    assert_eq!(judges(&tied, SeatPlace::Kept), ["b", "c", "d"]);
    assert_eq!(judges(&tied, SeatPlace::TrimmedHigh), ["e"]);
}

#[test]
fn a_unanimous_rejection_does_not_pass() {
    let rejected = of(&[5.0, 6.0, 7.0]);
    assert!(rejected.is_consensual);
    assert_eq!(rejected.outcome, Some(Outcome::Fail));
    assert_eq!(rejected.weight(), 1.0);
}

#[test]
fn outcomes() {
    assert_eq!(of(&[60.0, 60.0, 60.0]).outcome, Some(Outcome::Pass));
    assert_eq!(of(&[59.9, 59.9, 59.9]).outcome, Some(Outcome::Fail));
    let split = of(&[0.0, 0.0, 88.0, 90.0]);
    assert_eq!((split.outcome, split.weight()), (Some(Outcome::Split), 0.5));
    // The median passes and half the kept seats agree with it, but two of five reject.
    let against = of(&[30.0, 39.9, 60.0, 61.0, 62.0]);
    assert_eq!(against.summary.unwrap().agreement, 2.0 / 3.0);
    assert_eq!((against.outcome, against.is_consensual), (Some(Outcome::Split), false));
    assert_eq!(of(&[39.9, 60.0, 60.0]).outcome, Some(Outcome::Pass), "a third is not more than a third");
}

#[test]
fn a_card_says_whether_models_have_one_seat() {
    let of_models = |seats: &str| {
        let rules = JuryRules::from_json(&json!({"jury": {"seats": seats}})).unwrap();
        let scores = [80.0, 82.0, 84.0, 86.0, 0.0].into_iter().enumerate();
        let verdicts: Vec<Verdict> = scores
            .map(|(at, score)| Verdict {
                model: Some(["m", "n"][at / 4].to_owned()),
                ..verdict(&format!("j{at}"), ["north", "south"][at / 4], score)
            })
            .collect();
        let panel = panel(&verdicts, None, &rules).unwrap();
        (panel.seats.len(), panel.summary.unwrap().median, panel.weight())
    };
    assert_eq!(of_models("verdict"), (5, 82.0, 1.0), "the scores are trimmed: 0 and 86 go");
    assert_eq!(of_models("model"), (2, 41.5, 0.0), "83 and 0, two seats make no quorum");
    assert_eq!(JuryRules::from_json(&json!({})).unwrap(), JuryRules::default());
    let wrong = json!({"jury": {"seats": "judge", "quorum": 2}, "limits": {}});
    let wrong = JuryRules::from_json(&wrong).unwrap_err().to_string();
    assert_eq!(
        wrong.lines().collect::<Vec<_>>(),
        [
            "$.jury.quorum: found a setting that juries do not have, expected `seats`",
            "$.jury.seats: found \"judge\", expected \"verdict\" or \"model\"",
            "$.limits: found a table, expected `jury`, the table of agents",
        ]
    );
}

#[test]
fn a_small_panel_has_a_median_and_no_weight() {
    let two = of(&[60.0, 90.0]);
    assert_eq!(two.summary.unwrap().median, 75.0);
    assert!(two.is_low_panel());
    assert_eq!((two.quorum_lacks.as_slice(), two.weight()), (&["2 of 3 valid verdicts".to_owned()][..], 0.0));
    let none = of(&[]);
    assert_eq!((none.score(), none.outcome, none.weight()), (None, None, 0.0));
}

#[test]
fn kin_and_clones_do_not_make_a_quorum() {
    let rules = JuryRules::default();
    let mut verdicts =
        vec![verdict("a", "north", 80.0), verdict("b", "north", 81.0), verdict("c", "south", 82.0)];
    assert!(panel(&verdicts, Some("south"), &rules).unwrap().quorum_lacks.is_empty());
    let kin = panel(&verdicts, Some("north"), &rules).unwrap();
    assert_eq!(kin.quorum_lacks, ["2 of 3 seats are of the judged model's provider, at most a third may be"]);
    // Five judges that are one model of one provider have one seat, if the card says so.
    let rules = JuryRules { one_seat_per_model: true, ..rules };
    verdicts = ["a", "b", "c", "d", "e"].map(|judge| verdict(judge, "north", 100.0)).to_vec();
    verdicts.iter_mut().for_each(|clone| clone.model = Some("m".to_owned()));
    verdicts[0].score = Some(10.0);
    verdicts.extend([verdict("x", "south", 20.0), verdict("y", "south", 22.0)]);
    let cloned = panel(&verdicts, None, &rules).unwrap();
    assert_eq!((cloned.seats.len(), cloned.summary.unwrap().median), (3, 22.0));
    assert_eq!(cloned.seats[2].judges, ["a", "b", "c", "d", "e"]);
    // Unknown providers help no quorum.
    verdicts.iter_mut().for_each(|unknown| unknown.provider = None);
    assert_eq!(panel(&verdicts, None, &rules).unwrap().quorum_lacks, ["0 of 2 known providers"]);
}

#[test]
fn judges_without_points_leave_the_panel() {
    let silent = Verdict { score: None, status: VerdictStatus::TimedOut, ..verdict("z", "west", 0.0) };
    let mut verdicts =
        vec![silent, verdict("a", "north", 8.0), verdict("b", "south", 9.0), verdict("c", "east", 7.0)];
    verdicts[1..].iter_mut().for_each(|it| it.max_score = 10.0);
    let panel = panel(&verdicts, None, &JuryRules::default()).unwrap();
    assert_eq!(panel.excluded, [("z".to_owned(), VerdictStatus::TimedOut)]);
    assert_eq!(panel.summary.unwrap().median, 80.0, "scales are made one");
    assert_eq!(panel.detail()["excluded"][0]["status"], "timed-out");
}

#[test]
fn everything_that_is_wrong_is_told() {
    let verdicts = [
        verdict("a", "north", 101.0),
        verdict("a", "north", 5.0),
        Verdict { max_score: 0.0, ..verdict("b", "north", 0.0) },
        Verdict { score: None, ..verdict("c", "north", 0.0) },
        Verdict { status: VerdictStatus::Abstained, ..verdict(" ", "north", 3.0) },
    ];
    let problems = panel(&verdicts, None, &JuryRules::default()).unwrap_err().to_string();
    assert_eq!(
        problems.lines().collect::<Vec<_>>(),
        [
            "$[0].score: found `101`, expected a number from 0 to 100",
            "$[1].judge: found `a` once more, expected every judge once in a panel",
            "$[2].max_score: found `0`, expected a number above 0",
            "$[3].score: found nothing, expected the points of a valid verdict; give its points, or say in `status` why \
             it has no points",
            "$[4].judge: found a text without letters, expected a name",
            "$[4].score: found `3`, expected no points from a verdict that is abstained",
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_rows_changes_nothing(
        (scores, shuffled) in prop::collection::vec(0u8..=100, 1..25).prop_flat_map(|scores| {
            let rows: Vec<Verdict> = scores.iter().enumerate().map(|(at, &score)| Verdict {
                model: (at % 3 == 0).then(|| format!("m{}", at % 2)),
                ..verdict(&format!("j{at}"), ["north", "south", "east"][at % 3], f64::from(score))
            }).collect();
            (Just(rows.clone()), Just(rows).prop_shuffle())
        }),
    ) {
        for one_seat_per_model in [false, true] {
            let rules = JuryRules { one_seat_per_model, ..JuryRules::default() };
            prop_assert_eq!(panel(&scores, None, &rules).unwrap(), panel(&shuffled, None, &rules).unwrap());
        }
        // "The top and bottom 20 % of jury scores": of the scores, also of one model.
        let panel = panel(&scores, None, &JuryRules::default()).unwrap();
        let mut sorted: Vec<f64> = scores.iter().filter_map(|verdict| verdict.score).collect();
        sorted.sort_by(f64::total_cmp);
        let trim = sorted.len() / 5;
        let kept = &sorted[trim..sorted.len() - trim];
        prop_assert_eq!(panel.points(SeatPlace::Kept).collect::<Vec<_>>(), kept);
        prop_assert_eq!(panel.summary.unwrap().median, crate::trust::estimators::median(kept).unwrap());
    }
}
