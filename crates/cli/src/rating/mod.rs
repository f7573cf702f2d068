//! Ratings of competitors from matches, with everything that the screen, the page and the JSON say of them.
//!
//! - `settings`: the system that was asked for; `state`: ratings between two seasons
//! - `online`: Elo, Glicko-2, Weng-Lin; `batch`, `resamples`: Bradley-Terry and its bootstrap; `holdout`: predictions
//! - `solo`: careers from matches at challenges
//! - `agreement`: the agreement of judges with people
//! - `board`, `report`: the results, as data and as JSON

mod agreement;
mod batch;
mod board;
mod holdout;
mod online;
mod report;
mod resamples;
mod settings;
mod solo;
mod state;

use karat_stats::rating::{BradleyTerry, Glicko2, Season};

use crate::args::rate::{RateArgs, SystemName};
use crate::failure::Failure;
use crate::matches::Matches;
pub use agreement::{Agreement, Judged};
pub use batch::named;
use board::Input;
pub use board::{Board, Line, Tally};
pub use holdout::{Forecaster, Holdout};
use online::{Rated, Stored};
pub use report::{Intervals, Report};
pub use settings::{Chosen, described};
pub use solo::{Careers, Played};

/// Rates all matches.
pub fn report(args: &RateArgs, chosen: Chosen, matches: &Matches) -> Result<Report, Failure> {
    if (args.state.is_some() || args.state_out.is_some()) && !matches.has_time {
        return Err(Failure::new(
            "the matches have no time, so it is unknown which come after the ratings of a file",
        )
        .help("give them one: --columns time=COLUMN"));
    }
    let agreement = args.judge.is_some().then(|| Agreement::new(matches, &args.people)).transpose()?;
    let pools = pools(args, matches)?;
    let mut careers = None;
    let boards = match &chosen {
        Chosen::Elo(elo) if matches.is_solo() => {
            refuse_solo(args)?;
            let mut boards = Vec::new();
            for pool in pools {
                let found = Careers::new(elo, matches, &pool)?;
                let rated = Rated { lines: found.lines(), groups: None, drift: None };
                boards.push(board(args, &chosen, pool, rated)?);
                careers = Some(found);
            }
            boards
        }
        Chosen::Elo(system) => online(args, &chosen, system, pools)?,
        Chosen::Glicko2(system, None) => online(args, &chosen, system, pools)?,
        Chosen::WengLin(system) => online(args, &chosen, system, pools)?,
        Chosen::Glicko2(system, Some(period)) => in_periods(args, &chosen, system, *period, pools)?,
        Chosen::BradleyTerry(model, mean_points) => batch(args, &chosen, model, *mean_points, pools)?,
    };
    let intervals = match args.system {
        SystemName::Elo => Intervals::None,
        SystemName::Glicko2 | SystemName::WengLin => Intervals::Deviation,
        SystemName::BradleyTerry if args.bootstrap => Intervals::Bootstrap {
            resamples: args.resamples,
            seed: args.seed,
            of_pairs: args.judge.is_some(),
        },
        SystemName::BradleyTerry => match &chosen {
            Chosen::BradleyTerry(BradleyTerry { prior: Some(_), .. }, _) => Intervals::Posterior,
            _ => Intervals::Sandwich,
        },
    };
    let (skipped, late) = (matches.skipped, if matches.has_time { matches.late } else { 0 });
    let unread = matches.unread.clone();
    Ok(Report { chosen, level: args.level, intervals, skipped, late, unread, boards, careers, agreement })
}

/// Refuses flags that mean nothing for matches at challenges.
fn refuse_solo(args: &RateArgs) -> Result<(), Failure> {
    let given = [
        (args.by.is_some(), "--by", "each career has its rating in every `category`"),
        (args.judge.is_some(), "--judge", "a challenge has an evaluator and no judge"),
        (args.holdout.is_some(), "--holdout", "challenges have fixed ratings: only careers move"),
        (args.state.is_some() || args.state_out.is_some(), "--state", "give all matches each time"),
    ];
    match given.into_iter().find(|(is_given, ..)| *is_given) {
        None => Ok(()),
        Some((_, flag, help)) => {
            Err(Failure::new(format!("{flag} is not for matches at challenges")).help(help))
        }
    }
}

/// The matches decided by people, of one category or of all.
struct Pool {
    category: Option<String>,
    season: Season,
    input: Input,
    /// The row of each event of the season.
    rows: Vec<usize>,
    /// The pair behind each match of the season, if judges were asked for.
    pairs: Option<Vec<u32>>,
}

fn pools(args: &RateArgs, matches: &Matches) -> Result<Vec<Pool>, Failure> {
    let people = args.judge.as_ref().and_then(|_| matches.judges.find(&args.people));
    let is_rated =
        |at: &usize| matches.rows.get(*at).is_some_and(|row| args.judge.is_none() || row.judge == people);
    let rated: Vec<usize> = (0..matches.rows.len()).filter(is_rated).collect();
    let pool = |category: Option<(&str, u32)>, rows: Vec<usize>| {
        let season = matches.season(&rows)?;
        let input = Input::new(&season, matches, &rows);
        let pair = |place: &usize| matches.rows.get(*rows.get(*place)?)?.pair;
        let pairs = season.places.iter().map(pair).collect();
        Ok(Pool { category: category.map(|(name, _)| name.to_owned()), season, input, pairs, rows })
    };
    if args.by.is_none() {
        return Ok(vec![pool(None, rated)?]);
    }
    let of = |category: u32| {
        let is_of = |at: &usize| matches.rows.get(*at).is_some_and(|row| row.category == Some(category));
        rated.iter().copied().filter(is_of).collect::<Vec<usize>>()
    };
    let categories = matches.categories.sorted().map(|(name, place)| ((name, place), of(place)));
    let played = categories.filter(|(_, rows)| !rows.is_empty());
    let pools: Vec<Pool> =
        played.map(|(category, rows)| pool(Some(category), rows)).collect::<Result<_, Failure>>()?;
    if pools.is_empty() { Err(Failure::new("there is no match to rate")) } else { Ok(pools) }
}

/// Returns a pool without the parts that only some systems have.
fn board(args: &RateArgs, chosen: &Chosen, pool: Pool, rated: Rated) -> Result<Board, Failure> {
    let holdout =
        args.holdout.map(|share| Holdout::new(chosen, &pool.season, share, args.level)).transpose()?;
    Ok(Board {
        category: pool.category,
        input: pool.input,
        lines: rated.lines,
        groups: rated.groups,
        drift: rated.drift,
        tie: None,
        resamples_without_fit: None,
        parts: None,
        one_sided: Vec::new(),
        left_out: Vec::new(),
        left_out_matches: 0,
        holdout,
    })
}

fn online<S: Stored>(
    args: &RateArgs,
    chosen: &Chosen,
    system: &S,
    pools: Vec<Pool>,
) -> Result<Vec<Board>, Failure> {
    let mut leagues = match &args.state {
        Some(path) => state::read(path, system, chosen)?,
        None => state::Leagues::new(),
    };
    let mut boards = Vec::new();
    for pool in pools {
        let league = leagues.remove(&pool.category).unwrap_or_default();
        let (league, rated) = online::play(system, league, &pool.season, args.level)?;
        leagues.insert(pool.category.clone(), league);
        boards.push(board(args, chosen, pool, rated)?);
    }
    if let Some(path) = &args.state_out {
        state::write::<S>(path, chosen, &leagues)?;
    }
    Ok(boards)
}

fn in_periods(
    args: &RateArgs,
    chosen: &Chosen,
    system: &Glicko2,
    period_milliseconds: i64,
    pools: Vec<Pool>,
) -> Result<Vec<Board>, Failure> {
    let rated = |pool: Pool| {
        if pool.input.milliseconds.is_none() {
            return Err(Failure::new("the matches have no time, and period_days needs one")
                .help("give them one: --columns time=COLUMN"));
        }
        let rated = online::play_periods(system, &pool.season, period_milliseconds, args.level)?;
        board(args, chosen, pool, rated)
    };
    pools.into_iter().map(rated).collect()
}

fn batch(
    args: &RateArgs,
    chosen: &Chosen,
    model: &BradleyTerry,
    mean_points: f64,
    pools: Vec<Pool>,
) -> Result<Vec<Board>, Failure> {
    let fitted = |pool: Pool| {
        let category = pool.category.clone();
        let fitted =
            batch::fit(model, mean_points, &pool.season, pool.pairs.as_deref(), args).map_err(|failure| {
                match category {
                    Some(category) => failure.help(format!("this is category `{category}`")),
                    None => failure,
                }
            })?;
        let rated = Rated { lines: fitted.lines, groups: fitted.groups, drift: None };
        Ok(Board {
            tie: Some(fitted.tie),
            resamples_without_fit: fitted.resamples_without_fit,
            parts: Some(fitted.parts),
            one_sided: fitted.one_sided,
            left_out: fitted.left_out,
            left_out_matches: fitted.left_out_matches,
            ..board(args, chosen, pool, rated)?
        })
    };
    pools.into_iter().map(fitted).collect()
}
