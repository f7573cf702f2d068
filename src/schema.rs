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
use crate::answers::leaderboard::LeaderboardAnswer;
use crate::answers::push::Pushed;
use crate::answers::rescore::{RescoreSummary, RescoredRecord};
use crate::answers::standing::Standing;
use crate::answers::stress::Stress;
use crate::answers::task::Task;
use crate::answers::tune::Tune;
use crate::answers::verification::{LogVerification, Verification};
use crate::document::brief::Brief;
use crate::ratings::Rating;
use crate::record::RecordDocument;

/// The dialect of all of them.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a file that people write, from the folder beside this file: tests hold it against the reader of such files.
macro_rules! file {
    ($name:literal, $about:literal, $path:literal) => {
        Described {
            name: $name,
            about: $about,
            // The file is valid JSON: a test reads it.
            make: |_| serde_json::from_str(include_str!($path)).unwrap_or_default(),
        }
    };
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
    #[must_use]
    pub fn schema(&self) -> Value {
        (self.make)(self.name)
    }
}

/// Every schema, by name.
pub const ALL: &[Described] = &[
    file!("card", "a scorecard, the TOML file", "schema/scorecard.json"),
    Described { name: "record", about: "`karat score`, one line each", make: of::<RecordDocument> },
    Described { name: "brief", about: "`karat score --brief`, one line each", make: of::<Brief> },
    Described { name: "explanation", about: "`karat explain`", make: of::<Explanation> },
    Described { name: "leaderboard", about: "`karat leaderboard`", make: of::<LeaderboardAnswer> },
    Described { name: "compare", about: "`karat compare` of two subjects", make: of::<Comparison> },
    Described { name: "compare-files", about: "`karat compare` of two files", make: of::<Comparisons> },
    Described { name: "check", about: "`karat check`", make: of::<ProjectCheck> },
    Described { name: "standing", about: "`karat standing`, one line each", make: of::<Standing> },
    Described { name: "task", about: "`karat standing --tasks`, one line each", make: of::<Task> },
    Described { name: "rating", about: "`karat rate`", make: of::<Rating> },
    Described { name: "stress", about: "`karat stress`", make: of::<Stress> },
    Described { name: "tune", about: "`karat tune`", make: of::<Tune> },
    Described { name: "verify", about: "`karat verify`, one line each", make: of::<Verification> },
    file!("log", "`karat log show`", "schema/log.json"),
    file!("log-entry", "`karat log show --sender`, one line each", "schema/log-entry.json"),
    file!("log-backup", "`karat log backup`", "schema/log-backup.json"),
    file!("log-rotation", "`karat log rotate`", "schema/log-rotation.json"),
    file!("log-look", "`karat log monitor`, one line each", "schema/log-look.json"),
    Described { name: "log-verify", about: "`karat log verify`", make: of::<LogVerification> },
    Described {
        name: "rescore",
        about: "`karat rescore`, a line for each record",
        make: of::<RescoredRecord>,
    },
    Described {
        name: "rescore-summary",
        about: "`karat rescore`, the last line",
        make: of::<RescoreSummary>,
    },
    Described { name: "push", about: "`karat push`", make: of::<Pushed> },
    file!("card-list", "`karat card list`", "schema/card-list.json"),
    file!("card-check", "`karat card check`, one line each", "schema/card-check.json"),
    file!("card-diff", "`karat card diff`", "schema/card-diff.json"),
    file!("grade", "`karat grade`, one line each", "schema/grade.json"),
    file!("cache", "`karat cache show`", "schema/cache.json"),
    file!("judge-check", "`karat judge --self-check`", "schema/judge-check.json"),
    file!("judge-doctor", "`karat judge doctor`", "schema/judge-doctor.json"),
    file!("serve", "`karat serve`, one line each", "schema/serve.json"),
    file!("evidence-facts", "an item of kind `facts`", "schema/evidence-facts.json"),
    file!("evidence-workflow-run", "an item of kind `workflow-run`", "schema/evidence-workflow-run.json"),
    file!("evidence-match", "an item of kind `match`", "schema/evidence-match.json"),
    file!(
        "evidence-reasoning-trace",
        "an item of kind `reasoning-trace`",
        "schema/evidence-reasoning-trace.json"
    ),
    file!(
        "evidence-agent-dimensions",
        "an item of kind `agent-dimensions`",
        "schema/evidence-agent-dimensions.json"
    ),
    file!(
        "evidence-agent-evidence",
        "an item of kind `agent-evidence`",
        "schema/evidence-agent-evidence.json"
    ),
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
