//! The judge as a whole: what code may do, what it cannot, and that both engines agree on it.

mod cases;
mod hostile;
mod limits;
mod modules;
mod program;
mod scripts;
mod suites;
mod support;
