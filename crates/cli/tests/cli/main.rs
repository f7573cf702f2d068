//! The program from outside: what it prints, what it refuses, what it promises.

mod caches;
mod cards;
mod common;
mod conform;
mod docs;
mod graders;
mod help;
mod pages;
mod rate;
mod real;
mod real_matches;
mod refusals;
mod screens;
#[cfg(target_os = "linux")]
mod streams;
