//! Tests of the graders: texts, reports and code, hostile input.

mod code;
mod hostile;
mod tasks;
mod texts;
