//! A log at the address of a server: what is read is signed, and checked here.

use std::time::Duration;

use karat::text::clean;
use karat_store::Receipt;
use karat_store::log::{TilePath, VerifyingKey};
use serde::Deserialize;
use serde_json::value::RawValue;
use ureq::http::Response;
use ureq::{Body, Error};

use crate::client::{Client, KeyFile, body};
use crate::receipt;
use karat_terminal::failure::Failure;

/// The time for a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The time for a question about its health: who asks every few seconds gives up after five.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(4);
/// The longest answer but lists, in bytes: the longest checkpoint.
const ANSWER_MAX_BYTES: u64 = 64 << 10;
/// The longest list of changes of the key.
const LIST_MAX_BYTES: u64 = 16 << 20;

/// A server.
pub struct Server(Client);

impl Server {
    /// Makes requests to the server at that address, with a key if it asks for one.
    pub fn new(address: &str, key: KeyFile<'_>) -> Result<Self, Failure> {
        Client::new(address, key, TIMEOUT, None).map(Self)
    }

    /// Returns what the server at that address says about its health. One that is asked by a name that it does not have answers
    /// all the same: then there is nothing to say.
    pub fn health(address: &str) -> Result<Option<String>, Failure> {
        let server = Self(Client::new(address, KeyFile::default(), HEALTH_TIMEOUT, None)?);
        let mut response = server.ask("/healthz")?;
        if response.status().as_u16() == 421 {
            return Ok(None);
        }
        let bytes = server.body(&mut response, ANSWER_MAX_BYTES)?;
        String::from_utf8(bytes).map(Some).map_err(|error| server.other(&error))
    }

    /// Returns the key that the server says its log has.
    pub fn key(&self) -> Result<VerifyingKey, Failure> {
        #[derive(Deserialize)]
        struct About {
            key: String,
        }
        let found = self.get("/v1/log", ANSWER_MAX_BYTES)?;
        let about: About = serde_json::from_slice(&found).map_err(|error| self.other(&error))?;
        receipt::key(&about.key)
    }

    /// Returns the checkpoint of the log.
    pub fn head(&self) -> Result<String, Failure> {
        self.text("/checkpoint")?.ok_or_else(|| self.other(&"it has no checkpoint"))
    }

    /// Returns the newest head that a witness cosigned, if there is one.
    pub fn cosigned(&self) -> Result<Option<String>, Failure> {
        self.text("/v1/log/cosigned")
    }

    /// Returns the receipts of all changes of the key.
    pub fn rotations(&self) -> Result<Vec<Receipt>, Failure> {
        #[derive(Deserialize)]
        struct List<'a> {
            #[serde(borrow)]
            rotations: Vec<&'a RawValue>,
        }
        let found = self.get("/v1/log/rotations", LIST_MAX_BYTES)?;
        let list: List<'_> = serde_json::from_slice(&found).map_err(|error| self.other(&error))?;
        let receipts = list.rotations.iter().map(|receipt| Receipt::parse(receipt.get().as_bytes()));
        receipts.collect::<Result<_, _>>().map_err(|problem| self.other(&problem))
    }

    /// Returns the bytes of a tile.
    pub fn tile(&self, path: &TilePath) -> Result<Vec<u8>, Failure> {
        self.get(&format!("/{path}"), ANSWER_MAX_BYTES)
    }

    /// Sends a cosigned head.
    pub fn send(&self, note: &str) -> Result<(), Failure> {
        let sent = self.0.post("/v1/log/cosignatures", "text/plain", None, note.as_bytes());
        let mut response = sent.map_err(|error| self.failed(&error))?;
        match response.status().as_u16() {
            200 => Ok(()),
            status => Err(self.refused(status, &mut response)),
        }
    }

    fn text(&self, path: &str) -> Result<Option<String>, Failure> {
        let mut response = self.ask(path)?;
        if response.status().as_u16() == 404 {
            return Ok(None);
        }
        let bytes = self.body(&mut response, ANSWER_MAX_BYTES)?;
        String::from_utf8(bytes).map(Some).map_err(|error| self.other(&error))
    }

    fn get(&self, path: &str, bytes_max: u64) -> Result<Vec<u8>, Failure> {
        let mut response = self.ask(path)?;
        self.body(&mut response, bytes_max)
    }

    fn ask(&self, path: &str) -> Result<Response<Body>, Failure> {
        self.0.get(path).map_err(|error| self.failed(&error))
    }

    fn body(&self, response: &mut Response<Body>, bytes_max: u64) -> Result<Vec<u8>, Failure> {
        match response.status().as_u16() {
            200 => {}
            status => return Err(self.refused(status, response)),
        }
        body(response, bytes_max).map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &Error) -> Failure {
        if let Error::BodyExceedsLimit(most) = error {
            return self.other(&format!("an answer of more than {} KiB", most >> 10));
        }
        self.0
            .untrusted(error)
            .unwrap_or_else(|| Failure::new(format!("cannot reach `{}`: {error}", clean(&self.0.base))))
    }

    /// Returns the failure for an answer that karat does not give.
    fn other(&self, problem: &dyn std::fmt::Display) -> Failure {
        let problem = problem.to_string();
        Failure::new(format!("`{}` did not answer as karat does: {}", clean(&self.0.base), clean(&problem)))
    }

    fn refused(&self, status: u16, response: &mut Response<Body>) -> Failure {
        #[derive(Deserialize)]
        struct Problem {
            detail: String,
        }
        let body = body(response, ANSWER_MAX_BYTES).unwrap_or_default();
        let detail =
            serde_json::from_slice::<Problem>(&body).map(|problem| problem.detail).unwrap_or_default();
        let failure =
            Failure::new(format!("`{}` answered {status}: {}", clean(&self.0.base), clean(&detail)));
        match status {
            401 => failure.help("give a file with a key that may read: --api-key FILE"),
            _ => failure,
        }
    }
}
