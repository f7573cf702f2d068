//! The messages of `karat serve` when it starts and when it has stopped.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;

use karat_server::folder;
use serde_json::json;

use karat_terminal::output::{CARE, FAINT, STRONG};

/// A server that has started.
pub struct Started<'a> {
    /// Its address.
    pub address: SocketAddr,
    /// The folder of its store.
    pub folder: &'a Path,
    /// The key that checks its log.
    pub log_key: String,
    /// The secret of the first key, if it is to be shown.
    pub admin_key: Option<&'a str>,
    /// The file that the first key was written to.
    pub key_file: Option<&'a Path>,
    /// True if it was filled with the demo.
    pub is_demo: bool,
    /// True if the folder is removed when it stops.
    pub is_temporary: bool,
}

impl Started<'_> {
    /// Returns the message for people.
    pub fn screen(&self) -> String {
        let (url, folder) = (self.url(), self.folder.display());
        let mut text = format!("{STRONG}karat serves {url}{STRONG:#}\n\n");
        let gone = if self.is_temporary { ", removed when it stops" } else { "" };
        let mut put = |name: &str, value: &str| {
            let _ = writeln!(text, "  {FAINT}{name:<10}{FAINT:#} {value}");
        };
        put("store", &format!("{folder}{gone}"));
        match (self.admin_key, self.key_file) {
            (Some(key), _) => {
                put("admin key", &format!("{CARE}{key}{CARE:#}"));
                put("", "shown only once; it creates all other keys");
            }
            (None, Some(file)) => {
                put("admin key", &format!("in `{}`, readable by you alone", file.display()))
            }
            (None, None) => put("admin key", "as shown at the first start"),
        }
        let _ = writeln!(text, "  {FAINT}log key{FAINT:#}\n  {}\n\n{STRONG}Next{STRONG:#}\n", self.log_key);
        let key = self.admin_key.unwrap_or("karat_...");
        let _ = if self.is_demo {
            writeln!(text, "  open {url}\n  curl {url}/v1/arena/ratings\n  curl {url}/v1/records")
        } else {
            writeln!(
                text,
                "  KEY={key}\n  curl {url}/v1/evidence?card=log-forensics \\\n    \
                 -H \"authorization: Bearer $KEY\" -H 'content-type: application/json' \\\n    \
                 -d '{{\"match_id\":\"m-1\",\"agent_id\":\"bee\",\"scores\":{{\"correctness\":900}}}}'\n  \
                 open {url}"
            )
        };
        if !self.is_temporary {
            let (store, public) = (folder::STORE, folder::PUBLIC);
            let _ = writeln!(text, "  karat log verify {folder}/{store} --key {folder}/{public}");
        }
        let _ = writeln!(text, "\n{FAINT}Ctrl-C stops it.{FAINT:#}");
        text
    }

    /// Returns the message for programs: one line of JSON.
    pub fn line(&self) -> String {
        let line = json!({
            "state": "started",
            "url": self.url(),
            "folder": self.folder.display().to_string(),
            "log_key": self.log_key,
            "admin_key": self.admin_key,
            "demo": self.is_demo,
        });
        format!("{line}\n")
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// A server that has stopped.
pub struct Stopped {
    /// Requests that it answered.
    pub requests: u64,
    /// Entries of its log.
    pub log_size: u64,
}

impl Stopped {
    /// Returns the message for people.
    pub fn screen(&self) -> String {
        let Self { requests, log_size } = self;
        format!(
            "\n{STRONG}stopped{STRONG:#}: {requests} requests answered, none open; all {log_size} entries of the log are \
             stored\n"
        )
    }

    /// Returns the message for programs: one line of JSON.
    pub fn line(&self) -> String {
        let line = json!({"state": "stopped", "requests": self.requests, "log_size": self.log_size});
        format!("{line}\n")
    }
}
