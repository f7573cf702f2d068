//! `karat log monitor`: keeps the heads of a log, and says when one does not follow.

use std::io::Write as _;
use std::thread;
use std::time::Duration;

use karat::text::clean;
use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use karat_server::clock::Clock;
use karat_store::log::{VerifyingKey, WitnessKey};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::args::{Cli, LogMonitorArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::follow::{Log, State, with_evidence};
use crate::output::{CARE, FAINT, Screen, is_watched, lines, tell};
use crate::receipt;

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
    let mut log = Log::open(&args.log, args.api_key.as_deref())?;
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
            seen.push((witness.name().to_owned(), moment));
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
    let shown = Look {
        log: &args.log,
        size: followed.checkpoint.size,
        root: followed.checkpoint.root.to_string(),
        grown,
        key: kept.key.clone(),
        is_first: is_first && given.is_none(),
        has_new_key: followed.key != trusted,
        witnesses: seen,
        moment: Clock::system().now(),
    };
    shown.tell(args, cli)
}

/// The result of one look.
struct Look<'a> {
    log: &'a str,
    size: u64,
    root: String,
    /// The number of entries since the head before; none at the first look.
    grown: Option<u64>,
    key: String,
    /// True if the key was taken from the log itself.
    is_first: bool,
    has_new_key: bool,
    witnesses: Vec<(String, Timestamp)>,
    moment: Timestamp,
}

impl Look<'_> {
    fn tell(&self, args: &LogMonitorArgs, cli: &Cli) -> Result<(), Failure> {
        if args.json || (!args.table && !is_watched()) {
            let witnesses: Vec<Value> = self
                .witnesses
                .iter()
                .map(|(name, moment)| json!({"moment": moment.to_string(), "name": name}))
                .collect();
            let mut out = lines();
            let line = canonical_json(&json!({
                "grown": self.grown,
                "has_new_key": self.has_new_key,
                "is_key_from_log": self.is_first,
                "key": self.key,
                "log": self.log,
                "moment": self.moment.to_string(),
                "root": self.root,
                "schema": "karat/log-look/1",
                "size": self.size,
                "witnesses": witnesses,
            }));
            writeln!(out, "{line}")?;
            return Ok(out.flush()?);
        }
        let mut screen = Screen::stdout(cli.color);
        let grown = self.grown.map_or_else(|| String::from("first seen"), |grown| format!("+{grown}"));
        let moment = Timestamp::from_seconds(self.moment.seconds());
        writeln!(
            screen,
            "{FAINT}{moment}{FAINT:#}  {} entries  {grown}  root {}",
            self.size,
            short(&self.root)
        )?;
        if self.is_first {
            writeln!(screen, "  {CARE}the key is the one that the log names: compare it{CARE:#}")?;
            writeln!(screen, "  {}", clean(&self.key))?;
        }
        if self.has_new_key {
            writeln!(screen, "  {CARE}the log has changed its key, which the old one signed; now{CARE:#}")?;
            writeln!(screen, "  {}", clean(&self.key))?;
        }
        for (name, moment) in &self.witnesses {
            writeln!(screen, "  {FAINT}cosigned{FAINT:#}  {moment}  {}", clean(name))?;
        }
        Ok(screen.flush()?)
    }
}

/// Returns the start of a root.
fn short(root: &str) -> &str {
    root.get(..16).unwrap_or(root)
}
