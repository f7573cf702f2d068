//! The pages of `karat help TOPIC`.

use crate::exit;

/// A page: its name, one line about it, and its text.
pub struct Topic {
    /// The word to ask for it.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// The page.
    pub text: &'static str,
}

/// Every page, in the order in which `karat help` lists them.
pub const TOPICS: &[Topic] = &[Topic {
    name: "exit-status",
    about: "the numbers with which karat ends, for scripts",
    text: exit::HELP,
}];

/// Returns the page of that name.
pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}
