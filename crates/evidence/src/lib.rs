//! Readers that turn evidence about AI agents into facts.
