//! x
mod audit;
pub mod error;
pub mod item;
pub mod log;
pub mod memory;
pub mod port;
mod reader;
mod receipt;
pub mod sqlite;
mod store;
mod writer;

pub use audit::{Audit, audit};
pub use error::{Error, Problem, Refusal};
pub use item::{Entry, Kind, Moment, NewItem, Term};
pub use reader::{Item, Reader};
pub use receipt::{Receipt, Verification};
pub use store::{Accepted, Limits, Store};
