//! The shadow of reals: beside a float, the real number that exact arithmetic would have given.
//!
//! [`MpfrShadow`] is a rule over TABLE 1's real functions, applied *lazily*: a float without a shadow is its own real,
//! and stays so while operations on such floats are exact. Knows nothing of where shadows are kept, of instructions or
//! of report formats; all its state is its own, so that it can be moved to another thread.

pub mod convert;
pub mod exact;
pub mod measure;
pub mod real;
pub mod reals;

use rug::Float;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::reals::Rounding;
use shadowgrind_core::shadow::{Lane, Seen, Shadow};
use triomphe::Arc;

use measure::Measured;
use real::Real;
use reals::Mpfr;

/// The shadow of one float, shared by all its copies.
pub type Value = Arc<Real>;

/// What a user can set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Bits of the reals, 64…16384.
    pub precision: u32,
    /// Error bits up to which a value, or what an operation introduces, counts as clean.
    pub error_threshold: f64,
    /// How many operations deep an expression explains a culprit.
    pub expr_depth: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { precision: 256, error_threshold: 5.0, expr_depth: 5 }
    }
}

/// The reals of a run, and what was learnt from them.
#[derive(Debug)]
pub struct MpfrShadow {
    settings: Settings,
    reals: Mpfr,
    /// Operands without a shadow, as reals.
    scratch: [Float; MAX_OPERANDS],
    operations: u64,
}

impl MpfrShadow {
    /// Nothing shadowed yet.
    pub fn new(settings: Settings) -> Self {
        MpfrShadow {
            settings,
            reals: Mpfr::new(settings.precision),
            scratch: std::array::from_fn(|_| Float::new(64)),
            operations: 0,
        }
    }

    /// What the shadow was told.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// How many operations were looked at.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// From now on the guest rounds to integers so, where an operation asks for the rounding mode of the moment.
    pub fn set_rounding(&mut self, mode: Rounding) {
        self.reals.current = mode;
    }

    /// The shadow of a float that is to be followed from here on although it is exact.
    pub fn force_track(&mut self, format: Format, bits: u128) -> Value {
        Arc::new(Real::exactly(format, bits))
    }

    /// How far a float is from its real.
    pub fn measure(&self, seen: Seen<'_, Value>) -> Measured {
        measure::measure(seen.format, seen.bits, seen.shadow.map(|shadow| &**shadow))
    }

    /// The real of a float in decimal digits, as many as are worth showing.
    pub fn real_string(&self, seen: Seen<'_, Value>) -> String {
        self.measure(seen).real
    }

    /// The real result of an operation.
    fn real_of(&mut self, lane: &Lane<'_, Value>) -> Float {
        for (index, shadow) in lane.shadows.iter().enumerate() {
            if shadow.is_none() {
                convert::assign(&mut self.scratch[index], lane.from, lane.x[index]);
            }
        }
        let operand = |index: usize| match lane.shadows.get(index) {
            Some(Some(shadow)) => shadow.value(),
            _ => &self.scratch[index],
        };
        let operands: [&Float; MAX_OPERANDS] = std::array::from_fn(operand);
        lane.op.real(&self.reals, &operands[..lane.x.len()])
    }
}

impl Shadow for MpfrShadow {
    type Value = Value;

    fn op(&mut self, lane: &Lane<'_, Value>) -> Option<Value> {
        self.operations += 1;
        if lane.shadows.iter().all(Option::is_none) && exact::is_exact(lane) == Some(true) {
            return None;
        }
        let value = self.real_of(lane);
        let rounded = measure::round(lane.to, &value);
        if measure::same(lane.to, rounded, lane.r) && measure::is_exactly(&value, lane.to, lane.r) {
            return None;
        }
        Some(Arc::new(Real::new(value, lane.to, rounded)))
    }

    fn scale(&mut self, shadow: &Value, format: Format, negate: bool, power: i32) -> Option<Value> {
        Some(Arc::new(shadow.scaled(format, negate, power)))
    }
}
