//! Standings and ratings beside the second implementation, on any number of threads.

mod model_standing;
mod threads;
