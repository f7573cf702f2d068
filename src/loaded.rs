//! Items that are read and scored once: records, or evidence that is scored on the way.

use std::io::BufRead;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::Layout;

use crate::ask::{AsOf, Items};
use crate::card::CompiledCard;
use crate::engine::{Engine, Options, Wanted, each_item};
use crate::error::{Code, Error, Place};
use crate::inputs::{Door, Inputs, Silent};
use crate::recompute;
use crate::record::Record;
use crate::rows::problems::Problems;
use crate::rows::{Loader, Rows, Selection, StoredRecord};

/// The items of a run.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The items that are judged.
    pub rows: Rows,
    /// These and those of the baseline, each subject of each side apart, if there is one.
    pub both: Option<Rows>,
    /// The items of earlier runs and of this one, if there is a history.
    pub history: Option<Rows>,
}

/// The items to load, and how they are scored.
pub struct Source<'a> {
    /// The items that count.
    pub items: &'a Items,
    /// The scorecard of evidence; records name their own.
    pub card: Option<(Arc<CompiledCard>, Options)>,
    /// Fields whose values go into the labels of the items.
    pub labels: &'a [String],
    /// Fields whose values each item keeps.
    pub kept: &'a [String],
    /// The side whose items are kept by themselves, too.
    pub alone: Option<&'a str>,
    /// True if each file is a run.
    pub by_run: bool,
}

impl<'a> Source<'a> {
    /// Creates a source of items.
    pub fn new(items: &'a Items, card: Option<(Arc<CompiledCard>, Options)>) -> Self {
        Self { items, card, labels: &[], kept: &[], alone: None, by_run: false }
    }

    /// Reads and scores all items of the inputs.
    ///
    /// # Errors
    /// If an input cannot be read, an item is refused, a field that is named is of no item, or there is nothing to count.
    pub fn load(self, inputs: &Inputs, door: &dyn Door) -> Result<Loaded, Error> {
        let selection = Selection {
            wish: self.items.wish(),
            labels: self.labels,
            kept: self.kept,
            renames: &self.items.rename,
            by_file: !inputs.sides().is_empty(),
            sides: inputs.sides(),
            alone: self.alone,
            by_run: self.by_run,
            ..Selection::default()
        };
        let mut loading = Loading::new(selection, self.card, self.items.as_of.as_ref())?;
        let wanted = loading.wanted();
        let logs = inputs.each(&wanted, door, |place, bytes| {
            loading.take_for(place, bytes, door)?;
            Ok::<_, Error>(ControlFlow::Continue(()))
        })?;
        let mut loaded = loading.finish()?;
        loaded.both.iter_mut().chain([&mut loaded.rows]).for_each(|rows| rows.notes.clone_from(&logs.notes));
        Ok(loaded)
    }
}

/// A collector of items.
pub struct Loading<'r> {
    given: Option<Arc<CompiledCard>>,
    engine: Option<Engine>,
    loader: Loader<'r>,
    problems: Problems,
}

impl<'r> Loading<'r> {
    /// Creates an empty collector. `card` scores what is evidence; records name their own.
    ///
    /// # Errors
    /// If the scorecard does not go with the options, or names are given twice.
    pub fn new(
        selection: Selection<'r>,
        card: Option<(Arc<CompiledCard>, Options)>,
        as_of: Option<&AsOf>,
    ) -> Result<Self, Error> {
        let mut loader = Loader::new(selection)?;
        let mut loading = (None, None);
        if let Some((card, options)) = card {
            loader.given(&card);
            let mut engine = Engine::new(Arc::clone(&card), options)?;
            engine.set_as_of_written(as_of.map(AsOf::written));
            loading = (Some(card), Some(engine));
        }
        let (given, engine) = loading;
        Ok(Self { given, engine, loader, problems: Problems::default() })
    }

    /// Returns what the scorecard reads.
    pub fn wanted(&self) -> Wanted {
        self.engine.as_ref().map_or_else(Wanted::nothing, Engine::wanted)
    }

    /// Takes all items of a file; what is refused is reported at the end.
    ///
    /// # Errors
    /// If no scorecard is at hand for what it has.
    pub fn read(&mut self, file: &str, input: impl BufRead, layout: Layout) -> Result<(), Error> {
        let wanted = self.wanted();
        let ended = each_item(file, input, layout, &wanted, |place, bytes| match self.take(place, bytes) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        });
        ended.break_value().map_or(Ok(()), Err)
    }

    /// Takes an item, or the error that was found in its place.
    ///
    /// # Errors
    /// If no scorecard is at hand for it, which is so for all that follow.
    pub fn take(&mut self, place: &Place, bytes: Result<&[u8], Error>) -> Result<(), Error> {
        self.take_for(place, bytes, &Silent)
    }

    fn take_for(&mut self, place: &Place, bytes: Result<&[u8], Error>, door: &dyn Door) -> Result<(), Error> {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                self.problems.add_as(&error, error.to_string());
                return Ok(());
            }
        };
        // A row of a table is flat, as a record never is.
        let stored = if place.is_row { None } else { StoredRecord::parse(bytes) };
        let bytes = stored.map_or(bytes, |stored| stored.record.as_bytes());
        let claim = match if place.is_row { Ok(None) } else { Record::parse(bytes) } {
            Ok(claim) => claim,
            Err(error) => {
                self.problems.add_error(place, &error);
                return Ok(());
            }
        };
        let loader = &mut self.loader;
        let added = match (claim, &mut self.engine) {
            (Some(claim), _) => {
                let base = recompute::base(&claim, self.given.as_ref().or_else(|| loader.known(&claim)));
                if let Err(error) = &base
                    && error.code() == Code::MissingScorecard
                {
                    // It is missing for all of its records, so it is reported once.
                    return Err(error.clone().at(place.clone()));
                }
                let arrival = stored.map(|stored| stored.arrival);
                let added = base.and_then(|base| loader.add_record(&claim, &base, place, arrival));
                if let Err(error) = added {
                    self.problems.add_error(place, &error);
                }
                return Ok(());
            }
            (None, Some(engine)) => {
                engine.visit_at(place, bytes, |scored| loader.add_from(place, 0, &scored.record, bytes))
            }
            (None, None) => {
                // Only an item of an imported log has no line.
                let card = if place.line.is_some() { "workflow" } else { "run" };
                let message = format!("{place}: this is not a record, so it needs a scorecard");
                return Err(Error::new(Code::InvalidOption, message)
                    .hint(format!("say how to score it: --card {card}"))
                    .hint("`karat card list` names the scorecards that come with karat"));
            }
        };
        if let Err(error) = added {
            self.problems.add_as(&error.clone(), door.words(error));
        }
        Ok(())
    }

    /// Returns the items: of two sides both, and by themselves those that are judged.
    ///
    /// # Errors
    /// If an item was refused, or no item is left.
    pub fn finish(self) -> Result<Loaded, Error> {
        self.problems.end("nothing was computed: correct what is refused, or leave it out")?;
        // Items would count under their ids: each attempt as its own task.
        self.engine.as_ref().map_or(Ok(()), Engine::refuse_unfound)?;
        Ok(match self.loader.finish_sides()? {
            (Some(rows), both) => Loaded { rows, both: Some(both), history: None },
            (None, rows) => Loaded { rows, both: None, history: None },
        })
    }
}
