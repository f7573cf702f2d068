//! The page around its figures: head, content policy, heading, sections, foot.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use karat_core::facts::Digest;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{history, items, profiles, ranks, table};
use crate::direction::isolated_page;
use crate::document::figure::{Figure, Page, Section};
use crate::text::clean;

/// The style of every page; see [`compact`].
pub const STYLE: &str = include_str!("style.css");
/// The script of every page: it sorts and filters tables; see [`compact`].
pub const SCRIPT: &str = include_str!("script.js");

/// Returns the whole file.
pub fn html(page: &Page) -> String {
    let (style, script) = (compact(STYLE), compact(SCRIPT));
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        source(&style),
        source(&script)
    );
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("karat ", env!("CARGO_PKG_VERSION")));
                title { (page.title) }
                // The only text that is not escaped: it is part of the program.
                style { (PreEscaped(&style)) }
            }
            body {
                header { (heading(page)) }
                main {
                    @for (index, part) in page.sections.iter().enumerate() { (section(index + 1, part)) }
                }
                footer {
                    p {
                        "Made by karat " (env!("CARGO_PKG_VERSION")) ". This file needs no network, and no script to be read. \
                         Colour only repeats what words and numbers say."
                    }
                }
                script { (PreEscaped(&script)) }
            }
        }
    };
    safe(markup.into_string())
}

fn heading(page: &Page) -> Markup {
    html! {
        h1 { (page.title) }
        @if !page.subtitle.is_empty() { p.lead { (page.subtitle) } }
        @if !page.notes.is_empty() {
            div.notes role="note" aria-label="Before you read on" {
                @for note in &page.notes { p { (note) } }
            }
        }
        @if !page.about.is_empty() {
            dl.about {
                @for (label, value) in &page.about { div { dt { (label) } dd { (value) } } }
            }
        }
        @if page.sections.len() > 1 {
            nav aria-label="Sections" {
                ul {
                    @for (index, section) in page.sections.iter().enumerate() {
                        li { a href=(format!("#s{}", index + 1)) { (section.heading) } }
                    }
                }
            }
        }
    }
}

fn section(number: usize, section: &Section) -> Markup {
    let id = format!("s{number}");
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (section.heading) }
            @for paragraph in &section.text { p { (paragraph) } }
            @for (index, figure) in section.figures.iter().enumerate() {
                div.figure { (self::figure(&format!("{id}f{}", index + 1), figure)) }
            }
        }
    }
}

/// Returns a figure with its numbers. Its elements have ids that begin with `id`, which must be unique on the page.
pub fn figure(id: &str, figure: &Figure) -> Markup {
    match figure {
        Figure::Table(it) => table::draw(id, it),
        Figure::Profiles(it) => profiles::draw(id, it),
        Figure::History(it) => history::draw(id, it),
        Figure::Ranks(it) => ranks::draw(id, it),
        Figure::Items(it) => items::draw(id, it),
    }
}

/// Returns the name by which a policy allows an inline text: its digest, so that no other text is allowed.
pub(super) fn source(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Digest::of(text.as_bytes()).0))
}

/// Returns the lines without indentation and comments, with one kind of line end on every system.
pub fn compact(text: &str) -> String {
    let says_something = |line: &&str| !line.is_empty() && !line.starts_with("//");
    text.lines().map(str::trim).filter(says_something).collect::<Vec<_>>().join("\n")
}

/// Removes characters that control a terminal, turn the direction of the rest, or are not allowed in HTML, and isolates text
/// from right to left. Done once for the whole page, so that no figure can forget it.
pub fn safe(text: String) -> String {
    let lines: Vec<_> = text.split('\n').map(clean).collect();
    isolated_page(lines.join("\n"))
}
