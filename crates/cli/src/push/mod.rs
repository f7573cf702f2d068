//! Items on their way to a server: cut into requests of bounded size, sent until they are answered.

mod courier;
mod parcel;

pub use courier::{Courier, Reply};
pub use parcel::{Packer, Parcel};
