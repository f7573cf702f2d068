//! The form that checks receipts in the browser of a visitor, and the page in one file that does so offline. The
//! script and the module belong to the program that writes the page.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::{SCRIPT, compact, framed};
use crate::document::Document;

/// The origin of the key that is offered.
#[derive(Debug, Clone, Copy)]
pub enum KeyOrigin {
    /// The server that sends the page.
    Server,
    /// The author of the file.
    File,
}

impl KeyOrigin {
    /// Returns the name of the key on a button, and what it proves.
    const fn words(self) -> [&'static str; 2] {
        match self {
            Self::Server => [
                "Use the key of this server",
                "The key came from this server, so it proves nothing about this server.",
            ],
            Self::File => [
                "Use the key of this file",
                "The key came with this file, so it proves nothing about the author of the file.",
            ],
        }
    }
}

/// A receipt with what it is checked with, as texts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Given<'t> {
    /// The name that is shown.
    pub name: &'t str,
    /// The receipt.
    pub text: &'t str,
    /// The key of the log.
    pub key: Option<&'t str>,
    /// The receipts of its changes.
    pub rotation: &'t [String],
    /// The witnesses that must have cosigned.
    pub witness: &'t [String],
    /// The item that was scored.
    pub evidence: Option<&'t str>,
    /// The scorecard.
    pub card_text: Option<&'t str>,
}

/// Returns the form in which a visitor gives receipts, which a script shows.
pub fn form(key: Option<(&str, KeyOrigin)>) -> Markup {
    let area = |name: &str, label: &str, rows: &str| {
        html! { label { (label) textarea name=(name) rows=(rows) spellcheck="false" autocomplete="off" {} } }
    };
    html! {
        div data-without-script {
            p.care { "Without scripts this browser can check nothing here. The program checks the same on your machine:" }
            pre { code { "karat verify receipt.json --key NAME+ID+KEY" } }
        }
        form.fields.stacked data-verify hidden {
            label { "Receipt, as a file" input type="file" name="file" accept=".json,application/json"; }
            (area("text", "or its text", "5"))
            label { "Public key of the log: NAME+ID+KEY" input name="key" autocomplete="off" spellcheck="false" aria-describedby="key-origin"; }
            p id="key-origin" {
                "Take the key from the operator of the log, by another way than the receipt. A key from the same server proves "
                "nothing about that server: who can make up a receipt can make up a key."
            }
            @if let Some((key, origin)) = key {
                @let [label, proves] = origin.words();
                button.go.quiet type="button" data-key=(key) data-proves=(proves) { (label) }
            }
            details {
                summary { "Evidence, and a scorecard that does not come with karat" }
                div {
                    (area("evidence", "Evidence: the item that was scored, as JSON", "4"))
                    (area("card_text", "Scorecard: the text of its file", "4"))
                }
            }
            button.go type="submit" { "Check in this browser" }
        }
        div id="verify-result" aria-live="polite" {}
    }
}

/// Returns a page in one file: what was found, and a form, a script and a compressed module that check `given` again and others.
pub fn checker(document: &Document, given: &[Given<'_>], script: &str, module: &[u8]) -> String {
    let own = compact(SCRIPT);
    let receipts = serde_json::to_string(given).unwrap_or_default().replace('<', "\\u003c");
    let key = given.iter().find_map(|it| it.key).map(|key| (key, KeyOrigin::File));
    let content = html! {
        section aria-labelledby="again" {
            h2 id="again" { "Checked again in this browser" }
            p { "This file has the receipts and the program that checks them, and asks no one. You trust the program "
                "as much as the person who gave you the file: " code { "karat verify" } " checks the same." }
            div id="verify-given" aria-live="polite" {}
        }
        section aria-labelledby="others" { h2 id="others" { "Check another receipt" } (form(key)) }
    };
    let data = html! {
        script type="application/json" id="given" { (PreEscaped(&receipts)) }
        script type="application/gzip" id="engine" { (PreEscaped(STANDARD.encode(module))) }
    };
    framed(document, &[&own, script], content, data)
}
