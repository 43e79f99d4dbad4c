//! State of a program's execution in the reals: the numbers' arithmetic, rounding modes, who made errors.
//!
//! Knows no operation: [`execute`](super::execute), [`decisions`](super::decisions) and the like give it those.

use hashbrown::HashMap;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::Settings;
use shadowgrind_core::step::Sums;

use super::number::{Arithmetic, RealNumber};
use super::real::Real;
use crate::diagnosis::Diagnosis;

/// A program's execution in the reals, and what was learnt from it.
#[derive(Debug)]
pub(crate) struct RealExecution {
    pub(crate) settings: Settings,
    pub(crate) arithmetic: Arithmetic,
    /// Operands without a shadow, as reals.
    pub(crate) scratch: [RealNumber; MAX_OPERANDS],
    /// Rounding modes of x87's instructions and of all others.
    pub(crate) rounding: [Rounding; 2],
    /// Purpose of the sums that are executed now.
    pub(crate) sums: Sums,
    /// Who made errors, which it follows.
    pub(crate) diagnosis: Diagnosis<Real>,
    pub(super) settling: Settling,
    /// True if what is decided now is about how numbers are written.
    pub(crate) ignores_decisions: bool,
}

/// Cost, so far, of finding reals again, and the lessons learnt.
#[derive(Debug, Default)]
pub(super) struct Settling {
    /// Steps computed for results of operations.
    pub(super) spent: u64,
    /// Steps computed for comparisons, which have as much time for themselves.
    pub(super) spent_on_decisions: u64,
    /// By [shape](super::derivation::Derivation::shape), true if it is zero whatever it begins with.
    pub(super) zeros: HashMap<u64, bool>,
}

impl RealExecution {
    /// Nothing executed yet.
    pub(crate) fn new(settings: Settings) -> Self {
        let arithmetic = Arithmetic::new(settings.precision, settings.fast);
        RealExecution {
            diagnosis: Diagnosis::new(&settings),
            settings,
            scratch: std::array::from_fn(|_| arithmetic.place()),
            arithmetic,
            rounding: [Rounding::NearestEven; 2],
            sums: Sums::Unknown,
            settling: Settling::default(),
            ignores_decisions: false,
        }
    }

    /// Makes the mode of the moment that of floats of `format`.
    pub(crate) fn round_as(&mut self, format: Format) {
        self.arithmetic.mpfr.current = self.rounding[usize::from(format != Format::F80)];
    }
}
