//! The message of `karat serve` when it has started.

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
        let key = match (self.admin_key, self.key_file) {
            (Some(key), _) => {
                let once = "shown only once; it creates all other keys";
                format!("{CARE}{key}{CARE:#}\n  {:10} {once}", "")
            }
            (None, Some(file)) => format!("in `{}`, readable by you alone", file.display()),
            (None, None) => String::from("as shown at the first start"),
        };
        for (name, value) in [("store", format!("{folder}{gone}")), ("admin key", key)] {
            let _ = writeln!(text, "  {FAINT}{name:<10}{FAINT:#} {value}");
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
