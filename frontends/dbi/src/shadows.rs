//! The list of shadows: a row each. What is said of them elsewhere follows from it, and no other place names one.

#[cfg(test)]
mod count;
#[cfg(test)]
mod terms;

use crate::runtime::{Carrier, FunctionCode, InlineCode, Reach, Vectors, carry};
use shadowgrind_core::findings::Subject;
use shadowgrind_core::shadow::{Derivatives, Errors, Policy, Settings, Shadow};
use std::sync::Arc;

/// Hands all rows to the macro `$consumer`: the name here, and the type that implements [`Shadow`].
macro_rules! for_each_shadow {
    ($consumer:ident) => {
        $consumer! {
            None: shadowgrind_shadows::none::Nothing;
            Dot: shadowgrind_shadows::dot::Dot;
            Adjoint: shadowgrind_shadows::adjoint::Adjoint;
            Error: shadowgrind_shadows::error::ErrorShadow;
            Mpfr: shadowgrind_shadows::mpfr::MpfrShadow;
            #[cfg(test)]
            Count: count::Count;
            #[cfg(test)]
            Terms: terms::Terms;
            #[cfg(test)]
            Numbering: terms::Numbering;
        }
    };
}

/// Makes [`ShadowKind`] from rows.
macro_rules! define_kinds {
    ($($(#[$attribute:meta])* $name:ident: $shadow:ty;)+) => {
        /// Shadow that is carried beside every float.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ShadowKind {
            $(#[doc = concat!("`", stringify!($shadow), "`")] $(#[$attribute])* $name,)+
        }

        impl ShadowKind {
            /// Every shadow there is.
            pub const ALL: &[ShadowKind] = &[$($(#[$attribute])* ShadowKind::$name),+];

            /// The name on the command line and in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $($(#[$attribute])* ShadowKind::$name => <$shadow>::NAME,)+
                }
            }

            /// The purpose, in a few words.
            pub fn summary(self) -> &'static str {
                match self {
                    $($(#[$attribute])* ShadowKind::$name => <$shadow>::SUMMARY,)+
                }
            }

            /// The number that a program is told which asks.
            pub(crate) fn number(self) -> u64 {
                match self {
                    $($(#[$attribute])* ShadowKind::$name => <$shadow>::NUMBER,)+
                }
            }

            /// The subject of its reports.
            pub(crate) fn subject(self) -> Subject {
                match self {
                    $($(#[$attribute])* ShadowKind::$name => <$shadow>::SUBJECT,)+
                }
            }

            /// The services that it asks for.
            pub(crate) fn policy(self) -> &'static Policy {
                match self {
                    $($(#[$attribute])* ShadowKind::$name => const { &<$shadow>::POLICY },)+
                }
            }

            /// The rule, if that is machine code beside the guest's.
            pub(crate) fn inline(self) -> Option<InlineCode> {
                match self {
                    $($(#[$attribute])* ShadowKind::$name => <<$shadow as Shadow>::Reach as Reach<$shadow>>::INLINE,)+
                }
            }

            /// Code that gives the results of functions their shadows, if translated code sees to any.
            pub(crate) fn functions(self) -> Option<FunctionCode> {
                match self {
                    $($(#[$attribute])* ShadowKind::$name => <<$shadow as Shadow>::Reach as Reach<$shadow>>::FUNCTIONS,)+
                }
            }

            /// Tells whether its operations are recorded.
            pub(crate) fn records(self) -> bool {
                match self {
                    $($(#[$attribute])* ShadowKind::$name => <<$shadow as Shadow>::Reach as Reach<$shadow>>::RECORDS,)+
                }
            }

            /// Tells whether its operations are appended, and their results numbered.
            pub(crate) fn appends(self) -> bool {
                match self {
                    $($(#[$attribute])* ShadowKind::$name => <<$shadow as Shadow>::Reach as Reach<$shadow>>::APPENDS,)+
                }
            }

            /// A shadow of this kind, for a process to carry. Without `vectors` nothing can be recorded.
            pub(crate) fn carry(self, settings: &Settings, vectors: Option<Vectors>) -> Arc<dyn Carrier> {
                match self {
                    $($(#[$attribute])* ShadowKind::$name => carry::<$shadow>(settings, vectors),)+
                }
            }
        }
    };
}

for_each_shadow!(define_kinds);

impl ShadowKind {
    /// Tells whether it keeps a record of the whole run, of which questions are asked at its end.
    pub fn keeps_record(self) -> bool {
        self.policy().derivatives == Some(Derivatives::Recorded)
    }

    /// Tells whether it knows derivatives: whether a seed means anything to it.
    pub fn knows_derivatives(self) -> bool {
        self.policy().derivatives.is_some()
    }

    /// Tells whether its reports are about errors.
    pub fn finds_errors(self) -> bool {
        self.subject() == Subject::Errors
    }

    /// The shadow that knows derivatives beside each float, forwards.
    pub fn forward() -> ShadowKind {
        ShadowKind::knowing(Derivatives::InPlace)
    }

    /// The shadow that knows derivatives by a record of the whole run, backwards.
    pub fn backward() -> ShadowKind {
        ShadowKind::knowing(Derivatives::Recorded)
    }

    fn knowing(derivatives: Derivatives) -> ShadowKind {
        ShadowKind::with(|policy| policy.derivatives == Some(derivatives)).unwrap_or_default()
    }

    /// The first shadow with such a policy.
    fn with(policy: impl Fn(&Policy) -> bool) -> Option<ShadowKind> {
        ShadowKind::ALL.iter().copied().find(|kind| policy(kind.policy()))
    }

    /// Name of the shadow that tells which of its findings are right, if there is one.
    pub fn confirmed_by(self) -> Option<&'static str> {
        let is_rounded = self.policy().errors == Some(Errors::Rounded);
        let reals = || ShadowKind::with(|policy| policy.errors == Some(Errors::Reals));
        is_rounded.then(reals).flatten().map(ShadowKind::name)
    }

    /// Tells whether shadows are carried at all.
    pub fn is_carried(self) -> bool {
        self != ShadowKind::None
    }
}

impl Default for ShadowKind {
    fn default() -> Self {
        ShadowKind::ALL[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::abi;
    use crate::hooks::fake::Fake;
    use crate::session::observer::{LibraryCall, SavedShadow};
    use shadowgrind_core::format::Format;
    use shadowgrind_core::ops::Op;
    use shadowgrind_core::site::Site;

    #[test]
    fn names_and_numbers_are_told_apart() {
        for (n, kind) in ShadowKind::ALL.iter().enumerate() {
            for other in &ShadowKind::ALL[..n] {
                assert!(kind.name() != other.name() && kind.number() != other.number(), "{kind:?}");
            }
        }
    }

    /// A shadow of one module and one row is carried like any other.
    #[test]
    fn a_shadow_is_a_module_and_a_row() {
        let kind = *ShadowKind::ALL.iter().find(|kind| kind.name() == "count").unwrap();
        assert!(kind.is_carried() && kind.records() && kind.inline().is_none());
        let carrier = kind.carry(&Settings::default(), None);
        assert!(!carrier.fits_half());
        let (mut observer, mut m) = (carrier.observer(), Fake::default());
        m.poke(0x100, &2f64.to_le_bytes());
        let result = abi::memory(&m, 0x100, Format::F64).unwrap();
        let sites = [1, 2, 2].map(Site::from_bits);
        let x = [1f64, 1f64].map(|x| u128::from(x.to_bits()));
        for site in sites {
            let kept = &[SavedShadow::NONE; 2];
            observer.function(&mut m, &LibraryCall { site, op: Op::Add, x: &x, kept, result });
        }
        let mut found: Vec<(u32, u64)> =
            observer.findings().iter().map(|found| (found.site.bits(), found.count)).collect();
        found.sort();
        assert_eq!(found, [(1, 1), (2, 2)]);
        assert!(!observer.is_shadowed(&mut m, result));
    }
}
