//! Loading of compiled code, the one thing here that the compiler cannot check.
#![allow(
    unsafe_code,
    reason = "compiled code is run as it is; it comes from a private folder and has been checked"
)]

use std::path::Path;

use wasmtime::component::Component;
use wasmtime::{Engine, Module, Result};

/// Loads a module from a file that [`super::module`] wrote.
///
/// # Errors
///
/// If the code is for another engine or machine.
pub fn module(engine: &Engine, path: &Path) -> Result<Module> {
    // SAFETY: as for components.
    unsafe { Module::deserialize_file(engine, path) }
}

/// Loads a component from a file that [`super::component`] wrote.
///
/// # Errors
///
/// If the code is for another engine or machine.
pub fn component(engine: &Engine, path: &Path) -> Result<Component> {
    // SAFETY: the file lies in a folder that belongs to this user and that no one else may write to, and its digest is the one
    // that was noted when this program compiled it. Files there are replaced as a whole, never changed.
    unsafe { Component::deserialize_file(engine, path) }
}
