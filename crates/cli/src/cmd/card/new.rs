//! `karat card new`: a commented scorecard to start from.

use super::{challenge, code};
use crate::args::NewArgs;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::{Color, create};

/// A starter for each kind of evidence, with `@ID@` for the name.
const STARTERS: [(&str, &str); 6] = [
    ("facts", include_str!("starter/facts.toml")),
    ("workflow-run", include_str!("starter/workflow-run.toml")),
    ("match", include_str!("starter/match.toml")),
    ("reasoning-trace", include_str!("starter/reasoning-trace.toml")),
    ("agent-dimensions", include_str!("starter/agent-dimensions.toml")),
    ("agent-evidence", include_str!("starter/agent-evidence.toml")),
];

/// Writes the starter; never overwrites a file.
pub fn run(args: &NewArgs, color: Color) -> Result<Exit, Failure> {
    check_id(&args.id)?;
    if args.challenge {
        return code::write(&args.id, &args.language, args.out.as_deref().unwrap_or(&args.id));
    }
    let text = match (&args.base, &args.dims) {
        (Some(base), Some(dims)) => challenge::text(args, base, dims, color)?,
        _ => starter(&args.id, &args.kind)?,
    };
    let Some(path) = &args.out else {
        format::text(&text)?;
        return Ok(Exit::Done);
    };
    create(path, text.as_bytes())?;
    format::text(&format!("wrote {path}; next: karat card check {path}\n"))?;
    Ok(Exit::Done)
}

fn check_id(id: &str) -> Result<(), Failure> {
    let sound = id.starts_with(|c: char| c.is_ascii_lowercase())
        && id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !sound {
        return Err(Failure::new(format!("`{id}` is not the name of a scorecard"))
            .help("use lower-case letters, digits and hyphens, starting with a letter: `support-bot`"));
    }
    Ok(())
}

fn starter(id: &str, kind: &str) -> Result<String, Failure> {
    match STARTERS.iter().find(|(name, _)| *name == kind) {
        Some((_, text)) => Ok(text.replace("@ID@", id)),
        None => {
            let names: Vec<&str> = STARTERS.iter().map(|(name, _)| *name).collect();
            Err(Failure::new(format!("there is no kind of evidence `{kind}`")).one_of(kind, &names))
        }
    }
}

#[cfg(test)]
mod tests {
    use karat_checker::check_text;
    use karat_core::diagnostic::{Diagnostic, Severity};

    use super::*;

    #[test]
    fn every_starter_passes_the_checker() {
        for (kind, _) in STARTERS {
            let text = starter("my-card", kind).unwrap();
            let checked = check_text(&text, &|_| None);
            let found = checked.diagnostics.iter().filter(|found| found.severity != Severity::Note);
            assert_eq!(found.collect::<Vec<_>>(), [] as [&Diagnostic; 0], "{kind}");
            assert_eq!(checked.card.unwrap().evidence, kind);
        }
    }

    #[test]
    fn a_bad_name_is_refused() {
        for bad in ["", "Bot", "7bot", "a b", "bot.1"] {
            assert!(check_id(bad).is_err(), "{bad}");
        }
    }
}
