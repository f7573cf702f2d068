//! Signing in, and out again.

use axum::http::header::{HeaderMap, ORIGIN, SET_COOKIE};
use karat::headline::sentence;
use karat::text::list;

use super::items;
use super::layout::*;
use crate::cookie::{GONE, came_from, is_key, of_key, own};
use crate::prelude::*;

/// Shows the form to sign in, which leads to the page `to`.
pub fn fields(wrong: &str, to: &str) -> Markup {
    html! {
        form.fields.stacked method="post" action="/sign-in" {
            input type="hidden" name="to" value=(own(to));
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

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wanted {
    /// The page to return to; if not given, the one that the link was on.
    to: Option<String>,
}

pub async fn show(caller: Caller, headers: HeaderMap, Params(wanted): Params<Wanted>) -> Response<Body> {
    let to = wanted.to.unwrap_or_else(|| came_from(&headers).to_string());
    match holder(&caller) {
        Some(name) => known(&caller, &name),
        None => page(&caller, StatusCode::OK, "", &to),
    }
}

fn page(caller: &Caller, status: StatusCode, wrong: &str, to: &str) -> Response<Body> {
    let (title, lead) =
        ("Sign in with your key", "A key identifies you: reviews and some other pages need one.");
    let content = html! {
        (heading(&[("/", "Home")], title, lead))
        (fields(wrong, to))
        p { "An administrator creates keys; the server shows the first one when it starts for the first time. \
             The key stays in this browser until it is closed." }
    };
    Sheet { title, part: "/sign-in", caller: Some(caller) }.answer_with(status, content)
}

/// Says who is signed in, and what the key allows.
fn known(caller: &Caller, name: &str) -> Response<Body> {
    let acts = [
        (Act::Read, "read"),
        (Act::Send(None), "send evidence"),
        (Act::Review, "decide on reviews"),
        (Act::MakeKey, "publish scorecards and make keys"),
    ];
    let may = acts.iter().filter(|(act, _)| caller.may(act).is_ok()).map(|(_, what)| *what);
    let lead = sentence(&format!("The key allows to {}", list(&may.collect::<Vec<_>>())));
    let title = format!("You are signed in as {name}");
    let content = html! {
        (heading(&[("/", "Home")], &title, &lead))
        form method="post" action="/sign-out" { p.buttons { button.go type="submit" { "Sign out" } } }
    };
    Sheet { title: &title, part: "/sign-in", caller: Some(caller) }.answer(content)
}

/// Signs in with a known key, and returns to the page where the visitor was.
pub async fn enter(Post { app, caller, body }: Post) -> Answer {
    // If the page came over TLS, the cookie is never sent without it.
    let is_secure = body.headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let fields = items::read(&app, body).await?;
    let secret = fields.get("key").map_or("", |key| key.trim());
    let to = fields.get("to").map_or("/", |to| own(to));
    if !is_key(secret) || app.memory.keys().authenticate(secret).is_none() {
        caller.guessed(&app)?;
        let wrong = "This key is not known here, or it was revoked.";
        return Ok(page(&caller, StatusCode::FORBIDDEN, wrong, to));
    }
    lead(to, &of_key(secret, is_secure))
}

pub(crate) async fn leave() -> Answer {
    lead("/", GONE)
}

fn lead(to: &str, cookie: &str) -> Result<Response<Body>, Problem> {
    let mut response = see_other(to)?;
    let cookie = HeaderValue::from_str(cookie).map_err(|error| Problem::internal(&error))?;
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}
