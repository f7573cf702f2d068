//! A process that has confined itself tries everything that it may not do, as root and as an ordinary user. The process
//! is this test, started again.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::fs::{self, OpenOptions, Permissions};
    use std::io::{ErrorKind, Read as _, Write as _};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::os::unix::process::CommandExt as _;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::thread;

    use karat_sandbox::{Confinement, Layer, confine_self};
    use rustix::process::{Resource, Rlimit, Signal, getppid, kill_process, setrlimit};
    use rustix::thread::{Uid, set_thread_uid};

    const ORDINARY: u32 = 65534;
    const MIB: usize = 1 << 20;

    pub(super) fn main() {
        let arguments: Vec<String> = std::env::args().collect();
        if let [_, mark, folder] = arguments.as_slice()
            && mark == "confined"
        {
            return confined(Path::new(folder));
        }
        let is_root = rustix::process::geteuid().is_root();
        let users: &[Option<u32>] = if is_root { &[None, Some(ORDINARY)] } else { &[None] };
        for &user in users {
            for _ in 0..2 {
                check(user, is_root && user.is_none());
            }
        }
        println!("confine: a confined process did nothing that it may not do, as {} users", users.len());
    }

    /// Starts the confined process as a user, and looks at what it could do.
    fn check(user: Option<u32>, is_root: bool) {
        let bench = tempfile::tempdir().unwrap();
        let open = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
        let program = bench.path().join("program");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        for name in ["cache", "elsewhere"] {
            fs::create_dir(bench.path().join(name)).unwrap();
            open(&bench.path().join(name));
            fs::write(bench.path().join(name).join("file"), name).unwrap();
            open(&bench.path().join(name).join("file"));
        }
        open(bench.path());
        symlink("../elsewhere/file", bench.path().join("cache/link")).unwrap();
        let mut command = Command::new(&program);
        command.args(["confined".as_ref(), bench.path().as_os_str()]).stdin(Stdio::null());
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let said = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{:?}: {said}", output.status);
        let lines: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once(": ")).collect();
        let missing: Vec<&str> = Layer::ALL
            .iter()
            .map(|layer| layer.name())
            .filter(|name| lines.get(format!("layer {name}").as_str()).is_some_and(|it| *it == "missing"))
            .collect();
        // What is missing on this machine is named, and what it would have stopped is known.
        let excused: &[&str] = match missing.as_slice() {
            [] => &[],
            ["landlock"] => &["read elsewhere", "read through a link", "list elsewhere"],
            other => panic!("no test for a machine without {other:?}: {said}"),
        };
        for (what, how) in lines.iter().filter(|(what, _)| !what.starts_with("layer ")) {
            let expected =
                if what.starts_with("may ") || excused.contains(what) { "done" } else { "refused" };
            assert_eq!(*how, expected, "{what}, user {user:?}, missing {missing:?}:\n{said}");
        }
        assert!(lines.len() > 30 && lines["layer calls"] == "holds", "{said}");
        let left: Vec<_> = fs::read_dir(bench.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "nothing new: {left:?}");
        for name in ["cache", "elsewhere"] {
            let count = fs::read_dir(bench.path().join(name)).unwrap().count();
            assert_eq!(count, if name == "cache" { 2 } else { 1 }, "nothing new in {name}");
            assert_eq!(fs::read_to_string(bench.path().join(name).join("file")).unwrap(), name);
        }
        assert!(!is_root || lines["layer user"] == "holds");
    }

    /// Confines this process, tries what it may and what it may not, and says what happened.
    fn confined(bench: &Path) {
        let (cache, elsewhere) = (bench.join("cache"), bench.join("elsewhere"));
        let was_root = rustix::process::geteuid().is_root();
        let mut open = OpenOptions::new().read(true).open(elsewhere.join("file")).unwrap();
        let layers = confine_self(&Confinement {
            read: vec![cache.clone(), bench.join("not there")],
            memory: Some(256 * MIB as u64),
            threads: Some(16),
            cpu_seconds: Some(60),
            is_strict: false,
        })
        .unwrap();
        for (layer, _) in layers.iter() {
            say(&format!("layer {layer}"), if layers.has(layer) { "holds" } else { "missing" });
        }
        // What a judge needs.
        may("read what is open", open.read_to_string(&mut String::new()));
        may("read what is named", fs::read(cache.join("file")));
        may("list what is named", fs::read_dir(&cache));
        may("start a thread", thread::spawn(|| 1).join().map_err(|_| ErrorKind::Other.into()));
        may("use memory", grown(64));
        may("write to what is open", std::io::stdout().flush());
        let is_root = rustix::process::geteuid().is_root();
        say("may be a user and not root", if is_root { "refused" } else { "done" });

        tried("more memory than the limit", grown(1024));
        tried("read elsewhere", fs::read(elsewhere.join("file")));
        tried("read through a link", fs::read(cache.join("link")));
        tried("list elsewhere", fs::read_dir(&elsewhere));
        tried("read the passwords", fs::read("/etc/shadow"));
        let reading = fs::read("/proc/1/environ").or_else(|_| fs::read("/proc/self/environ"));
        tried("read the environment of others", reading);
        tried("write a new file", fs::write(bench.join("new"), "x"));
        tried("write a new file in the cache", fs::write(cache.join("new"), "x"));
        tried("change a file", OpenOptions::new().write(true).open(cache.join("file")));
        tried("append to a file", OpenOptions::new().append(true).open(cache.join("file")));
        tried("cut a file", OpenOptions::new().write(true).truncate(true).open(elsewhere.join("file")));
        tried("remove a file", fs::remove_file(cache.join("file")));
        tried("rename a file", fs::rename(cache.join("file"), cache.join("other")));
        tried("link a file", fs::hard_link(cache.join("file"), cache.join("other")));
        tried("make a symbolic link", symlink("file", cache.join("other")));
        tried("make a folder", fs::create_dir(cache.join("other")));
        tried("change rights", fs::set_permissions(cache.join("file"), Permissions::from_mode(0o666)));
        tried("connect", TcpStream::connect("127.0.0.1:9"));
        tried("listen", TcpListener::bind("127.0.0.1:0"));
        tried("send a packet", UdpSocket::bind("127.0.0.1:0"));
        tried("connect on this machine", UnixStream::connect(bench.join("socket")));
        tried("listen on this machine", UnixListener::bind(bench.join("socket")));
        tried("make a pair of sockets", UnixStream::pair());
        tried("run a program", Command::new("/bin/true").spawn());
        tried("run itself", Command::new("/proc/self/exe").arg("confined").spawn());
        tried("become a program", Err::<(), _>(Command::new("/bin/true").exec()));
        tried("signal its parent", kill_process(getppid().unwrap(), Signal::CONT).map_err(Into::into));
        let unlimited = Rlimit { current: None, maximum: None };
        tried("lift a limit", setrlimit(Resource::Core, unlimited).map_err(Into::into));
        tried("become root", set_thread_uid(Uid::ROOT).map_err(Into::into));
        tried("become another user", set_thread_uid(Uid::from_raw(1)).map_err(Into::into));
        if was_root {
            // Sixteen threads, and this one is the first.
            let threads: Vec<_> = (0..32)
                .map(|_| {
                    thread::Builder::new().spawn(|| thread::sleep(std::time::Duration::from_millis(300)))
                })
                .collect();
            let refused = threads.iter().find_map(|thread| thread.as_ref().err());
            tried("start too many threads", refused.map_or(Ok(()), |error| Err(error.kind().into())));
        }
        std::process::exit(0);
    }

    fn grown(mib: usize) -> std::io::Result<()> {
        let mut bytes: Vec<u8> = Vec::new();
        bytes.try_reserve_exact(mib * MIB).map_err(|_| ErrorKind::OutOfMemory)?;
        bytes.resize(mib * MIB, 1);
        // What no one looks at may never be allocated.
        if std::hint::black_box(&bytes).iter().step_by(4096).any(|&byte| byte != 1) {
            return Err(ErrorKind::Other.into());
        }
        Ok(())
    }

    fn may<T>(what: &str, result: std::io::Result<T>) {
        tried(&format!("may {what}"), result);
    }

    fn tried<T>(what: &str, result: std::io::Result<T>) {
        match result {
            Ok(_) => say(what, "done"),
            Err(error) => {
                eprintln!("{what}: {error}");
                say(what, "refused");
            }
        }
    }

    fn say(what: &str, how: &str) {
        println!("{what}: {how}");
    }
}
