//! Fuel of what takes longer than an instruction: each costs at least about what it takes, the same on both engines.

use karat_judge::EngineKind;

use crate::support::*;
use crate::work;

/// Fuel and reason of a module, which both engines must agree on.
fn fuel(name: &str, module: &str) -> (u64, Option<String>) {
    let module = wat::parse_str(module).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut job = crate::modules::wasm(&module, &[("", "")]);
    job.limits.fuel = 5_000_000;
    let [first, second] =
        [EngineKind::Cranelift, EngineKind::Pulley].map(|engine| judge(engine).judge(&job).unwrap());
    assert_eq!(first, second, "{name}");
    let [case] = cases_of(&first) else { panic!("{first:?}") };
    (case.fuel, case.reason.clone())
}

#[test]
fn what_takes_longer_than_an_instruction_costs_more() {
    // Beside the units of constants and loops: what is at least between doing it twice and doing it once.
    let least = |name: &str| match name {
        "memory, page by page" => 255 + 255,
        "memory, all of it" => 255 * 65_535,
        "memory, not at all" | "a table, one by one" | "a table, not at all" | "fills nothing" => 255,
        "a table, all of it" => 8_000_000,
        "copies nothing" | "writes no data" | "drops data" | "drops elements" => 100,
        "fills no table" | "copies no table" | "writes no table" | "looks at a function" => 100,
        "fills a page" | "copies a page" => 65_536,
        "fills a table" | "copies a table" => 8 * 9_999,
        "writes a table" => 100 + 3 * 8,
        "divides" | "divides floats" | "draws roots" | "draws two roots" => 8,
        "an ordinary loop" | "rounds" | "sets an entry" => 4,
        "leaps through memory" | "looks at an entry" | "calls through a table" => 8,
        "fd_read" | "fd_write" => 400 + 1024 * 20,
        "poll_oneoff" => 400 + 1024 * 100,
        "random_get" => 400 + 1_048_576,
        // Every other call of the host.
        _ => 400,
    };
    let (once, twice) = (work::modules(1), work::modules(2));
    for ((name, once), (_, twice)) in once.iter().zip(&twice) {
        let ((once, reason), (twice, over)) = (fuel(name, once), fuel(name, twice));
        let limit = 5_000_000;
        let least = least(name);
        if once == limit {
            assert!(least >= limit && reason.as_deref() == Some("limit:fuel"), "{name}: {reason:?}");
        } else {
            assert!(
                least < limit && (twice == limit || twice - once >= least),
                "{name}: {once}, {twice}, {over:?}"
            );
        }
    }
}

#[test]
fn whatever_is_done_without_end_ends_at_the_limit() {
    for (name, module) in work::modules(0) {
        let (fuel, reason) = fuel(&name, &module);
        assert_eq!((fuel, reason.as_deref()), (5_000_000, Some("limit:fuel")), "{name}");
    }
}
