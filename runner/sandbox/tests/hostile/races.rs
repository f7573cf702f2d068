//! Races: while sandboxes start, a program that may write there puts links in the place of what they are given.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use karat_sandbox::{End, Error, Layer, Layers, Sandbox};
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// The most runs until both have been seen: one that got what it was given, and one that was refused.
const RUNS_MAX: usize = 400;

/// Runs every race, in a folder that everyone may write to. `hidden` is a file that no one is given.
pub(crate) fn run(writable: &Path, hidden: &Path, layers: &Layers) {
    let arena = writable.join("race");
    let make = |path: &Path| {
        fs::create_dir(path).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    };
    let script = |name: &str, text: &str| {
        let path = arena.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        path
    };
    make(&arena);
    let inner = arena.join("inner");
    make(&inner);
    fs::write(inner.join("answers"), "fine").unwrap();
    let tool = script("tool", "printf fine");
    script("other-tool", "printf 42");
    symlink(hidden.parent().unwrap(), arena.join("to-hidden")).unwrap();
    symlink("/usr", arena.join("to-system")).unwrap();
    symlink(Path::new("/.old").join(hidden.strip_prefix("/").unwrap()), arena.join("to-old")).unwrap();
    let shell = |text: &str| {
        let mut sandbox = Sandbox::new("/bin/sh");
        sandbox.arguments = vec!["-c".into(), text.into()];
        sandbox
    };
    let show = shell(&format!("cat {0}/answers", inner.display()));
    let read = Sandbox { read: vec![inner.clone()], ..show.clone() };
    // A folder that is written to, inside of one that is read: its place is not the sandbox's own.
    let is_whole = "[ -e /usr/bin ] && [ ! -e /usr/answers ] || printf 42";
    let inside = shell(&format!("{is_whole}; cat {}/answers", inner.display()));
    let inside = Sandbox { read: vec![arena.clone()], write: vec![inner.clone()], ..inside };
    let folder = Sandbox { folder: inner.clone(), read: vec![inner.clone()], ..shell("cat answers") };
    let all = [
        ("what it reads", read, "inner", "to-hidden"),
        ("what it writes to", Sandbox { write: vec![inner.clone()], ..show }, "inner", "to-hidden"),
        ("a place in what it reads", inside.clone(), "inner", "to-system"),
        ("a place outside of its tree", inside, "inner", "to-old"),
        ("its folder", folder, "inner", "to-hidden"),
        ("its program", Sandbox::new(&tool), "tool", "other-tool"),
    ];
    for (name, mut sandbox, one, other) in all {
        sandbox.pin().unwrap();
        let (one, other) = (arena.join(one), arena.join(other));
        let (fine, refused) = race(&sandbox, &one, &other, name);
        println!("hostile: a race for {name}: {fine} as they were given, {refused} refused");
        // Without a tree a program is not let near what it was not given, and need not be refused.
        assert!(fine > 0 && (refused > 0 || !layers.has(Layer::Files)), "{name}: {fine} {refused}");
    }
    fs::remove_dir_all(&arena).unwrap();
}

/// Runs a sandbox while two names change places. Returns how often it got what it was given, and was refused.
fn race(sandbox: &Sandbox, one: &Path, other: &Path, name: &str) -> (usize, usize) {
    let is_over = AtomicBool::new(false);
    let exchange = || renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
    thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            let mut count = 0_usize;
            while !is_over.load(Ordering::Relaxed) {
                exchange();
                count += 1;
                // Now as fast as it can, now slowly enough for a run to get through: on a busy machine a run takes longer, so each
                // pause is longer than the one before.
                if count % 4096 < 64 {
                    thread::sleep(std::time::Duration::from_millis(7 + count as u64 / 1024));
                }
            }
            if count % 2 == 1 {
                exchange();
            }
        });
        let (mut fine, mut refused) = (0, 0);
        let mut wrong = None;
        for at in 0..RUNS_MAX {
            if at >= 40 && fine > 0 && refused > 0 {
                break;
            }
            match sandbox.run(b"", &|| false) {
                Ok(outcome) if outcome.output == b"fine" && outcome.end == End::Exit(0) => fine += 1,
                // In a folder that it shares with others, or without a tree, a name may be another one by now: what it
                // leads to cannot be opened.
                Ok(outcome) if is_shared(sandbox, one, &outcome.layers) && outcome.output.is_empty() => {}
                Err(Error::Moved(_)) => refused += 1,
                other => wrong = wrong.or(Some(other)),
            }
        }
        is_over.store(true, Ordering::Relaxed);
        swapping.join().unwrap();
        assert!(wrong.is_none(), "{name}: {wrong:?}");
        (fine, refused)
    })
}

/// Returns whether a sandbox sees a name as it is at the moment.
fn is_shared(sandbox: &Sandbox, name: &Path, layers: &Layers) -> bool {
    !layers.has(Layer::Files) || sandbox.read.iter().any(|read| name.parent() == Some(read))
}
