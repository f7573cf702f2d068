//! The questions that change a plan, three at most, each with a proposal.

use karat_core::number::Decimal;

use super::plan::{Gate, Plan, column, countable, find};
use crate::ask::points;
use crate::names::Direction;
use crate::text::clean;

/// A question about the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// Asks which field decides success.
    Success,
    /// Asks which fields count whose names do not say which way is better.
    Unknown,
    /// Asks what stops a release.
    Gate,
}

impl Prompt {
    /// Every question, in the order in which they are asked.
    pub const ALL: [Self; 3] = [Self::Success, Self::Unknown, Self::Gate];
}

impl Plan<'_> {
    /// Returns the text of a question and the answer that it proposes; `None` if the plan leaves nothing to ask.
    pub fn prompt(&self, prompt: Prompt) -> Option<(String, String)> {
        match prompt {
            Prompt::Success | Prompt::Unknown if self.released.is_some() => None,
            Prompt::Success => {
                let fields = self.data.profile.reachable();
                let fields = fields.iter().filter(|field| countable(field).is_ok());
                let names: Vec<String> = fields.map(|field| clean(&column(field)).into_owned()).collect();
                let proposal = self.success.and_then(|at| self.measures.get(at)).map(|it| column(it.field));
                let question = format!("What decides success? One of {}; - for none", names.join(", "));
                Some((question, proposal.unwrap_or_else(|| String::from("-"))))
            }
            Prompt::Unknown => {
                let names: Vec<String> =
                    self.unknown.iter().map(|field| clean(&column(field)).into_owned()).collect();
                let first = names.first()?;
                let names = names.join(", ");
                let question = format!("Which of {names} count? Such as: {first}=lower; Enter for none");
                Some((question, String::new()))
            }
            Prompt::Gate => {
                let question = "What stops a release? worse (than the baseline), points such as 80 (a score below), both as: \
                                worse 80; none";
                let proposal = if self.has_task { "worse" } else { "none" };
                Some((question.to_owned(), proposal.to_owned()))
            }
        }
    }

    /// Takes the answer to a question.
    ///
    /// # Errors
    /// If the text does not answer the question: the person is asked again.
    pub fn take(&mut self, prompt: Prompt, answer: &str) -> Result<(), String> {
        match prompt {
            Prompt::Success if answer == "-" => self.set_success(None),
            Prompt::Success => {
                let field = find(&self.data.profile.reachable(), answer)
                    .ok_or_else(|| format!("there is no field `{}`", clean(answer)))?;
                countable(field).map_err(|error| error.to_string())?;
                self.set_success(Some(field));
            }
            Prompt::Unknown => {
                let mut found = Vec::new();
                for part in answer.split([' ', ',']).filter(|part| !part.is_empty()) {
                    let (name, way) =
                        part.rsplit_once('=').ok_or("write each as FIELD=higher or FIELD=lower")?;
                    let direction = match way {
                        "higher" | "high" | "more" => Direction::Higher,
                        "lower" | "low" | "less" => Direction::Lower,
                        _ => return Err(format!("`{}` is not higher or lower", clean(way))),
                    };
                    let field = find(&self.unknown, name)
                        .ok_or_else(|| format!("`{}` is not among them", clean(name)))?;
                    found.push((field, direction));
                }
                found.into_iter().for_each(|(field, direction)| self.count(field, direction));
            }
            Prompt::Gate => self.gate = gate(answer, self.has_task)?,
        }
        Ok(())
    }
}

fn gate(answer: &str, has_task: bool) -> Result<Gate, String> {
    let mut gate = Gate::default();
    for word in answer.split_whitespace() {
        match word {
            "none" => {}
            "worse" if has_task => gate.is_not_worse = true,
            "worse" => return Err(String::from("no field names the task, so runs cannot be compared")),
            word => {
                let least = points(word)?;
                if least > Decimal::from_millionths(100_000_000) {
                    return Err(String::from("scores end at 100"));
                }
                gate.floor = Some(least);
            }
        }
    }
    Ok(gate)
}
