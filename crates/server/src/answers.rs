//! A cache of answers that took work: a question includes the size of the log, so an answer stays valid.

use std::collections::VecDeque;

use crate::basics::*;

/// The largest number of cached answers.
const ANSWERS: usize = 64;
/// The largest answer that is cached, in bytes.
const BYTES_MAX: usize = 4 << 20;

#[derive(Debug, Default)]
pub struct Answers(Mutex<VecDeque<(String, Arc<[u8]>)>>);

impl Answers {
    pub fn get(&self, question: &str) -> Option<Arc<[u8]>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(other, _)| other == question).map(|(_, answer)| Arc::clone(answer))
    }

    /// Caches an answer; if the cache is full, the oldest answer is dropped.
    pub fn put(&self, question: String, answer: Vec<u8>) -> Arc<[u8]> {
        let answer: Arc<[u8]> = answer.into();
        if answer.len() <= BYTES_MAX {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.truncate(ANSWERS - 1);
            known.push_front((question, Arc::clone(&answer)));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answers_go_first_and_large_ones_do_not_stay() {
        let answers = Answers::default();
        for at in 0..ANSWERS + 3 {
            answers.put(at.to_string(), vec![1]);
        }
        assert_eq!(answers.get("2"), None);
        assert!(answers.get("3").is_some());
        assert_eq!(answers.put("large".to_owned(), vec![0; BYTES_MAX + 1]).len(), BYTES_MAX + 1);
        assert_eq!(answers.get("large"), None);
    }
}
