//! The novelty of a trace: given, or by its vector against those of earlier traces.

use karat_core::facts::Fact;
use serde_json::{Value as Json, json};

use crate::grade::trace::embedder::Embedding;
use crate::grade::trace::novelty::{Basis, Item, Settings, VectorCache, belongs, novelty, vector};
use crate::graders::{Pending, Work};
use crate::json::check::{Check, Name, UNIT, digits, number};
use crate::json::document::Node;
use crate::json::problem::{Problem, Problems};
use crate::json::value;
use crate::kinds::reasoning_trace::text_of;
use karat_core::timestamp::Timestamp;

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
    id: Option<Name<'_>>,
    given: &Given<'_>,
    check: &mut Check<'_>,
    work: &mut Work<'_>,
) -> Fact<'a> {
    let claimed = given.novelty.and_then(|node| Some((node, check.number(node, UNIT)?)));
    let is_computed =
        given.vector.is_some() || work.graders.embedder.is_some() || work.graders.cache.is_some();
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
    let (Some(created), Some(Name::Text(id)), true) = (given.created, id, check.problems.is_empty()) else {
        return Fact::Missing;
    };
    (work.watch)("read");
    // Who names an embedder asks for its vectors: the subject may not choose another one for itself.
    let own = given.vector.filter(|_| work.graders.embedder.is_none());
    if let Some(node) = own {
        check.suspect(
            node,
            "the vector is the trace's own word: no embedder made it from the text".to_owned(),
        );
    }
    let read = match own {
        Some(node) => vector(&value::of_node(node), "$.vector").map(Some),
        None => embed(root, work),
    };
    if let (Some(node), None) = (given.vector, own) {
        check.note(node, "not used: the embedder reads the text".to_owned());
    }
    let observed = read.and_then(|vector| {
        let moment = work.graders.as_of.unwrap_or(created);
        look(work, id, vector, moment)
    });
    (work.watch)("novelty");
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

/// Returns the vector of the text of a trace; none without an embedder, and for a text that is blank.
fn embed(root: Node<'_>, work: &mut Work<'_>) -> Result<Option<Vec<f32>>, Problems> {
    let Some(embedder) = &work.graders.embedder else { return Ok(None) };
    let embedding = embedder.embed(&text_of(root))?;
    work.seen.insert("embedding".to_owned(), embedding.detail());
    (work.watch)("embed");
    Ok(if embedding.is_blank() { None } else { Some(embedding).map(|Embedding { vector, .. }| vector) })
}

/// Compares with the cache. There is no value if the trace has no direction, so that nothing could be compared.
fn look(
    work: &mut Work<'_>,
    id: &str,
    vector: Option<Vec<f32>>,
    moment: Timestamp,
) -> Result<(Option<f64>, Json), Problems> {
    let cache = match &mut work.graders.cache {
        Some(cache) => cache,
        none => none.insert(begun(vector.as_deref())?),
    };
    let mut novelty = novelty(cache, &Item { id, vector: vector.as_deref() }, moment)?;
    novelty.is_stored = belongs(cache, &novelty);
    let vector = vector.filter(|_| novelty.is_stored);
    work.pending = Some(Pending { id: id.to_owned(), vector, moment });
    let is_read = matches!(novelty.basis, Basis::Compared | Basis::NothingEarlier);
    Ok((is_read.then_some(novelty.value), novelty.detail()))
}

/// Returns an empty cache for vectors of this length.
fn begun(vector: Option<&[f32]>) -> Result<VectorCache, Problems> {
    let settings = Settings::default();
    let dimension = vector.map_or(settings.dimension, <[f32]>::len);
    VectorCache::new(Settings { dimension, ..settings }).map_err(|problems| {
        let in_numbers = |problem: &mut Problem| {
            problem.found.push_str(" numbers");
            problem.expected.push_str(" numbers");
        };
        problems.moved("$.dimension", "$.vector").map(in_numbers)
    })
}
