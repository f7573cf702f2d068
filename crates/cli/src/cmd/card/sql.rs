//! `karat card sql`: a scorecard as a query.

use karat::error::{Code, Error};
use karat::sql::{By, Dialect, Query, query, self_check};
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::Color;

use crate::args::SqlArgs;

/// Prints the query.
pub fn run(args: &SqlArgs, color: Color) -> Result<Exit, Failure> {
    let card = cards::compiled(&args.card, color)?;
    let dialect = Dialect::from_name(&args.dialect).unwrap_or(Dialect::DuckDb);
    let text = match args.self_check {
        Some(rows) => self_check(&card, dialect, rows)?,
        None => {
            let asked = Query {
                table: args.table.as_deref().unwrap_or_default(),
                without: &args.without,
                keep: &args.keep,
                unique: &args.unique,
                elapsed_seconds: args.elapsed_seconds.as_deref(),
                has_values: args.values,
            };
            let by = match args.sums.as_slice() {
                [] => None,
                [subject] => Some(By { subject, task: None }),
                [subject, task] => Some(By { subject, task: Some(task) }),
                _ => {
                    let found = format!(
                        "found {} columns, expected one of subjects and perhaps one of tasks",
                        args.sums.len()
                    );
                    return Err(Error::new(Code::InvalidOption, format!("`--sums`: {found}")).into());
                }
            };
            query(&card, dialect, &asked, by)?
        }
    };
    format::text(&text)?;
    Ok(Exit::Done)
}
