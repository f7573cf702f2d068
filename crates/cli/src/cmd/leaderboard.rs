//! `karat leaderboard`: subjects by rank, and which of them are tied.

use std::collections::BTreeSet;

use karat::answers::leaderboard::LeaderboardAnswer;
use karat::ask::leaderboard::kept;
use karat::document::figure::{MOST_ITEMS, history, items, profiles};
use karat::document::{Document, Part};
use karat::gate::{JudgedLeaderboard, judge_leaderboard, judge_sums};
use karat::inputs::Inputs;
use karat::leaderboard::Settings;
use karat::loaded::Source;
use karat::rows::Rows;
use karat::sums;
use karat::write::Form;
use karat_core::timestamp::Timestamp;

use super::picture;
use super::standing::events_of;
use crate::args::{Cli, LeaderboardArgs};
use crate::gate;
use crate::load::load;
use karat_terminal::cards::compiled;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::{page, save_page};

/// Ranks all subjects of the items given, and asks the gates.
pub(super) fn compute(args: &LeaderboardArgs, cli: &Cli) -> Result<(Rows, JudgedLeaderboard), Failure> {
    let labels: Vec<String> = args.ask.group_by.iter().cloned().collect();
    let kept = kept(&args.ask);
    let source = Source { labels: &labels, kept: &kept, ..Source::new(&args.ask.items, None) };
    let inputs = Inputs::new(&args.files)?;
    let mut rows = load(source, args.ask.card.as_deref(), &inputs, args.form.no_progress, cli)?;
    let events = events_of(args.ask.events.as_deref())?;
    let judged = judge_leaderboard(&args.ask, &args.floors, &mut rows, &events)?;
    Ok((rows, judged))
}

/// Shows the leaderboards of the items given.
pub fn run(args: &LeaderboardArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen()?;
    if let ([_, ..], Some(card)) = (args.from.as_slice(), &args.ask.card) {
        let sums = sums::load(compiled(card, cli.color)?, &args.ask.items.fields, &args.from)?;
        let judged = judge_sums(&args.ask, &args.floors, &sums)?;
        return show(args, cli, &judged, chosen, None, |_| judged.document_of_sums(&sums));
    }
    let (rows, judged) = compute(args, cli)?;
    let JudgedLeaderboard { answer, settings, .. } = &judged;
    show(args, cli, &judged, chosen, rows.newest(), |is_page| {
        let figures = if is_page { figures(&rows, answer) } else { Vec::new() };
        let mut document = judged.document(&rows, figures);
        if is_page {
            document.parts.extend(behind(&rows, answer, settings));
        }
        document
    })
}

/// Writes an answer in the form that is wanted, and the lines of the gates.
fn show(
    args: &LeaderboardArgs,
    cli: &Cli,
    judged: &JudgedLeaderboard,
    chosen: Chosen,
    newest: Option<Timestamp>,
    document: impl Fn(bool) -> Document,
) -> Result<Exit, Failure> {
    if let Some(path) = &args.form.html {
        save_page(path, &page(&document(true)))?;
    }
    let most = args.top.filter(|&top| top > 0).unwrap_or(usize::MAX);
    let document = document(chosen == Chosen::Form(Form::Html));
    picture::save(&args.picture, &document, newest)?;
    format::show(&judged.answer, &document, chosen, (most, ""), cli.color)?;
    gate::tell(&judged.verdict, cli.color)
}

/// Returns the figures of each leaderboard that need its items, for a page.
fn figures(rows: &Rows, answer: &LeaderboardAnswer) -> Vec<Vec<Part>> {
    answer.leaderboards.iter().map(|board| profiles(rows, board)).collect()
}

/// Returns the values over time, and the items behind the ranks, for a page.
fn behind(rows: &Rows, answer: &LeaderboardAnswer, settings: &Settings) -> Vec<Part> {
    let boards = || answer.leaderboards.iter();
    let names = boards().flat_map(|board| board.rows.iter().filter_map(|row| rows.subject(&row.subject)));
    // A subject may be on several leaderboards.
    let mut seen = BTreeSet::new();
    let subjects: Vec<usize> = names.filter(|&subject| seen.insert(subject)).collect();
    let most = MOST_ITEMS / answer.leaderboards.len().max(1);
    let groups = rows.groups();
    let listed = boards().zip(&groups).flat_map(|(board, (_, of_group))| {
        let mut parts = items(rows, board, of_group, most);
        if let (Some(group), Some(Part::Heading(heading))) = (&board.group, parts.first_mut()) {
            heading.push_str(&format!(": {group}"));
        }
        parts
    });
    history(rows, &subjects, settings).into_iter().chain(listed).collect()
}
