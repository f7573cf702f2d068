//! `karat init`: a scorecard and a project file from data, with the reasons in comments.

mod ask;
mod card;
mod data;
mod files;
mod names;
mod plan;
mod project;

use std::io::{IsTerminal as _, Write as _, stdin};

use karat::text::clean;

use crate::args::{Cli, InitArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{FAINT, STRONG, Screen};
use crate::project::NAME;
use data::Data;
use plan::Plan;

/// The scorecard to write, if no other name is given.
const CARD: &str = "scorecard.toml";

/// Looks at the data, asks, and writes the files.
pub fn run(args: &InitArgs, cli: &Cli) -> Result<Exit, Failure> {
    let out = args.out.as_deref().unwrap_or(CARD);
    if !args.dry_run && !args.force {
        files::refuse_existing(&[out, NAME])?;
    }
    let flags = [&args.higher, &args.lower, &args.without].into_iter().flatten();
    let flags = flags.chain(&args.subject).chain(&args.task).chain(&args.success);
    let data = data::read(&args.files, flags.map(String::as_str))?;
    let is_asking = !args.yes && !args.dry_run;
    if is_asking && !(stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Err(Failure::new("there is no terminal to ask on").help(
            "take the proposals with --yes, and change them with --success, --higher, --lower, --without",
        ));
    }
    let mut plan = Plan::new(&data, args)?;
    if is_asking {
        ask::ask(&mut plan, &data, cli.color)?;
    }
    let (card, name) = match &plan.released {
        Some(id) => (None, (*id).to_owned()),
        None => {
            let text = card::text(&plan, &data)?;
            (Some(text), out.to_owned())
        }
    };
    let project = project::text(&plan, &data, &name);
    if args.dry_run {
        let mut screen = Screen::stdout(cli.color);
        for (name, text) in [(out, card.as_ref()), (NAME, Some(&project))] {
            if let Some(text) = text {
                writeln!(screen, "{STRONG}# {name}{STRONG:#}\n{text}")?;
            }
        }
        screen.flush()?;
        return Ok(Exit::Done);
    }
    let mut written = Vec::new();
    if let Some(text) = &card {
        written.push((out, text.as_str()));
    }
    written.push((NAME, project.as_str()));
    files::write(&written, args.force)?;
    tell(&plan, &data, &written, cli)
}

/// Says what was written, and which commands come next.
fn tell(plan: &Plan, data: &Data, written: &[(&str, &str)], cli: &Cli) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout(cli.color);
    let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
    let items = karat::text::count(usize::try_from(data.profile.items()).unwrap_or(usize::MAX), "item");
    writeln!(screen, "looked at {items}; wrote {}", names.join(" and "))?;
    for line in plan.lines() {
        writeln!(screen, "  {}", clean(&line))?;
    }
    if let more @ 1.. = data.profile.left_out() {
        let fields = karat::text::count(more, "field");
        let fields = if data.profile.is_left_out_whole() { fields } else { format!("{fields} or more") };
        let why = "as there are too many; a flag that names one takes it";
        writeln!(screen, "  not looked at: {fields}, {why}")?;
    }
    writeln!(screen, "{STRONG}next{STRONG:#}")?;
    let mut steps = Vec::new();
    if plan.released.is_none() {
        steps.push((
            format!("karat card check {}", names.first().unwrap_or(&CARD)),
            "what the scorecard proves",
        ));
    }
    steps.push((String::from("karat score"), "each item"));
    if plan.has_baseline() {
        steps.push((
            String::from("karat check --update-baseline"),
            "keep this run to compare later ones with",
        ));
    }
    steps.push((String::from("karat check"), "ranks, changes, gates"));
    let width = steps.iter().map(|(step, _)| step.len()).max().unwrap_or(0);
    for (step, why) in steps {
        writeln!(screen, "  {step:width$}  {FAINT}{why}{FAINT:#}")?;
    }
    screen.flush()?;
    Ok(Exit::Done)
}
