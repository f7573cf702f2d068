//! The only `unsafe` code of the crate: system calls that no library wraps, and what happens between `clone` and `exec`.
#![allow(unsafe_code, reason = "calls of the kernel")]

/// Returns the version of Landlock of the kernel, or a number below 1 if it has none.
pub(crate) fn landlock_version() -> i32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: without a structure, and with this flag, the call only returns a number.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, VERSION)
    };
    i32::try_from(version).unwrap_or(0)
}
