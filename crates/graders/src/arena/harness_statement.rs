//! The statement of a harness about a match: the text that it signs.

use std::error::Error;
use std::fmt;

use karat_core::facts::Digest;
use serde_json::Value;

use super::match_grade::HarnessWord;
use karat_evidence::json::problem::quoted;
use karat_evidence::json::value::canonical_json;

/// The first line of a statement.
const HEAD: &str = "karat/harness-statement/1";

/// The match that a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HarnessStatement<'a> {
    /// The id of the match.
    pub match_id: &'a str,
    /// The nonce of the match, which no one could know before it was entered.
    pub nonce: &'a str,
    /// The digest of the log, over its canonical JSON.
    pub log: Digest,
    /// The digest of the answer, over its canonical JSON: the log alone would vouch for any answer.
    pub answer: Digest,
}

/// The reason why a text is not a statement about a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementError {
    /// The line that is wrong, from 1.
    pub line: usize,
    /// The line found.
    pub found: String,
    /// The line expected.
    pub expected: String,
}

impl fmt::Display for StatementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, found, expected } = self;
        write!(f, "line {line} of the statement is {}, expected {}", quoted(found), quoted(expected))
    }
}

impl Error for StatementError {}

impl<'a> HarnessStatement<'a> {
    /// Returns the statement about a match with this answer and these steps. Recurses as deep as they do.
    pub fn of(match_id: &'a str, nonce: &'a str, answer: &Value, steps: &[Value]) -> Self {
        let log = Digest::of(canonical_json(&Value::from(steps)).as_bytes());
        let answer = Digest::of(canonical_json(answer).as_bytes());
        Self { match_id, nonce, log, answer }
    }

    /// Returns the text, which ends in a line feed.
    pub fn text(&self, word: HarnessWord) -> String {
        let Self { match_id, nonce, log, answer } = self;
        let HarnessWord { memoryless } = word;
        format!(
            "{HEAD}\nmatch {match_id}\nnonce {nonce}\nlog {log}\nanswer {answer}\nmemoryless {memoryless}\n"
        )
    }

    /// Returns what a text says about this match.
    ///
    /// # Errors
    /// If it is not the statement about this match: the first line that is wrong.
    pub fn read(&self, text: &str) -> Result<HarnessWord, StatementError> {
        let words = [true, false].map(|memoryless| HarnessWord { memoryless });
        if let Some(word) = words.into_iter().find(|word| self.text(*word) == text) {
            return Ok(word);
        }
        let [yes, no] = words.map(|word| self.text(word));
        let given: Vec<&str> = text.split('\n').collect();
        let wanted = || yes.split('\n').zip(no.split('\n')).enumerate();
        let wrong = wanted().find_map(|(at, (yes, no))| {
            let found = given.get(at).copied().unwrap_or_default();
            let is_wrong = found != yes && found != no || given.len() <= at;
            is_wrong.then(|| StatementError {
                line: at + 1,
                found: found.to_owned(),
                expected: if yes == no { yes.to_owned() } else { format!("{yes}` or `{no}") },
            })
        });
        let line = wanted().count();
        Err(wrong.unwrap_or_else(|| StatementError {
            line,
            found: given.get(line).map(|rest| (*rest).to_owned()).unwrap_or_default(),
            expected: String::new(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_about_anything_else_is_refused_with_its_line() {
        let steps = [json!({"type": "llm_call"})];
        let answer = json!({"exit": 7});
        let statement = HarnessStatement::of("bee.maze.1", "5f0c1d", &answer, &steps);
        let about = |answer: &Value, steps: &[Value]| {
            HarnessStatement::of("bee.maze.1", "5f0c1d", answer, steps)
                .text(HarnessWord { memoryless: false })
        };
        let text = statement.text(HarnessWord { memoryless: false });
        assert_eq!(statement.read(&text), Ok(HarnessWord { memoryless: false }));
        for (wrong, line) in [
            (text.replace("/1\nm", "/2\nm"), 1),
            (text.replace("maze.1", "maze.2"), 2),
            (text.replace("5f0c1d", "5f0c1e"), 3),
            (about(&answer, &[]), 4),
            (about(&json!({"exit": 8}), &steps), 5),
            (text.replace("false", "maybe"), 6),
            (text.trim_end().to_owned(), 7),
            (format!("{text}more\n"), 7),
            (format!("{text}\n"), 7),
            (String::new(), 1),
        ] {
            let error = statement.read(&wrong).unwrap_err();
            assert_eq!(error.line, line, "{wrong}: {error}");
        }
        let error = statement.read(&text.replace("false", "maybe")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 6 of the statement is `memoryless maybe`, expected `memoryless true` or `memoryless false`"
        );
    }
}
