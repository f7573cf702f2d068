//! A judge that has given everything up: what it cannot do any more, and that it judges as before. The confined process is
//! this test, started again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must fail"
)]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod shown;

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::fs::{self, File};
    use std::io::{self, ErrorKind};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use karat_graders::execution::{Case, Compare, Job, Limits, Report, Run, Task, TaskReport, Verdict};
    use karat_judge::EngineKind;
    use karat_judge::confine::{MEMORY, confine};
    use karat_sandbox::Layer;
    use serde_json::{Value, json};

    use super::shown::{self, attacks};

    /// Attempts that are refused at a machine which lacks Landlock, too: `seccomp` and the user are enough for them.
    const REFUSED: [&str; 13] = [
        "make a file", "change a file", "remove a file", "connect", "listen", "send a packet",
        "connect on this machine", "fork", "run a program", "become a program", "signal its parent",
        "read a secret of root", "more memory than all limits need",
    ];

    /// Jobs at the end of the list that take what the limits allow, and pass.
    const LARGE: usize = 2;

    pub(super) fn main() {
        if std::env::args().nth(1).as_deref() == Some("confined") {
            return confined();
        }
        // Compiled before: a process with threads cannot confine itself.
        for engine in [EngineKind::Cranelift, EngineKind::Pulley] {
            shown::judge(engine).prepare().unwrap();
        }
        let output = Command::new(std::env::current_exe().unwrap())
            .arg("confined")
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{:?}: {text}", output.status);
        let said: Value = serde_json::from_str(&text).unwrap();
        let did: BTreeMap<String, bool> = serde_json::from_value(said["did"].clone()).unwrap();
        assert_eq!(did.len(), REFUSED.len() + 3, "{did:?}");
        for (what, done) in did {
            let expected = match what.as_str() {
                "start a thread" => true,
                "read the passwords" | "list a folder" => said["landlock"] == false,
                what => !REFUSED.contains(&what),
            };
            assert_eq!(done, expected, "{what}: {text}");
        }
        let reports: Vec<Report> = serde_json::from_value(said["reports"].clone()).unwrap();
        let judge = shown::judge(EngineKind::Cranelift);
        let free: Vec<Report> = jobs().iter().map(|job| judge.judge(job).unwrap()).collect();
        assert_eq!(reports, free);
        for report in &reports[reports.len() - LARGE..] {
            let [TaskReport::Cases { cases } | TaskReport::Suite { cases }] = report.results.as_slice()
            else {
                panic!("{report:?}")
            };
            assert!(cases.iter().all(|case| case.verdict == Verdict::Pass), "{cases:?}");
        }
        println!("confined: {} attempts, and {} reports as without walls", REFUSED.len() + 3, free.len());
    }

    /// Gives everything up, tries what it may not, judges, and says what happened.
    fn confined() {
        let judge = shown::judge(EngineKind::Cranelift);
        judge.prepare().unwrap();
        let own = std::env::current_exe().unwrap();
        // Read now: afterwards there are no files.
        let jobs = jobs();
        let layers = confine().unwrap();
        assert!(layers.has(Layer::Calls) && layers.has(Layer::User) && layers.has(Layer::Limits));
        let mut did = BTreeMap::new();
        let mut tried = |what: &'static str, result: io::Result<()>| {
            did.insert(what, result.is_ok());
        };
        let beside = own.with_extension("made");
        tried("start a thread", std::thread::spawn(|| ()).join().map_err(|_| ErrorKind::Other.into()));
        tried("read the passwords", File::open("/etc/passwd").map(drop));
        tried("list a folder", fs::read_dir("/").map(drop));
        tried("read a secret of root", File::open("/etc/shadow").map(drop));
        tried("make a file", File::create(&beside).map(drop));
        tried("change a file", File::options().append(true).open(&own).map(drop));
        tried("remove a file", fs::remove_file(&own));
        tried("connect", TcpStream::connect("127.0.0.1:9").map(drop));
        tried("listen", TcpListener::bind("127.0.0.1:0").map(drop));
        tried("send a packet", UdpSocket::bind("127.0.0.1:0").map(drop));
        tried("connect on this machine", UnixStream::pair().map(drop));
        // With something to do before the program, it is a fork, and no call that starts a program at once.
        let mut forking = Command::new("/bin/true");
        forking.current_dir("/").process_group(0);
        tried("fork", forking.spawn().map(drop));
        tried("run a program", Command::new("/bin/true").spawn().map(drop));
        tried("become a program", Err(Command::new("/bin/true").exec()));
        let parent = rustix::process::getppid().unwrap();
        let signal = rustix::process::kill_process(parent, rustix::process::Signal::CONT);
        tried("signal its parent", signal.map_err(Into::into));
        let mut bytes: Vec<u8> = Vec::new();
        let grown = bytes.try_reserve_exact(MEMORY as usize).map_err(|_| ErrorKind::OutOfMemory.into());
        tried("more memory than all limits need", grown);
        let reports: Vec<Report> = jobs.iter().map(|job| judge.judge(job).unwrap()).collect();
        println!("{}", json!({"did": did, "landlock": layers.has(Layer::Landlock), "reports": reports}));
    }

    /// Ordinary and hostile work, and work that takes all memory that the limits allow: a submission beside its suite.
    fn jobs() -> Vec<Job> {
        let file = attacks::File::of("python");
        let mut jobs: Vec<Job> = file.attack.iter().step_by(20).map(|attack| attack.job(&file)).collect();
        let memory_mib = *Limits::MEMORY_MIB.end() as u32;
        let limits = Limits { fuel: *Limits::FUEL.end(), memory_mib, output_kib: 64 };
        let files = |code: &str| BTreeMap::from([("solution.py".to_owned(), code.to_owned())]);
        let source = "import unittest\nfrom solution import fill\n\
            class All(unittest.TestCase):\n    def test_all(self):\n        here = b'x' * (900 << 20)\n        \
            self.assertEqual(fill(900), 900 << 20)\n        self.assertEqual(here[-1], 120)\n";
        let suite = Task::Suite { file: "suite_test.py".to_owned(), source: source.to_owned() };
        let code = "def fill(mib):\n    global kept\n    kept = b'y' * (mib << 20)\n    return len(kept)\n";
        jobs.push(shown::job("python", files(code), limits, suite));
        // An argument of a size that no line can exceed by much.
        let text = "x".repeat(12 << 20);
        let case = Case {
            name: "long".to_owned(),
            run: Run::Call { function: "size".to_owned(), args: vec![json!(text)] },
            expect: json!(12 << 20),
            compare: Compare::exact(),
        };
        let cases = Task::Cases { file: "cases.toml".to_owned(), cases: vec![case] };
        jobs.push(shown::job("python", files("def size(text):\n    return len(text)\n"), limits, cases));
        jobs
    }
}
