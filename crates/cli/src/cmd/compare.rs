//! `karat compare`: the subject that is ahead on the tasks that both have, or a tie.

use std::io::Write as _;
use std::path::Path;

use karat_stats::StatisticsError;

use super::many;
use crate::args::{Cli, CompareArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Screen, save_page};
use crate::render::compare::compare;
use crate::render::page::compare as page_of;
use karat::answers::comparison::Comparison;
use karat::leaderboard::By;
use karat::leaderboard::pair::Pair;
use karat::rows::Rows;
use karat::text::{clean, short};

/// Most subjects that are named when one is not found.
const NAMED: usize = 8;

/// Compares two subjects, or the one subject of each of two files.
pub fn run(args: &CompareArgs, cli: &Cli) -> Result<Exit, Failure> {
    if args.first == args.second {
        return Err(Failure::new(format!("`{}` cannot be compared with itself", clean(&args.first)))
            .help("name two subjects: karat compare A B FILE"));
    }
    // One file and one name of no file: the other file, misspelt. Reading it reports that.
    let (rows, pair) = if args.files.is_empty() && (is_file(&args.first) || is_file(&args.second)) {
        of_files(args, cli)?
    } else {
        let rows = many::rows(&args.items, args.card.as_deref(), &args.files, &[], cli)?;
        let pair = (subject(&rows, &args.first)?, subject(&rows, &args.second)?);
        (rows, pair)
    };
    let settings = many::settings(&args.sure, By::Score, &rows);
    let pass = many::pass(args.pass, rows.scale)?;
    let pair = Pair::new(&rows, pair, pass, &settings).map_err(|error| {
        let failure = many::refused(&error, &rows);
        match error {
            StatisticsError::TooFew { .. } => {
                failure.help("two subjects are compared on the tasks that both have")
            }
            _ => failure,
        }
    })?;
    let answer = Comparison::new(&rows, &pair, &settings);
    if let Some(path) = &args.form.html {
        save_page(path, &page_of::compare(&rows, &answer, &settings))?;
    }
    if many::wants_json(&args.form) {
        many::print(&answer)?;
    } else {
        let mut out = Screen::stdout(cli.color);
        let gaps = many::gaps_of(&rows, By::Score);
        write!(out, "{}", compare(&answer, &rows.dimensions, &gaps, out.width))?;
        out.flush()?;
    }
    Ok(Exit::Done)
}

fn is_file(name: &str) -> bool {
    Path::new(name).is_file()
}

/// Reads the two files as the two subjects.
fn of_files(args: &CompareArgs, cli: &Cli) -> Result<(Rows, (usize, usize)), Failure> {
    let files = [args.first.clone(), args.second.clone()];
    let rows = many::rows_by_file(&args.items, args.card.as_deref(), &files, cli)?;
    let pair = (subject(&rows, &args.first)?, subject(&rows, &args.second)?);
    Ok((rows, pair))
}

fn subject(rows: &Rows, name: &str) -> Result<usize, Failure> {
    if let Some(found) = rows.subject(name) {
        return Ok(found);
    }
    let known = || rows.subjects.iter().map(String::as_str);
    let failure = Failure::new(format!("there is no item of `{}`", clean(name)));
    let failure = match karat_core::diagnostic::nearest(name, known()) {
        Some(near) => failure.help(format!("did you mean `{}`?", clean(near))),
        None => failure,
    };
    let shown: Vec<String> = known().take(NAMED).map(|name| format!("`{}`", short(name))).collect();
    let more = if rows.subjects.len() > NAMED { ", ..." } else { "" };
    Err(failure.help(format!("there are: {}{more}", shown.join(", "))))
}
