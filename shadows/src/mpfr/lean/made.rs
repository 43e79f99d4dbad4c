//! What comes of one of the commonest operations.

use super::F64;
use crate::mpfr::blame::{Gains, Roundings};
use crate::mpfr::certainty::Certainty;
use crate::mpfr::digits::Short;
use crate::mpfr::history::Serial;
use crate::mpfr::influences::Influences;
use crate::mpfr::number::RealNumber;
use crate::mpfr::real::Real;

/// What is found of an operation on doubles, part by part: a shadow as a whole would be written down to be read again
/// at once, in other portions, for which processors wait.
#[derive(Clone, Debug)]
pub struct Made {
    pub(super) value: Short,
    pub(super) certainty: Certainty,
    pub(super) serial: Serial,
    pub(super) roundings: Roundings,
    pub(super) gains: Gains,
    pub(super) influences: Influences,
}

impl Made {
    /// Nothing yet.
    pub const NOTHING: Made = Made {
        value: Short::zero(false),
        certainty: Certainty::Exact { last: 0 },
        serial: 0,
        roundings: Roundings::NONE,
        gains: Gains::NONE,
        influences: Influences::NONE,
    };

    /// The shadow that was found.
    #[inline(always)]
    pub fn shadow(self) -> Real {
        let value = RealNumber::Short(self.value);
        self.with(value)
    }

    #[inline(always)]
    pub(super) fn with(self, value: RealNumber) -> Real {
        let Made { certainty, serial, roundings, gains, influences, .. } = self;
        Real::with(value, F64, certainty, serial, roundings, gains, influences)
    }
}

/// What became of an operation on doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// It is out of the ordinary: nothing was done.
    Odd,
    /// No shadow.
    Exact,
    /// A shadow.
    Shadow,
}
