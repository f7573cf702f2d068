//! Proofs of the log, and who may use a store.

use karat_server::{Options, Server};
use karat_store::log::VerifyingKey;
use karat_store::{Error, Receipt};

use crate::common::{Folder, Running};

const WORKED: &str = include_str!("../../../../examples/workflow/worked-example.json");

#[test]
fn a_receipt_holds_offline() {
    let server = Running::new();
    let sent = server.send("card=workflow@1.0.0", WORKED);
    let log = server.get("/v1/log");
    let key: VerifyingKey = log.is(200).at("/key").as_str().unwrap().parse().unwrap();
    let path = sent.at("/receipt");
    let receipt = server.get(path.as_str().unwrap());
    let receipt = Receipt::parse(receipt.is(200).body.as_bytes()).unwrap();
    assert!(receipt.verify(&key).holds(), "{}", receipt.verify(&key));
    assert_eq!(receipt.content, sent.at("/content").to_string(), "the record, byte for byte");
    let checkpoint = server.get("/checkpoint");
    assert_eq!(checkpoint.body, log.at("/checkpoint").as_str().unwrap());
    assert_eq!(checkpoint.body, receipt.checkpoint);
    let public = std::fs::read_to_string(server.folder.path().join(karat_server::folder::PUBLIC)).unwrap();
    assert_eq!(public.trim_end(), log.at("/key"));
}

#[test]
fn the_log_is_there_tile_by_tile() {
    let server = Running::new();
    let size = server.get("/v1/log").at("/size");
    let tile = server.get(&format!("/tile/0/000.p/{size}"));
    assert_eq!(tile.is(200).header("content-type"), Some("application/octet-stream"));
    assert_eq!(tile.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let entries = server.get(&format!("/tile/entries/000.p/{size}"));
    assert!(
        entries.is(200).body.contains("\"workflow@1.0.0\""),
        "scorecards that come with karat are in the log"
    );
}

#[test]
fn a_second_server_on_one_store_is_refused() {
    let server = Running::new();
    let second = Server::bind(server.folder.path(), None, "127.0.0.1:0".parse().unwrap(), Options::default());
    let Err(Error::Locked(path)) = second else { panic!("a second server") };
    assert!(path.starts_with(server.folder.path()));
    server.get("/healthz").is(200);
}

#[test]
fn a_port_that_is_taken_is_told_and_touches_no_folder() {
    let server = Running::new();
    let folder = Folder::new();
    let inner = folder.path().join("data");
    let error = Server::bind(&inner, None, server.address, Options::default()).unwrap_err();
    assert!(error.to_string().contains(&server.address.to_string()), "{error}");
    assert!(!inner.exists());
}

#[test]
fn nobody_elsewhere_can_reach_a_server_without_a_key() {
    let folder = Folder::new();
    let elsewhere = "0.0.0.0:0".parse().unwrap();
    let error = Server::bind(folder.path(), None, elsewhere, Options::default()).unwrap_err();
    assert!(error.to_string().contains("no key"), "{error}");
    let first =
        Server::bind(folder.path(), None, "127.0.0.1:0".parse().unwrap(), Options::default()).unwrap();
    assert!(first.first_key.is_some());
    drop(first);
    let server = Server::bind(folder.path(), None, elsewhere, Options::default()).unwrap();
    assert_eq!(server.first_key, None);
}

#[test]
fn elsewhere_reading_needs_a_key_too() {
    let folder = Folder::new();
    let first =
        Server::bind(folder.path(), None, "127.0.0.1:0".parse().unwrap(), Options::default()).unwrap();
    let admin = first.first_key.clone().unwrap();
    drop(first);
    let start = |folder, options| Running::at("0.0.0.0:0", folder, options, Some(admin.clone()));
    let server = start(folder, Options::default());
    for path in [
        "/v1/records", "/v1/log", "/checkpoint", "/metrics", "/v1/events", "/v1/scorecards",
        "/v1/leaderboards?card=workflow",
    ] {
        server.get(path).is_problem(401, "unauthenticated");
    }
    server.get("/healthz").is(200);
    server.get_with("/v1/records", Some(&admin)).is(200);
    let server = start(server.stop(), Options { is_public: true, ..Options::default() });
    server.get("/v1/records").is(200);
    server.get("/v1/keys").is_problem(401, "unauthenticated");
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_and_left_as_it_was() {
    let folder = Folder::new();
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let error = Server::bind(&file, None, "127.0.0.1:0".parse().unwrap(), Options::default()).unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_store_without_its_key_is_refused() {
    let server = Running::new();
    let folder = server.stop();
    let secret = folder.path().join(karat_server::folder::SECRET);
    std::fs::remove_file(&secret).unwrap();
    let error =
        Server::bind(folder.path(), None, "127.0.0.1:0".parse().unwrap(), Options::default()).unwrap_err();
    assert!(error.to_string().contains("log.key"), "{error}");
    assert!(!secret.exists());
    std::fs::write(&secret, "nonsense").unwrap();
    let error =
        Server::bind(folder.path(), None, "127.0.0.1:0".parse().unwrap(), Options::default()).unwrap_err();
    assert!(error.to_string().contains("64 hexadecimal digits"), "{error}");
}

#[cfg(unix)]
#[test]
fn the_secret_of_the_log_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let server = Running::new();
    let secret = server.folder.path().join(karat_server::folder::SECRET);
    assert_eq!(std::fs::metadata(secret).unwrap().permissions().mode() & 0o777, 0o600);
}
