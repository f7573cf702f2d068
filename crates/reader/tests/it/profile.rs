//! Profiles agree with the reader.

use karat_evidence::profile::{Profile, Shape};
use karat_reader::{FactType, Kind, Reader, ReaderOptions};
use proptest::prelude::*;
use serde_json::{Value, json};

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => any::<f64>().prop_map(|number| json!(number)),
        4 => any::<i64>().prop_map(|number| json!(number)),
        4 => (-3i8..4).prop_map(|number| json!(number)),
        2 => any::<bool>().prop_map(|flag| json!(flag)),
        2 => "[ a-z]{0,3}".prop_map(|text| json!(text)),
        1 => Just(json!(null)),
        1 => Just(json!([1])),
        1 => Just(json!({"x": 1})),
    ]
}

proptest! {
    #[test]
    fn the_reader_reads_every_field_by_its_shape(values in proptest::collection::vec(value(), 1..6)) {
        let items: Vec<Value> = values.iter().map(|value| json!({"subject": "a", "inner": {"f": value}})).collect();
        let mut found = Profile::default();
        for item in &items {
            found.add(item.to_string().as_bytes(), false).unwrap();
        }
        let Some(field) = found.reachable().into_iter().find(|field| field.path().column() == "inner.f") else {
            return Ok(());
        };
        let fact_type = match field.shape() {
            Shape::Number => FactType::Number,
            Shape::Boolean => FactType::Boolean,
            Shape::Text => FactType::Text,
            Shape::Empty | Shape::Mixed => return Ok(()),
        };
        let wanted = [(field.path().to_string(), fact_type)];
        let mut reader = Reader::new(Kind::Facts, &wanted, ReaderOptions::default()).unwrap();
        for item in items {
            let text = item.to_string();
            let refused = reader.read(text.as_bytes()).map(|_| ()).map_err(|problems| problems.to_string());
            prop_assert_eq!(refused, Ok(()), "{}", text);
        }
    }
}
