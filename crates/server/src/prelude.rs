//! The imports of every resource and page.

pub(crate) use std::sync::Arc;

pub(crate) use axum::http::StatusCode;
pub(crate) use karat_core::timestamp::Timestamp;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use serde_json::Value;
pub(crate) use utoipa::{IntoParams, ToSchema};

pub(crate) use crate::authority::Act;
pub(crate) use crate::cards::ScorerPool;
pub(crate) use crate::params::{Answer, Get, Named, Params, Post};
pub(crate) use crate::problem::{Absent, Code, Expired, Problem, Taken, Unfit};
pub(crate) use crate::state::{App, Done, Submission, uninterrupted};
