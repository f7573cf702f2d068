//! `karat cache`: the vectors of earlier traces, against which the novelty of the next one is measured.

use std::io::Write as _;

use karat_graders::trace::novelty::VectorCache;
use serde_json::{Value, json};

use crate::args::{CacheNewArgs, CacheShowArgs, CacheVerb, Cli};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::graders::load_cache;
use crate::output::{FAINT, STRONG, Screen, create, is_watched};
use karat::text::{count, fit};

/// Most entries on a screen: the newest.
const SHOWN: usize = 20;
/// Units of the time that a vector counts, the longest first.
const UNITS: [(u64, &str); 4] =
    [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second")];

/// Runs a command on a cache.
pub fn run(verb: &CacheVerb, cli: &Cli) -> Result<Exit, Failure> {
    match verb {
        CacheVerb::Show(args) => show(args, cli),
        CacheVerb::New(args) => begin(args, cli),
    }
}

fn begin(args: &CacheNewArgs, cli: &Cli) -> Result<Exit, Failure> {
    let cache =
        VectorCache::new(args.settings.settings()).map_err(|problems| Failure::new(problems.to_string()))?;
    // An overwritten cache loses the vectors against which every novelty so far was measured.
    create(&args.file, &cache.save())?;
    let mut screen = Screen::stdout(cli.color);
    writeln!(screen, "wrote {}, an empty cache", args.file)?;
    writeln!(screen, "{FAINT}{}{FAINT:#}", cache.digest())?;
    screen.flush()?;
    Ok(Exit::Done)
}

fn show(args: &CacheShowArgs, cli: &Cli) -> Result<Exit, Failure> {
    let cache = load_cache(&args.file)?;
    let mut screen = Screen::stdout(cli.color);
    if args.json || (!args.table && !is_watched()) {
        writeln!(screen, "{}", as_json(&cache))?;
    } else {
        as_screen(&cache, &mut screen)?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}

fn as_json(cache: &VectorCache) -> Value {
    let settings = cache.settings();
    let entries: Vec<Value> =
        cache.entries().map(|entry| json!({"id": entry.id, "moment": entry.moment.to_string()})).collect();
    json!({
        "digest": cache.digest().to_string(),
        "capacity": settings.capacity,
        "dimension": settings.dimension,
        "ttl_milliseconds": settings.ttl_milliseconds,
        "entries": entries,
    })
}

fn as_screen(cache: &VectorCache, screen: &mut Screen) -> Result<(), Failure> {
    let settings = cache.settings();
    let life = match settings.ttl_milliseconds {
        None => String::from("for ever"),
        Some(life) => match UNITS.iter().find(|(length, _)| life > 0 && life % length == 0) {
            Some((length, unit)) => count((life / length) as usize, unit),
            None => format!("{life} ms"),
        },
    };
    writeln!(
        screen,
        "{STRONG}{}{STRONG:#} of {}, {} numbers each, kept {life}",
        count(cache.len(), "vector"),
        settings.capacity,
        settings.dimension
    )?;
    writeln!(screen, "{FAINT}{}{FAINT:#}", cache.digest())?;
    let hidden = cache.len().saturating_sub(SHOWN);
    if cache.is_empty() {
        writeln!(screen, "\nTraces go in as they are scored: karat score -c trace --cache FILE TRACE")?;
        return Ok(());
    }
    writeln!(screen)?;
    if hidden > 0 {
        writeln!(screen, "{FAINT}  {hidden} older ones are not shown; --json has them all{FAINT:#}")?;
    }
    for entry in cache.entries().skip(hidden) {
        writeln!(screen, "  {}  {}", fit(entry.id, 44), entry.moment)?;
    }
    Ok(())
}
