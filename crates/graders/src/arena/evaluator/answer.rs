//! The form of an answer, as an agent has to know it: its fields, and what each may be.

use serde_json::{Map, Value, json};

use super::field::Field;
use super::{Comparison, Evaluator, Test};

/// A field of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerField {
    /// The name of a member, or a JSON Pointer to what lies deeper.
    pub name: String,
    /// The types of JSON that count; empty if any does.
    pub types: &'static [&'static str],
    /// The dimensions that read it, in the order of their keys.
    pub dimensions: Vec<String>,
    place: Field,
}

impl AnswerField {
    /// Returns its types in words.
    pub fn shown(&self) -> String {
        let types = self.types.iter().map(|name| match *name {
            "string" => "text",
            "array" => "list",
            "boolean" => "yes or no",
            name => name,
        });
        let types: Vec<&str> = types.collect();
        if types.is_empty() { String::from("any value") } else { types.join(" or ") }
    }
}

impl Test {
    /// Returns the types of JSON that it can compare.
    fn types(&self) -> &'static [&'static str] {
        let Self::Fields { comparison, .. } = self else { return &[] };
        match comparison {
            Comparison::ExactMatch(_) => &[],
            Comparison::ExactMatchRatio(_) | Comparison::SetOverlap(_) => &["array"],
            Comparison::NumericTolerance(_) | Comparison::CoverageRatio => &["number", "array"],
            Comparison::FuzzyString(_) => &["string"],
        }
    }
}

impl Evaluator {
    /// Returns the fields that it reads, in the order of the dimensions, then those that only have to be there.
    pub fn answer_fields(&self) -> Vec<AnswerField> {
        let mut fields: Vec<AnswerField> = Vec::new();
        let mut add = |place: &Field, types: &'static [&'static str], dimension: Option<&str>| {
            let dimensions = dimension.map(str::to_owned).into_iter();
            match fields.iter_mut().find(|it| it.place == *place) {
                Some(known) => {
                    let is_closer = known.types.is_empty() || types.len() == 1;
                    known.types = if is_closer { types } else { known.types };
                    known.dimensions.extend(dimensions);
                    known.dimensions.dedup();
                }
                None => fields.push(AnswerField {
                    name: place.name.clone(),
                    types,
                    dimensions: dimensions.collect(),
                    place: place.clone(),
                }),
            }
        };
        for (dimension, part) in
            self.dimensions.iter().flat_map(|it| it.parts.iter().map(move |part| (it, part)))
        {
            if let Test::Fields { field, .. } = &part.test {
                add(field, part.test.types(), Some(&dimension.key));
            }
        }
        for place in self.judged.iter().flat_map(|judged| judged.files.values()) {
            add(place, &["string"], None);
        }
        let named = |names: &[String], types| {
            names.iter().filter_map(|name| Some((Field::parse(name)?, types))).collect::<Vec<_>>()
        };
        let texts = named(&self.format.required_strings, &["string"][..]);
        for (place, types) in texts.into_iter().chain(named(&self.format.flat_answers, FLAT)) {
            add(&place, types, None);
        }
        fields
    }

    /// Returns the form of an answer as JSON Schema: that of the card if it has one, else one made of its fields.
    pub fn answer_schema(&self) -> Value {
        if let Some(own) = self.judged.as_ref().and_then(|judged| judged.schema.as_ref()) {
            return own.source.clone();
        }
        let mut schema = Map::from_iter([(String::from("type"), json!("object"))]);
        for field in self.answer_fields() {
            let mut leaf = Map::new();
            match field.types {
                [] => {}
                [only] => drop(leaf.insert(String::from("type"), json!(only))),
                several => drop(leaf.insert(String::from("type"), json!(several))),
            }
            if !field.dimensions.is_empty() {
                let read = format!("counts for {}", field.dimensions.join(", "));
                leaf.insert(String::from("description"), read.into());
            }
            require(&mut schema, &field.place.tokens().collect::<Vec<_>>(), leaf.into());
        }
        Value::Object(schema)
    }

    /// Returns an answer that has every field, with an empty value of its first type.
    pub fn answer_skeleton(&self) -> Value {
        let mut answer = json!({});
        for field in self.answer_fields() {
            let value = match field.types.first() {
                Some(&"number") => json!(0),
                Some(&"array") => json!([]),
                _ => json!(""),
            };
            field.place.put(&mut answer, value);
        }
        answer
    }
}

/// Adds a member to the schema of an object, with objects around it.
fn require(schema: &mut Map<String, Value>, tokens: &[String], leaf: Value) {
    let [token, deeper @ ..] = tokens else { return };
    schema.insert(String::from("type"), json!("object"));
    let required = schema.entry("required").or_insert_with(|| json!([])).as_array_mut();
    let name = Value::from(token.as_str());
    required.filter(|all| !all.contains(&name)).into_iter().for_each(|all| all.push(name.clone()));
    let Some(members) = schema.entry("properties").or_insert_with(|| json!({})).as_object_mut() else {
        return;
    };
    if deeper.is_empty() {
        members.insert(token.clone(), leaf);
    } else if let Some(inner) = members.entry(token.as_str()).or_insert_with(|| json!({})).as_object_mut() {
        require(inner, deeper, leaf);
    }
}

/// The types of a value that holds no others.
const FLAT: &[&str] = &["string", "number", "boolean", "null"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_an_answer_follows_from_what_is_compared() {
        let challenge = json!({
            "evaluator": {
                "correctness": [
                    {"primitive": "exact_match", "field": "cause"},
                    {"primitive": "numeric_tolerance", "field": "/outage/minutes", "truth": "minutes"},
                ],
                "methodology": [
                    {"primitive": "set_overlap", "field": "services"},
                    {"primitive": "fuzzy_string", "field": "cause"},
                ],
                "speed": [{"primitive": "time_decay"}],
            },
            "format": {"required_strings": ["summary"]},
        });
        let it = Evaluator::from_json(&challenge, &["correctness", "methodology", "speed"]).unwrap();
        let read =
            |name: &str, read: &str| json!({"type": name, "description": format!("counts for {read}")});
        assert_eq!(
            it.answer_schema(),
            json!({
                "type": "object",
                "required": ["cause", "outage", "services", "summary"],
                "properties": {
                    "cause": read("string", "correctness, methodology"),
                    "outage": {"type": "object", "required": ["minutes"], "properties": {
                        "minutes": {"type": ["number", "array"], "description": "counts for correctness"}}},
                    "services": read("array", "methodology"),
                    "summary": {"type": "string"},
                },
            })
        );
        assert_eq!(
            it.answer_skeleton(),
            json!({"cause": "", "outage": {"minutes": 0}, "services": [], "summary": ""})
        );
        let shown: Vec<String> = it.answer_fields().iter().map(AnswerField::shown).collect();
        assert_eq!(shown, ["text", "number or list", "list", "text"]);
    }
}
