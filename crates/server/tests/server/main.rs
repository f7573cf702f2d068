//! Promises of the API, each with a server that really listens.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop")]

mod common;
mod evidence;
mod openapi;
