//! `karat leaderboard`: subjects by rank, and which of them are tied.

use std::io::Write as _;

use karat::ask::answer::gaps_of;
use karat::ask::leaderboard::{Judged, judge, kept};
use karat::pages::leaderboard as page_of;
use karat::report;
use karat::rows::Rows;

use super::many;
use super::standing::events_of;
use crate::args::{Cli, LeaderboardArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::load::{Request, load};
use crate::output::{Screen, save_page};
use crate::render::{gate, leaderboard as screen, stress as stress_screen};

/// Ranks all subjects of the items given, and asks the gates.
pub(super) fn compute(args: &LeaderboardArgs, cli: &Cli) -> Result<(Rows, Judged), Failure> {
    let labels: Vec<String> = args.ask.group_by.iter().cloned().collect();
    let kept = kept(&args.ask);
    let asked = Request::new(&args.ask.items, args.ask.card.as_deref(), &args.files, args.form.no_progress);
    let mut rows = load(&Request { labels: &labels, kept: &kept, ..asked }, cli)?;
    let events = events_of(args.ask.events.as_deref())?;
    let judged = judge(&args.ask, &args.floors, &mut rows, &events)?;
    Ok((rows, judged))
}

/// Shows the leaderboards of the items given.
pub fn run(args: &LeaderboardArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen("leaderboard")?;
    let (rows, judged) = compute(args, cli)?;
    let Judged { answer, settings, failing, .. } = &judged;
    if let Some(path) = &args.form.html {
        save_page(path, &page_of::leaderboard(&rows, answer, settings))?;
    }
    match chosen {
        Chosen::Json => many::print(answer)?,
        Chosen::Page => format::page(&page_of::leaderboard(&rows, answer, settings))?,
        Chosen::Report(document) => format::emit(&report::leaderboard(answer, failing), document)?,
        Chosen::Screen => {
            let mut out = Screen::stdout(cli.color);
            show(args.top, &rows, &judged, &mut out)?;
            out.flush()?;
        }
    }
    gate::tell(&judged.verdict, cli.color)
}

/// Writes the screen.
pub fn show(top: Option<usize>, rows: &Rows, judged: &Judged, out: &mut Screen) -> Result<(), Failure> {
    let Judged { answer, settings, .. } = judged;
    let layout = screen::Layout { width: out.width, top: top.filter(|&top| top > 0).unwrap_or(usize::MAX) };
    let gaps = gaps_of(rows, settings.by);
    write!(out, "{}", screen::head(answer, &gaps, layout))?;
    for board in &answer.leaderboards {
        write!(out, "{}", screen::board(&answer.basis, answer.method, board, layout))?;
        if let Some(robustness) = &board.robustness {
            write!(out, "{}", stress_screen::stress(&answer.basis, robustness, out.width))?;
        }
    }
    Ok(())
}
