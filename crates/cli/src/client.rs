//! Requests to a server of karat, over HTTP or TLS.

use std::env;
use std::net::IpAddr;
use std::time::Duration;

use karat::text::clean;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::input::read_text;
use serde::Deserialize;
use ureq::http::{Response, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Error, Proxy};

/// The variable that names a file of certificates in the place of those that karat comes with.
const ROOTS: &str = "SSL_CERT_FILE";

/// The longest description of a problem.
const PROBLEM_MAX_BYTES: u64 = 64 << 10;
/// The longest scorecard.
const CARD_MAX_BYTES: u64 = 16 << 20;

/// The key for a server, and how it may travel.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeyFile<'k> {
    /// The file that holds it, if there is one.
    pub path: Option<&'k str>,
    /// True if it may also be sent in the clear.
    pub is_insecure: bool,
}

/// The way to a server.
pub struct Client {
    /// Its address.
    pub base: String,
    key: Option<String>,
    agent: Agent,
}

impl Client {
    /// Makes requests to the server at `address`, below its path if it has one. Each is answered within `time`, and the body of
    /// its answer within `body_time`.
    ///
    /// # Errors
    /// If the address is not one of HTTP, the key would be sent in the clear, or a file cannot be read.
    pub fn new(
        address: &str,
        key: KeyFile<'_>,
        time: Duration,
        body_time: Option<Duration>,
    ) -> Result<Self, Failure> {
        let shown = clean(address);
        let uri =
            address.parse::<Uri>().ok().filter(|uri| uri.query().is_none() && !address.contains(['#', '@']));
        let (Some(scheme), Some(host)) =
            (uri.as_ref().and_then(Uri::scheme_str), uri.as_ref().and_then(Uri::host))
        else {
            return Err(Failure::new(format!(
                "`{shown}` is not an address such as `https://HOST` or `http://HOST:PORT`"
            )));
        };
        let is_here = is_loopback(host);
        match scheme {
            "https" => {}
            "http" if key.path.is_none() || is_here || key.is_insecure => {}
            "http" => {
                return Err(Failure::new(format!("the key for `{shown}` would be sent in the clear"))
                    .help("give an address with `https://`")
                    .help("or, in a network that you trust, add `--insecure`"));
            }
            _ => return Err(Failure::new(format!("`{shown}` is neither `https://` nor `http://`"))),
        }
        let tls = TlsConfig::builder().root_certs(roots()?).build();
        let key = key.path.map(|path| read_text(path, "a key", Exit::CouldNotRun)).transpose()?;
        // No key is carried to another address, and what is on this machine is behind no proxy.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(time))
            .timeout_recv_body(body_time)
            .max_redirects(0)
            .proxy(if is_here { None } else { Proxy::try_from_env() })
            .tls_config(tls)
            .user_agent("karat");
        let base = address.trim_end_matches('/').to_owned();
        Ok(Self { base, key: key.map(|key| key.trim().to_owned()), agent: config.build().new_agent() })
    }

    /// Asks for a path.
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

    /// Returns the failure for a certificate that nothing vouches for, which no other attempt changes.
    pub fn untrusted(&self, error: &Error) -> Option<Failure> {
        let text = error.to_string();
        let (_, why) = text.split_once("invalid peer certificate: ")?;
        let what = format!("the certificate of `{}` is not trusted: {}", clean(&self.base), clean(why));
        let hint = format!("where your own authority issued it: {ROOTS}=FILE names its certificate, in PEM");
        Some(Failure::new(what).help(hint))
    }

    /// Reads the answer at a path; `flag` is the one that names a file with a key.
    pub fn read(&self, path: &str, bytes_max: u64, flag: &str) -> Result<Vec<u8>, Failure> {
        let mut response = self.get(path).map_err(|error| self.failed(&error))?;
        match response.status().as_u16() {
            200 => body(&mut response, bytes_max).map_err(|error| self.failed(&error)),
            status => Err(self.refused(status, &mut response, flag)),
        }
    }

    /// Returns the failure of a request without an answer.
    pub fn failed(&self, error: &Error) -> Failure {
        if let Error::BodyExceedsLimit(most) = error {
            return self.other(&format!("an answer of more than {} KiB", most >> 10));
        }
        self.untrusted(error)
            .unwrap_or_else(|| Failure::new(format!("cannot reach `{}`: {error}", clean(&self.base))))
    }

    /// Returns the failure for an answer that karat does not give.
    pub fn other(&self, problem: &dyn std::fmt::Display) -> Failure {
        let problem = problem.to_string();
        Failure::new(format!("`{}` did not answer as karat does: {}", clean(&self.base), clean(&problem)))
    }

    /// Returns the failure for an answer with another status than success.
    pub fn refused(&self, status: u16, response: &mut Response<Body>, flag: &str) -> Failure {
        #[derive(Deserialize)]
        struct Problem {
            detail: String,
        }
        let body = body(response, PROBLEM_MAX_BYTES).unwrap_or_default();
        let detail =
            serde_json::from_slice::<Problem>(&body).map(|problem| problem.detail).unwrap_or_default();
        let failure = Failure::new(format!("`{}` answered {status}: {}", clean(&self.base), clean(&detail)));
        match status {
            401 => failure.help(format!("give a file with a key that may read: {flag} FILE")),
            _ => failure,
        }
    }

    /// Returns the text of the scorecard that the server has under a name; none if it has none.
    pub fn card(&self, name: &str) -> Result<Option<String>, Failure> {
        let failed = |why: &dyn std::fmt::Display| {
            let what = format!(
                "cannot read the scorecard `{}` at `{}`: {}",
                clean(name),
                clean(&self.base),
                clean(&why.to_string())
            );
            Failure::new(what).help("or name a file here: --card FILE")
        };
        let asked = self.get(&format!("/v1/scorecards/{}/text", escaped(name)));
        let mut response = asked.map_err(|error| self.untrusted(&error).unwrap_or_else(|| failed(&error)))?;
        match response.status().as_u16() {
            200 => {}
            404 => return Ok(None),
            status => return Err(failed(&format!("it answered {status}"))),
        }
        let bytes = body(&mut response, CARD_MAX_BYTES).map_err(|error| failed(&error))?;
        String::from_utf8(bytes).map(Some).map_err(|error| failed(&error))
    }
}

/// Returns true for a name or an address of this machine.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Returns the certificates that vouch for a server.
pub fn roots() -> Result<RootCerts, Failure> {
    let Some(path) = env::var(ROOTS).ok().filter(|path| !path.is_empty()) else {
        return Ok(RootCerts::WebPki);
    };
    let text = read_text(&path, "certificates", Exit::CouldNotRun)?;
    let found = parse_pem(text.as_bytes()).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        let what = format!("`{}`, which {ROOTS} names, holds no certificate in PEM", clean(&path));
        return Err(
            Failure::new(what).help(format!("unset {ROOTS}: then karat uses those that it comes with"))
        );
    }
    Ok(RootCerts::from(found))
}

/// Reads the body of an answer, which must not be longer than `bytes_max`.
pub fn body(response: &mut Response<Body>, bytes_max: u64) -> Result<Vec<u8>, Error> {
    response.body_mut().with_config().limit(bytes_max).read_to_vec()
}

/// Returns a value as a path or a query has it.
pub fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
