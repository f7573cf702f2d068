//! Fewer instructions and columns: a choice goes with its comparison, a column is free again after its last use.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{BinaryOperator, Code, Instruction, Places, Register};

/// Returns the same code on fewer columns: a column is free again after its last use. Results that a table asks for stay.
pub(super) fn compact(full: &Code) -> Code {
    let mut instructions = join(full);
    let keep =
        [full.places.score, full.places.published, full.places.coverage, full.places.band, full.places.tier];
    let mut last_use = alloc::vec![0usize; full.registers];
    for (at, instruction) in instructions.iter_mut().enumerate() {
        instruction.visit(&mut |register, _| {
            if let Some(slot) = last_use.get_mut(*register as usize) {
                *slot = at;
            }
        });
    }
    let forever = full.constants.iter().map(|&(register, _)| register).chain(keep);
    for register in forever {
        if let Some(slot) = last_use.get_mut(register as usize) {
            *slot = usize::MAX;
        }
    }
    let mut names: BTreeMap<Register, Register> = BTreeMap::new();
    let mut free: Vec<Register> = Vec::new();
    let mut next: Register = 0;
    for &(register, _) in &full.constants {
        names.insert(register, next);
        next += 1;
    }
    for (at, instruction) in instructions.iter_mut().enumerate() {
        let mut ended = Vec::new();
        instruction.visit(&mut |register, _| {
            let old = *register;
            let new = *names.entry(old).or_insert_with(|| {
                free.pop().unwrap_or_else(|| {
                    next += 1;
                    next - 1
                })
            });
            *register = new;
            let ends = last_use.get(old as usize).is_some_and(|&last| last == at);
            if ends && !ended.contains(&old) {
                ended.push(old);
            }
        });
        // Freed only now, so that an instruction never writes what it still reads.
        free.extend(ended.into_iter().filter_map(|old| names.remove(&old)));
    }
    let name = |register: Register| names.get(&register).copied().unwrap_or(0);
    let places = Places {
        score: name(full.places.score),
        published: name(full.places.published),
        coverage: name(full.places.coverage),
        band: name(full.places.band),
        tier: name(full.places.tier),
        ..Places::default()
    };
    let constants = full.constants.iter().map(|&(register, value)| (name(register), value)).collect();
    Code { instructions, registers: next as usize, constants, places }
}

/// Returns the instructions, each `if(x > constant, ...)` as one where nothing else asks for the comparison.
fn join(code: &Code) -> Vec<Instruction> {
    let mut instructions = code.instructions.clone();
    let mut reads = alloc::vec![0u32; code.registers];
    for instruction in &mut instructions {
        instruction.visit(&mut |register, writes| {
            if let (false, Some(count)) = (writes, reads.get_mut(*register as usize)) {
                *count += 1;
            }
        });
    }
    let constant = |register: Register| code.constants.iter().find(|&&(known, _)| known == register);
    let mut comparisons: BTreeMap<Register, (Register, f64)> = BTreeMap::new();
    for instruction in &instructions {
        if let &Instruction::Binary { operator: BinaryOperator::Greater, x, y, to } = instruction
            && let Some(&(_, limit)) = constant(y)
            && !limit.is_nan()
            && reads.get(to as usize) == Some(&1)
        {
            comparisons.insert(to, (x, limit));
        }
    }
    let mut joined = Vec::new();
    for instruction in &mut instructions {
        if let Instruction::Select { c, a, b, to } = *instruction
            && let Some(&(x, limit)) = comparisons.get(&c)
        {
            *instruction = Instruction::SelectAbove { x, limit, a, b, to };
            joined.push(c);
        }
    }
    instructions
        .retain(|instruction| !matches!(instruction, Instruction::Binary { to, .. } if joined.contains(to)));
    instructions
}
