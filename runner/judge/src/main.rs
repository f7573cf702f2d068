//! The program `karat-judge`: jobs in, verdicts out, one JSON object a line.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use karat_judge::confine::{confine, end_with_reader, reader_has_ended};
use karat_judge::{EngineKind, Judge, Options, protocol};

const HELP: &str = "\
Judges submitted code: reads jobs from standard input and writes verdicts to
standard output, one JSON object a line.

Usage: karat-judge [OPTIONS]

Options:
  --engine ENGINE   cranelift (compiled, the default) or pulley (interpreted);
                    verdicts and fuel are the same
  --runtimes DIR    folder of the language runtimes
                    [KARAT_RUNTIMES, else $XDG_DATA_HOME/karat/runtimes]
  --cache DIR       private folder of compiled code
                    [$XDG_CACHE_HOME/karat/judge]
  --open            keeps user, files and network, which are otherwise given up
                    before the first job
  --prepare         compiles the runtimes that are not yet compiled, and ends
  --list            shows engine and runtimes, and ends
  --self-test       runs a few small jobs, shows the results, and ends
  -h, --help        shows this
  -V, --version     shows the version

The runtimes of Python and JavaScript are made by scripts/build-runtime. Before
the first use they are compiled, once.

Exit status: 0 at the end of the input, 1 if the judge cannot work, 2 if an
option is wrong.";

/// The longest time in which no one looks whether runtimes are compiled.
const GLANCE: Duration = Duration::from_millis(50);

fn main() -> ExitCode {
    match run() {
        Ok(status) => status,
        Err((status, why)) => {
            eprintln!("karat-judge: {why}");
            ExitCode::from(status)
        }
    }
}

enum Action {
    Serve,
    Prepare,
    List,
    SelfTest,
}

fn run() -> Result<ExitCode, (u8, String)> {
    let mut kind = EngineKind::default();
    let (mut runtimes, mut cache) = (None, None);
    let mut action = Action::Serve;
    let mut is_open = false;
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        let name = argument.to_string_lossy().into_owned();
        let mut value = || arguments.next().ok_or_else(|| (2, format!("{name} needs a value")));
        match name.as_str() {
            "--engine" => {
                let given = value()?.to_string_lossy().into_owned();
                kind = EngineKind::from_name(&given)
                    .ok_or_else(|| (2, format!("unknown engine `{given}`: expected cranelift or pulley")))?;
            }
            "--runtimes" => runtimes = Some(PathBuf::from(value()?)),
            "--cache" => cache = Some(PathBuf::from(value()?)),
            "--open" => is_open = true,
            "--prepare" => action = Action::Prepare,
            "--list" => action = Action::List,
            "--self-test" => action = Action::SelfTest,
            "-h" | "--help" => {
                println!("{HELP}");
                return Ok(ExitCode::SUCCESS);
            }
            "-V" | "--version" => {
                println!("karat-judge {}", env!("CARGO_PKG_VERSION"));
                return Ok(ExitCode::SUCCESS);
            }
            _ => return Err((2, format!("unknown option `{name}`; see --help"))),
        }
    }
    let runtimes = runtimes.or_else(|| std::env::var_os("KARAT_RUNTIMES").map(PathBuf::from));
    let runtimes = runtimes.or_else(|| below("XDG_DATA_HOME", ".local/share", "karat/runtimes"));
    let cache = cache.or_else(|| below("XDG_CACHE_HOME", ".cache", "karat/judge"));
    let no_home = |option: &str| (2, format!("there is no home folder: name one with {option}"));
    let options = Options {
        engine: kind,
        runtimes: runtimes.ok_or_else(|| no_home("--runtimes"))?,
        cache: cache.ok_or_else(|| no_home("--cache"))?,
    };
    let judge = Judge::new(options.clone()).map_err(|error| (1, error.to_string()))?;
    match action {
        Action::List => {
            println!("{}", protocol::greeting(&judge));
            Ok(ExitCode::SUCCESS)
        }
        Action::SelfTest => {
            let (lines, ok) = karat_judge::self_test::run(&judge);
            println!("{}", lines.join("\n"));
            Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
        }
        Action::Prepare => {
            // A judge that has this done elsewhere holds the other end of the output.
            end_with_reader().map_err(|error| (1, format!("no thread: {error}")))?;
            judge.prepare().map_err(|error| (1, error.to_string()))?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Serve => {
            // Compiling starts threads, and a process with threads cannot confine itself: another process compiles.
            if !judge.is_compiled() {
                compile_elsewhere(kind, &options)?;
            }
            if let Err(error) = judge.prepare() {
                // Jobs for other runtimes can still be judged; those for this one hear the same.
                eprintln!("karat-judge: {error}");
            }
            if !is_open {
                confine().map_err(|error| (1, format!("{error}; --open does without")))?;
            }
            end_with_reader().map_err(|error| (1, format!("no thread: {error}")))?;
            protocol::serve(&judge, std::io::stdin().lock(), std::io::stdout().lock())
                .map_err(|error| (1, format!("standard input or output: {error}")))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Compiles the runtimes in a process by itself, which ends with this one: its output leads here, and is never written to. What
/// goes wrong there shows when the runtimes are loaded.
///
/// # Errors
///
/// If no one waits for this process any more.
fn compile_elsewhere(kind: EngineKind, options: &Options) -> Result<(), (u8, String)> {
    let Ok(own) = std::env::current_exe() else { return Ok(()) };
    let mut compiler = Command::new(own);
    compiler.args(["--prepare", "--engine", kind.name()]);
    compiler.arg("--runtimes").arg(&options.runtimes).arg("--cache").arg(&options.cache);
    let Ok(mut compiler) = compiler.stdin(Stdio::null()).stdout(Stdio::piped()).spawn() else {
        return Ok(());
    };
    while let Ok(None) = compiler.try_wait() {
        if reader_has_ended(GLANCE) {
            // It may have ended by itself.
            let _ = compiler.kill();
            let _ = compiler.wait();
            return Err((1, "no one reads the answers any more".to_owned()));
        }
    }
    Ok(())
}

/// Returns a folder below that of a variable, or below the usual one in the home folder.
fn below(variable: &str, usual: &str, folder: &str) -> Option<PathBuf> {
    let given = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(usual));
    Some(given.or_else(home)?.join(folder))
}
