//! Requests to a server of karat, over plain HTTP. An address with TLS is reached through a proxy on this machine.

use std::time::Duration;

use karat::text::clean;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::input::read_text;
use ureq::http::Response;
use ureq::{Agent, Body, Error};

/// The way to a server.
pub struct Client {
    /// Its address.
    pub base: String,
    key: Option<String>,
    agent: Agent,
}

impl Client {
    /// Makes requests to the server at `address`, with the key in `key_file` if there is one. Each is answered within `time`, and
    /// the body of its answer within `body_time`.
    ///
    /// # Errors
    /// If the address is not one of plain HTTP, or the file with the key cannot be read.
    pub fn new(
        address: &str,
        key_file: Option<&str>,
        time: Duration,
        body_time: Option<Duration>,
    ) -> Result<Self, Failure> {
        if address.starts_with("https://") {
            let address = clean(address);
            // The server looks at the name that it is called by, so the proxy has to use that of the address.
            return Err(Failure::new(format!("`{address}`: karat speaks plain HTTP, and adds no TLS")).help(format!(
                "let a program on this machine add it, such as `caddy reverse-proxy --from http://127.0.0.1:7374 --to \
                 {address} --change-host-header`, and give `http://127.0.0.1:7374`"
            )));
        }
        if !address.starts_with("http://") {
            return Err(Failure::new(format!("`{}` is not an address with `http://`", clean(address))));
        }
        let key = key_file.map(|path| read_text(path, "a key", Exit::CouldNotRun)).transpose()?;
        // Nothing is read from the environment, and no key is carried to another address.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(time))
            .timeout_recv_body(body_time)
            .max_redirects(0)
            .proxy(None)
            .user_agent("karat");
        let base = address.trim_end_matches('/').to_owned();
        Ok(Self { base, key: key.map(|key| key.trim().to_owned()), agent: config.build().new_agent() })
    }

    /// Asks for a path.
    #[cfg(feature = "server")]
    pub fn get(&self, path: &str) -> Result<Response<Body>, Error> {
        let request = self.agent.get(format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.header("authorization", format!("Bearer {key}")).call(),
            None => request.call(),
        }
    }

    /// Sends a body to a path, with a key that makes a repeated request harmless if there is one.
    pub fn post(
        &self,
        path: &str,
        media: &str,
        idempotency: Option<&str>,
        body: &[u8],
    ) -> Result<Response<Body>, Error> {
        let mut request = self.agent.post(format!("{}{path}", self.base)).content_type(media);
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        if let Some(key) = idempotency {
            request = request.header("idempotency-key", key);
        }
        request.send(body)
    }
}

/// Reads the body of an answer, which must not be longer than `bytes_max`.
pub fn body(response: &mut Response<Body>, bytes_max: u64) -> Result<Vec<u8>, Error> {
    response.body_mut().with_config().limit(bytes_max).read_to_vec()
}
