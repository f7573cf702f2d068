//! Loading scored items from files: records, or evidence that is scored on the way.

use std::borrow::Cow;

use karat_core::timestamp::WrittenTimestamp;
use karat_evidence::Kind;
use karat_report::rows::problems::{Problems, said};
use karat_report::rows::{Loader, Rows, Selection};
use karat_report::session::{Session, Wanted};

use crate::args::Cli;
use crate::cards;
use crate::evidence::{Files, Flow};
use crate::graders;
use crate::progress::Progress;
use karat_report::failure::Failure;
use karat_report::recompute;

/// What is to be loaded.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Records, or evidence for `card`.
    pub files: &'a [String],
    /// The rule that scores evidence; records name their own.
    pub card: Option<&'a str>,
    /// The field of an item of facts that says who is scored.
    pub subject_field: Option<&'a str>,
    /// The time of the verdict, for evidence that is graded by it.
    pub as_of: Option<WrittenTimestamp<'a>>,
    /// Which items are wanted.
    pub selection: Selection<'a>,
    /// No progress bar.
    pub quiet: bool,
}

/// Loads everything, or says everything that is wrong.
pub fn load(request: &Request<'_>, cli: &Cli) -> Result<Rows, Failure> {
    let given = request.card.map(|card| cards::scorer(card, cli.color)).transpose()?;
    let mut session = match &given {
        Some(scorer) => {
            let graders = graders::of_card(
                scorer.card(),
                &Default::default(),
                request.as_of.map(|as_of| as_of.at),
                cli.portable,
            )?;
            Some(Session::new(scorer, request.subject_field, graders, cli.portable)?)
        }
        None => None,
    };
    let wanted = session
        .as_ref()
        .map_or(Wanted { kind: Kind::Facts, facts: Vec::new(), columns: Vec::new() }, Session::wanted);
    let files = Files::new(request.files, cli.color)?;
    let progress = Progress::new(files.bytes(), request.quiet);
    let mut loader = Loader::new(request.selection)?;
    if let Some(scorer) = &given {
        loader.scorer(scorer);
    }
    let mut problems = Problems::default();
    files.each(&wanted, &progress, &mut |place, bytes| {
        let (shown, file) = (place.to_string(), place.file);
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(refusal) => {
                problems.add(refusal.to_string());
                return Ok(Flow::Continue);
            }
        };
        let claim = match recompute::claim(bytes) {
            Ok(claim) => claim,
            Err(failure) => {
                problems.add_failure(&shown, &failure);
                return Ok(Flow::Continue);
            }
        };
        let told = match (claim, &mut session) {
            (Some(claim), _) => {
                let base = recompute::base(&claim, given.as_ref().or_else(|| loader.known(&claim)));
                let base = base.map(Cow::into_owned);
                let is_at_hand = |named: String| given.is_some() || cards::released(&named).is_some();
                if let (Err(failure), Ok(false)) = (base.as_ref(), claim.card().map(is_at_hand)) {
                    // It is missing for all of its records: said once.
                    return Err(Failure::new(format!("{shown}: {}", said(failure))));
                }
                let told =
                    base.and_then(|base| loader.add_record(&claim, &base, cli.portable, (&shown, file)));
                if let Err(failure) = told {
                    problems.add_failure(&shown, &failure);
                    return Ok(Flow::Continue);
                }
                Ok(())
            }
            (None, Some(session)) => session
                .score(&place, Ok(bytes), request.as_of, |record, _| loader.add(&shown, file, 0, record))
                .map_err(|refusal| refusal.to_string()),
            (None, None) => {
                return Err(Failure::new(format!("{shown}: this is not a record, so it needs a scorecard"))
                    .help("say how to score it: --card workflow")
                    .help("`karat card list` names the scorecards that come with karat"));
            }
        };
        if let Err(problem) = told {
            problems.add(problem);
        }
        Ok(Flow::Continue)
    })?;
    drop(progress);
    problems.end("nothing was computed: correct what is refused, or leave it out")?;
    loader.finish()
}
