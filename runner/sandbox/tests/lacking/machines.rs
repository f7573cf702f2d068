//! The machines: what they refuse, and what must be missing there.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use karat_sandbox::{End, Error, Layer, Sandbox};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

const ORDINARY: u32 = 65534;
const EPERM: i32 = libc::EPERM;
const ENOSYS: i32 = libc::ENOSYS;

/// A call that is refused, with the number of the error; if there is a mask, only with those bits of an argument.
type Refused = (i64, i32, Option<(u8, u64)>);

/// A machine: its name, what it refuses, and the layers that must be missing there.
struct Machine {
    name: &'static str,
    refused: Vec<Refused>,
    missing: &'static [Layer],
    /// Layers that root alone has without namespaces.
    missing_for_users: &'static [Layer],
}

const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];
const OF_NAMESPACES: &[Layer] = &[Layer::Processes, Layer::Files, Layer::Network, Layer::Ipc];

fn always(calls: &[i64], number: i32) -> Vec<Refused> {
    calls.iter().map(|&call| (call, number, None)).collect()
}

fn no_namespaces() -> Vec<Refused> {
    let flags = NAMESPACES.iter().map(|&flag| (libc::SYS_clone, EPERM, Some((0, flag as u64))));
    let mut refused: Vec<Refused> = flags.collect();
    refused.extend(always(&[libc::SYS_unshare, libc::SYS_setns], EPERM));
    refused.extend(always(&[libc::SYS_clone3], ENOSYS));
    refused
}

fn no_mounts(number: i32) -> Vec<Refused> {
    let newer = [libc::SYS_open_tree, libc::SYS_move_mount, libc::SYS_mount_setattr];
    let older = [libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root];
    always(&newer, number).into_iter().chain(always(&older, EPERM)).collect()
}

fn no_landlock(number: i32) -> Vec<Refused> {
    let calls =
        [libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule, libc::SYS_landlock_restrict_self];
    always(&calls, number)
}

fn no_filters() -> Vec<Refused> {
    vec![(libc::SYS_prctl, libc::EINVAL, Some((0, libc::PR_SET_SECCOMP as u64)))]
}

fn no_limits() -> Vec<Refused> {
    always(&[libc::SYS_prlimit64, libc::SYS_setrlimit], EPERM)
}

fn machines() -> Vec<Machine> {
    let machine =
        |name, refused, missing, missing_for_users| Machine { name, refused, missing, missing_for_users };
    let all = [no_namespaces(), no_mounts(EPERM), no_landlock(ENOSYS), no_filters(), no_limits()].concat();
    let users = vec![(libc::SYS_clone, libc::ENOSPC, Some((0, libc::CLONE_NEWUSER as u64)))];
    const ALSO: &[Layer] = &[Layer::User];
    const USERS: &[Layer] = &[Layer::User, Layer::Processes, Layer::Files, Layer::Network, Layer::Ipc];
    const ALL: &[Layer] = &[
        Layer::Processes,
        Layer::Files,
        Layer::Landlock,
        Layer::Network,
        Layer::Ipc,
        Layer::Limits,
        Layer::Calls,
    ];
    // An old kernel: these calls are newer than what a layer needs, and none of them is missed.
    let newer = [libc::SYS_openat2, libc::SYS_close_range, libc::SYS_clone3, libc::SYS_faccessat2];
    vec![
        machine("nothing", Vec::new(), &[], &[]),
        machine("newer calls", always(&newer, ENOSYS), &[], &[]),
        machine("namespaces", no_namespaces(), OF_NAMESPACES, ALSO),
        machine("namespaces for users", users, &[], USERS),
        machine("mounts", no_mounts(EPERM), &[Layer::Files], &[]),
        machine("mounts by open file", no_mounts(ENOSYS)[..3].to_vec(), &[Layer::Files], &[]),
        machine("landlock", no_landlock(ENOSYS), &[Layer::Landlock], &[]),
        machine("landlock on its command line", no_landlock(libc::EOPNOTSUPP), &[Layer::Landlock], &[]),
        machine("filters", no_filters(), &[Layer::Calls], &[]),
        machine("limits", no_limits(), &[Layer::Limits], &[]),
        // The usual filter of a container: namespaces and mounts without their capability.
        machine("a container", [no_namespaces(), no_mounts(EPERM)].concat(), OF_NAMESPACES, ALSO),
        machine("everything", all, ALL, ALSO),
    ]
}

/// Looks at every machine, as every user that this one can be.
pub(crate) fn main() {
    let is_root = rustix::process::geteuid().is_root();
    let users: &[Option<u32>] = if is_root { &[None, Some(ORDINARY)] } else { &[None] };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("lacking");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
    for &user in users {
        let start = |what: &str, name: &str, at: &Path| {
            let mut command = Command::new(&program);
            command.args([what, name]).arg(at);
            if let Some(user) = user {
                command.uid(user).gid(user);
            }
            command
        };
        let mut baseline = None;
        for machine in machines() {
            let whole = folder.path().join("gaps");
            let _ = fs::remove_file(&whole);
            let status = start("machine", machine.name, &whole).status().unwrap();
            assert!(status.success(), "without {}, user {user:?}: {status}", machine.name);
            let found: BTreeMap<String, String> = fs::read_to_string(&whole)
                .unwrap()
                .lines()
                .map(|line| line.split_once(' ').unwrap())
                .map(|(layer, why)| (layer.to_owned(), why.to_owned()))
                .collect();
            let baseline = baseline.get_or_insert_with(|| found.clone());
            let is_user = user.is_some() || !is_root;
            let more = machine.missing_for_users.iter().filter(|_| is_user);
            let mut expected: Vec<String> =
                machine.missing.iter().chain(more).map(ToString::to_string).collect();
            expected.extend(baseline.keys().cloned());
            // Where neither is, the number of processes is not limited, unless a control group does it.
            if found.contains_key("tasks") && expected.iter().any(|it| it == "limits" || it == "user") {
                expected.push("tasks".to_owned());
            }
            expected.sort();
            expected.dedup();
            assert_eq!(
                found.keys().cloned().collect::<Vec<_>>(),
                expected,
                "without {}: {found:?}",
                machine.name
            );
            println!("lacking: without {}, user {user:?}: {found:?}", machine.name);
            killed(
                &program,
                &folder.path().join("beat"),
                &mut start("killed", machine.name, &folder.path().join("beat")),
            );
        }
        killed(
            &program,
            &folder.path().join("beat"),
            &mut start("killed", "walls", &folder.path().join("beat")),
        );
    }
}

/// Kills a process that runs a sandbox, and waits for the end of what runs in it.
fn killed(program: &Path, beat: &Path, command: &mut Command) {
    let _ = fs::remove_file(beat);
    let mut host = command.spawn().unwrap();
    let begun = Instant::now();
    while !beat.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{command:?} does not begin");
        thread::sleep(Duration::from_millis(5));
    }
    host.kill().unwrap();
    assert_eq!(host.wait().unwrap().signal(), Some(9));
    let begun = Instant::now();
    loop {
        let left = processes_with(program, beat);
        if left.is_empty() {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{command:?} leaves {left:?}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Returns the command lines of processes that name one of two files.
fn processes_with(program: &Path, beat: &Path) -> Vec<String> {
    let own = std::process::id().to_string();
    let all = fs::read_dir("/proc").unwrap().flatten().filter(|it| it.file_name().to_string_lossy() != own);
    let lines = all.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| [program, beat].iter().any(|path| line.contains(&*path.to_string_lossy())))
        .collect()
}

fn shell(script: &str) -> Sandbox {
    let mut sandbox = Sandbox::new("/bin/sh");
    sandbox.arguments = vec!["-c".into(), script.into()];
    sandbox.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    sandbox
}

/// Becomes a machine, and writes down what it lacks.
pub(crate) fn look(name: &str, to: &Path) {
    become_machine(name);
    let sandbox = shell("(setsid sleep 300 > /dev/null 2>&1 &); echo hello");
    let layers = sandbox.layers().unwrap();
    let outcome = sandbox.run(b"", &|| false).unwrap();
    assert_eq!((outcome.end, outcome.output.as_slice()), (End::Exit(0), &b"hello\n"[..]), "{outcome:?}");
    assert_eq!(outcome.layers.gaps(), layers.gaps(), "the outcome says what is missing");
    assert!(!outcome.may_be_left, "{outcome:?}");
    let strict = Sandbox { is_strict: true, ..sandbox.clone() };
    match strict.run(b"", &|| false) {
        Ok(outcome) => assert!(layers.gaps().is_empty() && outcome.end == End::Exit(0), "{outcome:?}"),
        Err(Error::Refused(why)) => {
            for (layer, reason) in layers.gaps() {
                assert!(why.contains(&format!("`{layer}` ({reason})")), "{why}");
            }
        }
        Err(other) => panic!("{other}"),
    }
    let timed = Sandbox { is_strict: false, ..shell("sleep 300") };
    let begun = Instant::now();
    let ended = timed.run(b"", &|| begun.elapsed() > Duration::from_millis(100)).unwrap();
    assert_eq!(ended.end, End::Stopped);
    let gaps: String = layers.gaps().iter().map(|(layer, why)| format!("{layer} {why}\n")).collect();
    fs::write(to, gaps).unwrap();
}

/// Becomes a machine, and runs a program that leaves its group and its session. `beat` is made when it has begun.
pub(crate) fn wait_to_be_killed(name: &str, beat: &Path) {
    let is_open = name == "walls";
    if !is_open {
        become_machine(name);
    }
    let beat = beat.to_str().unwrap();
    // The name of the file is in the command line of each of them.
    let mut sandbox = shell(&format!(
        "setsid sh -c 'sleep 300; : {beat}' & (sh -c 'sleep 300; : {beat}' &); echo begun; wait"
    ));
    sandbox.is_open = is_open;
    let begun = Instant::now();
    let is_made = std::cell::Cell::new(false);
    let stop = || {
        if begun.elapsed() > Duration::from_millis(300) && !is_made.replace(true) {
            fs::write(beat, "").unwrap();
        }
        false
    };
    let ended = sandbox.run(b"", &stop);
    panic!("it was not killed: {ended:?}");
}

fn become_machine(name: &str) {
    let machine = machines().into_iter().find(|machine| machine.name == name).unwrap();
    let mut by_number: BTreeMap<i32, BTreeMap<i64, Vec<SeccompRule>>> = BTreeMap::new();
    for (call, number, mask) in machine.refused {
        let rules = by_number.entry(number).or_default().entry(call).or_default();
        rules.extend(mask.map(|(argument, bits)| {
            // Numbers of `prctl` are compared, flags of `clone` are looked for.
            let operator =
                if call == libc::SYS_prctl { SeccompCmpOp::Eq } else { SeccompCmpOp::MaskedEq(bits) };
            let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, bits).unwrap();
            SeccompRule::new(vec![condition]).unwrap()
        }));
    }
    let made: Vec<BpfProgram> = by_number
        .into_iter()
        .map(|(number, rules)| {
            let refuse = SeccompAction::Errno(number.cast_unsigned());
            let architecture = std::env::consts::ARCH.try_into().unwrap();
            SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture).unwrap().try_into().unwrap()
        })
        .collect();
    for filter in made {
        seccompiler::apply_filter(&filter).unwrap();
    }
}
