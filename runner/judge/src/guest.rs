//! Guests, which run a language: their instances, and requests to them.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;
use wasmtime::component::InstancePre;

use crate::error::JudgeError;
use crate::host::Host;
use crate::instance::Guest;
use crate::runtimes::Language;

/// Request to the guest. It says nothing about what is expected.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Request<'a> {
    /// A call of a function of the submission.
    Call {
        /// The files of the submission.
        files: &'a BTreeMap<String, String>,
        /// The seed.
        seed: u64,
        /// The name of the function.
        function: &'a str,
        /// Its arguments.
        args: &'a [Value],
    },
    /// A run of the submission as a program.
    Program {
        /// The files of the submission.
        files: &'a BTreeMap<String, String>,
        /// The seed.
        seed: u64,
    },
    /// The submission as the other side of a suite; after it come [`Request::Serve`] requests.
    Open {
        /// The files of the submission.
        files: &'a BTreeMap<String, String>,
        /// The seed.
        seed: u64,
    },
    /// Something that a test asks of the submission.
    Serve {
        /// The question, as JSON.
        question: &'a str,
    },
    /// The names of the tests of a suite.
    Names {
        /// The name of the file.
        file: &'a str,
        /// Its text.
        source: &'a str,
        /// The names of the modules of the submission.
        modules: &'a [String],
        /// The seed.
        seed: u64,
    },
    /// One test of a suite.
    Test {
        /// The name of the file.
        file: &'a str,
        /// Its text.
        source: &'a str,
        /// The names of the modules of the submission.
        modules: &'a [String],
        /// The name of the test.
        name: &'a str,
        /// The seed.
        seed: u64,
    },
    /// A script that scores an answer.
    Script {
        /// The name of the file.
        file: &'a str,
        /// Its text.
        source: &'a str,
        /// The answer of the submission.
        answer: &'a Value,
        /// The correct answer.
        truth: &'a Value,
        /// The rest of the match.
        r#match: &'a Value,
        /// The seed.
        seed: u64,
    },
}

impl Request<'_> {
    /// Returns the request as JSON.
    pub fn text(&self) -> String {
        // Texts as keys and finite numbers only: there is always a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The code of a runtime.
pub enum Code {
    /// A component.
    Component(InstancePre<Host>),
    /// A module, and what it imports.
    Module(wasmtime::InstancePre<Host>),
}

/// A runtime of a language, ready to make instances.
pub struct Runtime {
    pub language: Language,
    pub code: Code,
    pub digest: String,
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("digest", &self.digest).finish_non_exhaustive()
    }
}

impl Runtime {
    /// Creates an instance.
    ///
    /// # Errors
    ///
    /// If this machine has no room for it.
    pub fn instance(&self, host: Host, fuel: u64) -> Result<Guest, JudgeError> {
        let guest = match &self.code {
            Code::Component(pre) => Guest::of_component(pre, host, fuel),
            Code::Module(pre) => Guest::of_module(pre, host, fuel),
        };
        guest.map_err(|error| JudgeError::NoVerdict(format!("an instance cannot be made: {error:#}")))
    }
}
