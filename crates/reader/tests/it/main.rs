//! Evidence: how it is read and graded, and why it is refused.

mod contradictions;
mod graded;
mod hostile;
mod items;
mod known_fields;
mod nested;
mod profile;
mod properties;
mod table;
