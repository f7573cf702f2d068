//! Vocabularies: the facts that each kind of evidence can give, declared once.

pub use karat_core::scorecard::FactType;

/// One fact of a kind's vocabulary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactSpec {
    /// The name by which scorecards declare it.
    pub name: &'static str,
    /// Type of its values.
    pub fact_type: FactType,
    /// Its unit; `1` and `count` are dimensionless.
    pub unit: &'static str,
    /// One line on what it measures.
    pub about: &'static str,
}

/// Declares the facts of a kind once: their names as fields, and the vocabulary in the same order.
macro_rules! vocabulary {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $fact_type:ident in $unit:literal, $about:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $name<'a> {
            $(pub $field: karat_core::facts::Fact<'a>,)+
        }

        impl<'a> $name<'a> {
            pub(crate) const SPECS: &'static [$crate::vocabulary::FactSpec] = &[$($crate::vocabulary::FactSpec {
                name: stringify!($field),
                fact_type: $crate::vocabulary::FactType::$fact_type,
                unit: $unit,
                about: $about,
            },)+];

            pub(crate) fn pick(&self, slots: &[usize], into: &mut Vec<karat_core::facts::Fact<'a>>) {
                let all = [$(self.$field,)+];
                into.extend(slots.iter().map(|&slot| all.get(slot).copied().unwrap_or_default()));
            }
        }
    };
}
pub(crate) use vocabulary;
