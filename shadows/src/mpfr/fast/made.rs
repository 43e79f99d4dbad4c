//! Results of the commonest operations.

use shadowgrind_core::format::Format;

use crate::diagnosis::blame::{Amplifications, Roundings};
use crate::diagnosis::history::Serial;
use crate::diagnosis::influences::{Few, Influences};
use crate::mpfr::MpfrShadow;
use crate::reals::bigfloat::Short;
use crate::reals::error_bound::ErrorBound;
use crate::reals::number::RealNumber;
use crate::reals::real::Real;

/// Result of an operation on floats, part by part: a shadow as a whole would be written down to be read again at once,
/// in other portions, for which processors wait. For the same reason nothing here has to be dropped.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub(super) value: Short,
    pub(super) error_bound: ErrorBound,
    pub(super) serial: Serial,
    pub(super) roundings: Roundings,
    pub(super) amplifications: Amplifications,
    /// The erroneous operations, if they are few and were found at once: see [`MpfrShadow::influences_apart`].
    pub(super) few: Few,
}

impl Made {
    /// Nothing yet.
    pub const NOTHING: Made = Made {
        value: Short::zero(false),
        error_bound: ErrorBound::Exact { last: 0 },
        serial: 0,
        roundings: Roundings::NONE,
        amplifications: Amplifications::NONE,
        few: Few::NONE,
    };
}

impl MpfrShadow {
    /// Puts the shadow that was [found](MpfrShadow::on_floats) last, of a float of `format`, at `place`, where none is.
    #[inline(always)]
    pub fn put(&mut self, (made, format): (Made, Format), place: &mut Option<Real>) {
        self.put_with((made, format), RealNumber::Short(made.value), place);
    }

    #[inline(always)]
    pub(super) fn put_with(
        &mut self,
        (made, format): (Made, Format),
        value: RealNumber,
        place: &mut Option<Real>,
    ) {
        let Made { error_bound, serial, roundings, amplifications, few, .. } = made;
        let few = Influences::few(few);
        let real =
            place.insert(Real::with(value, format, error_bound, serial, roundings, amplifications, few));
        if let Some(influences) = self.influences_apart.take() {
            real.influences = influences;
        }
    }
}

/// Outcome of the fast path for an operation on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastOutcome {
    /// Nothing was done: the reference path has to do it.
    Fallback,
    /// No shadow.
    Exact,
    /// A shadow.
    Shadow,
}
