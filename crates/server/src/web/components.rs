//! The components of the pages, each in its states, by the functions that the pages call. Shown with the demo alone.

use karat::document::figure::{Fact, Figure};
use karat::document::{Document, Part, sample};
use karat::write::html::parts;

use super::layout::*;
use super::session;
use crate::prelude::*;

pub async fn show(Get(app, caller): Get) -> Answer {
    if !app.options.is_demo {
        let why = "there is no such path; the components are shown with `karat serve --demo`";
        return Err(Problem::not_found(why));
    }
    let title = "Every component, in each of its states";
    let marks = [
        (true, String::from("holds: `3 of 3` in a signed log")),
        (false, String::from("does not: claimed by the sender")),
    ];
    let facts = Document { parts: vec![facts()], ..Document::default() };
    let content = html! {
        (heading(&[("/", "Home"), ("/components", "Trail")], title, "A lead of one to three sentences: how much, how sure, what else. \
            Times such as 2026-06-08T12:00:00Z are written for people."))
        (trust_strip(&marks, "/verify"))
        (notes(&[String::from("A note that is read first."), String::from("Another, of `code`.")]))
        (body("f", &facts))
        (body("c", &sample::page(6, 4)))
        (section("pieces", "Pieces", html! {
            h3 { "Parts of a whole" } (parts(&[(String::from("one"), 0.7), (String::from("two"), 0.2), (String::from("three"), 0.1)]))
            h3 { "Stamp, states, mark" }
            p { span.stamp { "gold" } " " span.state { "open" } " " span.state.care { "held" } " " b.ok { "✓" } " " b.care { "!" } }
            h3 { "Term" }
            p { "A " button.term type="button" popovertarget="term" { "term" } " that is explained where it stands." }
            div id="term" popover { "What it means, in a sentence." }
            h3 { "Command" } pre { code { "karat verify receipt.json --key log.pub" } }
            h3 { "Opened and closed" } details open { summary { "Open" } p { "Content." } } details { summary { "Closed" } p { "Content." } }
            h3 { "Links" } (acts(&[(String::from("/v1/log"), "JSON"), (String::from("/v1/openapi.json"), "OpenAPI")]))
            (turn("components", ["Newer", "Older"], (2, 3), |page| format!("/components?{page}#pieces")))
        }))
        (section("ladder", "Ladder", html! {
            ul.ladder {
                li { h3 { span { "gold" } span { "800" } } ul { li { i.care aria-hidden="true" { "✗" } "214 points more" } } }
                li.here { h3 { span { "bronze, here" } span { "400" } } ul { li { i.ok aria-hidden="true" { "✓" } "accuracy measured" } } }
            }
        }))
        (section("forms", "Forms", html! {
            (session::fields("What is wrong with it, beside the field.", "/components"))
            div.buttons { button.go type="button" { "First" } button.go.quiet type="button" { "Second" } button.plain type="button" { "Plain" } }
            form.fields { label { "Text" input name="q" value="as it was"; } label { "Choice" select name="s" { option { "one" } option { "two" } } } }
        }))
        (section("nothing", "Nothing there", html! {
            div.empty { p { "Nothing is here yet, and what to do next." } }
        }))
    };
    Ok(Sheet { title, part: "", caller: Some(&caller) }.answer(content))
}

/// Returns the numbers that matter most.
fn facts() -> Part {
    let tier = Fact::new("tier", "bronze", "silver needs 600", "");
    let (score, rank) =
        (Fact::new("score", "586", "of 1000", ""), Fact::new("rank", "none", "not ranked", ""));
    Figure::Facts(vec![score, Fact { is_stamp: true, ..tier }, rank]).into()
}
