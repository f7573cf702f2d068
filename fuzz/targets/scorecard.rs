//! Any text is a scorecard or is refused with findings whose places lie inside the text; a card that is not refused scores
//! whatever facts its evidence has. The same text is a file of hidden cases, or refused as one.

use karat_checker::check_text;
use karat_core::diagnostic::Severity;
use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::facts::{Digest, Fact, Item, ItemContext};
use karat_core::scorecard::FactType;
use karat_graders::arena::{CaseFile, Evaluator};
use serde_json::Value;

/// The family of the challenges among the seeds.
const ARENA: &str = include_str!("../../scorecards/arena/1.0.0.toml");

/// Panics if an input breaks the promise.
pub fn check(bytes: &[u8]) {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    if let Ok(file) = CaseFile::parse(text) {
        assert!(!file.cases().is_empty(), "a file without cases");
        for case in file.cases() {
            let value = case.compare.value(&case.expect, &case.expect, usize::MAX);
            assert!(
                value.is_ok_and(|value| value.is_some_and(|value| (0.0..=1.0).contains(&value))),
                "{case:?}"
            );
            assert!(case.compare.value(&Value::Null, &case.expect, 0).is_ok(), "{case:?}");
        }
    }
    let _ = Evaluator::from_toml_with(text, &["correctness", "speed"], &|_| Ok(bytes.to_vec()));
    let checked = check_text(text, &|name| (name == "arena@1.0.0").then(|| ARENA.to_owned()));
    for finding in &checked.diagnostics {
        assert!(text.get(finding.span.clone()).is_some(), "{finding:?} points outside of the text");
    }
    let refused = checked.diagnostics.iter().any(|finding| finding.severity == Severity::Error);
    assert_eq!(checked.card.is_none(), refused, "refused without an error, or used in spite of one");
    let Some(scorer) = checked.card.and_then(|card| Scorer::new(card).ok()) else { return };
    for number in [0.0, 0.5, 1.0, 86_400.0, f64::MAX, f64::MIN_POSITIVE, -1.0] {
        let facts: Vec<Fact<'_>> = scorer
            .card()
            .facts
            .iter()
            .map(|fact| match fact.kind {
                FactType::Number => Fact::Number(number),
                FactType::Boolean => Fact::Flag(number == 0.0),
                FactType::Text => Fact::Text("default"),
            })
            .collect();
        score(&scorer, &facts);
    }
    score(&scorer, &vec![Fact::Missing; scorer.card().facts.len()]);
}

/// Scoring refuses facts or gives a record.
fn score(scorer: &Scorer, facts: &[Fact<'_>]) {
    let item = Item {
        subject: "subject",
        id: "id",
        context: ItemContext::default(),
        digest: Digest::of(b"{}"),
        facts,
        grading: None,
        suspicions: &[],
    };
    let context = Context { as_of: None };
    let _ = scorer.score(&mut Workspace::new(scorer), &item, &context).map(|record| record.digest());
}
