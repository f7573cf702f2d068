//! Trust classes: whose word a record rests on.

use std::collections::BTreeSet;

use karat_core::scorecard::Reporter;

karat_core::words! {
    /// The trust class of a record: whose word it rests on. A scorecard says by `from` whose word it asks for, and a key by
    /// `reports` whose word it brings; the lower of the two counts.
    #[repr(u8)]
    pub enum Trust {
        /// The subject or its operator states some fact, or the scorecard does not say who does, or the key does not say for whom
        /// it speaks, or no key sent it: no one vouches for what is in a file.
        Claimed = "claimed",
        /// The key of a judge or a third party states some fact, none is of a lower class.
        Judged = "judged",
        /// The key of a harness or task states every fact.
        Measured = "measured",
        /// A server graded it: a match of its arena, whose right answer it held.
        Graded = "graded",
    }
}

impl Trust {
    /// Returns the class of a fact with that provenance.
    pub const fn of_fact(reporter: Reporter) -> Self {
        match reporter {
            Reporter::Harness | Reporter::Task => Self::Measured,
            Reporter::Judge | Reporter::ThirdParty => Self::Judged,
            Reporter::Subject | Reporter::Operator | Reporter::Unstated => Self::Claimed,
        }
    }

    /// Returns the lowest class of facts with these provenances; of no fact, the lowest of all.
    pub fn of(reporters: impl Iterator<Item = Reporter>) -> Self {
        reporters.map(Self::of_fact).min().unwrap_or(Self::Claimed)
    }

    /// Returns the highest class of a record that was sent with a key which `reports` these provenances. A key without any may
    /// state everything, and so does not say for whom it speaks.
    pub fn ceiling(reports: &BTreeSet<String>) -> Self {
        let reported = Reporter::STATED.into_iter().filter(|reporter| reports.contains(reporter.name()));
        reported.map(Self::of_fact).max().unwrap_or(Self::Claimed)
    }
}
