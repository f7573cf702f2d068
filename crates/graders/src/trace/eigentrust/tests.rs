//! Votes that are easy to follow, votes that were made to deceive, and the laws of the walk.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn vote(validator: &str, target: &str, is_valid: bool) -> Vote {
    Vote { validator: validator.to_owned(), target: target.to_owned(), is_valid }
}

/// Reads votes: `a>b` is a valid one, `a/b` one that says invalid.
fn parse(text: &str) -> Vec<Vote> {
    let one = |word: &str| {
        let valid = word.split_once('>').map(|(validator, target)| vote(validator, target, true));
        let invalid = || word.split_once('/').map(|(validator, target)| vote(validator, target, false));
        valid.or_else(invalid).unwrap()
    };
    text.split_whitespace().map(one).collect()
}

fn trust(text: &str, options: &Options) -> EigenTrust {
    eigentrust(&parse(text), options).unwrap()
}

fn score(trust: &EigenTrust, agent: &str) -> f64 {
    trust.scores.iter().find(|score| score.agent == agent).unwrap().score
}

fn anchored(names: &[&str]) -> Options {
    Options { pre_trusted: names.iter().map(|&name| name.to_owned()).collect(), ..Options::default() }
}

#[test]
fn no_votes_give_no_scores() {
    let nothing = trust("", &Options::default());
    assert_eq!((nothing.scores.len(), nothing.iterations, nothing.is_converged), (0, 0, true));
    let unseen = trust("", &anchored(&["ann"]));
    assert_eq!(unseen.unseen_pre_trusted, ["ann"]);
}

#[test]
fn a_vote_on_oneself_makes_one_known_and_nothing_else() {
    let only = trust("a>a", &Options::published());
    assert_eq!((only.scores[0].score, only.iterations, only.self_votes), (1.0, 1, 1));
    let boasting = trust("a>b b>c c>a a>b b>c c>a a>a a>a a>a a>a", &Options::default());
    assert!((score(&boasting, "a") - 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn votes_cancel_before_they_are_cut_at_nothing() {
    // One for and two against is nothing; cut vote by vote it would be one.
    let cancelled = trust("x>y x>z x/z x/z y>x", &Options::default());
    let without = trust("x>y y>x z>z", &Options::default());
    assert_eq!(score(&cancelled, "z"), score(&without, "z"));
    assert_eq!(cancelled.trust_nobody, 1);
}

#[test]
fn scores_stand_in_the_order_of_first_appearance() {
    let names: Vec<String> =
        trust("d>b a>d c>a", &Options::default()).scores.into_iter().map(|s| s.agent).collect();
    assert_eq!(names, ["d", "b", "a", "c"]);
}

#[test]
fn no_iterations_give_the_beginning() {
    let options =
        Options { stop: Stop::Unchanged { epsilon: 0.001, iterations_max: 0 }, ..Options::default() };
    let start = trust("x>y y>z z>x x>z", &options);
    let scores: Vec<f64> = ["x", "y", "z"].map(|agent| score(&start, agent)).into();
    assert_eq!((scores, start.iterations, start.is_converged), (vec![0.25, 0.25, 0.5], 0, false));
}

#[test]
fn without_going_back_two_agents_change_places_for_ever() {
    let options = Options {
        alpha: 0.0,
        stop: Stop::Unchanged { epsilon: 0.001, iterations_max: 1000 },
        ..Options::default()
    };
    let swapping = trust("a>b a>b b>a", &options);
    assert_eq!((swapping.iterations, swapping.is_converged, swapping.distance_max), (1000, false, 2.0));
}

/// Returns invented identities that vote only for one another, beside three honest agents.
fn invented(count: usize) -> String {
    let mut votes = "h1>h2 h2>h3 h3>h1".to_owned();
    for from in 0..count {
        votes += &format!(" fake{from}>fake{}", (from + 1) % count).repeat(4);
    }
    votes
}

#[test]
fn trusting_everybody_rewards_invented_identities() {
    let share = |count| {
        let trust = trust(&invented(count), &Options::default());
        (0..count).map(|fake| score(&trust, &format!("fake{fake}"))).sum::<f64>()
    };
    for (count, expected) in [(2, 2.0 / 5.0), (7, 7.0 / 10.0), (97, 97.0 / 100.0)] {
        assert!((share(count) - expected).abs() < 1e-9, "{count}: {}", share(count));
    }
}

#[test]
fn trusting_somebody_beforehand_gives_invented_identities_nothing() {
    for count in [2, 7, 97] {
        let trust = trust(&invented(count), &anchored(&["h1"]));
        assert!((0..count).all(|fake| score(&trust, &format!("fake{fake}")) == 0.0), "{count}");
        // To vote for honest agents does not help them either, only to be voted for by them.
        let courting =
            eigentrust(&[parse(&invented(count)), parse("fake0>h1 fake1>h1")].concat(), &anchored(&["h1"]));
        assert_eq!(score(&courting.unwrap(), "fake0"), 0.0);
    }
    let fooled = eigentrust(&[parse(&invented(7)), parse("h2>fake0")].concat(), &anchored(&["h1"])).unwrap();
    assert!(score(&fooled, "fake0") > 0.0, "an honest vote is trusted, whomever it is for");
}

/// Two pairs that know nothing of each other: how much trust each gets at first decides for long.
#[test]
fn the_published_stop_shows_where_the_walk_began_and_the_settled_one_does_not() {
    let votes = parse("a>b b>a c>d d>c");
    let network = Network::new(&votes, &BTreeSet::new());
    let starts = [vec![0.5, 0.5, 0.0, 0.0], vec![0.0, 0.0, 0.0, 1.0]];
    let apart = |stop| {
        let [one, other] = starts.clone().map(|start| network.walk(start, 0.1, stop));
        assert!(one.is_converged && other.is_converged);
        one.trust.iter().zip(&other.trust).map(|(one, other)| (one - other).abs()).sum::<f64>()
    };
    let published = Stop::Unchanged { epsilon: 0.01, iterations_max: 50 };
    assert!(apart(published) > 0.05, "{}", apart(published));
    for tolerance in [1e-3, 1e-6, 1e-9, 1e-12] {
        assert!(apart(Stop::Settled { tolerance }) <= 2.0 * tolerance);
    }
}

#[test]
fn settling_ends_for_the_least_of_everything() {
    let options = Options {
        alpha: Stop::ALPHA_MIN,
        stop: Stop::Settled { tolerance: Stop::TOLERANCE_MIN },
        ..Options::default()
    };
    let settled = trust("a>b a>b a>c b>a c>d d>c", &options);
    assert!(settled.is_converged && (1000..2900).contains(&settled.iterations), "{}", settled.iterations);
    let at_once = trust("a>b b>c c>b", &Options { alpha: 1.0, ..Options::default() });
    assert_eq!((at_once.iterations, at_once.distance_max), (1, 0.0));
}

#[test]
fn options_out_of_their_range_are_refused_together() {
    let refused = |alpha, stop| {
        let options = Options { alpha, stop, ..Options::default() };
        eigentrust(&parse("a>b"), &options).unwrap_err().to_string()
    };
    assert_eq!(
        refused(0.0, Stop::Settled { tolerance: f64::NAN }),
        "$.alpha: found 0, expected a number from 0.01 to 1; without going back, trust depends on where one begins\n\
         $.tolerance: found NaN, expected a number from 0.000000000001 to 1"
    );
    assert_eq!(
        refused(1.5, Stop::Unchanged { epsilon: -1.0, iterations_max: 1 }),
        "$.alpha: found 1.5, expected a number from 0 to 1\n\
         $.epsilon: found -1, expected a number from 0 or more"
    );
    assert!(refused(f64::NAN, Stop::Unchanged { epsilon: 0.0, iterations_max: 1 }).starts_with("$.alpha"));
}

#[test]
fn pre_trusted_whom_nobody_knows_are_named() {
    let votes = parse("a>b");
    let some = eigentrust(&votes, &anchored(&["a", "A", "a"])).unwrap();
    assert_eq!(some.unseen_pre_trusted, ["A"]);
    assert_eq!(some.scores.iter().map(|score| score.is_pre_trusted).collect::<Vec<_>>(), [true, false]);
    assert_eq!(
        eigentrust(&votes, &anchored(&["A"])).unwrap_err().to_string(),
        "$.pre_trusted: found no agent that votes or is voted on, expected at least one such agent; name voters as the \
         votes do"
    );
}

#[test]
fn votes_in_evidence_are_checked_one_by_one() {
    let good =
        json!([{"validatorId": "a", "targetId": "b", "unitId": "u", "valid": false, "timestamp": "?"}]);
    assert_eq!(votes(&good, "$").unwrap(), [vote("a", "b", false)]);
    let bad = json!([{"validatorId": " ", "targetId": 3}, [], {"validatorId": "a", "targetId": "b", "valid": "no"}]);
    let wrong = votes(&bad, "$.votes").unwrap_err();
    assert_eq!(
        wrong.to_string().lines().next(),
        Some("$.votes[0].validatorId: found ` `, expected the id of an agent, a text that is not blank")
    );
    let paths: Vec<&str> = wrong.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(
        paths[1..],
        [
            "$.votes[0].targetId",
            "$.votes[0].valid",
            "$.votes[1].validatorId",
            "$.votes[1].targetId",
            "$.votes[1].valid",
            "$.votes[2].valid"
        ]
    );
    assert!(votes(&json!({}), "$.votes").is_err());
}

#[test]
fn the_detail_has_what_was_seen() {
    let options = Options { alpha: 1.0, ..anchored(&["a", "z"]) };
    assert_eq!(
        trust("a>b b>b", &options).detail(),
        json!({
            "scores": [
                {"agent": "a", "score": 1.0, "pre_trusted": true},
                {"agent": "b", "score": 0.0, "pre_trusted": false},
            ],
            "iterations": 1, "converged": true, "distance_max": 0.0, "self_votes": 1, "trust_nobody": 1,
            "unseen_pre_trusted": ["z"],
        })
    );
}

#[test]
fn many_votes_take_their_time_and_not_more() {
    // A star of 100,000: squares of this would not end.
    let star: Vec<Vote> = (0..100_000).map(|from| vote(&from.to_string(), "hub", true)).collect();
    let trust = eigentrust(&star, &Options { alpha: 0.5, ..Options::default() }).unwrap();
    assert!(trust.is_converged && score(&trust, "hub") > 0.3);
}

fn any_votes() -> impl Strategy<Value = Vec<Vote>> {
    vec((0_u8..7, 0_u8..7, any::<bool>()), 0..40).prop_map(|votes| {
        votes
            .into_iter()
            .map(|(from, to, is_valid)| vote(&from.to_string(), &to.to_string(), is_valid))
            .collect()
    })
}

proptest! {
    #[test]
    fn trust_is_a_distribution_that_an_iteration_leaves_where_it_is(
        votes in any_votes(),
        alpha in 0.01_f64..1.0,
        is_anchored in any::<bool>(),
    ) {
        let pre_trusted = votes.first().filter(|_| is_anchored).map(|vote| vote.target.clone());
        let options = Options { alpha, pre_trusted: pre_trusted.into_iter().collect(), ..Options::default() };
        let trust = eigentrust(&votes, &options).unwrap();
        prop_assert!(trust.is_converged && trust.distance_max < 1e-9);
        if !votes.is_empty() {
            prop_assert!(trust.scores.iter().all(|score| (0.0..=1.0).contains(&score.score)));
            let sum: f64 = trust.scores.iter().map(|score| score.score).sum();
            prop_assert!((sum - 1.0).abs() < 1e-12, "{}", sum);

            let further = Options { stop: Stop::Unchanged { epsilon: 0.0, iterations_max: trust.iterations + 1 }, ..options };
            let further = eigentrust(&votes, &further).unwrap();
            for (one, other) in trust.scores.iter().zip(&further.scores) {
                prop_assert!((one.score - other.score).abs() < 2e-9);
            }
        }
    }

    #[test]
    fn the_order_of_votes_changes_no_bit(votes in any_votes().prop_shuffle(), turn in 0_usize..40) {
        let mut turned = votes.clone();
        turned.rotate_left(turn.min(votes.len()));
        for options in [Options::default(), Options::published()] {
            let [one, other] = [&votes, &turned].map(|votes| {
                let mut scores = eigentrust(votes, &options).unwrap().scores;
                scores.sort_by(|a, b| a.agent.cmp(&b.agent));
                scores.into_iter().map(|score| (score.agent, score.score.to_bits())).collect::<Vec<_>>()
            });
            prop_assert_eq!(one, other);
        }
    }
}
