//! The shadow of reals: beside a float, the real number that exact arithmetic would have given.
//!
//! [`MpfrShadow`] is a rule over TABLE 1's real functions, applied *lazily*: a float without a shadow is its own real,
//! and stays so while operations on such floats are exact. Knows nothing of where shadows are kept, of instructions or
//! of report formats; all its state is its own, so that it can be moved to another thread.

pub mod elementary;
mod fast;
mod recorded;
mod seam;

use shadowgrind_core::findings::{Exhausted, Finding};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::rounding::Rounding;
pub use shadowgrind_core::shadow::Settings;
use shadowgrind_core::shadow::{Lane, Observed, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, Sums, ToInteger};
use shadowgrind_core::text::Notation;

use crate::diagnosis::blame::Portable;
use crate::diagnosis::influences::Influences;
pub use crate::diagnosis::spots::Left;
use crate::ieee::{Double, Ieee, Single};
use crate::reals::bigfloat;
use crate::reals::execution::RealExecution;
use crate::reals::measure::{self, Measured};
use crate::reals::number::RealNumber;
use crate::reals::real::Real;
use elementary::{Any, Product, Sum};
pub use fast::{FastOutcome, Made, Recurring};

/// The shadow of one float.
pub type Value = Real;

/// The reals of a run, and what was learnt from them.
#[derive(Debug)]
pub struct MpfrShadow {
    execution: RealExecution,
    /// The erroneous operations that the operation being looked at depends on, where they are not among what is
    /// [`Made`] of it.
    influences_apart: Option<Influences>,
}

impl MpfrShadow {
    /// Nothing shadowed yet.
    pub fn new(settings: Settings) -> Self {
        MpfrShadow { execution: RealExecution::new(settings), influences_apart: None }
    }

    /// Settings of the shadow.
    pub fn settings(&self) -> &Settings {
        &self.execution.settings
    }

    /// Number of operations looked at.
    pub fn operations(&self) -> u64 {
        let all = self.execution.diagnosis.operations.iter();
        all.filter(|operation| operation.is_row()).map(|operation| operation.count).sum()
    }

    /// Number of those that were computed in the reals and left a shadow.
    pub fn shadowed(&self) -> u64 {
        self.execution.diagnosis.operations.iter().map(|operation| operation.error.count).sum()
    }

    /// Tells whether reals have arithmetic of our own. Of others it is worth keeping a shadow that is of no use any
    /// more where the next is to be put: its digits' memory is used again.
    #[inline(always)]
    pub fn is_short(&self) -> bool {
        self.execution.arithmetic.short_precision().is_some()
    }

    /// The shadow of a float that is to be followed from here on although it is exact: an input the user named, or a
    /// float a client request points to.
    pub fn force_track(&mut self, format: Format, bits: u128) -> Value {
        Real::exactly(RealNumber::from_bits(format, bits), format, bits)
    }

    /// Distance of a float from its real.
    pub fn measure(&self, seen: &Observed<'_, Value>) -> Measured {
        measure::measure(seen.format, seen.bits, seen.shadow)
    }

    /// The real of a float in decimal digits, as many as are worth showing.
    pub fn real_string(&self, seen: &Observed<'_, Value>) -> String {
        self.measure(seen).real
    }

    /// A float leaves, as text in this notation if that is known. `output` is its number among the outputs of the report, if
    /// it is one of those.
    pub fn leaves(
        &mut self,
        output: Option<u64>,
        seen: &Observed<'_, Value>,
        notation: Option<&Notation>,
    ) -> Left {
        self.execution.diagnosis.leaves(output, seen, notation)
    }

    /// Findings: outcomes of errors and their causes, decisions, NaN and infinities, in the order in which operations
    /// first ran.
    pub fn findings(&mut self) -> Vec<Finding> {
        self.execution.diagnosis.findings()
    }

    /// Operations for whose results the reals were not precise enough, in the order in which they first ran.
    pub fn exhausted(&self) -> Vec<Exhausted> {
        self.execution.diagnosis.exhausted()
    }
}

/// Tells whether an operation is one of those that [`MpfrShadow::on_floats`] is for.
#[inline(always)]
pub fn takes_fast_path(op: Op, from: Format, to: Format) -> bool {
    use Op::{Add, Div, Mul, Sqrt, Sub};
    (matches!(op, Add | Sub | Mul | Div | Sqrt) || bigfloat::terms(op).is_some())
        && from == to
        && matches!(to, Format::F32 | Format::F64)
}

impl MpfrShadow {
    /// The shadow of the result of one of the commonest operations, on floats of format `F`.
    fn common<F: Ieee>(&mut self, lane: &Lane<'_, Value>, format: F) -> Option<Value> {
        let (op, float) = (lane.op, |bits: u128| F::float(bits as u64));
        let (x, shadows) = match (lane.x, lane.shadows) {
            (&[a, b], &[first, second]) => ([float(a), float(b)], [first, second]),
            (&[a], &[shadow]) => ([float(a), 1.0], [shadow, None]),
            (&[a, b, c], &[first, second, third]) => {
                let (x, shadows) = ([a, b, c].map(float), [first, second, third]);
                let (at, mut made) = (&mut Recurring::new(lane.site), Made::NOTHING);
                let outcome = self.on_fused(Portable, (at, op, format), x, float(lane.r), shadows, &mut made);
                return self.shadow_of(lane, outcome, made);
            }
            _ => return self.execution.execute(lane),
        };
        let (at, r) = (&mut Recurring::new(lane.site), float(lane.r));
        if !self.is_short() {
            return self.on_floats_at_length(Portable, (at, op, format), x, r, shadows, None);
        }
        let mut made = Made::NOTHING;
        let outcome = match op {
            Op::Add | Op::Sub => {
                let sum = Sum { subtract: op == Op::Sub };
                self.on_floats(Portable, (at, sum, format), x, r, shadows, &mut made)
            }
            Op::Mul => self.on_floats(Portable, (at, Product, format), x, r, shadows, &mut made),
            _ => self.on_floats(Portable, (at, Any(op), format), x, r, shadows, &mut made),
        };
        let outcome = match outcome {
            FastOutcome::Fallback => self.on_small(Portable, (at, op, format), x, r, shadows, &mut made),
            outcome => outcome,
        };
        self.shadow_of(lane, outcome, made)
    }

    /// The shadow that the fast path has made or, where it has done nothing, the reference path makes.
    fn shadow_of(&mut self, lane: &Lane<'_, Value>, outcome: FastOutcome, made: Made) -> Option<Value> {
        match outcome {
            FastOutcome::Fallback => self.execution.execute(lane),
            FastOutcome::Exact => None,
            FastOutcome::Shadow => {
                let mut shadow = None;
                self.put((made, lane.to), &mut shadow);
                shadow
            }
        }
    }
}

impl Rule for MpfrShadow {
    type Value = Value;
    const TRACES: bool = true;

    fn op(&mut self, lane: &Lane<'_, Value>) -> Option<Value> {
        match lane.from {
            _ if !takes_fast_path(lane.op, lane.from, lane.to) => self.execution.execute(lane),
            Format::F32 => self.common(lane, Single),
            _ => self.common(lane, Double),
        }
    }

    fn scale(&mut self, shadow: &Value, format: Format, negate: bool, power: i32) -> Option<Value> {
        Some(shadow.scaled(format, negate, power))
    }

    /// The real may be on the other side of zero than the float is.
    fn with_sign(&mut self, shadow: &Value, format: Format, result: u128, turned: bool) -> Option<Value> {
        let negate = shadow.value().is_negative() != format.is_negative(result);
        let real = shadow.scaled(format, negate, 0);
        // What is known of the float is not so of the real.
        Some(if negate == turned { real } else { real.untraced() })
    }

    fn compare(&mut self, site: Site, predicate: Predicate, x: [Observed<'_, Value>; 2]) {
        self.execution.compared(site, predicate, x);
    }

    fn to_integer(&mut self, site: Site, how: ToInteger, x: Observed<'_, Value>) {
        self.execution.converted(site, how, x);
    }

    fn expect_sums(&mut self, sums: Sums) {
        self.execution.sums = sums;
    }

    fn mismatch(&mut self, site: Site) {
        self.execution.diagnosis.mismatch(site);
    }

    fn set_rounding(&mut self, x87: Rounding, others: Rounding) {
        self.execution.rounding = [x87, others];
    }

    fn ignore_decisions(&mut self, ignore: bool) {
        self.execution.ignores_decisions = ignore;
    }
}
