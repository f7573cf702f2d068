//! `karat log rotate`: gives a log a new key, which the old one signs into the log.

use std::io::Write as _;
use std::path::Path;

use karat::text::clean;
use karat_evidence::canonical_json;
use karat_server::clock::Clock;
use karat_server::folder::{self, SECRET, STORE};
use serde_json::json;

use crate::args::{Cli, LogRotateArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{FAINT, STRONG, Screen, is_watched, lines};
use crate::store;

/// Replaces the key of a log.
pub fn run(args: &LogRotateArgs, cli: &Cli) -> Result<Exit, Failure> {
    let database = store::database(&args.folder)?;
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if database.file_name().is_none_or(|name| name != STORE) || !folder.join(SECRET).exists() {
        let message =
            format!("`{}` is not the folder of a server with `{SECRET}` in it", clean(&args.folder));
        return Err(Failure::new(message).help("the key that signs the log is needed, to sign the new one"));
    }
    let rotated = folder::rotate(folder, Clock::system().now()).map_err(|error| store::refused(&error))?;
    let (old, new, position) = (rotated.old.to_string(), rotated.new.to_string(), rotated.position);
    if args.json || (!args.table && !is_watched()) {
        let line = canonical_json(&json!({
            "folder": args.folder,
            "new": new,
            "old": old,
            "position": position,
            "schema": "karat/log-rotation/1",
        }));
        let mut out = lines();
        writeln!(out, "{line}")?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let mut screen = Screen::stdout(cli.color);
    writeln!(screen, "{STRONG}{}{STRONG:#}  has a new key, signed by the old one\n", clean(&args.folder))?;
    for (name, value) in [("entry", position.to_string()), ("old", old), ("new", new)] {
        writeln!(screen, "  {FAINT}{name:<5}{FAINT:#}  {}", clean(&value))?;
    }
    writeln!(screen, "\nPublish the new key and the receipt of the change:")?;
    writeln!(
        screen,
        "  karat log receipt {} {position} --kind key --out rotation.json",
        clean(&args.folder)
    )?;
    screen.flush()?;
    Ok(Exit::Done)
}
