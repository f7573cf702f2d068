//! Vector instructions of this processor, detected at run time.
//!
//! A function that takes [`Instructions`] may rely on them: only this module makes them.

/// Choice of vector instructions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instructions(Set);

/// INVARIANT: what is not portable is only made after the processor was asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Set {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(avx2, "avx2");
#[cfg(target_arch = "x86_64")]
cpufeatures::new!(avx512, "avx512f", "avx512vl", "avx512dq", "avx512bw", "avx2");

impl Instructions {
    /// Returns the instructions that every processor of the architecture has.
    pub(super) const fn portable() -> Self {
        Self(Set::Portable)
    }

    /// Returns the widest instructions of this processor.
    pub(super) fn best() -> Self {
        Self::all().last().unwrap_or(Self::portable())
    }

    /// Returns all that this processor can carry out, the widest last.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let sets = [
            Some(Set::Portable),
            #[cfg(target_arch = "x86_64")]
            avx2::get().then_some(Set::Avx2),
            #[cfg(target_arch = "x86_64")]
            avx512::get().then_some(Set::Avx512),
        ];
        sets.into_iter().flatten().map(Self)
    }

    pub(super) const fn set(self) -> Set {
        self.0
    }
}
