//! Matches at challenges: the skill of each agent under Glicko-2, and step by step how each rating came about.

use crate::output::{FAINT, STRONG};
use karat::answers::skill::SkillRating;
use karat::ratings::{Agent, Careers, Played};
use karat::text::{clean, wrap};

/// Returns a line for each agent, the most skilled first, at most `top`; 0 is all.
pub fn skills(careers: &Careers, width: usize, top: usize) -> String {
    let mut text =
        format!("\n{STRONG}Skill{STRONG:#} (Glicko-2, ± 2 deviations; then with repeats for less)\n");
    let mut agents: Vec<&Agent> = careers.agents.iter().collect();
    agents.sort_by(|one, other| other.skill.full.points.total_cmp(&one.skill.full.points));
    let rows = if top == 0 { agents.len() } else { top };
    for Agent { agent_id, skill, .. } in agents.iter().take(rows) {
        let line = format!("{}: {}; {}", clean(agent_id), told(&skill.full), told(&skill.discounted));
        for (at, line) in wrap(&line, width.saturating_sub(2)).into_iter().enumerate() {
            let indent = if at > 0 { "  " } else { "" };
            text.push_str(&format!("{indent}{line}\n"));
        }
    }
    let more = agents.len().saturating_sub(rows);
    if more > 0 {
        text.push_str(&format!("{FAINT}and {more} more; --top 0 shows all{FAINT:#}\n"));
    }
    text
}

fn told(rating: &SkillRating) -> String {
    let mark = if rating.provisional { ", provisional" } else { "" };
    format!("{:.0} ± {:.0}{mark}", rating.points, 2.0 * rating.deviation_points)
}

/// Returns a line for each match, at most `top`; 0 is all.
pub fn matches(careers: &Careers, width: usize, top: usize) -> String {
    let mut text = format!("\n{STRONG}Step by step{STRONG:#}\n");
    let rows = if top == 0 { careers.matches.len() } else { top };
    for played in careers.matches.iter().take(rows) {
        for (at, line) in wrap(&sentence(played), width.saturating_sub(2)).into_iter().enumerate() {
            let indent = if at > 0 { "  " } else { "" };
            text.push_str(&format!("{indent}{line}\n"));
        }
    }
    let more = careers.matches.len().saturating_sub(rows);
    if more > 0 {
        text.push_str(&format!("{FAINT}and {more} more; --top 0 shows all{FAINT:#}\n"));
    }
    text
}

/// Returns a match in a sentence: `m1: ann at maze (1000), win: 1000 +16 (K 32, expected 0.5) +3 (times 1.2) = 1019`.
pub fn sentence(played: &Played) -> String {
    let rating = &played.rating;
    let [id, agent, challenge] =
        [&played.match_id, &played.agent_id, &played.challenge].map(|text| clean(text));
    let mut text = format!(
        "{id}: {agent} at {challenge} ({}), {}: {}",
        rating.opponent_points, played.result, rating.before_points
    );
    match rating.expected {
        Some(expected) => {
            text.push_str(&format!(
                " {:+} (K {}, expected {expected:.3})",
                rating.play_points, rating.factor_points
            ));
        }
        None => text.push_str(" +0 (nothing was played)"),
    }
    if rating.floor_points != 0 {
        text.push_str(&format!(" {:+} (floor)", rating.floor_points));
    }
    if rating.bonus_points != 0 {
        text.push_str(&format!(" {:+} (times {})", rating.bonus_points, rating.bonus_factor));
    }
    text.push_str(&format!(" = {}", rating.after_points));
    text
}
