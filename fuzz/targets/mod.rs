//! The checks of each fuzz target, by name: libFuzzer calls these functions, and a test of every change calls them with all seeds.

pub mod cache;
pub mod evidence;
pub mod graders;
pub mod import;
pub mod reports;
pub mod request;
pub mod scorecard;
pub mod source;

/// A target: it panics if an input breaks the promise.
pub type Check = fn(&[u8]);

/// Name and function of every target.
pub const ALL: [(&str, Check); 8] = [
    ("cache", cache::check),
    ("evidence", evidence::check),
    ("graders", graders::check),
    ("import", import::check),
    ("reports", reports::check),
    ("request", request::check),
    ("scorecard", scorecard::check),
    ("source", source::check),
];
