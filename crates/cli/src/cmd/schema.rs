//! `karat schema`: JSON Schemas of scorecards and answers.

use std::io::Write as _;

use karat::schema::ALL;
use karat::text::clean;

use crate::args::{Cli, SchemaArgs};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{Screen, lines};

/// Prints a schema, or the list of them.
///
/// # Errors
/// If there is no schema of that name.
pub fn run(args: &SchemaArgs, cli: &Cli) -> Result<Exit, Failure> {
    let Some(name) = &args.name else {
        let mut screen = Screen::stdout(cli.color);
        for described in ALL {
            writeln!(screen, "{:27}{}", described.name, described.about)?;
        }
        screen.flush()?;
        return Ok(Exit::Done);
    };
    let Some(described) = ALL.iter().find(|described| described.name == name) else {
        let names: Vec<&str> = ALL.iter().map(|described| described.name).collect();
        return Err(Failure::new(format!("there is no schema `{}`", clean(name))).one_of(name, &names));
    };
    let mut out = lines();
    let text = serde_json::to_string_pretty(&described.schema());
    let text = text.map_err(|error| Failure::new(format!("cannot write the schema: {error}")))?;
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(Exit::Done)
}
