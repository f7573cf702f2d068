//! Quantiles in bounded memory, without chance: every number while there are few, then every second, every fourth.

/// Most numbers that are kept.
const KEPT: usize = 4096;

/// Numbers of a stream at equal distances.
#[derive(Debug, Default)]
pub(super) struct Sample {
    kept: Vec<f64>,
    /// Numbers that were seen, and how many of them stand for one that is kept; 0 means 1.
    seen: u64,
    stride: u64,
}

impl Sample {
    pub(super) fn add(&mut self, number: f64) {
        let stride = self.stride.max(1);
        if self.seen.is_multiple_of(stride) {
            if self.kept.len() == KEPT {
                let mut at = 0;
                self.kept.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                self.stride = stride * 2;
            }
            if self.seen.is_multiple_of(self.stride.max(1)) {
                self.kept.push(number);
            }
        }
        self.seen += 1;
    }

    /// Returns the smallest number at or below which this share lies.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let mut sorted = self.kept.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.saturating_sub(1).min(sorted.len().saturating_sub(1))).copied()
    }
}
