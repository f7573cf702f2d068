//! Middleware for browsers: the key in a cookie, a check of the origin of forms, errors as pages.

use axum::extract::Request;
use axum::http::Method;
use axum::http::Uri;
use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, COOKIE, SET_COOKIE};
use axum::response::IntoResponse as _;
use http_body_util::BodyExt as _;
use karat::headline;

use super::layout::*;
use super::{reviews, session};
use crate::cookie::{self, came_from, is_own};
use crate::prelude::*;

/// Paths for programs and for pages of other sites, after the first slash: requests to them take no cookie and get no pages.
const PROGRAMS: [&str; 7] = ["v1/", "tile/", "checkpoint", "healthz", "metrics", "static/", "embed/"];

/// The parts of a problem that a page shows.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ShownProblem {
    title: String,
    detail: String,
    field: Option<String>,
    problems: Vec<ProblemPart>,
}

#[derive(Deserialize)]
struct ProblemPart {
    detail: String,
}

/// Answers a browser's request as `answer` would answer a program, but with the key from the cookie and errors as
/// pages.
pub async fn around<F: Future<Output = Response<Body>>>(
    mut request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response<Body> {
    // A path with one slash too many is not a page either.
    let path = request.uri().path().trim_start_matches('/');
    if PROGRAMS.iter().any(|start| path.starts_with(start)) {
        return answer(request).await;
    }
    let headers = request.headers();
    let accepted = headers.get(ACCEPT).and_then(|accepted| accepted.to_str().ok());
    let wants_page = accepted.is_some_and(|accepted| accepted.contains("text/html"));
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_signed_in = !headers.contains_key(AUTHORIZATION) && headers.contains_key(COOKIE);
    let key = cookie::secret(headers).filter(|_| is_signed_in);
    let has_key = key.is_some();
    // Where to go on from a page that tells of an error.
    let back = if is_safe { request.uri().clone() } else { came_from(headers) };
    let response = if !is_safe && !is_own(headers) {
        let why =
            "the form comes from another site, or does not say from which: open it here and send it again";
        Problem::new(Code::Forbidden, why).into_response()
    } else {
        if let Some(bearer) = key.and_then(|key| HeaderValue::from_str(&format!("Bearer {key}")).ok()) {
            request.headers_mut().insert(AUTHORIZATION, bearer);
        }
        answer(request).await
    };
    let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if !(wants_page && kind == Some(b"application/problem+json")) {
        return response;
    }
    let mut page = problem_page(response, &back, is_safe).await;
    // A cookie with a key that is no longer known would make every later request fail.
    if has_key && page.status() == StatusCode::UNAUTHORIZED {
        page.headers_mut().insert(SET_COOKIE, HeaderValue::from_static(cookie::GONE));
    }
    page
}

async fn problem_page(response: Response<Body>, back: &Uri, is_safe: bool) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    let bytes = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let problem: ShownProblem = serde_json::from_slice(&bytes).unwrap_or_else(|_| ShownProblem {
        title: head.status.canonical_reason().unwrap_or_default().to_owned(),
        detail: String::from("the server gave no details"),
        ..ShownProblem::default()
    });
    let told = headline::problem(&problem.title, &problem.detail, problem.field.as_deref());
    let caller = head.extensions.get::<Caller>().cloned();
    let sheet = Sheet { title: &told.finding, part: "", caller: caller.as_ref() };
    let path = cookie::own(back.path());
    let address = cookie::own(back.path_and_query().map_or("/", |it| it.as_str()));
    let content = html! {
        div.say {
            (above(&[("/", "Home")], html! {}))
            h1 { (words(&told.finding)) }
            @if !told.lead.is_empty() { p.lead { (words(&told.lead)) } }
        }
        @if problem.problems.len() > 1 {
            ul.sentences { @for part in &problem.problems { li { (with_capital(&part.detail)) } } }
        }
        @match (head.status, &told.field) {
            (StatusCode::UNAUTHORIZED, _) => {
                @if path == "/reviews" { p { (reviews::LEAD) } }
                (session::fields("", address))
            },
            (_, Some(field)) if is_safe => (corrected(path, back.query().unwrap_or_default(), field, told.is_unknown)),
            (status, _) if is_safe && status.is_client_error() => p { a href="/" { "To the leaderboards" } },
            _ if is_safe => p { a href=(address) { "Try again" } },
            _ => p { a href=(address) { "Back to the page, as it is now" } },
        }
    };
    let (own, body) = sheet.answer_with(head.status, content).into_parts();
    head.headers.remove(CONTENT_LENGTH);
    head.headers.extend(own.headers);
    Response::from_parts(head, body)
}

/// Shows the query as a form in which a field is to be corrected, or a link without that field.
fn corrected(path: &str, query: &str, field: &str, is_unknown: bool) -> Markup {
    let all: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let others = all.iter().filter(|(name, value)| name != field && !value.is_empty());
    let rest: Vec<(&str, &str)> = others.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let value = all.iter().find(|(name, _)| name == field).map(|(_, value)| value);
    html! {
        @match value.filter(|_| !is_unknown) {
            Some(value) => {
                form.fields action=(path) {
                    @for (name, value) in &rest { input type="hidden" name=(name) value=(value); }
                    label { (field) input name=(field) value=(value) autofocus; }
                    button.go type="submit" { "Try again" }
                }
            },
            None => p { a href=(address::query(path, &rest)) { "Open the page without it" } },
        }
    }
}
