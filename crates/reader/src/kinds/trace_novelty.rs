//! The novelty of a trace: given, or by its vector against those of earlier traces.

use karat_core::facts::Fact;
use serde_json::{Value as Json, json};

use crate::graders::{Pending, Work};
use crate::kinds::reasoning_trace::text_of;
use karat_core::timestamp::Timestamp;
use karat_evidence::ids;
use karat_evidence::json::check::{Check, Name, UNIT, digits, number};
use karat_evidence::json::document::{Node, Value};
use karat_evidence::json::problem::{Problem, Problems};
use karat_evidence::json::value;
use karat_graders::trace::novelty::{Basis, Item, Settings, VectorCache, belongs, novelty, vector};

/// Members that a trace states about itself.
#[derive(Default)]
pub(super) struct Given<'a> {
    pub novelty: Option<Node<'a>>,
    pub vector: Option<Node<'a>>,
    pub created: Option<Timestamp>,
}

/// Returns the novelty fact of the trace at `root`; missing if nothing says how new it is, which is not 0.
///
/// With a cache, a vector or an embedder it is computed, and what the trace claims of its novelty never counts.
pub(super) fn grade<'a>(
    root: Node<'_>,
    (subject, id): (Option<Name<'_>>, Option<Name<'_>>),
    given: &Given<'_>,
    check: &mut Check<'_>,
    work: &mut Work<'_>,
) -> Fact<'a> {
    let claimed = given.novelty.and_then(|node| Some((node, check.number(node, UNIT)?)));
    let has_embedder = work.graders.embedder.is_some() || work.handed.is_some();
    let is_computed = given.vector.is_some() || has_embedder || work.graders.cache.is_some();
    if !is_computed {
        match claimed {
            None => work.saw("novelty", json!({"basis": "no_embedder"})),
            Some((node, claimed)) => {
                let text = "the novelty is the trace's own word: nothing compared it with earlier traces";
                check.suspect(node, format!("{text}, {}", digits(claimed)));
            }
        }
        return number(claimed.map(|(_, claimed)| claimed));
    }
    // A trace with faults is refused; it must leave nothing in the cache.
    let (Some(Name::Text(id)), true) = (id, check.problems.is_empty()) else { return Fact::Missing };
    let Some(moment) = work.graders.as_of.or(given.created) else {
        let expected = "a timestamp in UTC, or `--as-of`: traces are compared in order of time";
        check.absent(root, "metadata.created_at", expected);
        return Fact::Missing;
    };
    let subject = match subject {
        Some(Name::Text(subject)) => subject.to_owned(),
        Some(Name::Number(number)) => digits(number),
        None => id.to_owned(),
    };
    // A copy under the id of another subject is not a repetition.
    let cached = match work.graders.observed {
        Some(observed) => ids::joined([&subject, id, &format!("{observed}")]),
        None => ids::joined([&subject, id]),
    };
    let replaces: Vec<String> =
        work.graders.replaces.iter().map(|old| ids::joined([&subject, old])).collect();
    work.watch.ended("read");
    // Who names an embedder asks for its vectors: the subject may not choose another one for itself.
    let own = given.vector.filter(|_| !has_embedder);
    if let Some(node) = own {
        let text = "the vector is the trace's own word: no embedder made it from the text".to_owned();
        check.suspect(node, text);
    }
    let read = match own {
        Some(node) => read_vector(node).map(Some),
        None => embed(root, work),
    };
    if let (Some(node), None) = (given.vector, own) {
        check.note(node, "not used: the embedder reads the text".to_owned());
    }
    let observed = read.and_then(|vector| look(work, (&cached, &replaces), vector, moment));
    work.watch.ended("novelty");
    match observed {
        Err(problems) => {
            // A vector that was made from the text is nowhere in the item.
            let at = if own.is_some() { "$.vector" } else { "$" };
            check.problems.extend(&problems.moved("$.vector", at));
            Fact::Missing
        }
        Ok((value, detail)) => {
            if let Some((node, claimed)) = claimed.filter(|&(_, claimed)| Some(claimed) != value) {
                let by_its_vector = match value {
                    Some(value) => format!("by its vector it is {}", digits(value)),
                    // Or else a trace without a vector could choose its own novelty.
                    None => "it has no vector that says so, so it is missing".to_owned(),
                };
                check.note(node, format!("the trace says {}, {by_its_vector}", digits(claimed)));
            }
            work.saw("novelty", detail);
            number(value)
        }
    }
}

/// Reads the vector at a node.
///
/// # Errors
/// As [`vector`].
pub(super) fn read_vector(node: Node<'_>) -> Result<Vec<f32>, Problems> {
    let number = |node: Node<'_>| match node.value() {
        // Canonical JSON has no -0, and the vector must be that of the canonical item.
        Value::Number(number) => Some(number as f32 + 0.0).filter(|number| number.is_finite()),
        _ => None,
    };
    let numbers = match node.value() {
        Value::Array => node.children().map(number).collect(),
        _ => None,
    };
    // A tree is only made to say what is wrong.
    numbers.map_or_else(|| vector(&value::of_node(node), "$.vector"), Ok)
}

/// Makes the vector of the text, however long that takes: what a text is padded with changes how much of it is read, and not
/// whether. None if there is no embedder, or nothing in the text to read.
fn embed(root: Node<'_>, work: &mut Work<'_>) -> Result<Option<Vec<f32>>, Problems> {
    let (detail, vector) = if let Some(handed) = work.handed.take() {
        (json!({"model": handed.model}), Some(handed.vector))
    } else {
        let Some(embedder) = &work.graders.embedder else { return Ok(None) };
        let embedding = embedder.embed(&text_of(root))?;
        (embedding.detail(), (!embedding.is_blank()).then_some(embedding.vector))
    };
    work.seen.insert("embedding".to_owned(), detail);
    work.is_embedded = true;
    work.watch.ended("embed");
    Ok(vector)
}

/// Compares with the cache. There is no value if the trace has no direction, so that nothing could be compared.
fn look(
    work: &mut Work<'_>,
    (id, replaces): (&str, &[String]),
    vector: Option<Vec<f32>>,
    moment: Timestamp,
) -> Result<(Option<f64>, Json), Problems> {
    let settings = work.graders.settings;
    let mut empty = None;
    let cache = match (&mut work.graders.cache, &vector) {
        (Some(cache), _) => cache,
        // The first vector says how long all of them are.
        (none, Some(vector)) => none.insert(begun(settings, Some(vector))?),
        (None, None) => empty.insert(begun(settings, None)?),
    };
    let mut novelty = novelty(cache, &Item { id, replaces, vector: vector.as_deref() }, moment)?;
    novelty.is_stored = belongs(cache, &novelty);
    let vector = vector.filter(|_| novelty.is_stored);
    work.pending = Some(Pending { id: id.to_owned(), vector, moment });
    let is_read = matches!(novelty.basis, Basis::Compared | Basis::NothingEarlier);
    Ok((is_read.then_some(novelty.value), novelty.detail()))
}

fn begun(settings: Option<Settings>, vector: Option<&[f32]>) -> Result<VectorCache, Problems> {
    let settings = settings.unwrap_or_else(|| {
        let settings = Settings::default();
        Settings { dimension: vector.map_or(settings.dimension, <[f32]>::len), ..settings }
    });
    VectorCache::new(settings).map_err(|problems| {
        let in_numbers = |problem: &mut Problem| {
            problem.found.push_str(" numbers");
            problem.expected.push_str(" numbers");
        };
        problems.moved("$.dimension", "$.vector").map(in_numbers)
    })
}
