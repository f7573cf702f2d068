//! One self-contained page: what a verb found, for a browser without network.

pub mod model;
