//! `karat log witness`: checks that a log goes on from the head that was cosigned last, and cosigns its head.

use std::io::Write as _;
use std::path::Path;

use karat::text::clean;
use karat_server::clock::Clock;
use karat_server::secret::draw;
use karat_store::log::{VerifyingKey, Witness};
use karat_store::secret::Secret;
use serde::{Deserialize, Serialize};

use crate::args::{Cli, LogWitnessArgs};
use crate::follow::{Log, State, with_evidence};
use crate::{receipt, store};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{Screen, lines};

/// The state of a witness about a log.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    schema: Schema,
    /// The key of the log as of the head.
    key: String,
    /// The last head that was cosigned, without cosignatures.
    checkpoint: String,
}

#[derive(Serialize, Deserialize)]
enum Schema {
    #[serde(rename = "karat/witness/1")]
    V1,
}

/// Cosigns the head of a log.
pub fn run(args: &LogWitnessArgs, cli: &Cli) -> Result<Exit, Failure> {
    let mut log = Log::open(&args.log, args.key_file.of())?;
    if args.send && !log.is_server() {
        return Err(
            Failure::new("--send needs the address of a server").help("such as http://127.0.0.1:7373")
        );
    }
    let mut notes = Screen::stderr(cli.color);
    let state = State::open(&args.state)?;
    let kept: Option<Kept> = state.read()?;
    let trusted = trusted(args, kept.as_ref())?;
    let (witness, is_new) = witness(&args.key, args.name.as_deref())?;
    if is_new {
        writeln!(notes, "made the secret key of the witness in `{}`; its public key:", args.key.display())?;
        writeln!(notes, "{}", witness.verifying_key())?;
    }
    let word = log.word()?;
    let before = kept.as_ref().map(|kept| kept.checkpoint.as_str());
    let followed = log.follow(&trusted, before, &word).map_err(|failure| {
        with_evidence(failure, Some(&args.state), before, &word.head).help("nothing was cosigned")
    })?;
    let signed = followed.key.alone(&word.head).map_err(|error| Failure::new(error.to_string()))?;
    if followed.key != trusted {
        writeln!(notes, "the log has changed its key, which the old one signed; now `{}`", followed.key)?;
    }
    let seconds = u64::try_from(Clock::system().now().seconds()).unwrap_or_default();
    let note = witness.cosign(&signed, seconds).map_err(|error| Failure::new(error.to_string()))?;
    // Before anyone can see the cosignature: what was cosigned once is never forgotten.
    state.write(&Kept { schema: Schema::V1, key: followed.key.to_string(), checkpoint: signed })?;
    let mut out = lines();
    out.write_all(note.as_bytes())?;
    out.flush()?;
    if args.send {
        log.send(&note)?;
        writeln!(notes, "sent to {}", clean(&log.name))?;
    }
    notes.flush()?;
    Ok(Exit::Done)
}

/// Returns the key of the log that is trusted: the one that is kept, or at first the one that is given.
fn trusted(args: &LogWitnessArgs, kept: Option<&Kept>) -> Result<VerifyingKey, Failure> {
    let given = args.log_key.as_deref().map(receipt::key).transpose()?;
    let path = args.state.display();
    match (kept, given) {
        (None, Some(given)) => Ok(given),
        (None, None) => Err(Failure::new("the first time a witness needs the public key of the log").help(
            "--log-key KEY, as the operator of the log publishes it; later it is kept in the file of --state",
        )),
        (Some(kept), given) => {
            let wrong = |_| Failure::new(format!("`{path}`: its `key` is not the public key of a log"));
            let own: VerifyingKey = kept.key.parse().map_err(wrong)?;
            match given {
                Some(given) if given.name() != own.name() => Err(Failure::new(format!(
                    "`{path}` is of the log `{}`, and the key is of `{}`",
                    clean(own.name()),
                    clean(given.name())
                ))
                .help("use a separate file for each log")),
                _ => Ok(own),
            }
        }
    }
}

/// Reads the key of the witness; makes it if there is no file. Says whether it is new.
fn witness(path: &Path, name: Option<&str>) -> Result<(Witness, bool), Failure> {
    let refused = |error| store::refused(&error);
    let found = Secret::read(path).map_err(refused)?;
    let is_new = found.is_none();
    let secret = match found {
        Some(secret) => secret,
        None => {
            let secret = draw(name).map_err(refused)?;
            secret.write(path).map_err(refused)?;
            secret
        }
    };
    let witness = secret.witness().map_err(refused)?;
    let own = witness.verifying_key().name();
    match name {
        Some(name) if name != own => Err(Failure::new(format!(
            "`{}` is the key of `{}`, not of `{}`",
            path.display(),
            clean(own),
            clean(name)
        ))),
        _ => Ok((witness, is_new)),
    }
}
