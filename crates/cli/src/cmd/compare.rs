//! `karat compare`: the subject that is ahead on the tasks that both have, or a tie; the tasks that got worse; the gate.

use std::collections::BTreeMap;
use std::io::Write as _;

use karat_core::number::Decimal;
use karat_core::scorecard::Scale;
use karat_stats::StatisticsError;

use super::many;
use crate::args::{Cli, CompareArgs};
use crate::evidence::{are_sides, expanded};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::format::{self, Chosen};
use crate::load::{Request, load};
use crate::output::{Screen, save_page};
use crate::render::changes::comparisons as screen_of_several;
use crate::render::compare::compare;
use crate::render::gate::{self, Verdict};
use crate::render::page::compare::{compare as page_of, comparisons as page_of_several};
use karat::answers::GateChange;
use karat::answers::basis::Basis;
use karat::answers::changes::Gate as FoundGate;
use karat::answers::comparison::{
    ComparedPair, Comparison, ComparisonAnswer, Comparisons, ComparisonsSchema,
};
use karat::ask::Compare;
use karat::leaderboard::attempts::Pass;
use karat::leaderboard::gate::{Gate, GateFinding};
use karat::leaderboard::pair::Pair;
use karat::leaderboard::{By, Settings};
use karat::report;
use karat::rows::Rows;
use karat::text::{clean, named, short};

/// Most tasks of a list on the screen, without `--all`.
const TASKS: usize = 10;

/// The subjects to compare, by index.
pub enum Asked {
    /// Two.
    Pair((usize, usize)),
    /// Those of two files.
    Files(Files),
}

/// The subjects of two files.
pub struct Files {
    pairs: Vec<(usize, usize)>,
    only_first: Vec<String>,
    only_second: Vec<String>,
}

/// Compares two subjects, or the subjects of two files.
pub fn run(args: &CompareArgs, cli: &Cli) -> Result<Exit, Failure> {
    let chosen = args.form.format.chosen("compare")?;
    if args.ask.first == args.ask.second {
        return Err(Failure::new(format!("`{}` cannot be compared with itself", clean(&args.ask.first)))
            .help("name two subjects: karat compare A B FILE"));
    }
    let (rows, asked) = if args.files.is_empty() && are_sides(&args.ask.first, &args.ask.second) {
        of_files(args, cli)?
    } else {
        let asked =
            Request::new(&args.ask.items, args.ask.card.as_deref(), &args.files, args.form.no_progress);
        let rows = load(&asked, cli)?;
        let pair = (many::subject(&rows, &args.ask.first)?, many::subject(&rows, &args.ask.second)?);
        (rows, Asked::Pair(pair))
    };
    let settings = many::settings(&args.ask.sure, By::Score, &rows);
    let most = if args.all { usize::MAX } else { TASKS };
    let gaps = many::gaps_of(&rows, By::Score);
    let failed = |pair: &ComparedPair| gate::failed(pair, rows.scale.max);
    let answer = answer(&args.ask, &rows, asked)?;
    let page = || match &answer {
        ComparisonAnswer::Pair(answer) => page_of(&rows, answer, &settings),
        ComparisonAnswer::Several(answer) => page_of_several(&rows, answer, &settings),
    };
    if let Some(path) = &args.form.html {
        save_page(path, &page())?;
    }
    match chosen {
        Chosen::Json => many::print(&answer)?,
        Chosen::Page => format::page(&page())?,
        Chosen::Report(document) => {
            let report = match &answer {
                ComparisonAnswer::Pair(answer) => report::comparison(answer, &failed),
                ComparisonAnswer::Several(answer) => report::comparisons(answer, &failed),
            };
            format::emit(&report, document)?;
        }
        Chosen::Screen => {
            let mut out = Screen::stdout(cli.color);
            let screen = match &answer {
                ComparisonAnswer::Pair(answer) => compare(answer, &rows.dimensions, &gaps, most, out.width),
                ComparisonAnswer::Several(answer) => {
                    screen_of_several(answer, &gaps, most, &|_| true, out.width)
                }
            };
            write!(out, "{screen}")?;
            out.flush()?;
        }
    }
    match args.ask.fail_if_worse {
        Some(margin) => verdict(&answer, margin, rows.scale).tell(cli.color),
        None => Ok(Exit::Done),
    }
}

/// Compares the subjects, and asks the gate.
pub fn answer(ask: &Compare, rows: &Rows, asked: Asked) -> Result<ComparisonAnswer, Failure> {
    let settings = many::settings(&ask.sure, By::Score, rows);
    let pass = many::pass(ask.pass, rows.scale)?;
    let gate = match ask.fail_if_worse {
        Some(points) => {
            let margin = many::share_of_scale("--fail-if-worse", points, rows.scale)?;
            Some(Gate { margin, is_strict: ask.strict })
        }
        None => None,
    };
    let compared = Compared { rows, settings: &settings, pass, gate };
    match asked {
        Asked::Pair(pair) => {
            let (pair, found) = compared.pair(pair, 1)?;
            Ok(ComparisonAnswer::Pair(Box::new(Comparison::new(rows, &pair, found.as_ref(), &settings))))
        }
        Asked::Files(files) => {
            let count = files.pairs.len();
            let pairs = files.pairs.iter().map(|&pair| {
                let (pair, found) = compared.pair(pair, count)?;
                Ok(ComparedPair::new(rows, &pair, found.as_ref(), &settings))
            });
            Ok(ComparisonAnswer::Several(Box::new(Comparisons {
                schema: ComparisonsSchema::V1,
                basis: Basis::new(rows, &settings),
                first_file: ask.first.clone(),
                second_file: ask.second.clone(),
                comparisons: pairs.collect::<Result<_, Failure>>()?,
                only_first: files.only_first,
                only_second: files.only_second,
            })))
        }
    }
}

/// Returns why the gates of a comparison fail, and what they did not see; `margin` is the one that was asked for.
pub fn verdict(answer: &ComparisonAnswer, margin: Decimal, scale: Scale) -> Verdict {
    let (pairs, scale_max) = (answer.pairs(), scale.max);
    let lines = |is_meant: fn(GateChange) -> bool| {
        let failed = pairs.iter().filter(|it| it.gate.is_some_and(|gate| is_meant(gate.finding)));
        failed.filter_map(|pair| gate::failed(pair, scale_max)).collect()
    };
    let mut verdict = Verdict::default();
    verdict.add(Exit::Worse, lines(|finding| finding == GateChange::Worse));
    verdict.add(Exit::Inconclusive, lines(|finding| finding != GateChange::Worse));
    let gone = answer.gone().iter();
    let gone: Vec<String> =
        gone.map(|name| format!("`{}` is only in the first, so no gate judges it", short(name))).collect();
    if pairs.iter().any(|pair| pair.gate.is_some_and(|gate| gate.strict)) {
        verdict.add(Exit::Inconclusive, gone);
    } else {
        gone.into_iter().for_each(|line| verdict.warn(line));
    }
    // The sentence of a gate that is undecided names what is gone.
    let is_named = |gate: &FoundGate| !gate.passed && gate.finding != GateChange::Worse;
    let others = pairs.iter().filter(|pair| !pair.gate.as_ref().is_some_and(is_named));
    others.filter_map(gate::missing).for_each(|line| verdict.warn(line));
    gate::slight("a margin", margin, scale_max, 10).into_iter().for_each(|line| verdict.warn(line));
    verdict
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

/// Reads the two files, or the logs in two folders: as two subjects if each has one, else each subject that both have.
fn of_files(args: &CompareArgs, cli: &Cli) -> Result<(Rows, Asked), Failure> {
    let (mut paths, mut sides) = (Vec::new(), Vec::new());
    for side in [&args.ask.first, &args.ask.second] {
        let files = expanded(std::slice::from_ref(side), cli.color)?;
        paths.extend(files.iter().cloned());
        sides.extend(files.into_iter().map(|file| (file, side.clone())));
    }
    let asked = Request::new(&args.ask.items, args.ask.card.as_deref(), &paths, args.form.no_progress);
    let rows = load(&Request { sides: &sides, ..asked }, cli)?;
    let asked = of_sides(&rows, &args.ask.first, &args.ask.second)?;
    Ok((rows, asked))
}

/// Returns the subjects to compare of two sides: two if each has one, else each that both have.
pub fn of_sides(rows: &Rows, first_side: &str, second_side: &str) -> Result<Asked, Failure> {
    if rows.origins.is_empty() {
        let pair = (many::subject(rows, first_side)?, many::subject(rows, second_side)?);
        return Ok(Asked::Pair(pair));
    }
    let of_file = |file: &str| -> BTreeMap<String, usize> {
        let own = rows.origins.iter().enumerate().filter(|(_, origin)| origin.file == file);
        own.map(|(at, origin)| (origin.subject.clone(), at)).collect()
    };
    let (first, second) = (of_file(first_side), of_file(second_side));
    let only = |one: &BTreeMap<String, usize>, other: &BTreeMap<String, usize>| -> Vec<String> {
        one.keys().filter(|name| !other.contains_key(*name)).cloned().collect()
    };
    let pairs: Vec<(usize, usize)> =
        first.iter().filter_map(|(name, at)| Some((*at, *second.get(name)?))).collect();
    let (only_first, only_second) = (only(&first, &second), only(&second, &first));
    if pairs.is_empty() {
        let failure = Failure::new(format!(
            "`{}` and `{}` share no subject, so nothing can be compared",
            clean(first_side),
            clean(second_side)
        ));
        let sides = [(first_side, &only_first), (second_side, &only_second)];
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
    Ok(Asked::Files(Files { pairs, only_first, only_second }))
}
