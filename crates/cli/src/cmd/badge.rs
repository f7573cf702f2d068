//! `karat badge`: the score of a subject in one line, as SVG or for shields.io.

use karat::badge::Badge;
use karat::headline::day;
use karat::text::short;

use super::leaderboard::compute;
use crate::args::{BadgeArgs, Cli, FormArgs, LeaderboardArgs};
use karat::ask::Leaderboard;
use karat::ask::answer::{card_of, subject as subject_of};
use karat::gate::JudgedLeaderboard as Judged;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;

/// Most subjects that are named.
const NAMED: usize = 8;

/// Writes the badge of a subject.
pub fn run(args: &BadgeArgs, cli: &Cli) -> Result<Exit, Failure> {
    let asked = LeaderboardArgs {
        ask: Leaderboard {
            card: args.card.clone(),
            items: args.items.clone(),
            by: args.by.clone(),
            events: args.events.clone(),
            sure: args.sure.clone(),
            ..Leaderboard::default()
        },
        form: FormArgs { no_progress: args.no_progress, ..FormArgs::default() },
        files: args.files.clone(),
        ..LeaderboardArgs::default()
    };
    let (rows, Judged { answer, .. }) = compute(&asked, cli)?;
    let subject = match &args.subject {
        Some(name) => {
            subject_of(&rows, name)?;
            name.clone()
        }
        None => match rows.subjects.as_slice() {
            [only] => only.clone(),
            several => {
                let names: Vec<String> =
                    several.iter().take(NAMED).map(|name| format!("`{}`", short(name))).collect();
                let more = if several.len() > NAMED { ", ..." } else { "" };
                return Err(Failure::new(format!(
                    "there are {} subjects, and a badge shows one",
                    several.len()
                ))
                .help("choose one with --subject NAME")
                .help(format!("there are: {}{more}", names.join(", "))));
            }
        },
    };
    let card = card_of(&rows)?;
    let newest = rows.newest().map(|time| day(&time.to_string()));
    let badge =
        Badge::of(&answer, card.as_deref(), &subject, args.show, args.label.clone(), newest.as_deref());
    format::text(&if args.endpoint { badge.endpoint() } else { badge.svg() })?;
    Ok(Exit::Done)
}
