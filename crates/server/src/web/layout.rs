//! The frame of every page: head, navigation, footer, and the policy that allows nothing from other sites.

use std::fmt::Display;

use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use karat::document::{Column, Kind, Row};
use karat::write::html::safe;
use maud::DOCTYPE;

pub(super) use karat::document::{Cell, Table};
pub(super) use karat::write::html::{body, table as figure};
pub(super) use maud::{Markup, html};

pub(super) use super::address;
use super::assets::{ENGINE, ICON, PAGE, SCRIPT, STYLE};
use crate::prelude::*;

/// Only files of the server are loaded, no inline script runs, no site may frame a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The same for the pages that compute: the engine may be compiled.
const COMPUTING_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self'; \
                                connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The sections of the site, by address and name.
const PARTS: [(&str, &str); 5] = [
    ("/", "Leaderboard"),
    ("/scorecards", "Scorecards"),
    ("/arena", "Arena"),
    ("/workflows", "Workflows"),
    ("/reviews", "Reviews"),
];

pub struct Sheet<'a> {
    /// The title in the browser tab.
    pub title: &'a str,
    /// The address of the section that the page belongs to.
    pub part: &'a str,
    /// The caller; `None` if unknown.
    pub caller: Option<&'a Caller>,
}

impl Sheet<'_> {
    /// Answers with the whole page.
    pub fn answer(&self, content: Markup) -> Response<Body> {
        self.answer_with(StatusCode::OK, content)
    }

    /// Answers with the whole page, whose script computes with the engine in the browser.
    pub fn answer_computing(&self, content: Markup) -> Response<Body> {
        let script = html! { script src=(PAGE.path) data-engine=(ENGINE.path) defer {} };
        let mut response = answer(StatusCode::OK, self.whole(script, content));
        let policy = HeaderValue::from_static(COMPUTING_POLICY);
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        response
    }

    /// Answers with the whole page and another status.
    pub(crate) fn answer_with(&self, status: StatusCode, content: Markup) -> Response<Body> {
        answer(status, self.whole(html! {}, content))
    }

    fn whole(&self, script: Markup, content: Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · karat" }
                    link rel="icon" href=(ICON.path);
                    link rel="stylesheet" href=(STYLE.path);
                    script src=(SCRIPT.path) defer {}
                    (script)
                }
                body {
                    a.skip href="#content" { "Skip to the content" }
                    header.site {
                        a.brand href="/" { "karat" }
                        nav aria-label="Site" {
                            ul {
                                @for (path, name) in PARTS {
                                    li { a href=(path) aria-current=[(path == self.part).then_some("page")] { (name) } }
                                }
                            }
                        }
                        (self.visitor())
                    }
                    main id="content" { (content) }
                    footer {
                        p {
                            "karat " (env!("CARGO_PKG_VERSION")) ". Every number here can be computed again from its evidence: "
                            "open a record and verify it, or " a href="/verify" { "check a receipt" } " of any log in your browser. "
                            "Colour repeats what words and numbers say. " a href="/v1/openapi.json" { "API" }
                        }
                    }
                }
            }
        }
    }

    fn visitor(&self) -> Markup {
        match self.caller.map(holder) {
            Some(Some(name)) => html! {
                form method="post" action="/sign-out" {
                    (name) " · " button.plain type="submit" { "Sign out" }
                }
            },
            Some(None) => html! { a href="/sign-in" { "Sign in" } },
            None => html! {},
        }
    }
}

/// Returns the name of the key of the request, if it had one.
pub(crate) fn holder(caller: &Caller) -> Option<String> {
    caller.name().map(str::to_owned)
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

/// Shows a heading with the links that lead to it above.
pub(crate) fn heading(trail: &[(&str, &str)], title: &str, lead: &str) -> Markup {
    html! {
        @if !trail.is_empty() {
            nav.trail aria-label="Above this page" {
                @for (path, name) in trail { a href=(path) { (name) } " / " }
            }
        }
        h1 { (title) }
        @if !lead.is_empty() { p.lead { (lead) } }
    }
}

pub fn column(label: &str, kind: Kind) -> Column {
    Column::new(label, kind)
}

/// Returns a table of columns apart by `|`: `=` begins the one with the names of the rows, `#` numbers, `%` shares.
pub fn grid(caption: impl Into<String>, columns: &str, rows: Vec<Row>) -> Table {
    let kinds = [('=', Kind::Name), ('#', Kind::Number), ('%', Kind::Share)];
    let one = |label: &str| {
        let marked = kinds.iter().find_map(|(mark, kind)| Some((label.strip_prefix(*mark)?, *kind)));
        let (label, kind) = marked.unwrap_or((label, Kind::Text));
        column(label, kind)
    };
    Table::new(caption, columns.split(" | ").map(one).collect(), rows)
}

pub fn line(cells: impl IntoIterator<Item = Cell>) -> Row {
    cells.into_iter().collect::<Vec<_>>().into()
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
    karat::write::html::notes(notes.iter().map(|note| words(note)).collect())
}

/// Shows a sentence whose names and formulas are in backticks.
pub fn words(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
