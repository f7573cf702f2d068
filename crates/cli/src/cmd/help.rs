//! `karat help`: the list of topics, a topic, or the help of a command.

use std::io::Write as _;

use clap::Command;

use crate::args::{Cli, HelpArgs, menu};
use crate::runner::hand_over;
use crate::topics::{self, TOPICS};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{STRONG, Screen};

/// Shows what was asked for.
///
/// # Errors
/// If there is neither such a topic nor such a command.
pub fn run(args: &HelpArgs, cli: &Cli) -> Result<Exit, Failure> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let mut screen = Screen::stdout(cli.color);
    match words.as_slice() {
        [] => list(&mut screen)?,
        ["judge", ..] => return Err(hand_over(words.iter().copied().chain(["--help"]))),
        words => {
            let topic = if let [name] = words { topics::find(name) } else { None };
            let page = topic.map_or_else(|| of_command(words), |topic| Ok(topic.page()))?;
            writeln!(screen, "{}", page.trim_end())?;
        }
    }
    screen.flush()?;
    Ok(Exit::Done)
}

fn list(screen: &mut Screen) -> Result<(), Failure> {
    writeln!(screen, "{STRONG}Topics:{STRONG:#}")?;
    for topic in TOPICS {
        writeln!(screen, "  {:14}{}", topic.name, topic.about)?;
    }
    writeln!(screen, "\n`karat help TOPIC` shows one, `karat help COMMAND` the flags of a command.")?;
    writeln!(screen, "`karat --help` lists the commands.")?;
    Ok(())
}

/// Returns the help of the command that `words` name.
fn of_command(words: &[&str]) -> Result<String, Failure> {
    let mut command = menu::command();
    command.build();
    let mut found = &mut command;
    for (at, word) in words.iter().enumerate() {
        let names: Vec<String> =
            found.get_subcommands().filter(|verb| !verb.is_hide_set()).map(name).collect();
        found = match found.find_subcommand_mut(word) {
            Some(next) => next,
            None => return Err(unknown(&words[..at], word, &names)),
        };
    }
    Ok(found.render_help().ansi().to_string())
}

fn name(command: &Command) -> String {
    command.get_name().to_owned()
}

fn unknown(before: &[&str], word: &str, verbs: &[String]) -> Failure {
    let place = if before.is_empty() { String::new() } else { format!(" of `karat {}`", before.join(" ")) };
    let topics = TOPICS.iter().map(|topic| topic.name).filter(|_| before.is_empty());
    let names: Vec<&str> = topics.chain(verbs.iter().map(String::as_str)).collect();
    let what = if before.is_empty() { "topic or command" } else { "command" };
    let failure = Failure::new(format!("there is no {what} `{word}`{place}")).near(word, names);
    failure.help("`karat help` lists the topics, `karat --help` the commands")
}
