//! The parts of an evaluator that a judge grades: their files, the sections `[submission]` and `[limits]`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use karat_core::facts::Digest;

use super::field::Field;
use super::{Dimension, Test};
use crate::arena::cases::CaseFile;
use crate::arena::members::{Member, Members};
use crate::execution::{FileReader, Limits, RUNTIMES, check_path};
use crate::quality::Schema;
use karat_evidence::json::problem::{Problem, Problems, did_you_mean, quoted};

/// Largest text of a suite or script, in bytes.
const SOURCE_MAX_BYTES: usize = 256 << 10;
/// Most files of a submission.
const FILES_MAX: usize = 64;
/// Most fuel that the cases and scripts of one challenge may use together: about ten minutes.
const FUEL_TOTAL_MAX: u64 = 2_000_000_000_000;

/// The way in which a file is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Cases,
    Suite,
    Script,
}

impl Role {
    /// Returns the option that names the file.
    pub fn option(self) -> &'static str {
        match self {
            Self::Cases => "cases",
            Self::Suite => "suite",
            Self::Script => "file",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct JudgedPart {
    pub key: FileKey,
    digest: Option<Digest>,
    /// Its JSON path in the card.
    at: String,
}

pub(super) type FileKey = (Role, String);

/// Everything that a judge needs besides an answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    pub runtime: String,
    pub runtime_digest: Option<String>,
    pub files: BTreeMap<String, Field>,
    pub schema: Option<AnswerSchema>,
    pub limits: Limits,
    pub uses: BTreeMap<FileKey, FileUse>,
    pub texts: Texts,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct FileUse {
    pub digest: Option<Digest>,
    pub dimensions: BTreeSet<String>,
    /// The JSON path of the first part that names it.
    at: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Texts {
    /// Not there, and why.
    Absent(Problems),
    Loaded(BTreeMap<FileKey, Text>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Text {
    Cases(CaseFile),
    Source(String),
}

#[derive(Debug, Clone)]
pub(super) struct AnswerSchema {
    pub source: serde_json::Value,
    pub schema: Arc<Schema>,
}

impl PartialEq for AnswerSchema {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// Reads a part with the primitive `tests` or `script`.
pub(super) fn part(part: &Members<'_>, primitive: &str, problems: &mut Problems) -> Option<JudgedPart> {
    let key = match primitive {
        "script" => {
            part.refuse_unknown(&["primitive", "weight", "file", "digest"], problems);
            let file = part.require("file", "the file of the script", problems);
            file.and_then(|file| read_path(&file, problems)).map(|file| (Role::Script, file))
        }
        _ => {
            part.refuse_unknown(&["primitive", "weight", "cases", "suite", "digest"], problems);
            match (part.get("cases"), part.get("suite")) {
                (Some(cases), None) => read_path(&cases, problems).map(|file| (Role::Cases, file)),
                (None, Some(suite)) => read_path(&suite, problems).map(|file| (Role::Suite, file)),
                (Some(_), Some(suite)) => {
                    let hint = "make two parts of them, each with its weight";
                    suite.refuse("`cases` or `suite`", hint, problems);
                    None
                }
                (None, None) => {
                    part.require("cases", "a file of `cases`, or a `suite` of tests", problems);
                    None
                }
            }
        }
    };
    let digest = part.get("digest").map(|digest| {
        let read = digest.text(problems).map(Digest::parse);
        if read == Some(None) {
            digest.refuse("`sha256:` and 64 hexadecimal digits in lower case", DIGEST_HINT, problems);
        }
        read.flatten()
    });
    // A digest that cannot be read is refused here, one that is not there where the file is at hand.
    let digest = digest.map_or(Some(None), |read| read.map(Some))?;
    Some(JudgedPart { key: key?, digest, at: part.path().to_owned() })
}

const DIGEST_HINT: &str = "`karat card check` shows the digest of the file";

fn read_path(member: &Member<'_>, problems: &mut Problems) -> Option<String> {
    let path = member.text(problems)?;
    if let Err(expected) = check_path(path) {
        member.refuse(expected, "it is relative to the card", problems);
        return None;
    }
    Some(path.to_owned())
}

/// Reads what the judged parts of these dimensions need; loads their files, if `files` gives any.
pub(super) fn read(
    challenge: &Members<'_>,
    dimensions: &[Dimension],
    files: Option<FileReader<'_>>,
    problems: &mut Problems,
) -> Option<Arc<Judged>> {
    let mut uses = BTreeMap::<FileKey, FileUse>::new();
    for dimension in dimensions {
        for part in &dimension.parts {
            let Test::Judged(judged) = &part.test else { continue };
            let JudgedPart { key, digest, at } = judged;
            let known = uses.entry(key.clone()).or_insert_with(|| FileUse {
                digest: *digest,
                dimensions: BTreeSet::new(),
                at: at.clone(),
            });
            known.dimensions.insert(dimension.key.clone());
            if known.digest != *digest {
                let found = "another digest of the same file".to_owned();
                let expected = format!("the digest of {}", known.at);
                problems.refuse(format!("{at}.digest"), found, &expected, DIGEST_HINT);
            }
        }
    }
    if uses.is_empty() {
        // Where a part was refused, it may only follow from that.
        let tables = ["submission", "limits"].into_iter().filter(|_| problems.is_empty());
        let tables: Vec<_> = tables.filter_map(|name| challenge.get(name)).collect();
        for table in tables {
            table.refuse("a part with `primitive = \"tests\"` or `\"script\"`", "leave it out", problems);
        }
        return None;
    }
    let submission = read_submission(challenge, &uses, problems);
    let limits = challenge.get("limits");
    let limits = limits.map_or(Some(Limits::default()), |limits| read_limits(&limits, problems));
    let (runtime, runtime_digest, submitted, schema) = submission?;
    let texts = Texts::Absent(
        Problem::at("$.evaluator", NOT_LOADED.to_owned(), "the files of the challenge", "").into(),
    );
    let judged = Judged { runtime, runtime_digest, files: submitted, schema, limits: limits?, uses, texts };
    let loaded = match files {
        Some(files) => judged.loaded(files),
        None => judged.has_digests().map(|()| judged),
    };
    loaded.map(Arc::new).map_err(|found| problems.extend(&found)).ok()
}

const NOT_LOADED: &str = "a card without them";

type Submission = (String, Option<String>, BTreeMap<String, Field>, Option<AnswerSchema>);

fn read_submission(
    challenge: &Members<'_>,
    uses: &BTreeMap<FileKey, FileUse>,
    problems: &mut Problems,
) -> Option<Submission> {
    let is_used = |role: Role| uses.keys().any(|(used, _)| *used == role);
    let runs = is_used(Role::Cases) || is_used(Role::Suite);
    let needed = match (runs, is_used(Role::Script)) {
        (true, _) => "`runtime` and `files` of what is submitted",
        _ => "the `schema` of an answer",
    };
    let submission = challenge.require("submission", needed, problems)?.members(problems)?;
    submission.refuse_unknown(&["runtime", "digest", "files", "schema"], problems);
    let runtime = match (submission.get("runtime"), runs) {
        (None, false) => Some(PYTHON.to_owned()),
        (given, _) => {
            let expected = format!("one of {}", RUNTIMES.join(", "));
            let given = given.or_else(|| submission.require("runtime", &expected, problems));
            given.and_then(|given| {
                let name = given.text(problems)?;
                if !RUNTIMES.contains(&name) {
                    given.refuse(&expected, &did_you_mean(name, RUNTIMES), problems);
                    return None;
                }
                if name == WASM && is_used(Role::Suite) {
                    let expected = "`python` or `javascript`: a suite imports what it tests";
                    given.refuse(expected, "write cases", problems);
                }
                Some(name.to_owned())
            })
        }
    };
    let digest = submission.get("digest").and_then(|digest| {
        let text = digest.text(problems)?;
        if Digest::parse(text).is_none() {
            digest.refuse("`sha256:` and 64 hexadecimal digits in lower case", "", problems);
        }
        Some(text.to_owned())
    });
    let expected =
        "each file of the submission and where it is in the answer: `{ \"solution.py\" = \"/code\" }`";
    let files = if runs { submission.require("files", expected, problems) } else { submission.get("files") };
    let files = match files {
        None if runs => None,
        None => Some(BTreeMap::new()),
        Some(files) => read_files(&files, runtime.as_deref(), problems),
    };
    let schema = match submission.get("schema") {
        Some(schema) => Some(read_schema(&schema, problems)?),
        None => {
            // An odd answer could make an honest script raise, which is not a score of 0 but none at all.
            if is_used(Role::Script) {
                let expected = "a JSON Schema of the answer, which a script relies on";
                submission.require("schema", expected, problems);
            }
            None
        }
    };
    Some((runtime?, digest, files?, schema))
}

const PYTHON: &str = "python";
const JAVASCRIPT: &str = "javascript";
const WASM: &str = "wasm";

fn is_javascript(path: &str) -> bool {
    [".js", ".mjs", ".cjs"].iter().any(|end| path.ends_with(end))
}

fn read_files(
    files: &Member<'_>,
    runtime: Option<&str>,
    problems: &mut Problems,
) -> Option<BTreeMap<String, Field>> {
    let members = files.members(problems)?;
    let count = members.map().len();
    if count == 0 || count > FILES_MAX {
        files.refuse(&format!("1 to {FILES_MAX} files"), "", problems);
    }
    let mut read = BTreeMap::new();
    for (path, member) in members.iter() {
        if let Err(expected) = check_path(path) {
            problems.refuse(&member.path, quoted(path), expected, "");
        }
        let field = member.text(problems).map(Field::parse);
        if field == Some(None) {
            member.refuse("a JSON Pointer into the answer, such as `/code`", "", problems);
        }
        read.insert(path.to_owned(), field??);
    }
    let is_module = |path: &String| path.ends_with(".wasm");
    let expected = match runtime {
        Some(WASM) if count != 1 || !read.keys().all(is_module) => "one file, which ends in `.wasm`",
        Some(PYTHON) if !read.keys().any(|path| path.ends_with(".py")) => "a file that ends in `.py`",
        Some(JAVASCRIPT) if !read.keys().any(|path| is_javascript(path)) => {
            "a file that ends in `.js`, `.mjs` or `.cjs`"
        }
        _ => return Some(read),
    };
    files.refuse(expected, "", problems);
    Some(read)
}

fn read_schema(schema: &Member<'_>, problems: &mut Problems) -> Option<AnswerSchema> {
    match Schema::new(schema.value) {
        Ok(read) => Some(AnswerSchema { source: schema.value.clone(), schema: Arc::new(read) }),
        Err(refused) => {
            problems.extend(&refused.moved("$.reference.schema", &schema.path));
            None
        }
    }
}

fn read_limits(limits: &Member<'_>, problems: &mut Problems) -> Option<Limits> {
    let limits = limits.members(problems)?;
    limits.refuse_unknown(&["fuel", "memory_mib", "output_kib"], problems);
    let mut read = |name: &str, default: u64, range: std::ops::RangeInclusive<u64>| {
        let Some(limit) = limits.get(name) else { return Some(default) };
        let count = limit.value.as_u64().or_else(|| {
            let number = limit.value.as_f64()?;
            // Canonical JSON may have written a whole number with an exponent.
            (number.trunc() == number && (0.0..=1e15).contains(&number)).then_some(number as u64)
        });
        if !count.is_some_and(|count| range.contains(&count)) {
            let expected = format!("a whole number from {} to {}", range.start(), range.end());
            limit.refuse(&expected, "", problems);
        }
        count
    };
    let default = Limits::default();
    let fuel = read("fuel", default.fuel, Limits::FUEL);
    let memory = read("memory_mib", default.memory_mib.into(), Limits::MEMORY_MIB);
    let output = read("output_kib", default.output_kib.into(), Limits::OUTPUT_KIB);
    let small = |count: u64| u32::try_from(count).ok();
    Some(Limits { fuel: fuel?, memory_mib: small(memory?)?, output_kib: small(output?)? })
}

impl Judged {
    /// Returns the same with its files, read by `files` and checked.
    ///
    /// # Errors
    ///
    /// If files are missing or not those of the digests, or something is wrong in them: everything.
    pub fn loaded(&self, files: FileReader<'_>) -> Result<Self, Problems> {
        let mut problems = Problems::default();
        let mut texts = BTreeMap::new();
        for (key, used) in &self.uses {
            if let Some(text) = load(key, used, &self.runtime, files, &mut problems) {
                texts.insert(key.clone(), text);
            }
        }
        let instances: u64 = texts
            .values()
            .map(|text| match text {
                Text::Cases(file) => file.cases().len() as u64,
                Text::Source(_) => 1,
            })
            .sum();
        let fuel = instances.saturating_mul(self.limits.fuel);
        if fuel > FUEL_TOTAL_MAX {
            let found =
                format!("{} for {instances} cases and scripts, which is {fuel} together", self.limits.fuel);
            let expected = format!("at most {FUEL_TOTAL_MAX} together");
            problems.refuse("$.limits.fuel", found, &expected, "lower the limit, or have fewer cases");
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self { texts: Texts::Loaded(texts), ..self.clone() })
    }

    fn has_digests(&self) -> Result<(), Problems> {
        let mut problems = Problems::default();
        for used in self.uses.values().filter(|used| used.digest.is_none()) {
            let path = format!("{}.digest", used.at);
            problems.refuse(&path, "nothing", "the digest of the file", DIGEST_HINT);
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// Reads a file, compares its digest and checks what is in it.
fn load(
    key: &FileKey,
    used: &FileUse,
    runtime: &str,
    files: FileReader<'_>,
    problems: &mut Problems,
) -> Option<Text> {
    let (role, name) = key;
    let at = format!("{}.{}", used.at, role.option());
    let file = quoted(name);
    let bytes = match files(name) {
        Ok(bytes) => bytes,
        Err(why) => {
            let digest = used.digest.map_or_else(String::new, |digest| format!(" with the digest {digest}"));
            let expected = format!("the file{digest}");
            problems.refuse(&at, format!("{file}, which cannot be read: {why}"), &expected, MISSING_HINT);
            return None;
        }
    };
    let most = if *role == Role::Cases { CaseFile::MAX_BYTES } else { SOURCE_MAX_BYTES };
    if bytes.len() > most {
        let found = format!("{file} with {} bytes", bytes.len());
        problems.refuse(&at, found, format!("at most {most} bytes"), "");
        return None;
    }
    let digest = Digest::of(&bytes);
    if used.digest != Some(digest) {
        let path = format!("{}.digest", used.at);
        let (found, hint) = match used.digest {
            None => (format!("nothing for {file}"), format!("add digest = \"{digest}\"")),
            Some(stated) => (
                format!("{stated}, where {file} has {digest}"),
                format!(
                    "put the file of the card back, or, in a card that no one uses yet, write digest = \"{digest}\""
                ),
            ),
        };
        problems.refuse(&path, found, "the digest of the file", &hint);
    }
    let Ok(text) = String::from_utf8(bytes) else {
        problems.refuse(&at, format!("{file}, which is not UTF-8"), "a text in UTF-8", "");
        return None;
    };
    let lacks = |expected: &str, problems: &mut Problems| {
        problems.refuse(&at, format!("{file} without it"), expected, "");
    };
    match role {
        Role::Cases => match CaseFile::parse(&text) {
            Ok(cases) => return Some(Text::Cases(cases)),
            Err(found) => {
                for problem in &found {
                    let place = match (problem.line, problem.column) {
                        (Some(line), Some(column)) => format!(", line {line}, column {column}"),
                        _ => String::new(),
                    };
                    let told = format!("{} at `{}` of {file}{place}", problem.found, problem.path);
                    problems.refuse(&at, told, &problem.expected, &problem.hint);
                }
                return None;
            }
        },
        Role::Suite if runtime == JAVASCRIPT && !["test(", "it("].iter().any(|call| text.contains(call)) => {
            lacks("tests of `node:test`: calls of `test` or `it`", problems);
        }
        Role::Script if runtime == JAVASCRIPT && !text.contains("evaluate") => {
            lacks("`function evaluate(answer, truth, match)`", problems);
        }
        _ if runtime == JAVASCRIPT => {}
        Role::Suite if !text.lines().any(|line| defines(line.trim_start(), "test")) => {
            lacks("tests of `unittest`: methods whose names begin with `test`", problems);
        }
        Role::Script if !text.lines().any(|line| defines(line, "evaluate")) => {
            lacks("`def evaluate(answer, truth, match):`", problems);
        }
        _ => {}
    }
    Some(Text::Source(text))
}

const MISSING_HINT: &str =
    "the files of a challenge lie beside its card; ask who wrote it for those that are hidden";

/// Returns true if a line of Python defines a function whose name begins so.
fn defines(line: &str, name: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}');
    line.strip_prefix("def ").is_some_and(|rest| rest.trim_start().starts_with(name))
}
