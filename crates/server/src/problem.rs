//! Every error of the API: `application/problem+json` after RFC 9457, with a stable code and, if one is at fault, the
//! field.

use std::fmt::Display;

use axum::http::header::{HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::IntoResponse;
use karat_importers::requests::status;
use karat_store::{Error, Refusal};
use serde::Serializer;
use utoipa::IntoResponses;
use utoipa::openapi::{Content, Ref, RefOr, Response as Described, ResponseBuilder};

use crate::basics::*;

/// The media type of protocol buffers.
pub(crate) const PROTOBUF: &str = "application/x-protobuf";

/// Declares the kinds of errors: each with its meaning, its status and its name as written.
macro_rules! codes {
    ($($(#[$doc:meta])+ $code:ident $status:ident $name:literal)+) => {
        /// The kind of error, for programs: a code never changes its meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
        #[schema(as = ProblemCode)]
        pub enum Code {
            $($(#[$doc])+ #[serde(rename = $name)] $code,)+
        }

        impl Code {
            const ALL: &[Self] = &[$(Self::$code),+];

            pub const fn status(self) -> StatusCode {
                match self {
                    $(Self::$code => StatusCode::$status,)+
                }
            }

            /// Returns the name as written.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)+
                }
            }
        }
    };
}

codes! {
    /// A parameter, header or body is invalid.
    BadRequest BAD_REQUEST "bad-request"
    /// No key was given, or an unknown one.
    Unauthenticated UNAUTHORIZED "unauthenticated"
    /// The key may not do this.
    Forbidden FORBIDDEN "forbidden"
    /// There is no such thing, or no such path.
    NotFound NOT_FOUND "not-found"
    /// The path has no such method.
    MethodNotAllowed METHOD_NOT_ALLOWED "method-not-allowed"
    /// The request did not arrive in time.
    Timeout REQUEST_TIMEOUT "timeout"
    /// The id is taken by another item.
    Conflict CONFLICT "conflict"
    /// The time limit of the match has passed.
    Expired GONE "expired"
    /// The body is larger than allowed.
    TooLarge PAYLOAD_TOO_LARGE "too-large"
    /// The body has the wrong media type.
    UnsupportedMediaType UNSUPPORTED_MEDIA_TYPE "unsupported-media-type"
    /// The header `Host` names another server.
    Misdirected MISDIRECTED_REQUEST "misdirected"
    /// The evidence does not fit its kind or its scorecard.
    EvidenceRefused UNPROCESSABLE_ENTITY "evidence-refused"
    /// The scorecard has errors.
    CardRefused UNPROCESSABLE_ENTITY "card-refused"
    /// The question has no answer, for the reason given.
    Unanswerable UNPROCESSABLE_ENTITY "unanswerable"
    /// Too many requests with this key or from this address.
    TooManyRequests TOO_MANY_REQUESTS "too-many-requests"
    /// The server has too much to do now.
    Busy SERVICE_UNAVAILABLE "busy"
    /// Code has to run for the answer, and there is no verdict now: the judge is missing, or fails.
    NoVerdict SERVICE_UNAVAILABLE "no-verdict"
    /// There is no space left to store the request.
    StorageFull INSUFFICIENT_STORAGE "storage-full"
    /// A defect of the server or of its store.
    Internal INTERNAL_SERVER_ERROR "internal"
}

/// Ends a function with a problem of that code: `refuse!(Conflict at "$.id", "there is another {name}")`, or without a field.
macro_rules! refuse {
    ($code:ident at $field:expr, $($detail:tt)+) => {
        return Err($crate::problem::Problem::new($crate::problem::Code::$code, format!($($detail)+)).at($field))
    };
    ($code:ident, $($detail:tt)+) => {
        return Err($crate::problem::Problem::new($crate::problem::Code::$code, format!($($detail)+)))
    };
}
pub(crate) use refuse;

/// An error, after RFC 9457.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// `urn:karat:problem:` and the code.
    #[serde(rename = "type", serialize_with = "write_type")]
    #[schema(rename = "type", value_type = String, example = "urn:karat:problem:evidence-refused")]
    kind: Code,
    /// The status in words.
    #[serde(serialize_with = "write_title")]
    #[schema(value_type = String, example = "Unprocessable Entity")]
    title: Code,
    /// The status of the answer.
    #[serde(serialize_with = "write_status")]
    #[schema(value_type = u16, example = 422)]
    status: Code,
    /// The kind of error, for programs.
    pub code: Code,
    /// The error and a hint, for people.
    pub detail: String,
    /// The place of the error: a JSON path in the body, or the name of a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Every error, if there is more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ProblemPart>,
    /// In a conflict, the digest of the stored item.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    stored: Option<Box<str>>,
    /// In a conflict, the digest of the item that was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    given: Option<Box<str>>,
    /// The seconds after which to try again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
}

fn write_type<S: Serializer>(code: &Code, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(&format_args!("urn:karat:problem:{}", code.name()))
}

fn write_title<S: Serializer>(code: &Code, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(code.status().canonical_reason().unwrap_or_default())
}

fn write_status<S: Serializer>(code: &Code, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u16(code.status().as_u16())
}

/// Declares answers in the description of the API: problems with one status each.
macro_rules! described {
    ($($name:ident $status:literal $doc:literal)+) => {$(
        #[doc = $doc]
        pub(crate) struct $name;

        impl IntoResponses for $name {
            fn responses() -> BTreeMap<String, RefOr<Described>> {
                BTreeMap::from([(String::from($status), described())])
            }
        }
    )+};
}

described! {
    Absent "404" "There is no such thing."
    Taken "409" "It contradicts what is stored."
    Expired "410" "It is too late."
    Unfit "422" "It is refused, or the question has no answer."
}

/// Returns the description of an answer that is a problem.
pub(crate) fn described() -> RefOr<Described> {
    let content = Content::new(Some(Ref::from_schema_name("Problem")));
    ResponseBuilder::new().content("application/problem+json", content).into()
}

/// One of several errors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct ProblemPart {
    /// The place of the error: a JSON path in the item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The error and a hint.
    pub detail: String,
    /// The line of the text, from 1, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column of the line, from 1, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
}

impl ProblemPart {
    pub(crate) fn new(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { field: Some(field.into()), detail: detail.into(), ..Self::default() }
    }
}

/// The errors in a request, each with its place.
#[derive(Debug, Default)]
pub(crate) struct Faults(pub Vec<ProblemPart>);

impl Faults {
    pub fn add(&mut self, field: impl Into<String>, detail: impl Into<String>) {
        self.0.push(ProblemPart::new(field, detail));
    }

    pub fn found(&mut self, field: impl Into<String>, found: impl Display, expected: impl Display) {
        self.add(field, format!("found {found}, expected {expected}"));
    }

    /// Adds a text that was found.
    pub fn text(&mut self, field: impl Into<String>, found: &str, expected: impl Display) {
        self.found(field, format_args!("`{}`", found.escape_debug()), expected);
    }

    /// Refuses the request if there are any; the first is the summary.
    pub fn check(self) -> Result<(), Problem> {
        /// The largest number of errors that are listed.
        const LISTED: usize = 100;
        let Self(mut parts) = self;
        let Some(first) = parts.first() else { return Ok(()) };
        let problem = Problem::new(Code::BadRequest, first.detail.clone());
        let problem = problem.at(first.field.clone().unwrap_or_default());
        parts.truncate(LISTED);
        Err(problem.with_parts(parts))
    }
}

impl Problem {
    /// Creates the problem of a name that nothing has.
    pub(crate) fn unknown(what: &str, name: &str, hint: &str) -> Self {
        let hint = if hint.is_empty() { String::new() } else { format!("; {hint}") };
        Self::not_found(format!("there is no {what} `{}`{hint}", name.escape_debug()))
    }

    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            kind: code,
            title: code,
            status: code,
            code,
            detail: detail.into(),
            field: None,
            problems: Vec::new(),
            stored: None,
            given: None,
            retry_after_seconds: None,
        }
    }

    /// Adds the place: a field of the body or a parameter.
    pub fn at(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    pub(crate) fn parameter(name: &str, detail: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, detail).at(name)
    }

    /// Creates the problem of something that does not exist.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(Code::NotFound, detail)
    }

    /// Creates the problem of a defect, whose cause goes to the log of the server and not to the client.
    pub fn internal(what: &dyn Display) -> Self {
        tracing::error!(%what, "the server could not answer");
        Self::new(Code::Internal, "the server could not answer; its own log says why")
    }

    /// Adds the list of all errors.
    pub fn with_parts(self, problems: Vec<ProblemPart>) -> Self {
        Self { problems, ..self }
    }

    /// Adds the digests of the stored item and of the one that was sent.
    pub(crate) fn with_digests(self, stored: Digest, given: Digest) -> Self {
        let written = |digest: Digest| Some(digest.to_string().into_boxed_str());
        Self { stored: written(stored), given: written(given), ..self }
    }

    /// Adds the time after which to try again.
    pub(crate) fn retry(self, seconds: u32) -> Self {
        Self { retry_after_seconds: Some(seconds), ..self }
    }

    /// Returns the status of the answer.
    pub fn status(&self) -> StatusCode {
        self.code.status()
    }

    /// Returns the answer as the protocol of OpenTelemetry demands it for a request in protobuf: status and headers are the same.
    pub(crate) fn in_protobuf(self) -> Response<Body> {
        let code = match self.code {
            Code::Unauthenticated => 16,
            Code::Forbidden => 7,
            Code::NotFound => 5,
            Code::TooManyRequests | Code::TooLarge => 8,
            Code::Busy => 14,
            Code::Internal | Code::StorageFull => 13,
            _ => 3,
        };
        let text = match &self.field {
            Some(field) => format!("{field}: {}", self.detail),
            None => self.detail.clone(),
        };
        let mut answer = self.into_response();
        *answer.body_mut() = Body::from(status(code, &text));
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PROTOBUF));
        answer
    }

    /// Returns an error of the engine as a problem of this code, with its parts.
    pub(crate) fn of_error(code: Code, error: &karat::error::Error) -> Self {
        let parts: Vec<ProblemPart> = error
            .problems()
            .iter()
            .map(|problem| ProblemPart {
                field: Some(problem.path.clone()),
                detail: problem.detail.clone(),
                line: problem.line,
                column: problem.column,
            })
            .collect();
        let summary = match (parts.as_slice(), error.unlisted()) {
            ([], _) | ([_], 0) => error.summary(),
            _ => error.message().to_owned(),
        };
        let lines = std::iter::once(summary.as_str()).chain(error.hints().iter().map(String::as_str));
        let detail = lines.flat_map(str::lines).map(str::trim).collect::<Vec<_>>().join("; ");
        let field = parts.first().and_then(|part| part.field.clone());
        let problem = Self::new(code, detail).with_parts(parts);
        match field {
            Some(field) => problem.at(field),
            None => problem,
        }
    }
}

/// Returns the reason why the store refuses items, as a problem.
pub(crate) fn conflict(refusals: &[Refusal]) -> Problem {
    let part = |refusal: &Refusal| {
        let detail = format!("{} `{}`: {}", refusal.kind, refusal.id.escape_debug(), refusal.problem);
        ProblemPart { detail, ..ProblemPart::default() }
    };
    let problems: Vec<ProblemPart> = refusals.iter().map(part).collect();
    let detail = problems.first().map(|part| part.detail.clone()).unwrap_or_default();
    let problem = match refusals.first().map(|refusal| &refusal.problem) {
        Some(karat_store::Problem::Conflict { stored, given, .. }) => {
            Problem::new(Code::Conflict, detail).at("id").with_digests(*stored, *given)
        }
        Some(karat_store::Problem::NothingToReplace(_)) => {
            Problem::new(Code::NotFound, detail).at("replaces")
        }
        Some(karat_store::Problem::Denied { code, detail }) => {
            let code = Code::ALL.iter().find(|known| known.name() == *code);
            Problem::new(code.copied().unwrap_or(Code::Forbidden), detail.clone())
        }
        Some(karat_store::Problem::ReplacedBefore { .. }) => {
            Problem::new(Code::Conflict, detail).at("replaces")
        }
        _ => Problem::new(Code::EvidenceRefused, detail),
    };
    problem.with_parts(problems)
}

/// Returns the problem of a request for which there is no turn.
pub(crate) fn busy() -> Problem {
    Problem::new(Code::Busy, "too many requests are at work at the moment; try again later").retry(1)
}

impl From<Error> for Problem {
    /// Refused items are explained where they are sent; a refusal that gets here is a defect.
    fn from(error: Error) -> Self {
        match error {
            Error::Busy => {
                Self::new(Code::Busy, "the store has too much to write at the moment; try again later")
                    .retry(1)
            }
            Error::Stopped => Self::new(Code::Busy, "the server is stopping; try again later").retry(5),
            Error::Full(_) => {
                tracing::error!(%error, "the store is full");
                Self::new(
                    Code::StorageFull,
                    "no space is left for the store; nothing of this request was stored",
                )
            }
            error => Self::internal(&error),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response<Body> {
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        let mut put = |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
        put(CONTENT_TYPE, "application/problem+json");
        if self.code == Code::Unauthenticated {
            put(WWW_AUTHENTICATE, "Bearer realm=\"karat\"");
        }
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self.code);
        response
    }
}
