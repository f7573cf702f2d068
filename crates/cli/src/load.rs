//! Loading scored items from files.

use crate::args::Cli;
use crate::cards;
use crate::evidence::{Digests, Files, Flow};
use crate::failure::Failure;
use crate::graders;
use crate::progress::Progress;
use karat::ask::Items;
use karat::loaded::{Loaded, Loading};
use karat::rows::{Rows, Selection};

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
    Ok(load_sides(request, cli)?.rows)
}

/// Does the same for both sides at once.
pub fn load_sides(request: &Request<'_>, cli: &Cli) -> Result<Loaded, Failure> {
    let given = match request.card {
        Some(card) => {
            let card = cards::compiled(&cards::named(card, request.files, cli.color)?, cli.color)?;
            let fields = &request.items.fields;
            let options = graders::options(card.card(), &Default::default(), fields, cli.portable)?;
            Some((card, options))
        }
        None => None,
    };
    let loading = Loading::new(request.selection(), given, request.items.as_of.as_ref())?;
    let mut loading = loading.at_door(|error| Failure::from(error).to_string());
    let files = Files::new(request.files, cli.color)?.of_sides(request.sides);
    let files = files.digested(request.digests.cloned());
    let progress = Progress::new(files.bytes(), request.is_quiet);
    let wanted = loading.wanted();
    files.each(&wanted, &progress, &mut |place, bytes| {
        loading.take(place, bytes)?;
        Ok(Flow::Continue)
    })?;
    drop(progress);
    Ok(loading.finish()?)
}
