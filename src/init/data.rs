//! The data that a scorecard is written for: tables and JSON, and the logs of other tools, as one profile.

use std::io::{self, BufReader, Read};
use std::ops::ControlFlow;

use karat_evidence::profile::Profile;
use karat_evidence::source::Layout;
use karat_importers::{ImportError, Importer, Input, Options, import};
use karat_reader::{Kind, Reader, ReaderOptions};

use super::{Question, refused};
use crate::engine::{Wanted, each_item};
use crate::error::{Code, Error};
use crate::names::{SUBJECTS, SUCCESS, TASKS};
use crate::record::Record;

/// The data.
pub struct Data {
    /// The paths as they were given.
    pub(super) given: Vec<String>,
    /// The profile of all items.
    pub(super) profile: Profile,
    /// True if an item was imported from a log.
    pub(super) has_logs: bool,
    /// True if a file is a table or JSON, and no log.
    pub(super) has_own: bool,
}

impl Data {
    /// Returns data without items, of the files at these paths.
    pub fn new(given: Vec<String>, question: &Question) -> Self {
        let known = [SUBJECTS, TASKS, SUCCESS].into_iter().flat_map(|list| list.split(' '));
        let profile = Profile::wanting(known.chain(question.fields()));
        Self { given, profile, has_logs: false, has_own: false }
    }

    /// Returns the number of items that were looked at.
    pub fn items(&self) -> u64 {
        self.profile.items()
    }

    /// Returns the number of fields that were not looked at as there are too many, and whether it is all of them.
    pub fn left_out(&self) -> (usize, bool) {
        (self.profile.left_out(), self.profile.is_left_out_whole())
    }

    /// Looks at the runs in the log of another tool.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn add_log(
        &mut self,
        input: &Input,
        importer: &'static Importer,
        options: &Options,
    ) -> Result<(), ImportError> {
        self.has_logs = true;
        import(input, importer, options, &mut |item| {
            // An importer writes JSON objects, which a profile takes.
            let _ = self.profile.add(item.json, false);
            ControlFlow::Continue(())
        })
        .map(drop)
    }

    /// Looks at the items of a table or of JSON.
    ///
    /// # Errors
    /// If it cannot be read, or an item is a record or of another kind than facts.
    pub fn add_items<R: Read>(
        &mut self,
        path: &str,
        layout: Layout,
        open: impl FnOnce() -> io::Result<R>,
    ) -> Result<(), Error> {
        let unreadable =
            |error: io::Error| Error::new(Code::Unreadable, format!("cannot read `{path}`: {error}"));
        let input = BufReader::with_capacity(1 << 16, open().map_err(unreadable)?);
        self.has_own = true;
        let ended = each_item(path, input, layout, &Wanted::nothing(), |place, item| {
            let added = item.and_then(|item| {
                self.add_item(path, item, place.is_row).map_err(|error| error.at(place.clone()))
            });
            added.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        ended.break_value().map_or(Ok(()), Err)
    }

    fn add_item(&mut self, path: &str, item: &[u8], is_row: bool) -> Result<(), Error> {
        if matches!(Record::parse(item), Ok(Some(_))) {
            return Err(refused("this is a record, which names its own scorecard")
                .hint(format!("rank what is scored already: karat leaderboard {path}")));
        }
        if let Some(kind) = kind_of(item).filter(|_| !is_row).map(Kind::name) {
            return Err(refused(format!("this looks like evidence of kind `{kind}`"))
                .hint(format!("start from a scorecard for that: karat card new my-card --kind {kind}")));
        }
        self.profile.add(item, is_row).map_err(|error| {
            refused(format!("found {error}, expected an item of evidence, a JSON object"))
                .hint("a table or JSON lines: one object for each run, with its measurements")
        })
    }
}

/// Returns the kind of evidence that an item is: one whose reader takes it whole. A field of a common name makes it none.
fn kind_of(item: &[u8]) -> Option<Kind> {
    let kind = Kind::of_item(item).filter(|kind| *kind != Kind::Facts)?;
    let mut reader = Reader::new(kind, &[], ReaderOptions::default()).ok()?;
    let is_read = reader.read(item).is_ok();
    (is_read && reader.unknown_fields().next().is_none()).then_some(kind)
}
