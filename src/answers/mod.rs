//! The answers of karat as types, one file each: the JSON of the command line and of HTTP, and the data of screens and
//! pages.
//!
//! | file | schema | answers |
//! |---|---|---|
//! | `leaderboard` | `karat/leaderboard/2` | `karat leaderboard`, `GET /v1/leaderboards` |
//! | `comparison`, `changes` | `karat/comparison/2`, `karat/comparisons/2` | `karat compare` |
//! | `check` | `karat/check/2` | `karat check` |
//! | `judges` | `karat/judges/1` | `karat judges`, `GET /v1/judges` |
//! | `stress` | `karat/stress/2` | `karat stress`, and `robustness` of a leaderboard |
//! | `tasks` | `karat/tasks/1` | `karat tasks`, `GET /v1/tasks` |
//! | `trend` | `karat/trend/1` | `karat trend`, `GET /v1/trend` |
//! | `tune` | `karat/tune/1` | `karat tune` |
//! | `standing` | `karat/standing/2` | `karat standing`, `GET /v1/standings` |
//! | `task` | `karat/task/1` | `karat standing --tasks` |
//! | `tier` | | the member `tier` of a standing |
//! | `review` | | the member `review` of a standing, `GET /v1/reviews` |
//! | `weights` | | the member `weights` of a standing and a leaderboard, `GET /v1/scorecards/{card}/weights` |
//! | `explanation` | | `karat explain`, `GET /v1/records/{record}/explanation` |
//! | `arena` | | the effect of a match in `karat rate --arena`, `GET /v1/arena/matches` |
//! | `skill` | | the member `skill` of an agent in both |
//! | `verification` | `karat/verification/1`, `karat/log-verification/1` | `karat verify`, `karat log verify` |
//! | `push` | `karat/push/1` | `karat push` |
//! | `diff` | | `karat card diff` |
//! | `rescore` | `karat/rescore/2`, `karat/rescore-summary/1` | `karat rescore` |
//!
//! [`write()`] is the one writer: canonical JSON after RFC 8785. [`read()`] is the one reader. Shares and scores are 0
//! to 1, rounded to a billionth; timestamps are RFC 3339 in UTC, digests are `sha256:` and 64 hexadecimal digits. A
//! member without a value is `null`; it is never left out.
//!
//! With the feature `schema` every type has a schema for OpenAPI.

pub mod arena;
pub mod basis;
pub mod changes;
pub mod check;
pub mod comparison;
pub mod diff;
pub mod grid;
pub mod judges;
pub mod leaderboard;
pub mod notes;
pub mod push;
pub mod rescore;
pub mod rescored;
pub mod review;
pub mod skill;
pub mod standing;
pub mod stress;
pub mod task;
pub mod tasks;
pub mod tier;
pub mod trend;
pub mod tune;
pub mod verification;
pub mod weights;

use karat_evidence::canonical_json;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use crate::explanation::document as explanation;
pub use crate::number::{points, share};
pub use crate::words::*;

use crate::error::{Code, Error};
pub(crate) use crate::number::from_billionths;
use crate::text::clean;

pub use crate::record::RecordDocument;

/// An answer that names its schema in the member `schema`.
pub trait Answer: Serialize + DeserializeOwned {
    /// The schema, such as `karat/standing/2`.
    const SCHEMA: &'static str;
    /// The answer in words, for errors: `a standing`.
    const WHAT: &'static str;
}

/// Returns an answer as canonical JSON after RFC 8785: one line without its end.
///
/// ```
/// use karat::answers::{self, verification::Check};
/// let check = Check {
///     name: "score".into(),
///     outcome: answers::CheckOutcome::Verified,
///     says: "the facts give it again".into(),
///     details: Vec::new(),
/// };
/// let text = answers::write(&check);
/// assert_eq!(text, r#"{"details":[],"name":"score","outcome":"verified","says":"the facts give it again"}"#);
/// ```
pub fn write<T: Serialize>(answer: &T) -> String {
    // Keys of the answers are strings, so the conversion to a value cannot fail.
    serde_json::to_value(answer).map(|value| canonical_json(&value)).unwrap_or_default()
}

/// Reads an answer. None if the text is not JSON, or names no schema of this family.
///
/// # Errors
/// If the text names another version of the schema, or is not what the schema says.
pub fn read<T: Answer>(text: &[u8]) -> Result<Option<T>, Error> {
    #[derive(serde::Deserialize)]
    struct Named<'a> {
        #[serde(borrow, default)]
        schema: std::borrow::Cow<'a, str>,
    }
    let Ok(Named { schema }) = serde_json::from_slice(text) else { return Ok(None) };
    let family = T::SCHEMA.rsplit_once('/').map_or(T::SCHEMA, |(family, _)| family);
    if schema.rsplit_once('/').is_none_or(|(found, _)| found != family) {
        return Ok(None);
    }
    if schema != T::SCHEMA {
        return Err(Error::new(Code::UnknownSchema, format!("this is {} of `{}`", T::WHAT, clean(&schema)))
            .hint(format!("this version of karat reads `{}`", T::SCHEMA)));
    }
    let answer = serde_json::from_slice(text);
    let answer = answer.map_err(|error| {
        let what = format!("this is not {} of `{}`: {}", T::WHAT, T::SCHEMA, clean(&error.to_string()));
        Error::new(Code::UnknownSchema, what)
    });
    answer.map(Some)
}

/// Returns the schema of an object whose members are of the schema `name` or null; nullable itself if `is_nullable`.
#[cfg(feature = "schema")]
fn members_or_null(name: &str, description: &str, is_nullable: bool) -> utoipa::openapi::schema::Object {
    use utoipa::openapi::Ref;
    use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, SchemaType, Type};
    let null = ObjectBuilder::new().schema_type(Type::Null);
    let member = OneOfBuilder::new().item(null).item(Ref::from_schema_name(name)).build();
    let types = if is_nullable { vec![Type::Object, Type::Null] } else { vec![Type::Object] };
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter(types))
        .description(Some(description))
        .additional_properties(Some(Schema::OneOf(member)))
        .build()
}

/// Implements [`Answer`] and gives the answer a type for its member `schema`, which has one value.
macro_rules! answer {
    ($answer:ty, $schema:ident = $name:tt, $what:literal) => {
        #[doc = concat!("The schema `", $name, "`.")]
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        pub enum $schema {
            #[doc = concat!("`", $name, "`")]
            #[default]
            #[serde(rename = $name)]
            V1,
        }

        impl $crate::answers::Answer for $answer {
            const SCHEMA: &'static str = $name;
            const WHAT: &'static str = $what;
        }
    };
}
pub(crate) use answer;

#[cfg(test)]
mod tests {
    use super::verification::Verification;
    use super::*;

    fn verification() -> Verification {
        Verification {
            schema: Default::default(),
            file: "r.json".into(),
            status: VerificationStatus::Consistent,
            checks: Vec::new(),
            changed: vec![ChangedPart::Engine],
            entry: None,
            log: None,
        }
    }

    #[test]
    fn an_answer_is_read_as_it_was_written() {
        let text = write(&verification());
        assert_eq!(read::<Verification>(text.as_bytes()).unwrap(), Some(verification()));
        let reordered = text.replacen('{', "{ ", 1);
        assert_eq!(write(&read::<Verification>(reordered.as_bytes()).unwrap()), text);
    }

    #[test]
    fn what_is_no_answer_of_this_schema_is_told_apart() {
        let text = write(&verification());
        for other in ["", "[]", "{", "{\"schema\":1}", "{\"schema\":\"karat/standing/2\"}", "{}"] {
            assert_eq!(read::<Verification>(other.as_bytes()).unwrap(), None, "{other}");
        }
        let newer = text.replace("karat/verification/1", "karat/verification/2");
        let said = |text: &str| read::<Verification>(text.as_bytes()).unwrap_err().to_string();
        assert!(said(&newer).contains("reads `karat/verification/1`"));
        let more = text.replacen('{', "{\"more\":1,", 1);
        assert!(said(&more).contains("unknown field `more`"), "{}", said(&more));
    }

    #[test]
    fn shares_are_rounded_to_a_billionth() {
        assert_eq!([0.123_456_789_4, 0.123_456_789_5, -0.5].map(share), [0.123_456_789, 0.123_456_79, -0.5]);
    }
}
