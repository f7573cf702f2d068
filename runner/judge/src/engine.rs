//! The engine: Wasmtime, with everything off that could make two runs differ.

use wasmtime::{Config, Engine, OperatorCost, OptLevel, Result, Strategy};

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

/// Fuel of an instruction for which the engine calls a function, beside what its bytes and entries cost.
const CALLED: u8 = 100;

/// Fuel of an instruction that asks the host whether it may, or takes as long.
const ASKED: u8 = u8::MAX;

/// Fuel of an instruction that takes a processor some ten cycles.
const SLOW: u8 = 8;

/// Fuel of an instruction that waits for memory: ever the next word of a large memory, each found in the one before, takes a
/// hundred times as long as the usual one.
const READ: u8 = 8;

/// Fuel of an instruction that writes to memory, which waits less.
const WRITE: u8 = 4;

/// Returns what the instructions of modules cost. Those of a runtime are what its makers wrote, never worse than usual.
fn costs() -> OperatorCost {
    let mut costs = OperatorCost::new();
    for cost in [&mut costs.MemoryGrow, &mut costs.TableGrow, &mut costs.MemoryFill] {
        *cost = ASKED;
    }
    for cost in [
        &mut costs.MemoryInit, &mut costs.MemoryCopy, &mut costs.DataDrop, &mut costs.ElemDrop,
        &mut costs.RefFunc, &mut costs.TableInit, &mut costs.TableCopy, &mut costs.TableFill,
    ] {
        *cost = CALLED;
    }
    for cost in [
        &mut costs.I32DivS, &mut costs.I32DivU, &mut costs.I32RemS, &mut costs.I32RemU, &mut costs.I64DivS,
        &mut costs.I64DivU, &mut costs.I64RemS, &mut costs.I64RemU, &mut costs.F32Div, &mut costs.F32Sqrt,
        &mut costs.F64Div, &mut costs.F64Sqrt, &mut costs.F32x4Div, &mut costs.F32x4Sqrt,
        &mut costs.F64x2Div, &mut costs.F64x2Sqrt,
    ] {
        *cost = SLOW;
    }
    costs.variable.memory_grow_per_page = ASKED;
    costs.variable.table_grow_per_element = 8;
    costs.variable.table_init_per_element = 8;
    costs.variable.table_copy_per_element = 8;
    costs.variable.table_fill_per_element = 8;
    costs
}

/// Returns what the instructions of submitted modules cost: one may read and jump where it takes longest.
fn costs_of_submissions() -> OperatorCost {
    let mut costs = costs();
    // The next instruction may be anywhere.
    for cost in [&mut costs.CallIndirect, &mut costs.BrTable] {
        *cost = SLOW;
    }
    for cost in [
        &mut costs.I32Load, &mut costs.I64Load, &mut costs.F32Load, &mut costs.F64Load, &mut costs.I32Load8S,
        &mut costs.I32Load8U, &mut costs.I32Load16S, &mut costs.I32Load16U, &mut costs.I64Load8S,
        &mut costs.I64Load8U, &mut costs.I64Load16S, &mut costs.I64Load16U, &mut costs.I64Load32S,
        &mut costs.I64Load32U, &mut costs.V128Load, &mut costs.V128Load8x8S, &mut costs.V128Load8x8U,
        &mut costs.V128Load16x4S, &mut costs.V128Load16x4U, &mut costs.V128Load32x2S,
        &mut costs.V128Load32x2U, &mut costs.V128Load8Splat, &mut costs.V128Load16Splat,
        &mut costs.V128Load32Splat, &mut costs.V128Load64Splat, &mut costs.V128Load32Zero,
        &mut costs.V128Load64Zero, &mut costs.V128Load8Lane, &mut costs.V128Load16Lane,
        &mut costs.V128Load32Lane, &mut costs.V128Load64Lane, &mut costs.TableGet,
    ] {
        *cost = READ;
    }
    for cost in [
        &mut costs.I32Store, &mut costs.I64Store, &mut costs.F32Store, &mut costs.F64Store,
        &mut costs.I32Store8, &mut costs.I32Store16, &mut costs.I64Store8, &mut costs.I64Store16,
        &mut costs.I64Store32, &mut costs.V128Store, &mut costs.V128Store8Lane, &mut costs.V128Store16Lane,
        &mut costs.V128Store32Lane, &mut costs.V128Store64Lane, &mut costs.TableSet,
    ] {
        *cost = WRITE;
    }
    costs
}

/// Builds the engine of a runtime that is a module: what it reads and where it jumps is what its makers wrote.
///
/// # Errors
///
/// If this machine does not offer what the engine needs.
pub fn engine_of_interpreters(kind: EngineKind) -> Result<Engine> {
    build(kind, |config| {
        config.operator_cost(costs());
    })
}

/// Builds the engine of modules. It does not optimise: what is computed before a call and again after it would be kept in the
/// frame, thousands of values that no count of the depth has, and the stack would end elsewhere in each engine.
///
/// # Errors
///
/// If this machine does not offer what the engine needs.
pub fn engine_of_modules(kind: EngineKind) -> Result<Engine> {
    build(kind, |config| {
        config.operator_cost(costs_of_submissions()).cranelift_opt_level(OptLevel::None);
    })
}

/// Builds the engine of runtimes.
///
/// # Errors
///
/// If this machine does not offer what the engine needs.
pub fn engine(kind: EngineKind) -> Result<Engine> {
    build(kind, |_| {})
}

fn build(kind: EngineKind, more: impl FnOnce(&mut Config)) -> Result<Engine> {
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
    more(&mut config);
    Engine::new(&config)
}
