//! `karat rate`: ratings from matches.

use std::io::Write as _;

use crate::args::Cli;
use crate::args::rate::{RateArgs, SystemName};
use crate::evidence::Files;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::matches::columns::{Columns, Field};
use crate::matches::{Matches, Reading};
use crate::output::{CARE, Screen, lines, save_page};
use crate::progress::Progress;
use crate::rating::{self as rating_of, report};
use crate::render::page::rate::rate as rate_page;
use crate::render::rating;
use karat::page::html;
use karat::text::{clean, list};
use karat::write::Form;

/// Rates all matches given.
pub fn run(args: &RateArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen_format = args.format.chosen()?;
    let chosen = rating_of::Chosen::new(args)?;
    check(args, &chosen)?;
    let matches = read(args, cli)?;
    let report = report(args, chosen, &matches)?;
    tell_unread(args, &matches, cli)?;
    if let Some(path) = &args.html {
        save_page(path, &html(&rate_page(&report)))?;
    }
    match chosen_format {
        Chosen::Screen => {
            let mut screen = Screen::stdout(cli.color);
            let text = rating::screen(&report, screen.width, args.top);
            write!(screen, "{text}")?;
            screen.flush()?;
        }
        Chosen::Json => {
            let mut out = lines();
            writeln!(out, "{}", report.json())?;
            out.flush()?;
        }
        Chosen::Form(Form::Html) => format::text(&html(&rate_page(&report)))?,
        Chosen::Form(form) => format::emit(&rating::rows::document(&report), form)?,
    }
    Ok(Exit::Done)
}

/// Names the columns that nothing reads.
fn tell_unread(args: &RateArgs, matches: &Matches, cli: &Cli) -> Result<(), Failure> {
    if matches.unread.is_empty() {
        return Ok(());
    }
    let mut screen = Screen::stderr(cli.color);
    let names: Vec<String> = matches.unread.iter().map(|name| format!("`{}`", clean(name))).collect();
    writeln!(screen, "{CARE}note{CARE:#}: columns that nothing reads: {}", list(&names))?;
    let is_solo = |name: &String| Field::SOLO.iter().any(|field| field.name() == name);
    if !args.arena && matches.unread.iter().any(is_solo) {
        writeln!(screen, "  matches at challenges of the arena are rated with --system elo --arena")?;
    }
    Ok(())
}

/// Refuses flags that do not go together.
fn check(args: &RateArgs, chosen: &rating_of::Chosen) -> Result<(), Failure> {
    let is_batch = args.system == SystemName::BradleyTerry;
    let keeps_state = args.state.is_some() || args.state_out.is_some();
    if is_batch && keeps_state {
        return Err(Failure::new("Bradley-Terry looks at all matches at once and keeps no state")
            .help("leave out --state and --state-out, and give all matches each time"));
    }
    if matches!(chosen, rating_of::Chosen::Glicko2(_, Some(_))) && keeps_state {
        return Err(Failure::new("--state and --state-out go match by match, and period_days is set")
            .help("leave out one of them"));
    }
    if args.bootstrap && !is_batch {
        let message = format!(
            "--bootstrap is for Bradley-Terry, whose result does not depend on the order of matches; that of {} does",
            args.system.name()
        );
        return Err(Failure::new(message).help("glicko2 and weng-lin have their own intervals"));
    }
    if args.component != Default::default() && !is_batch {
        return Err(Failure::new(format!(
            "--component is for Bradley-Terry; {} rates every competitor",
            args.system.name()
        )));
    }
    for (flag, share) in [("--level", Some(args.level)), ("--holdout", args.holdout)] {
        if let Some(share) = share.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            return Err(Failure::new(format!("{flag} is `{share}`, expected a share between 0 and 1")));
        }
    }
    Ok(())
}

fn read(args: &RateArgs, cli: &Cli) -> Result<Matches, Failure> {
    let mut columns: Columns = args.columns.clone();
    if args.arena {
        columns.add_solo();
    }
    for (field, column) in [(Field::Judge, &args.judge), (Field::Category, &args.by)] {
        if let Some(column) = column {
            columns.set(field, column);
        }
    }
    let files = Files::new(&args.files, cli.color)?;
    let progress = Progress::new(files.bytes(), args.no_progress);
    let reading = Reading {
        columns: &columns,
        renames: &args.rename,
        skip: &args.skip,
        with_judges: args.judge.is_some(),
        with_categories: args.by.is_some(),
        with_solo: args.arena,
    };
    reading.read(&files, &progress)
}
