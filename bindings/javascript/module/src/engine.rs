//! Scorecards and items.

use std::cell::RefCell;
use std::sync::Arc;

use karat::engine::{HandedVector, Settings, embedding_text};
use karat::json::Failure;
use karat::{Code, CompiledCard, Engine, Error, Options, Timestamp};
use karat_core::scorecard::canonical_json;
use serde::Deserialize;

use super::with;

thread_local! {
    static ENGINES: RefCell<Vec<Option<Engine>>> = const { RefCell::new(Vec::new()) };
}

/// Settings of an engine.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Opening {
    /// The released scorecard, `id` or `id@version`, or the text of one.
    card: String,
    /// True if each trace is a separate observation.
    #[serde(default)]
    observes: bool,
    subject_field: Option<String>,
    task_field: Option<String>,
    cache: Option<Cache>,
}

/// Settings of the cache that the vectors of traces go into.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cache {
    capacity: u64,
    dimension: usize,
    /// None to keep a vector until its place is needed.
    ttl_milliseconds: Option<u64>,
}

/// Makes an engine out of the settings in the input; returns its number, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> i32 {
    with(|input, output| {
        let opened = opening(input).and_then(|opening| {
            let card = card(&opening.card)?;
            let (subject_field, task_field) = (opening.subject_field, opening.task_field);
            let observes = opening.observes;
            let cache_settings = opening.cache.map(|cache| {
                let Cache { capacity, dimension, ttl_milliseconds } = cache;
                Settings { capacity, dimension, ttl_milliseconds }
            });
            let options =
                Options { subject_field, task_field, observes, cache_settings, ..Options::default() };
            Engine::new(card, options)
        });
        let number = opened.map(|engine| {
            ENGINES.with_borrow_mut(|engines| {
                let free = engines.iter().position(Option::is_none).unwrap_or(engines.len());
                engines.resize_with(engines.len().max(free + 1), || None);
                if let Some(place) = engines.get_mut(free) {
                    *place = Some(engine);
                }
                i32::try_from(free).unwrap_or(-1)
            })
        });
        number.unwrap_or_else(|error| failed(&error, output, -1))
    })
}

/// Drops an engine.
#[unsafe(no_mangle)]
pub extern "C" fn close(engine: usize) {
    ENGINES.with_borrow_mut(|engines| engines.get_mut(engine).and_then(Option::take));
}

/// Scores the item in the input; the output is its record. Returns 1, or 0 if it is refused.
#[unsafe(no_mangle)]
pub extern "C" fn score(engine: usize) -> u32 {
    call(engine, |engine, item, out| engine.visit(item, |scored| scored.write(out)))
}

/// Scores the item in the input and returns its score, which is NaN if it has none; the output is empty then, and an error if the
/// item is refused.
#[unsafe(no_mangle)]
pub extern "C" fn number(engine: usize) -> f64 {
    let mut number = f64::NAN;
    call(engine, |engine, item, _| {
        engine.visit(item, |scored| {
            number = scored.record.published.map_or(f64::NAN, |published| published.to_f64());
        })
    });
    number
}

/// Scores the item in the input; the output is the explanation of its score. Returns 1, or 0 if it is refused.
#[unsafe(no_mangle)]
pub extern "C" fn explain(engine: usize) -> u32 {
    call(engine, |engine, item, out| {
        serde_json::to_writer(out, &engine.explain(item)?).map_err(|error| internal(&error.to_string()))
    })
}

/// Sets the moment of the verdict in the input, or none if it is empty. Returns 1, or 0 if it is not a timestamp.
#[unsafe(no_mangle)]
pub extern "C" fn set_moment(engine: usize) -> u32 {
    call(engine, |engine, moment, _| {
        let moment = text(moment)?;
        let parsed = Timestamp::parse(moment).map_err(|error| invalid(&format!("`{moment}`: {error}")));
        engine.set_as_of(if moment.is_empty() { None } else { Some(parsed?) });
        Ok(())
    })
}

/// Hands over the vector of the next trace: the input is the name of the model, `name` bytes, then the numbers, four bytes each.
/// Returns 1, or 0 if it is refused.
#[unsafe(no_mangle)]
pub extern "C" fn set_vector(engine: usize, name: usize) -> u32 {
    call(engine, |engine, input, _| {
        let (name, bytes) = input.split_at(name.min(input.len()));
        let (numbers, _) = bytes.as_chunks::<4>();
        let vector = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
        engine.set_vector(Some(HandedVector { model: text(name)?.to_owned(), vector }));
        Ok(())
    })
}

/// Forgets the vectors of the traces so far.
#[unsafe(no_mangle)]
pub extern "C" fn clear_vectors(engine: usize) {
    call(engine, |engine, _, _| {
        engine.replace_cache(None);
        Ok(())
    });
}

/// Writes the text of the trace in the input that an embedder reads. Returns 1, or 0 if it is not an object.
#[unsafe(no_mangle)]
pub extern "C" fn text_to_embed() -> u32 {
    answered(|trace, out| {
        let text = embedding_text(trace).map_err(|problems| Error::refused(&problems))?;
        out.extend_from_slice(text.as_bytes());
        Ok(())
    })
}

/// Writes the scorecard that the input names, or is, as canonical JSON. Returns 1, or 0 if it is another name.
#[unsafe(no_mangle)]
pub extern "C" fn card_json() -> u32 {
    answered(|name, out| {
        let named = text(name)?;
        let text = match karat::cards::released(named) {
            Some(card) => card.text,
            None => named,
        };
        let json = canonical_json(text)
            .map_err(|error| invalid(&format!("`{named}` is not a scorecard: {error}")))?;
        out.extend_from_slice(&json);
        Ok(())
    })
}

/// Answers the question in the input. Returns 1, or 0 if it is refused.
#[cfg(feature = "answers")]
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> u32 {
    answered(|question, out| {
        out.extend_from_slice(&karat::json::answer(question)?);
        Ok(())
    })
}

/// Checks the receipt or record in the input, with the score computed again. Returns 1, or 0 if the question is refused.
#[unsafe(no_mangle)]
pub extern "C" fn verify() -> u32 {
    answered(|question, out| {
        out.extend_from_slice(&karat::json::verify(question)?);
        Ok(())
    })
}

/// Ranks the subjects in the input by other weights. Returns 1, or 0 if it is refused.
#[unsafe(no_mangle)]
pub extern "C" fn what_if() -> u32 {
    answered(|question, out| {
        out.extend_from_slice(&karat::json::what_if(question)?);
        Ok(())
    })
}

fn opening(input: &[u8]) -> Result<Opening, Error> {
    serde_json::from_slice(input).map_err(|error| invalid(&error.to_string()))
}

fn card(card: &str) -> Result<Arc<CompiledCard>, Error> {
    match card.contains('\n') {
        true => CompiledCard::parse(card).map(Arc::new),
        false => CompiledCard::released(card),
    }
}

/// Calls `work` with an engine, the input and the output.
fn call(engine: usize, work: impl FnOnce(&mut Engine, &[u8], &mut Vec<u8>) -> Result<(), Error>) -> u32 {
    answered(|input, output| {
        ENGINES.with_borrow_mut(|engines| {
            let engine = engines.get_mut(engine).and_then(Option::as_mut);
            work(engine.ok_or_else(|| invalid("this engine was disposed of"))?, input, output)
        })
    })
}

fn answered(work: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<(), Error>) -> u32 {
    with(|input, output| match work(input, output) {
        Ok(()) => 1,
        Err(error) => failed(&error, output, 0),
    })
}

/// Makes the error the output.
fn failed<T>(error: &Error, output: &mut Vec<u8>, says: T) -> T {
    output.clear();
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(output, &Failure::from(error));
    says
}

fn text(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|error| invalid(&error.to_string()))
}

fn invalid(message: &str) -> Error {
    Error::new(Code::InvalidOption, message)
}

fn internal(message: &str) -> Error {
    Error::new(Code::Unreadable, message)
}
