//! The file of webhooks: where events go, and what is watched. Every fault of it is reported at once, with its line.

use std::fs;
use std::path::Path;

use axum::http::Uri;
use karat::ask::Trend;
use karat_evidence::json::problem::{nearest, quoted};
use karat_evidence::json::toml;
use karat_evidence::{Problem, Problems};
use serde_json::Map;
use ureq::tls::RootCerts;

use super::send::SigningSecret;
use crate::api::questions;
use crate::basics::*;

/// The types of events.
pub const TYPES: [&str; 5] = ["score.held", "review.decided", "tier.lost", "gate.failed", "trend.alarm"];
/// The most endpoints, and the most questions that are watched.
const MOST: usize = 32;
/// The waits between the attempts for an event, in seconds: those that Standard Webhooks suggests. An endpoint that fails after
/// the last is switched off.
const WAITS: [u64; 9] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

/// The webhooks of a server.
#[derive(Debug, Clone, Default)]
pub struct Webhooks {
    /// The address of the server before links in events; without one they are paths.
    pub site: String,
    pub endpoints: Vec<Endpoint>,
    pub watches: Vec<Watch>,
    /// The waits between the attempts for an event.
    pub waits: Vec<Duration>,
    /// The certificates that vouch for endpoints; none for those that come with karat.
    pub roots: Option<RootCerts>,
}

/// A receiver of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub name: String,
    pub url: String,
    pub events: BTreeSet<String>,
    /// The secrets that sign, each for itself: two while one is replaced.
    pub secrets: Vec<SigningSecret>,
    pub allows_private: bool,
    /// Only events of this subject.
    pub subject: Option<String>,
    /// Only events of this scorecard, of one version or of all.
    pub card: Option<String>,
}

/// A question about a trend that is asked again with new records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    pub name: String,
    /// The query of `GET /v1/trend`.
    pub query: String,
}

impl Webhooks {
    /// Reads the file at `path`, and the secrets that it names.
    ///
    /// # Errors
    /// If something is wrong with them: everything, each with its line.
    pub fn read(path: &Path) -> Result<Self, Problems> {
        let unread =
            |error: std::io::Error| Problems::one("$", error.to_string(), "a file that can be read", "");
        let text = fs::read_to_string(path).map_err(unread)?;
        let mut problems = Problems::default();
        let tables = toml::read(&text, |_| true, &mut problems)?;
        let mut top = Table::of(&tables, String::from("$"), &mut problems);
        let site = top.text("site").unwrap_or_default().trim_end_matches('/').to_owned();
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut names = BTreeSet::new();
        let endpoints = top.tables("endpoint", |table| endpoint(table, folder, &mut names));
        let watches = top.tables("watch", |table| Watch {
            name: table.name(&mut names),
            query: table.required("query", "a query such as \"card=task-run&run=night\"", |query| {
                let uri: Uri = format!("/v1/trend?{query}").parse().map_err(|_| String::from("no query"))?;
                questions::read::<Trend>(&uri).map(drop).map_err(|problem| problem.detail)
            }),
        });
        top.end(&["site", "endpoint", "watch"]);
        if endpoints.is_empty() && problems.is_empty() {
            problems.refuse("$", "no endpoint", "[[endpoint]]", "add one, or leave out `--webhooks`");
        }
        let has_alarms = endpoints.iter().any(|it| it.events.contains("trend.alarm"));
        if has_alarms && watches.is_empty() && problems.is_empty() {
            let hint = "add a table [[watch]] with `name` and `query`";
            problems.refuse("$.endpoint", "`trend.alarm` and nothing that is watched", "[[watch]]", hint);
        }
        if !problems.is_empty() {
            return Err(toml::located(&text, &problems).in_order());
        }
        Ok(Self { site, endpoints, watches, waits: WAITS.map(Duration::from_secs).to_vec(), roots: None })
    }
}

fn endpoint(table: &mut Table<'_>, folder: &Path, names: &mut BTreeSet<String>) -> Endpoint {
    let name = table.name(names);
    let allows_private = table.flag("allow_private");
    let url = table.required("url", "an address such as \"https://example.org/karat\"", |url| {
        let uri: Uri = url.parse().map_err(|_| String::from("no address"))?;
        if uri.host().is_none_or(str::is_empty) || url.contains(['@', '#']) {
            return Err(String::from("an address has a host, and neither a user nor a fragment"));
        }
        match uri.scheme_str() {
            Some("https") => Ok(()),
            Some("http") if allows_private => Ok(()),
            Some("http") => Err(String::from("use https; `allow_private = true` allows http, too")),
            _ => Err(String::from("begin it with https://")),
        }
    });
    let mut events = BTreeSet::new();
    for (at, event) in table.list("events").into_iter().enumerate() {
        match TYPES.contains(&event.as_str()) {
            true => _ = events.insert(event),
            false => {
                let near = nearest(&event, TYPES).map(|near| format!("did you mean \"{near}\"?"));
                let path = format!("{}.events[{at}]", table.path);
                let found = quoted(&event);
                table.problems.refuse(
                    path,
                    found,
                    format!("one of {}", TYPES.join(", ")),
                    near.unwrap_or_default(),
                );
            }
        }
    }
    let mut secrets = Vec::new();
    table.required("secret_file", "a file with a line such as whsec_...", |file| {
        secrets = read_secrets(&folder.join(file))?;
        Ok(())
    });
    let (subject, card) = (table.text("subject"), table.text("card"));
    Endpoint { name, url, events, secrets, allows_private, subject, card }
}

/// Reads the secrets in a file that only its owner may read, one on each line.
fn read_secrets(path: &Path) -> Result<Vec<SigningSecret>, String> {
    let data = fs::metadata(path).map_err(|error| error.to_string())?;
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&data.permissions()) & 0o077 != 0 {
        return Err(format!("others may read it: chmod 600 {}", path.display()));
    }
    if data.len() > 4096 {
        return Err(String::from("it is longer than 4 KiB"));
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let secrets: Option<Vec<SigningSecret>> = lines.map(SigningSecret::parse).collect();
    let hint =
        "each line of it is whsec_ and 24 to 64 bytes in base64: echo whsec_$(openssl rand -base64 32)";
    secrets.filter(|all| !all.is_empty()).ok_or_else(|| hint.to_owned())
}

/// A table of the file, whose faults are collected.
struct Table<'a> {
    members: Map<String, Value>,
    path: String,
    problems: &'a mut Problems,
}

impl<'a> Table<'a> {
    fn of(value: &Value, path: String, problems: &'a mut Problems) -> Self {
        let members = value.as_object().cloned();
        if members.is_none() {
            problems.refuse(path.as_str(), "another value", "a table", "");
        }
        Self { members: members.unwrap_or_default(), path, problems }
    }

    fn refuse(&mut self, key: &str, found: &str, expected: &str, hint: &str) {
        self.problems.add(|| Problem::at(format!("{}.{key}", self.path), found, expected, hint));
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.members.get(key) {
            None => None,
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(_) => {
                self.refuse(key, "another value", "a text in quotes", "");
                None
            }
        }
    }

    /// Reads a text that must be there and pass a check, which says what is wrong.
    fn required(
        &mut self,
        key: &str,
        expected: &str,
        check: impl FnOnce(&str) -> Result<(), String>,
    ) -> String {
        if !self.members.contains_key(key) {
            self.refuse(key, "nothing", expected, "");
        }
        let text = self.text(key).unwrap_or_default();
        if !text.is_empty()
            && let Err(hint) = check(&text)
        {
            self.refuse(key, &quoted(&text), expected, &hint);
        }
        text
    }

    /// Reads a name that is not among those before.
    fn name(&mut self, names: &mut BTreeSet<String>) -> String {
        self.required("name", "a name such as \"chat\" that no other table has", |name| {
            names.insert(name.to_owned()).then_some(()).ok_or_else(String::new)
        })
    }

    fn flag(&mut self, key: &str) -> bool {
        let found = self.members.get(key).map(Value::as_bool);
        if found == Some(None) {
            self.refuse(key, "another value", "true or false", "");
        }
        found.flatten().unwrap_or_default()
    }

    fn list(&mut self, key: &str) -> Vec<String> {
        let texts = self.members.get(key).and_then(|value| {
            let texts = value.as_array()?.iter().map(|it| it.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())
        });
        if texts.is_none() {
            let found = if self.members.contains_key(key) { "another value" } else { "nothing" };
            self.refuse(key, found, "a list of types such as [\"score.held\"]", "");
        }
        texts.unwrap_or_default()
    }

    /// Reads an array of tables.
    fn tables<T>(&mut self, key: &str, mut read: impl FnMut(&mut Table<'_>) -> T) -> Vec<T> {
        let list = match self.members.get(key) {
            None => return Vec::new(),
            Some(Value::Array(list)) if list.len() <= MOST => list.clone(),
            Some(_) => {
                self.refuse(key, "another value", &format!("at most {MOST} tables [[{key}]]"), "");
                return Vec::new();
            }
        };
        let known: &[&str] = match key {
            "endpoint" => &["name", "url", "events", "secret_file", "allow_private", "subject", "card"],
            _ => &["name", "query"],
        };
        let tables = list.iter().enumerate().map(|(at, value)| {
            let mut table = Table::of(value, format!("{}.{key}[{at}]", self.path), self.problems);
            let read = read(&mut table);
            table.end(known);
            read
        });
        tables.collect()
    }

    /// Refuses the keys that were not asked for.
    fn end(&mut self, known: &[&str]) {
        let unknown: Vec<String> =
            self.members.keys().filter(|key| !known.contains(&key.as_str())).cloned().collect();
        for key in unknown {
            let near = nearest(&key, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            let expected = format!("one of {}", known.join(", "));
            self.refuse(&key, "a key that is not known", &expected, &near.unwrap_or_default());
        }
    }
}
