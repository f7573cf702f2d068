//! The program `karat-judge`: jobs in, verdicts out, one JSON object a line.

use std::path::PathBuf;
use std::process::ExitCode;

use karat_judge::{EngineKind, Judge, Options, protocol};

const HELP: &str = "\
Judges submitted code: reads jobs from standard input, writes verdicts to standard output, one JSON object a line.

Usage: karat-judge [OPTIONS]

Options:
  --engine ENGINE   cranelift (compiled, the default) or pulley (interpreted); verdicts and fuel are the same
  --runtimes DIR    folder of the language runtimes [KARAT_RUNTIMES, else $XDG_DATA_HOME/karat/runtimes]
  --cache DIR       private folder of compiled code [$XDG_CACHE_HOME/karat/judge]
  --list            shows engine and runtimes, and ends
  --self-test       runs a few small jobs, says what came of them, and ends
  -h, --help        shows this
  -V, --version     shows the version

The runtime of Python is made by scripts/build-runtime. Before its first use it is compiled, once.
Exit status: 0 at the end of the input, 1 if the judge cannot work, 2 if an option is wrong.";

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
    List,
    SelfTest,
}

fn run() -> Result<ExitCode, (u8, String)> {
    let mut kind = EngineKind::default();
    let (mut runtimes, mut cache) = (None, None);
    let mut action = Action::Serve;
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
    let judge = Judge::new(options).map_err(|error| (1, error.to_string()))?;
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
        Action::Serve => {
            if let Err(error) = judge.prepare() {
                // Jobs for other runtimes can still be judged; those for this one hear the same.
                eprintln!("karat-judge: {error}");
            }
            protocol::serve(&judge, std::io::stdin().lock(), std::io::stdout().lock())
                .map_err(|error| (1, format!("standard input or output: {error}")))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Returns a folder below that of a variable, or below the usual one in the home folder.
fn below(variable: &str, usual: &str, folder: &str) -> Option<PathBuf> {
    let given = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(usual));
    Some(given.or_else(home)?.join(folder))
}
