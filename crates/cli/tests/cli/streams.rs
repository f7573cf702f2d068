//! Long streams in little memory, through the real program.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{Folder, karat};

/// Address space that the program gets with one thread, in KiB: what it needs to start, and little more than its largest item.
/// Each further thread reserves addresses that it never uses.
const MEMORY_KIB: u32 = 300_000;

/// Scores the output of `write` under the limit; returns status, lines and errors.
#[expect(clippy::unwrap_used, reason = "a helper of a test may stop it")]
fn score(
    arguments: &str,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()> + Send + 'static,
) -> (i32, usize, String) {
    let folder = Folder::new();
    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    let script = format!("ulimit -v {MEMORY_KIB}; exec \"$KARAT\" score --jobs 1 -c mine.toml {arguments}");
    let mut child = Command::new("bash")
        .args(["-c", &script])
        .env("KARAT", env!("CARGO_BIN_EXE_karat"))
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || write(&mut stdin));
    let output = child.wait_with_output().unwrap();
    // The program may stop reading when it refuses: a broken pipe is allowed here.
    let _ = writer.join().unwrap();
    let lines = output.stdout.iter().filter(|&&byte| byte == b'\n').count();
    (output.status.code().unwrap(), lines, String::from_utf8(output.stderr).unwrap())
}

const ITEM: &[u8] = b"{\"subject\":\"a\",\"solved\":41,\"asked\":50,\"cost_usd\":3.2,\"budget_usd\":5}\n";

#[test]
fn many_items_take_no_more_memory_than_one() {
    let items = 100_000;
    let (status, lines, errors) = score("", move |pipe| (0..items).try_for_each(|_| pipe.write_all(ITEM)));
    assert_eq!((status, lines, errors.as_str()), (0, items, ""));
}

#[test]
fn a_line_of_a_gigabyte_is_refused_without_holding_it() {
    let (status, lines, errors) = score("--keep-going", |pipe| {
        pipe.write_all(ITEM)?;
        pipe.write_all(b"{\"subject\":\"")?;
        let block = vec![b'a'; 1 << 20];
        (0..1024).try_for_each(|_| pipe.write_all(&block))?;
        pipe.write_all(b"\"}\n")?;
        pipe.write_all(ITEM)
    });
    assert_eq!((status, lines), (1, 2), "{errors}");
    assert!(errors.contains("standard input:2: $: found an item of more than 16777216 bytes"), "{errors}");
    assert!(errors.len() < 1000, "{} bytes of errors", errors.len());
}

#[test]
fn bad_lines_without_end_are_refused_one_by_one() {
    let (status, lines, errors) = score("--keep-going - ", |pipe| {
        pipe.write_all(ITEM)?;
        (0..5_000).try_for_each(|_| pipe.write_all(b"{\"subject\":\"a\",\"solved\":-1,\"asked\":1}\n"))
    });
    assert_eq!((status, lines), (1, 1));
    assert_eq!(errors.lines().count(), 5_001);
    assert!(errors.ends_with("error: 5000 items were refused; the others were scored\n"));
}
