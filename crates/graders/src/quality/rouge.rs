//! ROUGE-L: how much of a reference text an answer says in the same order.
//!
//! C.-Y. Lin, "ROUGE: A package for automatic evaluation of summaries", 2004, section 3.1. With `L` the length of the
//! longest common subsequence of the two token lists: `P = L / answer`, `R = L / reference`, `F1 = 2PR / (P + R)`.

use serde::{Serialize, Serializer};

use super::lcs::Pattern;
use super::refuse;
use super::tokens::Tokenizer;
use karat_evidence::json::problem::Problems;

/// A reference text, cut into tokens once for all answers.
#[derive(Debug)]
pub struct Reference {
    pattern: Pattern,
    tokenizer: Tokenizer,
}

/// The ROUGE-L of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RougeL {
    /// Harmonic mean of precision and recall, 0 to 1; 0 if either text has no tokens.
    #[serde(skip)]
    pub f1: f64,
    /// Common tokens as a share of the answer's, 0 to 1.
    pub precision: f64,
    /// Common tokens as a share of the reference's, 0 to 1.
    pub recall: f64,
    /// Length of the longest common subsequence, in tokens.
    pub common_tokens: usize,
    /// Tokens of the reference.
    pub reference_tokens: usize,
    /// Tokens of the answer.
    pub answer_tokens: usize,
    /// Tokenizer of the texts.
    pub tokenizer: Tokenizer,
}

/// The reference's tokens, divided by one longest common subsequence with the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overlap {
    /// Tokens that the answer has in this order.
    #[serde(serialize_with = "first")]
    pub matched: Vec<String>,
    /// Tokens that it does not have, or in another order.
    #[serde(serialize_with = "first")]
    pub missing: Vec<String>,
}

impl Reference {
    /// Longest text, in bytes.
    pub const BYTES_MAX: usize = 16 << 20;
    /// Most tokens of a reference. The time of a comparison is proportional to the tokens of the answer times this.
    pub const TOKENS_MAX: usize = 10_000;
    /// Most tokens of an answer.
    pub const ANSWER_TOKENS_MAX: usize = 1_000_000;
    /// A table of more words of 64 bits than this is not built to find which tokens matched.
    const TABLE_WORDS_MAX: usize = 1 << 20;

    /// Cuts a reference text into tokens.
    ///
    /// # Errors
    ///
    /// If the text is longer than [`Self::BYTES_MAX`] or has more than [`Self::TOKENS_MAX`] tokens.
    pub fn new(text: &str, tokenizer: Tokenizer) -> Result<Self, Problems> {
        let tokens = tokens(text, tokenizer, "$.reference.reference_answer", Self::TOKENS_MAX)?;
        Ok(Self { pattern: Pattern::new(tokens), tokenizer })
    }

    /// Returns how many tokens the reference has.
    pub fn len(&self) -> usize {
        self.pattern.tokens.len()
    }

    /// Returns whether the reference has no token, so that every answer scores 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Grades an answer.
    ///
    /// # Errors
    ///
    /// If the answer is longer than [`Self::BYTES_MAX`] or has more than [`Self::ANSWER_TOKENS_MAX`] tokens.
    pub fn grade(&self, answer: &str) -> Result<RougeL, Problems> {
        let answer = self.answer(answer)?;
        let (reference_tokens, answer_tokens) = (self.len(), answer.len());
        let common_tokens = self.pattern.common(&answer);
        let share = |of: usize| if of == 0 { 0.0 } else { common_tokens as f64 / of as f64 };
        let (precision, recall) = (share(answer_tokens), share(reference_tokens));
        let f1 = if common_tokens == 0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) };
        let tokenizer = self.tokenizer;
        Ok(RougeL { f1, precision, recall, common_tokens, reference_tokens, answer_tokens, tokenizer })
    }

    /// Returns which tokens of the reference the answer has, in the order of the reference; none if the texts are so
    /// long that telling would take too much memory.
    ///
    /// # Errors
    ///
    /// If [`Self::grade`] fails.
    pub fn overlap(&self, answer: &str) -> Result<Option<Overlap>, Problems> {
        let places = self.pattern.common_places(&self.answer(answer)?, Self::TABLE_WORDS_MAX);
        Ok(places.map(|places| {
            let mut places = places.into_iter().peekable();
            let mut overlap = Overlap { matched: Vec::new(), missing: Vec::new() };
            for (at, token) in self.pattern.tokens.iter().enumerate() {
                let list = match places.next_if_eq(&at) {
                    Some(_) => &mut overlap.matched,
                    None => &mut overlap.missing,
                };
                list.push(token.clone());
            }
            overlap
        }))
    }

    fn answer(&self, text: &str) -> Result<Vec<String>, Problems> {
        tokens(text, self.tokenizer, "$.output.text", Self::ANSWER_TOKENS_MAX)
    }
}

/// Writes the first tokens of a list: no record needs more.
fn first<S: Serializer>(list: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(list.iter().take(100))
}

fn tokens(text: &str, tokenizer: Tokenizer, path: &str, most: usize) -> Result<Vec<String>, Problems> {
    let refuse = |found: String, expected: String| refuse(path, found, &expected, "shorten the text");
    let bytes_max = Reference::BYTES_MAX;
    if text.len() > bytes_max {
        return Err(refuse(format!("{} bytes", text.len()), format!("at most {bytes_max} bytes")));
    }
    let tokens = tokenizer.tokens_up_to(most, text);
    tokens.map_err(|count| refuse(format!("{count} tokens"), format!("at most {most} tokens")))
}
