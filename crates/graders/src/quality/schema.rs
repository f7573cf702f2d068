//! JSON Schemas: compiled so that no schema and no value make a check slow.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::json::{DEPTH_MAX, is_shallow};
use super::refuse;
use karat_evidence::json::problem::{Problems, quoted};

/// The place of the schema in a task.
const PATH: &str = "$.reference.schema";

/// A schema, ready to check values.
#[derive(Debug)]
pub(crate) struct Schema {
    validator: Validator,
    /// True if it refers to itself, directly or by a detour.
    is_recursive: bool,
    /// True if it has patterns, which take time for every byte that they are searched in.
    pub(super) has_patterns: bool,
}

impl Schema {
    /// A pattern may need this many bytes of memory.
    const PATTERN_BYTES_MAX: usize = 1 << 20;
    /// All patterns may need this many together; each has an equal share of it.
    const PATTERNS_BYTES_MAX: usize = 1 << 24;
    /// Longest pattern, in bytes. They are made ready in a time that grows with the square of this.
    const PATTERN_LENGTH_MAX: usize = 1000;
    /// All patterns may be this many bytes long together.
    const PATTERNS_LENGTH_MAX: usize = 1 << 14;
    /// Most subschemas, each counted as often as it is referred to.
    const SUBSCHEMAS_MAX: u64 = 10_000;
    /// Most subschemas within or referred to by one another.
    const NESTED_MAX: usize = 200;
    /// The same in a recursive schema, which is gone through again at each level of a value.
    const NESTED_RECURSIVE_MAX: usize = 60;

    /// Compiles a schema, of draft 2020-12 unless it says otherwise in `$schema`.
    ///
    /// # Errors
    ///
    /// If it is not a schema, refers to anything but its own parts by `#` and `#/...`, has a pattern that cannot be
    /// searched in linear time, or is too large.
    pub(crate) fn new(schema: &Value) -> Result<Self, Problems> {
        if !is_shallow(schema) {
            let most = format!("a schema nested at most {DEPTH_MAX} deep");
            return Err(refuse(PATH, "a deeper value".to_owned(), &most, ""));
        }
        let mut survey = Survey { schema, targets: BTreeMap::from([("#", None)]), is_recursive: false };
        let size = survey.size(schema, Place::Schema, 0);
        let most = if survey.is_recursive { Self::NESTED_RECURSIVE_MAX } else { Self::NESTED_MAX };
        size.and_then(|size| nested(size.height, most))
            .map_err(|(found, expected)| refuse(PATH, found, &expected, ""))?;
        let patterns = patterns(schema);
        let lengths = || patterns.iter().map(|pattern| pattern.len());
        let (longest, together) = (lengths().max().unwrap_or_default(), lengths().sum::<usize>());
        if longest > Self::PATTERN_LENGTH_MAX || together > Self::PATTERNS_LENGTH_MAX {
            let found = format!("patterns of up to {longest} bytes, {together} together");
            let [each, all] = [Self::PATTERN_LENGTH_MAX, Self::PATTERNS_LENGTH_MAX];
            return Err(refuse(PATH, found, &format!("at most {each} each and {all} together"), ""));
        }
        let has_patterns = !patterns.is_empty();
        let share = Self::PATTERNS_BYTES_MAX / patterns.len().max(1);
        let validator = Validator::new(schema, share.min(Self::PATTERN_BYTES_MAX))?;
        Ok(Self { validator, is_recursive: survey.is_recursive, has_patterns })
    }

    /// Returns why the schema refuses a value, if it does.
    pub(crate) fn refusal(&self, value: &Value) -> Option<String> {
        self.validator.refusal(value, self.is_recursive)
    }
}

/// The library that checks.
#[cfg(feature = "full")]
#[derive(Debug)]
struct Validator(jsonschema::Validator);

#[cfg(feature = "full")]
impl Validator {
    fn new(schema: &Value, pattern_bytes: usize) -> Result<Self, Problems> {
        let patterns = jsonschema::PatternOptions::regex().size_limit(pattern_bytes);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        options.build(schema).map(Self).map_err(|error| {
            let hint = "its patterns have no look-around";
            refuse(PATH, quoted(&error.to_string()), "a JSON Schema", hint)
        })
    }

    fn refusal(&self, value: &Value, is_recursive: bool) -> Option<String> {
        if self.0.is_valid(value) {
            return None;
        }
        // The validator remembers what it has seen while it says yes or no, but not while it looks for the reason. So
        // with a recursive schema a nested value could keep it busy for ever.
        let error = if is_recursive { None } else { self.0.validate(value).err() };
        Some(error.map_or_else(
            || "the value does not satisfy the schema".to_owned(),
            |error| {
                let place = error.instance_path().to_string();
                let place = if place.is_empty() { "the whole".to_owned() } else { quoted(&place) };
                format!("{place} does not satisfy {} of the schema", quoted(&error.schema_path().to_string()))
            },
        ))
    }
}

/// No library: there is no such value.
#[cfg(not(feature = "full"))]
#[derive(Debug)]
enum Validator {}

#[cfg(not(feature = "full"))]
impl Validator {
    fn new(_: &Value, _: usize) -> Result<Self, Problems> {
        let expected =
            "a karat that checks answers against a JSON Schema, which is built with the feature `full`";
        Err(refuse(PATH, "a JSON Schema".to_owned(), expected, "score it with the program karat"))
    }

    fn refusal(&self, _: &Value, _: bool) -> Option<String> {
        match *self {}
    }
}

/// Role of a value within a schema.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Schema,
    /// An object whose keys are names and whose values are schemas.
    Names,
}

/// Number of subschemas behind a place, and their depth.
#[derive(Debug, Clone, Copy)]
struct Size {
    count: u64,
    height: usize,
}

/// A walk through a schema and along its references.
struct Survey<'a> {
    schema: &'a Value,
    /// The size behind each reference; none while it is looked at.
    targets: BTreeMap<&'a str, Option<Size>>,
    is_recursive: bool,
}

impl<'a> Survey<'a> {
    fn size(&mut self, value: &'a Value, place: Place, depth: usize) -> Result<Size, (String, String)> {
        nested(depth, Schema::NESTED_MAX)?;
        let mut size = Size { count: 1, height: 0 };
        let inner: Vec<(&'a Value, Place)> = match value {
            Value::Array(elements) => elements.iter().map(|element| (element, Place::Schema)).collect(),
            Value::Object(members) if place == Place::Names => {
                members.values().map(|member| (member, Place::Schema)).collect()
            }
            Value::Object(members) => {
                let place = |key: &str| match key {
                    "const" | "enum" | "default" | "examples" => None,
                    "properties" | "patternProperties" | "dependentSchemas" | "dependencies" | "$defs"
                    | "definitions" => Some(Place::Names),
                    _ => Some(Place::Schema),
                };
                members.iter().filter_map(|(key, member)| Some((member, place(key)?))).collect()
            }
            _ => Vec::new(),
        };
        let reference = if place == Place::Schema { reference(value, depth)? } else { None };
        let behind = reference.map(|reference| self.target(reference, depth + 1)).transpose()?;
        for inner in
            inner.into_iter().map(|(value, place)| self.size(value, place, depth + 1)).chain(behind.map(Ok))
        {
            let inner = inner?;
            size.count = size.count.saturating_add(inner.count);
            size.height = size.height.max(inner.height + 1);
        }
        if size.count > Schema::SUBSCHEMAS_MAX {
            let expected =
                format!("at most {} subschemas, each as often as it is referred to", Schema::SUBSCHEMAS_MAX);
            return Err(("more subschemas".to_owned(), expected));
        }
        // A part that was seen before may be deeper here.
        nested(depth + size.height, Schema::NESTED_MAX)?;
        Ok(size)
    }

    fn target(&mut self, reference: &'a str, depth: usize) -> Result<Size, (String, String)> {
        match self.targets.get(reference) {
            Some(Some(size)) => return Ok(*size),
            Some(None) => {
                self.is_recursive = true;
                return Ok(Size { count: 1, height: 0 });
            }
            None => {}
        }
        let pointer = reference.strip_prefix('#').unwrap_or_default();
        let Some(target) = self.schema.pointer(pointer) else {
            return Err((
                format!("a reference to {}", quoted(reference)),
                "one to a part of the schema".to_owned(),
            ));
        };
        self.targets.insert(reference, None);
        let size = self.size(target, Place::Schema, depth)?;
        self.targets.insert(reference, Some(size));
        Ok(size)
    }
}

/// Returns the patterns of a schema, repeated ones too.
fn patterns(schema: &Value) -> Vec<&str> {
    let mut patterns = Vec::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(elements) => open.extend(elements),
            Value::Object(members) => {
                patterns.extend(members.get("pattern").and_then(Value::as_str));
                let keys = members.get("patternProperties").and_then(Value::as_object);
                patterns.extend(keys.into_iter().flat_map(Map::keys).map(String::as_str));
                open.extend(members.values());
            }
            _ => {}
        }
    }
    patterns
}

fn nested(depth: usize, most: usize) -> Result<(), (String, String)> {
    if depth <= most {
        return Ok(());
    }
    Err(("deeper ones".to_owned(), format!("subschemas and references nested at most {most} deep")))
}

fn reference(schema: &Value, depth: usize) -> Result<Option<&str>, (String, String)> {
    let expected = "references by `$ref` to `#` or `#/...`, a part of the schema itself".to_owned();
    for key in ["$dynamicRef", "$recursiveRef", "$id", "id"] {
        // The whole may have an identifier; a part with an identifier would be a separate document.
        let is_allowed = depth == 0 && key.ends_with("id");
        if !is_allowed && schema.get(key).is_some_and(Value::is_string) {
            return Err((format!("`{key}`"), expected));
        }
    }
    match schema.get("$ref") {
        // Behind a percent sign the validator would look elsewhere than the survey: `%61` is an `a` to it.
        Some(Value::String(reference)) if reference.contains('%') => {
            Err((format!("a reference to {}", quoted(reference)), "one without percent signs".to_owned()))
        }
        Some(Value::String(reference)) if reference == "#" || reference.starts_with("#/") => {
            Ok(Some(reference))
        }
        Some(Value::String(reference)) => Err((format!("a reference to {}", quoted(reference)), expected)),
        _ => Ok(None),
    }
}
