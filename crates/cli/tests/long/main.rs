//! The program from outside, where that takes long or needs data that is not part of the repository: `.ci/long` runs it,
//! `cargo test` does not.

#[path = "../cli/authority.rs"]
mod authority;
#[path = "../cli/common.rs"]
#[expect(dead_code, reason = "the tests beside it use the rest")]
mod common;
mod mutants;
mod published;
mod published_matches;
#[path = "../cli/store.rs"]
#[expect(dead_code, reason = "the tests beside it use the rest")]
mod store;
