//! `karat cache`: the vectors of earlier traces, against which the novelty of the next one is measured.

use std::io::Write as _;

use karat_graders::trace::novelty::{Entry, VectorCache};
use serde_json::{Value, json};

use crate::args::{CacheNewArgs, CacheShowArgs, CacheVerb, Cli};
use crate::graders::load_cache;
use karat::document::{Cell, Column, Document, Part, Row, Table};
use karat::text::{Tone, count};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::{FAINT, Screen, create};

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
    let chosen = args.format.chosen()?;
    let shown = if chosen == Chosen::Screen { SHOWN } else { usize::MAX };
    format::show(&as_json(&cache), &document(&cache, shown), chosen, (usize::MAX, ""), cli.color)?;
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

/// Returns the document of a cache with its newest entries.
fn document(cache: &VectorCache, shown: usize) -> Document {
    let settings = cache.settings();
    let life = match settings.ttl_milliseconds {
        None => String::from("for ever"),
        Some(life) => match UNITS.iter().find(|(length, _)| life > 0 && life % length == 0) {
            Some((length, unit)) => count((life / length) as usize, unit),
            None => format!("{life} ms"),
        },
    };
    let (vectors, capacity, numbers) = (count(cache.len(), "vector"), settings.capacity, settings.dimension);
    let hidden = cache.len().saturating_sub(shown);
    let row = |entry: Entry<'_>| Row::from(vec![Cell::text(entry.id), Cell::Text(entry.moment.to_string())]);
    let columns = vec![Column::name("id"), Column::text("moment")];
    let entries = Table::new("", columns, cache.entries().skip(hidden).map(row).collect());
    let mut document = Document {
        name: "cache",
        title: format!("{vectors} of {capacity}, {numbers} numbers each, kept {life}"),
        lines: vec![cache.digest().to_string()],
        ..Document::default()
    };
    if cache.is_empty() {
        let how = "Traces go in as they are scored: karat score -c trace --cache FILE TRACE";
        document.note(Tone::Plain, [how.to_owned()]);
    } else {
        let older = (hidden > 0).then(|| format!("{hidden} older ones are not shown; --json has them all"));
        document.note(Tone::Plain, older);
        document.parts.push(Part::Table(entries));
    }
    document
}
