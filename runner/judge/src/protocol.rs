//! The protocol of the program: one JSON object a line, in and out.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use karat_graders::execution::Job;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::ENGINE;
use crate::error::JudgeError;
use crate::judge::Judge;
use crate::numbers::integer_beyond_64_bits;

/// Longest line in bytes.
pub const LINE_MAX: u64 = 64 << 20;

#[derive(Deserialize)]
struct Request {
    id: Value,
    job: Job,
}

/// Returns the first line: who this is, and what it has.
pub fn greeting(judge: &Judge) -> Value {
    let runtimes: BTreeMap<&str, String> = judge.runtimes().into_iter().collect();
    json!({
        "karat-judge": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "engine": ENGINE,
        "runtimes": runtimes,
    })
}

/// Answers one line. Whatever happens, there is an answer.
pub fn answer(judge: &Judge, line: &str) -> Value {
    let request: Request = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => {
            // The number helps the sender of the line, if it has one.
            let id = serde_json::from_str::<Value>(line).ok().and_then(|it| it.get("id").cloned());
            let why = format!("this is not a request: {error}");
            return json!({"id": id.unwrap_or_default(), "no_verdict": why});
        }
    };
    let id = request.id;
    if let Some(literal) = integer_beyond_64_bits(line) {
        let shown: String = literal.chars().take(40).collect();
        let why = format!("the integer {shown} has more than 64 bits, and would be rounded");
        return json!({"id": id, "no_verdict": why});
    }
    let judged = catch_unwind(AssertUnwindSafe(|| judge.judge(&request.job)));
    match judged {
        Ok(Ok(report)) => json!({"id": id, "report": report}),
        Ok(Err(JudgeError::NoVerdict(why))) => json!({"id": id, "no_verdict": why}),
        Ok(Err(JudgeError::Refused(faults))) => json!({"id": id, "refused": faults}),
        Err(_) => json!({"id": id, "no_verdict": "the judge failed at this job"}),
    }
}

/// Answers every line of the input, each on a line of the output, until the input ends.
///
/// # Errors
///
/// If input or output fail.
pub fn serve(judge: &Judge, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    send(&mut output, &greeting(judge))?;
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = io::Read::take(&mut input, LINE_MAX).read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(());
        }
        if line.last() != Some(&b'\n') && count as u64 == LINE_MAX {
            let why = format!("a line is longer than {LINE_MAX} bytes");
            send(&mut output, &json!({"id": null, "no_verdict": why}))?;
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let reply = match std::str::from_utf8(&line) {
            Ok(text) => answer(judge, text),
            Err(error) => json!({"id": null, "no_verdict": format!("this is not a request: {error}")}),
        };
        send(&mut output, &reply)?;
    }
}

fn send(output: &mut impl Write, value: &Value) -> io::Result<()> {
    writeln!(output, "{value}")?;
    output.flush()
}
