//! The records of a log, scored again from its evidence: they must come out byte for byte.

use std::collections::btree_map::Entry;

use karat::card::CompiledCard;
use karat::engine::{Engine, Options};
use karat::error::Error;
use karat::recompute;
use karat::record::Record;
use karat::record::novelty::CacheReading;
use karat_core::record::ENGINE_VERSION;
use karat_evidence::names::fault;
use karat_graders::trace::embedder::Embedder;
use karat_graders::trace::novelty::VectorCache;

use crate::basics::*;
use crate::ids;
use crate::problem::Problem;
use crate::traces::corrected;
use crate::traces::rebuild::Rebuild;

/// The result of scoring a record again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replayed {
    /// The same bytes.
    Same,
    /// The same by a later engine, which names itself.
    SameButEngine,
    /// Another record; the differences, a line each.
    Different(Vec<String>),
    /// It cannot be scored here; the reason.
    Unknown(String),
}

/// Scorer of the records of a log, again and in the order of the log.
#[derive(Debug, Default)]
pub struct Replay {
    cards: BTreeMap<String, Arc<CompiledCard>>,
    embedder: Option<Arc<Embedder>>,
    /// The engines, by the scorecard with its override and by whether they embed.
    engines: BTreeMap<(String, bool), Engine>,
    /// The caches of vectors of each scorecard, with the reading of the record that they are after.
    caches: BTreeMap<String, (CacheReading, VectorCache)>,
    /// The positions of the records of each scorecard so far.
    positions: BTreeMap<String, Vec<u64>>,
}

impl Replay {
    /// Creates it with the scorecards of the log, by `id@version`, and the model that embeds the texts of traces, if there is one.
    pub fn new(cards: BTreeMap<String, Arc<CompiledCard>>, embedder: Option<Arc<Embedder>>) -> Self {
        Self { cards, embedder, ..Self::default() }
    }

    /// Goes on after records of a scorecard, without scoring them again.
    pub fn skip(&mut self, card: &str, positions: Vec<u64>) {
        self.positions.insert(card.to_owned(), positions);
    }

    /// Scores the evidence of the next record again and compares.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn next(&mut self, reader: &mut Reader, item: &Item) -> Result<Replayed, Problem> {
        let record = match Record::parse(&item.content) {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(Replayed::Unknown(String::from("it is not a record"))),
            Err(error) => return Ok(Replayed::Unknown(error.to_string())),
        };
        let card = record.document().scorecard.name();
        let done = self.again(reader, item, &record)?;
        self.positions.entry(card).or_default().push(item.position);
        Ok(done)
    }

    fn again(&mut self, reader: &mut Reader, item: &Item, record: &Record) -> Result<Replayed, Problem> {
        let document = record.document();
        let evidence = ids::evidence(&document.subject, &document.evidence.id);
        let found = reader.find(Kind::Evidence, &evidence, item.position)?;
        let Some(found) = found.filter(|found| found.entry.content == document.evidence.digest) else {
            return Ok(Replayed::Unknown(String::from("its evidence is not stored before it")));
        };
        let reading = document.cache_reading();
        let is_embedded = reading.as_ref().is_some_and(|reading| reading.embedder.is_some());
        let embedder = self.embedder.as_ref().map(|embedder| embedder.digest().to_string());
        if let Some(wanted) = reading.as_ref().and_then(|reading| reading.embedder.as_ref())
            && embedder.as_ref() != Some(wanted)
        {
            return Ok(Replayed::Unknown(format!(
                "it was embedded by the model {wanted}, which is not here"
            )));
        }
        let cache = match &reading {
            None => None,
            Some(reading) => Some(self.cache(reader, &document.scorecard.name(), reading)?),
        };
        let subject = &document.subject;
        let replaced = match found.entry.replaces.as_deref().and_then(|old| ids::own(subject, old)) {
            None => Vec::new(),
            Some(old) => corrected(reader, subject, &old, item.position)?,
        };
        let engine = match self.engine(record, is_embedded) {
            Ok(engine) => engine,
            Err(error) => return Ok(Replayed::Unknown(error.to_string())),
        };
        engine.replace_cache(cache);
        engine.set_circumstances_of(record);
        engine.set_replaced(replaced);
        let name = Some(document.evidence.id.as_str());
        let scored: Result<Vec<u8>, Error> = engine.try_visit_named(name, &found.content, |scored| {
            let mut bytes = Vec::new();
            scored.write(&mut bytes);
            Ok(bytes)
        });
        let cache = engine.replace_cache(None);
        let is_same = scored.as_ref().is_ok_and(|bytes| Digest::of(bytes) == item.entry.content);
        // Where the record says otherwise what came into the cache, the next one is after what it says.
        let follows = |reading: &CacheReading| {
            is_same || scored.as_ref().is_ok_and(|bytes| has_stored(bytes) == Some(reading.is_stored))
        };
        if let Some((reading, cache)) = reading.zip(cache).filter(|(reading, _)| follows(reading)) {
            self.caches.insert(document.scorecard.name(), (reading, cache));
        }
        Ok(match scored {
            // Names were held to fewer rules once, and what is stored under one stays.
            Err(_)
                if [&document.subject, &document.evidence.id].into_iter().any(|it| fault(it).is_some()) =>
            {
                Replayed::Unknown(String::from("its subject or its id is refused as a name now"))
            }
            Err(error) => Replayed::Different(vec![format!("its evidence is refused: {error}")]),
            Ok(_) if is_same => Replayed::Same,
            Ok(bytes) if Digest::of(&Record::without_claims(&bytes)) == item.entry.content => {
                Replayed::SameButEngine
            }
            Ok(bytes) => match record.differences_from_evidence(&bytes) {
                None if document.engine != ENGINE_VERSION => Replayed::SameButEngine,
                None => Replayed::Different(vec![String::from(
                    "the text differs in places that count for nothing",
                )]),
                Some(lines) => Replayed::Different(lines),
            },
        })
    }

    /// Returns the cache before a record: that after the last one, or if that was made otherwise, from the log.
    fn cache(
        &mut self,
        reader: &mut Reader,
        card: &str,
        reading: &CacheReading,
    ) -> Result<VectorCache, Problem> {
        let is_next =
            |last: &CacheReading| last.settings() == reading.settings() && last.embedder == reading.embedder;
        if let Some((_, cache)) = self.caches.remove(card).filter(|(last, _)| is_next(last)) {
            return Ok(cache);
        }
        let embedder = self.embedder.clone().filter(|_| reading.embedder.is_some());
        let rebuild = Rebuild { settings: reading.settings(), embedder };
        let positions = self.positions.get(card).map_or(&[][..], Vec::as_slice);
        match rebuild.run(reader, positions, None)? {
            Some(rebuilt) => Ok(rebuilt.cache),
            None => rebuild.empty(),
        }
    }

    fn engine(&mut self, record: &Record, is_embedded: bool) -> Result<&mut Engine, Error> {
        let document = record.document();
        let name = document.scorecard.name();
        let base = recompute::base(record, self.cards.get(&name))?;
        let card = recompute::overridden(record, base)?;
        // An override makes another scorecard of the same name; its weights are in the record.
        let key = (format!("{name} {:?}", record.override_weights()?), is_embedded);
        match self.engines.entry(key) {
            Entry::Occupied(engine) => Ok(engine.into_mut()),
            Entry::Vacant(free) => {
                let embedder = self.embedder.clone().filter(|_| is_embedded);
                Ok(free.insert(Engine::new(card, Options { embedder, ..Options::default() })?))
            }
        }
    }
}

/// Returns whether a record says that the vector of its trace came into the cache; nothing if it says nothing of a cache.
fn has_stored(record: &[u8]) -> Option<bool> {
    Record::parse(record).ok()??.document().cache_reading().map(|reading| reading.is_stored)
}
