//! Signing in: a key in a cookie that no script can read and no other site can use. It lasts until the browser is
//! closed.

use axum::http::header::{COOKIE, HeaderMap, LOCATION, ORIGIN, SET_COOKIE};

use super::items;
use super::layout::*;
use crate::prelude::*;

const NAME: &str = "karat_key";
/// The header value that deletes the cookie.
pub const GONE: &str = "karat_key=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";

/// Returns the key in the cookie of a browser, if it looks like a key.
pub fn secret(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == NAME).map(|(_, value)| value.to_owned()).filter(|value| is_key(value))
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

pub fn fields(wrong: &str) -> Markup {
    html! {
        form.fields.stacked method="post" action="/sign-in" {
            label {
                "Key"
                input type="password" name="key" required autocomplete="off" spellcheck="false"
                    aria-describedby=[(!wrong.is_empty()).then_some("wrong")];
            }
            @if !wrong.is_empty() { p.care id="wrong" { (wrong) } }
            button.go type="submit" { "Sign in" }
        }
    }
}

pub async fn show(caller: Caller) -> Response<Body> {
    page(&caller, StatusCode::OK, "")
}

fn page(caller: &Caller, status: StatusCode, wrong: &str) -> Response<Body> {
    let lead = "A key identifies you: reviews and some other pages need one.";
    let content = html! {
        (heading(&[], "Sign in", lead))
        (fields(wrong))
        p { "An administrator creates keys; the server shows the first one when it starts for the first time. \
             The key stays in this browser until it is closed." }
    };
    Sheet { title: "Sign in", part: "/sign-in", caller: Some(caller) }.answer_with(status, content)
}

/// Signs in with a known key.
pub async fn enter(Post { app, caller, body }: Post) -> Answer {
    // If the page came over TLS, the cookie is never sent without it.
    let is_secure = body.headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let fields = items::read(&app, body).await?;
    let secret = fields.get("key").map_or("", |key| key.trim());
    if !is_key(secret) || app.memory.keys().authenticate(secret).is_none() {
        caller.guessed(&app)?;
        let wrong = "this key is not known here, or it was revoked";
        return Ok(page(&caller, StatusCode::FORBIDDEN, wrong));
    }
    let secure = if is_secure { "; Secure" } else { "" };
    to_start(&format!("{NAME}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}"))
}

pub(crate) async fn leave() -> Answer {
    to_start(GONE)
}

fn to_start(cookie: &str) -> Result<Response<Body>, Problem> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let cookie = HeaderValue::from_str(cookie).map_err(|error| Problem::internal(&error))?;
    response.headers_mut().insert(SET_COOKIE, cookie);
    response.headers_mut().insert(LOCATION, HeaderValue::from_static("/"));
    Ok(response)
}
