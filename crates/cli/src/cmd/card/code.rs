//! `karat card new --challenge`: a folder with a challenge that runs what is submitted.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use karat_core::facts::Digest;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Screen;

const CARD: &str = include_str!("starter/challenge/challenge.toml");
const CASES: &str = include_str!("starter/challenge/cases.toml");
const REFERENCE: &str = include_str!("starter/challenge/reference.py");

/// Writes card, hidden cases and reference into a folder; never overwrites a file.
pub fn write(id: &str, folder: &str, screen: &mut Screen) -> Result<Exit, Failure> {
    let files = files(id, &format!("{folder}/challenge.toml"));
    let known = files.iter().find(|(name, _)| Path::new(folder).join(name).exists());
    if let Some((name, _)) = known {
        return Err(Failure::new(format!("`{folder}/{name}` exists already"))
            .help("give another folder with --out, or remove it first"));
    }
    fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
    for (name, text) in &files {
        let path = Path::new(folder).join(name);
        let written = OpenOptions::new().write(true).create_new(true).open(&path);
        written
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| Failure::writing(&path.display().to_string(), &error))?;
    }
    let [(card, _), (cases, _), (reference, _)] = &files;
    writeln!(
        screen,
        "wrote {folder}/{card}, {folder}/{cases} (hidden) and {folder}/{reference} (hidden); \
         next: karat card check {folder}/{card}"
    )?;
    Ok(Exit::Done)
}

/// Returns the files: name and text.
fn files(id: &str, card: &str) -> [(&'static str, String); 3] {
    let cases = CASES.replace("@CARD@", card);
    let digest = Digest::of(cases.as_bytes()).to_string();
    let text = CARD.replace("@ID@", id).replace("@CARD@", card).replace("@DIGEST@", &digest);
    [("challenge.toml", text), ("cases.toml", cases), ("reference.py", REFERENCE.to_owned())]
}

#[cfg(test)]
mod tests {
    use karat::card::CompiledCard;
    use karat_evidence::execution::Run;

    use super::*;

    #[test]
    fn it_is_valid_at_once() {
        let [(_, card), (_, cases), (_, reference)] = files("my-task", "my-task/challenge.toml");
        let card = CompiledCard::parse(&card).unwrap();
        let card = card.with_files(&|_| Ok(cases.clone().into_bytes())).unwrap();
        let evaluator = card.evaluator().unwrap();
        let cases = evaluator.cases("cases.toml").unwrap().cases();
        assert!(cases.len() >= 5);
        for case in cases {
            let Run::Call { function, .. } = &case.run else { panic!("{case:?}") };
            assert!(reference.contains(&format!("def {function}(")), "{function}");
        }
    }
}
