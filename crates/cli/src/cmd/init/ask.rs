//! The questions of `karat init`, three at most, each with a proposal.

use std::io::{BufRead as _, Write as _, stdin};

use karat::text::clean;
use karat_core::number::Decimal;
use karat_evidence::profile::{Field, Shape};

use super::data::Data;
use super::names::Direction;
use super::plan::{Plan, column, countable, find};
use crate::failure::Failure;
use crate::output::{CARE, Color, FAINT, STRONG, Screen};
use karat::ask::points;

/// Asks what the data does not say, and changes the plan.
pub fn ask<'d>(plan: &mut Plan<'d>, data: &'d Data, color: Color) -> Result<(), Failure> {
    let mut screen = Screen::stderr(color);
    let fields = data.profile.reachable();
    if plan.released.is_none() {
        let proposal = plan.success.and_then(|at| plan.measures.get(at)).map(|it| column(it.field));
        let counts = |field: &&&Field| {
            matches!(field.shape(), Shape::Number | Shape::Boolean) && countable(field).is_ok()
        };
        let names: Vec<String> =
            fields.iter().filter(counts).map(|field| clean(&column(field)).into_owned()).collect();
        let question = format!("What decides success? One of {}; - for none", names.join(", "));
        until(&mut screen, &question, proposal.as_deref().unwrap_or("-"), |answer| {
            if answer == "-" {
                plan.set_success(None);
                return Ok(());
            }
            let field =
                find(&fields, answer).ok_or_else(|| format!("there is no field `{}`", clean(answer)))?;
            countable(field).map_err(|failure| failure.to_string())?;
            plan.set_success(Some(field));
            Ok(())
        })?;
        if !plan.unknown.is_empty() {
            let names: Vec<String> =
                plan.unknown.iter().map(|field| clean(&column(field)).into_owned()).collect();
            let question = format!(
                "Which of {} count? Such as: {}=lower; Enter for none",
                names.join(", "),
                names.first().map_or("x", String::as_str)
            );
            until(&mut screen, &question, "", |answer| {
                let mut found = Vec::new();
                for part in answer.split([' ', ',']).filter(|part| !part.is_empty()) {
                    let (name, way) =
                        part.rsplit_once('=').ok_or("write each as FIELD=higher or FIELD=lower")?;
                    let direction = match way {
                        "higher" | "high" | "more" => Direction::Higher,
                        "lower" | "low" | "less" => Direction::Lower,
                        _ => return Err(format!("`{}` is not higher or lower", clean(way))),
                    };
                    let field = find(&plan.unknown, name)
                        .ok_or_else(|| format!("`{}` is not among them", clean(name)))?;
                    found.push((field, direction));
                }
                found.into_iter().for_each(|(field, direction)| plan.count(field, direction));
                Ok(())
            })?;
        }
    }
    let proposal = if plan.has_task { "worse" } else { "none" };
    let question = "What stops a release? worse (than the baseline), points such as 80 (a score below), both as: worse 80; none";
    until(&mut screen, question, proposal, |answer| {
        let mut gate = super::plan::Gate::default();
        for word in answer.split_whitespace() {
            match word {
                "none" => {}
                "worse" if plan.has_task => gate.is_not_worse = true,
                "worse" => return Err(String::from("no field names the task, so runs cannot be compared")),
                word => {
                    let least = points(word)?;
                    if least > Decimal::from_millionths(100_000_000) {
                        return Err(String::from("scores end at 100"));
                    }
                    gate.floor = Some(least);
                }
            }
        }
        plan.gate = gate;
        Ok(())
    })
}

/// Asks until `take` takes the answer; Enter gives the proposal.
fn until(
    screen: &mut Screen,
    question: &str,
    proposal: &str,
    mut take: impl FnMut(&str) -> Result<(), String>,
) -> Result<(), Failure> {
    loop {
        let shown = if proposal.is_empty() { String::new() } else { format!(" [{proposal}]") };
        write!(screen, "{STRONG}{question}{STRONG:#}{FAINT}{shown}{FAINT:#} ")?;
        screen.flush()?;
        let mut line = String::new();
        let read = stdin().lock().read_line(&mut line).map_err(|error| Failure::reading("-", &error))?;
        if read == 0 {
            return Err(
                Failure::new("the answers ended, and nothing was written").help("--yes takes the proposals")
            );
        }
        let answer = if line.trim().is_empty() { proposal } else { line.trim() };
        match take(answer) {
            Ok(()) => return Ok(()),
            Err(why) => writeln!(screen, "{CARE}{why}{CARE:#}")?,
        }
    }
}
