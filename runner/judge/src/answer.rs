//! Answers of the guest: one text, whose first character says what the rest is.

/// Answer of the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<'a> {
    /// A result, as JSON.
    Result(&'a str),
    /// The code raised, or what it returned has no JSON form: the reason.
    Raised(&'a str),
    /// The file of the challenge is at fault: the line, and what was found.
    Fault(usize, &'a str),
}

impl<'a> Answer<'a> {
    /// Reads an answer. What has none of the forms was not made by the guest, but by the code in it.
    pub fn read(text: &'a str) -> Self {
        let rest = text.get(1..).unwrap_or_default();
        match text.as_bytes().first() {
            Some(b'=') => Self::Result(rest),
            Some(b'?') => {
                let (line, found) = rest.split_once(':').unwrap_or(("0", rest));
                Self::Fault(line.parse().unwrap_or_default(), found)
            }
            Some(b'!') => Self::Raised(rest),
            _ => Self::Raised("no answer"),
        }
    }
}

/// Reasons that are said as they are. The submission chooses among them, but cannot word its own: what it was given for a
/// case is not for the reader of a record.
const REASONS: [&str; 8] = [
    "no answer", "no JSON", "no such function", "no such file", "exit", "exit: 1", "exception",
    "never settled",
];

/// Names of the exceptions that Python and JavaScript have.
const EXCEPTIONS: [&str; 75] = [
    "AggregateError", "ArithmeticError", "AssertionError", "AttributeError", "BaseException",
    "BaseExceptionGroup", "BlockingIOError", "BrokenPipeError", "BufferError", "BytesWarning",
    "ChildProcessError", "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError",
    "ConnectionResetError", "DeprecationWarning", "EOFError", "EncodingWarning", "Error", "EvalError",
    "Exception", "ExceptionGroup", "FileExistsError", "FileNotFoundError", "FloatingPointError",
    "FutureWarning", "GeneratorExit", "ImportError", "ImportWarning", "IndentationError", "IndexError",
    "InternalError", "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt", "LookupError",
    "MemoryError", "ModuleNotFoundError", "NameError", "NotADirectoryError", "NotImplementedError",
    "OSError", "OverflowError", "PendingDeprecationWarning", "PermissionError", "ProcessLookupError",
    "PythonFinalizationError", "RangeError", "RecursionError", "ReferenceError", "ResourceWarning",
    "RuntimeError", "RuntimeWarning", "StopAsyncIteration", "StopIteration", "SuppressedError",
    "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError", "TypeError",
    "URIError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
    "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError", "Warning", "ZeroDivisionError",
];

/// Returns a reason in words that no submission can choose freely.
pub fn reason(given: &str) -> String {
    if let Some(name) = given.strip_prefix("exception: ") {
        return match EXCEPTIONS.binary_search(&name) {
            Ok(_) => given.to_owned(),
            Err(_) => "exception".to_owned(),
        };
    }
    let known = REASONS.into_iter().find(|reason| *reason == given);
    known.unwrap_or("no answer").to_owned()
}

/// Returns true if the reason is one that a language gives where the memory is used up.
pub fn is_memory(reason: &str) -> bool {
    ["exception: MemoryError", "exception: InternalError"].contains(&reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers() {
        assert_eq!(Answer::read("=[1]"), Answer::Result("[1]"));
        assert_eq!(Answer::read("!no JSON"), Answer::Raised("no JSON"));
        assert_eq!(Answer::read("?3:a: b"), Answer::Fault(3, "a: b"));
        assert_eq!(Answer::read("ä"), Answer::Raised("no answer"));
        assert_eq!(Answer::read(""), Answer::Raised("no answer"));
    }

    #[test]
    fn a_submission_cannot_word_a_reason() {
        assert!(EXCEPTIONS.is_sorted());
        assert_eq!(reason("exception: KeyError"), "exception: KeyError");
        assert_eq!(reason("exception: [1, 2, 3]"), "exception");
        assert_eq!(reason("the input was 7"), "no answer");
        assert_eq!(reason("no JSON"), "no JSON");
    }
}
