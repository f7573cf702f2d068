//! Case files, comparisons and reports, sound and hostile.
