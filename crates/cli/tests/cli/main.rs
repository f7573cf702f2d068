//! The program from outside: its output, its refusals, its promises.

mod arena;
mod authority;
mod boards;
mod caches;
mod cards;
mod claims;
mod common;
mod compare;
mod covariates;
mod crash;
#[cfg(unix)]
mod deploy;
mod docs;
mod documents;
mod doors;
mod drafts;
mod every_format;
mod formats;
mod gates;
#[cfg(unix)]
mod golden;
mod graders;
mod help;
mod hostile;
mod identity;
mod import;
mod init;
mod jobs;
#[cfg(unix)]
mod judge;
mod leaderboard;
mod log;
mod lost;
mod numbers;
mod official;
#[cfg(unix)]
mod outside;
mod pages;
mod project;
mod push;
mod questions;
mod rate;
mod reach;
mod refusals;
mod rescore;
mod results;
mod rows;
#[cfg(unix)]
mod run;
mod schema;
mod screens;
mod serve;
mod site;
mod sql;
mod standing;
mod store;
#[cfg(target_os = "linux")]
mod streams;
mod stress;
mod sums;
mod tasks;
mod timestamps;
#[cfg(unix)]
mod tls;
mod tries;
mod tune;
mod uncertainty;
mod verify;
mod witnesses;
