//! `karat card new --challenge`: a folder with a challenge that runs what is submitted.

use std::fs;
use std::path::Path;

use karat_core::facts::Digest;

use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::create;

const CARD: &str = include_str!("starter/challenge/challenge.toml");
const CASES: &str = include_str!("starter/challenge/cases.toml");

/// The languages of references: name, end of the names of files, text. The flag `--language` has these names.
const REFERENCES: [(&str, &str, &str); 2] = [
    ("python", "py", include_str!("starter/challenge/reference.py")),
    ("javascript", "js", include_str!("starter/challenge/reference.js")),
];

/// Writes card, hidden cases and reference into a folder; never overwrites a file.
pub fn write(id: &str, language: &str, folder: &str) -> Result<Exit, Failure> {
    let files = files(id, language, &format!("{folder}/challenge.toml"));
    let known = files.iter().find(|(name, _)| Path::new(folder).join(name).exists());
    if let Some((name, _)) = known {
        return Err(Failure::new(format!("`{folder}/{name}` exists already"))
            .help("give another folder with --out, or remove it first"));
    }
    fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, &error))?;
    for (name, text) in &files {
        create(&Path::new(folder).join(name).display().to_string(), text.as_bytes())?;
    }
    let [(card, _), (cases, _), (reference, _)] = &files;
    format::text(&format!(
        "wrote {folder}/{card}, {folder}/{cases} (hidden) and {folder}/{reference} (hidden); \
         next: karat card check {folder}/{card}\n"
    ))?;
    Ok(Exit::Done)
}

/// Returns the files: name and text. An unknown language is the first one.
fn files(id: &str, language: &str, card: &str) -> [(String, String); 3] {
    let [first, ..] = REFERENCES;
    let (runtime, end, reference) =
        REFERENCES.into_iter().find(|(name, ..)| *name == language).unwrap_or(first);
    let cases = CASES.replace("@CARD@", card);
    let digest = Digest::of(cases.as_bytes()).to_string();
    let mut text = CARD.replace("@ID@", id).replace("@CARD@", card).replace("@DIGEST@", &digest);
    text = text.replace("@RUNTIME@", runtime).replace("@END@", end);
    let reference = (format!("reference.{end}"), reference.to_owned());
    [("challenge.toml".to_owned(), text), ("cases.toml".to_owned(), cases), reference]
}

#[cfg(test)]
mod tests {
    use karat::card::CompiledCard;
    use karat_graders::execution::Run;

    use super::*;

    #[test]
    fn it_is_valid_at_once() {
        for (language, end, _) in REFERENCES {
            let [(_, card), (_, cases), (name, reference)] =
                files("my-task", language, "my-task/challenge.toml");
            let card = CompiledCard::parse(&card).unwrap();
            let card = card.with_files(&|_| Ok(cases.clone().into_bytes())).unwrap();
            let evaluator = card.evaluator().unwrap();
            let file = format!("solution.{end}");
            assert_eq!(evaluator.submission().unwrap(), (language, vec![file.as_str()]));
            assert_eq!(name, format!("reference.{end}"));
            let cases = evaluator.cases("cases.toml").unwrap().cases();
            assert!(cases.len() >= 5);
            for case in cases {
                let Run::Call { function, .. } = &case.run else { panic!("{case:?}") };
                assert!(reference.contains(&format!(" {function}(")), "{function}");
            }
        }
    }
}
