//! The guest that runs JavaScript: a module, whose requests and answers lie in its memory.

use wasmtime::{Caller, Engine, Error, Global, Instance, Linker, Memory, Module, Result, Store, TypedFunc};

use crate::host::{Host, Stop, asked, burn};
use crate::metering::STACK;
use crate::preview1;

/// The interface of the imports beyond WASI.
const INTERFACE: &str = "karat";

/// Fuel of a question, beside what its bytes and its answer cost.
const CALL: u64 = 400;

/// Defines everything that the module imports.
///
/// # Errors
///
/// If it imports something else.
pub fn link(engine: &Engine, module: &Module) -> Result<Linker<Host>> {
    let mut linker = Linker::new(engine);
    linker.func_wrap(
        INTERFACE,
        "ask",
        |mut caller: Caller<'_, Host>, what: u32, what_length: u32, request: u32, length: u32| {
            burn(&mut caller, CALL + u64::from(what_length) + u64::from(length))?;
            let memory = memory(&mut caller)?;
            let text = |at: u32, length: u32| {
                let bytes = slice(memory.data(&caller), at, length)?;
                std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| broken())
            };
            let (what, request) = (text(what, what_length)?, text(request, length)?);
            let answer = asked(&mut caller, &what, &request)?;
            let length = u32::try_from(answer.len()).map_err(|_| Error::from(Stop::Output))?;
            burn(&mut caller, u64::from(length))?;
            caller.data_mut().answered = answer;
            Ok(length)
        },
    )?;
    linker.func_wrap(INTERFACE, "answer", |mut caller: Caller<'_, Host>, at: u32| {
        let memory = memory(&mut caller)?;
        let answer = std::mem::take(&mut caller.data_mut().answered);
        memory.write(&mut caller, at as usize, answer.as_bytes()).map_err(|_| broken())
    })?;
    preview1::link(&mut linker, module)?;
    Ok(linker)
}

fn memory(caller: &mut Caller<'_, Host>) -> Result<Memory> {
    caller.get_export("memory").and_then(wasmtime::Extern::into_memory).ok_or_else(broken)
}

fn broken() -> Error {
    Error::from(Stop::Trap("memory".to_owned()))
}

fn slice(bytes: &[u8], at: u32, length: u32) -> Result<&[u8]> {
    let end = (at as usize).checked_add(length as usize);
    end.and_then(|end| bytes.get(at as usize..end)).ok_or_else(broken)
}

/// The doors of an instance.
pub struct ModuleGuest {
    room: TypedFunc<u32, u32>,
    run: TypedFunc<(u32, u32), u64>,
    memory: Memory,
    depth: Option<Global>,
}

impl ModuleGuest {
    /// Finds them, and has the interpreter begin.
    ///
    /// # Errors
    ///
    /// If the module is not a guest.
    pub fn new(store: &mut Store<Host>, instance: &Instance) -> Result<Self> {
        for name in ["_initialize", "begin"] {
            instance.get_typed_func::<(), ()>(&mut *store, name)?.call(&mut *store, ())?;
        }
        Ok(Self {
            room: instance.get_typed_func(&mut *store, "room")?,
            run: instance.get_typed_func(&mut *store, "run")?,
            memory: instance.get_memory(&mut *store, "memory").ok_or_else(broken)?,
            depth: instance.get_global(&mut *store, STACK),
        })
    }

    /// Carries out a request.
    ///
    /// # Errors
    ///
    /// If the instance ends.
    pub fn call(&self, store: &mut Store<Host>, request: &str) -> Result<String> {
        let length = u32::try_from(request.len()).map_err(|_| Error::from(Stop::Memory))?;
        burn(&mut *store, u64::from(length))?;
        let at = self.room.call(&mut *store, length)?;
        if at == 0 {
            return Err(Error::from(Stop::Memory));
        }
        self.memory.write(&mut *store, at as usize, request.as_bytes()).map_err(|_| broken())?;
        let answer = self.run.call(&mut *store, (at, length))?;
        let (at, length) = ((answer >> 32) as u32, answer as u32);
        burn(&mut *store, u64::from(length))?;
        let bytes = slice(self.memory.data(&*store), at, length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| broken())
    }

    /// Returns true if the instance ended because its calls were too deep.
    pub fn is_deep(&self, store: &mut Store<Host>) -> bool {
        self.depth.is_some_and(|depth| depth.get(store).i32().is_some_and(|depth| depth < 0))
    }
}
