//! `karat card show`: a scorecard as a person reads it.

use std::io::Write as _;

use karat::document;
use karat_terminal::cards::{find, parse};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::{Color, FAINT, Screen};

use crate::args::ShowArgs;

/// Shows the card, or the file it comes from.
pub fn run(args: &ShowArgs, color: Color) -> Result<Exit, Failure> {
    let text = find(&args.card)?;
    if args.toml {
        format::text(&text.text)?;
        return Ok(Exit::Done);
    }
    let card = parse(&text, color)?;
    let mut screen = Screen::stdout(color);
    format::screen(&document::card(&card), (usize::MAX, ""), &mut screen)?;
    writeln!(screen, "\n{FAINT}{}{FAINT:#}", card.digest)?;
    Ok(Exit::Done)
}
