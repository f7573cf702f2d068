//! Loading scored items from files: records, or evidence that is scored on the way.

use std::sync::Arc;

use karat::engine::{Engine, Wanted};
use karat::record::Record;
use karat::rows::problems::Problems;
use karat::rows::{Loader, Rows, Selection, StoredRecord};

use crate::args::Cli;
use crate::cards;
use crate::evidence::{Digests, Files, Flow};
use crate::failure::Failure;
use crate::graders;
use crate::progress::Progress;
use karat::ask::{AsOf, Items};
use karat::error::Code;
use karat::recompute;

/// The files to load, and how to read them.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The items that count.
    pub items: &'a Items,
    /// The scorecard of evidence; records name their own.
    pub card: Option<&'a str>,
    /// Records, or evidence for `card`.
    pub files: &'a [String],
    /// No progress bar.
    pub is_quiet: bool,
    /// Fields whose values go into the labels of the items.
    pub labels: &'a [String],
    /// Fields whose values each item keeps.
    pub kept: &'a [String],
    /// The side of each file, if the subjects of each side differ.
    pub sides: &'a [(String, String)],
    /// The side whose items are kept by themselves, too.
    pub alone: Option<&'a str>,
    /// The place for the digests of files, if they are asked for.
    pub digests: Option<&'a Digests>,
}

impl<'a> Request<'a> {
    /// Creates a request for the items of files.
    pub fn new(items: &'a Items, card: Option<&'a str>, files: &'a [String], is_quiet: bool) -> Self {
        Self { items, card, files, is_quiet, labels: &[], kept: &[], sides: &[], alone: None, digests: None }
    }

    fn selection(&self) -> Selection<'a> {
        Selection {
            wish: self.items.wish(),
            labels: self.labels,
            kept: self.kept,
            renames: &self.items.rename,
            by_file: !self.sides.is_empty(),
            sides: self.sides,
            alone: self.alone,
            ..Selection::default()
        }
    }
}

/// Loads all items, or reports every problem.
pub fn load(request: &Request<'_>, cli: &Cli) -> Result<Rows, Failure> {
    Ok(read(request, cli)?.finish()?)
}

/// Loads the items of both sides at once; before them, those of `alone` by themselves.
pub fn load_sides(request: &Request<'_>, cli: &Cli) -> Result<(Option<Rows>, Rows), Failure> {
    Ok(read(request, cli)?.finish_sides()?)
}

fn read<'r>(request: &Request<'r>, cli: &Cli) -> Result<Loader<'r>, Failure> {
    let given = match request.card {
        Some(card) => Some(cards::compiled(&cards::named(card, request.files, cli.color)?, cli.color)?),
        None => None,
    };
    let mut engine = match &given {
        Some(card) => {
            let fields = &request.items.fields;
            let options = graders::options(card.card(), &Default::default(), fields, cli.portable)?;
            let mut engine = Engine::new(Arc::clone(card), options)?;
            engine.set_as_of_written(request.items.as_of.as_ref().map(AsOf::written));
            Some(engine)
        }
        None => None,
    };
    let wanted = engine.as_ref().map_or_else(Wanted::nothing, Engine::wanted);
    let files = Files::new(request.files, cli.color)?.of_sides(request.sides);
    let files = files.digested(request.digests.cloned());
    let progress = Progress::new(files.bytes(), request.is_quiet);
    let mut loader = Loader::new(request.selection())?;
    if let Some(card) = &given {
        loader.given(card);
    }
    let mut problems = Problems::default();
    files.each(&wanted, &progress, &mut |place, bytes| {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                problems.add(error.to_string());
                return Ok(Flow::Continue);
            }
        };
        let stored = StoredRecord::parse(bytes);
        let bytes = stored.map_or(bytes, |stored| stored.record.as_bytes());
        let claim = match Record::parse(bytes) {
            Ok(claim) => claim,
            Err(error) => {
                problems.add_error(&place.to_string(), &error);
                return Ok(Flow::Continue);
            }
        };
        let added = match (claim, &mut engine) {
            (Some(claim), _) => {
                let base = recompute::base(&claim, given.as_ref().or_else(|| loader.known(&claim)));
                if let Err(error) = &base
                    && error.code() == Code::MissingScorecard
                {
                    // It is missing for all of its records, so it is reported once.
                    return Err(error.clone().at(place.clone()).into());
                }
                let arrival = stored.map(|stored| stored.arrival);
                let added =
                    base.and_then(|base| loader.add_record(&claim, &base, cli.portable, place, arrival));
                if let Err(error) = added {
                    problems.add_error(&place.to_string(), &error);
                    return Ok(Flow::Continue);
                }
                Ok(())
            }
            (None, Some(engine)) => {
                engine.visit_at(place, bytes, |scored| loader.add_from(place, 0, &scored.record, bytes))
            }
            (None, None) => {
                // Only an item of an imported log has no line.
                let card = if place.line.is_some() { "workflow" } else { "run" };
                return Err(Failure::new(format!("{place}: this is not a record, so it needs a scorecard"))
                    .help(format!("say how to score it: --card {card}"))
                    .help("`karat card list` names the scorecards that come with karat"));
            }
        };
        if let Err(error) = added {
            problems.add(Failure::from(error).to_string());
        }
        Ok(Flow::Continue)
    })?;
    drop(progress);
    problems.end("nothing was computed: correct what is refused, or leave it out")?;
    Ok(loader)
}
