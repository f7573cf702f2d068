//! WASI preview 1 for modules, in memory: arguments, standard streams, clock, random bytes, exit. There is no file.

use wasmtime::{Caller, Error, Extern, ExternType, Linker, Memory, Module, Result, Val};

use crate::host::{Host, Stop, burn};

/// The names under which modules import it.
pub const INTERFACES: [&str; 2] = ["wasi_snapshot_preview1", "wasi_unstable"];

/// The first argument: a program finds its own name there.
const ARGUMENTS: &[u8] = b"solution\0";

/// Error numbers of the interface.
mod errno {
    pub const SUCCESS: i32 = 0;
    pub const BADF: i32 = 8;
    pub const INVAL: i32 = 28;
    pub const NOSYS: i32 = 52;
    pub const SPIPE: i32 = 70;
}

/// Fuel of a call, beside what its bytes cost: as many instructions take about as long.
const CALL: u64 = 400;

/// Most parts of one read or write, and most subscriptions of one wait.
const PARTS_MAX: u32 = 1024;

type Context<'a> = Caller<'a, Host>;

/// Defines what a module imports of WASI. What is not known answers that it is not there.
///
/// # Errors
///
/// If the module imports something else, or with another type.
pub fn link(linker: &mut Linker<Host>, module: &Module) -> Result<()> {
    for interface in INTERFACES {
        define(linker, interface)?;
    }
    linker.allow_shadowing(false);
    for import in module.imports() {
        let ExternType::Func(ty) = import.ty() else { continue };
        if !INTERFACES.contains(&import.module()) || is_defined(import.name()) {
            continue;
        }
        let answers_number = ty.results().map(|ty| ty.is_i32()).eq([true]);
        // A program may import one function twice.
        linker.allow_shadowing(true);
        linker.func_new(import.module(), import.name(), ty, move |mut caller, _, results| {
            begin(&mut caller)?;
            match results.first_mut() {
                Some(result) if answers_number => *result = Val::I32(errno::NOSYS),
                _ => return Err(Error::from(Stop::Trap("call".to_owned()))),
            }
            Ok(())
        })?;
    }
    Ok(())
}

const DEFINED: [&str; 19] = [
    "args_get", "args_sizes_get", "clock_res_get", "clock_time_get", "environ_get", "environ_sizes_get",
    "fd_close", "fd_fdstat_get", "fd_fdstat_set_flags", "fd_prestat_dir_name", "fd_prestat_get", "fd_read",
    "fd_seek", "fd_tell", "fd_write", "poll_oneoff", "proc_exit", "random_get", "sched_yield",
];

fn is_defined(name: &str) -> bool {
    DEFINED.binary_search(&name).is_ok()
}

fn define(linker: &mut Linker<Host>, interface: &str) -> Result<()> {
    linker.func_wrap(interface, "proc_exit", |_: Context<'_>, status: i32| -> Result<()> {
        // The last call there is.
        Err(Error::from(Stop::Exit(status)))
    })?;
    linker
        .func_wrap(interface, "sched_yield", |mut caller: Context<'_>| plain(&mut caller, errno::SUCCESS))?;
    linker.func_wrap(interface, "args_sizes_get", |mut caller: Context<'_>, count: i32, size: i32| {
        begin(&mut caller)?;
        let memory = memory(&mut caller)?;
        put(memory, &mut caller, count, &1_u32.to_le_bytes())?;
        put(memory, &mut caller, size, &(ARGUMENTS.len() as u32).to_le_bytes())?;
        Ok(errno::SUCCESS)
    })?;
    linker.func_wrap(interface, "args_get", |mut caller: Context<'_>, pointers: i32, bytes: i32| {
        begin(&mut caller)?;
        let memory = memory(&mut caller)?;
        put(memory, &mut caller, pointers, &bytes.to_le_bytes())?;
        put(memory, &mut caller, bytes, ARGUMENTS)?;
        Ok(errno::SUCCESS)
    })?;
    linker.func_wrap(interface, "environ_sizes_get", |mut caller: Context<'_>, count: i32, size: i32| {
        begin(&mut caller)?;
        let memory = memory(&mut caller)?;
        put(memory, &mut caller, count, &[0; 4])?;
        put(memory, &mut caller, size, &[0; 4])?;
        Ok(errno::SUCCESS)
    })?;
    linker.func_wrap(interface, "environ_get", |mut caller: Context<'_>, _: i32, _: i32| {
        plain(&mut caller, errno::SUCCESS)
    })?;
    linker.func_wrap(interface, "clock_res_get", |mut caller: Context<'_>, _: i32, result: i32| {
        begin(&mut caller)?;
        let memory = memory(&mut caller)?;
        put(memory, &mut caller, result, &1_u64.to_le_bytes())?;
        Ok(errno::SUCCESS)
    })?;
    linker.func_wrap(
        interface,
        "clock_time_get",
        |mut caller: Context<'_>, clock: i32, _: i64, result: i32| {
            begin(&mut caller)?;
            let memory = memory(&mut caller)?;
            let host = caller.data_mut();
            let now = if clock == 0 { host.wall() } else { host.monotonic() };
            put(memory, &mut caller, result, &now.to_le_bytes())?;
            Ok(errno::SUCCESS)
        },
    )?;
    linker.func_wrap(interface, "random_get", |mut caller: Context<'_>, at: i32, count: i32| {
        begin(&mut caller)?;
        let memory = memory(&mut caller)?;
        burn(&mut caller, u64::from(count as u32))?;
        if u64::from(count as u32) > memory.data_size(&caller) as u64 {
            return Err(Error::from(Stop::Trap("memory".to_owned())));
        }
        let bytes = caller.data_mut().random(count as u32 as usize);
        put(memory, &mut caller, at, &bytes)?;
        Ok(errno::SUCCESS)
    })?;
    define_files(linker, interface)?;
    linker.func_wrap(
        interface,
        "poll_oneoff",
        |mut caller: Context<'_>, subscriptions: i32, events: i32, count: i32, result: i32| {
            poll(&mut caller, subscriptions, events, count as u32, result)
        },
    )?;
    Ok(())
}

fn define_files(linker: &mut Linker<Host>, interface: &str) -> Result<()> {
    let of_stream = |file: i32| if (0..=2).contains(&file) { errno::SUCCESS } else { errno::BADF };
    linker.func_wrap(interface, "fd_close", move |mut caller: Context<'_>, file: i32| {
        plain(&mut caller, of_stream(file))
    })?;
    linker.func_wrap(
        interface,
        "fd_fdstat_set_flags",
        move |mut caller: Context<'_>, file: i32, _: i32| plain(&mut caller, of_stream(file)),
    )?;
    linker.func_wrap(interface, "fd_prestat_get", |mut caller: Context<'_>, _: i32, _: i32| {
        plain(&mut caller, errno::BADF)
    })?;
    linker.func_wrap(
        interface,
        "fd_prestat_dir_name",
        |mut caller: Context<'_>, _: i32, _: i32, _: i32| plain(&mut caller, errno::BADF),
    )?;
    linker.func_wrap(interface, "fd_tell", |mut caller: Context<'_>, _: i32, _: i32| {
        plain(&mut caller, errno::SPIPE)
    })?;
    linker.func_wrap(interface, "fd_seek", |mut caller: Context<'_>, _: i32, _: i64, _: i32, _: i32| {
        plain(&mut caller, errno::SPIPE)
    })?;
    linker.func_wrap(
        interface,
        "fd_fdstat_get",
        move |mut caller: Context<'_>, file: i32, result: i32| {
            begin(&mut caller)?;
            if of_stream(file) != errno::SUCCESS {
                return Ok(errno::BADF);
            }
            let memory = memory(&mut caller)?;
            // A character device, that can be read and written, and nothing else.
            let mut stat = [0_u8; 24];
            stat[0] = 2;
            let rights = if file == 0 { 1_u64 << 1 } else { 1_u64 << 6 };
            stat[8..16].copy_from_slice(&rights.to_le_bytes());
            put(memory, &mut caller, result, &stat)?;
            Ok(errno::SUCCESS)
        },
    )?;
    linker.func_wrap(
        interface,
        "fd_write",
        |mut caller: Context<'_>, file: i32, parts: i32, count: i32, result: i32| {
            begin(&mut caller)?;
            if !(1..=2).contains(&file) {
                return Ok(errno::BADF);
            }
            let memory = memory(&mut caller)?;
            let mut written = 0_u32;
            for (at, length) in parts_of(memory, &mut caller, parts, count as u32)? {
                burn(&mut caller, u64::from(length))?;
                let (bytes, host) = memory.data_and_store_mut(&mut caller);
                let bytes = slice(bytes, at, length)?;
                // Standard error is not part of the answer: it goes nowhere.
                if file == 1 {
                    host.write(bytes)?;
                }
                written = written.saturating_add(length);
            }
            put(memory, &mut caller, result, &written.to_le_bytes())?;
            Ok(errno::SUCCESS)
        },
    )?;
    linker.func_wrap(
        interface,
        "fd_read",
        |mut caller: Context<'_>, file: i32, parts: i32, count: i32, result: i32| {
            begin(&mut caller)?;
            if file != 0 {
                return Ok(errno::BADF);
            }
            let memory = memory(&mut caller)?;
            let mut got = 0_u32;
            for (at, length) in parts_of(memory, &mut caller, parts, count as u32)? {
                let bytes = caller.data_mut().read(length as usize).to_vec();
                burn(&mut caller, bytes.len() as u64)?;
                put(memory, &mut caller, at as i32, &bytes)?;
                got = got.saturating_add(bytes.len() as u32);
                if bytes.len() < length as usize {
                    break;
                }
            }
            put(memory, &mut caller, result, &got.to_le_bytes())?;
            Ok(errno::SUCCESS)
        },
    )?;
    Ok(())
}

/// Waits for the first of some subscriptions: the time passes, and streams are always ready.
fn poll(caller: &mut Context<'_>, subscriptions: i32, events: i32, count: u32, result: i32) -> Result<i32> {
    const SUBSCRIPTION: usize = 48;
    begin(caller)?;
    if count == 0 || count > PARTS_MAX {
        return Ok(errno::INVAL);
    }
    burn(&mut *caller, 100 * u64::from(count))?;
    let memory = memory(caller)?;
    let bytes = slice(memory.data(&*caller), subscriptions as u32, count * SUBSCRIPTION as u32)?.to_vec();
    let now = caller.data_mut().monotonic();
    let offset = caller.data_mut().wall().saturating_sub(now);
    let mut waits = Vec::new();
    for entry in bytes.chunks_exact(SUBSCRIPTION) {
        let number =
            |at: usize| entry.get(at..at + 8).and_then(|it| it.try_into().ok()).map_or(0, u64::from_le_bytes);
        let kind = entry.get(8).copied().unwrap_or_default();
        let is_absolute = entry.get(40).copied().unwrap_or_default() & 1 == 1;
        let is_wall = number(16) as u32 == 0;
        let when = match (kind, is_absolute) {
            (0, false) => now.saturating_add(number(24)),
            (0, true) if is_wall => number(24).saturating_sub(offset),
            (0, true) => number(24),
            _ => 0,
        };
        waits.push((number(0), kind, when));
    }
    let first = waits.iter().map(|(_, _, when)| *when).min().unwrap_or_default();
    caller.data_mut().sleep_until(first);
    let now = caller.data_mut().monotonic();
    let mut ready = 0_u32;
    for (name, kind, _) in waits.iter().filter(|(_, _, when)| *when <= now) {
        let mut event = [0_u8; 32];
        event[..8].copy_from_slice(&name.to_le_bytes());
        event[10] = *kind;
        put(memory, caller, (events as u32).wrapping_add(32 * ready) as i32, &event)?;
        ready += 1;
    }
    put(memory, caller, result, &ready.to_le_bytes())?;
    Ok(errno::SUCCESS)
}

/// Takes the fuel of a call.
fn begin(caller: &mut Context<'_>) -> Result<()> {
    burn(caller, CALL)
}

/// Answers a call that does nothing else.
fn plain(caller: &mut Context<'_>, answer: i32) -> Result<i32> {
    begin(caller)?;
    Ok(answer)
}

fn memory(caller: &mut Context<'_>) -> Result<Memory> {
    caller
        .get_export("memory")
        .and_then(Extern::into_memory)
        .ok_or_else(|| Error::from(Stop::Trap("memory".to_owned())))
}

fn slice(bytes: &[u8], at: u32, length: u32) -> Result<&[u8]> {
    let end = (at as usize).checked_add(length as usize);
    end.and_then(|end| bytes.get(at as usize..end))
        .ok_or_else(|| Error::from(Stop::Trap("memory".to_owned())))
}

fn put(memory: Memory, caller: &mut Context<'_>, at: i32, bytes: &[u8]) -> Result<()> {
    let at = at as u32 as usize;
    memory.write(caller, at, bytes).map_err(|_| Error::from(Stop::Trap("memory".to_owned())))
}

/// Returns the parts of a read or write: where each begins, and how long it is.
fn parts_of(memory: Memory, caller: &mut Context<'_>, at: i32, count: u32) -> Result<Vec<(u32, u32)>> {
    let count = count.min(PARTS_MAX);
    burn(&mut *caller, 20 * u64::from(count))?;
    let bytes = slice(memory.data(&*caller), at as u32, 8 * count)?;
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
    Ok(bytes.chunks_exact(8).map(|part| (word(&part[..4]), word(&part[4..]))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_defined_is_sorted_and_there_and_costs_fuel() {
        assert!(DEFINED.is_sorted());
        let engine = crate::engine::engine(crate::EngineKind::Cranelift).unwrap();
        let mut linker = Linker::new(&engine);
        define(&mut linker, INTERFACES[0]).unwrap();
        let mut store = wasmtime::Store::new(&engine, Host::new(0, 0, 0));
        for name in DEFINED {
            let function = linker.get(&mut store, INTERFACES[0], name).unwrap().into_func().unwrap();
            // Whatever it is called with, its fuel is gone first.
            let types: Vec<_> = function.ty(&store).params().collect();
            let zeros: Vec<Val> = types.into_iter().map(|ty| Val::default_for_ty(&ty).unwrap()).collect();
            store.set_fuel(10_000).unwrap();
            let results = function.ty(&store).results().len();
            let _ = function.call(&mut store, &zeros, &mut vec![Val::I32(0); results]);
            let used = 10_000 - store.get_fuel().unwrap();
            assert!(used >= CALL || name == "proc_exit", "{name}: {used}");
        }
    }
}
