//! Plans that cannot be run, and recordings that someone has been at.

mod hostile;
mod plans;
