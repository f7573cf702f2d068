//! The main help: the verbs by what they are for.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use super::Cli;

/// The headings of the main help, and the verbs below each. A verb that is not here stands below the last one.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Start", &["demo", "import", "init"]),
    ("Score", &["score", "explain", "card", "grade", "cache"]),
    ("Compare and gate", &["leaderboard", "standing", "compare", "rate", "stress", "tune", "check"]),
    ("Run and prove", &["run", "judge", "verify", "log", "rescore"]),
    ("Publish", &["serve", "push", "site", "export", "badge", "schema", "help"]),
];

/// The column at which the description of a verb begins.
const COLUMN: usize = 15;

const END: &str = "\
Options of every command: --color auto|always|never, -h, --help; -V, --version
`karat help` lists pages, such as `karat help exit-status`.";

/// Returns the command line, with the verbs of its help in groups.
pub fn command() -> Command {
    let command = Cli::command();
    let menu = menu(&command);
    command.help_template(format!("{{about-with-newline}}{{usage-heading}} {{usage}}\n{menu}{END}\n"))
}

fn menu(command: &Command) -> String {
    let shown: Vec<&Command> = command.get_subcommands().filter(|verb| !verb.is_hide_set()).collect();
    let listed = |name: &str| GROUPS.iter().any(|(_, verbs)| verbs.contains(&name));
    let mut menu = String::new();
    for (at, (heading, verbs)) in GROUPS.iter().enumerate() {
        let _ = writeln!(menu, "{heading}:");
        let named = verbs.iter().filter_map(|name| shown.iter().find(|verb| verb.get_name() == *name));
        let others = shown.iter().filter(|verb| at + 1 == GROUPS.len() && !listed(verb.get_name()));
        for verb in named.chain(others) {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(menu, "  {:1$}{about}", verb.get_name(), COLUMN - 2);
        }
    }
    menu
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_help_names_every_verb_once() {
        let command = Cli::command();
        let menu = menu(&command);
        for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            let begin = format!("  {} ", verb.get_name());
            assert_eq!(menu.lines().filter(|line| line.starts_with(&begin)).count(), 1, "{menu}");
        }
    }
}
