//! Cases about the quality of an output: code, text, checklists, data.

use karat_evidence::grade::quality::{Reference, Tokenizer};
use serde_json::{Value, json};

use super::super::given::Given;
use super::super::{Answer, number};

/// The answer of the function called `name`; none if it is not of this file.
pub fn answer(name: &str, input: &Value) -> Option<Answer> {
    let given = Given::new(input);
    let answer = match name {
        "quality.rag" => rag(&given),
        "quality.rag_tokens" => rag_tokens(&given),
        _ => return None,
    };
    Some(answer.map_or_else(Answer::Refused, Answer::Output))
}

fn rag(given: &Given<'_>) -> Result<Value, String> {
    let reference = given.member("reference_answer")?.text()?;
    let reference = Reference::new(reference, Tokenizer::Reference).map_err(|problem| problem.to_string())?;
    let rouge = reference.grade(given.member("text")?.text()?).map_err(|problem| problem.to_string())?;
    Ok(json!({ "quality": number(rouge.f1) }))
}

fn rag_tokens(given: &Given<'_>) -> Result<Value, String> {
    Ok(json!({ "tokens": Tokenizer::Reference.tokens(given.member("text")?.text()?) }))
}
