//! `karat log rotate`: gives a log a new key, which the old one signs into the log.

use std::path::Path;

use karat::document::{Cell, Column, Document, Part, Row, Table};
use karat::text::{Tone, clean};
use karat_server::clock::Clock;
use karat_server::folder::{self, SECRET, STORE};
use serde_json::json;

use crate::args::{Cli, LogRotateArgs};
use crate::store;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::show;

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
    let answer = json!({
        "folder": args.folder,
        "new": new,
        "old": old,
        "position": position,
        "schema": "karat/log-rotation/1",
    });
    let values = [("entry", position.to_string()), ("old", old), ("new", new)];
    let rows = values.map(|(name, value)| Row::from(vec![Cell::text(name), Cell::Text(value)]));
    let mut document = Document {
        name: "log rotate",
        title: format!("{}  has a new key, signed by the old one", args.folder),
        parts: vec![Part::Table(Table::new(
            "",
            vec![Column::name("what"), Column::text("value")],
            rows.into(),
        ))],
        ..Document::default()
    };
    let receipt = format!("  karat log receipt {} {position} --kind key --out rotation.json", args.folder);
    document.note(Tone::Plain, [String::from("Publish the new key and the receipt of the change:"), receipt]);
    show(&answer, &document, args.format.chosen()?, (usize::MAX, ""), cli.color)?;
    Ok(Exit::Done)
}
