//! Enums whose values are words.

/// Defines an enum with the word of each variant, [`ALL`](crate::facts::Outcome::ALL) of its values, and the value of a word. With
/// `@named` in front it has its words alone.
#[macro_export]
macro_rules! words {
    (@named $(#[$attribute:meta])* pub enum $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$attribute])*
        pub enum $name { $($(#[$about])* $variant,)+ }

        impl $name {
            /// Returns the word.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
    ($(#[$attribute:meta])* pub enum $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)+ }) => {
        $crate::words!(@named $(#[$attribute])* pub enum $name { $($(#[$about])* $variant = $word,)+ });

        impl $name {
            /// Every value.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Returns the value of a word.
            #[must_use]
            pub fn from_name(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == word)
            }
        }
    };
}
