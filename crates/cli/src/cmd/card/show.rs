//! `karat card show`: a scorecard as a person reads it.

use karat::document;
use karat_terminal::cards::{find, parse};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::{Color, Screen};

use crate::args::ShowArgs;

/// Shows the card, or the file it comes from.
pub fn run(args: &ShowArgs, color: Color) -> Result<Exit, Failure> {
    let text = find(&args.card)?;
    if args.toml {
        format::text(&text.text)?;
        return Ok(Exit::Done);
    }
    let card = document::scorecard(&parse(&text, color)?);
    format::screen(&card, (usize::MAX, ""), &mut Screen::stdout(color))?;
    Ok(Exit::Done)
}
