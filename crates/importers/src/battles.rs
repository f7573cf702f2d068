//! Battles of LMArena: two models, one vote. They become matches for ratings.

use serde_json::{Map, Value};

use super::detect::trimmed;
use super::json::{Element, Members, Wanted};
use super::out::{Out, mended};
use super::{Fault, Importer, Input, Role, Stop, json};
use karat_evidence::json::problem::quoted;

pub(super) static IMPORTER: Importer = Importer {
    name: "battles",
    words: "a file of battles",
    role: Role::Matches,
    marks: &[&["[].model_a", "[].model_b", "[].winner"], &["model_a", "model_b", "winner"]],
    begins: is_table,
    read,
    ..Importer::RUNS
};

const ROW: &str =
    "id question_id model_a model_b winner anony judge evaluation_session_id tstamp timestamp language";

fn is_table(head: &[u8]) -> bool {
    let text = trimmed(head);
    let header = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let header = String::from_utf8_lossy(header);
    let columns: Vec<&str> = header.split(',').map(|cell| cell.trim().trim_matches('"')).collect();
    !matches!(text.first(), Some(b'<' | b'{' | b'['))
        && ["model_a", "model_b", "winner"].iter().all(|name| columns.contains(name))
}

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let head = input.head(1 << 12)?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
    match head.first() {
        Some(b'[') => {
            let wanted = Wanted::of(&[("[]", ROW)]);
            json::read(input.json()?, &wanted, &mut |row| of_members(row, input, out)).map(drop)
        }
        Some(b'{') => {
            json::read_lines(input.json()?, &Wanted::of(&[("", ROW)]), &mut |row| of_members(row, input, out))
        }
        _ => table(input, out),
    }
}

fn of_members(row: &Element<'_>, input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let own: &Members = row.own;
    battle(row.place, &|name| own.name(name), input, out)
}

fn table(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    // After `\r\n` the reader counts a line too few; the cells are trimmed anyway.
    let mut rows =
        csv::ReaderBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_reader(input.open()?);
    let wrong = |error: csv::Error| {
        let line = error.position().map_or_else(String::new, |place| format!("line {}", place.line()));
        Fault::new(line, error.to_string(), "a row with a cell for each column")
    };
    let header = rows.headers().map_err(wrong)?.clone();
    let column = |name: &str| header.iter().position(|it| it.trim_start_matches('\u{feff}').trim() == name);
    let mut row = csv::StringRecord::new();
    while rows.read_record(&mut row).map_err(wrong)? {
        let place = format!("line {}", row.position().map_or(0, csv::Position::line));
        let cell = |name: &str| {
            let cell = row.get(column(name)?)?.trim();
            (!cell.is_empty()).then(|| cell.to_owned())
        };
        battle(&place, &cell, input, out)?;
    }
    Ok(())
}

fn battle(
    place: &str,
    cell: &dyn Fn(&str) -> Option<String>,
    input: &Input,
    out: &mut Out<'_>,
) -> Result<(), Stop> {
    let (Some(first), Some(second)) = (cell("model_a"), cell("model_b")) else {
        return Err(Fault::new(place, "a battle without `model_a` or `model_b`", "both").into());
    };
    if cell("anony").is_some_and(|anony| anony.eq_ignore_ascii_case("false")) {
        out.left_out("a vote of someone who saw the names (`anony` is false), which LMArena does not count");
        return Ok(());
    }
    let winner = cell("winner").unwrap_or_default();
    let result = match winner.as_str() {
        "model_a" => "first",
        "model_b" => "second",
        "tie" => "draw",
        "tie (bothbad)" | "both_bad" | "bothbad" => {
            out.note("votes that both answers are bad count as draws, as at LMArena");
            "draw"
        }
        "" => {
            out.left_out("a battle without a vote");
            return Ok(());
        }
        other => {
            let found = format!("{} as `winner`", quoted(other));
            let expected = "model_a, model_b, tie, tie (bothbad) or both_bad";
            return Err(Fault::new(place, found, expected).into());
        }
    };
    if first == second {
        out.left_out("a battle of a model against itself");
        return Ok(());
    }
    let mut item = Map::new();
    let id = cell("id").or_else(|| cell("question_id"));
    let id = id.unwrap_or_else(|| format!("{}:{place}", input.name()));
    let members = [("id", id), ("first", first), ("second", second), ("result", result.to_owned())];
    for (name, value) in members {
        item.insert(name.to_owned(), mended(&value).into());
    }
    for (name, from) in [("judge", ["judge", "evaluation_session_id"]), ("category", ["language", ""])] {
        if let Some(value) = from.iter().find_map(|from| cell(from)) {
            item.insert(name.to_owned(), Value::from(mended(&value)));
        }
    }
    out.write(place, item)
}
