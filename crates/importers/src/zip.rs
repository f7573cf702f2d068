//! Zip archives: members by name, unpacked within bounds and checked against their checksums.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder};

use super::Fault;
use super::bytes::{Anywhere, Input, Method, unpacked};
use karat_evidence::json::problem::quoted;

/// Most members of an archive.
const MEMBERS_MAX: usize = 1 << 20;

/// An archive whose members are known.
pub(super) struct Archive {
    archive: Arc<ZipArchive<Anywhere>>,
    members: BTreeMap<String, (ZipArchiveEntryWayfinder, CompressionMethod)>,
    /// Names in the order of the archive.
    pub names: Vec<String>,
    /// Names of which there are several members: the last of them counts, as of what was written again.
    pub repeated: Vec<String>,
}

fn fault(place: impl Into<String>, found: impl Into<String>, expected: &str) -> Fault {
    Fault::new(place, found, expected)
}

impl Archive {
    pub(super) fn open(input: &Input) -> Result<Self, Fault> {
        let unreadable = |error: &dyn std::fmt::Display| {
            let hint = "the file is cut off or damaged: supply all of it";
            Fault { hint: hint.to_owned(), ..fault("the archive", error.to_string(), "a whole zip archive") }
        };
        let mut buffer = vec![0; rawzip::RECOMMENDED_BUFFER_SIZE];
        let reader = input.anywhere().map_err(|error| unreadable(&error))?;
        let end = input.len().map_err(|error| unreadable(&error))?;
        let located = rawzip::ZipLocator::new().locate_in_reader(reader, &mut buffer, end);
        let archive = located.map_err(|(_, error)| unreadable(&error))?;
        let (mut members, mut names, mut repeated) = (BTreeMap::new(), Vec::new(), Vec::new());
        let stated = archive.entries_hint();
        let mut spans = Vec::new();
        let mut entries = archive.entries(&mut buffer);
        while let Some(entry) = entries.next_entry().map_err(|error| unreadable(&error))? {
            if entry.is_dir() {
                spans.push((entry.local_header_offset(), 0));
                continue;
            }
            let name = entry.file_path().try_normalize().map_err(|error| unreadable(&error))?;
            let name = name.as_str().to_owned();
            spans.push((entry.local_header_offset(), entry.compressed_size_hint()));
            let found = (entry.wayfinder(), entry.compression_method());
            if members.insert(name.clone(), found).is_some() {
                repeated.push(name);
            } else {
                names.push(name);
            }
            if spans.len() > MEMBERS_MAX {
                return Err(fault("the archive", "more than a million members", "fewer"));
            }
        }
        if spans.len() as u64 != stated {
            let found = format!("{} members", spans.len());
            return Err(fault("the archive", found, &format!("the {stated} that it states")));
        }
        spans.sort_unstable();
        // One packed text that many members share would unpack many times.
        let overlap = spans.windows(2).any(|pair| match pair {
            [(start, length), (next, _)] => start.saturating_add(*length) > *next,
            _ => false,
        });
        if overlap {
            return Err(fault("the archive", "members that share bytes", "members one after the other"));
        }
        Ok(Self { archive: Arc::new(archive), members, names, repeated })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Opens a member; the end of the reader comes only if size and checksum are right.
    pub(super) fn member(&self, name: &str) -> Result<Box<dyn Read>, Fault> {
        let Some((place, method)) = self.members.get(name) else {
            return Err(fault(quoted(name), "nothing", "a member of that name"));
        };
        let unreadable = |error: rawzip::Error| fault(quoted(name), error.to_string(), "a whole member");
        let entry = self.archive.get_entry(*place).map_err(unreadable)?;
        let (from, to) = entry.compressed_data_range();
        let packed = Range { archive: Arc::clone(&self.archive), at: from, end: to };
        let plain = match *method {
            CompressionMethod::STORE => Box::new(packed),
            CompressionMethod::DEFLATE => unpacked(packed, Method::Deflate),
            CompressionMethod::ZSTD | CompressionMethod::ZSTD_DEPRECATED => {
                unpacked(packed, Method::Zstandard)
            }
            other => {
                let found = format!("the packing method {}", other.as_u16());
                return Err(fault(quoted(name), found, "stored, deflate (8) or Zstandard (93)"));
            }
        };
        Ok(Box::new(entry.verifying_reader(plain)))
    }
}

/// The bytes of a member as they are in the archive.
struct Range {
    archive: Arc<ZipArchive<Anywhere>>,
    at: u64,
    end: u64,
}

impl Read for Range {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let most = left.min(into.len());
        let into = into.get_mut(..most).unwrap_or_default();
        let count = rawzip::ReaderAt::read_at(self.archive.get_ref(), into, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}
