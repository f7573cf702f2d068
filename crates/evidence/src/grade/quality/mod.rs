//! Graders of the quality of an output: code, text, checklists, data.
