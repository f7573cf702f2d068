//! The imports of every resource and page.

pub(crate) use crate::authority::Act;
pub(crate) use crate::basics::*;
pub(crate) use crate::cards::ScorerPool;
pub(crate) use crate::effect::Effect;
pub(crate) use crate::guard::Caller;
pub(crate) use crate::ids;
pub(crate) use crate::index::Index;
pub(crate) use crate::keys::Key;
pub(crate) use crate::memory::Memory;
pub(crate) use crate::params::{Answer, Get, Named, Params, Post};
pub(crate) use crate::problem::{Absent, Code, Expired, Faults, Problem, ProblemPart, Taken, Unfit, refuse};
pub(crate) use crate::scoring::How;
pub(crate) use crate::state::{App, Done, Submission, uninterrupted};
pub(crate) use crate::stored::Trust;
