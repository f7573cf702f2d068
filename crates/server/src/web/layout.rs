//! The frame of every page: head, navigation, footer, and the policy that allows nothing from other sites.

use std::fmt::Display;

use axum::http::header::{CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY};
use karat::document::{Column, Kind, Row};
use karat::write::html::safe;
use maud::DOCTYPE;

pub(super) use karat::document::{Cell, Table};
pub(super) use karat::write::html::{acts, body, table as figure, told, with_capital, words};
pub(super) use maud::{Markup, html};

use super::assets::{ENGINE, ICON, LIVE, PAGE, SCRIPT, STYLE};
pub(super) use crate::address;
use crate::prelude::*;

/// Only files of the server are loaded, no inline script runs, no site may frame a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The same for the pages that compute: the engine may be compiled.
const COMPUTING_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self'; \
                                font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The sections of the site, by address and name.
const PARTS: [(&str, &str); 6] = [
    ("/leaderboards", "Leaderboards"),
    ("/scorecards", "Scorecards"),
    ("/arena", "Arena"),
    ("/workflows", "Workflows"),
    ("/reviews", "Reviews"),
    // Only for those who may read it.
    (KEYS, "Keys"),
];
pub(super) const KEYS: &str = "/keys";

pub struct Sheet<'a> {
    /// The title in the browser tab.
    pub title: &'a str,
    /// The address of the section that the page belongs to.
    pub part: &'a str,
    /// The caller; `None` if the request was refused before it was known who makes it.
    pub caller: Option<&'a Caller>,
}

impl Sheet<'_> {
    /// Answers with the whole page.
    pub fn answer(&self, content: Markup) -> Response<Body> {
        self.answer_with(StatusCode::OK, content)
    }

    /// Answers with the whole page, whose head has more.
    pub fn answer_shared(&self, head: Markup, content: Markup) -> Response<Body> {
        answer(StatusCode::OK, self.whole(head, content))
    }

    /// Answers with the whole page, whose script computes with the engine in the browser.
    pub fn answer_computing(&self, content: Markup) -> Response<Body> {
        let script = html! { script src=(PAGE.path) data-engine=(ENGINE.path) defer {} };
        let mut response = answer(StatusCode::OK, self.whole(script, content));
        let policy = HeaderValue::from_static(COMPUTING_POLICY);
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        response
    }

    /// Answers with the whole page, parts of which renew themselves.
    pub fn answer_live(&self, content: Markup) -> Response<Body> {
        answer(StatusCode::OK, self.whole(html! { script src=(LIVE.path) defer {} }, content))
    }

    /// Answers with the whole page and another status.
    pub(crate) fn answer_with(&self, status: StatusCode, content: Markup) -> Response<Body> {
        answer(status, self.whole(html! {}, content))
    }

    fn whole(&self, head: Markup, content: Markup) -> Markup {
        let may_read_keys = self.caller.is_some_and(|caller| caller.may(&Act::ReadKeys).is_ok());
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    (head_of(self.title))
                    script src=(SCRIPT.path) defer {}
                    (head)
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.top {
                        div.wrap {
                            a.brand href="/" { (mark()) "karat" }
                            nav aria-label="Site" {
                                ul {
                                    @for (path, name) in PARTS.into_iter().filter(|(path, _)| *path != KEYS || may_read_keys) {
                                        li { a href=(path) aria-current=[(path == self.part).then_some("page")] { (name) } }
                                    }
                                }
                            }
                            form.find role="search" action="/search" {
                                input type="search" name="q" required placeholder="Find a name"
                                    aria-label="Find an agent, a scorecard or a challenge" aria-keyshortcuts="Control+K";
                            }
                            (self.visitor())
                        }
                    }
                    main.wrap id="content" { (content) }
                    footer {
                        div.wrap {
                            span { "karat " (env!("CARGO_PKG_VERSION")) }
                            a href="/verify" { "Check a number" }
                            a href="/log" { "Log" }
                            a href="/api" { "API" }
                        }
                    }
                }
            }
        }
    }

    fn visitor(&self) -> Markup {
        match self.caller.and_then(holder) {
            Some(name) => html! {
                form method="post" action="/sign-out" {
                    a href="/sign-in" { (name) } " · " button.plain type="submit" { "Sign out" }
                }
            },
            None => html! { a href="/sign-in" { "Sign in" } },
        }
    }
}

/// Returns what the head of every page has.
pub(super) fn head_of(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (title.replace('`', "")) " · karat" }
        link rel="icon" href=(ICON.path);
        link rel="stylesheet" href=(STYLE.path);
    }
}

/// Returns the name of the key of the request, if it had one.
pub(crate) fn holder(caller: &Caller) -> Option<String> {
    caller.name().map(str::to_owned)
}

/// Answers with another page.
pub(crate) fn see_other(address: &str) -> Answer {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    let address = HeaderValue::from_str(address).map_err(|error| Problem::internal(&error))?;
    response.headers_mut().insert(LOCATION, address);
    Ok(response)
}

fn answer(status: StatusCode, content: Markup) -> Response<Body> {
    let mut response = Response::new(Body::from(safe(content.into_string())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // A form sends its origin, which the server checks, only to its own site.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Shows what a page opens with: the links that lead to it, its finding, and a sentence or two.
pub(crate) fn heading(trail: &[(&str, &str)], title: &str, lead: &str) -> Markup {
    html! {
        div.say {
            (above(trail, html! {}))
            h1 { (told(title)) }
            @if !lead.is_empty() { p.lead { (words(lead)) } }
        }
    }
}

/// Shows the links that lead to a page, and what else there is to know of it in a line.
pub(crate) fn above(trail: &[(&str, &str)], more: Markup) -> Markup {
    html! {
        @if !trail.is_empty() {
            nav.trail aria-label="Above this page" {
                @for (at, (path, name)) in trail.iter().enumerate() {
                    a href=(path) { (name) }
                    @if at + 1 < trail.len() || !more.0.is_empty() { span aria-hidden="true" { "›" } }
                }
                (more)
            }
        }
    }
}

/// Says how many witnesses would notice if that were changed: the log, or a record in it.
pub(crate) fn witnessed(number: usize, what: &str) -> (bool, String) {
    let text = match number {
        0 => format!("no witness has cosigned {what}"),
        1 => format!("one witness has cosigned {what}"),
        more => format!("{more} witnesses have cosigned {what}"),
    };
    (number > 0, text)
}

/// Shows how far a page can be trusted: what holds, and what does not.
pub(crate) fn trust_strip(marks: &[(bool, String)], check: &str) -> Markup {
    html! {
        ul.marks aria-label="Is it genuine?" {
            @for (holds, text) in marks {
                li {
                    @if *holds { i.ok aria-hidden="true" { "✓" } } @else { i.care aria-hidden="true" { "!" } }
                    (words(text))
                }
            }
            li.act { a href=(check) { "Check it yourself" } }
        }
    }
}

/// The mark of the site.
fn mark() -> Markup {
    html! {
        svg viewBox="0 0 24 24" aria-hidden="true" {
            path d="M12 1.5 22.5 12 12 22.5 1.5 12Z" fill="var(--gold-wash)" stroke="var(--gold-line)" stroke-width="1.75" {}
            path d="M9 7.5v9M9 12.4l5.6-4.9M11 11l4 5.5" stroke="var(--gold)" stroke-width="1.9" {}
        }
    }
}

pub fn column(label: &str, kind: Kind) -> Column {
    Column::new(label, kind)
}

/// Returns a table of columns apart by `|`: `=` begins the one with the names of the rows, `#` numbers, `!` those that order them,
/// `%` shares, `~` intervals, `&` sentences. The place of a number in the answer, below that of its row, is after `@`.
pub fn grid(caption: impl Into<String>, columns: &str, rows: Vec<Row>) -> Table {
    let interval = Kind::Interval { sides: None, level: 0.95 };
    let kinds = [
        ('=', Kind::Name),
        ('#', Kind::Number),
        ('!', Kind::Leading),
        ('%', Kind::Share),
        ('~', interval),
        ('&', Kind::Sentence),
    ];
    let one = |label: &str| {
        let (label, place) = label.split_once('@').unwrap_or((label, ""));
        let marked = kinds.iter().find_map(|(mark, kind)| Some((label.strip_prefix(*mark)?, *kind)));
        let (label, kind) = marked.unwrap_or((label, Kind::Text));
        column(label, kind).explained().at(place, if place.is_empty() { "" } else { "interval" })
    };
    Table::new(caption, columns.split(" | ").map(one).collect(), rows)
}

pub fn line(cells: impl IntoIterator<Item = Cell>) -> Row {
    cells.into_iter().collect::<Vec<_>>().into()
}

/// Returns a row that is at this place of the answer.
pub fn line_at(pointer: String, cells: impl IntoIterator<Item = Cell>) -> Row {
    Row { pointer, ..line(cells) }
}

/// Returns a cell that leads to another page.
pub fn link(text: &str, address: String) -> Cell {
    Cell::Link(text.to_owned(), address)
}

pub fn text(content: impl Display) -> Cell {
    Cell::Text(content.to_string())
}

/// Returns a cell without a value, which says why.
pub fn absent(why: &str) -> Cell {
    Cell::Without(why.to_owned())
}

/// Returns a cell with a number or a word, if there is one.
pub fn text_or(content: Option<impl Display>, why: &str) -> Cell {
    content.map_or_else(|| absent(why), text)
}

/// Shows a part of a page under a heading, by which links can name it.
pub fn section(id: &str, title: &str, content: Markup) -> Markup {
    html! { section aria-labelledby=(id) { h2 id=(id) { (title) } (content) } }
}

/// Shows a table alone under a heading.
pub fn table_section(id: &str, title: &str, table: Table) -> Markup {
    section(id, title, figure(&format!("{id}-figure"), &table))
}

/// Shows links to the pages before and after this one, if there are several: what they are of, and what each leads to.
pub fn turn(
    of: &str,
    [before, after]: [&str; 2],
    (page, pages): (usize, usize),
    to: impl Fn(usize) -> String,
) -> Markup {
    html! {
        @if pages > 1 {
            nav.pages aria-label=(format!("Pages of the {of}")) {
                @if page > 1 { a href=(to(page - 1)) rel="prev" { (before) } }
                span { "page " (page) " of " (pages) }
                @if page < pages { a href=(to(page + 1)) rel="next" { (after) } }
            }
        }
    }
}

/// Shows sentences to be read first, if there are any.
pub fn notes(notes: &[String]) -> Markup {
    karat::write::html::notes(notes.iter().map(|note| with_capital(note)).collect())
}
