//! The log for people: how much it holds, who signed and who cosigned it, how to follow it, and what came last.

use karat::headline::capital;
use karat_store::Term;
use karat_store::log::WitnessKey;
use karat_store::port::Order;

use karat::document::Row;

use super::items;
use super::layout::*;
use crate::cosigned::WitnessedHead;
use crate::prelude::*;

/// The number of entries that are listed.
const SHOWN: usize = 25;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    /// Only entries of this kind.
    kind: Option<String>,
}

pub async fn show(Get(app, caller): Get, headers: HeaderMap, Params(asked): Params<Asked>) -> Answer {
    let kind = items::given(asked.kind.as_deref()).map(listed).transpose()?;
    let newest = |index: &Index| index.rows(u64::MAX).rev().take(SHOWN).map(|it| it.position).collect();
    let records: Vec<u64> = match kind {
        Some(Kind::Record) => app.indexed(move |_, index| Ok(newest(index))).await?,
        _ => Vec::new(),
    };
    let (size, rotations, last, entries) = app
        .read(move |reader| {
            let size = reader.head()?.size;
            let last = size.checked_sub(1).map(|at| reader.item(at)).transpose()?;
            let found: Vec<Item> = match kind {
                None => reader.items(size.saturating_sub(SHOWN as u64)..size)?.into_iter().rev().collect(),
                Some(Kind::Record) => records.iter().map(|at| reader.item(*at)).collect::<Result<_, _>>()?,
                Some(kind) => reader.list(Term::kind(kind), 0..size, Order::Newest, SHOWN)?,
            };
            let entries: Vec<Row> = found.iter().map(line_of).collect();
            Ok((size, reader.rotations(size)?, last.map(|it| it.entry.moment.to_string()), entries))
        })
        .await?;
    let cosigned = app.cosigned.heads().of_witnesses();
    let (title, lead) = finding(size, last.as_deref(), app.options.witnesses.len(), &cosigned);
    let host = address::host(&headers);
    let newest_of =
        kind.map_or(String::from("The newest entries"), |it| format!("The newest of kind {}", it.name()));
    let content = html! {
        (heading(&[("/", "Home")], &title, &lead))
        div data-answer="/v1/log" {
            dl.figures {
                div { dt { "entries" } dd data-from="/size" { (size) } }
                div { dt { "witnesses" } dd { (cosigned.len()) small { @match app.options.witnesses.len() { 0 => "none is trusted here", all => { "of the " (all) " that this server trusts" } } } } }
                div { dt { "changes of the key" } dd data-from="/rotations" { (rotations.len()) } }
            }
        }
        (section("key", "The key that signs it", html! {
            p { "Every head of the log is signed with this key. Keep it: with it you notice if you are shown another history later. "
                "It came from this server, so compare it with what the operator publishes elsewhere." }
            pre { code { (app.log_key()) } }
            @if !rotations.is_empty() {
                p { "It was replaced by a newer one in "
                    @for (place, (at, _)) in rotations.iter().enumerate() { @if place > 0 { ", " } a href="/v1/log/rotations" { "entry " (at) } }
                    "; the old key signed each change." }
            }
        }))
        (witnesses(&app.options.witnesses, &cosigned, size))
        (section("follow", "Follow it from another machine", html! {
            p { "This checks every five minutes that the log still is what it was, and stops if it is not:" }
            pre { code { "curl -s http://" (host) "/v1/log | jq -r .key > log.pub\nkarat log monitor http://" (host) " --key log.pub --state log.json --every 300" } }
            p { "This makes you a witness of it; send the operator your public key:" }
            pre { code { "karat log witness http://" (host) " --key witness.key --state witness.json --log-key log.pub --send" } }
        }))
        (section("entries", &newest_of, html! {
            nav.pages aria-label="Kinds of entries" {
                a href="/log#entries" aria-current=[kind.is_none().then_some("page")] { "all" }
                @for it in kinds() {
                    a href=(format!("/log?kind={}#entries", it.name())) aria-current=[(kind == Some(it)).then_some("page")] { (it.name()) }
                }
            }
            @if entries.is_empty() { p { "No entry has this kind." } }
            @else { (figure("entries-figure", &grid("Each leads to what it holds, or to its receipt", "=entry | kind | what | subject | when | proof", entries))) }
        }))
        (acts(&[(String::from("/v1/log"), "JSON"), (String::from("/checkpoint"), "Signed head")]))
    };
    Ok(Sheet { title: &title, part: "/log", caller: Some(&caller) }.answer(content))
}

/// Says how large the log is, and whether anyone else vouches for it.
fn finding(size: u64, last: Option<&str>, witnesses: usize, cosigned: &[WitnessedHead]) -> (String, String) {
    let entries = if size == 1 { String::from("1 entry") } else { format!("{} entries", grouped(size)) };
    let whole = cosigned.iter().filter(|it| it.size == size).count();
    let title = match (cosigned.iter().map(|it| it.size).max(), whole) {
        (None, _) => format!("{entries}, none cosigned yet"),
        (Some(most), 0) => format!("{entries}, the first {} cosigned", grouped(most)),
        (Some(_), 1) => format!("{entries}, all cosigned by a witness"),
        (Some(_), by) => format!("{entries}, all cosigned by {by} witnesses"),
    };
    let newest = last.map(|last| format!("The newest is of {last}. "));
    let means = match (witnesses, cosigned.len()) {
        (0, _) => {
            "This server trusts no witness, so only its own key vouches for the log: with that key another log could be made up."
        }
        (_, 0) => "No witness has cosigned a head yet, so only the key of this server vouches for the log.",
        _ => {
            "A witness signs a head only if it follows the last one that it saw: what it cosigned cannot be rewritten unnoticed."
        }
    };
    (title, format!("{}{means}", newest.unwrap_or_default()))
}

/// Writes a number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let parts = |(at, digit): (usize, char)| {
        [(at > 0 && (digits.len() - at).is_multiple_of(3)).then_some(','), Some(digit)]
    };
    digits.chars().enumerate().flat_map(parts).flatten().collect()
}

/// Shows what each witness cosigned.
fn witnesses(trusted: &[WitnessKey], cosigned: &[WitnessedHead], size: u64) -> Markup {
    if trusted.is_empty() {
        return html! {};
    }
    let rows = trusted.iter().map(|key| {
        let key = key.to_string();
        let found = cosigned.iter().find(|it| it.witness == key);
        line([
            text(key.split('+').next().unwrap_or_default()),
            text_or(found.map(|it| it.size), "nothing yet"),
            text_or(found.map(|it| size.saturating_sub(it.size)), "all"),
            text_or(found.map(|it| &it.moment), "never"),
        ])
    });
    let columns = "=witness | #entries cosigned | #newer ones | last";
    let table = grid("The newest head of each", columns, rows.collect());
    table_section("witnesses", "Who else vouches for it", table)
}

/// Returns the kinds whose entries can be found without reading the whole log.
fn kinds() -> impl Iterator<Item = Kind> {
    Kind::ALL.into_iter().filter(|kind| kind.is_listed() || *kind == Kind::Record)
}

fn listed(name: &str) -> Result<Kind, Problem> {
    let known = || kinds().map(Kind::name).collect::<Vec<_>>().join(", ");
    let wrong = || format!("found `{}`, expected one of {}", name.escape_debug(), known());
    kinds().find(|kind| kind.name() == name).ok_or_else(|| Problem::parameter("kind", wrong()))
}

/// Returns the row of an entry.
fn line_of(item: &Item) -> Row {
    let Item { position, entry, .. } = item;
    let card = |id: &str| address::scorecard(id.split_once('/').map_or(id, |(card, _)| card));
    let part = |at: usize| entry.id.split('/').nth(at);
    let to = match entry.kind {
        Kind::Record => Some(address::record(*position)),
        Kind::Evidence => Some(format!("/v1/evidence/{position}")),
        Kind::Scorecard | Kind::Weights => Some(card(&entry.id)),
        Kind::Key => Some(KEYS.to_owned()),
        Kind::Match => part(1).map(address::game),
        Kind::Workflow if matches!(part(0), Some("task" | "plan" | "verdict")) => {
            part(1).map(|task| format!("/workflows/{}", address::part(task)))
        }
        _ => None,
    };
    let id = karat::text::short(&entry.id);
    let subject = match &entry.subject {
        Some(subject) if matches!(entry.kind, Kind::Record | Kind::Evidence | Kind::Review) => {
            link(subject, address::subject(subject, None))
        }
        subject => text_or(subject.as_ref(), "none"),
    };
    let proof = match entry.kind {
        Kind::Record => link("receipt", format!("/v1/receipts/{position}")),
        _ => absent("none"),
    };
    let id = to.map_or_else(|| text(&id), |to| link(&id, to));
    line([text(position), text(capital(entry.kind.name())), id, subject, text(entry.moment), proof])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_finding_says_who_vouches_for_how_much() {
        let head = |size| WitnessedHead { witness: String::from("w+1+k"), size, moment: String::new() };
        let told = |size, cosigned: &[WitnessedHead]| finding(size, None, 1, cosigned).0;
        assert_eq!(told(1, &[]), "1 entry, none cosigned yet");
        assert_eq!(told(1_204_840, &[]), "1,204,840 entries, none cosigned yet");
        assert_eq!(told(9, &[head(7), head(5)]), "9 entries, the first 7 cosigned");
        assert_eq!(told(9, &[head(9)]), "9 entries, all cosigned by a witness");
        assert_eq!(told(9, &[head(9), head(9)]), "9 entries, all cosigned by 2 witnesses");
    }
}
