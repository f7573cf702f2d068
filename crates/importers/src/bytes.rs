//! Bytes of a log: a file or memory, unpacked where they are packed, within bounds.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::{DeflateDecoder, MultiGzDecoder};
use karat_core::facts::{Digest, Digester};
use rawzip::{FileReader, ReaderAt};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

const BUFFER: usize = 1 << 16;
/// Unpacked bytes from which on [`RATIO`] is checked.
const FREE: u64 = 32 << 20;
/// Most bytes that a packed one may become. Logs of agents reach 30.
const RATIO: u64 = 500;
/// Longest look back that packed bytes may ask for.
const WINDOW_MAX: u64 = 128 << 20;

/// A log to import: a file, or bytes in memory.
#[derive(Debug, Clone)]
pub struct Input {
    name: String,
    bytes: Bytes,
}

#[derive(Debug, Clone)]
enum Bytes {
    File(PathBuf),
    Memory(Arc<[u8]>),
}

impl Input {
    /// Takes a file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { name: path.display().to_string(), bytes: Bytes::File(path) }
    }

    /// Takes bytes that are called `name`.
    pub fn memory(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { name: name.into(), bytes: Bytes::Memory(bytes.into()) }
    }

    /// Returns the same under another name.
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Returns the name that messages and items have.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the last part of the name without endings: `run` of `logs/run.json.gz`.
    pub fn stem(&self) -> &str {
        let last = self.name.rsplit(['/', '\\']).next().unwrap_or_default();
        let mut stem = last;
        for ending in [".gz", ".zst", ".json", ".jsonl", ".ndjson", ".traj", ".xml", ".eval", ".pb", ".yml"] {
            stem = stem.strip_suffix(ending).filter(|rest| !rest.is_empty()).unwrap_or(stem);
        }
        stem
    }

    /// Returns the last part of the folder in the name, if there is one.
    pub(super) fn folder(&self) -> Option<&str> {
        self.part(1)
    }

    pub(super) fn folder_above(&self) -> Option<&str> {
        self.part(2)
    }

    /// Returns the part of the name that is this number before the last.
    pub(super) fn part(&self, before: usize) -> Option<&str> {
        self.name.rsplit(['/', '\\']).nth(before).filter(|name| !matches!(*name, "" | "." | ".."))
    }

    /// Returns whether it begins as an archive or a packed file does.
    pub fn is_packed(&self) -> bool {
        let mut head = [0; 4];
        let read = self.packed().and_then(|mut input| input.read(&mut head));
        read.is_ok() && matches!(head, [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd] | [b'P', b'K', 3, 4])
    }

    /// Returns the path, if it is a file.
    pub fn path(&self) -> Option<&Path> {
        match &self.bytes {
            Bytes::File(path) => Some(path),
            Bytes::Memory(_) => None,
        }
    }

    /// Returns true for a file that lies there itself: a link beside a log may lead anywhere.
    pub(super) fn is_plain(path: &Path) -> bool {
        std::fs::symlink_metadata(path).is_ok_and(|about| about.is_file())
    }

    /// Returns the digest of the bytes as they are, packed or not.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn digest(&self) -> io::Result<Digest> {
        let mut digester = Digester::default();
        let mut input = self.packed()?;
        let mut buffer = vec![0; BUFFER];
        loop {
            match input.read(&mut buffer) {
                Ok(0) => return Ok(digester.end()),
                Ok(count) => digester.add(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn packed(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match &self.bytes {
            Bytes::File(path) => Box::new(File::open(path)?),
            Bytes::Memory(bytes) => Box::new(io::Cursor::new(Arc::clone(bytes))),
        })
    }

    /// Opens it, unpacked if it is packed with gzip or Zstandard.
    pub(super) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        unpack(self.packed()?)
    }

    /// Opens it as a text of JSON.
    pub(super) fn json(&self) -> io::Result<impl BufRead + use<>> {
        json_text(self.open()?)
    }

    /// Returns the first `most` bytes, unpacked and without the mark before UTF-8; fewer where it cannot be unpacked further.
    ///
    /// # Errors
    /// If nothing can be read.
    pub fn head(&self, most: u64) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        let read = self.open()?.take(most).read_to_end(&mut head);
        match read {
            Err(error) if head.is_empty() => Err(error),
            _ if head.starts_with(MARK) => Ok(head.split_off(MARK.len())),
            _ => Ok(head),
        }
    }

    /// Opens it for reading at any place.
    pub(super) fn anywhere(&self) -> io::Result<Anywhere> {
        Ok(match &self.bytes {
            Bytes::File(path) => Anywhere::File(FileReader::from(File::open(path)?)),
            Bytes::Memory(bytes) => Anywhere::Memory(Arc::clone(bytes)),
        })
    }

    /// Returns the number of bytes.
    pub(super) fn len(&self) -> io::Result<u64> {
        Ok(match &self.bytes {
            Bytes::File(path) => std::fs::metadata(path)?.len(),
            Bytes::Memory(bytes) => bytes.len() as u64,
        })
    }
}

/// A reader at any place of a log.
pub(super) enum Anywhere {
    File(FileReader),
    Memory(Arc<[u8]>),
}

impl ReaderAt for Anywhere {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read_at(into, offset),
            Self::Memory(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                bytes.get(from..).unwrap_or_default().read(into)
            }
        }
    }
}

/// Returns what `input` holds, unpacked if it begins as gzip or Zstandard does; what becomes far more than it was fails.
///
/// # Errors
/// If its first bytes cannot be read.
pub fn unpack(input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let method = match input.fill_buf()? {
        [0x1f, 0x8b, ..] => Method::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Method::Zstandard,
        _ => return Ok(Box::new(input)),
    };
    Ok(unpacked(input, method))
}

/// The way in which bytes are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Gzip,
    Deflate,
    Zstandard,
}

/// Unpacks `input`, and fails where it becomes far more than it was.
pub(super) fn unpacked(input: impl Read + Send + 'static, method: Method) -> Box<dyn Read + Send> {
    let taken = Arc::new(AtomicU64::new(0));
    let input = BufReader::with_capacity(BUFFER, Counted { input, taken: Arc::clone(&taken) });
    let output: Box<dyn Read + Send> = match method {
        Method::Gzip => Box::new(MultiGzDecoder::new(input)),
        Method::Deflate => Box::new(DeflateDecoder::new(input)),
        Method::Zstandard => Box::new(Frames::new(input)),
    };
    Box::new(Bounded { output, taken, given: 0 })
}

fn broken(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.into())
}

/// The mark before UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

struct Counted<R> {
    input: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(into)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Fails where there is far more output than input.
struct Bounded {
    output: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
    given: u64,
}

impl Read for Bounded {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.output.read(into)?;
        self.given += count as u64;
        if self.given > FREE && self.given / RATIO > self.taken.load(Ordering::Relaxed) {
            return Err(broken(format!("unpacks to more than {RATIO} times its size")));
        }
        Ok(count)
    }
}

/// The frames of Zstandard, one after the other.
struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    is_within: bool,
}

impl<R: BufRead> Frames<R> {
    fn new(input: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_MAX);
        Self { input, decoder, is_within: false }
    }

    /// Begins the next frame, and returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.input.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut self.input.by_ref().take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(broken(error.to_string())),
            }
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_within && !self.begin()? {
                return Ok(0);
            }
            self.is_within = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let blocks = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder
                    .decode_blocks(&mut self.input, blocks)
                    .map_err(|error| broken(error.to_string()))?;
            }
            match self.decoder.read(into)? {
                0 => {
                    let stated = self.decoder.get_checksum_from_data();
                    if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
                        return Err(broken("the checksum of the packed bytes is another one"));
                    }
                    self.is_within = false;
                }
                count => return Ok(count),
            }
        }
    }
}

/// Returns a text of JSON without the mark before UTF-8.
///
/// # Errors
/// If its first bytes cannot be read, or begin UTF-16.
pub(super) fn json_text(mut input: impl Read) -> io::Result<impl BufRead> {
    let mut head = Vec::new();
    input.by_ref().take(3).read_to_end(&mut head)?;
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(broken("UTF-16, which is not read: save the file as UTF-8"));
    }
    if head == MARK {
        head.clear();
    }
    Ok(BufReader::with_capacity(BUFFER, io::Cursor::new(head).chain(input)))
}
