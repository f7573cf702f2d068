//! The inputs of graders besides evidence, from the card and the command line; and the cache of vectors as a file.

use std::fs::File;
use std::io::{ErrorKind, IsTerminal as _, Read as _, stderr};
use std::path::Path;
use std::sync::Arc;

use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use karat_graders::execution::Judge;
use karat_graders::trace::budget::Budget;
use karat_graders::trace::embedder::Embedder;
use karat_graders::trace::novelty::VectorCache;

use karat_process::{Judges, Options as JudgeOptions};
use karat_reader::{Graders, Kind};

use crate::args::GraderArgs;
use karat::ask::Fields;
use karat::engine::{Options, kind};
use karat_terminal::failure::Failure;
use karat_terminal::output::replace;

/// Largest cache that is read, in bytes: 4 GiB hold 2.7 million vectors of 384 numbers.
const CACHE_BYTES: u64 = 4 << 30;

/// Returns the options of an engine for `card` from the command line, without the moment of the verdict. A trace has the time
/// that the document of traces gives it.
pub fn options(card: &Scorecard, args: &GraderArgs, fields: &Fields) -> Result<Options, Failure> {
    let kind = kind(card)?;
    for (flag, given, what) in
        [("--subject-field", &fields.subject_field, "subject"), ("--task-field", &fields.task_field, "task")]
    {
        if given.is_some() && kind != Kind::Facts {
            let message = format!("evidence of kind `{}` names its own {what}", kind.name());
            return Err(
                Failure::new(message).help(format!("leave out {flag}; it is for evidence of kind `facts`"))
            );
        }
    }
    let Graders { embedder, cache, judge, .. } = of_kind(kind, args, None)?;
    let Fields { subject_field, task_field } = fields.clone();
    Ok(Options {
        subject_field,
        task_field,
        embedder,
        cache,
        judge,
        budget: (kind == Kind::ReasoningTrace).then(Budget::default),
        ..Options::default()
    })
}

/// Returns the inputs of the graders of a kind of evidence, without a card.
pub fn of_kind(kind: Kind, args: &GraderArgs, as_of: Option<Timestamp>) -> Result<Graders, Failure> {
    if kind != Kind::ReasoningTrace
        && let Some(flag) =
            args.embedder.as_ref().map(|_| "--embedder").or(args.cache.as_ref().map(|_| "--cache"))
    {
        let message = format!("{flag} is for evidence of kind `reasoning-trace`, not `{}`", kind.name());
        return Err(Failure::new(message).help(format!("leave out {flag}")));
    }
    if kind != Kind::Match && args.judge.is_some() {
        let message = format!("--judge is for evidence of kind `match`, not `{}`", kind.name());
        return Err(Failure::new(message).help("leave out --judge"));
    }
    // No process is started before there is something to run; without a program that has no verdict, and the reason says how to
    // get it.
    let judge = (kind == Kind::Match).then(|| -> Arc<dyn Judge> {
        let options = JudgeOptions { tells_start: stderr().is_terminal(), ..JudgeOptions::default() };
        Arc::new(Judges::found(args.judge.as_deref(), options))
    });
    let embedder = args.embedder.as_deref().map(embedder).transpose()?;
    let embedder = embedder.map(|it| Arc::new(if args.portable { it.portable() } else { it }));
    let cache = args.cache.as_deref().map(load_cache).transpose()?;
    Ok(Graders { as_of, embedder, cache, judge, ..Graders::default() })
}

/// Loads the embedder in a folder.
pub fn embedder(folder: &str) -> Result<Embedder, Failure> {
    Embedder::load(Path::new(folder)).map_err(|problems| {
        let failure = Failure::new(format!("there is no embedder in `{folder}`"));
        problems.iter().fold(failure, |failure, problem| failure.help(problem.to_string()))
    })
}

/// Reads a cache.
pub fn load_cache(path: &str) -> Result<VectorCache, Failure> {
    let mut bytes = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(CACHE_BYTES + 1).read_to_end(&mut bytes).map(|_| ()));
    if let Err(error) = read {
        let failure = Failure::reading(path, &error);
        return Err(match error.kind() {
            ErrorKind::NotFound => {
                failure.help(format!("to start with an empty one: karat cache new {path}"))
            }
            _ => failure,
        });
    }
    if bytes.len() as u64 > CACHE_BYTES {
        return Err(Failure::new(format!("`{path}` is larger than {CACHE_BYTES} bytes")));
    }
    VectorCache::load(&bytes).map_err(|error| {
        Failure::new(format!("`{path}` is not a sound cache of vectors: {error}"))
            .help("restore a backup of it, or start an empty one with `karat cache new`")
    })
}

/// Writes a cache; at every moment the file is either the old one or the new one, complete.
pub fn save_cache(path: &str, cache: &VectorCache) -> Result<(), Failure> {
    replace(path, &cache.save())
}
