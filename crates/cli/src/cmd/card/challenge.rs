//! `karat card new --base`: a challenge that picks dimensions from a family.

use std::collections::BTreeMap;
use std::io::Write as _;

use karat_core::json::write_string;
use karat_core::number::{Decimal, DecimalError};
use karat_core::scorecard::Scorecard;
use karat_core::scorecard::family::{self, Description, DimensionInfo};

use crate::args::NewArgs;
use karat::text::clean;
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::output::{CARE, Color, Screen};

/// Returns the card, which `karat card check` finds sound.
///
/// # Errors
/// If the choice of dimensions is not allowed: everything that is wrong with it.
pub fn text(args: &NewArgs, base: &str, dims: &str, color: Color) -> Result<String, Failure> {
    let palette = cards::load(base, color)?;
    if palette.family.is_none() {
        return Err(Failure::new(format!("`{}` is not a family", palette.name()))
            .help("--base names a family, such as `arena`"));
    }
    let mut problems = Vec::new();
    let weights = weights(dims, &mut problems);
    let mut descriptions = Descriptions::default();
    for (flag, given, put) in [
        ("--describe", &args.describe, Put::Description),
        ("--label", &args.label, Put::Label),
        ("--dim-color", &args.dim_color, Put::Color),
    ] {
        for text in given {
            descriptions.add(flag, text, put, &mut problems);
        }
    }
    let (picked, ignored): (Vec<_>, Vec<_>) =
        descriptions.0.into_values().partition(|other| weights.iter().any(|(key, _)| *key == other.key));
    let chosen = family::dims(&palette, &weights, &picked);
    // A weight that could not be read would make the sum wrong, too.
    if problems.is_empty() {
        problems = family::problems(&palette, &chosen);
        problems.extend(family::challenge(&palette, &chosen).err().unwrap_or_default());
    }
    match problems.as_slice() {
        [] => {}
        [only] => return Err(Failure::with_exit(Exit::CardRefused, only)),
        several => {
            let failure = format!("{} problems with the dimensions", several.len());
            let failure = Failure::with_exit(Exit::CardRefused, failure);
            return Err(several.iter().fold(failure, Failure::help));
        }
    }
    for other in &ignored {
        let key = clean(&other.key);
        writeln!(
            Screen::stderr(color),
            "{CARE}note{CARE:#}: `{key}` is described and not picked, so it is left out"
        )?;
    }
    Ok(written(&args.id, &palette, &chosen, &picked))
}

/// Reads `correctness=0.6,speed=0.4`.
fn weights(dims: &str, problems: &mut Vec<String>) -> Vec<(String, Decimal)> {
    let mut weights = Vec::new();
    for part in dims.split(',') {
        let Some((key, text)) = part.split_once('=') else {
            problems.push(format!("--dims: `{part}` is not a weight, expected such as `speed=0.4`"));
            continue;
        };
        let key = key.trim();
        match Decimal::parse(text.trim()) {
            Ok((weight, true)) => weights.push((key.to_owned(), weight)),
            Ok((_, false)) => {
                problems.push(format!("the weight of `{key}` is `{text}`, expected at most six decimals"));
            }
            Err(DecimalError::Malformed | DecimalError::TooLarge) => {
                problems.push(format!("the weight of `{key}` is `{text}`, expected a number from 0 to 1"));
            }
        }
    }
    weights
}

#[derive(Clone, Copy)]
enum Put {
    Label,
    Description,
    Color,
}

/// Other texts of dimensions, by key.
#[derive(Default)]
struct Descriptions(BTreeMap<String, Description>);

impl Descriptions {
    /// Reads `speed=Quick work`.
    fn add(&mut self, flag: &str, given: &str, put: Put, problems: &mut Vec<String>) {
        let Some((key, text)) = given.split_once('=') else {
            problems.push(format!(
                "{flag}: `{given}` is not a text of a dimension, expected such as `speed=Quick`"
            ));
            return;
        };
        let key = key.trim();
        let other = self.0.entry(key.to_owned());
        let other = other.or_insert_with(|| Description { key: key.to_owned(), ..Description::default() });
        let slot = match put {
            Put::Label => &mut other.label,
            Put::Description => &mut other.description,
            Put::Color => &mut other.color,
        };
        if slot.replace(text.to_owned()).is_some() {
            problems.push(format!("{flag} gives `{key}` twice"));
        }
    }
}

/// Returns a text as TOML writes it.
fn quoted(text: &str) -> String {
    let mut bytes = Vec::new();
    write_string(&mut bytes, text);
    // The only character that JSON may write bare and TOML may not.
    String::from_utf8_lossy(&bytes).replace('\u{7f}', "\\u007F")
}

fn written(id: &str, palette: &Scorecard, chosen: &[DimensionInfo], picked: &[Description]) -> String {
    let mut text = format!(
        "# A challenge of the family {family}. Every field is explained in docs/guide/scorecard.md.\n\
         # After a change: karat card check {id}.toml\n\n\
         schema  = \"karat/scorecard/1\"\n\
         id      = \"{id}\"\n\
         version = \"0.1.0\"          # a released version never changes: a new rule gets a new number\n\
         title   = \"{id}\"\n\
         base    = \"{family}\"\n\n\
         # The dimensions and their weights; everything else comes from the base.\n[dims]\n",
        family = palette.name(),
    );
    let width = chosen.iter().map(|info| info.key.len()).max().unwrap_or(0);
    for info in chosen {
        text.push_str(&format!("{:width$} = {}\n", info.key, info.weight));
    }
    for info in chosen {
        let Some(other) = picked.iter().find(|other| other.key == info.key) else { continue };
        text.push_str(&format!("\n[describe.{}]\n", info.key));
        let members = [("label", &other.label), ("description", &other.description), ("color", &other.color)];
        for (name, value) in members {
            if let Some(value) = value {
                text.push_str(&format!("{name:11} = {}\n", quoted(value)));
            }
        }
    }
    text.push_str(
        "\n# To grade matches as they were played, compare a field of the answer with one of the ground truth:\n\
         # [[evaluator.correctness]]\n# primitive = \"exact_match\"\n# field     = \"answer\"\n",
    );
    text
}
