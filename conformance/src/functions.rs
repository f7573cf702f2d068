//! The functions that a case can ask for, answered with the functions that score evidence everywhere else: one file per
//! system turns the inputs of its cases into facts and its records into the names of the cases, and computes nothing.

use std::path::Path;

use karat_core::scorecard::Scorecard;
use karat_graders::trace::embedder::Embedder;
use serde_json::Value;

use crate::given::Given;
use crate::judge::{Answer, Judge, TRUST, all, released};
use crate::{arena, graders, standing, trace, trust, workflow};

/// Every function that can be asked for, ready to answer.
pub struct Functions {
    workflow: Judge,
    trace: Judge,
    trust: Judge,
    arena: arena::Arena,
    embedder: Option<Embedder>,
}

impl Functions {
    /// Loads the released scorecards, and the embedder if its folder is given.
    pub fn new(embedder: Option<&str>, portable: bool) -> Result<Self, String> {
        let judge = |name| Judge::new(released(name)?);
        let load = |folder: &str| {
            let embedder = Embedder::load(Path::new(folder)).map_err(|problems| all(&problems))?;
            Ok::<_, String>(if portable { embedder.portable() } else { embedder })
        };
        Ok(Self {
            workflow: judge("workflow@1.0.0")?,
            trace: judge("trace@1.0.0")?,
            trust: judge(TRUST)?,
            arena: arena::Arena::new(&Scorecard::clone(&*released("arena@1.0.0")?))?,
            embedder: embedder.map(load).transpose()?,
        })
    }

    /// Returns the answer of the function called `name`.
    pub fn answer(&mut self, name: &str, input: &Value) -> Answer {
        let given = Given::new(input);
        let answer = match name {
            "workflow.score" => workflow::score(&mut self.workflow, &given),
            "dims" | "dims.custom_key" => self.arena.dims(&given),
            "validate_dimensions" => self.arena.validate_dimensions(&given),
            "weighted_total" => self.arena.weighted_total(&given),
            "finalize_breakdown" => arena::finalize_breakdown(&given),
            "score_to_result" => self.arena.score_to_result(&given),
            "speed_score" => self.arena.speed_score(&given),
            "evaluate" => trace::evaluate(&mut self.trace, &given),
            "weights_guard" => trust::weights_guard(&self.trust, &given),
            "effective_weights" => trust::effective_weights(&self.trust, &given),
            "composite_covered" => trust::composite_covered(&mut self.trust, &given),
            "embedding" => trace::embedding(self.embedder.as_ref(), &given),
            "to_thousand" => trust::to_thousand(&self.trust, &given),
            _ => {
                let found = [
                    standing::over_time::answer,
                    standing::rating::answer,
                    standing::statistics::answer,
                    graders::arena::answer,
                    graders::quality::answer,
                    graders::trace::answer,
                    graders::trust::answer,
                    graders::workflow::answer,
                ]
                .iter()
                .find_map(|answer| answer(name, &given));
                let Some(found) = found else { return Answer::Unknown };
                found
            }
        };
        answer.map_or_else(Answer::Refused, Answer::Output)
    }
}
