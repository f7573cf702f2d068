//! A badge: a label and a value in one line, as SVG, or as the JSON that shields.io draws.

use karat_core::number::Decimal;
use karat_core::scorecard::Scorecard;
use maud::html;
use serde_json::json;

use crate::answers::{
    self,
    leaderboard::{LeaderboardAnswer, LeaderboardRow},
};
use crate::text::{clean, ranks};

/// A badge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    /// The label, to the left.
    pub label: String,
    /// The value.
    pub value: String,
    /// The colour behind the value.
    pub color: Color,
    /// The page that the drawing leads to; empty if it leads nowhere.
    pub link: String,
}

/// The text of a badge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Show {
    /// The score and its interval, if it has one.
    #[default]
    Interval,
    /// The score.
    Score,
    /// The rank, and the letters of ties.
    Rank,
    /// The band, else the tier.
    Band,
    /// The tier or the band, the score, its interval, and the day that it is of.
    Full,
}

/// The colour of a badge: where the score lies among the bands of its scorecard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// The worst band.
    Red,
    /// In the lower half.
    Orange,
    /// In the middle.
    Yellow,
    /// In the upper half.
    Lime,
    /// The best band.
    Green,
    /// The scorecard has no bands.
    Blue,
    /// There is no score.
    Grey,
}

impl Color {
    /// Returns the colour of a band by its number among all `bands`, from the worst one.
    pub const fn of_band(at: usize, bands: usize) -> Self {
        match (at, bands) {
            (_, 0 | 1) => Self::Blue,
            (0, _) => Self::Red,
            (at, bands) if at + 1 >= bands => Self::Green,
            (at, bands) if 2 * at + 1 == bands => Self::Yellow,
            (at, bands) if 2 * at + 1 < bands => Self::Orange,
            _ => Self::Lime,
        }
    }

    /// Returns the name that shields.io has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Orange => "orange",
            Self::Yellow => "yellow",
            Self::Lime => "green",
            Self::Green => "brightgreen",
            Self::Blue => "blue",
            Self::Grey => "lightgrey",
        }
    }

    /// Returns the colour itself: each has a contrast of 4.5 or more to white letters.
    const fn code(self) -> &'static str {
        match self {
            Self::Red => "#c0392b",
            Self::Orange => "#b35309",
            Self::Yellow => "#806000",
            Self::Lime => "#4d7300",
            Self::Green => "#217a2f",
            Self::Blue => "#1f6bb0",
            Self::Grey => "#666666",
        }
    }
}

/// The most characters of a label or a value.
const LONGEST: usize = 60;
/// The width of what is unknown, in tenths of a pixel at 11 pixels.
const WIDE: u32 = 110;

impl Badge {
    /// Returns the badge of a subject. One without a rank has none of what is asked for. `day` is shown beside a mean; an official
    /// score has its own.
    pub fn of(
        answer: &LeaderboardAnswer,
        card: Option<&Scorecard>,
        subject: &str,
        show: Show,
        label: Option<String>,
        day: Option<&str>,
    ) -> Self {
        let board = answer.leaderboards.first();
        let row = board.and_then(|board| board.rows.iter().find(|row| row.subject == subject));
        let title = card.map(|card| if card.title.is_empty() { card.name() } else { card.title.clone() });
        let label = label.or(title).unwrap_or_else(|| subject.to_owned());
        let Some((board, row)) = board.zip(row) else {
            return Self { label, value: String::from("no score"), color: Color::Grey, link: String::new() };
        };
        let writing = board.writing(answer.basis.scale);
        let number = writing.number(row.score.mean);
        let place = card.filter(|_| board.is_of_scores()).and_then(|card| band(card, row));
        let tier = row.official.as_ref().and_then(|official| official.tier.clone());
        let with_ends = || match row.score.interval() {
            Some(ends) => format!("{number} ({})", writing.ends(Some(ends))),
            None => number.clone(),
        };
        let value = match show {
            Show::Interval => with_ends(),
            Show::Full => {
                let day = board.as_of.as_deref().map(crate::headline::day).or_else(|| day.map(str::to_owned));
                let level = tier.or_else(|| place.as_ref().map(|(name, _)| name.clone()));
                let parts: Vec<String> = level.into_iter().chain([with_ends()]).chain(day).collect();
                parts.join(" · ")
            }
            Show::Score => number,
            Show::Rank => {
                let ties = row.ties();
                let ties = if ties.is_empty() { ties } else { format!(" {ties}") };
                format!("{} of {}{ties}", ranks(row.shown_ranks()), board.ranked)
            }
            Show::Band => place
                .as_ref()
                .map(|(name, _)| name.clone())
                .or(tier)
                .unwrap_or_else(|| String::from("no band")),
        };
        Self {
            label,
            value: clean(&value).into_owned(),
            color: place.map_or(Color::Blue, |(_, color)| color),
            link: String::new(),
        }
    }

    /// Returns the drawing. The same badge gives the same bytes.
    pub fn svg(&self) -> String {
        let (label, value) = (short(&self.label), short(&self.value));
        let (left, right) = (width(&label), width(&value));
        // Six pixels on each side of a text.
        let (left_box, right_box) = (left.div_ceil(10) + 12, right.div_ceil(10) + 12);
        let all = left_box + right_box;
        let text = |text: &str, x: u32, long: u32| {
            let long = long.div_ceil(10);
            html! { text x=(x) y="14" textLength=(long) lengthAdjust="spacingAndGlyphs" { (text) } }
        };
        let name = format!("{label}: {value}");
        let view = format!("0 0 {all} 20");
        let straight = right_box - 3;
        let right_half = format!("M{left_box} 0h{straight}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{straight}z");
        let drawn = html! {
            // Without an id, so that one document can have several badges.
            rect width=(all) height="20" rx="3" fill="#454545" {}
            path d=(right_half) fill=(self.color.code()) {}
            g fill="#fff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11" {
                (text(&label, 6, left))
                (text(&value, left_box + 6, right))
            }
        };
        let markup = html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(all) height="20" viewBox=(view) role="img" aria-label=(name) {
                title { (name) }
                @if self.link.is_empty() { (drawn) } @else { a href=(self.link) target="_top" { (drawn) } }
            }
        };
        format!("{}\n", markup.into_string())
    }

    /// Returns the JSON of an endpoint that shields.io reads.
    pub fn endpoint(&self) -> String {
        let value = json!({
            "schemaVersion": 1,
            "label": short(&self.label),
            "message": short(&self.value),
            "color": self.color.name(),
        });
        format!("{}\n", answers::write(&value))
    }
}

/// Returns the band of a score and its colour; of a card without bands the tier that these points are enough for.
fn band(card: &Scorecard, row: &LeaderboardRow) -> Option<(String, Color)> {
    let bands = card.bands.iter().map(|band| (&band.name, band.from));
    let tiers = card.tiers.iter().map(|tier| (&tier.name, tier.score));
    let mut levels: Vec<(&String, Decimal)> =
        if card.bands.is_empty() { tiers.collect() } else { bands.collect() };
    levels.sort_by_key(|(_, from)| *from);
    // As published: cut at millionths of a point, so that a score is never in a band above its own.
    let points = (row.score.mean * 1e6 + 1e-3).floor();
    let at = levels.iter().rposition(|(_, from)| from.millionths() as f64 <= points)?;
    let name = levels.get(at).map(|(name, _)| (*name).clone())?;
    Some((name, Color::of_band(at, levels.len())))
}

/// Returns a text without what XML cannot hold or what turns a line, cut at the end.
fn short(text: &str) -> String {
    let text = clean(text.trim());
    let text: String = text.chars().filter(|c| !matches!(c, '\u{fffe}' | '\u{ffff}')).collect();
    let mut kept: String = text.chars().take(LONGEST).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    if kept.is_empty() { String::from("–") } else { kept }
}

/// Returns the width of a text in tenths of a pixel: that of Verdana at 11 pixels, the same on every machine.
fn width(text: &str) -> u32 {
    text.chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | 'I' | '\'' | '|' => 37,
            '.' | ',' | ':' | ';' | ' ' | '!' => 41,
            'f' | 't' | '/' | '\\' | '(' | ')' | '[' | ']' | '-' => 47,
            'r' | 's' | 'c' | 'k' | 'v' | 'x' | 'y' | 'z' | '"' => 59,
            'm' | 'w' | 'M' | 'W' | '%' | '@' => 107,
            'a'..='z' | '0'..='9' | '_' | '?' | '$' | '*' => 70,
            'A'..='Z' | '+' | '=' | '<' | '>' | '~' | '#' | '&' | '–' | '…' => 84,
            _ => WIDE,
        })
        .sum()
}
