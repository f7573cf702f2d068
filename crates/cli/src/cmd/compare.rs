//! `karat compare`: the subject that is ahead on the tasks that both have, or a tie; the tasks that got worse; the gate.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use karat_stats::StatisticsError;

use super::many;
use crate::args::{Cli, CompareArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::output::{Screen, save_page};
use crate::render::changes::comparisons as screen_of_several;
use crate::render::compare::compare;
use crate::render::gate;
use crate::render::page::compare::{compare as page_of, comparisons as page_of_several};
use karat::answers::GateChange;
use karat::answers::basis::Basis;
use karat::answers::comparison::{ComparedPair, Comparison, Comparisons, ComparisonsSchema};
use karat::leaderboard::attempts::Pass;
use karat::leaderboard::gate::{Gate, GateFinding};
use karat::leaderboard::pair::Pair;
use karat::leaderboard::{By, Settings};
use karat::report;
use karat::rows::Rows;
use karat::text::{clean, named};

/// Most tasks of a list on the screen, without `--all`.
const TASKS: usize = 10;

/// The subjects to compare, by index.
enum Asked {
    /// Two.
    Pair((usize, usize)),
    /// Those of two files.
    Files(Files),
}

/// The subjects of two files.
struct Files {
    pairs: Vec<(usize, usize)>,
    only_first: Vec<String>,
    only_second: Vec<String>,
}

/// Compares two subjects, or the subjects of two files.
pub fn run(args: &CompareArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen("compare")?;
    if args.first == args.second {
        return Err(Failure::new(format!("`{}` cannot be compared with itself", clean(&args.first)))
            .help("name two subjects: karat compare A B FILE"));
    }
    // One file and one name of no file: the other file, misspelt. Reading it reports that.
    let (rows, asked) = if args.files.is_empty() && (is_file(&args.first) || is_file(&args.second)) {
        of_files(args, cli)?
    } else {
        let rows = many::rows(&args.items, args.card.as_deref(), &args.files, &[], cli)?;
        let pair = (many::subject(&rows, &args.first)?, many::subject(&rows, &args.second)?);
        (rows, Asked::Pair(pair))
    };
    let settings = many::settings(&args.sure, By::Score, &rows);
    let pass = many::pass(args.pass, rows.scale)?;
    let asked_gate = match args.fail_if_worse {
        Some(points) => {
            let margin = many::share_of_scale("--fail-if-worse", points, rows.scale)?;
            Some(Gate { margin, is_strict: args.strict })
        }
        None => None,
    };
    let compared = Compared { rows: &rows, settings: &settings, pass, gate: asked_gate };
    let most = if args.all { usize::MAX } else { TASKS };
    let gaps = many::gaps_of(&rows, By::Score);
    let failed = |pair: &ComparedPair| gate::failed(pair, rows.scale.max);
    let pairs = match asked {
        Asked::Pair(pair) => {
            let (pair, found) = compared.pair(pair, 1)?;
            let answer = Comparison::new(&rows, &pair, found.as_ref(), &settings);
            if let Some(path) = &args.form.html {
                save_page(path, &page_of(&rows, &answer, &settings))?;
            }
            match chosen {
                Chosen::Json => many::print(&answer)?,
                Chosen::Page => format::page(&page_of(&rows, &answer, &settings))?,
                Chosen::Report(document) => format::emit(&report::comparison(&answer, &failed), document)?,
                Chosen::Screen => {
                    let mut out = Screen::stdout(cli.color);
                    write!(out, "{}", compare(&answer, &rows.dimensions, &gaps, most, out.width))?;
                    out.flush()?;
                }
            }
            vec![answer.pair]
        }
        Asked::Files(files) => {
            let count = files.pairs.len();
            let pairs = files.pairs.iter().map(|&pair| {
                let (pair, found) = compared.pair(pair, count)?;
                Ok(ComparedPair::new(&rows, &pair, found.as_ref(), &settings))
            });
            let answer = Comparisons {
                schema: ComparisonsSchema::V1,
                basis: Basis::new(&rows, &settings),
                first_file: args.first.clone(),
                second_file: args.second.clone(),
                comparisons: pairs.collect::<Result<_, Failure>>()?,
                only_first: files.only_first,
                only_second: files.only_second,
            };
            if let Some(path) = &args.form.html {
                save_page(path, &page_of_several(&rows, &answer, &settings))?;
            }
            match chosen {
                Chosen::Json => many::print(&answer)?,
                Chosen::Page => format::page(&page_of_several(&rows, &answer, &settings))?,
                Chosen::Report(document) => format::emit(&report::comparisons(&answer, &failed), document)?,
                Chosen::Screen => {
                    let mut out = Screen::stdout(cli.color);
                    write!(out, "{}", screen_of_several(&answer, &gaps, most, out.width))?;
                    out.flush()?;
                }
            }
            answer.comparisons
        }
    };
    judged(&pairs, rows.scale.max, cli)
}

/// Returns the status of the gates, and writes why they fail.
fn judged(pairs: &[ComparedPair], scale: u32, cli: &Cli) -> Result<Exit, Failure> {
    let of = |exit: Exit, is_meant: fn(GateChange) -> bool| -> Result<bool, Failure> {
        let failed = pairs.iter().filter(|it| it.gate.is_some_and(|gate| is_meant(gate.finding)));
        let lines: Vec<String> = failed.filter_map(|pair| gate::failed(pair, scale)).collect();
        gate::tell(&lines, exit, cli.color)?;
        Ok(!lines.is_empty())
    };
    let is_worse = of(Exit::Worse, |finding| finding == GateChange::Worse)?;
    let is_open = of(Exit::Inconclusive, |finding| finding != GateChange::Worse)?;
    Ok(match (is_worse, is_open) {
        (true, _) => Exit::Worse,
        (_, true) => Exit::Inconclusive,
        _ => Exit::Done,
    })
}

/// The items of a comparison, and how they are compared.
struct Compared<'r> {
    rows: &'r Rows,
    settings: &'r Settings,
    pass: Pass,
    gate: Option<Gate>,
}

impl Compared<'_> {
    /// Compares two subjects, one of `count` pairs, and asks the gate.
    fn pair(&self, pair: (usize, usize), count: usize) -> Result<(Pair, Option<GateFinding>), Failure> {
        let refused = |error: StatisticsError| {
            let failure = many::refused(&error, self.rows);
            let named = self.rows.origins.get(pair.0).map(|origin| clean(&origin.subject));
            let failure = match named {
                Some(name) => failure
                    .help(format!("this is about `{name}`; to leave it out: --where 'subject!={name}'")),
                None => failure,
            };
            match error {
                StatisticsError::TooFew { .. } => {
                    failure.help("two subjects are compared on the tasks that both have")
                }
                _ => failure,
            }
        };
        let pair = Pair::new(self.rows, pair, self.pass, self.settings).map_err(refused)?;
        let judge = |gate: Gate| gate.judge(self.rows, &pair, count, self.settings);
        let found = self.gate.map(judge).transpose().map_err(refused)?;
        Ok((pair, found))
    }
}

fn is_file(name: &str) -> bool {
    Path::new(name).is_file()
}

/// Reads the two files: as two subjects if each has one, else each subject that both have.
fn of_files(args: &CompareArgs, cli: &Cli) -> Result<(Rows, Asked), Failure> {
    let files = [args.first.clone(), args.second.clone()];
    let rows = many::rows_by_file(&args.items, args.card.as_deref(), &files, cli)?;
    if rows.origins.is_empty() {
        let pair = (many::subject(&rows, &args.first)?, many::subject(&rows, &args.second)?);
        return Ok((rows, Asked::Pair(pair)));
    }
    let of_file = |file: &str| -> BTreeMap<String, usize> {
        let own = rows.origins.iter().enumerate().filter(|(_, origin)| origin.file == file);
        own.map(|(at, origin)| (origin.subject.clone(), at)).collect()
    };
    let (first, second) = (of_file(&args.first), of_file(&args.second));
    let only = |one: &BTreeMap<String, usize>, other: &BTreeMap<String, usize>| -> Vec<String> {
        one.keys().filter(|name| !other.contains_key(*name)).cloned().collect()
    };
    let pairs: Vec<(usize, usize)> =
        first.iter().filter_map(|(name, at)| Some((*at, *second.get(name)?))).collect();
    let (only_first, only_second) = (only(&first, &second), only(&second, &first));
    if pairs.is_empty() {
        let failure = Failure::new(format!(
            "`{}` and `{}` share no subject, so nothing can be compared",
            clean(&args.first),
            clean(&args.second)
        ));
        let sides = [(&args.first, &only_first), (&args.second, &only_second)];
        let failure = sides.into_iter().fold(failure, |failure, (file, only)| {
            let names: Vec<&str> = only.iter().map(String::as_str).collect();
            failure.help(format!(
                "`{}` has {}",
                clean(file),
                named(&names).unwrap_or_else(|| String::from("none"))
            ))
        });
        return Err(failure
            .help("a subject with another name in each: --rename OLD=NEW")
            .help("two subjects by name: karat compare A B FILE..."));
    }
    Ok((rows, Asked::Files(Files { pairs, only_first, only_second })))
}
