//! A server on its own port, and a small client.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::LazyLock;
use std::thread::JoinHandle;
use std::time::Duration;

use karat_server::audit::audit;
use karat_server::clock::Clock;
use karat_server::{Options, Server, folder};
use karat_store::port::Backend as _;
use karat_store::sqlite::Sqlite;
use karat_store::{Error, Reader};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// A server that runs until it is dropped.
pub struct Running {
    /// The address on which it listens.
    pub address: SocketAddr,
    /// The secret of an administrator.
    pub admin: String,
    /// Its folder, which outlives it.
    pub folder: Folder,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), Error>>>,
    agent: ureq::Agent,
}

/// The folder of a server.
pub struct Folder(pub TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::with_prefix("karat-").unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    /// Returns the body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// Returns a member of the body by JSON pointer.
    pub fn at(&self, pointer: &str) -> Value {
        self.json().pointer(pointer).cloned().unwrap_or(Value::Null)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Checks that the answer is a problem with this status and code.
    #[track_caller]
    pub fn is_problem(&self, status: u16, code: &str) -> &Self {
        assert_eq!(
            (self.status, self.at("/code").as_str().unwrap_or_default()),
            (status, code),
            "{}",
            self.body
        );
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(self.at("/status"), status);
        self
    }

    #[track_caller]
    pub fn is(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{}", self.body);
        self
    }
}

impl Running {
    /// Starts a server with an empty store.
    pub fn new() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        Self::in_folder(Folder::new(), options, None)
    }

    /// Starts a server in a folder that may have a store; `admin` is the key of its administrator, if it has one.
    pub fn in_folder(folder: Folder, options: Options, admin: Option<String>) -> Self {
        Self::at("127.0.0.1:0", folder, options, admin)
    }

    /// Does the same at another address.
    pub fn at(address: &str, folder: Folder, options: Options, admin: Option<String>) -> Self {
        Self::with_clock(address, folder, options, admin, Clock::system())
    }

    /// Does the same with its own clock.
    pub fn with_clock(
        address: &str,
        folder: Folder,
        options: Options,
        admin: Option<String>,
        clock: Clock,
    ) -> Self {
        let address = address.parse().unwrap();
        let server = Server::bind_at(folder.path(), None, address, options, clock, &mut |_, _| {}).unwrap();
        let (address, first) =
            (SocketAddr::from(([127, 0, 0, 1], server.address.port())), server.first_key.clone());
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || server.run(async move { stopped.await.unwrap_or_default() }));
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .build()
            .into();
        let admin = first.or(admin).expect("an empty store gives a key");
        Self { address, admin, folder, stop: Some(stop), thread: Some(thread), agent }
    }

    /// Stops the server, which finishes the accepted requests.
    pub fn stop(mut self) -> Folder {
        self.end();
        std::mem::replace(&mut self.folder, Folder::new())
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
            if !std::thread::panicking() {
                self.check_senders();
            }
        }
    }

    /// Checks that every sender in the log was in force and allowed, when its entry came.
    fn check_senders(&self) {
        let store = self.folder.path().join(folder::STORE);
        let open = || -> Result<Reader, Error> { Ok(Reader::new(Sqlite::open(&store)?.reader()?)) };
        let found = audit(&mut open().unwrap(), &mut || Ok(open()?), &mut |_, _| {}).unwrap();
        assert_eq!((found.problems, found.undecided), (Vec::<String>::new(), Vec::<String>::new()));
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.get_with(path, None)
    }

    #[track_caller]
    pub fn get_with(&self, path: &str, key: Option<&str>) -> Answer {
        let mut request = self.agent.get(self.url(path));
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        answer(("get", path), request.call())
    }

    #[track_caller]
    pub fn delete(&self, path: &str, key: &str) -> Answer {
        let request = self.agent.delete(self.url(path)).header("authorization", format!("Bearer {key}"));
        answer(("delete", path), request.call())
    }

    /// Sends a body.
    #[track_caller]
    pub fn post(&self, path: &str, key: Option<&str>, media: &str, body: impl AsRef<[u8]>) -> Answer {
        let mut request = self.agent.post(self.url(path)).header("content-type", media);
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        answer(("post", path), request.send(body.as_ref()))
    }

    /// Sends a body with the header `Idempotency-Key`, if one is given.
    #[track_caller]
    pub fn post_keyed(
        &self,
        path: &str,
        key: &str,
        media: &str,
        name: Option<&str>,
        body: impl AsRef<[u8]>,
    ) -> Answer {
        let request = self.agent.post(self.url(path)).header("content-type", media);
        let mut request = request.header("authorization", format!("Bearer {key}"));
        if let Some(name) = name {
            request = request.header("idempotency-key", name);
        }
        answer(("post", path), request.send(body.as_ref()))
    }

    /// Sends an item of evidence as the administrator.
    #[track_caller]
    pub fn send(&self, query: &str, item: &str) -> Answer {
        self.post(&format!("/v1/evidence?{query}"), Some(&self.admin), "application/json", item)
    }

    /// Creates a key and returns its secret.
    pub fn key(&self, request: &Value) -> String {
        let body = request.to_string();
        let made = self.post("/v1/keys", Some(&self.admin), "application/json", body);
        made.is(201).at("/secret").as_str().unwrap().to_owned()
    }

    /// Sends bytes unchanged, and returns the answer up to the end of the connection or a pause.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        // The server may refuse before it has read all.
        let _ = stream.write_all(bytes);
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the statuses that the description names for an operation; none for a page, or a path that it does not have.
pub fn declared(method: &str, path: &str) -> Option<Vec<u16>> {
    static PATHS: LazyLock<Value> =
        LazyLock::new(|| serde_json::from_str(&karat_server::api::openapi::json().unwrap()).unwrap());
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').collect();
    // `/v1/log/cosigned` is not an entry `{position}` of `/v1/log`: the path with fewer parameters is meant.
    let fits = |known: &str| {
        let known: Vec<&str> = known.split('/').collect();
        let has_rest = known.last() == Some(&"{path}") && parts.len() > known.len();
        let same = known.iter().zip(&parts).all(|(known, part)| known.starts_with('{') || known == part);
        same && (has_rest || known.len() == parts.len())
    };
    let all = PATHS["paths"].as_object().unwrap();
    let (_, operations) =
        all.iter().filter(|(known, _)| fits(known)).min_by_key(|(known, _)| known.matches('{').count())?;
    let responses = operations.get(method)?["responses"].as_object().unwrap();
    Some(responses.keys().map(|status| status.parse().unwrap()).collect())
}

#[track_caller]
fn answer(
    (method, path): (&str, &str),
    result: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Answer {
    let mut response = result.expect("the server answers");
    let headers = response.headers().iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap_or("").to_owned()));
    let headers = headers.collect();
    let body = response.body_mut().read_to_vec().expect("the whole answer");
    // Tiles are not text; the compared parts are.
    let body = String::from_utf8_lossy(&body).into_owned();
    if let Some(declared) = declared(method, path) {
        let status = response.status().as_u16();
        assert!(declared.contains(&status), "{method} {path} may not answer {status}: {declared:?}\n{body}");
    }
    Answer { status: response.status().as_u16(), headers, body }
}
