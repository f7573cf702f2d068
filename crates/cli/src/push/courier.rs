//! A request that is repeated until it is answered: the server stores nothing twice.

use std::thread::sleep;
use std::time::Duration;

use karat::text::clean;
use serde::Deserialize;
use ureq::Body;
use ureq::http::Response;

use super::Parcel;
use crate::client::{Client, KeyFile, body, escaped};
use karat_terminal::failure::Failure;

/// The time in which a server scores a batch and answers; within the last part of it the body of the answer arrives.
const TIMEOUT: Duration = Duration::from_secs(120);
const BODY_PART: u32 = 4;
/// The most attempts at a request whose time was up: a server that is only away refuses the connection, or says so.
const LATE_MAX: u32 = 3;
/// The shortest and longest pause before the next attempt.
const PAUSE_MIN: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// The longest pause that a server may ask for.
const ASKED_MAX: Duration = Duration::from_secs(300);
/// The longest answer, in bytes: lists of problems, and a line for each item.
const ANSWER_MAX_BYTES: u64 = 1 << 20;
const LINE_MAX_BYTES: u64 = 4 << 10;
/// The longest reason that is shown or handed on, in characters.
const REASON_MAX: usize = 1000;

/// The answer of a server about one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It is stored, and was not there before.
    Accepted,
    /// It was there before.
    Repeated,
    /// It is refused, for this reason.
    Refused(String),
}

/// The way to a server.
pub struct Courier {
    client: Client,
    path: String,
    attempts_max: u32,
    /// Attempts that were not answered.
    pub repeats: u64,
}

/// The members of a problem that are shown.
#[derive(Deserialize)]
struct Problem {
    #[serde(default)]
    detail: String,
    #[serde(default)]
    field: Option<String>,
    #[serde(default)]
    problems: Vec<Self>,
}

#[derive(Deserialize)]
struct Answer {
    items: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    line: u64,
    status: u16,
    problem: Option<Problem>,
}

/// The reason why there is no answer to go on with.
enum Unanswered {
    /// Another attempt may help, after this pause if the server names one.
    Again(String, Option<Duration>),
    /// The time was up.
    Late(&'static str),
    /// No attempt helps.
    Never(Failure),
}

impl Courier {
    /// Sends through `client`.
    pub fn new(client: Client, query: &[(&str, &str)], attempts_max: u32) -> Self {
        let mut query_text = String::new();
        for (name, value) in query {
            let sign = if query_text.is_empty() { '?' } else { '&' };
            query_text.push_str(&format!("{sign}{name}={}", escaped(value)));
        }
        Self { client, path: format!("/v1/evidence{query_text}"), attempts_max, repeats: 0 }
    }

    /// Returns a client with the times that a batch takes.
    ///
    /// # Errors
    /// If the address or the key cannot be used.
    pub fn client(address: &str, key: KeyFile<'_>) -> Result<Client, Failure> {
        Client::new(address, key, TIMEOUT, Some(TIMEOUT / BODY_PART))
    }

    /// Sends a request and returns the reply to each of its items. `wait` gets the reason and the length of each pause.
    ///
    /// # Errors
    /// If the server refuses the request as a whole, or answers none of the attempts.
    pub fn deliver(
        &mut self,
        parcel: &Parcel,
        wait: &mut dyn FnMut(&str, Duration),
    ) -> Result<Vec<Reply>, Failure> {
        let (mut pause, mut late) = (PAUSE_MIN, 0);
        for attempt in 1.. {
            let (why, asked) = match self.attempt(parcel) {
                Ok(replies) => return Ok(replies),
                Err(Unanswered::Never(failure)) => return Err(failure),
                Err(Unanswered::Again(why, asked)) => (why, asked),
                Err(Unanswered::Late(why)) => {
                    late += 1;
                    (why.to_owned(), None)
                }
            };
            if attempt >= self.attempts_max || late >= LATE_MAX {
                let attempts = if attempt == 1 { "attempt" } else { "attempts" };
                let what = format!(
                    "`{}` did not take the items in {attempt} {attempts}: {why}",
                    clean(&self.client.base)
                );
                let failure = Failure::new(what);
                return Err(if late > 0 { failure.help(self.look()) } else { failure });
            }
            self.repeats += 1;
            let length = asked.map_or(pause, |asked| asked.clamp(PAUSE_MIN, ASKED_MAX));
            wait(&why, length);
            sleep(length);
            pause = pause.saturating_mul(2).min(PAUSE_MAX);
        }
        Ok(Vec::new())
    }

    /// Returns the way to see what answers there.
    fn look(&self) -> String {
        format!("is that a server of karat? `karat serve --health {}` asks it", clean(&self.client.base))
    }

    fn attempt(&self, parcel: &Parcel) -> Result<Vec<Reply>, Unanswered> {
        // A connection that is refused, torn or silent: whether the items were stored is not known, and does not matter.
        let again = |error: ureq::Error| match error {
            error if let Some(failure) = self.client.untrusted(&error) => Unanswered::Never(failure),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                Unanswered::Never(Failure::new(format!("cannot ask `{}`: {error}", clean(&self.client.base))))
            }
            ureq::Error::Timeout(ureq::Timeout::RecvBody) => {
                Unanswered::Late("its answer began, and did not end in time")
            }
            ureq::Error::Timeout(_) => Unanswered::Late("it did not answer in time"),
            ureq::Error::BodyExceedsLimit(most) => {
                let (base, most) = (clean(&self.client.base), most >> 10);
                let what = format!("`{base}` answered with more than {most} KiB, which karat does not do");
                Unanswered::Never(Failure::new(what).help(self.look()))
            }
            error => Unanswered::Again(clean(&error.to_string()).into_owned(), None),
        };
        let sent = self.client.post(&self.path, parcel.media(), parcel.key.as_deref(), &parcel.body);
        let mut response = sent.map_err(again)?;
        let status = response.status().as_u16();
        let asked = asked(&response);
        let most = ANSWER_MAX_BYTES + LINE_MAX_BYTES * parcel.places.len() as u64;
        let body = body(&mut response, most).map_err(again)?;
        match status {
            200 | 201 if parcel.is_one => {
                Ok(vec![if status == 201 { Reply::Accepted } else { Reply::Repeated }])
            }
            200 => match replies(parcel, &body) {
                Some(Ok(replies)) => Ok(replies),
                // What was stored before is repeated, and not stored twice.
                Some(Err(status)) => Err(Unanswered::Again(format!("an item was answered {status}"), asked)),
                None => {
                    let what = format!("`{}` did not answer as karat does", clean(&self.client.base));
                    Err(Unanswered::Never(Failure::new(what).help(self.look())))
                }
            },
            status if is_passing(status) => {
                Err(Unanswered::Again(format!("it answered {status}{}", said(&body)), asked))
            }
            400 | 409 | 422 if parcel.is_one => Ok(vec![Reply::Refused(reason(&body))]),
            _ => {
                let what = format!("`{}` answered {status}{}", clean(&self.client.base), said(&body));
                let failure = Failure::new(what);
                let has_path = self.client.base.splitn(4, '/').nth(3).is_some();
                Err(Unanswered::Never(match status {
                    300..=399 => failure.help("no key follows a redirect: give the address that it leads to"),
                    403 | 404 if has_path && reason(&body).contains("another site") => failure
                        .help("karat answers below `/`: what serves it below another path takes that off before it asks karat"),
                    401 => failure.help("give a file with a key that may write evidence: --key-file FILE"),
                    403 => failure.help("this key may not do that: it needs the scope `write:evidence`"),
                    404 => failure.help("a scorecard that is not released has to be published there first"),
                    _ => failure,
                }))
            }
        }
    }
}

/// Returns the pause that a server asks for, in seconds: a date would need the same clock.
fn asked(response: &Response<Body>) -> Option<Duration> {
    let text = response.headers().get("retry-after")?.to_str().ok()?;
    text.trim().parse::<u32>().ok().map(|seconds| Duration::from_secs(seconds.into()))
}

/// Returns whether another attempt may have another answer.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

/// Returns the reply to each item of a batch, or the status of an item that may be taken later; none if the answer is not
/// about these items.
fn replies(parcel: &Parcel, body: &[u8]) -> Option<Result<Vec<Reply>, u16>> {
    let answer: Answer = serde_json::from_slice(body).ok()?;
    let lines: Vec<u64> = answer.items.iter().map(|item| item.line).collect();
    if lines != parcel.places.iter().map(|(line, _)| *line).collect::<Vec<_>>() {
        return None;
    }
    if let Some(item) = answer.items.iter().find(|item| is_passing(item.status)) {
        return Some(Err(item.status));
    }
    let reply = |item: Line| match item.status {
        201 => Reply::Accepted,
        200 => Reply::Repeated,
        status => Reply::Refused(item.problem.map_or_else(|| status.to_string(), |problem| words(&problem))),
    };
    Some(Ok(answer.items.into_iter().map(reply).collect()))
}

fn words(problem: &Problem) -> String {
    let one = |it: &Problem| match &it.field {
        Some(field) => clean(&format!("{field}: {}", it.detail)).into_owned(),
        None => clean(&it.detail).into_owned(),
    };
    let words = match problem.problems.as_slice() {
        [] => one(problem),
        parts => parts.iter().map(one).collect::<Vec<_>>().join("; "),
    };
    match words.char_indices().nth(REASON_MAX) {
        Some((end, _)) => format!("{}…", words.get(..end).unwrap_or_default()),
        None => words,
    }
}

fn reason(body: &[u8]) -> String {
    serde_json::from_slice::<Problem>(body).map(|problem| words(&problem)).unwrap_or_default()
}

fn said(body: &[u8]) -> String {
    let reason = reason(body);
    if reason.is_empty() { reason } else { format!(": {reason}") }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn an_answer_about_other_items_is_none() {
        let parcel = Parcel { places: vec![(1, "a:1".into()), (7, "a:7".into())], ..Parcel::default() };
        let answer = |lines: &str| replies(&parcel, format!("{{\"items\":[{lines}]}}").as_bytes());
        let problem = r#"{"detail":"bad","field":"$.x","problems":[]}"#;
        let sound = format!(r#"{{"line":1,"status":201}},{{"line":7,"status":422,"problem":{problem}}}"#);
        assert_eq!(answer(&sound), Some(Ok(vec![Reply::Accepted, Reply::Refused("$.x: bad".into())])));
        assert_eq!(answer(&sound.replace("422", "503")), Some(Err(503)));
        for other in ["", r#"{"line":1,"status":201}"#, r#"{"line":1,"status":200},{"line":2,"status":200}"#]
        {
            assert_eq!(answer(other), None, "{other}");
        }
    }

    /// A server that answers every request with that head, and then with what `go_on` writes until the client is gone.
    fn hostile(head: &'static str, go_on: fn(&mut TcpStream) -> std::io::Result<()>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(head.as_bytes());
                while go_on(&mut stream).is_ok() {}
            }
        });
        address
    }

    #[test]
    fn a_server_that_never_ends_is_given_up() {
        fn drip(stream: &mut TcpStream) -> std::io::Result<()> {
            sleep(Duration::from_millis(20));
            stream.write_all(b" ")
        }
        fn flood(stream: &mut TcpStream) -> std::io::Result<()> {
            stream.write_all(&[b'1'; 1 << 16])
        }
        fn nothing(_: &mut TcpStream) -> std::io::Result<()> {
            sleep(Duration::from_secs(1));
            Err(std::io::ErrorKind::TimedOut.into())
        }
        const OK: &str = "HTTP/1.1 200 OK\r\n\r\n";
        const LONG: &str = "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n";
        for (head, go_on, expected, attempts) in [
            (OK, drip as fn(&mut TcpStream) -> _, "began, and did not end in time", 3),
            (LONG, drip, "began, and did not end in time", 3),
            ("HTTP/1.1 200 OK\r\nx: ", drip, "did not answer in time", 3),
            ("", nothing, "did not answer in time", 3),
            (OK, flood, "more than 1032 KiB", 1),
            (LONG, flood, "more than 1032 KiB", 1),
            ("HTTP/1.1 503 no\r\n\r\n", flood, "more than 1032 KiB", 1),
        ] {
            let address = hostile(head, go_on);
            let parcel = Parcel { places: vec![(1, "a:1".into()), (2, "a:2".into())], ..Parcel::default() };
            let timeout = Duration::from_millis(300);
            let client = Client::new(&address, KeyFile::default(), timeout, Some(timeout / BODY_PART));
            let mut courier = Courier::new(client.unwrap(), &[], 12);
            let began = std::time::Instant::now();
            let failure = courier.deliver(&parcel, &mut |_, _| {}).unwrap_err();
            assert!(failure.to_string().contains(expected), "{head:?}: {failure}");
            assert_eq!(courier.repeats + 1, attempts, "{head:?}");
            assert!(began.elapsed() < Duration::from_secs(20), "{head:?}");
        }
    }

    #[test]
    fn a_reason_is_cut() {
        let problem = format!(r#"{{"detail": "{}"}}"#, "ü".repeat(5000));
        assert_eq!(reason(problem.as_bytes()).chars().count(), REASON_MAX + 1);
    }

    #[test]
    fn values_of_a_query_are_escaped() {
        assert_eq!(escaped("run@1.0.0"), "run%401.0.0");
        assert_eq!(escaped("2026-01-31T12:00:00+02:00"), "2026-01-31T12%3A00%3A00%2B02%3A00");
        assert_eq!(escaped("a&b=ü"), "a%26b%3D%C3%BC");
    }
}
