//! `karat serve`: the server, from the command line.

use std::fs::{self, File, OpenOptions};
use std::io::{Error as IoError, ErrorKind, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use karat_process::on_stop;
use karat_server::clock::Clock;
use karat_server::judging::JudgeOptions;
use karat_server::logging::{self, Format};
use karat_server::traces::TraceOptions;
use karat_server::webhooks::Webhooks;
use karat_server::{Options, Server, folder};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use serde_json::json;
use tempfile::TempDir;

use crate::args::{Cli, Log, ProxyHeader, ServeArgs};
use crate::client::roots;
use crate::follow::server::Server as Remote;
use crate::progress::Progress;
use crate::receipt::witness;
use crate::started::Started;
use karat_terminal::output::{STRONG, Screen, is_watched, lines};

/// The folder of a server, if none is named.
const FOLDER: &str = "karat-data";

/// Asks a server whether it answers: an image without a shell has no other program to do so.
fn health(address: &str) -> Result<Exit, Failure> {
    let said = Remote::health(address)?;
    let mut out = lines();
    writeln!(out, "{}", said.as_deref().unwrap_or("{}").trim_end())?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Serves until it is stopped.
pub fn run(args: &ServeArgs, cli: &Cli) -> Result<Exit, Failure> {
    if let Some(address) = &args.health {
        return health(address);
    }
    let listen = args.port.map_or(args.listen, |port| SocketAddr::from(([127, 0, 0, 1], port)));
    let is_screen = if args.json { false } else { args.table || is_watched() };
    let place = Place::new(args)?;
    let path = place.path();
    if !listen.ip().is_loopback() && place.is_new && args.key_file.is_none() {
        return Err(Failure::new(format!(
            "listening at {listen} needs a key, and `{}` has none yet",
            path.display()
        ))
        .help("give `--key-file FILE`, and the first key is written there")
        .help(format!(
            "or start it once on this machine: `karat serve {}` shows the first key",
            path.display()
        )));
    }
    let mut key_file = args.key_file.as_deref().filter(|_| place.is_new).map(KeyFile::new).transpose()?;
    match args.log.unwrap_or(if is_screen { Log::Quiet } else { Log::Json }) {
        Log::Quiet => logging::start(Format::Text, true),
        Log::Text => logging::start(Format::Text, false),
        Log::Json => logging::start(Format::Json, false),
    }
    logging::survive_panics();
    let traces = TraceOptions { embedder: args.embedder.clone(), cache: args.cache.settings() };
    if let Some(program) = &args.judge {
        // A path that leads nowhere is an error now; without a path, a missing program is one where something has to run.
        karat_process::JUDGE.found(Some(program)).map_err(failed)?;
    }
    let defaults = JudgeOptions::default();
    let processes = args.judges.map_or(defaults.processes, usize::from);
    let judge = JudgeOptions { program: args.judge.clone(), processes, ..defaults };
    let options = Options {
        is_public: args.public,
        is_demo: args.demo,
        keeps_first_key: key_file.is_some(),
        hosts: args.hosts.clone(),
        proxies: args.proxies.clone(),
        proxy_header: match args.proxy_header {
            ProxyHeader::XForwardedFor => karat_server::ProxyHeader::XForwardedFor,
            ProxyHeader::Forwarded => karat_server::ProxyHeader::Forwarded,
        },
        cors: args.cors.clone(),
        frames: args.frames.clone(),
        witnesses: args.witnesses.iter().map(|given| witness(given)).collect::<Result<_, _>>()?,
        traces,
        judge,
        webhooks: args.webhooks.as_deref().map(webhooks).transpose()?.unwrap_or_default(),
        ..Options::default()
    };
    let clock = if args.demo { Clock::fixed(karat_demo::BEGINNING) } else { Clock::system() };
    let log_name = args.log_name.as_deref().or(args.demo.then_some("karat.local/demo"));
    let progress = Progress::of_items(!is_screen);
    let mut watch = |done, all| progress.reached(done, all);
    let bound = Server::bind_at(path, log_name, listen, options, clock, &mut watch);
    drop(progress);
    let server = bound.map_err(failed)?;
    if args.demo {
        karat_demo::fill(&server.app).map_err(failed)?;
    }
    let app = Arc::clone(&server.app);
    if let Some((file, secret)) = key_file.as_mut().zip(server.first_key.as_deref()) {
        file.write(secret)?;
    }
    let started = Started {
        address: server.address,
        folder: path,
        log_key: app.log_key(),
        admin_key: server.first_key.as_deref().filter(|_| key_file.is_none()),
        key_file: key_file.as_ref().map(|file| file.path.as_path()),
        is_demo: args.demo,
        is_temporary: place.temporary.is_some(),
    };
    // Before the start is reported, so that no one asks too early.
    let (ask, asked) = tokio::sync::oneshot::channel();
    on_stop(move || drop(ask)).map_err(failed)?;
    tell(cli, if is_screen { started.screen() } else { started.line() })?;
    let stop = async {
        // The sender sends nothing: its end is the sign.
        let _: Result<(), _> = asked.await;
    };
    server.run(stop).map_err(failed)?;
    logging::finish();
    let (requests, log_size) = (app.metrics.answered_total(), *app.memory.size().borrow());
    let stopped = match is_screen {
        true => format!(
            "\n{STRONG}stopped{STRONG:#}: {requests} requests answered, none open; all {log_size} entries of the log are \
             stored\n"
        ),
        false => {
            let line = json!({"state": "stopped", "requests": requests, "log_size": log_size});
            format!("{line}\n")
        }
    };
    tell(cli, stopped)?;
    Ok(Exit::Done)
}

/// Reads the file of webhooks.
fn webhooks(path: &Path) -> Result<Webhooks, Failure> {
    let read = Webhooks::read(path).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(|it| format!("{}: {it}", path.display())).collect();
        Failure::new(lines.join("\n")).help("`docs/guide/webhooks.md` has an example")
    })?;
    Ok(Webhooks { roots: Some(roots()?), ..read })
}

fn tell(cli: &Cli, text: String) -> Result<(), Failure> {
    let mut screen = Screen::stdout(cli.color);
    let written = write!(screen, "{text}").and_then(|()| screen.flush());
    match written.map_err(Failure::from) {
        // The process that started it may read one line and close the pipe.
        Err(Failure::ReaderGone) => Ok(()),
        other => other,
    }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::new(error.to_string())
}

/// The folder of the store.
struct Place {
    folder: PathBuf,
    /// Removed when the server has stopped.
    temporary: Option<TempDir>,
    is_new: bool,
}

impl Place {
    fn new(args: &ServeArgs) -> Result<Self, Failure> {
        let Some(folder) = args.folder.clone().or((!args.demo).then(|| PathBuf::from(FOLDER))) else {
            let temporary = TempDir::with_prefix("karat-demo-");
            let temporary = temporary.map_err(|error| Failure::writing("a temporary folder", &error))?;
            return Ok(Self {
                folder: temporary.path().to_owned(),
                temporary: Some(temporary),
                is_new: true,
            });
        };
        if fs::metadata(&folder).is_ok_and(|found| !found.is_dir()) {
            let found = folder.display();
            return Err(Failure::new(format!("`{found}` is a file, expected a folder"))
                .help("the store is the file `karat.db` in it"));
        }
        let is_new = !folder.join(folder::STORE).exists();
        if args.demo && !is_new {
            let found = folder.display();
            return Err(Failure::new(format!("`{found}` has a store, and the demo begins with a new one"))
                .help("name a new folder, or none: then the demo is deleted when the server stops"));
        }
        Ok(Self { folder, temporary: None, is_new })
    }

    fn path(&self) -> &Path {
        &self.folder
    }
}

/// A new file for the first key, readable by its owner alone. It is made before the key, so that no key is lost;
/// if there is no key in the end, it is removed.
struct KeyFile {
    path: PathBuf,
    file: File,
    is_written: bool,
}

impl KeyFile {
    fn new(path: &Path) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let made = options.open(path).map_err(|error: IoError| match error.kind() {
            ErrorKind::AlreadyExists => Failure::new(format!("`{}` exists already", path.display()))
                .help("the first key is written to a new file: name another"),
            _ => Failure::writing(&path.display().to_string(), &error),
        });
        Ok(Self { path: path.to_owned(), file: made?, is_written: false })
    }

    fn write(&mut self, secret: &str) -> Result<(), Failure> {
        let written = writeln!(self.file, "{secret}").and_then(|()| self.file.sync_all());
        written.map_err(|error| Failure::writing(&self.path.display().to_string(), &error))?;
        self.is_written = true;
        Ok(())
    }
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        if !self.is_written {
            let _ = fs::remove_file(&self.path);
        }
    }
}
