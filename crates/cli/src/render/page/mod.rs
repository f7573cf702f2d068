//! Pages of the program besides those of `karat::pages`: they fill in the same data, with the words of the
//! terminal.

pub mod rate;
