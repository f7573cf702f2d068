//! Modules that do one thing without end: each thing for which an engine or its host does more than an instruction's work.

/// Functions of the host: name, parameters, arguments of the dearest call that still returns.
pub const CALLS: &[(&str, &str, &str)] = &[
    ("args_get", "i32 i32", "0 64"),
    ("args_sizes_get", "i32 i32", "0 64"),
    ("clock_res_get", "i32 i32", "0 0"),
    ("clock_time_get", "i32 i64 i32", "0 1 0"),
    ("environ_get", "i32 i32", "0 64"),
    ("environ_sizes_get", "i32 i32", "0 64"),
    ("fd_close", "i32", "1"),
    ("fd_fdstat_get", "i32 i32", "1 0"),
    ("fd_fdstat_set_flags", "i32 i32", "1 0"),
    ("fd_prestat_dir_name", "i32 i32 i32", "3 0 64"),
    ("fd_prestat_get", "i32 i32", "3 0"),
    ("fd_read", "i32 i32 i32 i32", "0 1024 1024 0"),
    ("fd_seek", "i32 i64 i32 i32", "1 0 0 0"),
    ("fd_tell", "i32 i32", "1 0"),
    ("fd_write", "i32 i32 i32 i32", "2 1024 1024 0"),
    ("path_open", "i32 i32 i32 i32 i32 i64 i64 i32 i32", "3 0 0 0 0 0 0 0 0"),
    ("poll_oneoff", "i32 i32 i32 i32", "0 0 1024 0"),
    ("random_get", "i32 i32", "1024 1048576"),
    ("sched_yield", "", ""),
];

/// Instructions: a name, what else the module has, and the code.
pub const INSTRUCTIONS: &[(&str, &str, &str)] = &[
    ("memory, page by page", "", "(drop (memory.grow (i32.const 1)))"),
    ("memory, not at all", "", "(drop (memory.grow (i32.const 0)))"),
    ("memory, all of it", "", "(drop (memory.grow (i32.const 65535)))"),
    ("a table, one by one", "(table 1 funcref)", "(drop (table.grow (ref.null func) (i32.const 1)))"),
    ("a table, not at all", "(table 1 funcref)", "(drop (table.grow (ref.null func) (i32.const 0)))"),
    ("a table, all of it", "(table 1 funcref)", "(drop (table.grow (ref.null func) (i32.const 1000000)))"),
    ("fills nothing", "", "(memory.fill (local.get $n) (i32.const 0) (local.get $zero))"),
    ("fills a page", "", "(memory.fill (i32.const 0) (i32.const 7) (i32.const 65536))"),
    ("copies nothing", "", "(memory.copy (local.get $n) (i32.const 0) (local.get $zero))"),
    ("copies a page", "", "(memory.copy (i32.const 0) (i32.const 1) (i32.const 65536))"),
    (
        "writes no data",
        "(data $d \"abc\")",
        "(memory.init $d (local.get $zero) (i32.const 0) (local.get $zero))",
    ),
    ("drops data", "(data $d \"abc\")", "(data.drop $d)"),
    ("drops elements", "(table 1 funcref) (elem $e func $f) (func $f)", "(elem.drop $e)"),
    (
        "fills no table",
        "(table 9 funcref)",
        "(table.fill (local.get $zero) (ref.null func) (local.get $zero))",
    ),
    (
        "fills a table",
        "(table 10000 funcref)",
        "(table.fill (i32.const 0) (ref.null func) (i32.const 10000))",
    ),
    (
        "copies no table",
        "(table 9 funcref)",
        "(table.copy (local.get $zero) (i32.const 0) (local.get $zero))",
    ),
    ("copies a table", "(table 10000 funcref)", "(table.copy (i32.const 0) (i32.const 1) (i32.const 9999))"),
    (
        "writes a table", "(table 9 funcref) (elem $e func $f $f $f) (func $f)",
        "(table.init $e (i32.const 0) (i32.const 0) (i32.const 3))",
    ),
    (
        "writes no table",
        "(table 9 funcref) (elem $e func $f $f $f) (func $f)",
        "(table.init $e (local.get $zero) (i32.const 0) (local.get $zero))",
    ),
    ("sets an entry", "(table 9 funcref)", "(table.set (i32.const 3) (ref.null func))"),
    ("looks at an entry", "(table 9 funcref)", "(drop (table.get (i32.const 3)))"),
    (
        "looks at a function", "(table 9 funcref) (elem declare func $f) (func $f)",
        "(table.set (i32.const 3) (ref.func $f))",
    ),
    (
        "calls through a table", "(table 1 funcref) (elem (i32.const 0) $f) (func $f)",
        "(call_indirect (i32.const 0))",
    ),
    ("divides", "", "(local.set $w (i64.div_u (i64.const -1) (i64.or (local.get $w) (i64.const 1))))"),
    ("divides floats", "", "(local.set $x (f64.div (f64.const 1) (local.get $x)))"),
    ("draws roots", "", "(local.set $x (f64.sqrt (local.get $x)))"),
    ("rounds", "", "(local.set $x (f64.nearest (f64.trunc (local.get $x))))"),
    ("draws two roots", "", "(local.set $v (f64x2.sqrt (local.get $v)))"),
    (
        "leaps through memory",
        "",
        "(local.set $n (i32.and (i32.const 0x1ffffc) (i32.add (i32.const 1013904223)
           (i32.mul (i32.const 1664525) (i32.add (local.get $n) (i32.load (local.get $n)))))))",
    ),
    ("an ordinary loop", "", "(i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 3)))"),
];

/// Returns a module that does something once, so often, or (0) without end.
fn module(with: &str, code: &str, times: usize) -> String {
    let code = if times == 0 { format!("(loop {code} (br 0))") } else { code.repeat(times) };
    format!(
        "(module {with} (memory (export \"memory\") 32)
           (func (export \"_start\") (local $n i32) (local $zero i32) (local $w i64) (local $x f64) (local $v v128)
             {code}))"
    )
}

/// Returns the modules that do each thing so often, with their names.
pub fn modules(times: usize) -> Vec<(String, String)> {
    let instructions =
        INSTRUCTIONS.iter().map(|(name, with, code)| ((*name).to_owned(), module(with, code, times)));
    let calls = CALLS.iter().map(|(name, types, arguments)| {
        let constants = types.split_whitespace().zip(arguments.split_whitespace());
        let constants = constants.map(|(ty, argument)| format!("({ty}.const {argument})"));
        let call = format!("(drop (call $f {}))", constants.collect::<Vec<_>>().join(" "));
        let import =
            format!("(import \"wasi_snapshot_preview1\" \"{name}\" (func $f (param {types}) (result i32)))");
        ((*name).to_owned(), module(&import, &call, times))
    });
    instructions.chain(calls).collect()
}
