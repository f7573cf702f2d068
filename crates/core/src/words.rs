//! Enums whose values are words.

/// Defines enums with the word of each variant, [`ALL`](crate::facts::Outcome::ALL) of their values, and the value of a word. They are
/// compared, ordered and copied like the numbers of their variants; serde reads and writes the word.
#[macro_export]
macro_rules! words {
    ($(
        $(#[$($attribute:tt)+])+
        pub enum $name:ident { $($(#[$about:meta])* $variant:ident = $word:literal,)+ }
    )+) => {$(
        $(#[$($attribute)+])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$about])* $variant,)+ }

        impl $name {
            /// Every value.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Returns the word.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Returns the value of a word.
            pub fn from_name(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == word)
            }
        }

        $crate::words_serde!($name [$($word),+]);
        $crate::words_schema!($name [$([$($attribute)+])+]);
    )+};
}

/// Lets serde read and write the words of an enum, with the feature `serde`.
#[cfg(feature = "serde")]
#[macro_export]
macro_rules! words_serde {
    ($name:ident [$($word:literal),+]) => {
        impl $crate::words::serde::Serialize for $name {
            fn serialize<S>(&self, serializer: S) -> Result<S::Ok, S::Error>
            where
                S: $crate::words::serde::Serializer,
            {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> $crate::words::serde::Deserialize<'de> for $name {
            fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
            where
                D: $crate::words::serde::Deserializer<'de>,
            {
                $crate::words::value(deserializer, Self::from_name, &[$($word),+])
            }
        }
    };
}

/// Nothing without the feature `serde`.
#[cfg(not(feature = "serde"))]
#[macro_export]
macro_rules! words_serde {
    ($($any:tt)*) => {};
}

/// Gives an enum of words its schema for OpenAPI, with the feature `schema`.
#[cfg(feature = "schema")]
#[macro_export]
macro_rules! words_schema {
    ($name:ident [$([$($attribute:tt)+])+]) => {
        impl $crate::words::utoipa::PartialSchema for $name {
            fn schema() -> $crate::words::utoipa::openapi::RefOr<$crate::words::utoipa::openapi::Schema> {
                $crate::words::schema(&[$($crate::words_doc!($($attribute)+)),+], &Self::ALL.map(Self::name))
            }
        }

        impl $crate::words::utoipa::ToSchema for $name {}
    };
}

/// Nothing without the feature `schema`.
#[cfg(not(feature = "schema"))]
#[macro_export]
macro_rules! words_schema {
    ($($any:tt)*) => {};
}

/// Returns the line of an attribute that is documentation.
#[cfg(feature = "schema")]
#[macro_export]
macro_rules! words_doc {
    (doc = $line:literal) => {
        Some($line)
    };
    ($($other:tt)+) => {
        None
    };
}

#[cfg(feature = "serde")]
pub use serde;
#[cfg(feature = "schema")]
pub use utoipa;

/// Reads a word, and returns its value.
///
/// # Errors
///
/// If it is not text, or not one of the words.
#[cfg(feature = "serde")]
pub fn value<'de, D: serde::Deserializer<'de>, T>(
    deserializer: D,
    from_name: fn(&str) -> Option<T>,
    words: &'static [&'static str],
) -> Result<T, D::Error> {
    use serde::de::{Deserialize as _, Error as _};
    let word = alloc::string::String::deserialize(deserializer)?;
    from_name(&word).ok_or_else(|| D::Error::unknown_variant(&word, words))
}

/// Returns the schema of an enum of words with these lines of documentation.
#[cfg(feature = "schema")]
pub fn schema(doc: &[Option<&str>], words: &[&str]) -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
    use utoipa::openapi::schema::{ObjectBuilder, Type};
    let lines: alloc::vec::Vec<&str> = doc.iter().flatten().map(|line| line.trim()).collect();
    let about = Some(lines.join("\n"));
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(about)
        .enum_values(Some(words.iter().copied()))
        .into()
}
