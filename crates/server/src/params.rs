//! Parameters of requests; invalid ones are refused with a problem.

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{Method, Uri};
use karat_core::timestamp::TimestampError;
use serde::de::DeserializeOwned;

use crate::authority::Act;
use crate::basics::*;
use crate::body::Arrived;
use crate::guard::Caller;
use crate::problem::{Code, Problem};
use crate::state::App;

/// The answer to a request.
pub(crate) type Answer = Result<Response<Body>, Problem>;

/// The server, for a caller who may read, and that caller.
pub(crate) struct Get(pub Arc<App>, pub Caller);

impl FromRequestParts<Arc<App>> for Get {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, app).await?;
        caller.may(&Act::Read)?;
        Ok(Self(Arc::clone(app), caller))
    }
}

/// A request with a body. Whether its caller may make it is decided before the body is read.
pub(crate) struct Post {
    pub app: Arc<App>,
    pub caller: Caller,
    pub body: Arrived,
}

impl FromRequest<Arc<App>> for Post {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let (mut head, body) = request.into_parts();
        let caller = Caller::from_request_parts(&mut head, app).await?;
        Ok(Self { app: Arc::clone(app), caller, body: Arrived { headers: head.headers, body } })
    }
}

/// The query of a request. Unknown names are refused: a misspelled filter would not filter.
#[derive(Debug)]
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        query(&parts.uri).map(Self).map_err(|problem| key_first(parts, problem))
    }
}

/// Returns the problem of a parameter; of a change without a key, that it has none.
fn key_first(parts: &Parts, problem: Problem) -> Problem {
    let is_change = !matches!(parts.method, Method::GET | Method::HEAD);
    match parts.extensions.get::<Caller>() {
        Some(caller) if is_change && caller.name().is_none() => {
            Problem::new(Code::Unauthenticated, "this needs a key: `Authorization: Bearer karat_...`")
        }
        _ => problem,
    }
}

pub(crate) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    Query::try_from_uri(uri).map(|Query(params)| params).map_err(|error| {
        let text = error.body_text();
        let detail = text.rsplit_once("query string: ").map_or(text.as_str(), |(_, detail)| detail);
        Problem::new(Code::BadRequest, with_new_name(detail)).at("query")
    })
}

/// Returns the reason why a query is refused, with the new name of a parameter that has an old one.
fn with_new_name(detail: &str) -> String {
    // As serde says it: unknown field `draws`, expected one of `seed`, `resamples`.
    let mut names = detail.split('`').skip(1).step_by(2);
    let renamed = names.next().filter(|_| detail.starts_with("unknown field"));
    let renamed = renamed.and_then(|name| karat::ask::renamed(name, names));
    renamed.map_or_else(|| detail.to_owned(), |renamed| format!("{detail}; {renamed}"))
}

/// The parts of a path that are names.
#[derive(Debug)]
pub struct Named<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Named<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = Path::from_request_parts(parts, state).await;
        read.map(|Path(names)| Self(names))
            .map_err(|error| key_first(parts, Problem::new(Code::BadRequest, error.body_text()).at("path")))
    }
}

pub fn timestamp(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    Ok(written_timestamp(name, text)?.map(|written| written.at))
}

/// Reads the timestamp in a parameter and keeps its text.
pub(crate) fn written_timestamp<'a>(
    name: &str,
    text: Option<&'a str>,
) -> Result<Option<WrittenTimestamp<'a>>, Problem> {
    let read = |text| WrittenTimestamp::parse(text).map_err(|error| not_a_timestamp(name, text, error));
    text.map(read).transpose()
}

/// Returns the problem of a parameter that should be a timestamp.
pub(crate) fn not_a_timestamp(name: &str, text: &str, error: TimestampError) -> Problem {
    Problem::parameter(name, format!("found `{}`, {error}", text.escape_debug()))
}

/// Reads the number of entries that a list should have.
pub fn limit(given: Option<usize>, usual: usize, max: usize) -> Result<usize, Problem> {
    match given.unwrap_or(usual) {
        limit if (1..=max).contains(&limit) => Ok(limit),
        limit => Err(Problem::parameter("limit", format!("found {limit}, expected 1 to {max}"))),
    }
}

/// Returns a refusal in the words of a query: `by=KEY` for `--by KEY`, and the parameter that it begins with.
pub(crate) fn in_query<S: AsRef<str>>(problem: &Problem, names: &[S]) -> Problem {
    let named = problem.detail.strip_prefix("--");
    let named = named.and_then(|rest| rest.split([' ', ':', '=']).next()).map(|name| name.replace('-', "_"));
    let written = |line: &str| {
        names.iter().fold(line.to_owned(), |line, name| {
            let name = name.as_ref();
            let flag = format!("--{}", name.replace('_', "-"));
            line.replace(&format!("{flag} "), &format!("{name}=")).replace(&flag, name)
        })
    };
    let lines = problem.detail.split("; ").map(written).filter(|line| !line.contains("--"));
    let detail = lines.collect::<Vec<_>>().join("; ");
    match named {
        Some(name) => Problem::parameter(&name, detail),
        None => Problem::new(problem.code, detail).with_parts(problem.problems.clone()),
    }
}
