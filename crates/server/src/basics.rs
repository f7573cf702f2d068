//! Names of other crates that most files use.

pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::sync::{Arc, Mutex, PoisonError};
pub(crate) use std::time::Duration;

pub(crate) use axum::body::Body;
pub(crate) use axum::extract::State;
pub(crate) use axum::http::header::{CONTENT_TYPE, HeaderValue};
pub(crate) use axum::http::{HeaderMap, Response, StatusCode};
pub(crate) use karat_core::facts::Digest;
pub(crate) use karat_core::timestamp::{Timestamp, WrittenTimestamp};
pub(crate) use karat_evidence::canonical_json;
pub(crate) use karat_store::{Accepted, Item, Kind, NewItem, Reader};
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::{Value, json};
pub(crate) use utoipa::{IntoParams, ToSchema};
