//! A match as it was played: graded by the evaluator of its challenge, then read like a match that was graded elsewhere.

use crate::check::{Check, Identity};
use crate::document::{Node, Tape};
use crate::grade::arena::grade_match;
use crate::graders::Work;
use crate::kinds::arena_match::{self, MatchFacts};
use crate::reader::{self, ReaderOptions};
use crate::value;

/// The memory of a graded match, used again for every item.
#[derive(Debug, Default)]
pub(crate) struct Graded {
    text: String,
    tape: Tape,
}

/// Reads a match. One with a `payload` is as it was played, and the card's evaluator grades it; any other was graded.
pub(crate) fn read<'a>(
    root: Node<'a>,
    check: &mut Check<'_>,
    work: &mut Work<'_>,
    graded: &'a mut Graded,
) -> (MatchFacts<'a>, Identity<'a>) {
    let Some(payload) = root.children().find(|member| member.key() == "payload") else {
        return arena_match::read(root, check);
    };
    let Some(evaluator) = &work.graders.evaluator else {
        check.refuse_as(
            payload,
            "a match as it was played",
            "a match with `scores`",
            "score it under a challenge whose card has an `evaluator`",
        );
        return Default::default();
    };
    let grade = match grade_match(&value::of_node(root), evaluator, &work.graders.matches) {
        Ok(grade) => grade,
        Err(problems) => {
            check.problems.extend(&problems);
            return Default::default();
        }
    };
    (work.watch)("grade");
    if let serde_json::Value::Object(detail) = grade.detail() {
        work.seen.extend(detail);
    }
    graded.text = value::canonical_json(&grade.evidence);
    match reader::parse(&mut graded.tape, graded.text.as_bytes(), &ReaderOptions::default()) {
        Err(problems) => {
            check.problems.extend(&problems);
            Default::default()
        }
        // Its fields are ours, so all of them are known.
        Ok(document) => arena_match::read(document.root(), check),
    }
}
