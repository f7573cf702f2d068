//! The reader of executors of the kind `judge`.

use std::time::Duration;

use karat_core::diagnostic::nearest;
use karat_core::facts::Digest;
use karat_graders::execution::Limits;
use karat_run::{NANO, quoted};

use super::ExecutorReader;
use crate::executor::judge::{JAVASCRIPT, PYTHON, SOURCE_BYTES_MAX, Sandboxed, Source, WASM};
use crate::executor::{Executor, Kind};
use crate::fields::{Bounds, Fields};

const JUDGE: [&str; 10] = [
    "kind", "cost", "runtime", "digest", "source", "source_from", "function", "fuel", "memory_mib",
    "output_kib",
];
/// The least and the most fuel of an attempt, and how much it has if the file does not say it.
const FUEL: [u64; 3] = [1_000_000, 20_000_000_000, 2_000_000_000];
const MEMORY_MIB: [u64; 3] = [16, 1024, 256];
const OUTPUT_KIB: [u64; 3] = [1, 1024, 64];
/// The longest that an attempt may take. Fuel ends it long before; a judge that hangs ends earlier by itself.
const LONGEST: Duration = Duration::from_secs(3600);

impl<'a, 'd> ExecutorReader<'a, 'd, '_, '_> {
    pub(super) fn judge(&mut self) -> Option<Executor> {
        let fields = self.fields(&JUDGE);
        let runtime = fields.text("runtime", self.report);
        let runtime = fields.required("runtime", runtime, "\"python\"", self.report);
        if let Some(other) = runtime.filter(|runtime| ![PYTHON, JAVASCRIPT, WASM].contains(runtime)) {
            let hint = match nearest(other, [PYTHON, JAVASCRIPT, WASM]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the runtimes are {PYTHON}, {JAVASCRIPT} and {WASM}"),
            };
            self.report.add(fields.place("runtime"), format!("there is no runtime {}", quoted(other)), hint);
        }
        let runtime = runtime.unwrap_or_default();
        let digest = fields.text("digest", self.report);
        if let Some(digest) = digest.filter(|digest| Digest::parse(digest).is_none()) {
            let message = format!("{} is not the digest of a runtime", quoted(digest));
            self.report.add(
                fields.place("digest"),
                message,
                "`karat judge doctor` shows those that are here",
            );
        }
        let source = self.source(&fields, runtime);
        let function = fields.text("function", self.report);
        if let Some(name) = function.filter(|name| !is_function(name)) {
            self.report.add(fields.place("function"), format!("{} is not a name", quoted(name)), "");
        }
        let cost = fields.number("cost", Bounds(0.0, 1e6), self.report);
        let cost = fields.required("cost", cost, "0.001", self.report);
        let [fuel, memory, output] = [("fuel", FUEL), ("memory_mib", MEMORY_MIB), ("output_kib", OUTPUT_KIB)]
            .map(|(name, [least, most, usual])| {
                fields.count(name, least, most, self.report).unwrap_or(usual)
            });
        let limits = Limits {
            fuel,
            memory_mib: u32::try_from(memory).unwrap_or(u32::MAX),
            output_kib: u32::try_from(output).unwrap_or(u32::MAX),
        };
        // Source has a function, unless it is asked to be a program; a module is a program, unless a function is named.
        let usual = (runtime != WASM).then_some("run");
        let function = function.or(usual).filter(|name| !name.is_empty()).map(str::to_owned);
        Some(Executor {
            kind: Kind::Judge(Box::new(Sandboxed {
                judge: (self.around.judge)(),
                runtime: runtime.to_owned(),
                digest: digest.map(str::to_owned),
                source: source?,
                function,
                limits,
            })),
            cost_nano_tao: (cost? * NANO).round_ties_even() as u64,
            longest: LONGEST,
            answer_bytes_max: 0,
            secrets: Vec::new(),
        })
    }

    fn source(&mut self, fields: &Fields<'a, 'd>, runtime: &str) -> Option<Source> {
        let (file, pointer) = (fields.text("source", self.report), fields.text("source_from", self.report));
        match (file, pointer) {
            (Some(_), Some(_)) => {
                let at = fields.place("source_from");
                self.report.add(at, "`source` and `source_from` exclude each other", "keep one");
                None
            }
            (None, None) => {
                if !fields.has("source") && !fields.has("source_from") {
                    let hint =
                        "add `source = \"FILE\"`, or `source_from = \"/code\"` for code in the parameters";
                    self.report.add(self.at, "nothing says which code is run", hint);
                }
                None
            }
            (None, Some(pointer)) => {
                if !pointer.starts_with('/') {
                    let at = fields.place("source_from");
                    let message = format!("{} is not a JSON Pointer", quoted(pointer));
                    self.report.add(at, message, "it begins with a slash: `/code`");
                    return None;
                }
                Some(Source::Parameter(pointer.to_owned()))
            }
            (Some(path), None) => self.file(fields, path, runtime).map(Source::File),
        }
    }

    /// Reads a file of code: text, or a module, which becomes Base64.
    fn file(&mut self, fields: &Fields<'a, 'd>, path: &str, runtime: &str) -> Option<String> {
        let at = fields.place("source");
        let bytes = match std::fs::read(self.around.folder.join(path)) {
            Ok(bytes) => bytes,
            Err(error) => {
                let hint = "paths are relative to the folder of this file";
                self.report.add(at, format!("cannot read {}: {error}", quoted(path)), hint);
                return None;
            }
        };
        if bytes.len() > SOURCE_BYTES_MAX {
            let message = format!("{} has {} bytes", quoted(path), bytes.len());
            self.report.add(at, message, format!("expected at most {SOURCE_BYTES_MAX}"));
            return None;
        }
        if runtime == WASM {
            return Some(data_encoding::BASE64.encode(&bytes));
        }
        match String::from_utf8(bytes) {
            Ok(text) => Some(text),
            Err(error) => {
                self.report.add(at, format!("{} is not UTF-8: {error}", quoted(path)), "");
                None
            }
        }
    }
}

/// Returns true if `name` can be that of a function, perhaps in a module: `run`, `solution.run`. An empty one is for a program.
fn is_function(name: &str) -> bool {
    let is_part = |part: &str| {
        let mut all = part.chars();
        all.next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && all.all(|c| c.is_alphanumeric() || c == '_')
    };
    name.is_empty() || name.split('.').all(is_part)
}
