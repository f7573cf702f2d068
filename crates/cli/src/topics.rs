//! The pages of `karat help TOPIC`.

use karat_importers::{IMPORTERS, Importer};

use karat_terminal::exit;

/// A page: its name, one line about it, and its text.
pub struct Topic {
    /// The word to ask for it.
    pub name: &'static str,
    /// A description of one line.
    pub about: &'static str,
    text: &'static str,
}

impl Topic {
    /// Returns the page.
    pub fn page(&self) -> String {
        let line = |importer: &&Importer| format!("  {:17}{}\n", importer.name, importer.words);
        self.text.replace("{importers}\n", &IMPORTERS.iter().map(line).collect::<String>())
    }
}

/// Makes a topic of the file that has its name.
macro_rules! topic {
    ($name:literal, $about:literal) => {
        Topic { name: $name, about: $about, text: include_str!(concat!("../topics/", $name, ".txt")) }
    };
}

/// Every page, in the order in which `karat help` lists them.
pub const TOPICS: &[Topic] = &[
    topic!("evidence", "files, items, kinds, and what is refused"),
    topic!("formats", "the logs of other tools that karat reads"),
    topic!("cards", "scorecards: what counts, and how much"),
    topic!("editors", "a schema that completes and checks scorecards"),
    topic!("missing", "what is not measured, and what becomes of it"),
    topic!("intervals", "how sure a leaderboard is; letters and ties"),
    topic!("gates", "to stop a release on a score or a regression"),
    Topic { name: "exit-status", about: "the numbers with which karat ends, for scripts", text: exit::HELP },
    topic!("times", "moments: timestamps, dates, now"),
    topic!("receipts", "records, proofs, and what they prove"),
    topic!("sending", "to send items to a server, and again"),
    topic!("environment", "what karat reads besides files and flags"),
    topic!("install", "completions and man pages"),
];

/// Returns the page of that name.
pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}
