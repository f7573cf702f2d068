//! Filters of system calls (seccomp): what a program of others may not ask the kernel for, and the little that a process
//! asks for that has confined itself.

use std::collections::BTreeMap;

use libc::{EPERM, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Doors that are closed beside those of the filter, because another layer is missing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extra {
    /// Any socket but those of this machine (`AF_UNIX`).
    pub sockets: bool,
    /// Those of this machine as well: another tree of files would have none.
    pub unix_sockets: bool,
    /// Shared memory and queues.
    pub ipc: bool,
    /// Files in memory, which no limit would count.
    pub memory_files: bool,
}

/// Calls that no ordinary program needs: other processes, mounts, modules, keys, clocks, namespaces, and parts of the kernel
/// with a history of faults.
const DENIED: &[c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_mbind,
    libc::SYS_memfd_secret,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_nfsservctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_personality,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_set_mempolicy,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[c_long] =
    &[libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_kexec_file_load, libc::SYS_modify_ldt, libc::SYS_uselib];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[c_long] = &[];

const IPC: &[c_long] = &[libc::SYS_shmget, libc::SYS_msgget, libc::SYS_semget, libc::SYS_mq_open];

/// Calls that change the rights of a file, and the argument that has them.
const RIGHTS: &[(c_long, u8)] = &[(libc::SYS_fchmod, 1), (libc::SYS_fchmodat, 2), (libc::SYS_fchmodat2, 2)];
#[cfg(target_arch = "x86_64")]
const RIGHTS_HERE: &[(c_long, u8)] = &[(libc::SYS_chmod, 1), (libc::SYS_creat, 1)];
#[cfg(not(target_arch = "x86_64"))]
const RIGHTS_HERE: &[(c_long, u8)] = &[];

/// Flags of `clone` that make namespaces.
const NEW_NAMESPACES: [i32; 8] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWTIME,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Makes the filters for a program of others. What they deny fails, and the program goes on.
///
/// # Errors
///
/// If seccomp does not know this architecture.
pub(crate) fn for_programs(extra: Extra) -> Result<Vec<BpfProgram>, String> {
    let mut rules: Rules = DENIED.iter().chain(DENIED_HERE).map(|&call| always(call)).collect();
    let clone = NEW_NAMESPACES.iter().map(|&flag| has_bits(0, flag)).collect::<Result<Vec<_>, String>>()?;
    rules.insert(libc::SYS_clone, clone);
    // Characters that are typed into a terminal of someone else.
    let typing = [libc::TIOCSTI, libc::TIOCLINUX].iter().map(|&what| same(1, what as u32));
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<Vec<_>, String>>()?);
    // Where a program may write, no file is left that runs with the rights of its owner, or keeps waiting who opens it.
    for bit in [libc::S_ISUID, libc::S_ISGID].map(|bit| bit as i32) {
        for &(call, argument) in RIGHTS.iter().chain(RIGHTS_HERE) {
            rules.entry(call).or_default().push(has_bits(argument, bit)?);
        }
        for made in [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY] {
            let new = |flags: u8| rule(vec![bits(flags, made)?, bits(flags + 1, bit)?]);
            rules.entry(libc::SYS_openat).or_default().push(new(2)?);
            #[cfg(target_arch = "x86_64")]
            rules.entry(libc::SYS_open).or_default().push(new(1)?);
        }
    }
    rules.extend([always(libc::SYS_mknodat)]);
    #[cfg(target_arch = "x86_64")]
    rules.extend([always(libc::SYS_mknod)]);
    if extra.unix_sockets {
        rules.extend([always(libc::SYS_socket)]);
    } else if extra.sockets {
        rules.insert(libc::SYS_socket, vec![other(0, libc::AF_UNIX as u32)?]);
    }
    if extra.ipc {
        rules.extend(IPC.iter().map(|&call| always(call)));
    }
    if extra.memory_files {
        rules.extend([always(libc::SYS_memfd_create)]);
    }
    Ok(vec![unknown()?, compile(rules, SeccompAction::Allow, SeccompAction::Errno(EPERM as u32))?])
}

/// Calls of a process that computes, reads what it may, and writes to what is open.
const ALLOWED: &[c_long] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    // Refused as unknown by the other filter.
    libc::SYS_clone3,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    // Of files in memory; no other is open for writing.
    libc::SYS_ftruncate,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_getuid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_memfd_create,
    libc::SYS_mincore,
    libc::SYS_mlock,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munlock,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_newfstatat,
    libc::SYS_openat2,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_sigaltstack,
    libc::SYS_statx,
    libc::SYS_sysinfo,
    libc::SYS_timer_create,
    libc::SYS_timer_delete,
    libc::SYS_timer_settime,
    libc::SYS_uname,
    libc::SYS_write,
    libc::SYS_writev,
];

/// Older forms of calls, on architectures that have them.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[c_long] = &[
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_dup2,
    libc::SYS_epoll_wait,
    libc::SYS_getrlimit,
    libc::SYS_lstat,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_stat,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[c_long] = &[];

/// Makes the filters for the process `own`, which confines itself: nothing but computing, reading and threads.
///
/// # Errors
///
/// If seccomp does not know this architecture.
pub(crate) fn for_itself(own: u32) -> Result<Vec<BpfProgram>, String> {
    let mut rules: Rules = ALLOWED.iter().chain(ALLOWED_HERE).map(|&call| always(call)).collect();
    // To read: no flag that writes, makes, cuts or has no name.
    let writes = libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND;
    let writes = (writes | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u32;
    rules.insert(libc::SYS_openat, vec![masked(2, writes, 0)?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, vec![masked(1, writes, 0)?]);
    // Threads, and no processes.
    let thread = (libc::CLONE_THREAD | libc::CLONE_VM) as u32;
    rules.insert(libc::SYS_clone, vec![masked(0, thread, thread)?]);
    // Signals to itself, as of a thread that panics.
    rules.insert(libc::SYS_tgkill, vec![same(0, own)?]);
    rules.insert(libc::SYS_kill, vec![same(0, own)?]);
    // Its own limits, to look at.
    rules.insert(libc::SYS_prlimit64, vec![rule(vec![equals(0, 0)?, is_null(2)?])?]);
    let names = [libc::PR_SET_NAME, libc::PR_GET_NAME, PR_SET_VMA, libc::PR_GET_DUMPABLE];
    let names = names.iter().map(|&what| same(0, what as u32));
    rules.insert(libc::SYS_prctl, names.collect::<Result<Vec<_>, String>>()?);
    Ok(vec![unknown()?, compile(rules, SeccompAction::Errno(EPERM as u32), SeccompAction::Allow)?])
}

/// Names of areas of memory.
const PR_SET_VMA: i32 = 0x5356_4d41;

/// Calls that are answered as by an old kernel, so that libraries use the form whose flags can be seen.
fn unknown() -> Result<BpfProgram, String> {
    let rules = [libc::SYS_clone3, libc::SYS_openat2].iter().map(|&call| always(call)).collect();
    let no_such_call = libc::ENOSYS as u32;
    let mut program = compile(rules, SeccompAction::Allow, SeccompAction::Errno(no_such_call))?;
    if cfg!(target_arch = "x86_64") {
        // Every call has a second number there, for pointers of 32 bits, which no list names.
        let instruction = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
        let beyond = [
            instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
            instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, 0x4000_0000),
            instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | no_such_call),
        ];
        program.splice(0..0, beyond);
    }
    Ok(program)
}

fn compile(rules: Rules, mismatch: SeccompAction, hit: SeccompAction) -> Result<BpfProgram, String> {
    let architecture = std::env::consts::ARCH.try_into().map_err(|error| format!("{error}"))?;
    let filter = SeccompFilter::new(rules, mismatch, hit, architecture).map_err(|error| error.to_string())?;
    filter.try_into().map_err(|error: seccompiler::BackendError| error.to_string())
}

fn always(call: c_long) -> (i64, Vec<SeccompRule>) {
    (call, Vec::new())
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|error| error.to_string())
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        .map_err(|error| error.to_string())
}

fn equals(argument: u8, value: u32) -> Result<SeccompCondition, String> {
    condition(argument, SeccompCmpOp::Eq, u64::from(value))
}

fn is_null(argument: u8) -> Result<SeccompCondition, String> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)
        .map_err(|error| error.to_string())
}

fn same(argument: u8, value: u32) -> Result<SeccompRule, String> {
    rule(vec![equals(argument, value)?])
}

fn other(argument: u8, value: u32) -> Result<SeccompRule, String> {
    rule(vec![condition(argument, SeccompCmpOp::Ne, u64::from(value))?])
}

fn masked(argument: u8, mask: u32, value: u32) -> Result<SeccompRule, String> {
    rule(vec![condition(argument, SeccompCmpOp::MaskedEq(u64::from(mask)), u64::from(value))?])
}

fn bits(argument: u8, bits: i32) -> Result<SeccompCondition, String> {
    let bits = u64::from(bits as u32);
    condition(argument, SeccompCmpOp::MaskedEq(bits), bits)
}

fn has_bits(argument: u8, bits: i32) -> Result<SeccompRule, String> {
    rule(vec![self::bits(argument, bits)?])
}

#[cfg(test)]
mod tests;
