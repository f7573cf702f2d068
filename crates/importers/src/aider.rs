//! Leaderboards of Aider: a list of flat records, in the simplest form of YAML; and what its benchmark prints, with rules above and sums
//! of costs below each record.

use std::io::BufRead as _;

use super::detect::trimmed;
use super::out::{Out, Run, known, share};
use super::{Fault, Importer, Input, Stop};

pub(super) static IMPORTER: Importer = Importer {
    name: "aider",
    words: "a leaderboard of Aider",
    begins: is_leaderboard,
    read,
    ..Importer::RUNS
};

/// Longest line and most fields of a record.
const LINE_MAX: usize = 1 << 16;
const FIELDS_MAX: usize = 200;

/// Measurements that keep their names.
const KEPT: &str = "pass_rate_1 pass_rate_2 percent_cases_well_formed test_cases total_cost seconds_per_case error_outputs \
    user_asks syntax_errors indentation_errors exhausted_context_windows test_timeouts";

/// Beginnings of lines that its benchmark prints around a record.
const AROUND: [&str; 2] = ["\u{2500}", "costs: "];

/// Returns what comes after the rules above the first record.
fn after_rules(mut text: &[u8]) -> &[u8] {
    while text.starts_with(AROUND[0].as_bytes()) {
        text = text.splitn(2, |&byte| byte == b'\n').nth(1).unwrap_or_default().trim_ascii_start();
    }
    text
}

#[derive(Default)]
struct Record {
    line: u64,
    fields: Vec<(String, String)>,
}

fn is_leaderboard(head: &[u8]) -> bool {
    after_rules(trimmed(head)).starts_with(b"- dirname:")
}

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let mut lines = std::io::BufReader::new(input.open()?);
    let mut record = Record::default();
    let mut text = String::new();
    for number in 1u64.. {
        text.clear();
        let place = format!("line {number}");
        let most = LINE_MAX as u64 + 1;
        let count = std::io::Read::take(&mut lines, most)
            .read_line(&mut text)
            .map_err(|error| Fault::new(&place, error.to_string(), "a line of text"))?;
        if count == 0 {
            break;
        }
        if count > LINE_MAX {
            return Err(Fault::new(place, "a line of more than 64 kB", "a shorter line").into());
        }
        let line = text.trim_end();
        // The mark before UTF-8.
        let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { line };
        let is_around = AROUND.iter().any(|start| line.starts_with(start));
        if line.trim_start().is_empty() || line.trim_start().starts_with('#') || is_around {
            continue;
        }
        let (is_first, field) = match (line.strip_prefix("- "), line.strip_prefix("  ")) {
            (Some(field), _) => (true, Some(field)),
            (None, field) => (false, field),
        };
        let field = field.and_then(|field| field.split_once(':'));
        let Some((name, value)) = field.filter(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        }) else {
            let found = karat_evidence::json::problem::quoted(line);
            return Err(Fault::new(place, found, "`name: value` of a flat record").into());
        };
        if is_first && !record.fields.is_empty() {
            take(std::mem::take(&mut record), out)?;
        }
        if record.fields.is_empty() {
            record.line = number;
        }
        if record.fields.len() >= FIELDS_MAX {
            return Err(Fault::new(place, "more than 200 fields of a record", "fewer").into());
        }
        if record.fields.iter().any(|(known, _)| known == name) {
            return Err(Fault::new(place, format!("`{name}` a second time"), "each field once").into());
        }
        let value = value.trim().trim_matches(['"', '\'']);
        record.fields.push((name.to_owned(), value.to_owned()));
    }
    if record.fields.is_empty() { Ok(()) } else { take(record, out) }
}

fn take(record: Record, out: &mut Out<'_>) -> Result<(), Stop> {
    let place = format!("line {}", record.line);
    let text = |wanted: &str| {
        let found = record.fields.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    };
    let number = |name: &str| text(name)?.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
    let (Some(model), Some(id)) = (text("model"), text("dirname")) else {
        return Err(Fault::new(place, "a record without `model` or `dirname`", "both").into());
    };
    let cases = number("test_cases").filter(|cases| *cases >= 1.0);
    let [_, solved] = ["1", "2"].map(|tries| {
        let rate = number(&format!("pass_rate_{tries}"));
        let passed = number(&format!("pass_num_{tries}")).zip(cases).map(|(passed, cases)| passed / cases);
        // A rate is in percent; some write a share, and the number of cases shows it.
        let solved = match (rate, passed) {
            (Some(rate), Some(passed)) if (rate - passed).abs() < 0.005 && rate < 1.0 => Some(rate),
            (rate, _) => rate.map(share),
        };
        if let Some((rate, passed)) = solved.zip(passed).filter(|(one, other)| (one - other).abs() > 0.006) {
            let [rate, passed] = [rate, passed].map(|share| (share * 1e3).round() / 10.0);
            out.contradiction(format!(
                "`{id}` states {rate} as its `pass_rate_{tries}`, and `pass_num_{tries}` of `test_cases` is {passed}: the run may be incomplete"
            ));
        }
        solved
    });
    let cost = known(out, "a cost", number("total_cost"));
    let seconds = known(out, "a time", number("seconds_per_case"));
    let mut run = Run {
        subject: text("edit_format").map_or_else(|| model.to_owned(), |form| format!("{model} ({form})")),
        id: id.to_owned(),
        // Two tries are the number of the leaderboard; where there was one, its share is another measurement.
        solved,
        cost_usd: cost.zip(cases).map(|(cost, cases)| cost / cases),
        seconds,
        cases: cases.filter(|cases| cases.fract() == 0.0),
        ..Run::default()
    };
    if run.solved.is_none() {
        out.left_out("no share solved within two tries");
    }
    for name in KEPT.split(' ') {
        run.measured(name, number(name));
    }
    out.left_out("no results of single cases: a record has their sum");
    out.run(&place, run)
}
