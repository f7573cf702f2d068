//! A server whose pages all have something to show, hostile names among it: `cargo run -p karat-server --example preview
//! [ADDRESS]`. Its store is a temporary folder, and it ends when its standard input does.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::Arc;

use karat_server::clock::Clock;
use karat_server::{App, Options, demo, folder, serve};

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Names that must stay text wherever they stand.
const HOSTILE: &str = include_str!("../tests/hostile.jsonl");

fn main() -> Result<(), Failed> {
    let address = std::env::args().nth(1).unwrap_or_else(|| String::from("127.0.0.1:0"));
    let store = tempfile::TempDir::with_prefix("karat-preview-")?;
    let listener = TcpListener::bind(&address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let (sqlite, signer) = folder::open(store.path(), Some("preview"))?;
    let clock = Clock::fixed(demo::NOW);
    let (app, key) = App::open(Arc::new(sqlite), signer, Options::default(), clock)?;
    let key = key.ok_or("a new store has a first key")?;
    demo::fill(&app)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        serve(app, listener, async move { stopped.await.unwrap_or_default() }).await
    });
    let sent = ureq::post(format!("http://{address}/v1/evidence?card=support-agent"))
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/x-ndjson")
        .send(HOSTILE)?
        .body_mut()
        .read_to_string()?;
    if sent.contains("\"problem\"") {
        return Err(sent.into());
    }
    println!("http://{address}\n{key}");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop(stop);
    Ok(runtime.block_on(serving)??)
}
