//! Runs of plans: live, replayed, behind walls, and with services that misbehave.

mod hostile;
mod http;
mod judged;
#[cfg(unix)]
mod live;
#[cfg(target_os = "linux")]
mod sandboxed;
