//! An executor that is a service: the request is posted, the body of the response is the answer. No redirect is followed, no
//! proxy is asked, and what a name resolves to is looked at before a connection is made.

use std::fmt;
use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

use super::{Answer, Call, Executor, Reply};
use crate::secret::Secret;
use crate::stop::GLANCE;

/// A service.
#[derive(Debug, Clone, Default)]
pub(crate) struct Service {
    /// The address that is posted to.
    pub url: String,
    /// Headers, in the order of their names.
    pub headers: Vec<(String, String)>,
    /// Headers with names of secrets in them, as `${NAME}`.
    pub secret_headers: Vec<(String, String)>,
    /// True if an address of a private network may be connected to.
    pub may_be_private: bool,
}

/// The most addresses of a name that are tried; the list of the client has no room for more.
const ADDRESSES_MAX: usize = 16;

/// The response of a service.
enum Sent {
    Body(Vec<u8>),
    TooMuch,
    Failed(String),
    Forbidden(String),
}

impl Service {
    pub(crate) fn call(&self, executor: &Executor, call: &Call<'_>) -> Reply {
        let (send, receive) = mpsc::channel();
        let (service, secrets) = (self.clone(), executor.secrets.clone());
        let (text, most) = (call.request.text.clone(), executor.answer_bytes_max);
        let time = call.deadline.saturating_duration_since(Instant::now());
        // The connection has its own thread, so that neither a slow name server nor anything else holds up a run
        // that is to stop. The thread ends by the same deadline.
        let post = move || drop(send.send(service.post(&secrets, text, most, time)));
        if let Err(error) = thread::Builder::new().spawn(post) {
            return Reply::Fault(format!("no thread for a request: {error}"));
        }
        loop {
            if call.stop.is_asked() {
                return Reply::Stopped;
            }
            let left = call.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return executor.late();
            }
            match receive.recv_timeout(left.min(GLANCE)) {
                Ok(Sent::Body(body)) => return Reply::Ended(executor.answer(&body)),
                Ok(Sent::TooMuch) => {
                    return Reply::Ended(
                        executor.failed(format!("it sent more than {} KiB", most.div_ceil(1024))),
                    );
                }
                Ok(Sent::Failed(reason)) => return Reply::Ended(without_secrets(executor, reason)),
                Ok(Sent::Forbidden(why)) => return Reply::Fault(why),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Reply::Fault("the thread of a request broke off".to_owned());
                }
            }
        }
    }

    /// Posts a request, and reads the body of the response up to a limit.
    fn post(&self, secrets: &[Secret], text: String, most: usize, time: Duration) -> Sent {
        let is_forbidden = Arc::new(AtomicBool::new(false));
        let guard = Guard {
            may_be_public: secrets.is_empty(),
            may_be_private: self.may_be_private,
            is_forbidden: Arc::clone(&is_forbidden),
        };
        let config = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .max_idle_connections(0)
            .user_agent("karat")
            .timeout_global(Some(time))
            .build();
        let agent = Agent::with_parts(config, DefaultConnector::default(), guard);
        let mut request = agent.post(&self.url).content_type("application/json");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        for (name, value) in &self.secret_headers {
            let value = secrets.iter().fold(value.clone(), |value, secret| {
                value.replace(&placeholder(&secret.name), secret.expose())
            });
            request = request.header(name, value);
        }
        let mut response = match request.send(text.as_bytes()) {
            Ok(response) => response,
            Err(_) if is_forbidden.load(Ordering::SeqCst) => return Sent::Forbidden(self.forbidden(secrets)),
            // Its time is up: the caller sees that by itself.
            Err(Error::Timeout(_)) => return Sent::Failed("no answer in time".to_owned()),
            Err(error) => return Sent::Failed(format!("no answer: {error}")),
        };
        let status = response.status();
        if !status.is_success() {
            return Sent::Failed(format!("HTTP status {}", status.as_u16()));
        }
        let mut body = Vec::new();
        match response.body_mut().as_reader().take(most as u64 + 1).read_to_end(&mut body) {
            Ok(_) if body.len() > most => Sent::TooMuch,
            Ok(_) => Sent::Body(body),
            Err(error) => Sent::Failed(format!("its answer broke off: {error}")),
        }
    }

    fn forbidden(&self, secrets: &[Secret]) -> String {
        let url = &self.url;
        if secrets.is_empty() {
            format!("`{url}` leads to a private address, and `private_addresses = true` is not set")
        } else {
            format!("`{url}` leads to a public address, to which no secret is sent without encryption")
        }
    }
}

/// Returns how a header names a secret.
pub(crate) fn placeholder(name: &str) -> String {
    format!("${{{name}}}")
}

fn without_secrets(executor: &Executor, reason: String) -> Answer {
    let has_one = executor.secrets.iter().any(|secret| secret.is_in_text(&reason));
    executor.failed(if has_one { "no answer".to_owned() } else { reason })
}

/// Resolves names, and lets only those addresses pass that may be connected to. The connection is made to an address that
/// has passed, so a name that changes in between changes nothing.
struct Guard {
    may_be_public: bool,
    may_be_private: bool,
    is_forbidden: Arc<AtomicBool>,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").finish_non_exhaustive()
    }
}

impl Resolver for Guard {
    fn resolve(
        &self,
        uri: &Uri,
        _: &ureq::config::Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri.host().ok_or(Error::HostNotFound)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let found = (host, uri.port_u16().unwrap_or(80)).to_socket_addrs().map_err(Error::Io)?;
        let is_allowed = |address: &SocketAddr| {
            if is_private(address.ip()) { self.may_be_private } else { self.may_be_public }
        };
        let (allowed, forbidden): (Vec<_>, Vec<_>) = found.partition(is_allowed);
        let mut passed = self.empty();
        for address in allowed.into_iter().take(ADDRESSES_MAX) {
            passed.push(address);
        }
        if passed.is_empty() {
            self.is_forbidden.store(!forbidden.is_empty(), Ordering::SeqCst);
            return Err(Error::HostNotFound);
        }
        Ok(passed)
    }
}

/// Returns whether an address is not one of the open internet: of this machine, of a private network, of a link, reserved.
pub(crate) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_4(address),
        IpAddr::V6(address) => is_private_6(address),
    }
}

fn is_private_4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && b & 0xc0 == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && b & 0xfe == 18)
}

fn is_private_6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [a, b, c, d, e, f, g, h] = segments;
    let four = |high: u16, low: u16| {
        let [[one, two], [three, four]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_private_4(Ipv4Addr::new(one, two, three, four))
    };
    match (a, b) {
        // Addresses with an IPv4 address in them: mapped, compatible, translated, 6to4.
        (0, 0) if [c, d, e] == [0; 3] && (f == 0xffff || f == 0) => (f == 0 && g == 0) || four(g, h),
        (0x64, 0xff9b) => c != 0 || four(g, h),
        (0x2002, _) => four(b, c),
        // Teredo, documentation.
        (0x2001, 0 | 0xdb8) => true,
        // Of the rest, only global unicast is open.
        _ => a & 0xe000 != 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_open_internet_are_public() {
        for private in [
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254",
            "0.0.0.0", "100.64.0.1", "100.127.0.1", "192.0.0.8", "198.18.0.1", "198.19.1.1", "203.0.113.9",
            "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12::1",
            "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::10.0.0.1",
            "2002:0a00:0001::", "2001:0::1", "2001:db8::1", "fec0::1", "100::1",
        ] {
            assert!(is_private(private.parse().unwrap()), "{private}");
        }
        for public in [
            "8.8.8.8", "100.63.0.1", "100.128.0.1", "172.32.0.1", "198.20.0.1", "2606:4700::1111",
            "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:0808:0808::",
        ] {
            assert!(!is_private(public.parse().unwrap()), "{public}");
        }
    }
}
