//! Effort of compiling a module, estimated before it is compiled: no fuel counts that time, and a module of a few
//! kilobytes could take hours of it.
//!
//! A compiler takes a time that is not linear in the size of a function. Registers are handed out in a time that grows
//! with the square of the blocks and with what lives across them, and with the square of the values that are joined
//! where branches meet. The estimates are upper bounds of what was measured of functions that were made to be slow; what
//! compilers write stays far below. They are the same on every machine, so a module that is too large is so everywhere.

use wasmparser::{BlockType, CompositeInnerType, Operator, SubType, WasmModuleResources};

/// Most effort of a module, in about a nanosecond each.
const EFFORT_MAX: u64 = 10_000_000_000;

/// Most joined values of a function times its blocks: so much memory is in use at a time.
const JOINED_MAX: u64 = 50_000_000;

/// Effort of a function beside its body.
const FUNCTION: u64 = 100_000;

/// Effort of a local that is declared.
const LOCAL: u64 = 100;

/// Effort of an instruction.
const INSTRUCTION: u64 = 5_000;

/// Effort of an instruction that becomes several.
const LONG_INSTRUCTION: u64 = 20_000;

/// Effort of a call, with the count of its depth.
const CALL: u64 = 50_000;

/// Effort of a value that a call takes or gives.
const HANDED: u64 = 15_000;

/// Effort of a byte of what is neither code nor data: types, imports, tables.
const BYTE: u64 = 2_000;

/// Effort of two values of a function that are joined, of one and the other.
const JOIN: u64 = 4;

/// Effort of two blocks and a value that lives across them.
const LIFE: u64 = 2;

/// The module takes too long to compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMuch;

/// Count of the effort of a module.
#[derive(Debug, Default)]
pub struct Effort(u64);

impl Effort {
    fn add(&mut self, effort: u64) -> Result<(), TooMuch> {
        self.0 = self.0.saturating_add(effort);
        if self.0 <= EFFORT_MAX { Ok(()) } else { Err(TooMuch) }
    }

    /// Adds a section of neither code nor data.
    ///
    /// # Errors
    ///
    /// If it is too much.
    pub fn section(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.add(BYTE.saturating_mul(bytes as u64))
    }

    /// Begins a function with that many parameters and locals.
    ///
    /// # Errors
    ///
    /// If it is too much.
    pub fn function(&mut self, locals: u32) -> Result<Function, TooMuch> {
        self.add(FUNCTION + LOCAL * u64::from(locals))?;
        let none = || vec![0; locals as usize];
        Ok(Function { read: none(), written: none(), blocks: 1, ..Function::default() })
    }

    /// Adds a function whose values, locals and operands, are never more than that.
    ///
    /// # Errors
    ///
    /// If it is too much.
    pub fn end(&mut self, function: &Function, values: u32) -> Result<(), TooMuch> {
        let Function { joined, blocks, instructions, .. } = *function;
        if joined.saturating_mul(blocks) > JOINED_MAX {
            return Err(TooMuch);
        }
        let joins = JOIN.saturating_mul(joined).saturating_mul(joined);
        let lives = LIFE.saturating_mul(u64::from(values) + 3).saturating_mul(blocks).saturating_mul(blocks);
        self.add(instructions.saturating_add(joins).saturating_add(lives))
    }
}

/// Count of what makes a function slow to compile.
#[derive(Debug, Default)]
pub struct Function {
    labels: Vec<Label>,
    /// The numbers of the loops that are open, and of the other constructs: a later one has a higher number.
    loops: Vec<u32>,
    others: Vec<u32>,
    number: u32,
    /// By local: the last loop that was counted as one that reads or writes it, and the last other construct that writes it.
    read: Vec<u32>,
    written: Vec<u32>,
    /// Values that may be joined at a place to which several ways lead.
    joined: u64,
    /// Places to which a way leads.
    blocks: u64,
    /// The effort of the instructions by themselves.
    instructions: u64,
}

#[derive(Debug)]
struct Label {
    is_loop: bool,
    /// Values that a branch to it takes along.
    carried: u64,
}

impl Function {
    /// Adds an instruction. `is_prefixed` says that it has two numbers in the format, as vectors and copies have.
    pub fn instruction(
        &mut self,
        operator: &Operator<'_>,
        is_prefixed: bool,
        types: &impl WasmModuleResources,
    ) {
        self.instructions += if is_prefixed { LONG_INSTRUCTION } else { INSTRUCTION };
        match operator {
            Operator::Block { blockty } | Operator::If { blockty } => self.open(false, *blockty, types),
            Operator::Loop { blockty } => self.open(true, *blockty, types),
            Operator::Else => self.blocks += 1,
            Operator::End => {
                let label = self.labels.pop();
                let numbers =
                    if label.is_some_and(|it| it.is_loop) { &mut self.loops } else { &mut self.others };
                numbers.pop();
            }
            Operator::Br { relative_depth } | Operator::BrIf { relative_depth } => {
                self.branch(*relative_depth)
            }
            Operator::BrTable { targets } => {
                self.branch(targets.default());
                // What cannot be read was refused before.
                targets.targets().flatten().for_each(|depth| self.branch(depth));
            }
            Operator::LocalGet { local_index } => self.touch(*local_index, false),
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                self.touch(*local_index, true);
            }
            Operator::Call { function_index } => {
                let ty = types.type_index_of_function(*function_index);
                self.call(ty.and_then(|ty| types.sub_type_at(ty)));
            }
            Operator::CallIndirect { type_index, .. } => self.call(types.sub_type_at(*type_index)),
            _ => {}
        }
    }

    fn open(&mut self, is_loop: bool, ty: BlockType, types: &impl WasmModuleResources) {
        let (params, results) = match ty {
            BlockType::Empty => (0, 0),
            BlockType::Type(_) => (0, 1),
            BlockType::FuncType(index) => arity(types.sub_type_at(index)),
        };
        self.number += 1;
        let numbers = if is_loop { &mut self.loops } else { &mut self.others };
        numbers.push(self.number);
        self.labels.push(Label { is_loop, carried: if is_loop { params } else { results } });
        self.joined += params + results;
        self.blocks += 1;
    }

    fn branch(&mut self, depth: u32) {
        let at = self.labels.len().checked_sub(depth as usize + 1);
        // Beyond all of them is the end of the function.
        self.joined += at.and_then(|at| self.labels.get(at)).map_or(0, |label| label.carried);
        self.blocks += 1;
    }

    fn touch(&mut self, local: u32, is_written: bool) {
        self.joined += newly(&self.loops, self.read.get_mut(local as usize));
        if is_written {
            self.joined += newly(&self.others, self.written.get_mut(local as usize));
        }
    }

    fn call(&mut self, ty: Option<&SubType>) {
        let (params, results) = arity(ty);
        self.instructions += CALL + HANDED * (params + results);
        self.blocks += 1;
    }
}

/// Returns how many open constructs were not counted for a local, and notes that they are now.
fn newly(open: &[u32], counted: Option<&mut u32>) -> u64 {
    let Some(counted) = counted else { return 0 };
    let known = open.partition_point(|number| *number <= *counted);
    if let Some(last) = open.last() {
        *counted = (*counted).max(*last);
    }
    (open.len() - known) as u64
}

/// Returns the numbers of parameters and results.
fn arity(ty: Option<&SubType>) -> (u64, u64) {
    match ty.map(|ty| &ty.composite_type.inner) {
        Some(CompositeInnerType::Func(ty)) => (ty.params().len() as u64, ty.results().len() as u64),
        _ => (0, 0),
    }
}
