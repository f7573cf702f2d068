//! One request with one event, signed as Standard Webhooks says.

use std::thread;

use data_encoding::BASE64;
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::DefaultConnector;

use super::address::PublicOnly;
use super::file::Endpoint;
use crate::basics::*;

/// The time for a request, the search for the address included.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The longest head of an answer. Its body is not read.
const HEAD_MAX_BYTES: usize = 16 << 10;
/// The bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// A secret that signs events. It cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret(Vec<u8>);

impl std::fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningSecret")
    }
}

impl SigningSecret {
    /// Reads `whsec_` and 24 to 64 bytes in base64; `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text.strip_prefix("whsec_")?.as_bytes()).ok()?;
        (24..=BLOCK).contains(&bytes.len()).then_some(Self(bytes))
    }

    /// Returns the signature of an attempt: HMAC-SHA256 (RFC 2104).
    fn sign(&self, id: &str, seconds: i64, body: &str) -> String {
        let padded = |pad: u8| {
            let mut block = [pad; BLOCK];
            block.iter_mut().zip(&self.0).for_each(|(to, from)| *to ^= from);
            Sha256::new_with_prefix(block)
        };
        let inner = padded(0x36).chain_update(format!("{id}.{seconds}.{body}")).finalize();
        format!("v1,{}", BASE64.encode(&padded(0x5c).chain_update(inner).finalize()))
    }
}

/// The answer to an attempt: a status and the seconds after which to try again, or the reason why it failed.
pub(super) type Answered = Result<(u16, Option<u64>), String>;

/// Makes an agent that follows no redirect, uses no proxy, and keeps no connection, so that each is to an address just checked.
pub(super) fn agent(allows_private: bool, roots: RootCerts) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .https_only(!allows_private)
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(TIMEOUT))
        .max_response_header_size(HEAD_MAX_BYTES)
        .max_idle_connections(0)
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .user_agent("karat")
        .build();
    match allows_private {
        true => Agent::with_parts(config, DefaultConnector::default(), DefaultResolver::default()),
        false => Agent::with_parts(config, DefaultConnector::default(), PublicOnly::default()),
    }
}

/// Sends an event as of the time in `seconds`. The thread is not waited for: a server that stops does not wait for others.
pub(super) async fn post(agent: &Agent, to: &Endpoint, id: &str, body: &str, seconds: i64) -> Answered {
    let signatures: Vec<String> = to.secrets.iter().map(|secret| secret.sign(id, seconds, body)).collect();
    let request = agent
        .post(&to.url)
        .header("content-type", "application/json")
        .header("webhook-id", id)
        .header("webhook-timestamp", seconds.to_string())
        .header("webhook-signature", signatures.join(" "));
    let (tell, told) = oneshot::channel();
    let body = body.to_owned();
    let work = move || {
        let answered = request.send(body.as_bytes()).map_err(|error| error.to_string()).map(|answer| {
            let after = answer.headers().get("retry-after").and_then(|it| it.to_str().ok()?.parse().ok());
            (answer.status().as_u16(), after)
        });
        // The receiver is gone if the server stops.
        let _ = tell.send(answered);
    };
    thread::Builder::new().name(String::from("webhook")).spawn(work).map_err(|error| error.to_string())?;
    told.await.unwrap_or_else(|_| Err(String::from("the request ended without an answer")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example comes from Standard Webhooks.
    #[test]
    fn signatures_are_those_of_others() {
        let secret = SigningSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        for wrong in ["", "whsec_", "whsec_AAAA", "whsec_?", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] {
            assert_eq!(SigningSecret::parse(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{secret:?}"), "SigningSecret");
    }
}
