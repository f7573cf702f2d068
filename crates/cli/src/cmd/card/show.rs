//! `karat card show`: a scorecard as a person reads it.

use std::io::{self, Write as _};

use karat_core::number::Decimal;
use karat_core::scorecard::{Dimension, Group, Mean, MissingPolicy, Reporter, Scorecard};

use crate::args::ShowArgs;
use crate::cards::{find, parse};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{BAR, Color, FAINT, STRONG, Screen};
use karat::card::words::{conditions, effect, form, range, shared_policy, standing, without_evidence};
use karat::draw::bar::bar;
use karat::text::{clean, fit, wrap};

/// Columns of the bars.
const BAR_WIDTH: usize = 30;

/// Prints the card, or the file it comes from.
pub fn run(args: &ShowArgs, screen: &mut Screen, color: Color) -> Result<Exit, Failure> {
    let text = find(&args.card)?;
    if args.toml {
        screen.write_all(text.text.as_bytes())?;
        return Ok(Exit::Done);
    }
    let card = parse(&text, color)?;
    head(&card, screen)?;
    dimensions(&card, screen)?;
    adjustments(&card, screen)?;
    badges(&card, screen)?;
    if let Some(section) = &card.standing {
        writeln!(screen, "\n{STRONG}Standing{STRONG:#}, of many scores of a subject")?;
        standing::lines(&card, section).iter().try_for_each(|line| prose(screen, "  ", line))?;
    }
    facts(&card, screen)?;
    keeps(&card, screen)?;
    writeln!(screen, "\n{FAINT}{}{FAINT:#}", card.digest)?;
    Ok(Exit::Done)
}

fn head(card: &Scorecard, screen: &mut Screen) -> io::Result<()> {
    writeln!(screen, "{STRONG}{}{STRONG:#}  {}", card.name(), clean(&card.title))?;
    if !card.source.is_empty() {
        prose(screen, "", &format!("source: {}", card.source))?;
    }
    prose(screen, "", &card.about)?;
    form(card).iter().try_for_each(|line| prose(screen, "", line))
}

fn dimensions(card: &Scorecard, screen: &mut Screen) -> io::Result<()> {
    writeln!(screen, "\n{STRONG}Dimensions{STRONG:#}")?;
    let name =
        card.dimensions.iter().map(|dimension| dimension.key.chars().count()).max().unwrap_or(0).min(28);
    let most = card.dimensions.iter().map(|dimension| dimension.weight).max().unwrap_or(Decimal::ONE);
    let shared = shared_policy(card);
    for dimension in &card.dimensions {
        let group = dimension.group.and_then(|at| card.groups.get(at));
        let group = group.map_or(String::new(), |group: &Group| format!("  in {}", group.key));
        let weight = if card.family.is_some() { String::new() } else { dimension.weight.to_string() };
        let length = bar(dimension.weight.millionths(), most.millionths(), BAR_WIDTH);
        let length = if card.family.is_some() { "" } else { length.trim_end() };
        let row = format!(
            "  {}  {weight:>8}  {BAR}{length}{BAR:#}{FAINT}{group}{FAINT:#}",
            fit(&dimension.key, name)
        );
        writeln!(screen, "{row}")?;
        dimension_rules(dimension, shared, screen)?;
    }
    if let Some(policy) = shared {
        prose(screen, "  ", &format!("any of them {}", without_evidence(policy)))?;
    }
    for group in &card.groups {
        let mean: Mean = group.mean;
        writeln!(screen, "  group {}  {}  {}", clean(&group.key), group.weight, mean.name())?;
    }
    if !card.lets.is_empty() || !card.constants.is_empty() {
        writeln!(screen, "\n{STRONG}Where{STRONG:#}")?;
        for constant in &card.constants {
            let unit = constant.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
            prose(screen, "  ", &format!("{} = {}{unit}", constant.name, constant.value))?;
        }
        for named in &card.lets {
            prose(screen, "  ", &format!("{} = {}", named.name, named.formula.text))?;
        }
    }
    if let Some(profiles) = &card.profiles {
        let by = card.facts.get(profiles.by).map_or("", |fact| &fact.name);
        writeln!(screen, "\n{STRONG}Weights by {}{STRONG:#}, in the order of the dimensions", clean(by))?;
        for (place, (name, weights)) in profiles.list.iter().enumerate() {
            let weights: Vec<String> =
                weights.iter().map(|weight| format!("{weight:<8}", weight = weight.to_string())).collect();
            let fallback = if place == profiles.fallback { "the fallback" } else { "" };
            writeln!(
                screen,
                "{}",
                format!("  {}  {}{fallback}", fit(name, 20), weights.concat()).trim_end()
            )?;
        }
    }
    if let Some(policy) = &card.override_policy {
        prose(
            screen,
            "",
            &format!("weights may be overridden; the merged sum must be within {} of 1", policy.tolerance),
        )?;
    }
    Ok(())
}

fn dimension_rules(
    dimension: &Dimension,
    shared: Option<MissingPolicy>,
    screen: &mut Screen,
) -> io::Result<()> {
    if dimension.formula.text != dimension.key {
        prose(screen, "      ", &dimension.formula.text)?;
    }
    if let Some(applies) = &dimension.applies {
        prose(screen, "      ", &format!("applies when {}", applies.text))?;
    }
    if let Some(when) = &dimension.when {
        prose(screen, "      ", &format!("only when {}; otherwise 0", when.text))?;
    }
    match shared {
        Some(_) => Ok(()),
        None => prose(screen, "      ", &without_evidence(dimension.missing)),
    }
}

fn adjustments(card: &Scorecard, screen: &mut Screen) -> io::Result<()> {
    if !card.rules.is_empty() {
        writeln!(screen, "\n{STRONG}Rules{STRONG:#}, in this order")?;
        for rule in &card.rules {
            prose(
                screen,
                "  ",
                &format!("{}: when {}, score = {}", rule.name, rule.when.text, rule.set.text),
            )?;
        }
    }
    if !card.gates.is_empty() {
        writeln!(screen, "\n{STRONG}Gates{STRONG:#}")?;
        for gate in &card.gates {
            prose(screen, "  ", &format!("{}: when {}, {}", gate.name, gate.when.text, effect(gate, card)))?;
        }
    }
    Ok(())
}

fn badges(card: &Scorecard, screen: &mut Screen) -> io::Result<()> {
    if !card.bands.is_empty() {
        writeln!(screen, "\n{STRONG}Bands{STRONG:#}")?;
        for band in &card.bands {
            writeln!(screen, "  {}  from {}", fit(&band.name, 14), band.from)?;
        }
    }
    if !card.tiers.is_empty() {
        writeln!(screen, "\n{STRONG}Tiers{STRONG:#}")?;
        for tier in &card.tiers {
            prose(screen, "  ", &format!("{}: {}", tier.name, conditions(tier, card)))?;
        }
    }
    Ok(())
}

fn facts(card: &Scorecard, screen: &mut Screen) -> io::Result<()> {
    writeln!(screen, "\n{STRONG}Facts{STRONG:#} that the evidence supplies")?;
    let name = card.facts.iter().map(|fact| fact.name.chars().count()).max().unwrap_or(0).min(28);
    for fact in &card.facts {
        let from = if fact.from == Reporter::Unstated { "" } else { fact.from.name() };
        let path =
            fact.path.as_ref().map_or_else(String::new, |path| format!("  {}", clean(&path.to_string())));
        let row = format!("  {}  {}  {from}{path}", fit(&fact.name, name), fit(&range(fact, card), 26));
        writeln!(screen, "{}", row.trim_end())?;
    }
    Ok(())
}

fn keeps(card: &Scorecard, screen: &mut Screen) -> io::Result<()> {
    if card.keeps.is_empty() {
        return Ok(());
    }
    writeln!(screen, "\n{STRONG}Kept by choice{STRONG:#}")?;
    for keep in &card.keeps {
        let at = if keep.at.is_empty() { String::new() } else { format!(" {}", keep.at) };
        prose(screen, "  ", &format!("{}{at}: {}", keep.code, keep.why))?;
    }
    Ok(())
}

/// Prints wrapped text; lines after the first are indented by two more columns.
fn prose(screen: &mut Screen, indent: &str, text: &str) -> io::Result<()> {
    let width = screen.width.saturating_sub(indent.len() + 2);
    for (place, line) in wrap(text, width).iter().enumerate() {
        let further = if place > 0 { "  " } else { "" };
        writeln!(screen, "{indent}{further}{line}")?;
    }
    Ok(())
}
