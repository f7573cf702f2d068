//! Runs of plans: live, behind walls, with services that misbehave, and as karat starts them.

mod http;
mod judged;
#[cfg(unix)]
mod judging;
#[cfg(unix)]
mod karat;
#[cfg(unix)]
mod live;
#[cfg(target_os = "linux")]
mod sandboxed;
