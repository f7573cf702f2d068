//! Helpers of the tests of a store: temporary folders, keys, items.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]
#![allow(dead_code, reason = "processes and faults use a part of it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use karat_store::log::Signer;
use karat_store::memory::Memory;
use karat_store::port::Backend;
use karat_store::sqlite::Sqlite;
use karat_store::{Kind, Limits, NewItem, Store};

/// A separate folder, removed when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        Self::within(Path::new(env!("CARGO_TARGET_TMPDIR")), name)
    }

    pub fn within(base: &Path, name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("karat-store-{name}-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn signer() -> Signer {
    Signer::new("karat.example/test", &[42; 32]).unwrap()
}

/// Returns every backend there is, empty, with its name.
pub fn backends(folder: &Folder) -> Vec<(&'static str, Arc<dyn Backend>)> {
    let path = folder.file("contract.db");
    vec![("memory", Arc::new(Memory::new())), ("sqlite", Arc::new(Sqlite::create(&path).unwrap()))]
}

pub fn open(backend: &Arc<dyn Backend>) -> Store {
    Store::open(Arc::clone(backend), signer(), Limits::default()).unwrap()
}

pub fn evidence(id: &str, content: &str) -> NewItem {
    NewItem {
        kind: Kind::Evidence,
        id: id.to_owned(),
        subject: Some(String::from("agent")),
        sources: Vec::new(),
        replaces: None,
        sender: None,
        content: content.as_bytes().to_vec(),
    }
}

/// Returns a record of that evidence, with only what a receipt looks at.
pub fn record(evidence: &NewItem) -> NewItem {
    let digest = Digest::of(&evidence.content);
    let content = format!(r#"{{"evidence":{{"digest":"{digest}"}},"schema":"karat/record/1"}}"#);
    NewItem {
        kind: Kind::Record,
        id: Digest::of(content.as_bytes()).to_string(),
        subject: evidence.subject.clone(),
        sources: vec![digest],
        replaces: None,
        sender: None,
        content: content.into_bytes(),
    }
}

pub fn at(milliseconds: i64) -> Timestamp {
    Timestamp { milliseconds }
}
