//! Tests of the graders: texts, checklists and data, reports and code, hostile input.

mod checklists;
mod data;
mod hostile;
mod reports;
mod tasks;
mod texts;
