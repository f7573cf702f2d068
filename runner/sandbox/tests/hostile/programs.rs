//! The hostile programs. Each says in its exit status whether something was possible that must not be.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio, exit};
use std::thread;
use std::time::Duration;

use rustix::mount::{MountFlags, mount};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpid, getppid, kill_current_process_group, kill_process,
    set_dumpable_behavior, setrlimit, setsid,
};
use rustix::thread::{Uid, UnshareFlags, set_no_new_privs, set_thread_uid, unshare_unsafe};

const MIB: usize = 1 << 20;
/// The status of a program that could do what it must not.
const ESCAPED: i32 = 77;

/// Runs the program of a name.
pub(crate) fn run(arguments: &[String]) {
    let text = |at: usize| arguments.get(at).map_or("", String::as_str);
    match text(0) {
        "bomb" => loop {
            let _ = again(&["bomb"]).spawn();
        },
        "crowd" => crowd(),
        "greedy" => greedy(text(1).parse().unwrap()),
        "greedy-family" => {
            let family: Vec<_> = (0..6).map(|_| again(&["greedy", "48"]).spawn()).collect();
            let failed = family.into_iter().filter(|it| it.is_err()).count();
            thread::sleep(Duration::from_secs(60));
            exit(i32::try_from(failed).unwrap());
        }
        "busy" => busy(),
        "busy-threads" => {
            (0..3).for_each(|_| _ = thread::spawn(busy));
            busy();
        }
        "busy-children" => (0..3).for_each(|_| _ = again(&["busy"]).status()),
        "deaf" => deaf(),
        "near" => near(),
        "sleepy" => thread::sleep(Duration::from_secs(300)),
        "network" => network(text(1), text(2)),
        "paths" => paths(Path::new(text(1)), Path::new(text(2))),
        "processes" => processes(text(1)),
        "signals" => signals(text(1).parse().unwrap()),
        "flood" => flood(),
        "whisper" => (0..64).for_each(|_| _ = std::io::stderr().write_all(&[b'x'; MIB])),
        "leave" => leave(text(1)),
        "linger" => linger(text(1)),
        "forge" => forge(),
        "fill" => fill(Path::new(text(1))),
        "large" => large(Path::new(text(1))),
        "kernel" => kernel(),
        "limits" => limits(),
        other => panic!("no program {other}"),
    }
}

/// Returns a command that starts this program again.
fn again(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::args_os().next().unwrap());
    command.arg("program").args(arguments).stdin(Stdio::null());
    command
}

/// Ends with a finding if something was possible.
fn impossible<T, E>(what: &str, result: Result<T, E>) {
    if result.is_ok() {
        println!("possible: {what}");
        std::io::stdout().flush().unwrap();
        exit(ESCAPED);
    }
}

/// Starts as many processes as it can, and says how many.
fn crowd() {
    let mut family = Vec::new();
    while let Ok(child) = again(&["sleepy"]).spawn() {
        family.push(child);
        if family.len() > 500 {
            exit(ESCAPED);
        }
    }
    println!("{}", family.len());
}

fn greedy(mib: usize) {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for _ in 0..mib {
        let mut part = Vec::new();
        if part.try_reserve_exact(MIB).is_err() {
            println!("no memory");
            exit(9);
        }
        part.resize(MIB, 1_u8);
        all.push(part);
    }
    std::hint::black_box(&all);
    thread::sleep(Duration::from_secs(60));
}

fn busy() {
    let mut number = 1_u64;
    loop {
        number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

/// Computes for 1.5 seconds of a processor.
fn near() {
    let ticks = || {
        let text = fs::read_to_string("/proc/self/stat").unwrap();
        let after_name = text.rsplit_once(')').unwrap().1;
        after_name.split(' ').skip(12).take(2).map(|it| it.parse::<u64>().unwrap()).sum::<u64>()
    };
    while ticks() < 150 {
        (0..100_000_u64).for_each(|number| _ = std::hint::black_box(number));
    }
}

/// Computes on beyond its limit: the signal for that is blocked in all that it starts.
fn deaf() {
    _ = Command::new("/bin/sh").args(["-c", "trap '' XCPU; while :; do :; done"]).status();
}

/// Tries to reach a service of this machine, by its address and by its abstract name.
fn network(address: &str, name: &str) {
    let address: SocketAddr = address.parse().unwrap();
    impossible("to connect", TcpStream::connect_timeout(&address, Duration::from_secs(1)));
    impossible("to connect by IPv6", TcpStream::connect("[::1]:9"));
    impossible("to send", UdpSocket::bind("0.0.0.0:0").and_then(|it| it.send_to(b"x", address)));
    impossible("to listen", TcpListener::bind("127.0.0.1:0"));
    let name = UnixAddr::from_abstract_name(name).unwrap();
    impossible("to reach an abstract name", UnixStream::connect_addr(&name));
    let family = rustix::net::AddressFamily::NETLINK;
    impossible(
        "to ask the kernel for its network",
        rustix::net::socket(family, rustix::net::SocketType::RAW, None),
    );
    let packets = rustix::net::AddressFamily::PACKET;
    impossible("to see packets", rustix::net::socket(packets, rustix::net::SocketType::RAW, None));
}

/// Tries to read a hidden file and to write where it may only read.
fn paths(shown: &Path, hidden: &Path) {
    assert_eq!(fs::read_to_string(shown.join("task")).unwrap(), "task", "what is shown can be read");
    let below = |root: &str| Path::new(root).join(hidden.strip_prefix("/").unwrap());
    let ways = [
        hidden.to_owned(),
        shown.join("../hidden/answers"),
        shown.join("link"),
        shown.join("folder-link/answers"),
        below("/proc/1/root"),
        below("/proc/self/root"),
        below("/proc/self/cwd/../../../../.."),
        below("/.old"),
        below("/../../.."),
        "/etc/shadow".into(),
        "/etc/passwd".into(),
        "/dev/mem".into(),
        "/dev/vda".into(),
        "/dev/kmsg".into(),
        "/sys/kernel/notes".into(),
        "/proc/kcore".into(),
        "/proc/1/environ".into(),
        "/proc/1/mem".into(),
    ];
    for way in ways {
        impossible(
            &format!("to read {}", way.display()),
            File::open(&way).and_then(|mut it| it.read(&mut [0])),
        );
    }
    for folder in ["/root", "/home", "/var", "/run", "/sys", "/etc"] {
        impossible(&format!("to list {folder}"), fs::read_dir(folder));
    }
    for file in [shown.join("new"), shown.join("task"), "/new".into(), "/usr/new".into(), "/proc/new".into()]
    {
        impossible(&format!("to write {}", file.display()), fs::write(file, "x"));
    }
    let (parent, scratch) = (shown.parent().unwrap(), Path::new("/tmp"));
    // Beside what is shown nothing is there, and what is made there goes with the sandbox.
    let _ = fs::write(parent.join("beside"), "x");
    impossible("to remove", fs::remove_file(shown.join("task")));
    impossible("to rename", fs::rename(shown.join("task"), shown.join("other")));
    impossible("to link", fs::hard_link(shown.join("task"), scratch.join("task")));
    impossible("to cut", OpenOptions::new().write(true).truncate(true).open(shown.join("task")));
    let _ = std::os::unix::fs::symlink(hidden, scratch.join("answers"));
    impossible("to read by a new link", fs::read(scratch.join("answers")));
    impossible(
        "to read by a program",
        Command::new("/bin/cat").arg(hidden).stderr(Stdio::null()).output().and_then(|it| {
            if it.status.success() { Ok(()) } else { Err(std::io::ErrorKind::NotFound.into()) }
        }),
    );
}

/// Looks for the secret of its parent in all that it can see of processes.
fn processes(secret: &str) {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let seen: Vec<_> = entries.filter(|it| it.file_name().to_string_lossy().parse::<u32>().is_ok()).collect();
    let own = getpid().as_raw_nonzero().to_string();
    for process in &seen {
        if *process.file_name() == *own {
            continue;
        }
        for file in ["environ", "cmdline", "maps", "mem", "status"] {
            let text = fs::read(process.path().join(file)).unwrap_or_default();
            let found = text.windows(secret.len()).any(|part| part == secret.as_bytes());
            impossible(&format!("to see a secret in {file}"), if found { Ok(()) } else { Err(()) });
        }
        impossible("to see the files of others", fs::read_dir(process.path().join("fd")));
    }
    impossible("to see other processes", if seen.len() > 1 { Ok(()) } else { Err(()) });
}

/// Signals everything that it can name. It and its verdict live on.
fn signals(host: i32) {
    for process in [Pid::from_raw(host), getppid(), Some(Pid::INIT)].into_iter().flatten() {
        for signal in [Signal::STOP, Signal::TERM, Signal::KILL] {
            let _ = kill_process(process, signal);
        }
    }
    for process in 2..400 {
        if let Some(process) = Pid::from_raw(process).filter(|it| *it != getpid()) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
    let _ = Signal::CONT;
    println!("alive");
    std::io::stdout().flush().unwrap();
    let _ = kill_current_process_group(Signal::KILL);
}

fn flood() {
    let mut out = std::io::stdout();
    while out.write_all(&[b'x'; 1 << 16]).is_ok() {}
    // It goes on if no one reads.
    thread::sleep(Duration::from_secs(300));
}

/// Leaves processes behind in separate sessions and groups, whose parents are gone.
#[expect(clippy::zombie_processes, reason = "no one is to wait for them")]
fn leave(file: &str) {
    for _ in 0..4 {
        again(&["linger", file]).stdout(Stdio::inherit()).spawn().unwrap();
    }
    println!("left");
    thread::sleep(Duration::from_millis(200));
}

fn linger(file: &str) {
    let _ = setsid();
    if std::env::var_os("SECOND").is_none() {
        again(&["linger", file]).env("SECOND", "1").spawn().unwrap();
        exit(0);
    }
    loop {
        thread::sleep(Duration::from_millis(300));
        let _ =
            OpenOptions::new().append(true).create(true).open(file).and_then(|mut it| it.write_all(b"late"));
    }
}

/// Writes what looks like a good report to every file that it may have been given.
fn forge() {
    let mut report = Vec::from(2_u32.to_le_bytes());
    report.resize(32, 0);
    for number in (3..64).chain([255, 1023]) {
        for folder in ["/proc/self/fd", "/dev/fd", "/proc/1/fd", "/proc/2/fd"] {
            let opened = OpenOptions::new().write(true).open(format!("{folder}/{number}"));
            let written = opened.and_then(|mut it| it.write_all(&report));
            impossible(&format!("to write to file {number}"), written);
        }
    }
    let open: Vec<_> = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten().collect();
    // Three, and the list itself.
    impossible("to have more than three files", if open.len() > 4 { Ok(()) } else { Err(()) });
    println!("{{\"passed\": true}}");
    exit(3);
}

/// Fills a folder with files until it is full, and says how many MiB it took.
fn fill(folder: &Path) {
    let mut count = 0;
    for number in 0..4096 {
        let written =
            File::create(folder.join(number.to_string())).and_then(|mut it| it.write_all(&[1; MIB]));
        if written.is_err() {
            break;
        }
        count += 1;
    }
    println!("{count}");
}

fn large(file: &Path) {
    let mut file = File::create(file).unwrap();
    loop {
        file.write_all(&[1; MIB]).unwrap();
    }
}

/// Tries doors of the kernel.
fn kernel() {
    let none: Option<&std::ffi::CStr> = None;
    impossible("to mount", mount("none", "/tmp", "tmpfs", MountFlags::empty(), none));
    for (name, flags) in [("users", UnshareFlags::NEWUSER), ("mounts", UnshareFlags::NEWNS)] {
        // SAFETY: neither touches the memory or the files of this process.
        #[expect(unsafe_code, reason = "the call is to be refused")]
        let made = unsafe { unshare_unsafe(flags) };
        impossible(&format!("to make a namespace for {name}"), made);
    }
    impossible("to become root", set_thread_uid(Uid::ROOT));
    impossible("to change the root", rustix::process::chroot("/tmp"));
    set_no_new_privs(true).unwrap();
    let _ = set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let raised =
        Command::new("/bin/su").args(["-c", "true"]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    impossible("to run as root", raised.ok().filter(|it| it.status.success()).ok_or(()));
}

/// Tries to lift its limits.
fn limits() {
    for resource in [Resource::Nproc, Resource::Fsize, Resource::Nofile, Resource::Core, Resource::Cpu] {
        let unlimited = Rlimit { current: None, maximum: None };
        impossible(&format!("to lift {resource:?}"), setrlimit(resource, unlimited));
    }
    for file in ["/proc/self/oom_score_adj", "/proc/self/uid_map", "/proc/self/attr/current"] {
        let lowered = OpenOptions::new().write(true).open(file).and_then(|mut it| it.write_all(b"-1000"));
        impossible(&format!("to write {file}"), lowered);
    }
}
