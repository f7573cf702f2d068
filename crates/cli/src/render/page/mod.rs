//! What the verbs say on pages beside those of `karat::pages`: they fill in the same data, with the words of the
//! terminal.

pub mod compare;
pub mod rate;
