//! `karat judge doctor`: what this machine has to run code of others, what it lacks, and how to get it.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use karat::text::{clean, fit, wrap};
use karat_graders::execution::RUNTIMES;
use karat_process::{Hello, JUDGE, Judges, Options};
use karat_sandbox::{Layers, Sandbox, State};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{CARE, Color, FAINT, GAIN, LOSS, STRONG, Screen, is_watched};
use serde_json::{Value, json};

use super::args::DoctorArgs;

/// Columns of the names at the left.
const NAMES: usize = 11;

/// Looks at this machine, and says what was found.
pub fn run(args: &DoctorArgs, color: Color) -> Result<Exit, Failure> {
    let findings = Findings::of(args);
    let mut screen = Screen::stdout(color);
    if args.json || (!args.table && !is_watched()) {
        writeln!(screen, "{}", findings.json())?;
    } else {
        let text = findings.table(screen.width);
        write!(screen, "{text}")?;
    }
    screen.flush()?;
    let is_lacking = args.strict && !findings.is_strict();
    Ok(if is_lacking { Exit::CouldNotRun } else { Exit::Done })
}

/// The findings.
struct Findings {
    /// The walls; or why it is not known which.
    layers: Result<Layers, String>,
    program: Result<PathBuf, String>,
    hello: Result<Hello, String>,
    runtimes: Option<PathBuf>,
    cache: Option<PathBuf>,
}

impl Findings {
    fn of(args: &DoctorArgs) -> Self {
        let program = JUDGE.found(args.judge.as_deref());
        let options = Options { runtimes: args.runtimes.clone(), ..Options::default() };
        let hello = Judges::new(program.clone(), options).hello();
        let named = args.runtimes.clone().or_else(|| env::var_os("KARAT_RUNTIMES").map(PathBuf::from));
        Self {
            layers: layers(),
            program: program.map_err(|fault| fault.to_string()),
            hello,
            runtimes: named.or_else(|| below("XDG_DATA_HOME", ".local/share", "karat/runtimes")),
            cache: below("XDG_CACHE_HOME", ".cache", "karat/judge"),
        }
    }

    fn is_strict(&self) -> bool {
        self.layers.as_ref().is_ok_and(|found| found.complaint().is_none())
    }

    fn json(&self) -> Value {
        let sandbox = match &self.layers {
            Ok(found) => {
                let layers = found.iter().map(|(layer, state)| match state {
                    State::Holds(means) => json!({"layer": layer.name(), "holds": true, "means": means}),
                    State::Missing(why) => {
                        json!({"layer": layer.name(), "holds": false, "why": why, "remedy": layer.remedy()})
                    }
                });
                json!({"strict": self.is_strict(), "layers": layers.collect::<Vec<_>>()})
            }
            Err(why) => json!({"strict": false, "layers": null, "fault": why}),
        };
        let judge = match (&self.program, &self.hello) {
            (Ok(program), Ok(hello)) => json!({
                "program": program.to_string_lossy(),
                "version": hello.version,
                "engine": hello.engine,
                "runtimes": hello.runtimes,
            }),
            (Ok(program), Err(why)) => json!({"program": program.to_string_lossy(), "fault": why}),
            (Err(why), _) => json!({"program": null, "fault": why}),
        };
        let folder = |folder: &Option<PathBuf>| {
            let Some(folder) = folder else { return Value::Null };
            json!({"folder": folder.to_string_lossy(), "exists": folder.is_dir(), "bytes": bytes_in(folder)})
        };
        json!({
            "sandbox": sandbox,
            "judge": judge,
            "runtimes": folder(&self.runtimes),
            "cache": folder(&self.cache),
        })
    }

    fn table(&self, width: usize) -> String {
        let mut text = format!("{STRONG}sandbox{STRONG:#}, for steps of workflows that are programs\n");
        match &self.layers {
            Ok(found) => walls(&mut text, found, width),
            Err(why) => block(&mut text, &format!("  {CARE}?{CARE:#} {}", fit("layers", NAMES)), why, width),
        }
        let _ = writeln!(text, "\n{STRONG}judge{STRONG:#}, for challenges");
        let mut row =
            |name: &str, said: &str| block(&mut text, &format!("  {}  ", fit(name, NAMES)), said, width);
        match &self.program {
            Ok(program) => row("program", &program.to_string_lossy()),
            Err(why) => row("program", why),
        }
        match &self.hello {
            Ok(hello) => {
                row("version", &format!("{}, {}", hello.version, hello.engine));
                for (name, digest) in &hello.runtimes {
                    row(name, digest);
                }
                let missing = RUNTIMES.into_iter().filter(|name| !hello.runtimes.contains_key(*name));
                missing.for_each(|name| row(name, "no runtime: make it with scripts/build-runtime"));
            }
            Err(why) if self.program.is_ok() => row("version", why),
            Err(_) => {}
        }
        for (name, folder) in [("runtimes", &self.runtimes), ("cache", &self.cache)] {
            match folder {
                Some(folder) if folder.is_dir() => {
                    let mib = bytes_in(folder) as f64 / f64::from(1 << 20);
                    row(name, &format!("{}, {mib:.1} MiB", folder.to_string_lossy()));
                }
                Some(folder) => row(name, &format!("{}, not there yet", folder.to_string_lossy())),
                None => row(name, "there is no home folder: set HOME"),
            }
        }
        text
    }
}

/// Looks which walls stand on this machine.
fn layers() -> Result<Layers, String> {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    Sandbox::new(&own).layers().map_err(|error| error.to_string())
}

/// Appends each wall, and whether all of them stand.
fn walls(text: &mut String, found: &Layers, width: usize) {
    let mut gaps = Vec::new();
    for (layer, state) in found.iter() {
        let (mark, style, said) = match state {
            State::Holds(means) => ("✓", GAIN, means.clone()),
            State::Missing(why) => {
                gaps.push(layer.name());
                ("✗", LOSS, format!("{why}; {}", layer.remedy()))
            }
        };
        let lead = format!("  {style}{mark}{style:#} {}", fit(layer.name(), NAMES));
        block(text, &lead, &format!("{}: {said}", layer.purpose()), width);
    }
    let _ = match gaps.is_empty() {
        true => writeln!(text, "  {GAIN}a strict sandbox can be had{GAIN:#}"),
        false => writeln!(text, "  {CARE}no strict sandbox{CARE:#}: {}", gaps.join(", ")),
    };
}

/// Appends a text behind a name, on as many lines as it takes.
fn block(text: &mut String, lead: &str, said: &str, width: usize) {
    let indent = NAMES + 4;
    for (number, line) in wrap(&clean(said), width.saturating_sub(indent)).iter().enumerate() {
        let _ = match number {
            0 => writeln!(text, "{lead}{line}"),
            _ => writeln!(text, "{:indent$}{FAINT}{line}{FAINT:#}", ""),
        };
    }
}

/// Returns a folder below that of a variable, or below the usual one in the home folder, as the judge looks for it.
fn below(variable: &str, usual: &str, folder: &str) -> Option<PathBuf> {
    let given = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(usual));
    Some(given.or_else(home)?.join(folder))
}

/// Returns the size of the files in a folder and in those in it.
fn bytes_in(folder: &Path) -> u64 {
    let size = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_in(&entry.path()),
        Ok(kind) if kind.is_file() => entry.metadata().map_or(0, |found| found.len()),
        _ => 0,
    };
    fs::read_dir(folder).into_iter().flatten().flatten().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_goes_on_below_its_beginning() {
        let mut text = String::new();
        block(&mut text, "  ✗ memory     ", "one two three four five six seven eight nine ten", 36);
        assert!(text.lines().all(|line| line.chars().count() <= 46) && text.lines().count() == 3, "{text}");
    }
}
