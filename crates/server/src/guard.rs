//! Middleware around every request: authentication, permission, limits, metrics.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::HttpBody as _;
use axum::extract::{FromRequestParts, MatchedPath, Request};
use axum::http::Method;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, HOST,
    HeaderName, ORIGIN, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::authority::{self, Act};
use crate::basics::*;
use crate::body::{HeldTurn, Watched, media_type};
use crate::cost;
use crate::keys::Key;
use crate::limits::{Who, network};
use crate::metrics::Route;
use crate::problem::{Code, PROTOBUF, Problem, busy, refuse};
use crate::state::App;
use crate::{Options, ProxyHeader};

/// Paths that are answered however many requests are at work: those that watch the server need them most then.
const WATCHED: [&str; 2] = ["/healthz", "/metrics"];

/// The header that says which sites may show an answer.
pub(crate) const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// The path whose errors are in the encoding of the request.
const SPANS: &str = "/v1/traces";

/// The address that a request came from.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// Mark of an answer that was given before the body of its request was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unread;

/// Mark of a request at work, until it is dropped.
struct AtWork(Arc<App>);

impl AtWork {
    fn new(app: &Arc<App>) -> Self {
        app.at_work.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(app))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug, Clone)]
pub struct Caller {
    key: Option<Arc<Key>>,
    address: Option<IpAddr>,
    is_reading_open: bool,
}

impl Caller {
    /// Checks that it may do this.
    pub(crate) fn may(&self, act: &Act<'_>) -> Result<(), Problem> {
        Ok(authority::decide(self.key.as_deref(), self.is_reading_open, act)?)
    }

    /// Returns to whom limits apply.
    pub fn who(&self) -> Who {
        match &self.key {
            Some(key) => Who::Key(key.id.clone()),
            None => Who::Address(self.address.map(network)),
        }
    }

    /// Checks that it may do this, and returns the key that it does it with.
    pub fn key(&self, act: &Act<'_>) -> Result<&Arc<Key>, Problem> {
        self.may(act)?;
        Ok(self.key.as_ref().ok_or_else(|| authority::keyless(act.scope()))?)
    }

    /// Counts a wrong key from its address.
    pub(crate) fn guessed(&self, app: &App) -> Result<(), Problem> {
        count_in(app, Who::Guess(self.address.map(network)))
    }

    /// Returns whether its key, if it has one, was not revoked since.
    pub(crate) fn is_in_force(&self, app: &App) -> bool {
        self.key.as_ref().is_none_or(|key| app.memory.keys().get(&key.id).is_some())
    }

    pub fn name(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.name.as_str())
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // Without the guard, nothing is allowed.
        let refused = Self { key: None, address: None, is_reading_open: false };
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or(refused))
    }
}

/// Answers one request, if its key may make it, and counts it.
pub(crate) async fn guard(app: Arc<App>, request: Request, next: Next) -> Response {
    let _at_work = AtWork::new(&app);
    let began = app.clock.running_seconds();
    let method = method_name(request.method());
    let path =
        request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned()).unwrap_or_default();
    let peer = request.extensions().get::<Peer>().map(|Peer(address)| address.ip());
    let peer = peer.map(|peer| client(&app.options, request.headers(), peer));
    let is_watching = WATCHED.contains(&path.as_str());
    let admitted = admit(&app, &request, peer, is_watching);
    let who = admitted.as_ref().ok().and_then(|caller| caller.key.as_ref()).map(|key| key.id.clone());
    let sharing = Sharing::of(&app.options, &request);
    let mut is_read = Arc::new(AtomicBool::new(request.body().is_end_stream()));
    let is_in_protobuf = path == SPANS && media_type(request.headers()) == PROTOBUF;
    let refuse = |problem: Problem| match is_in_protobuf {
        true => problem.in_protobuf(),
        false => problem.into_response(),
    };
    let mut response = match admitted {
        Err(problem) => refuse(problem),
        Ok(_) if sharing.as_ref().is_some_and(|it| it.is_preflight) => {
            (StatusCode::NO_CONTENT, Body::empty()).into_response()
        }
        Ok(caller) => match (is_watching, app.permits.take(caller.who())) {
            (false, None) => {
                app.metrics.turned_away();
                refuse(busy())
            }
            (_, turn) => {
                let is_kept = is_watching || caller.key.is_some();
                let turn: HeldTurn = Arc::new(Mutex::new(turn));
                let given_up = (!is_kept).then(|| (caller.who(), Arc::clone(&turn)));
                let who = caller.who();
                let (mut head, body) = request.into_parts();
                let (body, is_read_now) = Watched::new(body, Arc::clone(&app), given_up);
                is_read = is_read_now;
                head.extensions.insert(caller.clone());
                let (mut response, records) =
                    cost::of(next.run(Request::from_parts(head, Body::new(body)))).await;
                // A page that tells of an error has the caller in its head.
                response.extensions_mut().insert(caller);
                app.rates.charge(who, records as f64 / cost::RECORDS, app.clock.running_seconds());
                response
            }
        },
    };
    if let Some(sharing) = sharing {
        sharing.put(response.headers_mut());
    }
    harden(response.headers_mut());
    // The rest of an unread body would be taken for the next request, so the connection ends and the client must know.
    if !is_read.load(Ordering::Relaxed) {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        response.extensions_mut().insert(Unread);
    }
    let seconds = app.clock.running_seconds() - began;
    let status = response.status().as_u16();
    let code = response.extensions().get::<Code>().map(|code| code.name());
    tracing::info!(
        method,
        path,
        status,
        code,
        seconds,
        key = who,
        peer = peer.map(tracing::field::display),
        "answered"
    );
    app.metrics.answered(Route { method, path, status }, seconds);
    response
}

/// Takes the right to make one more request.
fn count_in(app: &App, who: Who) -> Result<(), Problem> {
    app.rates.take(who, 1.0, app.clock.running_seconds()).map_err(|seconds| {
        Problem::new(Code::TooManyRequests, "too many requests; try again later").retry(seconds)
    })
}

/// Returns the caller, if the request is allowed at all. Who watches the server is not counted.
fn admit(app: &App, request: &Request, peer: Option<IpAddr>, is_watching: bool) -> Result<Caller, Problem> {
    let headers = request.headers();
    check_host(app, headers)?;
    let count_in = |who: Who| if is_watching { Ok(()) } else { count_in(app, who) };
    let is_reading_open = app.options.is_loopback || app.options.is_public;
    let Some(given) = headers.get(AUTHORIZATION) else {
        let caller = Caller { key: None, address: peer, is_reading_open };
        count_in(caller.who())?;
        return Ok(caller);
    };
    let secret = given.to_str().ok().and_then(|text| text.split_once(' '));
    let secret =
        secret.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, secret)| secret.trim());
    let Some(key) = secret.and_then(|secret| app.memory.keys().authenticate(secret)) else {
        Caller { key: None, address: peer, is_reading_open }.guessed(app)?;
        refuse!(
            Unauthenticated,
            "the key is not known here: expected `Authorization: Bearer karat_...` with a key that was not revoked"
        );
    };
    count_in(Who::Key(key.id.clone()))?;
    Ok(Caller { key: Some(key), address: peer, is_reading_open })
}

/// Returns the address of the client: the last one before the proxies that are believed, if the request came through one. Only
/// the header that they set is looked at: a client writes into any other what it likes.
fn client(options: &Options, headers: &HeaderMap, peer: IpAddr) -> IpAddr {
    let peer = peer.to_canonical();
    if !options.is_proxy(peer) {
        return peer;
    }
    let of_part = |part: &str| {
        let given = part.split(';').find_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            name.eq_ignore_ascii_case("for").then_some(value)
        })?;
        address(given)
    };
    let read = |part| match options.proxy_header {
        ProxyHeader::Forwarded => of_part(part),
        ProxyHeader::XForwardedFor => address(part),
    };
    let values =
        headers.get_all(options.proxy_header.name()).iter().rev().filter_map(|value| value.to_str().ok());
    let mut addresses = values.flat_map(|value| value.split(',').rev()).map(read);
    // The client wrote whatever is before the first address that is not a proxy.
    addresses.find(|it| it.is_none_or(|ip| !options.is_proxy(ip))).flatten().unwrap_or(peer)
}

/// Reads an address, perhaps in quotation marks, with brackets and a port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim().trim_matches('"');
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let found = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|it| it.ip()));
    found.map(|it: IpAddr| it.to_canonical())
}

/// Checks the header `Host`: a page of another site must not reach a server on this machine under the name of that
/// site.
fn check_host(app: &App, headers: &HeaderMap) -> Result<(), Problem> {
    let mut hosts = headers.get_all(HOST).iter();
    let (host, more) = (hosts.next(), hosts.next());
    let options = &app.options;
    let is_named = |name: &str| options.hosts.iter().any(|known| known.eq_ignore_ascii_case(name));
    let is_ours = match host.map(|host| host.to_str().map(without_port)) {
        _ if more.is_some() => false,
        None => !options.is_loopback && options.hosts.is_empty(),
        Some(Err(_)) => false,
        Some(Ok(name)) => {
            let is_local = || {
                let bare = name.trim_start_matches('[').trim_end_matches(']');
                name.eq_ignore_ascii_case("localhost")
                    || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
            };
            is_named(name) || if options.is_loopback { is_local() } else { options.hosts.is_empty() }
        }
    };
    if is_ours {
        return Ok(());
    }
    Err(Problem::new(Code::Misdirected, "the header `Host` does not name this server").at("host"))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Adds headers that allow a browser only to show an answer. A page may set its own.
fn harden(headers: &mut HeaderMap) {
    let mut put = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    put(X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'");
    put(REFERRER_POLICY, "no-referrer");
    put(CACHE_CONTROL, "no-store");
    put(RESOURCE_POLICY, "same-origin");
}

/// A request to read the API, on a server that lets pages of other sites do so. They read what anyone may, without credentials.
struct Sharing {
    /// The origin that may; none if this one is not listed.
    allowed: Option<HeaderValue>,
    is_preflight: bool,
}

impl Sharing {
    fn of(options: &Options, request: &Request) -> Option<Self> {
        let headers = request.headers();
        let wanted =
            headers.get(ACCESS_CONTROL_REQUEST_METHOD).filter(|_| request.method() == Method::OPTIONS);
        let method = wanted.map_or(request.method().as_str().as_bytes(), HeaderValue::as_bytes);
        if options.cors.is_empty()
            || !request.uri().path().starts_with("/v1/")
            || !matches!(method, b"GET" | b"HEAD")
        {
            return None;
        }
        let is_any = options.cors.iter().any(|known| known == "*");
        let is_listed = |origin: &&HeaderValue| options.cors.iter().any(|known| *origin == known);
        let allowed = match is_any {
            true => Some(HeaderValue::from_static("*")),
            false => headers.get(ORIGIN).filter(is_listed).cloned(),
        };
        Some(Self { allowed, is_preflight: wanted.is_some() })
    }

    fn put(self, headers: &mut HeaderMap) {
        headers.append(VARY, HeaderValue::from_static("origin"));
        let Some(origin) = self.allowed else { return };
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
        if self.is_preflight {
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD"));
            headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        }
    }
}

/// Returns the method for the metrics; clients cannot add names of their choice.
fn method_name(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"];
    known.into_iter().find(|name| *name == method.as_str()).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_proxy_says_who_the_client_is() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let proxies = ["10.0.0.1", "::ffff:10.0.0.2", "fd00::1"].map(ip).to_vec();
        let of = |proxy_header, given: &[(&'static str, &'static str)], peer| {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            let options = Options { proxies: proxies.clone(), proxy_header, ..Options::default() };
            client(&options, &headers, ip(peer))
        };
        let cases = [
            (vec![], "10.0.0.1", "10.0.0.1"),
            (vec![("x-forwarded-for", "203.0.113.7")], "198.51.100.9", "198.51.100.9"),
            (vec![("x-forwarded-for", "203.0.113.7")], "10.0.0.1", "203.0.113.7"),
            // The client wrote the first.
            (vec![("x-forwarded-for", "192.0.2.1, 203.0.113.7")], "10.0.0.1", "203.0.113.7"),
            (vec![("x-forwarded-for", "192.0.2.1, 203.0.113.7, 10.0.0.2")], "10.0.0.1", "203.0.113.7"),
            (
                vec![("x-forwarded-for", "192.0.2.1"), ("x-forwarded-for", "203.0.113.7")],
                "10.0.0.1",
                "203.0.113.7",
            ),
            (vec![("x-forwarded-for", "192.0.2.1, unknown")], "10.0.0.1", "10.0.0.1"),
            (vec![("x-forwarded-for", "10.0.0.2")], "10.0.0.1", "10.0.0.1"),
            (vec![("x-forwarded-for", "203.0.113.7")], "::ffff:10.0.0.1", "203.0.113.7"),
            (vec![("x-forwarded-for", "::ffff:203.0.113.7, 10.0.0.2")], "10.0.0.1", "203.0.113.7"),
            // The proxy sets the one header, and hands on the other as the client wrote it.
            (
                vec![("forwarded", "for=192.0.2.1"), ("x-forwarded-for", "203.0.113.7")],
                "10.0.0.1",
                "203.0.113.7",
            ),
            (vec![("forwarded", "for=192.0.2.1")], "10.0.0.1", "10.0.0.1"),
        ];
        for (given, peer, expected) in cases {
            assert_eq!(of(ProxyHeader::XForwardedFor, &given, peer), ip(expected), "{given:?}");
        }
        let cases = [
            ("for=192.0.2.1;proto=http, for=\"[2001:db8::1]:4711\"", "10.0.0.1", "2001:db8::1"),
            ("For=203.0.113.7:80", "fd00::1", "203.0.113.7"),
            ("for=_hidden", "10.0.0.1", "10.0.0.1"),
        ];
        for (value, peer, expected) in cases {
            let given = [("x-forwarded-for", "192.0.2.9"), ("forwarded", value)];
            assert_eq!(of(ProxyHeader::Forwarded, &given, peer), ip(expected), "{value}");
        }
    }
}
