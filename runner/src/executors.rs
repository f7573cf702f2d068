//! The file of executors: who carries out which subnet, and within which limits. It is the validator's; no plan names one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use karat_core::diagnostic::nearest;
use karat_graders::execution::Judge;
use karat_run::{Fault, Job, NANO, Recording, quoted, shown};
use toml::de::DeTable;

use crate::executor::command::Program;
use crate::executor::http::{Service, placeholder};
use crate::executor::judge::Sandboxed;
use crate::executor::recorded::Earlier;
use crate::executor::sandboxed::Walls;
use crate::executor::{Executor, Kind};
use crate::fields::{Bounds, Fields, Report};
use crate::secret::Secret;

/// The executors of a validator.
#[derive(Debug)]
pub struct Executors {
    by_subnet: BTreeMap<String, Executor>,
    /// Layers that sandboxes lack on this machine.
    gaps: Vec<Fault>,
    /// The most retries that a step may declare.
    pub retries_max: u64,
    /// The wait before each retry.
    pub backoff: Duration,
}

/// Things that the file refers to outside of itself.
pub struct Surroundings<'a> {
    /// The folder of the file. Programs start in it, and paths are relative to it.
    pub folder: &'a Path,
    /// Looks up a variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the judge for executors of the kind `judge`.
    pub judge: &'a dyn Fn() -> Arc<dyn Judge>,
}

const TABLES: [&str; 3] = ["executor", "http", "run"];
const RUN: [&str; 2] = ["backoff_seconds", "retries_max"];
const HTTP: [&str; 2] = ["hosts", "private_addresses"];
/// Fields of every executor that is called.
const CALLED: [&str; 5] = ["kind", "cost", "seconds_max", "output_kib", "secrets"];
const COMMAND: [&str; 9] = [
    "command", "environment", "cpu_seconds", "memory_mib", "processes", "sandbox", "read", "write", "network",
];
const SANDBOX: [&str; 3] = ["off", "best", "strict"];
const SERVICE: [&str; 3] = ["url", "headers", "secret_headers"];

const RETRIES_MAX: u64 = 3;
const BACKOFF_SECONDS: f64 = 0.25;
const SECONDS_MAX: f64 = 60.0;
const OUTPUT_KIB: u64 = 256;

impl Executors {
    /// Reads the file.
    ///
    /// # Errors
    /// If anything in it is wrong: everything, with its place.
    pub fn parse(text: &str, around: &Surroundings<'_>) -> Result<Self, Vec<Fault>> {
        let mut report = Report::new(text);
        let table = match DeTable::parse(text) {
            Ok(table) => table,
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                report.add(at, format!("this is not TOML: {}", error.message()), "");
                return Err(report.faults);
            }
        };
        let file = Fields::new(table.get_ref(), "the file".to_owned(), 0, &TABLES, &mut report);
        let (mut retries_max, mut backoff_seconds) = (RETRIES_MAX, BACKOFF_SECONDS);
        if let Some(table) = file.table_of("run", &mut report) {
            let run = Fields::new(table, "`[run]`".to_owned(), file.place("run"), &RUN, &mut report);
            retries_max = run.count("retries_max", 0, 100, &mut report).unwrap_or(RETRIES_MAX);
            let given = run.number("backoff_seconds", Bounds(0.0, 60.0), &mut report);
            backoff_seconds = given.unwrap_or(BACKOFF_SECONDS);
        }
        let network = Network::read(&file, &mut report);
        let (mut by_subnet, mut gaps) = (BTreeMap::new(), Vec::new());
        let tables = file.tables("executor", &mut report);
        if tables.is_empty() && report.faults.is_empty() {
            report.add(0, "the file has no executor", "add a table `[executor.NAME]` for each subnet");
        }
        for (name, at, table) in tables {
            let twin = by_subnet.keys().find(|known: &&String| known.eq_ignore_ascii_case(name)).cloned();
            if let Some(twin) = twin {
                let message = format!("{} and {} differ in letter case alone", quoted(&twin), quoted(name));
                report.add(at, message, "a plan may write either: keep one");
            }
            let (network, report, gaps) = (&network, &mut report, &mut gaps);
            let mut reader = ExecutorReader { name, at, table, around, network, report, gaps };
            if let Some(executor) = reader.read() {
                by_subnet.insert(name.to_owned(), executor);
            }
        }
        check_writing(&by_subnet, around.folder, &mut report);
        if !report.faults.is_empty() {
            report.faults.sort_by_key(|fault| fault.place);
            return Err(report.faults);
        }
        Ok(Self { by_subnet, gaps, retries_max, backoff: Duration::from_secs_f64(backoff_seconds) })
    }

    /// Returns the subnets that have an executor.
    pub fn subnets(&self) -> Vec<String> {
        self.by_subnet.keys().cloned().collect()
    }

    /// Returns what the sandboxes lack on this machine, each with its executor. A strict one that lacks something is refused.
    pub fn gaps(&self) -> &[Fault] {
        &self.gaps
    }

    /// Prepares what carries out a job. Returns a fault for each executor that cannot work.
    pub(crate) fn prepare(&self, job: &Job) -> Vec<Fault> {
        let mut prepared: Vec<&Sandboxed> = Vec::new();
        let mut faults = Vec::new();
        for call in job.calls() {
            let Some(Kind::Judge(code)) = self.of(&call.subnet).map(|executor| &executor.kind) else {
                continue;
            };
            if prepared.iter().any(|known| known.is_like(code)) {
                continue;
            }
            prepared.push(code);
            if let Err(why) = code.prepare() {
                faults.push(Fault::new(format!("the executor {}: {why}", quoted(&call.subnet)), ""));
            }
        }
        faults
    }

    /// Returns the executor of a subnet, whose letter case makes no difference.
    pub(crate) fn of(&self, subnet: &str) -> Option<&Executor> {
        let same = || self.by_subnet.iter().find(|(name, _)| name.eq_ignore_ascii_case(subnet));
        self.by_subnet.get(subnet).or_else(|| same().map(|(_, executor)| executor))
    }
}

/// Checks that no program behind walls may write where the program of another executor is, or where one without walls
/// starts: it could put its own in its place, which then runs as that of the validator.
fn check_writing(by_subnet: &BTreeMap<String, Executor>, folder: &Path, report: &mut Report<'_>) {
    let program = |executor| match executor {
        &Executor { kind: Kind::Command(ref program), .. } => Some(program),
        _ => None,
    };
    let programs = || by_subnet.iter().filter_map(|(name, executor)| Some((name, program(executor)?)));
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    for (writer, walls) in programs().filter_map(|(name, program)| Some((name, program.walls.as_ref()?))) {
        for (name, program) in programs().filter(|(name, _)| *name != writer) {
            let named = Path::new(program.command.first().map_or("", String::as_str));
            let places = [(real(named), "is"), (real(named.parent().unwrap_or(named)), "is")];
            let starts = program.walls.is_none().then(|| (real(folder), "starts"));
            let lies = |(path, does): (PathBuf, &'static str)| {
                let into = walls.write.iter().find(|into| path.starts_with(into))?;
                Some((into.display().to_string(), does))
            };
            if let Some((into, does)) = places.into_iter().chain(starts).find_map(lies) {
                let (writer, name) = (quoted(writer), quoted(name));
                let message = format!(
                    "{writer} may write to {}, where the program of {name} {does}: it could put another in its place",
                    quoted(&into)
                );
                report.add(walls.write_place, message, "name a folder in which there is nothing else");
            }
        }
    }
}

/// Hosts that executors of the kind `http` may connect to.
#[derive(Default)]
struct Network {
    hosts: Vec<String>,
    may_be_private: bool,
}

impl Network {
    fn read(file: &Fields<'_, '_>, report: &mut Report<'_>) -> Self {
        let Some(table) = file.table_of("http", report) else { return Self::default() };
        let http = Fields::new(table, "`[http]`".to_owned(), file.place("http"), &HTTP, report);
        let hosts = http.texts("hosts", report).unwrap_or_default();
        Self {
            hosts: hosts.into_iter().map(|(host, _)| host.to_ascii_lowercase()).collect(),
            may_be_private: http.flag("private_addresses", report).unwrap_or_default(),
        }
    }
}

struct ExecutorReader<'a, 'd, 't, 'r> {
    name: &'a str,
    at: usize,
    table: &'a DeTable<'d>,
    around: &'a Surroundings<'a>,
    network: &'a Network,
    report: &'r mut Report<'t>,
    gaps: &'r mut Vec<Fault>,
}

impl<'a, 'd> ExecutorReader<'a, 'd, '_, '_> {
    fn fields(&mut self, known: &[&str]) -> Fields<'a, 'd> {
        let what = format!("`[executor.{}]`", shown(self.name, 60));
        Fields::new(self.table, what, self.at, known, self.report)
    }

    fn read(&mut self) -> Option<Executor> {
        let known = self.table.keys().map(|key| key.get_ref().as_ref()).collect::<Vec<&str>>();
        let fields = self.fields(&known);
        let kind = fields.text("kind", self.report);
        match fields.required("kind", kind, "\"command\"", self.report)? {
            "command" => self.command(),
            "http" => self.http(),
            "judge" => self.judge(),
            "replay" => self.replay(),
            other => {
                let kinds = ["command", "http", "judge", "replay"];
                let hint = match nearest(other, kinds) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the kinds are {}", kinds.join(", ")),
                };
                let message = format!("there is no kind of executor {}", quoted(other));
                self.report.add(fields.place("kind"), message, hint);
                None
            }
        }
    }

    /// Reads what every executor has that is called.
    fn called(&mut self, fields: &Fields<'a, 'd>, kind: Kind, secrets: Vec<Secret>) -> Option<Executor> {
        let cost = fields.number("cost", Bounds(0.0, 1e6), self.report);
        let cost = fields.required("cost", cost, "0.001", self.report)?;
        let seconds = fields.number("seconds_max", Bounds(0.001, 3600.0), self.report).unwrap_or(SECONDS_MAX);
        let kib = fields.count("output_kib", 1, 1024, self.report).unwrap_or(OUTPUT_KIB);
        Some(Executor {
            kind,
            cost_nano_tao: (cost * NANO).round_ties_even() as u64,
            longest: Duration::from_secs_f64(seconds),
            answer_bytes_max: (kib as usize) << 10,
            secrets,
        })
    }

    fn command(&mut self) -> Option<Executor> {
        let fields = self.fields(&[&CALLED[..], &COMMAND].concat());
        let command = fields.texts("command", self.report);
        let command = fields.required("command", command, "[\"./program\", \"argument\"]", self.report);
        let command = command.and_then(|command| self.program(&fields, command));
        let mut environment = Vec::new();
        for (name, at) in fields.texts("environment", self.report).unwrap_or_default() {
            if let Some(value) = self.variable(name, at) {
                environment.push((name.to_owned(), value));
            }
        }
        let secrets = self.secrets(&fields);
        let walls = self.walls(&fields);
        let mut program = Program {
            command: command.unwrap_or_default(),
            folder: self.around.folder.to_owned(),
            environment,
            cpu_seconds: fields.count("cpu_seconds", 1, 3600, self.report),
            memory_mib: fields.count("memory_mib", 1, 1 << 20, self.report),
            processes: fields.count("processes", 1, 100_000, self.report),
            walls,
            pinned: None,
        };
        if !program.command.is_empty() {
            match program.pin() {
                Ok(()) => self.check_walls(&fields, &program),
                Err(why) => self.report.add(fields.place("command"), why, ""),
            }
        }
        self.called(&fields, Kind::Command(program), secrets)
    }

    /// Returns the walls around a program, if it is to have any.
    fn walls(&mut self, fields: &Fields<'a, 'd>) -> Option<Walls> {
        let mode = fields.text("sandbox", self.report).unwrap_or("off");
        if !SANDBOX.contains(&mode) {
            let hint = match nearest(mode, SANDBOX) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", SANDBOX.join(", ")),
            };
            self.report.add(fields.place("sandbox"), format!("there is no sandbox {}", quoted(mode)), hint);
            return None;
        }
        let (read, write) = (self.paths(fields, "read"), self.paths(fields, "write"));
        let has_network = fields.flag("network", self.report).unwrap_or_default();
        if mode != "off" {
            let write_place = fields.place("write");
            return Some(Walls { is_strict: mode == "strict", read, write, has_network, write_place });
        }
        for field in ["read", "write", "network"].into_iter().filter(|field| fields.has(field)) {
            let hint = "add `sandbox = \"strict\"`, or \"best\": what this machine has";
            self.report.add(fields.place(field), format!("`{field}` needs a sandbox"), hint);
        }
        None
    }

    /// Returns paths that are there.
    fn paths(&mut self, fields: &Fields<'a, 'd>, field: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for (path, at) in fields.texts(field, self.report).unwrap_or_default() {
            let whole = self.around.folder.join(path);
            match std::fs::canonicalize(&whole) {
                Ok(path) => found.push(path),
                Err(error) => {
                    let hint = "paths are relative to the folder of this file";
                    self.report.add(at, format!("`{field}` names {}: {error}", quoted(path)), hint);
                }
            }
        }
        found
    }

    /// Tries the sandbox of a program, and keeps what it lacks on this machine.
    fn check_walls(&mut self, fields: &Fields<'a, 'd>, program: &Program) {
        let Some(walls) = &program.walls else { return };
        let at = fields.place("sandbox");
        let name = shown(self.name, 60);
        match program.walls_standing().map(|layers| layers.complaint()) {
            Ok(None) => {}
            Ok(Some(complaint)) if walls.is_strict => {
                let hint =
                    "`karat judge doctor` says how to get it; with `sandbox = \"best\"` the rest holds";
                self.report.add(at, format!("no strict sandbox on this machine: {complaint}"), hint);
            }
            Ok(Some(complaint)) => {
                self.gaps.push(Fault::new(format!("the sandbox of `{name}` is not whole; {complaint}"), ""));
            }
            Err(why) => self.report.add(at, why, ""),
        }
    }

    /// Returns a command whose program has been found, so that a typing error does not fail the steps of a plan.
    fn program(&mut self, fields: &Fields<'a, 'd>, command: Vec<(&str, usize)>) -> Option<Vec<String>> {
        let Some(&(program, at)) = command.first().filter(|(program, _)| !program.is_empty()) else {
            let at = fields.place("command");
            self.report.add(at, "the command is empty", "name a program, then its arguments");
            return None;
        };
        if let Some((text, at)) = command.iter().find(|(text, _)| text.contains('\0')) {
            self.report.add(*at, format!("{} has a zero byte", quoted(text)), "");
            return None;
        }
        let found = if program.contains('/') {
            Some(self.around.folder.join(program))
        } else {
            let path = (self.around.variable)("PATH").unwrap_or_default();
            std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| is_program(path))
        };
        let Some(found) = found.filter(|path| is_program(path)) else {
            let hint = if program.contains('/') {
                "paths are relative to the folder of this file, and the file must be executable"
            } else {
                "no folder of PATH has it"
            };
            self.report.add(at, format!("there is no program {}", quoted(program)), hint);
            return None;
        };
        let found = std::path::absolute(&found).unwrap_or(found);
        let Some(found) = found.to_str() else {
            self.report.add(at, format!("the path of {} is not UTF-8", quoted(program)), "");
            return None;
        };
        let arguments = command.iter().skip(1).map(|(text, _)| (*text).to_owned());
        Some(std::iter::once(found.to_owned()).chain(arguments).collect())
    }

    /// Returns a variable of the environment.
    fn variable(&mut self, name: &str, at: usize) -> Option<String> {
        let is_name = !name.is_empty() && !name.contains(['=', '\0']);
        let value = if is_name { (self.around.variable)(name) } else { None };
        if value.is_none() {
            self.report.add(
                at,
                format!("the environment has no {}", quoted(name)),
                "set it, or leave it out",
            );
        }
        value
    }

    fn secrets(&mut self, fields: &Fields<'a, 'd>) -> Vec<Secret> {
        let mut secrets: Vec<Secret> = Vec::new();
        for (name, at) in fields.texts("secrets", self.report).unwrap_or_default() {
            match self.variable(name, at) {
                None => {}
                Some(value) if value.len() < Secret::BYTES_MIN => {
                    let message =
                        format!("the secret {} has fewer than {} bytes", quoted(name), Secret::BYTES_MIN);
                    self.report.add(at, message, "a variable that is not a secret goes into `environment`");
                }
                Some(value) => secrets.push(Secret::new(name, value)),
            }
        }
        secrets
    }

    fn http(&mut self) -> Option<Executor> {
        let fields = self.fields(&[&CALLED[..], &SERVICE].concat());
        let url = fields.text("url", self.report);
        let url = fields.required("url", url, "\"http://127.0.0.1:9000/\"", self.report);
        if let Some(url) = url {
            self.check_url(url, fields.place("url"));
        }
        let secrets = self.secrets(&fields);
        for secret in secrets.iter().filter(|secret| !is_header_value(secret.expose())) {
            let message = format!("the secret {} cannot be in a header", quoted(&secret.name));
            self.report.add(fields.place("secrets"), message, "it has something else than ASCII in it");
        }
        let headers = self.headers(&fields, "headers");
        let secret_headers = self.headers(&fields, "secret_headers");
        for (name, value) in &secret_headers {
            if !secrets.iter().any(|secret| value.contains(&placeholder(&secret.name))) {
                let message = format!("the header {} names no secret", quoted(name));
                let hint = "write `${NAME}` with a name of `secrets`, or put it into `headers`";
                self.report.add(fields.place("secret_headers"), message, hint);
            }
        }
        if let Some(secret) = secrets.iter().find(|_| !self.network.may_be_private) {
            let message =
                format!("the secret {} cannot be sent: there is no encryption", quoted(&secret.name));
            let hint =
                "put a proxy that encrypts on this machine, and set `private_addresses = true` in `[http]`";
            self.report.add(fields.place("secrets"), message, hint);
        }
        let service = Service {
            url: url.unwrap_or_default().to_owned(),
            headers,
            secret_headers,
            may_be_private: self.network.may_be_private,
        };
        self.called(&fields, Kind::Http(service), secrets)
    }

    fn headers(&mut self, fields: &Fields<'a, 'd>, field: &str) -> Vec<(String, String)> {
        let headers = fields.texts_by_name(field, self.report);
        let mut checked = Vec::new();
        for (name, (value, at)) in headers {
            let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            let is_name = !name.is_empty() && name.chars().all(is_token);
            if is_name && is_header_value(value) {
                checked.push((name.to_owned(), value.to_owned()));
            } else {
                self.report.add(at, format!("{} is not a header with a value of ASCII", quoted(name)), "");
            }
        }
        checked
    }

    fn check_url(&mut self, url: &str, at: usize) {
        if url.contains('@') {
            // It is not repeated: what stands before the sign is a name and a password.
            let hint = "put it into the environment, and name it in `secrets`";
            self.report.add(at, "the address has a password in it", hint);
            return;
        }
        let uri = url.parse::<ureq::http::Uri>().ok();
        let parts = uri.as_ref().and_then(|uri| Some((uri.scheme_str()?, uri.authority()?.as_str())));
        let Some((scheme, host)) = parts else {
            let message = format!("{} is not an address of a service", quoted(url));
            self.report.add(at, message, "expected `http://HOST:PORT/PATH`");
            return;
        };
        if scheme != "http" {
            let hint = "use `http` and a proxy on this machine that encrypts, or a `command` such as curl";
            self.report.add(
                at,
                format!("karat does not speak the {} of {}", quoted(scheme), quoted(url)),
                hint,
            );
        }
        if !self.network.hosts.contains(&host.to_ascii_lowercase()) {
            let hint = format!("add it: `hosts = [\"{}\"]`", shown(host, 60));
            self.report.add(at, format!("`hosts` of `[http]` does not allow {}", quoted(host)), hint);
        }
    }

    fn replay(&mut self) -> Option<Executor> {
        let fields = self.fields(&["kind", "recording"]);
        let path = fields.text("recording", self.report);
        let path = fields.required("recording", path, "\"earlier.jsonl\"", self.report)?;
        let at = fields.place("recording");
        let text = match std::fs::read_to_string(self.around.folder.join(path)) {
            Ok(text) => text,
            Err(error) => {
                let hint = "paths are relative to the folder of this file";
                self.report.add(at, format!("cannot read {}: {error}", quoted(path)), hint);
                return None;
            }
        };
        match Recording::parse(&text) {
            Ok(recording) => Some(Executor {
                kind: Kind::Replay(Box::new(Earlier { recording })),
                cost_nano_tao: 0,
                longest: Duration::from_secs(3600),
                answer_bytes_max: 0,
                secrets: Vec::new(),
            }),
            Err(faults) => {
                for fault in faults {
                    self.report.add(at, format!("{}: {fault}", quoted(path)), "");
                }
                None
            }
        }
    }
}

fn is_header_value(text: &str) -> bool {
    text.chars().all(|c| (' '..='~').contains(&c))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

mod judge;
#[cfg(test)]
mod tests;
