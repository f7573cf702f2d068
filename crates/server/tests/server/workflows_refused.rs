//! Everything that workflows refuse, with place and reason, and that nothing of it is written.
