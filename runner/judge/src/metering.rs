//! Exact depth of calls for modules: a count in the module itself, because the frames of two engines differ in size.
//!
//! Each function costs what its locals and operands could take, before each call it makes. Where the count falls below 0, the
//! module ends, at the same call on every machine. The machine's own stack is larger than the count allows.

use wasmparser::{
    FuncToValidate, FuncValidatorAllocations, FunctionBody, Operator, Parser, Payload, ValidPayload,
    Validator, ValidatorResources, WasmFeatures,
};

use crate::effort::{Effort, TooMuch};

/// The name under which the count is exported, for the judge that asks why a module ended. No program has such a name.
pub const STACK: &str = "karat:stack";

/// Bytes that all frames together may cost.
const DEPTH: u32 = 32 << 20;

/// Cost of a frame beside its locals and operands.
const FRAME: u32 = 128;

/// Cost of a local or an operand: that of the largest, a vector.
const SLOT: u32 = 16;

/// Largest body of a function in bytes: the time to compile one grows faster than its size.
const BODY_MAX: usize = 512 << 10;

/// Numbers that a count depends on: code that was compiled with others counts otherwise.
pub const COSTS: (u32, u32, u32) = (DEPTH, FRAME, SLOT);

const GLOBALS: u8 = 6;
const EXPORTS: u8 = 7;
const CODE: u8 = 10;
const DATA: u8 = 11;

/// The first byte of instructions whose number has more bytes: this one or a higher one.
const PREFIX: u8 = 0xfc;

/// Order of the sections of a module: their numbers, except that two were added later.
fn rank(section: u8) -> u8 {
    match section {
        // Tags stand before globals, the count of data before the code.
        13 => 2 * 5 + 1,
        12 => 2 * 9 + 1,
        section => 2 * section,
    }
}

/// Returns what modules may use: all that every engine computes alike.
fn features() -> WasmFeatures {
    WasmFeatures::MUTABLE_GLOBAL
        | WasmFeatures::SATURATING_FLOAT_TO_INT
        | WasmFeatures::SIGN_EXTENSION
        | WasmFeatures::MULTI_VALUE
        | WasmFeatures::BULK_MEMORY
        | WasmFeatures::CALL_INDIRECT_OVERLONG
        | WasmFeatures::REFERENCE_TYPES
        | WasmFeatures::SIMD
        | WasmFeatures::FLOATS
        | WasmFeatures::EXTENDED_CONST
        | WasmFeatures::GC_TYPES
}

/// Returns a module with a count of the depth of its calls.
///
/// # Errors
///
/// If it is not a module, or too large: the reason.
pub fn metered(module: &[u8]) -> Result<Vec<u8>, String> {
    rewrite(module).map_err(|error| match error {
        Refusal::Invalid => "no WebAssembly module".to_owned(),
        Refusal::TooLarge => "module too large".to_owned(),
    })
}

enum Refusal {
    Invalid,
    TooLarge,
}

impl From<wasmparser::BinaryReaderError> for Refusal {
    fn from(_: wasmparser::BinaryReaderError) -> Self {
        Self::Invalid
    }
}

impl From<TooMuch> for Refusal {
    fn from(_: TooMuch) -> Self {
        Self::TooLarge
    }
}

fn rewrite(module: &[u8]) -> Result<Vec<u8>, Refusal> {
    if !module.starts_with(b"\0asm\x01\0\0\0") {
        return Err(Refusal::Invalid);
    }
    let mut validator = Validator::new_with_features(features());
    let mut sections: Vec<(u8, Vec<u8>)> = Vec::new();
    let mut imported = 0;
    let mut functions = Vec::new();
    let mut effort = Effort::default();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let ValidPayload::Func(function, body) = validator.payload(&payload)? {
            functions.push((function, body));
        }
        match &payload {
            Payload::ImportSection(imports) => {
                for import in imports.clone().into_imports() {
                    imported += u32::from(matches!(import?.ty, wasmparser::TypeRef::Global(_)));
                }
            }
            // The sections of code and data come in pieces, and those for people are not needed.
            Payload::CodeSectionStart { .. } => sections.push((CODE, Vec::new())),
            _ => {}
        }
        if let Some((id, range)) = payload.as_section()
            && id != 0
            && id != CODE
        {
            if id != DATA {
                effort.section(range.len())?;
            }
            sections.push((id, module.get(range).unwrap_or_default().to_vec()));
        }
    }
    let global = imported + count(&sections, GLOBALS);
    let mut code = leb(functions.len() as u32);
    let mut allocations = FuncValidatorAllocations::default();
    for (function, body) in functions {
        let (body, back) = rewrite_body(module, global, function, &body, allocations, &mut effort)?;
        allocations = back;
        code.extend(leb(body.len() as u32));
        code.extend(body);
    }
    // A variable of 32 bits that can be set, with the whole depth at the start.
    let mut entry = vec![0x7f, 0x01, 0x41];
    entry.extend(signed_leb(DEPTH));
    entry.push(0x0b);
    append(&mut sections, GLOBALS, &entry);
    let mut entry = leb(STACK.len() as u32);
    entry.extend(STACK.as_bytes());
    entry.push(3);
    entry.extend(leb(global));
    append(&mut sections, EXPORTS, &entry);
    let mut bytes = b"\0asm\x01\0\0\0".to_vec();
    for (id, content) in &sections {
        let content = if *id == CODE { &code } else { content };
        bytes.push(*id);
        bytes.extend(leb(content.len() as u32));
        bytes.extend(content);
    }
    Ok(bytes)
}

/// Returns how many entries a section has.
fn count(sections: &[(u8, Vec<u8>)], id: u8) -> u32 {
    sections.iter().find(|(found, _)| *found == id).map_or(0, |(_, content)| read_leb(content).0)
}

/// Adds an entry at the end of a section, which there may not be yet.
fn append(sections: &mut Vec<(u8, Vec<u8>)>, id: u8, entry: &[u8]) {
    let at = sections.iter().position(|(found, _)| rank(*found) >= rank(id)).unwrap_or(sections.len());
    if sections.get(at).is_none_or(|(found, _)| *found != id) {
        sections.insert(at, (id, leb(0)));
    }
    if let Some((_, content)) = sections.get_mut(at) {
        let (entries, length) = read_leb(content);
        let mut longer = leb(entries + 1);
        longer.extend(content.get(length..).unwrap_or_default());
        longer.extend(entry);
        *content = longer;
    }
}

fn rewrite_body(
    module: &[u8],
    global: u32,
    function: FuncToValidate<ValidatorResources>,
    body: &FunctionBody<'_>,
    allocations: FuncValidatorAllocations,
    effort: &mut Effort,
) -> Result<(Vec<u8>, FuncValidatorAllocations), Refusal> {
    let range = body.range();
    if range.len() > BODY_MAX {
        return Err(Refusal::TooLarge);
    }
    let mut validator = function.into_validator(allocations);
    let mut reader = body.get_binary_reader();
    validator.read_locals(&mut reader)?;
    let mut shape = effort.function(validator.len_locals())?;
    let mut height = 0;
    let mut calls = Vec::new();
    let first = reader.original_position();
    let mut operators = wasmparser::OperatorsReader::new(reader);
    while !operators.eof() {
        let from = operators.original_position();
        let operator = operators.read()?;
        validator.op(from, &operator)?;
        height = height.max(validator.operand_stack_height());
        let is_prefixed = module.get(from).is_some_and(|byte| *byte >= PREFIX);
        shape.instruction(&operator, is_prefixed, validator.resources());
        if matches!(operator, Operator::Call { .. } | Operator::CallIndirect { .. }) {
            calls.push((from, operators.original_position()));
        }
    }
    operators.finish()?;
    let slots = validator.len_locals().saturating_add(height);
    effort.end(&shape, slots)?;
    // One frame may cost all there is: the function can then call nothing.
    let cost = slots.saturating_mul(SLOT).saturating_add(FRAME).min(DEPTH + 1);
    let (before, after) = around(global, cost);
    let piece = |from: usize, to: usize| module.get(from..to).unwrap_or_default();
    let mut bytes = piece(range.start, first).to_vec();
    let mut copied = first;
    for (from, to) in calls {
        bytes.extend(piece(copied, from));
        bytes.extend(&before);
        bytes.extend(piece(from, to));
        bytes.extend(&after);
        copied = to;
    }
    bytes.extend(piece(copied, range.end));
    Ok((bytes, validator.into_allocations()))
}

/// Returns the code before and after a call. It leaves the operands as they are.
fn around(global: u32, cost: u32) -> (Vec<u8>, Vec<u8>) {
    let (global, cost) = (leb(global), signed_leb(cost));
    let mut before = Vec::new();
    // global.get, i32.const, i32.sub, global.set; global.get, i32.const 0, i32.lt_s, if, unreachable, end
    before.push(0x23);
    before.extend(&global);
    before.push(0x41);
    before.extend(&cost);
    before.extend([0x6b, 0x24]);
    before.extend(&global);
    before.push(0x23);
    before.extend(&global);
    before.extend([0x41, 0x00, 0x48, 0x04, 0x40, 0x00, 0x0b]);
    // global.get, i32.const, i32.add, global.set
    let mut after = vec![0x23];
    after.extend(&global);
    after.push(0x41);
    after.extend(&cost);
    after.extend([0x6a, 0x24]);
    after.extend(&global);
    (before, after)
}

/// Returns a number in the form of the format (LEB128).
fn leb(mut number: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// Returns a number in the form for numbers that might be below 0.
fn signed_leb(number: u32) -> Vec<u8> {
    let mut bytes = leb(number);
    // The highest bit that is written would be the sign.
    if let Some(last) = bytes.last_mut()
        && *last & 0x40 != 0
    {
        *last |= 0x80;
        bytes.push(0);
    }
    bytes
}

/// Returns the number at the start of a section, and how many bytes it takes.
fn read_leb(bytes: &[u8]) -> (u32, usize) {
    let mut number = 0;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        number |= u32::from(byte & 0x7f).wrapping_shl(7 * at as u32);
        if byte & 0x80 == 0 {
            return (number, at + 1);
        }
    }
    (number, bytes.len().min(5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_metered_module_is_valid_whatever_sections_it_has() {
        for text in [
            "(module)",
            "(module (func))",
            "(module (global i32 (i32.const 1)) (func (export \"a\")))",
            "(module (import \"a\" \"b\" (global i32)) (memory 1) (data \"x\") (func $f call $f drop_nothing))",
            "(module (table 1 funcref) (elem (i32.const 0) $f) (func $f (call_indirect (i32.const 0))))",
            "(module (memory 1) (data $d \"abc\") (func (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1))))",
        ] {
            let text = text.replace("drop_nothing", "");
            let module = wat::parse_str(&text).unwrap();
            let metered = metered(&module).unwrap();
            Validator::new().validate_all(&metered).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!(metered.len() > module.len());
        }
    }

    #[test]
    fn what_is_no_module_is_refused() {
        assert_eq!(metered(b"hello").unwrap_err(), "no WebAssembly module");
        assert_eq!(metered(&wat::parse_str("(component)").unwrap()).unwrap_err(), "no WebAssembly module");
        // The count itself is out of reach.
        let text =
            "(module (global i32 (i32.const 1)) (func (export \"_start\") (global.set 1 (i32.const 9))))";
        assert_eq!(metered(&wat::parse_str(text).unwrap()).unwrap_err(), "no WebAssembly module");
        let long = format!("(module (func {}))", "nop ".repeat(BODY_MAX));
        assert_eq!(metered(&wat::parse_str(&long).unwrap()).unwrap_err(), "module too large");
    }

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(number in any::<u32>()) {
            let bytes = leb(number);
            prop_assert_eq!(read_leb(&bytes), (number, bytes.len()));
        }

        #[test]
        fn whatever_bytes_come_nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = metered(&[b"\0asm\x01\0\0\0".as_slice(), &bytes].concat());
        }
    }
}
