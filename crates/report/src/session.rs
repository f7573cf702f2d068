//! Scoring items one after the other: reader, engine and reasons for refusal in one place.

use std::fmt;

use karat_core::diagnostic::nearest;
use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::facts::Fact;
use karat_core::record::Record;
use karat_core::scorecard::{FactType, Scorecard};
use karat_core::timestamp::WrittenTimestamp;
use karat_evidence::grade::trace::budget::Budget;
use karat_evidence::grade::trace::novelty::VectorCache;
use karat_evidence::{Graders, Kind, Note, Problem, Problems, Reader, ReaderOptions, UnknownFact};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::stopwatch::Stopwatch;

/// Why an item was refused: everything that is wrong with it, one line each.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The file, and the line of the item where it has one.
    pub place: String,
    /// What is wrong.
    pub problems: Vec<String>,
    /// What the reason may be for all of it.
    pub help: Option<String>,
}

impl Refusal {
    /// The refusal of the item at `place`, whose problems have places counted from its own first line.
    pub fn new(place: &Place<'_>, problems: Problems, help: Option<String>) -> Self {
        let problems = if place.is_row { problems.without_columns() } else { problems };
        let problems = problems.starting_at(place.line.unwrap_or(1)).to_string();
        Self { place: place.to_string(), problems: problems.lines().map(str::to_owned).collect(), help }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        match self.problems.as_slice() {
            [only] => f.write_str(only),
            several => {
                write!(f, "{} problems", several.len())?;
                several.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }?;
        self.help.iter().try_for_each(|help| write!(f, "\n  {help}"))
    }
}

/// What an item is for: its kind, and the facts that are wanted of it (they say how the cells of a table are read).
pub struct Wanted {
    /// The kind.
    pub kind: Kind,
    /// The facts, in the order of the card.
    pub facts: Vec<(String, FactType)>,
    /// Other names that mark the header of a table.
    pub columns: Vec<String>,
}

impl Wanted {
    /// Wants the facts of `other` too.
    pub fn add(&mut self, other: Self) {
        for (name, fact_type) in other.facts {
            if !self.facts.iter().any(|(known, _)| *known == name) {
                self.facts.push((name, fact_type));
            }
        }
    }
}

/// A scorer with the memory that it uses again for every item.
pub struct Session<'s> {
    scorer: &'s Scorer,
    reader: Reader,
    workspace: Workspace,
    /// For each fact of the card, whether some item gave it.
    given: Vec<bool>,
    stopwatch: Option<Stopwatch>,
}

impl<'s> Session<'s> {
    /// Gets ready to score evidence of the card's kind.
    pub fn new(
        scorer: &'s Scorer,
        subject_field: Option<&str>,
        graders: Graders,
        portable: bool,
    ) -> Result<Self, Failure> {
        let card = scorer.card();
        let kind = kind(card)?;
        if subject_field.is_some() && kind != Kind::Facts {
            return Err(Failure::new(format!(
                "evidence of kind `{}` says itself who is scored",
                kind.name()
            ))
            .help("leave out --subject-field; it is for evidence of kind `facts`"));
        }
        let options =
            ReaderOptions { subject_field: subject_field.map(str::to_owned), ..ReaderOptions::default() };
        let reader = Reader::new(kind, &wanted(card), options)
            .map_err(|unknown| cannot_supply(card, &unknown))?
            .with_graders(graders);
        let workspace = if portable { Workspace::portable(scorer) } else { Workspace::new(scorer) };
        Ok(Self { scorer, reader, workspace, given: vec![false; card.facts.len()], stopwatch: None })
    }

    /// The same, which also looks how long each item takes: scores do not depend on it.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        Self { stopwatch: Some(Stopwatch::new(budget)), ..self }
    }

    /// The items that took too long.
    pub fn overruns(&self) -> Option<&Stopwatch> {
        self.stopwatch.as_ref()
    }

    /// The vectors of the traces so far, if there are any.
    pub fn cache(&mut self) -> Option<&VectorCache> {
        self.reader.graders().cache.as_ref()
    }

    /// What is read from evidence.
    pub fn wanted(&self) -> Wanted {
        Wanted { kind: self.reader.kind(), facts: wanted(self.scorer.card()), columns: Vec::new() }
    }

    /// Scores one item and hands the record to `visit`, or says why the item is refused. What could not even be cut out
    /// of its file passes through.
    pub fn score<T>(
        &mut self,
        place: &Place<'_>,
        bytes: Result<&[u8], Refusal>,
        as_of: Option<WrittenTimestamp<'_>>,
        visit: impl FnOnce(&Record<'_>, &[Note]) -> T,
    ) -> Result<T, Refusal> {
        let kind = self.reader.kind();
        let bytes = bytes?;
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.start();
        }
        let read = self.reader.read_watched(bytes, &mut |stage| {
            if let Some(stopwatch) = &mut self.stopwatch {
                stopwatch.lap(stage);
            }
        });
        let evidence = read.map_err(|problems| {
            let absent = problems.iter().filter(|problem| is_absent_at_the_top(problem)).count();
            // Of most kinds several members are required; one that is forgotten is no other kind yet.
            let foreign = absent > usize::from(kind != Kind::AgentDimensions);
            let nameless = kind == Kind::Facts && problems.iter().any(|it| it.found.starts_with("no name"));
            let help = if foreign {
                let (name, kind) = (self.scorer.card().name(), kind.name());
                Some(format!("`{name}` reads evidence of kind `{kind}`: is this of that kind?"))
            } else {
                nameless.then(|| String::from("to take another field for the subject: --subject-field FIELD"))
            };
            Refusal::new(place, problems, help)
        })?;
        for (given, fact) in self.given.iter_mut().zip(evidence.item().facts) {
            *given |= *fact != Fact::Missing;
        }
        let scored = self.scorer.score(&mut self.workspace, &evidence.item(), &Context { as_of });
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.lap("score");
            stopwatch.stop(place);
        }
        match scored {
            Ok(record) => Ok(visit(&record, evidence.notes())),
            Err(errors) => {
                let problems = errors.iter().map(ToString::to_string).collect();
                self.reader.refuse_last();
                Err(Refusal { place: place.to_string(), problems, help: None })
            }
        }
    }

    /// Fields of the evidence that no one reads, and how often each occurred.
    pub fn unknown_fields(&self) -> impl Iterator<Item = (&str, u64)> {
        self.reader.unknown_fields()
    }

    /// The fact that an unread field may have been meant for: one of a like name that no item gave.
    pub fn meant(&self, path: &str) -> Option<&str> {
        let facts = self.scorer.card().facts.iter().zip(&self.given);
        nearest(
            path.strip_prefix("$.")?,
            facts.filter(|(_, given)| !**given).map(|(fact, _)| fact.name.as_str()),
        )
    }
}

/// Whether a member of the item itself is not there, as in evidence of another kind.
fn is_absent_at_the_top(problem: &Problem) -> bool {
    problem.found == "nothing" && !problem.path.trim_start_matches("$.").contains(['.', '['])
}

/// Where an item stands.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The file, or `standard input`.
    pub file: &'a str,
    /// Its first line, where files have several items.
    pub line: Option<u64>,
    /// Whether it is a row of a table, which is read as the JSON that says the same.
    pub is_row: bool,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// The kind of evidence that a card reads.
pub fn kind(card: &Scorecard) -> Result<Kind, Failure> {
    Kind::from_name(&card.evidence).ok_or_else(|| {
        let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let message = format!(
            "`{}` reads evidence of kind `{}`, which karat does not have",
            card.name(),
            card.evidence
        );
        Failure::with_exit(Exit::CardRefused, message).help(format!("there are: {}", names.join(", ")))
    })
}

/// The facts of a card, as a reader wants them named.
pub fn wanted(card: &Scorecard) -> Vec<(String, FactType)> {
    card.facts.iter().map(|fact| (fact.name.clone(), fact.kind)).collect()
}

fn cannot_supply(card: &Scorecard, unknown: &[UnknownFact]) -> Failure {
    let message = format!("evidence of kind `{}` cannot supply what `{}` reads", card.evidence, card.name());
    let failure = Failure::with_exit(Exit::CardRefused, message);
    unknown.iter().fold(failure, |failure, fact| failure.help(fact.to_string()))
}
