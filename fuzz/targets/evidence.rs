//! Any bytes are one evidence item of the kind that the first byte chooses, or are refused with what is wrong.

use karat_core::facts::Fact;
use karat_reader::{FactType, Kind, Reader, ReaderOptions};

/// Panics if an input breaks the promise.
pub fn check(bytes: &[u8]) {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let Some(&kind) = Kind::ALL.get(usize::from(choice) % Kind::ALL.len()) else { return };
    let wanted = wanted(kind);
    let Ok(mut reader) = Reader::new(kind, &wanted, ReaderOptions::default()) else {
        panic!("{kind:?} cannot supply its own facts");
    };
    let digest = match reader.read(text) {
        Ok(evidence) => {
            let item = evidence.item();
            assert_eq!(item.facts.len(), wanted.len(), "a fact for each that is wanted");
            for (fact, (name, fact_type)) in item.facts.iter().zip(&wanted) {
                let fits = match fact {
                    Fact::Missing => true,
                    Fact::Number(number) => *fact_type == FactType::Number && number.is_finite(),
                    Fact::Flag(_) => *fact_type == FactType::Boolean,
                    Fact::Text(_) => *fact_type == FactType::Text,
                };
                assert!(fits, "`{name}` is no {}: {fact:?}", fact_type.name());
            }
            Some(item.digest)
        }
        Err(problems) => {
            assert!(!problems.is_empty() && !problems.to_string().is_empty(), "refused without a word");
            None
        }
    };
    // The reader's memory is used again for every item, and leaves no trace in the next.
    let again = reader.read(text).ok().map(|evidence| evidence.item().digest);
    assert_eq!(digest, again);
}

/// All that the kind can supply; for a table, whose facts are its user's own, a few of every type.
fn wanted(kind: Kind) -> Vec<(String, FactType)> {
    if kind == Kind::Facts {
        let names = [
            ("tests_passed", FactType::Number),
            ("minutes", FactType::Number),
            ("reviewed", FactType::Boolean),
            ("language", FactType::Text),
        ];
        return names.map(|(name, fact_type)| (name.to_owned(), fact_type)).to_vec();
    }
    kind.vocabulary().iter().map(|fact| (fact.name.to_owned(), fact.fact_type)).collect()
}
