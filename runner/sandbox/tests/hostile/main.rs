//! Programs that try to harm the machine, to see what is hidden, or to change their verdict: each twice with the same
//! verdict, as root and as an ordinary user. Afterwards nothing is left of them. The programs are this test, started again.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

#[cfg(target_os = "linux")]
mod cases;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod races;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("suite") => cases::suite(arguments[2].as_ref()),
        Some("program") => programs::run(&arguments[2..]),
        _ => cases::main(),
    }
}
