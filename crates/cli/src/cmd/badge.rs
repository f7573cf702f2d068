//! `karat badge`: the score of a subject in one line, as SVG or for shields.io.

use karat::answers::leaderboard::{LeaderboardAnswer, LeaderboardRow};
use karat::badge::{Badge, Color};
use karat::text::{clean, ranks, short};
use karat_core::number::Decimal;
use karat_core::scorecard::Scorecard;

use super::leaderboard::compute;
use crate::args::{BadgeArgs, Cli, FormArgs, LeaderboardArgs, Show};
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
    let badge = badge(&answer, card.as_deref(), &subject, args.show, args.label.clone());
    format::text(&if args.endpoint { badge.endpoint() } else { badge.svg() })?;
    Ok(Exit::Done)
}

/// Returns the badge of a subject. One without a rank has none of what is asked for.
fn badge(
    answer: &LeaderboardAnswer,
    card: Option<&Scorecard>,
    subject: &str,
    show: Show,
    label: Option<String>,
) -> Badge {
    let board = answer.leaderboards.first();
    let row = board.and_then(|board| board.rows.iter().find(|row| row.subject == subject));
    let title = card.map(|card| if card.title.is_empty() { card.name() } else { card.title.clone() });
    let label = label.or(title).unwrap_or_else(|| subject.to_owned());
    let Some((board, row)) = board.zip(row) else {
        return Badge { label, value: String::from("no score"), color: Color::Grey };
    };
    let writing = board.writing(answer.basis.scale);
    let number = writing.number(row.score.mean);
    let place = card.filter(|_| board.is_of_scores()).and_then(|card| band(card, row));
    let value = match show {
        Show::Interval => match row.score.interval() {
            Some(ends) => format!("{number} ({})", writing.ends(Some(ends))),
            None => number,
        },
        Show::Score => number,
        Show::Rank => {
            let ties = row.ties();
            let ties = if ties.is_empty() { ties } else { format!(" {ties}") };
            format!("{} of {}{ties}", ranks(row.shown_ranks()), board.ranked)
        }
        Show::Band => {
            let tier = row.official.as_ref().and_then(|official| official.tier.clone());
            place.as_ref().map(|(name, _)| name.clone()).or(tier).unwrap_or_else(|| String::from("no band"))
        }
    };
    Badge { label, value: clean(&value).into_owned(), color: place.map_or(Color::Blue, |(_, color)| color) }
}

/// Returns the band of a score and its colour; of a card without bands the tier that these points are enough for.
fn band(card: &Scorecard, row: &LeaderboardRow) -> Option<(String, Color)> {
    let bands = card.bands.iter().map(|band| (&band.name, band.from));
    let tiers = card.tiers.iter().map(|tier| (&tier.name, tier.score));
    let mut levels: Vec<(&String, Decimal)> =
        if card.bands.is_empty() { tiers.collect() } else { bands.collect() };
    levels.sort_by_key(|(_, from)| *from);
    // As published: cut at millionths of a point, so that a score is never in a band above its own.
    let points = (row.score.mean * 1e6 + 1e-3).floor();
    let at = levels.iter().rposition(|(_, from)| from.millionths() as f64 <= points)?;
    let name = levels.get(at).map(|(name, _)| (*name).clone())?;
    Some((name, Color::of_band(at, levels.len())))
}
