//! Answers of the kernel by these filters, computed as the kernel does it.

use libc::{SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS};

use super::*;

const OWN: u32 = 4242;
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: u32 = 0xC000_00F3;
const DENIED_ANSWER: u32 = SECCOMP_RET_ERRNO | EPERM as u32;
const UNKNOWN_ANSWER: u32 = SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// Runs one filter on a call.
fn answer(program: &BpfProgram, architecture: u32, call: u32, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend(call.to_ne_bytes());
    data.extend(architecture.to_ne_bytes());
    data.extend(0_u64.to_ne_bytes());
    arguments.iter().for_each(|argument| data.extend(argument.to_ne_bytes()));
    let (mut register, mut at) = (0_u32, 0_usize);
    loop {
        let step = &program[at];
        let jump = |is_met: bool| usize::from(if is_met { step.jt } else { step.jf });
        at += 1;
        match u32::from(step.code) {
            code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                let from = step.k as usize;
                register = u32::from_ne_bytes(data[from..from + 4].try_into().unwrap());
            }
            code if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K => register &= step.k,
            code if code == libc::BPF_JMP | libc::BPF_JA => at += step.k as usize,
            code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => at += jump(register == step.k),
            code if code == libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K => at += jump(register >= step.k),
            code if code == libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K => at += jump(register > step.k),
            code if code == libc::BPF_RET | libc::BPF_K => return step.k,
            code => panic!("instruction {code:#x}"),
        }
    }
}

/// Runs all filters: the kernel takes the strictest answer, and among errors that of the newest filter.
fn verdict(filters: &[BpfProgram], call: c_long, arguments: [u64; 6]) -> u32 {
    let answers = filters.iter().map(|it| answer(it, ARCHITECTURE, call as u32, arguments));
    answers.min_by_key(|answer| answer & 0xFFFF_0000).unwrap()
}

const NONE: [u64; 6] = [0; 6];

fn first(value: u64) -> [u64; 6] {
    [value, 0, 0, 0, 0, 0]
}

#[test]
fn doors_that_no_program_needs_are_closed_and_the_others_are_open() {
    let filters = for_programs(Extra { sockets: true, ..Extra::default() }).unwrap();
    for &call in DENIED.iter().chain(DENIED_HERE) {
        assert_eq!(verdict(&filters, call, NONE), DENIED_ANSWER, "{call}");
        assert_eq!(verdict(&filters, call, [u64::MAX; 6]), DENIED_ANSWER, "{call}");
    }
    let open = [
        libc::SYS_read,
        libc::SYS_openat,
        libc::SYS_execve,
        libc::SYS_mmap,
        libc::SYS_wait4,
        libc::SYS_socketpair,
        libc::SYS_shmget,
        libc::SYS_memfd_create,
    ];
    for call in open {
        assert_eq!(verdict(&filters, call, NONE), SECCOMP_RET_ALLOW, "{call}");
    }
    assert_eq!(verdict(&filters, libc::SYS_clone3, NONE), UNKNOWN_ANSWER);
    for family in 0..64 {
        let expected = if family == libc::AF_UNIX { SECCOMP_RET_ALLOW } else { DENIED_ANSWER };
        assert_eq!(verdict(&filters, libc::SYS_socket, first(family as u64)), expected, "{family}");
    }
    assert_eq!(verdict(&filters, libc::SYS_ioctl, [0, libc::TIOCSTI, 0, 0, 0, 0]), DENIED_ANSWER);
    // The kernel looks at 32 bits of a command.
    let wide = libc::TIOCSTI | 1 << 40;
    assert_eq!(verdict(&filters, libc::SYS_ioctl, [0, wide, 0, 0, 0, 0]), DENIED_ANSWER);
    assert_eq!(verdict(&filters, libc::SYS_ioctl, [0, libc::TCGETS, 0, 0, 0, 0]), SECCOMP_RET_ALLOW);
    // All sockets of this machine, shared memory and files in memory, where other layers are missing.
    let more = Extra { sockets: true, unix_sockets: true, ipc: true, memory_files: true };
    let filters = for_programs(more).unwrap();
    for call in [libc::SYS_socket, libc::SYS_shmget, libc::SYS_mq_open, libc::SYS_memfd_create] {
        assert_eq!(verdict(&filters, call, first(libc::AF_UNIX as u64)), DENIED_ANSWER, "{call}");
    }
    let filters = for_programs(Extra::default()).unwrap();
    assert_eq!(verdict(&filters, libc::SYS_socket, first(libc::AF_INET as u64)), SECCOMP_RET_ALLOW);
}

/// Any flags of `clone`: refused if and only if a namespace is among them.
#[test]
fn a_process_can_be_made_and_a_namespace_cannot() {
    let filters = for_programs(Extra::default()).unwrap();
    let spaces = NEW_NAMESPACES.iter().fold(0_u32, |all, flag| all | *flag as u32);
    let mut flags = 1_u64;
    for _ in 0..5000 {
        flags = flags.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Few bits, so that there are both kinds.
        let some = (flags >> 33) as u32 & (flags >> 7) as u32 & (flags >> 21) as u32;
        let expected = if some & spaces == 0 { SECCOMP_RET_ALLOW } else { DENIED_ANSWER };
        assert_eq!(verdict(&filters, libc::SYS_clone, first(u64::from(some))), expected, "{some:#x}");
    }
}

#[test]
fn calls_of_another_architecture_are_no_way_around() {
    for filters in [for_programs(Extra::default()).unwrap(), for_itself(OWN).unwrap()] {
        for call in 0..600_u32 {
            let answers = filters.iter().map(|it| answer(it, 0x4000_0003, call, NONE));
            assert_eq!(answers.min_by_key(|it| it & 0xFFFF_0000), Some(SECCOMP_RET_KILL_PROCESS), "{call}");
        }
        #[cfg(target_arch = "x86_64")]
        for call in DENIED.iter().chain(DENIED_HERE) {
            // The second number of a call.
            let found = verdict(&filters, call | 0x4000_0000, NONE);
            assert_eq!(found & 0xFFFF_0000, SECCOMP_RET_ERRNO, "{call}");
        }
    }
}

#[test]
fn a_process_that_confines_itself_may_do_what_is_listed_and_nothing_else() {
    let filters = for_itself(OWN).unwrap();
    let conditional = [
        libc::SYS_openat,
        libc::SYS_clone,
        libc::SYS_clone3,
        libc::SYS_openat2,
        libc::SYS_tgkill,
        libc::SYS_kill,
        libc::SYS_prlimit64,
        libc::SYS_prctl,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open,
    ];
    for call in (0..600).filter(|call| !conditional.contains(call)) {
        let is_listed = ALLOWED.contains(&call) || ALLOWED_HERE.contains(&call);
        let expected = if is_listed { SECCOMP_RET_ALLOW } else { DENIED_ANSWER };
        assert_eq!(verdict(&filters, call, [u64::MAX; 6]), expected, "{call}");
    }
    let open = |flags: i32| verdict(&filters, libc::SYS_openat, [0, 0, flags as u64, 0, 0, 0]);
    for flags in [libc::O_RDONLY, libc::O_CLOEXEC, libc::O_DIRECTORY | libc::O_NOFOLLOW, libc::O_PATH] {
        assert_eq!(open(flags), SECCOMP_RET_ALLOW, "{flags:#x}");
    }
    let writing =
        [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC, libc::O_APPEND, libc::O_TMPFILE];
    for flags in writing {
        assert_eq!(open(flags | libc::O_CLOEXEC), DENIED_ANSWER, "{flags:#x}");
    }
    let thread = (libc::CLONE_THREAD | libc::CLONE_VM | libc::CLONE_FILES | libc::CLONE_SIGHAND) as u64;
    assert_eq!(verdict(&filters, libc::SYS_clone, first(thread)), SECCOMP_RET_ALLOW);
    for flags in
        [0, libc::SIGCHLD, libc::CLONE_VM | libc::CLONE_VFORK, libc::CLONE_THREAD, libc::CLONE_NEWUSER]
    {
        assert_eq!(verdict(&filters, libc::SYS_clone, first(flags as u64)), DENIED_ANSWER, "{flags:#x}");
    }
    assert_eq!(verdict(&filters, libc::SYS_clone3, first(thread)), UNKNOWN_ANSWER);
    for (process, expected) in [(OWN, SECCOMP_RET_ALLOW), (1, DENIED_ANSWER), (u32::MAX, DENIED_ANSWER)] {
        for call in [libc::SYS_tgkill, libc::SYS_kill] {
            assert_eq!(verdict(&filters, call, first(u64::from(process))), expected, "{process}");
        }
    }
    assert_eq!(verdict(&filters, libc::SYS_prlimit64, [0, 7, 0, 1, 0, 0]), SECCOMP_RET_ALLOW);
    assert_eq!(verdict(&filters, libc::SYS_prlimit64, [0, 7, 1, 0, 0, 0]), DENIED_ANSWER);
    assert_eq!(verdict(&filters, libc::SYS_prlimit64, [1, 7, 0, 1, 0, 0]), DENIED_ANSWER);
    assert_eq!(verdict(&filters, libc::SYS_prctl, first(libc::PR_SET_NAME as u64)), SECCOMP_RET_ALLOW);
    assert_eq!(verdict(&filters, libc::SYS_prctl, first(libc::PR_SET_DUMPABLE as u64)), DENIED_ANSWER);
}
