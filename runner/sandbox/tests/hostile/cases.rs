//! The cases: how each program is run, and what its verdict must be.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use karat_sandbox::{End, Error, Layer, Layers, Outcome, Sandbox, Timed};

use crate::races;

const ORDINARY: u32 = 65534;
const MIB: u64 = 1 << 20;
const SECRET: &str = "correct-horse-battery-staple";

/// Runs the suite as every user that this one can be.
pub(crate) fn main() {
    let is_root = rustix::process::geteuid().is_root();
    let users: &[Option<u32>] = if is_root { &[None, Some(ORDINARY)] } else { &[None] };
    for &user in users {
        let folder = tempfile::tempdir().unwrap();
        let bench = Bench::new(folder.path());
        let mut command = Command::new(&bench.program);
        command.arg("suite").arg(folder.path()).env("SECRET", SECRET);
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let before = snapshot(folder.path());
        let status = command.status().unwrap();
        assert!(status.success(), "user {user:?}: {status}");
        assert_eq!(snapshot(folder.path()), before, "user {user:?}: no byte outside");
        assert_eq!(processes_of(&bench.program), Vec::<String>::new(), "user {user:?}: no process is left");
    }
}

/// A folder with what is shown to programs, what is hidden from them, and where they may write.
struct Bench {
    program: PathBuf,
    shown: PathBuf,
    hidden: PathBuf,
    writable: PathBuf,
}

impl Bench {
    fn of(folder: &Path) -> Self {
        let path = |name: &str| folder.join(name);
        Self {
            program: path("hostile"),
            shown: path("shown"),
            hidden: path("hidden/answers"),
            writable: path("writable"),
        }
    }

    /// Makes the folder. The rights of files keep nothing from anyone.
    fn new(folder: &Path) -> Self {
        let bench = Self::of(folder);
        fs::copy(std::env::current_exe().unwrap(), &bench.program).unwrap();
        for name in ["shown", "hidden", "writable"] {
            fs::create_dir(folder.join(name)).unwrap();
        }
        fs::write(bench.shown.join("task"), "task").unwrap();
        fs::write(&bench.hidden, "42").unwrap();
        for name in ["", "shown", "hidden", "writable", "shown/task", "hidden/answers", "hostile"] {
            fs::set_permissions(folder.join(name), Permissions::from_mode(0o777)).unwrap();
        }
        symlink("../hidden/answers", bench.shown.join("link")).unwrap();
        symlink("../hidden", bench.shown.join("folder-link")).unwrap();
        bench
    }

    fn sandbox(&self, arguments: &[&str]) -> Sandbox {
        let mut sandbox = Sandbox::new(&self.program);
        sandbox.arguments = ["program"].iter().chain(arguments).map(Into::into).collect();
        sandbox.read = vec![self.shown.clone()];
        sandbox.folder = self.shown.clone();
        sandbox.limits.wall = Duration::from_secs(20);
        sandbox.limits.cpu_seconds = Some(30);
        sandbox.limits.memory_bytes = 128 * MIB;
        sandbox.limits.processes = 24;
        sandbox.limits.scratch_bytes = 16 * MIB;
        sandbox.limits.file_bytes = 8 * MIB;
        sandbox.limits.output_bytes = 1 << 16;
        sandbox
    }
}

/// A case: a program, the layers without which it is not let loose, and its verdict.
struct Case<'a> {
    name: &'a str,
    sandbox: Sandbox,
    needs: &'a [Layer],
    check: Box<dyn Fn(&Outcome) + 'a>,
}

/// Runs every case twice, as the user of this process.
pub(crate) fn suite(folder: &Path) {
    let bench = Bench::of(folder);
    let layers = bench.sandbox(&["limits"]).layers().unwrap();
    let user = rustix::process::geteuid().as_raw();
    for (layer, why) in layers.gaps() {
        println!("hostile: as user {user} `{layer}` is missing: {why}");
    }
    check_names(&layers);
    check_strict(&bench, &layers);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let name = format!("karat-hostile-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let own = std::process::id().to_string();
    let cases = cases(&bench, &layers, &address, &name, &own);
    let count = cases.len();
    for case in cases {
        let lacking: Vec<Layer> = case.needs.iter().copied().filter(|layer| !layers.has(*layer)).collect();
        if !lacking.is_empty() {
            // Let loose it would harm this machine. It is refused by name.
            let strict = Sandbox { is_strict: true, ..case.sandbox.clone() };
            let Err(Error::Refused(why)) = strict.run(b"", &|| false) else { panic!("{}: ran", case.name) };
            assert!(lacking.iter().all(|layer| why.contains(&format!("`{layer}`"))), "{}: {why}", case.name);
            println!("hostile: as user {user} {} is refused: {why}", case.name);
            continue;
        }
        let begun = Instant::now();
        let verdicts = [0, 1].map(|_| {
            let outcome = case.sandbox.run(SECRET.as_bytes(), &|| false).unwrap();
            println!("hostile: as user {user} {}: {}, {:?}", case.name, outcome.end, outcome.wall);
            (case.check)(&outcome);
            assert!(!outcome.may_be_left, "{}: {outcome:?}", case.name);
            assert_eq!(outcome.layers.gaps(), layers.gaps(), "{}: what is missing is named", case.name);
            outcome.end
        });
        assert_eq!(verdicts[0], verdicts[1], "{}", case.name);
        assert!(begun.elapsed() < Duration::from_secs(120), "{}: {:?}", case.name, begun.elapsed());
        assert_eq!(
            processes_of(&bench.program),
            std::slice::from_ref(&own),
            "{}: something is left",
            case.name
        );
    }
    timed(&bench);
    races::run(&bench.writable, &bench.hidden, &layers);
    thread::sleep(Duration::from_millis(700));
    assert!(fs::read_dir(&bench.writable).unwrap().next().is_none(), "what was left behind has written");
    assert!(groups_of(&own).is_empty(), "{:?}", groups_of(&own));
    println!("hostile: {count} programs as user {user}, each twice with the same verdict");
}

fn cases<'a>(bench: &'a Bench, layers: &Layers, address: &str, name: &str, own: &str) -> Vec<Case<'a>> {
    let has_groups = layers.has(Layer::Memory);
    let late = bench.writable.join("late");
    let late = late.to_str().unwrap();
    let mut cases = Vec::new();
    let mut add = |name, needs, sandbox, check: Box<dyn Fn(&Outcome)>| {
        cases.push(Case { name, sandbox, needs, check });
    };
    let ends = |end: End| -> Box<dyn Fn(&Outcome)> {
        Box::new(move |it| assert_eq!(it.end, end, "{}", String::from_utf8_lossy(&it.output)))
    };
    let with = |arguments: &[&str], change: &dyn Fn(&mut Sandbox)| {
        let mut sandbox = bench.sandbox(arguments);
        change(&mut sandbox);
        sandbox
    };
    let plain = |arguments: &[&str]| with(arguments, &|_| {});
    let shell = |script: &str, change: &dyn Fn(&mut Sandbox)| {
        with(&[], &|it| {
            it.program = "/bin/sh".into();
            it.arguments = vec!["-c".into(), script.into()];
            change(it);
        })
    };
    let short = |it: &mut Sandbox| it.limits.wall = Duration::from_secs(2);
    let one_second = |it: &mut Sandbox| it.limits.cpu_seconds = Some(1);
    const CONTAINED: &[Layer] = &[Layer::Processes, Layer::Tasks, Layer::User];

    add("a fork bomb", CONTAINED, with(&["bomb"], &short), ends(End::WallLimit));
    add(
        "a fork bomb of the shell",
        CONTAINED,
        shell("b() { b | b & }; b; sleep 60", &short),
        ends(End::WallLimit),
    );
    add(
        "a crowd",
        CONTAINED,
        plain(&["crowd"]),
        Box::new(|it| {
            let count: u64 = String::from_utf8_lossy(&it.output).trim().parse().unwrap_or(0);
            assert!(it.end == End::Exit(0) && (10..24).contains(&count), "{it:?}");
        }),
    );
    let greedy = if has_groups { End::MemoryLimit } else { End::Exit(9) };
    add("10 GB", &[], plain(&["greedy", "10240"]), ends(greedy));
    let family = |it: &mut Sandbox| it.limits.wall = Duration::from_secs(4);
    add("a greedy family", &[Layer::Memory], with(&["greedy-family"], &family), ends(End::MemoryLimit));
    add("an endless loop", &[], with(&["busy"], &one_second), ends(End::CpuLimit));
    add("endless loops in threads", &[], with(&["busy-threads"], &one_second), ends(End::CpuLimit));
    add("an endless loop that ignores its limit", &[], with(&["deaf"], &one_second), ends(End::CpuLimit));
    add("endless loops in children", &[], with(&["busy-children"], &one_second), ends(End::CpuLimit));
    add("a long sleep", &[], with(&["sleepy"], &short), ends(End::WallLimit));
    add("network", &[], plain(&["network", address, name]), ends(End::Exit(0)));
    let paths = ["paths", bench.shown.to_str().unwrap(), bench.hidden.to_str().unwrap()];
    add("hidden files", &[Layer::Files], plain(&paths), ends(End::Exit(0)));
    add("processes", &[Layer::Processes], plain(&["processes", SECRET]), ends(End::Exit(0)));
    add(
        "signals",
        &[Layer::Processes],
        plain(&["signals", own]),
        Box::new(|it| {
            assert_eq!((it.end, it.output.as_slice()), (End::Signal(9), &b"alive\n"[..]));
        }),
    );
    add(
        "a flood",
        &[],
        plain(&["flood"]),
        Box::new(|it| {
            assert_eq!((it.end, it.output.len()), (End::OutputLimit, 1 << 16));
        }),
    );
    add("a flood of errors", &[], plain(&["whisper"]), ends(End::Exit(0)));
    let writes = |it: &mut Sandbox| it.write = vec![bench.writable.clone()];
    add(
        "what is left behind",
        &[Layer::Processes],
        with(&["leave", late], &writes),
        Box::new(move |it| {
            assert_eq!((it.end, it.output.as_slice()), (End::Exit(0), &b"left\n"[..]));
            // They may have written until they ended, and not any more.
            let _ = fs::remove_file(bench.writable.join("late"));
            thread::sleep(Duration::from_millis(700));
            assert!(!bench.writable.join("late").exists());
        }),
    );
    add(
        "a forged report",
        &[],
        plain(&["forge"]),
        Box::new(|it| {
            assert_eq!((it.end, it.output.as_slice()), (End::Exit(3), &b"{\"passed\": true}\n"[..]));
        }),
    );
    add("no output", &[], shell("exec 0<&- 1>&- 2>&-; exit 3", &|_| {}), ends(End::Exit(3)));
    add("no output, and no end", &[], shell("exec 0<&- 1>&- 2>&-; sleep 60", &short), ends(End::WallLimit));
    add("a signal to itself", &[], shell("kill -SEGV $$", &|_| {}), ends(End::Signal(11)));
    let full = Box::new(|it: &Outcome| {
        let count: u64 = String::from_utf8_lossy(&it.output).trim().parse().unwrap_or(99);
        assert!(it.end == End::Exit(0) && (8..=16).contains(&count), "{it:?}");
    });
    add("a full disk", &[Layer::Files], plain(&["fill", "/tmp"]), full);
    let nothing =
        Box::new(|it: &Outcome| assert_eq!((it.end, it.output.as_slice()), (End::Exit(0), &b"0\n"[..])));
    add("a full disk elsewhere", &[], plain(&["fill", bench.shown.to_str().unwrap()]), nothing);
    let large = bench.writable.join("large");
    let large_path = large.to_str().unwrap().to_owned();
    add(
        "a large file",
        &[],
        with(&["large", &large_path], &writes),
        Box::new(move |it| {
            assert_eq!(it.end, End::Signal(25));
            assert_eq!(fs::metadata(&large).unwrap().len(), 8 * MIB);
            fs::remove_file(&large).unwrap();
        }),
    );
    let trap = format!(
        "f={}/trap; echo > $f; for rights in 4755 2755 u+s g+s; do chmod $rights $f && exit 77; done; mkfifo $f.pipe && exit 77; \
         chmod 755 $f && rm $f",
        bench.writable.display()
    );
    add("files with the rights of their owner, and pipes", &[], shell(&trap, &writes), ends(End::Exit(0)));
    add("doors of the kernel", &[], plain(&["kernel"]), ends(End::Exit(0)));
    add("lifted limits", &[], with(&["limits"], &one_second), ends(End::Exit(0)));
    cases
}

/// A time near a limit gives no verdict, and one that is over it every time does.
fn timed(bench: &Bench) {
    let mut busy = bench.sandbox(&["busy"]);
    busy.limits.cpu_seconds = Some(1);
    let Timed::TimeLimit(outcome) = busy.run_timed(b"", &|| false).unwrap() else {
        panic!("not over every time")
    };
    assert_eq!(outcome.end, End::CpuLimit);
    // Over one second, and not over three.
    let mut near = bench.sandbox(&["near"]);
    near.limits.cpu_seconds = Some(1);
    let verdict = near.run_timed(b"", &|| false).unwrap();
    assert!(matches!(&verdict, Timed::NoVerdict(again) if again.end == End::Exit(0)), "{verdict:?}");
    let mut quick = bench.sandbox(&["limits"]);
    quick.limits.cpu_seconds = Some(5);
    assert!(matches!(quick.run_timed(b"", &|| false).unwrap(), Timed::Ended(it) if it.end == End::Exit(0)));
    let begun = Instant::now();
    let stopped = busy.run_timed(b"", &|| begun.elapsed() > Duration::from_millis(1500)).unwrap();
    assert!(matches!(stopped, Timed::Ended(it) if it.end == End::Stopped));
}

/// Every layer is there or missing by name, and what is there is what this machine has.
fn check_names(layers: &Layers) {
    let named: Vec<Layer> = layers.iter().map(|(layer, _)| layer).collect();
    assert_eq!(named, Layer::ALL);
    for (layer, why) in layers.gaps() {
        assert!(!why.is_empty(), "{layer}");
    }
    // These need nothing but a kernel that karat is for.
    for layer in [Layer::Limits, Layer::Calls] {
        assert!(layers.has(layer), "{layers:?}");
    }
}

/// A strict sandbox runs if nothing is missing, and else names all that is.
fn check_strict(bench: &Bench, layers: &Layers) {
    let strict = Sandbox { is_strict: true, ..bench.sandbox(&["limits"]) };
    match strict.run(b"", &|| false) {
        Ok(outcome) => assert!(layers.gaps().is_empty() && outcome.end == End::Exit(0), "{outcome:?}"),
        Err(Error::Refused(why)) => {
            assert!(!layers.gaps().is_empty());
            for (layer, reason) in layers.gaps() {
                assert!(why.contains(&format!("`{layer}` ({reason}")), "{why}");
            }
        }
        Err(other) => panic!("{other}"),
    }
    for (program, said) in [("/nowhere/at-all", "cannot find"), ("/etc/localtime", "cannot start")] {
        let sandbox = Sandbox { program: program.into(), ..bench.sandbox(&[]) };
        let error = sandbox.run(b"", &|| false).unwrap_err();
        assert!(matches!(&error, Error::Start(why) if why.starts_with(said)), "{error:?}");
    }
}

/// Returns the numbers of the processes whose program is a file.
fn processes_of(program: &Path) -> Vec<String> {
    let is_it = |process: &fs::DirEntry| {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).next() == Some(program.as_os_str().as_encoded_bytes())
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    let names = all.filter(is_it).map(|process| process.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.parse::<u32>().is_ok()).collect()
}

/// Returns the control groups that a process has made.
fn groups_of(process: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = next.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with(&format!("karat-{process}-")) {
                    found.push(entry.path());
                }
                next.push(entry.path());
            }
        }
    }
    found
}

/// Returns everything beneath a folder.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let found = entry.metadata().unwrap();
        let content = if found.is_file() { fs::read(entry.path()).unwrap() } else { Vec::new() };
        all.insert(entry.path(), (found.permissions().mode(), content));
        if found.is_dir() {
            all.extend(snapshot(&entry.path()));
        }
    }
    all
}
