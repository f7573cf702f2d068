//! Tests of the sources.
