//! `karat completions` and `karat man`: what shells and man read about the command line, made from it.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use karat_terminal::exit::{self, Exit};
use karat_terminal::failure::Failure;
use karat_terminal::output::{lines, replace_own};

/// The first bytes of every page that is written here.
const MARK: &[u8] = b".ie \\n(.g";

/// Prints the completions for a shell.
///
/// # Errors
/// If standard output cannot be written.
pub fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    // The generator stops the program where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "karat", &mut script);
    let mut out = lines();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Writes a man page for the program and for each of its verbs.
///
/// # Errors
/// If a page cannot be written, or another file has its name.
pub fn man(args: &ManArgs) -> Result<Exit, Failure> {
    fs::create_dir_all(&args.folder).map_err(|error| Failure::writing(&args.folder, &error))?;
    let mut command = Cli::command();
    command.build();
    let mut out = lines();
    pages(&command, "karat", &mut |name, page| {
        let path = Path::new(&args.folder).join(name).display().to_string();
        replace_own(&path, page, MARK, "a man page")?;
        Ok(writeln!(out, "{path}")?)
    })?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The function that takes each page, with the name of its file.
type Write<'w> = dyn FnMut(&str, &[u8]) -> Result<(), Failure> + 'w;

/// Hands the page of `command`, which is called `name`, and those of its verbs to `write`.
fn pages(command: &Command, name: &str, write: &mut Write<'_>) -> Result<(), Failure> {
    let page = page(command, name)?;
    write(&format!("{name}.1"), &page)?;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        pages(verb, &format!("{name}-{}", verb.get_name()), write)?;
    }
    Ok(())
}

fn page(command: &Command, name: &str) -> io::Result<Vec<u8>> {
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone()).title(name.to_uppercase());
    let man = man.source(format!("karat {version}")).manual("karat");
    let mut page = Vec::new();
    man.render(&mut page)?;
    if name == "karat" {
        writeln!(page, ".SH \"EXIT STATUS\"\n.nf")?;
        for line in exit::HELP.lines().skip(1) {
            writeln!(page, "{}", line.replace('\\', "\\\\").replace('-', "\\-"))?;
        }
        writeln!(page, ".fi")?;
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_page_that_begins_with_the_mark() {
        let mut command = Cli::command();
        command.build();
        let mut names = Vec::new();
        pages(&command, "karat", &mut |name, page| {
            let text = String::from_utf8(page.to_vec()).unwrap();
            assert!(page.starts_with(MARK), "{name}: {text}");
            assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{name}");
            names.push(name.to_owned());
            Ok(())
        })
        .unwrap();
        for name in ["karat.1", "karat-score.1", "karat-card-new.1", "karat-log-verify.1"] {
            assert!(names.iter().any(|it| it == name), "{names:?}");
        }
    }
}
