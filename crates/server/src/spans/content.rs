//! The stored form of spans: items of the kind `spans`, each with a schema.

use karat_evidence::ids::joined;

use crate::basics::*;
use crate::content::{Place, Stored};

/// The content of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "schema")]
pub enum Content {
    /// Spans of a trace, out of one request.
    #[serde(rename = "karat/spans/1")]
    Part(Part),
    #[serde(rename = "karat/spans-closed/1")]
    Closed(Closed),
}

/// A trace of a sender, to be scored by a card. Two senders may send spans of one trace: each is believed only its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Whose {
    /// The id of the key.
    pub sender: String,
    /// The scorecard, `id@version`.
    pub card: String,
    /// The subject of the item, instead of the one that the spans name.
    pub subject: Option<String>,
    pub trace: String,
}

/// Spans of a trace, out of one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The trace.
    #[serde(flatten)]
    pub whose: Whose,
    /// True if one of the spans has no parent.
    pub has_root: bool,
    /// The spans, as OTLP in JSON; null in memory.
    pub request: Value,
}

/// The end of a trace: the item that it became, or the reason why it became none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// The trace.
    #[serde(flatten)]
    pub whose: Whose,
    pub parts: Vec<String>,
    pub evidence: Option<String>,
    /// The reason why there is no item.
    pub reason: Option<String>,
}

/// An item of spans as memory takes it in.
#[derive(Debug)]
pub struct Taken {
    pub id: String,
    /// Its content, without spans.
    pub content: Content,
    pub bytes: u64,
    pub moment: Timestamp,
}

impl Taken {
    /// Takes the content of an item of that many bytes; spans themselves stay in the store.
    pub(crate) fn new(id: &str, mut content: Content, bytes: usize, moment: Timestamp) -> Self {
        if let Content::Part(part) = &mut content {
            part.request = Value::Null;
        }
        Self { id: id.to_owned(), content, bytes: bytes as u64, moment }
    }
}

impl Stored for Content {
    const KIND: Kind = Kind::Spans;

    fn place(&self) -> Place {
        let of = |Whose { sender, card, subject, trace }: &Whose, last: &str| {
            joined([sender, card, subject.as_deref().unwrap_or_default(), trace, last])
        };
        match self {
            // The same spans in two requests are one item: an exporter sends again what it is not sure of.
            Self::Part(part) => {
                let spans = Digest::of(part.request.to_string().as_bytes()).to_string();
                Place { id: of(&part.whose, &spans), ..Place::default() }
            }
            Self::Closed(closed) => {
                let first = closed.parts.first().map_or("", String::as_str);
                let sources = closed.parts.iter().filter_map(|digest| Digest::parse(digest)).collect();
                Place { id: of(&closed.whose, &format!("closed {first}")), sources, ..Place::default() }
            }
        }
    }
}
