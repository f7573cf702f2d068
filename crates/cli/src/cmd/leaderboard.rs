//! `karat leaderboard`: who stands where, and who cannot be told apart.

use std::io::Write as _;

use karat_stats::leaderboard::Row;
use serde_json::{Value, json};

use super::many;
use crate::args::{Cli, LeaderboardArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Screen, save_page};
use crate::render::{leaderboard as screen, stress as stress_screen};
use karat_report::board::attempts::Attempts;
use karat_report::board::stress::{CONCENTRATION, Stress};
use karat_report::board::{Board, By, Settings, json as board_json};
use karat_report::pages::leaderboard as page_of;
use karat_report::rows::Rows;
use karat_report::text::clean;

/// Ranks everything that is given.
pub fn run(args: &LeaderboardArgs, cli: &Cli) -> Result<Exit, Failure> {
    let labels: Vec<String> = args.group_by.iter().cloned().collect();
    let rows = many::rows(&args.items, args.card.as_deref(), &args.files, &labels, cli)?;
    let settings = settings(args, &rows)?;
    let mut boards = boards(args, &rows, &settings)?;
    let stress = stressed(args, &rows, &boards, &settings)?;
    for (board, _) in &mut boards {
        sort(&rows, board, &args.sort)?;
    }
    if let Some(path) = &args.form.html {
        let found = boards.iter().map(|(board, _)| board).zip(stress.iter().map(Option::as_ref));
        save_page(path, &page_of::leaderboard(&rows, found, &settings))?;
    }
    if many::wants_json(&args.form) {
        let mut map = board_json::head("karat/leaderboard/1", &rows, &settings);
        let written = boards.iter().zip(&stress).map(|((board, _), stress)| {
            let mut map = board_json::board(&rows, board, &settings);
            map.insert(
                "robustness".to_owned(),
                stress.as_ref().map_or(Value::Null, |it| board_json::stress(&rows, it)),
            );
            Value::Object(map)
        });
        map.insert("boards".to_owned(), written.collect());
        map.insert("group_by".to_owned(), json!(args.group_by));
        many::print(map)?;
    } else {
        let mut out = Screen::stdout(cli.color);
        let layout =
            screen::Layout { width: out.width, top: args.top.filter(|&top| top > 0).unwrap_or(usize::MAX) };
        write!(out, "{}", screen::head(&rows, &settings, layout))?;
        for ((board, _), stress) in boards.iter().zip(&stress) {
            write!(out, "{}", screen::board(&rows, board, &settings, layout))?;
            if let Some(stress) = stress {
                write!(out, "{}", stress_screen::stress(&rows, stress, &settings, out.width))?;
            }
        }
        out.flush()?;
    }
    Ok(Exit::Done)
}

fn settings(args: &LeaderboardArgs, rows: &Rows) -> Result<Settings, Failure> {
    let by = match args.by.as_str() {
        "score" => By::Score,
        key => By::Dimension(rows.dimension(key).ok_or_else(|| unknown_key("--by", key, &["score"], rows))?),
    };
    let attempts = match args.attempts {
        Some(most) => Some(Attempts { most, pass: many::pass(args.pass, rows.scale)? }),
        None => None,
    };
    Ok(Settings { attempts, tasks_min: args.min_tasks, ..many::settings(&args.sure, by, rows) })
}

/// One board over all items, or one for each value of a field; each with its items.
fn boards(
    args: &LeaderboardArgs,
    rows: &Rows,
    settings: &Settings,
) -> Result<Vec<(Board, Vec<usize>)>, Failure> {
    let found = rows.groups().into_iter().map(|(value, items)| {
        let name = args.group_by.as_ref().zip(value).map(|(field, value)| format!("{field} = {value}"));
        let board = Board::new(rows, &items, name, settings).map_err(|error| {
            let failure = many::refused(&error, rows);
            let failure = match args.group_by.as_ref().zip(value) {
                Some((field, value)) => {
                    let (field, value) = (clean(field), clean(value));
                    failure.help(format!(
                        "this is about {field} = {value}; to go without: --where '{field}!={value}'"
                    ))
                }
                None => failure,
            };
            if args.min_tasks > 1 { failure.help("or lower --min-tasks") } else { failure }
        });
        Ok((board?, items))
    });
    found.collect()
}

/// What becomes of the ranks under other rules, where that is asked for.
fn stressed(
    args: &LeaderboardArgs,
    rows: &Rows,
    boards: &[(Board, Vec<usize>)],
    settings: &Settings,
) -> Result<Vec<Option<Stress>>, Failure> {
    if !args.robustness {
        return Ok(boards.iter().map(|_| None).collect());
    }
    let Some(card) = rows.only_card() else {
        return Err(Failure::new(
            "--robustness: the items are scored by several scorecards, each with its own weights",
        )
        .help("give the records of one challenge alone"));
    };
    let stress = |(board, items): &(Board, Vec<usize>)| {
        Stress::new(rows, items, board, card, CONCENTRATION, settings).map(Some)
    };
    boards.iter().map(stress).collect::<Result<_, _>>().map_err(|error| many::refused(&error, rows))
}

/// Puts the rows of a board in another order; their ranks stay.
fn sort(rows: &Rows, board: &mut Board, key: &str) -> Result<(), Failure> {
    let falling = |value: f64| -value;
    let dimension = rows.dimension(key);
    let profiles = &board.profiles;
    let by = |row: &Row| match (key, dimension) {
        ("tasks", _) => falling(row.estimate.tasks as f64),
        ("low", _) => falling(row.estimate.interval.low),
        ("high", _) => falling(row.estimate.interval.high),
        (_, Some(at)) => {
            let reading = profiles.get(row.subject).and_then(|profile| profile.get(at)?.as_ref());
            reading.map_or(f64::INFINITY, |reading| falling(reading.mean))
        }
        _ => 0.0,
    };
    match key {
        "rank" => {}
        "subject" => board.leaderboard.rows.sort_by_key(|row| row.subject),
        "tasks" | "low" | "high" => board.leaderboard.rows.sort_by(|a, b| by(a).total_cmp(&by(b))),
        _ if dimension.is_some() => board.leaderboard.rows.sort_by(|a, b| by(a).total_cmp(&by(b))),
        _ => return Err(unknown_key("--sort", key, &["rank", "subject", "tasks", "low", "high"], rows)),
    }
    Ok(())
}

fn unknown_key(flag: &str, key: &str, words: &[&str], rows: &Rows) -> Failure {
    let known = || words.iter().copied().chain(rows.dimensions.iter().map(|(key, _)| key.as_str()));
    let failure = Failure::new(format!("{flag}: there is no `{}`", clean(key)));
    let failure = match karat_core::diagnostic::nearest(key, known()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure,
    };
    failure.help(format!("there are: {}", known().collect::<Vec<_>>().join(", ")))
}
