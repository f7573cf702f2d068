//! `docs/coverage.md`: every place and every test that it names is there.
