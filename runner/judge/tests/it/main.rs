//! The judge as a whole: what code may do, what it cannot, and that both engines agree on it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must fail"
)]

mod cases;
mod hostile;
mod javascript;
mod limits;
mod modules;
mod prices;
mod program;
mod scripts;
mod suites;
mod support;
#[path = "../work/mod.rs"]
mod work;
