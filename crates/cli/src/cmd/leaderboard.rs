//! `karat leaderboard`: subjects by rank, and which of them are tied.

use std::collections::BTreeSet;
use std::io::Write as _;

use karat::answers::LeaderboardMethod;
use karat::answers::basis::Basis;
use karat::answers::leaderboard::columns::{self, Column};
use karat::answers::leaderboard::floor::Floor;
use karat::answers::leaderboard::key::Key;
use karat::answers::leaderboard::method::{Page, answer, method_of_size, rank, rank_by_official};
use karat::answers::leaderboard::official::Asked;
use karat::answers::leaderboard::officials::Officials;
use karat::answers::leaderboard::{Leaderboard, LeaderboardAnswer, LeaderboardRow, MEAN, OFFICIAL};
use karat::answers::stress::Robustness;
use karat::ask::{Floor as AskedFloor, Floors, Leaderboard as AskedBoard};
use karat::leaderboard::attempts::Attempts;
use karat::leaderboard::stress::{CONCENTRATION, Stress};
use karat::leaderboard::{By, Ranking, Settings};
use karat::look_alikes::LookAlikes;
use karat::pages::leaderboard as page_of;
use karat::report::{self, Failing};
use karat::rows::Rows;
use karat::text::clean;
use karat_core::timestamp::Timestamp;
use karat_standing::stand::Interval;

use super::many;
use super::standing::events_of;
use crate::args::{Cli, LeaderboardArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::load::{Request, load};
use crate::output::{Screen, save_page};
use crate::render::gate::{self, Verdict};
use crate::render::{leaderboard as screen, stress as stress_screen};

/// Ranks all subjects of the items given, and asks the gates.
pub(super) fn compute(args: &LeaderboardArgs, cli: &Cli) -> Result<(Rows, Judged), Failure> {
    let labels: Vec<String> = args.ask.group_by.iter().cloned().collect();
    let kept = kept(&args.ask);
    let asked = Request::new(&args.ask.items, args.ask.card.as_deref(), &args.files, args.form.no_progress);
    let mut rows = load(&Request { labels: &labels, kept: &kept, ..asked }, cli)?;
    let judged = judge(&args.ask, &args.floors, &mut rows, cli)?;
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
    judged.verdict.tell(cli.color)
}

/// The answer, and what its gates found.
pub struct Judged {
    /// The answer.
    pub answer: LeaderboardAnswer,
    /// The findings.
    pub verdict: Verdict,
    /// The subjects that fail a floor.
    pub failing: Vec<Failing>,
    settings: Settings,
}

/// Returns the key of `--by`, if it is neither the official score nor the mean.
fn fact_asked(ask: &AskedBoard) -> Option<Key> {
    let flags = (ask.lower_is_better || ask.higher_is_better).then_some(ask.lower_is_better);
    let key = Key::parse(ask.by.as_deref()?);
    key.field()?;
    Some(Key { is_lower_better: key.is_lower_better.or(flags), ..key })
}

/// Returns the fields of the items that columns and the order need.
fn kept(ask: &AskedBoard) -> Vec<String> {
    let columns = ask.with.iter().flat_map(|all| all.0.iter()).filter_map(Column::kept);
    let all: BTreeSet<_> = columns.chain(fact_asked(ask).map(|key| key.name)).collect();
    all.into_iter().collect()
}

/// Ranks the subjects, and asks the gates.
pub fn judge(ask: &AskedBoard, asked_floors: &Floors, rows: &mut Rows, cli: &Cli) -> Result<Judged, Failure> {
    let by_fact = match fact_asked(ask).filter(|key| rows.dimension(&key.name).is_none()) {
        Some(key) => rank_by_fact(ask, rows, &key)?,
        None => None,
    };
    let (by, officials) = match by_fact {
        Some(by) => (by, Basing::Means(None)),
        None => by(ask, asked_floors, rows, cli)?,
    };
    let settings = settings(ask, rows, by)?;
    let method = method(ask, asked_floors, rows)?;
    let mut boards = leaderboards(ask, rows, method, &settings, officials)?;
    let columns: &[Column] = ask.with.as_ref().map_or(&[], |all| all.0.as_slice());
    for (board, (_, items)) in boards.iter_mut().zip(rows.groups()) {
        columns::add(board, rows, &items, columns, "--with")?;
    }
    boards.iter_mut().try_for_each(|board| sort(rows, board, &ask.sort))?;
    let basis = Basis::new(rows, &settings);
    let mut answer = answer(basis, method, ask.group_by.clone(), boards, Page::ALL);
    answer.mark_look_alikes(&LookAlikes::among(rows.subjects.iter().map(String::as_str)));
    let failing = failing(&floors(asked_floors, rows, by)?, asked_floors, &answer);
    let mut verdict = verdict(&failing);
    // Scores are official by one moment, whatever the group.
    let as_of = answer.leaderboards.iter().find_map(|board| Timestamp::parse(board.as_of.as_deref()?).ok());
    if let Some(as_of) = as_of.filter(|_| !asked_floors.fail_under.is_empty()) {
        gate::outside(rows, as_of).into_iter().for_each(|line| verdict.warn(line));
    }
    let of_score = asked_floors.all().filter(|it| it.dimension.is_none());
    let slight = of_score.filter_map(|floor| gate::slight("a floor", floor.least, rows.scale.max, 1));
    slight.for_each(|line| verdict.warn(line));
    Ok(Judged { verdict, answer, failing, settings })
}

/// Writes the screen.
pub fn show(top: Option<usize>, rows: &Rows, judged: &Judged, out: &mut Screen) -> Result<(), Failure> {
    let Judged { answer, settings, .. } = judged;
    let layout = screen::Layout { width: out.width, top: top.filter(|&top| top > 0).unwrap_or(usize::MAX) };
    let gaps = many::gaps_of(rows, settings.by);
    write!(out, "{}", screen::head(answer, &gaps, layout))?;
    for board in &answer.leaderboards {
        write!(out, "{}", screen::board(&answer.basis, answer.method, board, layout))?;
        if let Some(robustness) = &board.robustness {
            write!(out, "{}", stress_screen::stress(&answer.basis, robustness, out.width))?;
        }
    }
    Ok(())
}

/// Ranks by a field, if an item has it. The direction is that of the key or of the flags, else the one in which the score
/// moves.
fn rank_by_fact(ask: &AskedBoard, rows: &mut Rows, key: &Key) -> Result<Option<By>, Failure> {
    if !key.rank(rows, "--by")? {
        return Ok(None);
    }
    for (flag, is_given) in [("--attempts", ask.attempts.is_some()), ("--robustness", ask.robustness)] {
        if is_given {
            return Err(Failure::new(format!(
                "{flag} is about scores, and `{}` is a fact",
                clean(&key.name)
            ))
            .help(format!("leave out {flag}, or --by")));
        }
    }
    Ok(Some(By::Fact))
}

/// Returns the floors that are asked for.
fn floors(asked: &Floors, rows: &Rows, by: By) -> Result<Vec<Floor>, Failure> {
    for name in &asked.subject {
        many::subject(rows, name)?;
    }
    let floor = |floor: &AskedFloor| {
        let least = match &floor.dimension {
            Some(key) if rows.dimension(key).is_none() => {
                return Err(unknown_key("--fail-under", key, &[], rows));
            }
            Some(_) => floor.least.millionths() * 1000,
            None if by != By::Score => {
                return Err(Failure::new(
                    "--fail-under: these subjects are ranked by something else than points",
                )
                .help("give the dimension, such as --fail-under safety=0.99, or leave out --by"));
            }
            None => many::billionths_of_scale("--fail-under", floor.least, rows.scale)?,
        };
        Ok(Floor { dimension: floor.dimension.clone(), least, on: asked.on })
    };
    asked.all().map(floor).collect()
}

/// Returns the subjects that fail the floors.
fn failing(floors: &[Floor], asked: &Floors, answer: &LeaderboardAnswer) -> Vec<Failing> {
    let mut all = Vec::new();
    for floor in floors {
        for board in &answer.leaderboards {
            let found = floor.shortfalls(board, &asked.subject).into_iter();
            all.extend(found.map(|found| Failing {
                line: gate::below(floor, &found, board.group.as_deref(), &answer.basis),
                subject: found.subject,
                group: board.group.clone(),
                is_open: !found.is_below,
            }));
        }
    }
    all
}

/// Returns the status of the floors, and who is below.
fn verdict(failing: &[Failing]) -> Verdict {
    let of = |is_open| failing.iter().filter(|it| it.is_open == is_open).map(|it| it.line.clone()).collect();
    let mut verdict = Verdict::default();
    verdict.add(Exit::BelowBar, of(false));
    verdict.add(Exit::Inconclusive, of(true));
    verdict
}

/// Returns the method asked for, or the one for the number of items. Options that need resamples choose the bootstrap.
fn method(ask: &AskedBoard, floors: &Floors, rows: &Rows) -> Result<LeaderboardMethod, Failure> {
    let has_dimension = floors.all().any(|it| it.dimension.is_some());
    let needs = [
        ("--attempts", ask.attempts.is_some()),
        ("--robustness", ask.robustness),
        ("--fail-under of a dimension", has_dimension),
    ];
    let needs = needs.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name);
    match (ask.method.or(ask.census.then_some(LeaderboardMethod::Census)), needs) {
        (Some(LeaderboardMethod::Student), Some(name)) => {
            Err(Failure::new(format!("{name} needs resamples, and --method student draws none"))
                .help("leave out --method, or give --method bootstrap"))
        }
        (Some(method), _) => Ok(method),
        (None, Some(_)) => Ok(LeaderboardMethod::Bootstrap),
        (None, None) => Ok(method_of_size(rows.subjects.len(), rows.rows.len())),
    }
}

fn settings(ask: &AskedBoard, rows: &Rows, by: By) -> Result<Settings, Failure> {
    let attempts = match ask.attempts {
        Some(most) => Some(Attempts { most, pass: many::pass(ask.pass, rows.scale)? }),
        None => None,
    };
    Ok(Settings { attempts, tasks_min: ask.min_tasks, ..many::settings(&ask.sure, by, rows) })
}

/// Returns the basis of the means, and the official scores, or why ranks are not by them.
fn by(ask: &AskedBoard, floors: &Floors, rows: &Rows, cli: &Cli) -> Result<(By, Basing), Failure> {
    let is_asked = match ask.by.as_deref() {
        None => false,
        Some(OFFICIAL) => true,
        Some(MEAN) => return Ok((By::Score, Basing::Means(None))),
        Some(key) => {
            let known = || unknown_key("--by", key, &[OFFICIAL, MEAN], rows);
            return Ok((By::Dimension(rows.dimension(key).ok_or_else(known)?), Basing::Means(None)));
        }
    };
    let Some(card) = many::card_of(rows, cli)?.filter(|card| card.standing.is_some()) else {
        return match is_asked {
            false => Ok((By::Score, Basing::Means(None))),
            true => Err(Failure::new(
                "--by official: there are no official scores, as the scorecard has no section [standing]",
            )
            .help("rank by the mean of runs: --by mean")),
        };
    };
    let without = |why: &str| match is_asked {
        false => Ok((By::Score, Basing::Means(Some(why.to_owned())))),
        true => {
            Err(Failure::new(format!("--by official: {why}")).help("rank by the mean of runs: --by mean"))
        }
    };
    let items = &ask.items;
    let asked = Asked {
        is_selection: !items.filters.is_empty() || items.since.is_some() || items.until.is_some(),
        is_grouped: ask.group_by.is_some(),
        has_other_outcomes: !ask.sure.counts.is_empty(),
    };
    if let Some(why) = asked.without_official() {
        return without(why);
    }
    let events = events_of(ask.events.as_deref())?;
    let as_of = items.as_of.as_ref().map(|as_of| as_of.at).or_else(|| rows.newest());
    let plan = many::plan(&ask.sure.confidence);
    let is_drawn = method(ask, floors, rows)? == LeaderboardMethod::Bootstrap;
    let interval = is_drawn.then_some(Interval { plan, level: ask.sure.confidence.level });
    match Officials::new(rows, &card, &events, as_of.unwrap_or(Timestamp { milliseconds: 0 }), interval) {
        Ok(officials) => Ok((By::Score, Basing::Officials(officials))),
        Err(error) if rows.newest().is_none() => without(&error.to_string()),
        Err(error) => Err(error.into()),
    }
}

/// The basis of ranks.
enum Basing {
    /// Official scores.
    Officials(Officials),
    /// Means; with the reason if it was not asked for and the scorecard has official scores.
    Means(Option<String>),
}

/// Returns one leaderboard over all items, or one for each value of a field.
fn leaderboards(
    ask: &AskedBoard,
    rows: &Rows,
    method: LeaderboardMethod,
    settings: &Settings,
    basing: Basing,
) -> Result<Vec<Leaderboard>, Failure> {
    let (officials, without_official) = match basing {
        Basing::Officials(officials) => (Some(officials), None),
        Basing::Means(why) => (None, why),
    };
    let found = rows.groups().into_iter().map(|(value, items)| {
        let name = ask.group_by.as_ref().zip(value).map(|(field, value)| format!("{field} = {value}"));
        let ranked = match &officials {
            Some(officials) => rank_by_official(rows, &items, method, settings, Page::ALL, officials),
            None => rank(rows, &items, name, method, settings, Page::ALL),
        };
        let ranked = ranked.map_err(|error| {
            let failure = many::refused(&error, rows);
            let failure = match ask.group_by.as_ref().zip(value) {
                Some((field, value)) => {
                    let (field, value) = (clean(field), clean(value));
                    failure.help(format!(
                        "this is about {field} = {value}; to leave it out: --where '{field}!={value}'"
                    ))
                }
                None => failure,
            };
            if ask.min_tasks > 1 { failure.help("or lower --min-tasks") } else { failure }
        })?;
        let robustness = match ranked.ranking.filter(|_| ask.robustness) {
            Some(ranking) => Some(robustness(rows, &items, &ranking, settings)?),
            None => None,
        };
        let without_official = without_official.clone();
        Ok(Leaderboard { robustness, without_official, ..ranked.leaderboard })
    });
    found.collect()
}

/// Returns how the ranks change under other weights, dimensions and means.
fn robustness(
    rows: &Rows,
    items: &[usize],
    ranking: &Ranking,
    settings: &Settings,
) -> Result<Robustness, Failure> {
    let Some(card) = rows.only_card() else {
        return Err(Failure::new(
            "--robustness: the items are scored by several scorecards, each with its own weights",
        )
        .help("give the records of one challenge alone"));
    };
    let found = Stress::new(rows, items, ranking, card, CONCENTRATION, settings);
    Ok(Robustness::new(rows, &found.map_err(|error| many::refused(&error, rows))?))
}

/// Sorts the rows of a leaderboard by a key; their ranks are unchanged.
fn sort(rows: &Rows, board: &mut Leaderboard, key: &str) -> Result<(), Failure> {
    let has_dimension = rows.dimension(key).is_some() || board.columns.iter().any(|column| column == key);
    let by = |row: &LeaderboardRow| {
        let value = match key {
            _ if row.columns.contains_key(key) => row.column(key),
            "tasks" => Some(row.tasks as f64),
            "low" => row.score.low,
            "high" => row.score.high,
            _ => row.dimensions.as_ref().and_then(|all| all.get(key)?.as_ref()).map(|value| value.mean),
        };
        value.map_or(f64::INFINITY, |value| -value)
    };
    match key {
        "rank" => {}
        "subject" => board.rows.sort_by(|a, b| a.subject.cmp(&b.subject)),
        "tasks" | "low" | "high" => board.rows.sort_by(|a, b| by(a).total_cmp(&by(b))),
        _ if has_dimension => board.rows.sort_by(|a, b| by(a).total_cmp(&by(b))),
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
