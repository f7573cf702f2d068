//! A server whose pages all have something to show: `cargo run -p karat-server --example preview [ADDRESS]`. Its store is
//! a temporary folder, its clock stands still, and it ends when its standard input does.

mod filled;

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::Arc;

use karat_evidence::Moment;
use karat_server::clock::Clock;
use karat_server::{App, Options, folder, serve};

type Failed = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failed> {
    let address = std::env::args().nth(1).unwrap_or_else(|| String::from("127.0.0.1:0"));
    let store = tempfile::TempDir::with_prefix("karat-preview-")?;
    let listener = TcpListener::bind(&address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let now = Moment::parse("2026-03-10T00:00:00Z").ok_or("the moment cannot be read")?;
    let (sqlite, signer) = folder::open(store.path(), Some("preview"))?;
    let clock = Clock::fixed(karat_store::Moment(now.milliseconds));
    let (app, key) = App::open(Arc::new(sqlite), signer, Options::default(), clock)?;
    let key = key.ok_or("a new store has a first key")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        serve(app, listener, async move { stopped.await.unwrap_or_default() }).await
    });
    fill(&format!("http://{address}"), &key)?;
    println!("http://{address}\n{key}");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop(stop);
    Ok(runtime.block_on(serving)??)
}

/// Publishes the scorecards and sends the evidence.
fn fill(server: &str, key: &str) -> Result<(), Failed> {
    let send = |path: &str, media: &str, body: &str| -> Result<String, Failed> {
        let request = ureq::post(format!("{server}{path}"));
        let request = request.header("authorization", format!("Bearer {key}")).header("content-type", media);
        Ok(request.send(body)?.body_mut().read_to_string()?)
    };
    for card in filled::CARDS {
        send("/v1/scorecards", "application/toml", card)?;
    }
    for (card, items) in filled::batches() {
        let answer = send(&format!("/v1/evidence?card={card}"), "application/x-ndjson", &items)?;
        let refused = answer.contains("\"problem\"");
        if refused {
            return Err(format!("{card}: {answer}").into());
        }
    }
    Ok(())
}
