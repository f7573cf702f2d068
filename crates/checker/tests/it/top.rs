//! The highest score that the checker says: the engine reaches it, and never more.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use crate::common::random::{CardText, card_text, choices, facts};
use crate::common::{card_of, cards, item};
use karat_checker::check;
use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::facts::Fact;
use karat_core::mean::Mean;
use karat_core::scorecard::Scorecard;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const POLICIES: [&str; 4] = ["\"withhold\"", "\"zero\"", "\"exclude\"", "{ default = 0.3 }"];
/// Lines of the second dimension.
const CONDITIONS: [&str; 4] =
    ["", "applies = \"yes\"\n", "applies = \"not is_missing(p)\"\n", "when = \"yes\"\n"];
/// Rules and gates.
const VERDICTS: [&str; 6] = [
    "",
    "[[rule]]\nname = \"bonus\"\nwhen = \"yes\"\nset = \"min(1, score + 0.05)\"\n",
    "[[rule]]\nname = \"half\"\nwhen = \"q > 0.5\"\nset = \"score * 0.5\"\n",
    "[[gate]]\nname = \"some\"\nwhen = \"yes\"\ncap = 30\n",
    "[[gate]]\nname = \"all\"\nwhen = \"q >= 0\"\ncap = 40\n",
    "[[rule]]\nname = \"least\"\nwhen = \"coverage < 2\"\nset = \"max(score, 0.95)\"\n",
];

fn card(mean: Mean, policy: &str, condition: &str, verdict: &str) -> Scorecard {
    let text = format!(
        "schema = \"karat/scorecard/1\"\nid = \"t\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\nscale = {{ max = 100 }}\n\
         mean = \"{}\"\n[facts]\nq = {{ min = 0, max = 1 }}\np = {{ min = 0, max = 1 }}\nyes = {{ type = \"boolean\" }}\n\
         [[dimension]]\nkey = \"a\"\nweight = 0.6\nformula = \"q * 0.9\"\nmissing = {policy}\n\
         [[dimension]]\nkey = \"b\"\nweight = 0.4\nformula = \"p * 0.8\"\nmissing = {policy}\n{condition}{verdict}",
        mean.name()
    );
    card_of(&text, &cards()).unwrap()
}

fn score(scorer: &Scorer, work: &mut Workspace, facts: &[Fact<'_>]) -> Option<f64> {
    let record = scorer.score(work, &item(facts), &Context { as_of: None }).unwrap();
    record.score.map(|score| score.units() as f64 / 1e15)
}

/// Returns the highest score of the engine over a grid of facts, some of them missing.
fn highest(card: &Scorecard) -> f64 {
    let scorer = Scorer::new(card.clone()).unwrap();
    let mut work = Workspace::new(&scorer);
    let numbers = [0.0, 0.25, 0.5, 0.75, 1.0].map(Fact::Number);
    let numbers = || numbers.into_iter().chain([Fact::Missing]);
    let flags = [Fact::Flag(false), Fact::Flag(true), Fact::Missing];
    let rows = numbers().flat_map(|q| numbers().flat_map(move |p| flags.map(|yes| [q, p, yes])));
    rows.filter_map(|row| score(&scorer, &mut work, &row)).fold(0.0, f64::max)
}

#[test]
fn the_top_of_every_mean_is_reached_and_never_exceeded() {
    let mut wrong = Vec::new();
    for (mean, policy) in Mean::ALL.into_iter().flat_map(|mean| POLICIES.map(|policy| (mean, policy))) {
        for (condition, verdict) in CONDITIONS.iter().flat_map(|it| VERDICTS.map(|verdict| (it, verdict))) {
            let card = card(mean, policy, condition, verdict);
            let (top, highest) = (check(&card).1.top, highest(&card));
            let is_near = (top.at_most - highest).abs() < 1e-4;
            if top.at_most < highest - 1e-9 || top.reached > highest + 1e-9 || !is_near {
                wrong.push(format!("{mean:?} {policy} {condition}{verdict}: {top:?}, the engine {highest}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(30), cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_score_is_above_the_top(text in card_text(), rows in proptest::collection::vec(choices(), 24)) {
        let text: CardText = text;
        let card = card_of(&text.text(1), &cards()).unwrap();
        let top = check(&card).1.top;
        let scorer = Scorer::new(card.clone()).unwrap();
        let mut work = Workspace::new(&scorer);
        for (at, row) in rows.iter().enumerate() {
            let facts = facts(&card, row, at % 2 == 0);
            let found = score(&scorer, &mut work, &facts).unwrap_or_default();
            prop_assert!(found <= top.at_most + 1e-8, "{found} is above {top:?} with {facts:?}\n{}", text.text(1));
        }
    }
}
