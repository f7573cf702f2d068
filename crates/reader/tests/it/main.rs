//! Evidence: how it is read and graded, and why it is refused.

mod contradictions;
mod graded;
mod hostile;
mod kinds;
mod known_fields;
mod nested;
mod occasion;
mod profile;
mod properties;
mod table;
mod trace_vectors;
