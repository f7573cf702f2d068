//! Reports of a judge about the answers of the season. The demo has to work where there is no judge; so its answers were judged
//! before, and each report is kept under the digest of the job that it answers. The record of a match says which judge that
//! was, and `karat verify --rerun` asks another one.

use std::collections::BTreeMap;

use karat_evidence::canonical_json;
use karat_graders::execution::{Job, Judge, Report, Unjudged};
use serde_json::{Value, json};

/// Reports by the digest of their job.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    reports: BTreeMap<String, Report>,
}

impl Judged {
    /// Reads the reports of the season.
    ///
    /// # Errors
    /// If the file is not what this program wrote.
    pub fn of_season() -> Result<Self, String> {
        let path = "season/judged.jsonl";
        let text = karat::examples::text(path).ok_or_else(|| format!("there is no example `{path}`"))?;
        let lines = text.lines().enumerate().map(|(at, line)| {
            let failed = |error: serde_json::Error| format!("{path}:{}: {error}", at + 1);
            let line: Value = serde_json::from_str(line).map_err(failed)?;
            let report = serde_json::from_value(line["report"].clone()).map_err(failed)?;
            Ok((line["job"].as_str().unwrap_or_default().to_owned(), report))
        });
        Ok(Self { reports: lines.collect::<Result<_, String>>()? })
    }

    /// Keeps a report.
    pub fn keep(&mut self, job: &Job, report: Report) {
        self.reports.insert(job.digest().to_string(), report);
    }

    /// Returns the reports as they are kept: a line of JSON each, in the order of the digests.
    pub fn lines(&self) -> String {
        let line = |(job, report): (&String, &Report)| {
            format!("{}\n", canonical_json(&json!({ "job": job, "report": report })))
        };
        self.reports.iter().map(line).collect()
    }
}

impl Judge for Judged {
    fn judge(&self, job: &Job) -> Result<Report, Unjudged> {
        let job = job.digest().to_string();
        let report = self.reports.get(&job).cloned();
        report.ok_or_else(|| Unjudged::NoVerdict(format!("no report about the job {job} is kept")))
    }
}
