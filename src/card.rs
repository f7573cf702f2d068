//! Scorecards ready to score: found by name, path or text, checked, and compiled.

pub mod words;

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use karat_core::evaluate::Scorer;
use karat_core::number::Decimal;
use karat_core::scorecard::{Dimension, MissingPolicy, Scorecard};
use karat_graders::arena::{Challenge, Evaluator};
use karat_graders::execution::FileReader;
use karat_graders::trust::jury::JuryRules;
use karat_reader::Kind;

use crate::cards::{self, CardText, EMBEDDED, files_of, library};
use crate::error::{Code, Error};

/// A scorecard with its text, compiled: what an [`Engine`](crate::engine::Engine) scores by. It may be shared by threads.
#[derive(Debug, Clone)]
pub struct CompiledCard {
    text: String,
    form: Form,
    is_released: bool,
    evaluator: Option<Evaluator>,
    /// The rules of juries, for the evidence of agents.
    jury: JuryRules,
}

/// The compiled form of a scorecard.
#[derive(Debug, Clone)]
enum Form {
    /// Its plan.
    Scorer(Box<Scorer>),
    /// Itself, as a family scores nothing.
    Family(Box<Scorecard>),
}

/// A compiled scorecard is a scorecard.
impl Deref for CompiledCard {
    type Target = Scorecard;

    fn deref(&self) -> &Scorecard {
        match &self.form {
            Form::Scorer(scorer) => scorer.card(),
            Form::Family(card) => card,
        }
    }
}

impl CompiledCard {
    /// Opens a released scorecard by `id` (its last version) or `id@version`, or the scorecard in the file at that path.
    /// Where an `id` has cards for several kinds of evidence, see [`CompiledCard::open_for`].
    ///
    /// # Errors
    ///
    /// If there is neither, or the scorecard has errors.
    pub fn open(wanted: &str) -> Result<Arc<Self>, Error> {
        let is_path = wanted.contains(['/', '\\']) || wanted.ends_with(".toml") || Path::new(wanted).exists();
        if cards::released(wanted).is_none() && is_path {
            return Self::from_file(wanted.as_ref()).map(Arc::new);
        }
        Self::released(wanted)
    }

    /// Opens the scorecard that `wanted` means for an item of evidence or a record: as [`CompiledCard::open`], but an `id`
    /// without a version means the last of [`EMBEDDED`] that takes evidence of this kind, or the one that the record names.
    ///
    /// ```
    /// use karat::card::CompiledCard;
    ///
    /// let given = br#"{"agent_id": "a", "dimensions": {"accuracy": 0.9}}"#;
    /// assert_eq!(CompiledCard::open_for("trust", given)?.name(), "trust@1.0.0");
    /// let raw = include_bytes!("../examples/trust/agent.json");
    /// assert_eq!(CompiledCard::open_for("trust", raw)?.name(), "trust@1.1.0");
    /// # Ok::<(), karat::error::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`CompiledCard::open`].
    pub fn open_for(wanted: &str, item: &[u8]) -> Result<Arc<Self>, Error> {
        match cards::for_item(wanted, item) {
            Some(card) => Self::released(card.name),
            None => Self::open(wanted),
        }
    }

    /// Returns a released scorecard by `id` (its last version) or `id@version`.
    ///
    /// # Errors
    ///
    /// If no scorecard has this name; the hint says which there are.
    pub fn released(wanted: &str) -> Result<Arc<Self>, Error> {
        let embedded = cards::released(wanted).ok_or_else(|| cards::unknown(wanted))?;
        let card = CardText { name: embedded.name.to_owned(), text: embedded.text.to_owned() };
        Self::checked(&card, &library).map(|card| Arc::new(Self { is_released: true, ..card }))
    }

    /// Reads the scorecard in a file. The hidden files of a challenge that runs code lie beside it: see
    /// [`CompiledCard::with_files_of`].
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the scorecard has errors.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            Error::new(Code::Unreadable, format!("cannot read the scorecard `{name}`: {error}"))
        })?;
        let card = Self::checked(&CardText { name, text }, &library)?;
        Ok(card.with_files_of(path.parent().unwrap_or(Path::new(""))))
    }

    /// Reads a scorecard, which is TOML.
    ///
    /// # Errors
    ///
    /// If it has errors: all of them, with line and column.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::checked(&CardText { name: String::from("the text"), text: text.to_owned() }, &library)
    }

    /// Checks and compiles a scorecard; `library` has the text of the base `id@version`, for challenges.
    ///
    /// # Errors
    ///
    /// If it has errors: all of them, with line and column.
    pub fn checked(card: &CardText, library: &dyn Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let sound = cards::sound(card, library)
            .map_err(|found| Error::refused_card(&card.name, &card.text, &found))?;
        Self::new(&card.text, sound)
    }

    /// Compiles a scorecard that was checked; `text` is its file.
    ///
    /// # Errors
    ///
    /// If its tables for graders cannot be used.
    pub fn new(text: &str, mut card: Scorecard) -> Result<Self, Error> {
        let (mut evaluator, mut jury) = (None, JuryRules::default());
        if let Some(tables) = card.evaluator.as_deref() {
            let keys: Vec<&str> = card.dimensions.iter().map(|it| it.key.as_str()).collect();
            let tables = serde_json::from_str(tables).unwrap_or_default();
            let read = match Kind::from_name(&card.evidence) {
                Some(Kind::AgentEvidence) => JuryRules::from_json(&tables).map(|rules| jury = rules),
                _ => Evaluator::from_json(&tables, &keys).map(|read| evaluator = Some(read)),
            };
            read.map_err(|problems| {
                let message = format!("the tables for graders of `{}` cannot be used", card.name());
                Error::new(Code::ScorecardRefused, message)
                    .hints_from(problems.iter().map(ToString::to_string))
            })?;
        }
        // Where there is no verdict on what was submitted, there is no score: neither 0 nor that of the rest.
        let judged: Vec<&str> = evaluator.iter().flat_map(Evaluator::judged_dimensions).collect();
        let dimensions = card.dimensions.iter_mut().filter(|it| judged.contains(&it.key.as_str()));
        dimensions.for_each(|dimension| dimension.missing = MissingPolicy::Withhold);
        let form = match card.family {
            Some(_) => Form::Family(Box::new(card)),
            None => Form::Scorer(Box::new(
                Scorer::new(card).map_err(|error| Error::new(Code::ScorecardRefused, error.to_string()))?,
            )),
        };
        Ok(Self { text: text.to_owned(), form, is_released: false, evaluator, jury })
    }

    /// Returns the same challenge with the files that its evaluator names, such as hidden cases: `files` has their bytes, by
    /// the path in the card. A scorecard that runs no code needs none.
    ///
    /// # Errors
    ///
    /// If files are missing, do not have the digests of the card, or are not well formed: everything.
    pub fn with_files(&self, files: FileReader<'_>) -> Result<Self, Error> {
        let evaluator = self.evaluator.as_ref().map(|evaluator| evaluator.with_files(files)).transpose();
        let evaluator = evaluator.map_err(|problems| Error::broken_challenge(&problems))?;
        Ok(Self { evaluator, ..self.clone() })
    }

    /// Returns the same challenge with the files in a folder, that of its card. Without them it reads matches that are graded and
    /// explains records as ever; a match that would need them is refused with what is wrong with them.
    #[must_use]
    pub fn with_files_of(mut self, folder: &Path) -> Self {
        self.evaluator = self.evaluator.map(|evaluator| {
            evaluator.with_files(&files_of(folder)).unwrap_or_else(|why| evaluator.without_files(&why))
        });
        self
    }

    /// Returns the same scorecard under an override: weights by dimension, of the whole scorecard or some dimensions. An
    /// override whose sum is off is refused within the records, which say so; see
    /// [`Scorer::override_use`](karat_core::evaluate::Scorer::override_use).
    ///
    /// # Errors
    ///
    /// If the scorecard takes no override or a dimension is given twice.
    pub fn with_override(&self, weights: &[(String, Decimal)]) -> Result<Self, Error> {
        let scorer = self.scorer()?.with_override(weights).map_err(|refusal| {
            Error::new(Code::OverrideRefused, refusal.to_string())
                .hint("leave out the override, or use a scorecard with an `[override]` section")
        })?;
        Ok(Self { form: Form::Scorer(Box::new(scorer)), ..self.clone() })
    }

    /// Returns the file as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the scorecard as data.
    pub fn card(&self) -> &Scorecard {
        self
    }

    /// Returns whether this very scorecard comes with karat.
    pub fn is_released(&self) -> bool {
        self.is_released
    }

    /// Returns the rules of juries, for the evidence of agents.
    pub fn jury(&self) -> JuryRules {
        self.jury
    }

    /// Returns what grades matches as they were played, of a challenge that has an evaluator.
    pub fn evaluator(&self) -> Option<&Evaluator> {
        self.evaluator.as_ref()
    }

    /// Returns the challenge that the scorecard is of, if it is of the arena: matches of others are not scored by it.
    pub fn challenge(&self) -> Option<Challenge> {
        let is_challenge = self.base.is_some() && self.evidence == Kind::Match.name();
        let weight = |dimension: &Dimension| (dimension.key.clone(), dimension.weight.to_f64());
        is_challenge.then(|| Challenge {
            id: self.id.clone(),
            name: self.name(),
            weights: self.dimensions.iter().map(weight).collect(),
        })
    }

    /// Returns the compiled form.
    ///
    /// # Errors
    ///
    /// If the scorecard is a family; the hint names its released challenges.
    pub fn scorer(&self) -> Result<&Scorer, Error> {
        if let Form::Scorer(scorer) = &self.form {
            return Ok(scorer);
        }
        let name = self.name();
        let message = format!("`{name}` is a family of challenges: name one of its challenges");
        let error = Error::new(Code::Family, message);
        let challenges: Vec<String> = EMBEDDED
            .iter()
            .filter_map(|other| karat_checker::parse(other.text, &library).ok())
            .filter(|other| other.base.as_ref() == Some(&name))
            .map(|other| other.name())
            .collect();
        if challenges.is_empty() {
            return Err(error);
        }
        Err(error.hint(format!("there are: {}", challenges.join(", "))))
    }
}

#[cfg(test)]
mod tests;
