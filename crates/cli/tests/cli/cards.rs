//! The cards that ship: the checker has nothing to say about them that they do not answer themselves.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{karat, root};

/// Every card in `folder` and the folders below it.
fn cards(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(cards(&path));
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn the_checker_warns_of_nothing_that_a_shipped_card_leaves_unanswered() {
    for (folder, least) in [("scorecards", 8), ("examples/cards", 2)] {
        let cards = cards(&root().join(folder));
        assert!(cards.len() >= least, "{folder}: only {cards:?}");
        for card in cards {
            let run = karat(&["card", "check", &card.display().to_string()]);
            let silent = run.stdout.contains("usable, 0 errors, 0 warnings");
            assert!(run.status == 0 && silent, "{}\n{}{}", card.display(), run.stderr, run.stdout);
        }
    }
}
