//! `karat rate`: ratings from matches.

use std::io::Write as _;
use std::ops::ControlFlow;

use karat::error::Error;
use karat::inputs::Inputs;
use karat::ratings::{self, MatchReader, Matches, Question, Rating, STATE_MARK};
use karat::text::{clean, list};

use crate::args::Cli;
use crate::args::rate::RateArgs;
use crate::progress::Progress;
use karat::document;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::input::read_text;
use karat_terminal::output::{CARE, Screen, page, replace_own, save_page};

/// A file that `--state-out` writes, in words.
const STATE: &str = "a file of ratings";

/// Rates all matches given.
pub fn run(args: &RateArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen()?;
    args.question.check(args.state.is_some() || args.state_out.is_some())?;
    let matches = read(&args.question, &args.files, args.form.no_progress, cli)?;
    let rating = rate(args, &matches)?;
    tell_unread(args, &matches, cli)?;
    let document = document::ratings(&rating);
    if let Some(path) = &args.form.html {
        save_page(path, &page(&document))?;
    }
    let most = if args.top == 0 { usize::MAX } else { args.top };
    format::show(&rating, &document, chosen, (most, "; --top 0 shows all"), cli.color)?;
    Ok(Exit::Done)
}

/// Rates the matches, after those behind a file if one is named.
fn rate(args: &RateArgs, matches: &Matches) -> Result<Rating, Failure> {
    if args.state.is_none() && args.state_out.is_none() {
        return Ok(ratings::rate(&args.question, matches)?);
    }
    let before = match args.state.as_deref() {
        Some(path) => Some((path, read_text(path, STATE, Exit::CouldNotRun)?)),
        None => None,
    };
    let before = before.as_ref().map(|(path, text)| (*path, text.as_str()));
    let (rating, after) = ratings::resume(&args.question, matches, before)?;
    if let Some(path) = &args.state_out {
        replace_own(path, after.as_bytes(), STATE_MARK.as_bytes(), STATE)?;
    }
    Ok(rating)
}

/// Names the columns that nothing reads.
fn tell_unread(args: &RateArgs, matches: &Matches, cli: &Cli) -> Result<(), Failure> {
    if matches.unread().is_empty() {
        return Ok(());
    }
    let mut screen = Screen::stderr(cli.color);
    let names: Vec<String> = matches.unread().iter().map(|name| format!("`{}`", clean(name))).collect();
    writeln!(screen, "{CARE}note{CARE:#}: columns that nothing reads: {}", list(&names))?;
    if !args.question.arena && matches.has_unread_challenges() {
        writeln!(screen, "  matches at challenges of the arena are rated with --system elo --arena")?;
    }
    let unread = matches.unread();
    let sides = unread.iter().filter_map(|name| name.strip_prefix("first_"));
    let sides = sides.filter(|name| unread.iter().any(|other| other.strip_prefix("second_") == Some(name)));
    let sides: Vec<_> = sides.map(clean).collect();
    if args.question.covariates.is_empty() && !sides.is_empty() {
        writeln!(screen, "  numbers of both sides can be controlled for: --covariates {}", sides.join(","))?;
    }
    Ok(())
}

/// Reads the matches that a question is about.
pub fn read(question: &Question, files: &[String], no_progress: bool, cli: &Cli) -> Result<Matches, Failure> {
    let mut reader = MatchReader::new(question)?;
    Inputs::new(files)?.each(&reader.wanted(), &Progress::new(no_progress, cli), |place, row| {
        reader.add(place, row);
        Ok::<_, Error>(ControlFlow::Continue(()))
    })?;
    Ok(reader.finish()?)
}
