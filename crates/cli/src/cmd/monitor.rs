//! `karat log monitor`: keeps the heads of a log, and says when one does not follow.

use std::thread;
use std::time::Duration;

use karat::document::{Cell, Column, Document, Part, Row, Table};
use karat::text::Tone;
use karat_core::timestamp::Timestamp;
use karat_server::clock::Clock;
use karat_store::log::{VerifyingKey, WitnessKey};
use serde::{Deserialize, Serialize};

use crate::args::{Cli, LogMonitorArgs};
use crate::follow::{Log, State, with_evidence};
use crate::receipt;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::show;
use karat_terminal::output::tell;

/// Most heads that are kept. The newest one is enough to notice a change of the past; the others are for people.
const HEADS_MAX: usize = 1000;
/// The time between two looks, if none is given.
const USUAL: Duration = Duration::from_secs(60);

/// The state of a monitor about a log.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    schema: Schema,
    /// The key of the log as of the newest head.
    key: String,
    /// The heads that were seen, the newest last.
    heads: Vec<String>,
}

#[derive(Serialize, Deserialize)]
enum Schema {
    #[serde(rename = "karat/monitor/1")]
    V1,
}

/// Watches a log.
pub fn run(args: &LogMonitorArgs, cli: &Cli) -> Result<Exit, Failure> {
    let state = args.state.as_deref().map(State::open).transpose()?;
    let witnesses: Vec<WitnessKey> =
        args.witness.iter().map(|given| receipt::witness(given)).collect::<Result<_, _>>()?;
    let mut kept: Option<Kept> = match &state {
        Some(state) => state.read()?,
        None => None,
    };
    let given = args.key.as_deref().map(receipt::key).transpose()?;
    if let (Some(given), Some(kept)) = (&given, &kept)
        && kept.key.parse::<VerifyingKey>().is_ok_and(|own| own.name() != given.name())
    {
        return Err(Failure::new("the state belongs to another log than the key")
            .help("use a separate file for each log"));
    }
    let mut is_reached = false;
    let pause = args.every.map_or(USUAL, |seconds| Duration::from_secs(seconds.into()));
    loop {
        let looked =
            look(args, cli, &witnesses, given.as_ref(), &mut kept).and_then(|()| match (&state, &kept) {
                (Some(state), Some(kept)) => state.write(kept),
                _ => Ok(()),
            });
        match looked {
            Ok(()) => is_reached = true,
            // A log that was reached before and is not now is looked at again; one that changed its past is not.
            Err(failure) if is_reached && failure.exit() == Exit::CouldNotRun => tell(cli.color, &failure),
            Err(failure) => return Err(failure),
        }
        if args.once {
            return Ok(Exit::Done);
        }
        thread::sleep(pause);
    }
}

/// Reads the head once, and takes it into what is kept.
fn look(
    args: &LogMonitorArgs,
    cli: &Cli,
    witnesses: &[WitnessKey],
    given: Option<&VerifyingKey>,
    kept: &mut Option<Kept>,
) -> Result<(), Failure> {
    let mut log = Log::open(&args.log, args.key_file.of())?;
    let trusted = match (kept.as_ref().map(|kept| kept.key.parse()), given) {
        (Some(Ok(own)), _) => own,
        (Some(Err(_)), _) => {
            return Err(Failure::new("the key that was kept is not the public key of a log"));
        }
        (None, Some(given)) => given.clone(),
        (None, None) => log.key()?,
    };
    let is_first = kept.is_none();
    let before = kept.as_ref().and_then(|kept| kept.heads.last()).cloned();
    let word = log.word()?;
    let evidence = |failure| with_evidence(failure, args.state.as_deref(), before.as_deref(), &word.head);
    let followed = log.follow(&trusted, before.as_deref(), &word).map_err(evidence)?;
    let mut seen = Vec::new();
    if !witnesses.is_empty() {
        let note = log.cosigned(&followed)?;
        for witness in witnesses {
            let seconds = witness.open(&note).map_err(|error| {
                let problem = format!("the newest cosigned head: {error}");
                with_evidence(
                    Failure::with_exit(Exit::VerificationFailed, problem),
                    args.state.as_deref(),
                    None,
                    &note,
                )
            })?;
            let moment = Timestamp::from_seconds(i64::try_from(seconds).unwrap_or(i64::MAX));
            seen.push(Seen { moment: moment.to_string(), name: witness.name().to_owned() });
        }
    }
    let old = before.as_deref().and_then(|head| karat_store::log::Checkpoint::claimed(head).ok());
    let grown = old.map(|(_, old)| followed.checkpoint.size - old.size.min(followed.checkpoint.size));
    let kept = kept.get_or_insert_with(|| Kept { schema: Schema::V1, key: String::new(), heads: Vec::new() });
    kept.key = followed.key.to_string();
    if before.as_deref() != Some(word.head.as_str()) {
        kept.heads.push(word.head.clone());
        let extra = kept.heads.len().saturating_sub(HEADS_MAX);
        kept.heads.drain(..extra);
    }
    let look = Look {
        schema: "karat/log-look/1",
        log: &args.log,
        size: followed.checkpoint.size,
        root: followed.checkpoint.root.to_string(),
        grown,
        key: kept.key.clone(),
        is_key_from_log: is_first && given.is_none(),
        has_new_key: followed.key != trusted,
        witnesses: seen,
        moment: Clock::system().now().to_string(),
    };
    show(&look, &look.document(), args.format.chosen()?, (usize::MAX, ""), cli.color)
}

/// The result of one look.
#[derive(Serialize)]
struct Look<'a> {
    schema: &'static str,
    log: &'a str,
    size: u64,
    root: String,
    /// The number of entries since the head before; none at the first look.
    grown: Option<u64>,
    key: String,
    is_key_from_log: bool,
    has_new_key: bool,
    witnesses: Vec<Seen>,
    moment: String,
}

/// A witness, and when it cosigned.
#[derive(Serialize)]
struct Seen {
    moment: String,
    name: String,
}

impl Look<'_> {
    fn document(&self) -> Document {
        let grown = self.grown.map_or_else(|| String::from("first seen"), |grown| format!("+{grown}"));
        let root = self.root.get(..16).unwrap_or(&self.root);
        let mut document = Document {
            name: "log monitor",
            title: format!("{}  {} entries  {grown}  root {root}", self.moment, self.size),
            ..Document::default()
        };
        let from_log = "the key is the one that the log names: compare it";
        let new = "the log has changed its key, which the old one signed; now";
        for said in [(self.is_key_from_log, from_log), (self.has_new_key, new)] {
            document.note(Tone::Care, said.0.then(|| format!("{} {}", said.1, self.key)));
        }
        let row = |seen: &Seen| Row::from(vec![Cell::text(&seen.name), Cell::text(&seen.moment)]);
        let columns = vec![Column::name("witness"), Column::text("cosigned")];
        if !self.witnesses.is_empty() {
            let rows = self.witnesses.iter().map(row).collect();
            document.parts.push(Part::Table(Table::new("", columns, rows)));
        }
        document
    }
}
