//! The engine: Wasmtime, with everything off that could make two runs differ.

use wasmtime::{Config, Engine, OptLevel, Result, Strategy};

/// Way to execute WebAssembly. Fuel and verdicts are the same in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineKind {
    /// Compiled to the code of this machine.
    #[default]
    Cranelift,
    /// Compiled to the code of a portable interpreter.
    Pulley,
}

impl EngineKind {
    /// Returns the name, as options of the program have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cranelift => "cranelift",
            Self::Pulley => "pulley",
        }
    }

    /// Returns the engine of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Cranelift, Self::Pulley].into_iter().find(|kind| kind.name() == name)
    }
}

/// The name and version of the engine: fuel is counted differently in others.
pub const ENGINE: &str = "wasmtime 48.0.8";

/// Bytes of machine stack for one instance. The interpreter of Python raises long before, wherever its own limit is.
pub const WASM_STACK: usize = 96 << 20;

/// Bytes of stack of the thread that judges: an instance of a suite waits on it for one of the submission.
pub const THREAD_STACK: usize = 2 * WASM_STACK + (32 << 20);

/// Builds the engine.
///
/// # Errors
///
/// If this machine does not offer what the engine needs.
pub fn engine(kind: EngineKind) -> Result<Engine> {
    let mut config = Config::new();
    config
        .strategy(Strategy::Cranelift)
        .consume_fuel(true)
        .epoch_interruption(false)
        .cranelift_nan_canonicalization(true)
        .cranelift_opt_level(OptLevel::Speed)
        .wasm_relaxed_simd(false)
        .relaxed_simd_deterministic(true)
        .wasm_multi_memory(true)
        .wasm_memory64(false)
        .wasm_tail_call(false)
        .generate_address_map(false)
        .native_unwind_info(false)
        .memory_init_cow(true)
        .memory_guaranteed_dense_image_size(64 << 20)
        .async_stack_size(WASM_STACK)
        .max_wasm_stack(WASM_STACK);
    if kind == EngineKind::Pulley {
        config.target(if cfg!(target_endian = "big") { "pulley64be" } else { "pulley64" })?;
    }
    Engine::new(&config)
}
