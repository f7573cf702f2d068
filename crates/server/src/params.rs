//! Parameters of requests, refused with a problem where they are not what they should be.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use karat_evidence::Moment;
use serde::de::DeserializeOwned;

use crate::problem::{Code, Problem};

/// The query of a request. Names that are not known are refused: a filter that is spelled wrongly would not filter.
#[derive(Debug)]
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Query::try_from_uri(&parts.uri).map(|Query(params)| Self(params)).map_err(|error| {
            let text = error.body_text();
            let detail = text.rsplit_once("query string: ").map_or(text.as_str(), |(_, detail)| detail);
            Problem::new(Code::BadRequest, detail).at("query")
        })
    }
}

/// The parts of a path that are names.
#[derive(Debug)]
pub struct Named<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = Path::from_request_parts(parts, state).await;
        read.map(|Path(names)| Self(names))
            .map_err(|error| Problem::new(Code::BadRequest, error.body_text()).at("path"))
    }
}

/// A moment in a parameter.
///
/// # Errors
/// That it is none.
pub fn moment(name: &str, text: Option<&str>) -> Result<Option<Moment>, Problem> {
    let read = |text: &str| {
        Moment::parse(text).ok_or_else(|| {
            let found = text.escape_debug();
            Problem::parameter(
                name,
                format!("found `{found}`, expected a moment such as 2026-01-31T12:00:00Z"),
            )
        })
    };
    text.map(read).transpose()
}

/// How many are wanted of a list.
///
/// # Errors
/// That it is none or too many.
pub fn limit(given: Option<usize>, usual: usize, max: usize) -> Result<usize, Problem> {
    match given.unwrap_or(usual) {
        limit if (1..=max).contains(&limit) => Ok(limit),
        limit => Err(Problem::parameter("limit", format!("found {limit}, expected 1 to {max}"))),
    }
}
