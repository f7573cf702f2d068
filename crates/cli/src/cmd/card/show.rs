//! `karat card show`: a scorecard as a person reads it.

use std::io::Write as _;

use karat::document;
use karat::write::screen::{self, Layout};

use crate::args::ShowArgs;
use crate::cards::{find, parse};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Color, FAINT, Screen};

/// Prints the card, or the file it comes from.
pub fn run(args: &ShowArgs, screen: &mut Screen, color: Color) -> Result<Exit, Failure> {
    let text = find(&args.card)?;
    if args.toml {
        screen.write_all(text.text.as_bytes())?;
        return Ok(Exit::Done);
    }
    let card = parse(&text, color)?;
    let layout = Layout { width: screen.width, most: usize::MAX, all: "" };
    write!(screen, "{}", screen::document(&document::card(&card), layout))?;
    writeln!(screen, "\n{FAINT}{}{FAINT:#}", card.digest)?;
    Ok(Exit::Done)
}
