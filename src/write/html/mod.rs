//! A page in one file, for a browser without network: the document with its tables drawn. A server puts [`body`] into its
//! pages. `table` and `history` draw, `spark` a trend in a cell, `scale` places values on axes. The reasons are in
//! docs/decisions/0011-page.md.

mod chart;
pub mod checker;
mod history;
pub(super) mod scale;
mod scatter;
mod spark;
mod table;
mod ties;
mod words;

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use karat_core::facts::Digest;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::direction::isolated_page;
use crate::document::figure::{Fact, Figure, History, Rung};
use crate::document::{Cell, Column, Document, Entry, Level, Part, Row, Table};
use crate::headline;
use crate::text::{Tone, clean};

/// The style of every page; see [`compact`].
pub const STYLE: &str = include_str!("style.css");
/// The script of every page: it sorts and filters tables; see [`compact`].
pub const SCRIPT: &str = include_str!("script.js");
/// The face of all text: a part of Source Sans 3 under another name, as its licence asks (sans-license.txt).
pub const FACE: &[u8] = include_bytes!("sans.woff2");
/// The mark in the tab of a browser.
pub const ICON: &str = include_str!("icon.svg");

/// Returns the style of pages that load it, with the address of the face.
pub fn style(face: &str) -> String {
    let rule = "font-family:\"Karat Sans\";font-weight:400 700;font-display:optional";
    format!("@font-face{{{rule};src:url({face})}}\n{}", compact(STYLE))
}

/// The name of the program in the head of each page that it writes.
pub const GENERATOR: &str = concat!("karat ", env!("CARGO_PKG_VERSION"));

/// The frame of a page that is one of several: the way to the folder of the files that they share, such as `../`, and what is
/// above and below the document.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    /// The way from the page to that folder; empty if it is in there.
    pub root: &'a str,
    /// The pages above it: address and name.
    pub trail: &'a [(String, String)],
    /// The content between its opening and its sections.
    pub content: Markup,
    /// Links to other forms of it: address and name.
    pub acts: &'a [(String, &'a str)],
}

/// Returns the whole file.
pub fn document(document: &Document) -> String {
    safe(whole(document, &inline(&[&compact(SCRIPT)], ""), Content::default()).into_string())
}

/// Returns the whole file of a page that loads its style and script.
pub fn page(document: &Document, frame: &Frame<'_>) -> String {
    let file = |name: &str| format!("{}{name}", frame.root);
    // Of a page that is opened from a disk the folder has no origin, and only its scheme names it.
    let policy = "default-src 'none'; style-src 'self' file:; script-src 'self' file:; font-src 'self' file:; img-src 'self' file:; \
                  base-uri 'none'; form-action 'none'";
    let head = html! {
        meta http-equiv="Content-Security-Policy" content=(policy);
        link rel="icon" href=(file("icon.svg"));
        link rel="stylesheet" href=(file("style.css"));
        script src=(file("script.js")) defer {}
    };
    let above = html! {
        @if !frame.trail.is_empty() {
            nav.trail aria-label="Above this page" {
                @for (path, name) in frame.trail { a href=(path) { (name) } span aria-hidden="true" { "›" } }
            }
        }
    };
    let more = html! { @if !frame.acts.is_empty() { (acts(frame.acts)) } };
    let files =
        Files { head, foot: html! {}, told: "These pages need no network, and no script to be read." };
    let content = Content { above, first: frame.content.clone(), more };
    safe(whole(document, &files, content).into_string())
}

/// Shows links to other forms of a page.
pub fn acts(links: &[(String, &str)]) -> Markup {
    html! { ul.acts { @for (address, name) in links { li { a href=(address) { (name) } } } } }
}

/// Returns the whole file with more content, a module that its scripts may compile, and data for them, which stay as they are.
fn framed(document: &Document, scripts: &[&str], content: Markup, data: Markup) -> String {
    let files = inline(scripts, " 'wasm-unsafe-eval'");
    let page = safe(whole(document, &files, Content { more: content, ..Content::default() }).into_string());
    let (before, after) = page.rsplit_once("</footer>").unwrap_or((&page, ""));
    format!("{before}</footer>{}{after}", data.into_string())
}

/// The style and the scripts of a page, and what its foot says of them.
struct Files {
    head: Markup,
    foot: Markup,
    told: &'static str,
}

/// The parts of a page beside its document.
struct Content {
    above: Markup,
    first: Markup,
    more: Markup,
}

impl Default for Content {
    fn default() -> Self {
        Self { above: html! {}, first: html! {}, more: html! {} }
    }
}

/// Returns the files of a page that has them in itself.
fn inline(scripts: &[&str], allowed: &str) -> Files {
    let style = compact(STYLE);
    let sources: Vec<String> = scripts.iter().map(|script| format!("'{}'", source(script))).collect();
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src {}{allowed}; base-uri 'none'; form-action 'none'",
        source(&style),
        sources.join(" ")
    );
    Files {
        // The only text that is not escaped: it is part of the program.
        head: html! {
            meta http-equiv="Content-Security-Policy" content=(policy);
            style { (PreEscaped(&style)) }
        },
        foot: html! { @for script in scripts { script { (PreEscaped(script)) } } },
        told: "This file needs no network, and no script to be read.",
    }
}

fn whole(document: &Document, files: &Files, content: Content) -> Markup {
    let sections = sections(document);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                (files.head)
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(GENERATOR);
                title { (heading(document)) }
            }
            body {
                main.wrap {
                    (content.above)
                    (opening(html! { (told(&document.title)) }, document))
                    (notes(urgent(document)))
                    (content.first)
                    (drawn("s", &sections))
                    (content.more)
                    (reproduce(document))
                }
                footer {
                    div.wrap { span { "Made by karat " (env!("CARGO_PKG_VERSION")) ". " (files.told) } }
                }
                (files.foot)
            }
        }
    }
}

/// Returns what a page opens with: a line about what it is, the finding, and how much and how sure.
pub fn opening(kick: Markup, document: &Document) -> Markup {
    let headline = &document.headline;
    let text = heading(document);
    html! {
        div.say {
            // Where nothing was found, the heading is the title.
            @if kick.0 != told(text).0 { p.kick { (kick) } }
            h1 { (told(text)) }
            @if !headline.lead.is_empty() { p.lead { (told(&headline.lead.join(" "))) } }
        }
    }
}

/// Returns the heading of a page: the finding, or the title without one.
pub fn heading(document: &Document) -> &str {
    if document.headline.text.is_empty() { &document.title } else { &document.headline.text }
}

/// Returns a bar of the shares of a whole, the largest first; their numbers are beside it.
pub fn parts(shares: &[(String, f64)]) -> Markup {
    let mut from = 0.0;
    let mut part = |(at, (name, share)): (usize, &(String, f64))| {
        let x = from;
        from += share;
        let width = scale::percent((share - 0.004).max(0.0));
        html! {
            rect.bar x=(scale::percent(x)) width=(width) height="100%" opacity=[[None, Some("0.62"), Some("0.34")][at.min(2)]] {
                title { (name) }
            }
        }
    };
    html! { div.rule { svg aria-hidden="true" { @for it in shares.iter().enumerate() { (part(it)) } } } }
}

/// Returns what it takes to make an answer again: its method, and the digests of what it is from.
pub fn reproduce(document: &Document) -> Markup {
    html! {
        section aria-labelledby="reproduce" {
            h2 id="reproduce" { "Reproduce this" }
            @for line in &document.lines { p { (with_capital(line)) } }
            @if !document.command.is_empty() { pre { code { (document.command) } } }
            dl.about { @for (label, value) in &document.about { div { dt { (label) } dd { (told(value)) } } } }
        }
    }
}

/// Returns a document without its title, for a page of a server: what matters first, then a section for each heading. Its
/// ids begin with `id`, which must be unique on the page.
pub fn body(id: &str, document: &Document) -> Markup {
    html! { (notes(urgent(document))) (drawn(id, &sections(document))) }
}

/// Returns a table with its drawings. Its ids begin with `id`, which must be unique on the page.
pub fn table(id: &str, table: &Table) -> Markup {
    table::draw(id, table)
}

pub use table::cells;
pub use words::{moment, told, with_capital, words};

/// Returns values over time. Its ids begin with `id`, which must be unique on the page.
pub fn history(id: &str, history: &History) -> Markup {
    history::draw(id, history)
}

/// Returns sentences to be read first; nothing without any.
pub fn notes(notes: Vec<Markup>) -> Markup {
    html! {
        @if !notes.is_empty() {
            div.notes role="note" aria-label="Before you read on" { @for note in notes { p { (note) } } }
        }
    }
}

/// Returns the lines without indentation and comments, with one kind of line end on every system.
pub fn compact(text: &str) -> String {
    let says_something = |line: &&str| !line.is_empty() && !line.starts_with("//");
    text.lines().map(str::trim).filter(says_something).collect::<Vec<_>>().join("\n")
}

/// Removes characters that control a terminal, turn the direction of the rest, or are not allowed in HTML, and isolates text
/// from right to left. Done once for the whole page, so that no drawing can forget it.
pub fn safe(text: String) -> String {
    let lines: Vec<_> = text.split('\n').map(clean).collect();
    isolated_page(lines.join("\n"))
}

/// A heading with what is below it.
struct Section {
    heading: String,
    parts: Vec<Part>,
}

/// Returns what is read first: findings that are more than a notice, and grave notes above the first heading.
fn urgent(document: &Document) -> Vec<Markup> {
    let findings = document.findings.iter().filter(|it| it.level < Level::Notice).map(|it| &it.text);
    let above = document.parts.iter().take_while(|part| !matches!(part, Part::Heading(_)));
    let notes = above.filter_map(|part| match part {
        Part::Note(Tone::Care | Tone::Bad, text) => Some(text),
        _ => None,
    });
    findings.chain(notes).map(|text| with_capital(text)).collect()
}

/// Returns a section for each heading, without those that are empty.
fn sections(document: &Document) -> Vec<Section> {
    let mut name = document.name.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let mut sections = vec![Section { heading: name, parts: Vec::new() }];
    let mut is_below = false;
    let is_told = |part: &Part| matches!(part, Part::Table(table) if table.is_drawn);
    for part in document.parts.iter().filter(|part| !is_told(part)) {
        let heading = match part {
            Part::Heading(heading) => Some(heading),
            // What got worse or better is read on its own.
            Part::Table(table) if table.tone != Tone::Plain => Some(&table.caption),
            _ => None,
        };
        sections.extend(heading.map(|it| Section { heading: it.clone(), parts: Vec::new() }));
        is_below |= matches!(part, Part::Heading(_));
        let Some(Section { parts, .. }) = sections.last_mut() else { continue };
        match part {
            Part::Heading(_) => {}
            // It is among what is read first.
            Part::Note(Tone::Care | Tone::Bad, _) if !is_below => {}
            Part::Note(_, text) if document.headline.lead.contains(&headline::sentence(text)) => {}
            Part::Table(table) if table.tone != Tone::Plain => {
                let table = Table { caption: String::from("Tasks"), ..table.clone() };
                parts.extend(by_unit(&table).into_iter().map(Part::Table));
            }
            Part::Table(table) => parts.extend(by_unit(table).into_iter().map(Part::Table)),
            Part::List(entries) if entries.iter().any(|it| !it.name.is_empty()) => {
                parts.push(Part::Table(list(entries)));
            }
            other => parts.push(other.clone()),
        }
    }
    let told = document.findings.iter().filter(|it| it.level == Level::Notice && it.place.is_none());
    let told = told.map(|it| Part::Note(Tone::Plain, it.text.clone())).collect();
    sections.push(Section { heading: String::from("Notes"), parts: told });
    sections.retain(|section| !section.parts.is_empty());
    sections
}

fn drawn(id: &str, sections: &[Section]) -> Markup {
    // No two regions may have one name; groups repeat their headings.
    let is_first =
        |section: &Section, at: usize| sections.iter().take(at).all(|it| it.heading != section.heading);
    html! {
        @for (index, section) in sections.iter().enumerate() {
            @let id = format!("{id}{}", index + 1);
            @if let [Part::Figure(only)] = section.parts.as_slice() && let Figure::Facts(all) = &**only { (facts(all)) } @else { section aria-labelledby=[is_first(section, index).then_some(&id)] {
                h2 id=(id) { (section.heading) }
                @let is_ladder = |it: &Part| matches!(it, Part::Figure(figure) if matches!(**figure, Figure::Ladder(_)));
                @let (beside, below): (Vec<_>, Vec<_>) = section.parts.iter().enumerate().partition(|(_, it)| is_ladder(it));
                @let shown = html! { @for (place, it) in below { (part(&format!("{id}f{}", place + 1), it)) } };
                @if beside.is_empty() { (shown) } @else {
                    div.cols {
                        div { (shown) }
                        aside.side aria-label="What each tier asks" { @for (place, it) in beside { (part(&format!("{id}f{}", place + 1), it)) } }
                    }
                }
            } }
        }
    }
}

fn part(id: &str, part: &Part) -> Markup {
    match part {
        Part::Note(tone, text) => {
            html! { p class=[matches!(tone, Tone::Care | Tone::Bad).then_some("care")] { (with_capital(text)) } }
        }
        Part::Table(it) => html! { div.figure { (table(id, it)) } },
        Part::Figure(figure) => html! {
            div.figure {
                @match &**figure {
                    Figure::Table(it) => (table(id, it)),
                    Figure::Closed(it) => (table::behind(&it.caption, table(id, it))),
                    Figure::History(it) => (history(id, it)),
                    Figure::Scatter(it) => (scatter::draw(id, it)),
                    Figure::Facts(all) => (facts(all)),
                    Figure::Ladder(rungs) => (ladder(rungs)),
                }
            }
        },
        Part::List(entries) => {
            html! { ul.sentences { @for it in entries { li { (with_capital(&it.text)) } } } }
        }
        Part::Heading(_) => html! {},
    }
}

/// Returns the numbers that matter most, beside each other.
fn facts(all: &[Fact]) -> Markup {
    html! {
        dl.figures {
            @for it in all {
                div {
                    dt { (it.label) }
                    dd {
                        span.stamp[it.is_stamp] data-from=[Some(&it.pointer).filter(|it| !it.is_empty())] { (it.value) }
                        small { (it.note) }
                    }
                }
            }
        }
    }
}

/// Returns tiers, the highest first, with a tick or a cross before what each asks.
fn ladder(rungs: &[Rung]) -> Markup {
    html! {
        ol.ladder {
            @for rung in rungs {
                li.here[rung.is_held] {
                    h3 { (rung.name) @if rung.is_held { small { "here" } } }
                    ul {
                        @for (is_met, text) in &rung.asks {
                            li {
                                @if *is_met { i.ok { "✓" span.aloud { "met: " } } } @else { i.care { "✗" span.aloud { "missing: " } } }
                                (words(text))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a list as a table of two columns, with what is in an entry further in.
fn list(entries: &[Entry]) -> Table {
    let row = |it: &Entry| {
        let name = format!("{}{}", "\u{2003}".repeat(it.depth), it.name);
        Row::from(vec![Cell::Text(name), Cell::text(&it.text)])
    };
    let columns = vec![Column::name("name"), Column::text("value")];
    Table::new("", columns, entries.iter().map(row).collect())
}

/// Returns a table for each unit of its estimates, as each has its own axis.
pub(super) fn by_unit(table: &Table) -> Vec<Table> {
    let mut units: Vec<Option<f64>> = Vec::new();
    for unit in table.rows.iter().map(unit) {
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    let of = |wanted: &Option<f64>| -> Vec<Row> {
        table.rows.iter().filter(|row| unit(row) == *wanted).cloned().collect()
    };
    units.iter().map(|unit| Table { rows: of(unit), ..table.clone() }).collect()
}

/// Returns the highest value on the scale of the first estimate of a row.
fn unit(row: &Row) -> Option<f64> {
    row.cells.iter().find_map(|cell| match cell {
        Cell::Interval(span) => Some(span.writing.value(1.0)),
        _ => None,
    })
}

/// Returns the name by which a policy allows an inline text: its digest, so that no other text is allowed.
fn source(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Digest::of(text.as_bytes()).0))
}
