//! A log at the address of a server: what is read is signed, and checked here.

use std::time::Duration;

use karat_store::Receipt;
use karat_store::log::{TilePath, VerifyingKey};
use serde::Deserialize;
use serde_json::value::RawValue;
use ureq::Body;
use ureq::http::Response;

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

/// The flag that names a file with a key.
const KEY_FLAG: &str = "--api-key";

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
        String::from_utf8(bytes).map(Some).map_err(|error| server.0.other(&error))
    }

    /// Returns the key that the server says its log has.
    pub fn key(&self) -> Result<VerifyingKey, Failure> {
        #[derive(Deserialize)]
        struct About {
            key: String,
        }
        let found = self.get("/v1/log", ANSWER_MAX_BYTES)?;
        let about: About = serde_json::from_slice(&found).map_err(|error| self.0.other(&error))?;
        receipt::key(&about.key)
    }

    /// Returns the checkpoint of the log.
    pub fn head(&self) -> Result<String, Failure> {
        self.text("/checkpoint")?.ok_or_else(|| self.0.other(&"it has no checkpoint"))
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
        let list: List<'_> = serde_json::from_slice(&found).map_err(|error| self.0.other(&error))?;
        let receipts = list.rotations.iter().map(|receipt| Receipt::parse(receipt.get().as_bytes()));
        receipts.collect::<Result<_, _>>().map_err(|problem| self.0.other(&problem))
    }

    /// Returns the bytes of a tile.
    pub fn tile(&self, path: &TilePath) -> Result<Vec<u8>, Failure> {
        self.get(&format!("/{path}"), ANSWER_MAX_BYTES)
    }

    /// Sends a cosigned head.
    pub fn send(&self, note: &str) -> Result<(), Failure> {
        let sent = self.0.post("/v1/log/cosignatures", "text/plain", None, note.as_bytes());
        let mut response = sent.map_err(|error| self.0.failed(&error))?;
        match response.status().as_u16() {
            200 => Ok(()),
            status => Err(self.0.refused(status, &mut response, KEY_FLAG)),
        }
    }

    fn text(&self, path: &str) -> Result<Option<String>, Failure> {
        let mut response = self.ask(path)?;
        if response.status().as_u16() == 404 {
            return Ok(None);
        }
        let bytes = self.body(&mut response, ANSWER_MAX_BYTES)?;
        String::from_utf8(bytes).map(Some).map_err(|error| self.0.other(&error))
    }

    fn get(&self, path: &str, bytes_max: u64) -> Result<Vec<u8>, Failure> {
        self.0.read(path, bytes_max, KEY_FLAG)
    }

    fn ask(&self, path: &str) -> Result<Response<Body>, Failure> {
        self.0.get(path).map_err(|error| self.0.failed(&error))
    }

    fn body(&self, response: &mut Response<Body>, bytes_max: u64) -> Result<Vec<u8>, Failure> {
        match response.status().as_u16() {
            200 => body(response, bytes_max).map_err(|error| self.0.failed(&error)),
            status => Err(self.0.refused(status, response, KEY_FLAG)),
        }
    }
}
