//! The cards of the examples; those that are released have a guard of their own in the core.

use std::fs;

use crate::common::{karat, root};

#[test]
fn the_checker_warns_of_nothing_that_an_example_card_leaves_unanswered() {
    let cards: Vec<_> =
        fs::read_dir(root().join("examples/cards")).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(cards.len() >= 2, "only {cards:?}");
    for card in cards {
        let run = karat(&["card", "check", &card.display().to_string()]);
        let silent = run.stdout.contains("usable, 0 errors, 0 warnings");
        assert!(run.status == 0 && silent, "{}\n{}{}", card.display(), run.stderr, run.stdout);
    }
}
