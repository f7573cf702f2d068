//! Files and streams as they are opened: looked at once, and read from their beginning.

use std::collections::BTreeMap;
use std::fs::{File, metadata};
use std::io::{self, BufRead as _, BufReader, Cursor, Read, Seek as _};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use karat_core::facts::{Digest, Digester};
use karat_importers::{Importer, Unread, recognise, unpack};

use super::BUFFER;
use super::frames::FrameFormat;
use super::logs::logged;
use crate::engine::{Wanted, each_item};
use crate::error::Error;

/// Bytes that show what a file is.
const HEAD: u64 = 1 << 20;
/// The beginnings of archives, and of texts in UTF-16.
const OTHERWISE: [&[u8]; 3] = [b"PK\x03\x04", &[0xff, 0xfe], &[0xfe, 0xff]];

/// The digests of files by their paths, taken as they are read.
pub(super) type Digests = Arc<Mutex<BTreeMap<String, Digest>>>;

/// A file that was looked at.
pub(super) struct Looked {
    /// The format, if it is the log of another tool.
    format: Option<&'static Importer>,
    /// The format, if it is a known one that is not read.
    pub(super) unread: Option<Unread>,
    /// The format, if it has columns.
    pub(super) columns: Option<FrameFormat>,
    /// The open file, unless something else has to open it.
    pub(super) file: Option<File>,
}

/// Opens a file: the one place for inputs other than logs.
fn open(path: &str) -> io::Result<File> {
    #[cfg(test)]
    super::tests::opened(path);
    File::open(path)
}

/// Returns the format of a file, if it is the log of another tool.
pub(super) fn look(
    path: &str,
    looked: &mut BTreeMap<String, Looked>,
) -> Result<Option<&'static Importer>, Error> {
    if let Some(known) = looked.get(path) {
        return Ok(known.format);
    }
    let found = seen(path)?;
    let format = found.format;
    looked.insert(path.to_owned(), found);
    Ok(format)
}

fn seen(path: &str) -> Result<Looked, Error> {
    // What a pipe, an archive or a name shows takes more than a head.
    if !metadata(path).is_ok_and(|about| about.is_file()) || path.contains(".traj") {
        return Ok(Looked { format: logged(path)?, unread: None, columns: None, file: None });
    }
    let begin = || -> io::Result<(Vec<u8>, File)> {
        let mut file = open(path)?;
        let mut head = Vec::new();
        (&file).take(8).read_to_end(&mut head)?;
        file.rewind()?;
        if FrameFormat::of(&head).is_none() {
            head.clear();
            unpack(file.try_clone()?)?.take(HEAD).read_to_end(&mut head)?;
        }
        file.rewind()?;
        Ok((head, file))
    };
    match begin() {
        Ok((head, file)) if !OTHERWISE.iter().any(|begin| head.starts_with(begin)) => {
            // Of what is packed, the head is longer.
            let columns = FrameFormat::of(&head).filter(|_| head.len() <= 8);
            let format = if columns.is_none() { recognise(&head) } else { None };
            let unread = if format.is_none() && columns.is_none() { Unread::of(&head) } else { None };
            Ok(Looked { format, unread, columns, file: Some(file) })
        }
        _ => Ok(Looked { format: logged(path)?, unread: None, columns: None, file: None }),
    }
}

/// Returns a file from its beginning, unpacked; one that was opened already, or a pipe of which some was read.
pub(super) fn whole(
    path: &str,
    opened: Option<File>,
    digests: Option<&Digests>,
) -> io::Result<Box<dyn Read + Send>> {
    let file = match opened {
        Some(file) => file,
        None if metadata(path).is_ok_and(|about| about.is_file()) => open(path)?,
        None => return stream(path),
    };
    match digests {
        Some(digests) => unpack(Digested::new(file, path, digests)),
        None => unpack(file),
    }
}

/// A stream of which the first item was read, with that put back. Standard input and pipes can be opened only once.
static BEGUN: Mutex<Option<(String, Box<dyn Read + Send>)>> = Mutex::new(None);

/// Opens a pipe, or standard input.
pub(crate) fn stream(path: &str) -> io::Result<Box<dyn Read + Send>> {
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    match begun.take_if(|(begun, _)| begun == path) {
        Some((_, begun)) => Ok(begun),
        None if path == "-" => unpack(io::stdin()),
        None => unpack(open(path)?),
    }
}

/// Returns the first item of a file or stream, which is at its beginning after that.
pub(super) fn first_item(
    path: &str,
    looked: &mut BTreeMap<String, Looked>,
    wanted: &Wanted,
) -> Option<Vec<u8>> {
    let first = |input: &mut dyn Read| {
        let mut input = BufReader::with_capacity(BUFFER, input);
        let layout = match path {
            "-" if recognise(input.fill_buf().ok()?).is_some() => return None,
            _ if FrameFormat::of(input.fill_buf().ok()?).is_some() => return None,
            "-" => wanted.layout_of_stream(&mut input).ok()?,
            path => wanted.layout_of_file(path).ok()?,
        };
        let found = each_item(path, input, layout, wanted, |_, item| {
            ControlFlow::Break(item.ok().map(<[u8]>::to_vec))
        });
        found.break_value().flatten()
    };
    if path != "-" && metadata(path).is_ok_and(|about| about.is_file()) {
        look(path, looked).ok()?;
        let mut file = looked.get(path)?.file.as_ref()?;
        let found = first(&mut unpack(file.try_clone().ok()?).ok()?);
        file.rewind().ok()?;
        return found;
    }
    let mut input = stream(path).ok()?;
    let mut taken = Vec::new();
    let found = first(&mut Kept { input: &mut input, taken: &mut taken });
    let whole = Box::new(Cursor::new(taken).chain(input));
    *BEGUN.lock().unwrap_or_else(PoisonError::into_inner) = Some((path.to_owned(), whole));
    found
}

/// Keeps a copy of what is read.
struct Kept<'t, R> {
    input: R,
    taken: &'t mut Vec<u8>,
}

impl<R: Read> Read for Kept<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(into)?;
        self.taken.extend_from_slice(into.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// A file whose digest is noted once it was read to its end.
struct Digested {
    file: File,
    path: String,
    digester: Option<Digester>,
    digests: Digests,
}

impl Digested {
    fn new(file: File, path: &str, digests: &Digests) -> Self {
        let digester = Some(Digester::default());
        Self { file, path: path.to_owned(), digester, digests: Arc::clone(digests) }
    }
}

impl Read for Digested {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        if count > 0 {
            self.digester.iter_mut().for_each(|it| it.add(into.get(..count).unwrap_or_default()));
        } else if let Some(digester) = self.digester.take_if(|_| !into.is_empty()) {
            let mut digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
            digests.insert(self.path.clone(), digester.end());
        }
        Ok(count)
    }
}
