//! The list of shadows: a row each. What is said of them elsewhere follows from it, and no other place names one.

use crate::runtime::{Carrier, InlineCode, Reach, carry};
use shadowgrind_core::shadow::{Policy, Settings, Shadow};
use std::sync::Arc;

/// Hands all rows to the macro `$consumer`: the name here, and the type that implements [`Shadow`].
macro_rules! for_each_shadow {
    ($consumer:ident) => {
        $consumer! {
            #[default]
            None: shadowgrind_shadows::none::Nothing;
            Dot: shadowgrind_shadows::dot::Dot;
            Mpfr: shadowgrind_shadows::mpfr::MpfrShadow;
        }
    };
}

/// Makes [`ShadowKind`] from rows.
macro_rules! define_kinds {
    ($($(#[$attribute:meta])* $name:ident: $shadow:ty;)+) => {
        /// What is carried beside every float.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum ShadowKind {
            $(#[doc = concat!("`", stringify!($shadow), "`")] $(#[$attribute])* $name,)+
        }

        impl ShadowKind {
            /// Every shadow there is.
            pub const ALL: &[ShadowKind] = &[$(ShadowKind::$name),+];

            /// The name on the command line and in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(ShadowKind::$name => <$shadow>::NAME,)+
                }
            }

            /// What it is for, in a few words.
            pub fn summary(self) -> &'static str {
                match self {
                    $(ShadowKind::$name => <$shadow>::SUMMARY,)+
                }
            }

            /// The number that a program is told which asks.
            pub(crate) fn number(self) -> u64 {
                match self {
                    $(ShadowKind::$name => <$shadow>::NUMBER,)+
                }
            }

            /// What is to be done for it.
            pub(crate) fn policy(self) -> &'static Policy {
                match self {
                    $(ShadowKind::$name => const { &<$shadow>::POLICY },)+
                }
            }

            /// Its rule, if that is machine code beside the guest's.
            pub(crate) fn inline(self) -> Option<InlineCode> {
                match self {
                    $(ShadowKind::$name => <<$shadow as Shadow>::Reach as Reach<$shadow>>::INLINE,)+
                }
            }

            /// Whether its operations are recorded.
            pub(crate) fn records(self) -> bool {
                match self {
                    $(ShadowKind::$name => <<$shadow as Shadow>::Reach as Reach<$shadow>>::RECORDS,)+
                }
            }

            /// A shadow of this kind, for a process to carry.
            pub(crate) fn carry(self, settings: &Settings) -> Arc<dyn Carrier> {
                match self {
                    $(ShadowKind::$name => carry::<$shadow>(settings),)+
                }
            }
        }
    };
}

for_each_shadow!(define_kinds);

impl ShadowKind {
    /// Whether shadows are carried at all.
    pub fn is_carried(self) -> bool {
        self != ShadowKind::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_told_apart() {
        for (n, kind) in ShadowKind::ALL.iter().enumerate() {
            for other in &ShadowKind::ALL[..n] {
                assert!(kind.name() != other.name() && kind.number() != other.number(), "{kind:?}");
            }
        }
    }
}
