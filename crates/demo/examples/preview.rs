//! A server whose pages all have something to show, hostile names included: `cargo run -p karat-demo --example preview
//! [ADDRESS]`. Its store is in a temporary folder, and it ends when its standard input does.

use std::io::Read as _;

use karat_server::clock::Clock;
use karat_server::{Options, Server};

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Names that must be shown as text everywhere.
const HOSTILE: &str = include_str!("../../server/tests/hostile.jsonl");

fn main() -> Result<(), Failed> {
    let address = std::env::args().nth(1).unwrap_or_else(|| String::from("127.0.0.1:0"));
    let store = tempfile::TempDir::with_prefix("karat-preview-")?;
    let clock = Clock::fixed(karat_demo::BEGINNING);
    let server = Server::bind_at(
        store.path(),
        Some("preview"),
        address.parse()?,
        Options::default(),
        clock,
        &mut |_, _| {},
    )?;
    let (address, key) = (server.address, server.first_key.clone().ok_or("a new store has a first key")?);
    karat_demo::fill(&server.app)?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = std::thread::spawn(|| server.run(async move { stopped.await.unwrap_or_default() }));
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
    serving.join().map_err(|_| "the server ended in panic")??;
    Ok(())
}
