//! JSON Schemas (draft 2020-12) of scorecards and answers, for editors and for programs that read what karat writes.
//!
//! Those of answers come from the types in [`crate::answers`], as the description of the HTTP API does. Those of scorecards
//! and evidence are files in `schema/`; tests hold them against the readers.

use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::answers::check::ProjectCheck;
use crate::answers::comparison::{Comparison, Comparisons};
use crate::answers::explanation::Explanation;
use crate::answers::grid::Grid;
use crate::answers::judges::Judges;
use crate::answers::leaderboard::LeaderboardAnswer;
use crate::answers::push::Pushed;
use crate::answers::rescore::{RescoreSummary, RescoredRecord};
use crate::answers::standing::Standing;
use crate::answers::stress::Stress;
use crate::answers::task::Task;
use crate::answers::tasks::Tasks;
use crate::answers::trend::Trend;
use crate::answers::tune::Tune;
use crate::answers::verification::{LogVerification, Verification};
use crate::document::brief::Brief;
use crate::ratings::Rating;
use crate::record::RecordDocument;

/// The dialect of all of them.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a file that people write, from the folder beside this file: tests hold it against the reader of such files.
macro_rules! file {
    ($name:literal, $about:literal) => {
        // The file is valid JSON: a test reads it.
        described($name, $about, |_| {
            serde_json::from_str(include_str!(concat!("schema/", $name, ".json"))).unwrap_or_default()
        })
    };
}

const fn described(name: &'static str, about: &'static str, make: fn(&str) -> Value) -> Described {
    Described { name, about, make }
}

/// A schema that karat can give.
pub struct Described {
    /// Its name.
    pub name: &'static str,
    /// The answer or file, in words.
    pub about: &'static str,
    make: fn(&str) -> Value,
}

impl Described {
    /// Returns the schema.
    pub fn schema(&self) -> Value {
        (self.make)(self.name)
    }
}

/// Every schema, by name.
pub const ALL: &[Described] = &[
    file!("card", "a scorecard, the TOML file"),
    described("record", "`karat score`, one line each", of::<RecordDocument>),
    described("brief", "`karat score --brief`, one line each", of::<Brief>),
    described("explanation", "`karat explain`", of::<Explanation>),
    described("leaderboard", "`karat leaderboard`", of::<LeaderboardAnswer>),
    described("compare", "`karat compare` of two subjects", of::<Comparison>),
    described("compare-files", "`karat compare` of two files", of::<Comparisons>),
    described("check", "`karat check`", of::<ProjectCheck>),
    described("standing", "`karat standing`, one line each", of::<Standing>),
    described("task", "`karat standing --tasks`, one line each", of::<Task>),
    described("rating", "`karat rate`", of::<Rating>),
    described("stress", "`karat stress`", of::<Stress>),
    described("judges", "`karat judges`", of::<Judges>),
    described("tasks", "`karat tasks`", of::<Tasks>),
    described("grid", "`karat grid`", of::<Grid>),
    described("trend", "`karat trend`", of::<Trend>),
    described("tune", "`karat tune`", of::<Tune>),
    described("verify", "`karat verify`, one line each", of::<Verification>),
    file!("log", "`karat log show`"),
    file!("log-entry", "`karat log show --sender`, one line each"),
    file!("log-backup", "`karat log backup`"),
    file!("log-rotation", "`karat log rotate`"),
    file!("log-look", "`karat log monitor`, one line each"),
    described("log-verify", "`karat log verify`", of::<LogVerification>),
    described("rescore", "`karat rescore`, a line for each record", of::<RescoredRecord>),
    described("rescore-summary", "`karat rescore`, the last line", of::<RescoreSummary>),
    described("push", "`karat push`", of::<Pushed>),
    file!("card-list", "`karat card list`"),
    file!("card-check", "`karat card check`, one line each"),
    file!("card-diff", "`karat card diff`"),
    file!("grade", "`karat grade`, one line each"),
    file!("cache", "`karat cache show`"),
    file!("judge-check", "`karat judge --self-check`"),
    file!("judge-doctor", "`karat judge doctor`"),
    file!("serve", "`karat serve`, one line each"),
    file!("evidence-facts", "an item of kind `facts`"),
    file!("evidence-workflow-run", "an item of kind `workflow-run`"),
    file!("evidence-match", "an item of kind `match`"),
    file!("evidence-reasoning-trace", "an item of kind `reasoning-trace`"),
    file!("evidence-agent-dimensions", "an item of kind `agent-dimensions`"),
    file!("evidence-agent-evidence", "an item of kind `agent-evidence`"),
];

/// Returns the schema of a type, with those that it refers to.
fn of<T: ToSchema + PartialSchema>(name: &str) -> Value {
    let mut parts: Vec<(String, RefOr<Schema>)> = Vec::new();
    T::schemas(&mut parts);
    let definitions: Map<String, Value> =
        parts.into_iter().map(|(name, part)| (name, written(&part))).collect();
    let mut schema = written(&T::schema());
    if let Value::Object(members) = &mut schema {
        members.insert("$schema".to_owned(), json!(DIALECT));
        members.insert("$id".to_owned(), json!(format!("urn:karat:schema:{name}:1")));
        if !definitions.is_empty() {
            members.insert("$defs".to_owned(), Value::Object(definitions));
        }
    }
    schema
}

/// Returns a part with references as a schema by itself has them.
fn written(part: &RefOr<Schema>) -> Value {
    let mut value = serde_json::to_value(part).unwrap_or_default();
    refer(&mut value);
    value
}

fn refer(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(reference)) = members.get_mut("$ref") {
                *reference = reference.replace("#/components/schemas/", "#/$defs/");
            }
            members.values_mut().for_each(refer);
        }
        Value::Array(elements) => elements.iter_mut().for_each(refer),
        _ => {}
    }
}
