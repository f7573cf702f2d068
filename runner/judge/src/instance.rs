//! One instance: code, its memory, and the count of its fuel.

use wasmtime::component::{InstancePre, TypedFunc};
use wasmtime::{AsContextMut, Error, Result, Store, Trap};

use crate::host::{Host, Stop, is_near};
use crate::javascript::ModuleGuest;

/// Fuel beyond the limit. The engine looks at the count only at branches and calls, so an instance may end a little above its
/// limit: what it used is then compared with the limit here, to the unit.
const BEYOND: u64 = 1 << 24;

/// End of a call.
#[derive(Debug)]
pub struct Ended {
    /// The text that it returned, or why it did not.
    pub result: Result<String, Stop>,
    /// The fuel that it took, at most the limit.
    pub fuel: u64,
    /// True if it came within 5 % of a limit.
    pub near_limit: bool,
}

/// Store of an instance, with a limit of fuel for all of its calls together.
#[derive(Debug)]
pub struct Metered {
    store: Store<Host>,
    limit: u64,
}

impl Metered {
    /// Creates a store. Until [`Metered::begin`] fuel does not count.
    ///
    /// # Errors
    ///
    /// If the engine does not count fuel.
    pub fn new(engine: &wasmtime::Engine, host: Host, limit: u64) -> Result<Self> {
        let mut store = Store::new(engine, host);
        store.limiter(|host| host);
        store.set_fuel(u64::MAX >> 1)?;
        Ok(Self { store, limit })
    }

    /// Begins to count.
    ///
    /// # Errors
    ///
    /// If the engine does not count fuel.
    pub fn begin(&mut self) -> Result<()> {
        self.store.set_fuel(self.limit.saturating_add(BEYOND))
    }

    /// Returns the store.
    pub fn store(&mut self) -> &mut Store<Host> {
        &mut self.store
    }

    /// Returns the host.
    pub fn host(&self) -> &Host {
        self.store.data()
    }

    /// Returns the fuel that was used since the start.
    pub fn used(&self) -> u64 {
        self.limit.saturating_add(BEYOND).saturating_sub(self.store.get_fuel().unwrap_or_default())
    }

    /// Says what came of a call.
    pub fn ended(&self, result: Result<String>) -> Ended {
        let used = self.used();
        let host = self.store.data();
        // The first character of an answer is the guest's.
        let length = result.as_ref().map_or(0, |text| text.len().saturating_sub(1));
        let result = match result {
            // First of all: whatever else ended it, it would have ended here.
            _ if used > self.limit => Err(Stop::Fuel),
            Ok(text) => Ok(text),
            Err(error) => Err(stop(&error, host)),
        };
        // What was refused is not in the count of what was written.
        let is_over = matches!(result, Err(Stop::Output));
        Ended {
            result,
            fuel: used.min(self.limit),
            near_limit: is_over || is_near(used, self.limit) || host.is_near_limit(length),
        }
    }
}

/// Returns why a call ended early.
fn stop(error: &Error, host: &Host) -> Stop {
    if let Some(stop) = error.downcast_ref::<Stop>() {
        return stop.clone();
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => Stop::Fuel,
        Some(Trap::StackOverflow) => Stop::Stack,
        // Code that cannot go on without memory ends itself.
        _ if host.memory_denied => Stop::Memory,
        Some(Trap::UnreachableCodeReached) => Stop::Trap("unreachable".to_owned()),
        Some(Trap::MemoryOutOfBounds | Trap::HeapMisaligned) => Stop::Trap("memory".to_owned()),
        Some(Trap::IntegerDivisionByZero | Trap::IntegerOverflow | Trap::BadConversionToInteger) => {
            Stop::Trap("arithmetic".to_owned())
        }
        Some(Trap::TableOutOfBounds | Trap::IndirectCallToNull | Trap::BadSignature) => {
            Stop::Trap("call".to_owned())
        }
        // A text that is not UTF-8, a pointer to nowhere: what the code handed over cannot be read.
        _ => Stop::Trap("broken answer".to_owned()),
    }
}

/// Instance of a guest: a language runtime that carries out requests.
pub struct Guest {
    metered: Metered,
    run: Run,
}

/// Way to hand over a request.
enum Run {
    /// Texts cross as they are.
    Component(TypedFunc<(String,), (String,)>),
    /// Texts lie in memory.
    Module(ModuleGuest),
}

impl Guest {
    /// Creates an instance of a component.
    ///
    /// # Errors
    ///
    /// If there is no room for it on this machine, or the component is not a guest.
    pub fn of_component(pre: &InstancePre<Host>, host: Host, fuel: u64) -> Result<Self> {
        let mut metered = Metered::new(pre.engine(), host, fuel)?;
        let instance = pre.instantiate(metered.store())?;
        let run = Run::Component(instance.get_typed_func(metered.store(), "run")?);
        metered.begin()?;
        Ok(Self { metered, run })
    }

    /// Creates an instance of a module.
    ///
    /// # Errors
    ///
    /// If there is no room for it on this machine, or the module is not a guest.
    pub fn of_module(pre: &wasmtime::InstancePre<Host>, host: Host, fuel: u64) -> Result<Self> {
        let mut metered = Metered::new(pre.module().engine(), host, fuel)?;
        let instance = pre.instantiate(metered.store())?;
        let run = Run::Module(ModuleGuest::new(metered.store(), &instance)?);
        metered.begin()?;
        Ok(Self { metered, run })
    }

    /// Carries out a request. The fuel counts all requests of the instance.
    pub fn call(&mut self, request: String) -> Ended {
        match &self.run {
            Run::Component(run) => {
                let result = run.call(self.metered.store().as_context_mut(), (request,));
                self.metered.ended(result.map(|(text,)| text))
            }
            Run::Module(guest) => {
                let result = guest.call(self.metered.store(), &request);
                let is_deep = guest.is_deep(self.metered.store());
                let ended = self.metered.ended(result);
                match ended.result {
                    Err(Stop::Trap(_)) if is_deep => Ended { result: Err(Stop::Stack), ..ended },
                    _ => ended,
                }
            }
        }
    }

    /// Returns the host.
    pub fn host(&self) -> &Host {
        self.metered.host()
    }
}
