//! Servers behind TLS, proxies and other paths: where a key goes, and where it does not.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::common::{Run, finish, program};
use crate::push::{Place, pushed, request};

/// A listener that does one thing with each connection, and keeps what was asked.
struct Front {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Front {
    fn new(serve: impl Fn(TcpStream, &Mutex<Vec<String>>) -> std::io::Result<()> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away is what some tests are about.
                let _ = serve(stream, &kept);
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Passes one request on to karat, which knows neither TLS nor the path `/karat`.
fn pass(mut client: impl Read + Write, server: &str, asked: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let text = String::from_utf8(request(&mut client)?).unwrap();
    asked.lock().unwrap().push(text.clone());
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let kept = head.lines().filter(|line| !line.to_lowercase().starts_with("host:"));
    let head = kept.collect::<Vec<_>>().join("\r\n").replacen(" /karat/", " /", 1);
    let mut upstream = TcpStream::connect(server)?;
    upstream.write_all(format!("{head}\r\nhost: {server}\r\nconnection: close\r\n\r\n{body}").as_bytes())?;
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer)?;
    client.write_all(&answer)?;
    client.flush()
}

/// Returns a listener with TLS in front of karat, and the certificate that it shows.
fn with_tls(server: &str, name: &str) -> (Front, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let (config, server) = (Arc::new(config), server.to_owned());
    let front = Front::new(move |stream, asked| {
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
        pass(&mut stream, &server, asked)?;
        stream.conn.send_close_notify();
        stream.flush()
    });
    (front, cert.pem())
}

fn run(place: &Place, line: &str, environment: &[(&str, &str)]) -> Run {
    let mut command = program(place.folder.path());
    finish(command.args(line.split_whitespace()).envs(environment.iter().copied()), "")
}

fn place() -> Place {
    let place = Place::new();
    place.folder.write("runs.jsonl", "{\"subject\": \"bee\", \"id\": \"a\", \"solved\": 1}\n");
    place
}

const PUSH: &str = "push -c card.toml --key-file key.txt --json --attempts 1 runs.jsonl";

#[test]
fn a_server_is_reached_over_tls_where_its_certificate_is_trusted() {
    let place = place();
    let (front, pem) = with_tls(place.server.address(), "localhost");
    place.folder.write("root.pem", &pem);
    place.folder.write("other.pem", &with_tls("", "localhost").1);
    place.folder.write("none.pem", "no certificate\n");
    let push = format!("{PUSH} --to https://localhost:{}", front.port);
    for (roots, hint) in [
        ("", "is not trusted: UnknownIssuer"),
        ("", "SSL_CERT_FILE=FILE names its certificate"),
        ("other.pem", "is not trusted"),
        ("none.pem", "`none.pem`, which SSL_CERT_FILE names, holds no certificate"),
        ("absent.pem", "absent.pem"),
    ] {
        run(&place, &push, &[("SSL_CERT_FILE", roots)]).ends(1, hint);
    }
    assert_eq!((front.asked(), place.stored().len()), (Vec::new(), 0));
    let sent = run(&place, &push, &[("SSL_CERT_FILE", "root.pem")]);
    assert_eq!((sent.status, pushed(&sent).accepted), (0, 1), "{}", sent.stderr);
    assert_eq!(place.stored().len(), 1);
    // The name in the address is the one that is vouched for.
    let other = format!("{PUSH} --to https://127.0.0.1:{}", front.port);
    run(&place, &other, &[("SSL_CERT_FILE", "root.pem")]).ends(1, "is not trusted");
    // A log is followed in the same way, below another path too.
    let log = format!("https://localhost:{}/karat", front.port);
    let trusted = [("SSL_CERT_FILE", "root.pem")];
    let health = run(&place, &format!("serve --health {log}"), &trusted);
    assert_eq!(health.status, 0, "{}", health.stderr);
    let monitor = format!("log monitor {log} --once --api-key key.txt --state state.json");
    assert_eq!(run(&place, &monitor, &trusted).status, 0, "{}", run(&place, &monitor, &trusted).stderr);
    let witness =
        format!("log witness {log} --key w.key --state w.json --log-key scores/log.pub --api-key key.txt");
    assert_eq!(run(&place, &witness, &trusted).status, 0, "{}", run(&place, &witness, &trusted).stderr);
    run(&place, &monitor, &[]).ends(1, "is not trusted");
}

#[test]
fn a_path_of_the_address_is_kept() {
    let place = place();
    let server = place.server.address().to_owned();
    let front = Front::new(move |stream, asked| pass(stream, &server, asked));
    for end in ["", "/"] {
        let sent = run(&place, &format!("{PUSH} --to http://127.0.0.1:{}/karat{end}", front.port), &[]);
        assert_eq!(sent.status, 0, "{}", sent.stderr);
    }
    assert!(front.asked().iter().all(|it| it.starts_with("POST /karat/v1/evidence?")), "{:?}", front.asked());
    // Where nothing takes the path off.
    let straight = run(&place, &format!("{PUSH} --to http://{}/karat", place.server.address()), &[]);
    straight.ends(1, "takes that off before it asks karat");
}

#[test]
fn no_key_follows_a_redirect() {
    let place = place();
    let server = place.server.address().to_owned();
    let elsewhere = Front::new(move |stream, asked| pass(stream, &server, asked));
    let to = format!("http://127.0.0.1:{}/v1/evidence", elsewhere.port);
    for status in ["302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let head =
            format!("HTTP/1.1 {status}\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        let front = Front::new(move |mut stream, _| {
            request(&mut stream)?;
            stream.write_all(head.as_bytes())
        });
        let sent = run(&place, &format!("{PUSH} --to http://127.0.0.1:{}", front.port), &[]);
        sent.ends(1, "no key follows a redirect");
    }
    assert_eq!(elsewhere.asked(), Vec::<String>::new());
}

#[test]
fn a_proxy_of_the_environment_is_used_and_no_key_is_sent_in_the_clear() {
    let place = place();
    let (front, pem) = with_tls(place.server.address(), "scores.invalid");
    place.folder.write("root.pem", &pem);
    let target = front.port;
    let proxy = Front::new(move |mut client, asked| {
        let text = String::from_utf8(request(&mut client)?).unwrap();
        asked.lock().unwrap().push(text);
        let mut upstream = TcpStream::connect(("127.0.0.1", target))?;
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        let (mut from, mut to) = (client.try_clone()?, upstream.try_clone()?);
        thread::spawn(move || std::io::copy(&mut from, &mut to));
        std::io::copy(&mut upstream, &mut client)?;
        client.shutdown(std::net::Shutdown::Both)
    });
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let key = std::fs::read_to_string(place.folder.path().join("key.txt")).unwrap();
    let push = format!("{PUSH} --to https://scores.invalid");
    let roots = ("SSL_CERT_FILE", "root.pem");
    let sent = run(&place, &push, &[roots, ("HTTPS_PROXY", &address)]);
    assert_eq!(sent.status, 0, "{}", sent.stderr);
    let asked = proxy.asked();
    assert!(asked.len() == 1 && asked[0].starts_with("CONNECT scores.invalid:443 "), "{asked:?}");
    assert!(!asked[0].contains(&key), "{asked:?}");
    assert!(front.asked()[0].contains(&key), "the server gets it");
    // Neither for an exception nor for this machine.
    let excepted = run(&place, &push, &[roots, ("HTTPS_PROXY", &address), ("NO_PROXY", "scores.invalid")]);
    assert_eq!(excepted.status, 1, "{}", excepted.stdout);
    let here = format!("{PUSH} --to http://{}", place.server.address());
    let sent = run(&place, &here, &[("HTTP_PROXY", &address), ("ALL_PROXY", &address)]);
    assert_eq!(sent.status, 0, "{}", sent.stderr);
    // In the clear, only where that is said.
    let clear = format!("{PUSH} --to http://scores.invalid");
    run(&place, &clear, &[("HTTP_PROXY", &address)]).ends(1, "would be sent in the clear");
    let follow = "log monitor http://scores.invalid --once --api-key key.txt";
    run(&place, follow, &[("HTTP_PROXY", &address)]).ends(1, "would be sent in the clear");
    assert_eq!(proxy.asked().len(), 1);
    run(&place, &format!("{clear} --insecure"), &[("HTTP_PROXY", &address)]);
    assert_eq!(proxy.asked().len(), 2);
}

#[test]
fn a_question_about_health_ends_before_who_asks_gives_up() {
    let place = Place::new();
    for head in ["", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n"] {
        let silent = Front::new(move |mut stream, _| {
            stream.write_all(head.as_bytes())?;
            // Until the client is gone.
            stream.read_to_end(&mut Vec::new()).map(drop)
        });
        let began = std::time::Instant::now();
        let asked = run(&place, &format!("serve --health http://127.0.0.1:{}", silent.port), &[]);
        asked.ends(1, "timeout");
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    }
}
