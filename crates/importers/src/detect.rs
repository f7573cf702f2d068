//! Detection of the tool that wrote a file, by its content.

use super::zip::Archive;
use super::{Fault, IMPORTERS, ImportError, Importer, Input, inspect, json, swe_agent};

/// Bytes that are looked at.
const HEAD: u64 = 1 << 20;

/// Returns the importer of a log; none if karat knows none, as for its own evidence.
///
/// # Errors
/// If the file cannot be read or unpacked, or is written in UTF-16.
pub fn detect(input: &Input) -> Result<Option<&'static Importer>, ImportError> {
    let head = input.head(HEAD).map_err(|error| Fault::unreadable(&error).of(input))?;
    if head.starts_with(b"PK\x03\x04") {
        let archive = Archive::open(input).map_err(|fault| fault.of(input))?;
        let is_log = archive.has("header.json") || archive.has("_journal/start.json");
        return Ok(is_log.then_some(&inspect::IMPORTER));
    }
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        let fault = Fault::new("", "UTF-16", "UTF-8");
        return Err(fault.hint("save the file as UTF-8").of(input));
    }
    let found = of_text(&head);
    // Version 1 of mini-SWE-agent wrote a list of messages, as many programs do: its name says more.
    let is_trajectory = [".traj", ".traj.json", ".traj.gz", ".traj.json.gz"];
    if found.is_none() && is_trajectory.iter().any(|end| input.name().ends_with(end)) && is_messages(&head) {
        return Ok(Some(&swe_agent::MINI_SWE_AGENT));
    }
    Ok(found)
}

/// Refuses a file that is for another importer than the one that is asked for. A file that shows no format may be of any; one
/// that shows several is of each.
///
/// # Errors
/// If it shows another format, or cannot be read.
pub fn check(input: &Input, asked: &Importer) -> Result<(), ImportError> {
    let Some(found) = detect(input)?.filter(|found| *found != asked) else { return Ok(()) };
    let head = input.head(HEAD).map_err(|error| Fault::unreadable(&error).of(input))?;
    if asked.is_shown_by(&json::outline(head.trim_ascii_start())) {
        return Ok(());
    }
    let fault = Fault::new("", found.words, asked.words);
    Err(fault.hint(&format!("leave out the format, or ask for `{found}`")).of(input))
}

fn is_messages(head: &[u8]) -> bool {
    let outline = json::outline(head.trim_ascii_start());
    ["[].role", "[].content"].iter().all(|mark| outline.iter().any(|path| path == mark))
}

/// Returns the importer of a stream that begins with these bytes; none if they do not show it.
pub fn recognise(head: &[u8]) -> Option<&'static Importer> {
    // Of the archives that karat reads there is one.
    if head.starts_with(b"PK\x03\x04") { Some(&inspect::IMPORTER) } else { of_text(head) }
}

/// Returns a text without the mark and the white space before it.
pub(super) fn trimmed(head: &[u8]) -> &[u8] {
    head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start()
}

fn of_text(head: &[u8]) -> Option<&'static Importer> {
    let text = trimmed(head);
    let mut paths = Vec::new();
    let is_json = matches!(text.first(), Some(b'{' | b'['));
    if is_json {
        paths = json::outline(text);
    }
    let is_of = |it: &&Importer| (it.begins)(head) || (is_json && it.is_shown_by(&paths));
    IMPORTERS.iter().copied().find(is_of)
}
