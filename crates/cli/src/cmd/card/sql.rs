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
                ..Query::default()
            };
            let column = |at: usize| args.sums.get(at).map(String::as_str);
            if args.sums.len() > 3 {
                let found = args.sums.len();
                let expected = "one of subjects, and perhaps one of tasks and one of outcomes";
                let message = format!("`--sums`: found {found} columns, expected {expected}");
                return Err(Error::new(Code::InvalidOption, message).into());
            }
            let by = column(0).map(|subject| By { subject, task: column(1), outcome: column(2) });
            query(&card, dialect, &asked, by)?
        }
    };
    format::text(&text)?;
    Ok(Exit::Done)
}
