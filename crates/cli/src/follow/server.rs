//! Requests to a server of karat, over plain HTTP: what is read is signed, and checked here. An address with TLS is
//! reached through a proxy on this machine.

use std::time::Duration;

use karat::text::clean;
use karat_store::Receipt;
use karat_store::log::{TilePath, VerifyingKey};
use serde::Deserialize;
use serde_json::value::RawValue;
use ureq::http::Response;
use ureq::{Agent, Body, Error};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::read_text;
use crate::receipt;

/// The time for a request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The longest answer but lists, in bytes: the longest checkpoint.
const ANSWER_MAX_BYTES: u64 = 64 << 10;
/// The longest list of changes of the key.
const LIST_MAX_BYTES: u64 = 16 << 20;

/// A server.
pub struct Server {
    base: String,
    api_key: Option<String>,
    agent: Agent,
}

impl Server {
    /// Makes requests to the server at that address, with the key in the file `api_key`, if it asks for one.
    pub fn new(address: &str, api_key: Option<&str>) -> Result<Self, Failure> {
        if !address.starts_with("http://") {
            return Err(Failure::new(format!("`{}` is not an address with `http://`", clean(address)))
                .help("everything that is read is signed, so no secret needs TLS; where a server is behind TLS, name a proxy on this machine"));
        }
        let api_key = match api_key {
            Some(path) => Some(read_text(path, "a key", Exit::CouldNotRun)?.trim().to_owned()),
            None => None,
        };
        // Nothing is read from the environment, and no key is carried to another address.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            .proxy(None)
            .user_agent("karat");
        let base = address.trim_end_matches('/').to_owned();
        Ok(Self { base, api_key, agent: config.build().new_agent() })
    }

    /// Returns what the server says about its health. One that is asked by a name that it does not have answers all the same:
    /// then there is nothing to say.
    pub fn health(&self) -> Result<Option<String>, Failure> {
        let mut response = self.ask("/healthz")?;
        if response.status().as_u16() == 421 {
            return Ok(None);
        }
        let bytes = self.body(&mut response, ANSWER_MAX_BYTES)?;
        String::from_utf8(bytes).map(Some).map_err(|error| self.other(&error))
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
        let path = "/v1/log/cosignatures";
        let request = self.agent.post(format!("{}{path}", self.base)).content_type("text/plain");
        let request = match &self.api_key {
            Some(key) => request.header("authorization", format!("Bearer {key}")),
            None => request,
        };
        let mut response = request.send(note).map_err(|error| self.failed(&error))?;
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
        let request = self.agent.get(format!("{}{path}", self.base));
        let request = match &self.api_key {
            Some(key) => request.header("authorization", format!("Bearer {key}")),
            None => request,
        };
        request.call().map_err(|error| self.failed(&error))
    }

    fn body(&self, response: &mut Response<Body>, bytes_max: u64) -> Result<Vec<u8>, Failure> {
        match response.status().as_u16() {
            200 => {}
            status => return Err(self.refused(status, response)),
        }
        let read = response.body_mut().with_config().limit(bytes_max).read_to_vec();
        read.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &Error) -> Failure {
        if let Error::BodyExceedsLimit(most) = error {
            return self.other(&format!("an answer of more than {} KiB", most >> 10));
        }
        Failure::new(format!("cannot reach `{}`: {error}", clean(&self.base)))
    }

    /// Returns the failure for an answer that karat does not give.
    fn other(&self, problem: &dyn std::fmt::Display) -> Failure {
        let problem = problem.to_string();
        Failure::new(format!("`{}` did not answer as karat does: {}", clean(&self.base), clean(&problem)))
    }

    fn refused(&self, status: u16, response: &mut Response<Body>) -> Failure {
        #[derive(Deserialize)]
        struct Problem {
            detail: String,
        }
        let body =
            response.body_mut().with_config().limit(ANSWER_MAX_BYTES).read_to_vec().unwrap_or_default();
        let detail =
            serde_json::from_slice::<Problem>(&body).map(|problem| problem.detail).unwrap_or_default();
        let failure = Failure::new(format!("`{}` answered {status}: {}", clean(&self.base), clean(&detail)));
        match status {
            401 => failure.help("give a file with a key that may read: --api-key FILE"),
            _ => failure,
        }
    }
}
