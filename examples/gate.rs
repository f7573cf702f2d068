//! A gate in Rust: judges the runs of a project, and ends with the status of the verdict.

use karat::gate::Status;
use karat::inputs::Silent;
use karat::{CompiledCard, Error, Options, Project};

fn main() -> Result<(), Error> {
    let path = std::env::args().nth(1).unwrap_or_else(|| String::from("karat.toml"));
    std::process::exit(judge(&path)? as i32)
}

pub(crate) fn judge(path: &str) -> Result<Status, Error> {
    let project = Project::open(path)?;
    let (inputs, baseline) = project.inputs()?;
    let card = CompiledCard::open(&project.card)?;
    let mut run = project.load(&inputs, card, Options::default(), &Silent)?;
    let judged = project.gate.judge(&project.items, &mut run, &baseline)?;
    judged.verdict().lines().iter().for_each(|line| println!("{line}"));
    Ok(judged.verdict().status())
}
