//! Keys for those who may read them: who may send what, whose word it is, and what was withdrawn. No secret is known here.

use karat::headline::capital;
use karat::look_alikes::{self, LookAlikes};
use karat::text::list;

use super::layout::*;
use crate::api::keys::{KeyInLog, in_log};
use crate::keys::Scope;
use crate::prelude::*;

pub async fn show(State(app): State<Arc<App>>, caller: Caller) -> Answer {
    caller.may(&Act::ReadKeys)?;
    let (known, of_server) = in_log(&app).await?;
    let (gone, active): (Vec<&KeyInLog>, Vec<&KeyInLog>) = known.iter().partition(|it| it.revoked.is_some());
    let title = finding(&active, &gone);
    let looks = LookAlikes::among(active.iter().map(|it| it.key.name.as_str()));
    let alike =
        look_alikes::sentences(active.iter().map(|it| (it.key.name.as_str(), looks.of(&it.key.name))));
    let lead = "A key is known by its name; the server keeps no secret, only its hash. Whose word a record is, its key says.";
    let content = html! {
        (heading(&[("/", "Home")], &title, lead))
        (notes(&alike))
        (table_section("keys", "Who may send what", in_force(&active)))
        (section("trust", "Who believes whom", html! {
            p { "The trust class of a record is the lower of two: what its scorecard asks for by " code { "from" }
                ", and what the key that sent it may state." }
            (figure("trust-figure", &classes(&active, of_server)))
        }))
        @if !gone.is_empty() { (table_section("gone", "Keys that are revoked", revoked(&gone))) }
        (acts(&[(String::from("/log?kind=key"), "Their entries in the log"), (String::from("/api#list_keys"), "API")]))
    };
    Ok(Sheet { title: &title, part: KEYS, caller: Some(&caller) }.answer(content))
}

/// Says how many keys there are, and what they allow.
fn finding(active: &[&KeyInLog], gone: &[&KeyInLog]) -> String {
    let may = |scope| active.iter().filter(|it| it.key.allows(scope)).count();
    let keys = if active.len() == 1 { String::from("One key") } else { format!("{} keys", active.len()) };
    let withdrawn = gone.iter().filter(|it| it.withdrawal.is_some()).count();
    let gone = match (gone.len(), withdrawn) {
        (0, _) => String::new(),
        (gone, 0) => format!("; {gone} revoked"),
        (gone, withdrawn) => format!("; {gone} revoked, {withdrawn} of them with what was sent"),
    };
    format!("{keys}: {} may send evidence, {} everything{gone}", may(Scope::WriteEvidence), may(Scope::Admin))
}

fn scopes(key: &Key) -> String {
    let may = |scope: &Scope| match scope {
        Scope::Read => "read",
        Scope::WriteEvidence => "send evidence",
        Scope::Review => "review",
        Scope::Admin => "everything",
    };
    list(&key.scopes.iter().map(may).collect::<Vec<_>>())
}

fn speaks(key: &Key) -> String {
    match (&key.subject, key.reports.is_empty()) {
        (None, true) => String::from("any fact, of anyone"),
        (None, false) => format!("facts of {}", list(&key.reports.iter().collect::<Vec<_>>())),
        (Some(subject), _) => format!("facts of {subject}"),
    }
}

fn in_force(active: &[&KeyInLog]) -> Table {
    let rows = active.iter().map(|it| {
        let last = it.last.map(|at| link(&format!("entry {at}"), address::record(at)));
        line([
            text(&it.key.name),
            text(scopes(&it.key)),
            text(speaks(&it.key)),
            text(it.trust.name()),
            text(it.records),
            last.unwrap_or_else(|| absent("none yet")),
            text(&it.made),
            text(&it.key.id),
        ])
    });
    let columns = "=key | may | states | believed as | #records | last record | made | id";
    grid("The keys in force, the oldest first", columns, rows.collect())
}

/// Says what each trust class means, and who is of it.
fn classes(active: &[&KeyInLog], of_server: usize) -> Table {
    let rows = Trust::ALL.into_iter().map(|trust| {
        let senders = active.iter().filter(|it| it.trust == trust && it.key.allows(Scope::WriteEvidence));
        let mut who: Vec<&str> = senders.map(|it| it.key.name.as_str()).collect();
        if trust == Trust::Graded && of_server > 0 {
            who.push("this server");
        }
        let who = (!who.is_empty()).then(|| list(&who));
        line([text(trust.name()), text(meaning(trust)), text_or(who, "no key")])
    });
    let columns = "=trust class | &what it rests on | &at most this";
    grid("From the least to the most", columns, rows.collect())
}

/// Says whose word a record is, and whether more than a claim stands behind it.
pub(super) fn vouched(trust: Trust) -> (bool, String) {
    (trust >= Trust::Measured, format!("{}: {}", capital(trust.name()), meaning(trust)))
}

/// Says whose word a record of a trust class is.
pub(super) const fn meaning(trust: Trust) -> &'static str {
    match trust {
        Trust::Claimed => "the word of the subject, or of a key that does not say for whom it speaks",
        Trust::Judged => "the word of a judge or a third party",
        Trust::Measured => "all of it was measured by a harness or a task, whose key says so",
        Trust::Graded => "this server graded it",
    }
}

fn revoked(gone: &[&KeyInLog]) -> Table {
    let rows = gone.iter().map(|it| {
        let withdrawn = it.withdrawal.as_ref().map(|it| format!("from {} on: {}", it.since, it.reason));
        let withdrawn = text_or(withdrawn, "nothing: what it sent counts");
        let revoked = text_or(it.revoked.as_ref(), "not said");
        line([text(&it.key.name), revoked, text(it.records), text(&it.key.id), withdrawn])
    });
    grid("They open nothing any more", "=key | revoked | #records | id | &withdrawn", rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{KeyRequest, Withdrawal};

    #[test]
    fn the_finding_counts_what_keys_allow() {
        let known = |seed: u8, scope: Scope, revoked: bool| {
            let request = KeyRequest { scopes: [scope].into(), ..KeyRequest::admin("a") };
            let revoked = revoked.then(String::new);
            let key = request.make([seed; 32]).unwrap().key;
            KeyInLog {
                key,
                made: String::new(),
                revoked,
                withdrawal: None,
                trust: Trust::Claimed,
                records: 0,
                last: None,
            }
        };
        let (admin, reader) = (known(1, Scope::Admin, false), known(2, Scope::Read, false));
        let mut gone = known(3, Scope::WriteEvidence, true);
        assert_eq!(finding(&[&admin], &[]), "One key: 1 may send evidence, 1 everything");
        let told = finding(&[&admin, &reader], &[&gone]);
        assert_eq!(told, "2 keys: 1 may send evidence, 1 everything; 1 revoked");
        gone.withdrawal = Some(Withdrawal::new("k", "t", 1, "why"));
        assert!(finding(&[&admin], &[&gone]).ends_with("; 1 revoked, 1 of them with what was sent"));
    }
}
