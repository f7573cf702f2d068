//! Promises of the API, each with a server that really listens.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may stop")]

mod answer;
mod answers;
mod arena;
mod arena_pages;
mod arrival;
mod authority;
mod common;
mod edge;
mod events;
mod evidence;
mod fair;
mod judged;
mod keys;
mod large;
mod limits;
mod log;
mod names;
mod old_matches;
mod openapi;
mod over_cases;
mod provenance;
mod requests;
mod reviews;
#[cfg(unix)]
mod seeds;
mod share;
mod site;
mod spans;
mod stop;
mod traces;
mod traces_odd;
mod tricks;
mod turn;
mod web;
mod webhooks;
mod weights;
mod witnesses;
mod workflows;
mod workflows_at_once;
mod workflows_refused;
