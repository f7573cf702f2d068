//! Traces whose text is embedded, with the published model.
