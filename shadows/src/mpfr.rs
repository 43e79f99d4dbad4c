//! The shadow of reals: beside a float, the real number that exact arithmetic would have given.
//!
//! [`MpfrShadow`] is a rule over TABLE 1's real functions, applied *lazily*: a float without a shadow is its own real,
//! and stays so while operations on such floats are exact. Knows nothing of where shadows are kept, of instructions or
//! of report formats; all its state is its own, so that it can be moved to another thread.

pub mod convert;
mod derivation;
mod digits;
pub mod elementary;
pub(crate) mod error_bound;
pub mod exact;
mod execute;
pub(crate) mod fast;
mod magic;
pub mod measure;
pub(crate) mod number;
pub mod real;
pub mod reals;
mod recorded;
mod seam;
mod settle;
pub(crate) mod text;

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::rounding::Rounding;
pub use shadowgrind_core::shadow::Settings;
use shadowgrind_core::shadow::{Lane, Observed, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, ToInteger};

use crate::diagnosis::blame::Part;
pub use crate::diagnosis::blame::{Merging, Portable, Roundings};
use crate::diagnosis::conditioning::Conditioning;
use crate::diagnosis::deferred::Deferred;
use crate::diagnosis::expression::{Expression, Trace};
use crate::diagnosis::history::{History, Source};
use crate::diagnosis::influences::Influences;
pub use crate::diagnosis::influences::{Both, Few};
use crate::diagnosis::local_error::{Kind, LocalError, Threshold};
use crate::diagnosis::operations::{Id, Operations, What};
use crate::diagnosis::special;
use crate::diagnosis::spots::Spots;
pub use crate::diagnosis::spots::{Left, Spot, SpotKind, verdict};
use elementary::{Any, Product, Sum};
pub use fast::{Became, Made, Recurring};
use measure::Measured;
use number::{Arithmetic, RealNumber};
use real::Real;

/// Depth of the expression of an operation that is not erroneous itself.
const USUAL_DEPTH: u32 = 3;

/// The shadow of one float.
pub type Value = Real;

/// The reals of a run, and what was learnt from them.
#[derive(Debug)]
pub struct MpfrShadow {
    pub(crate) settings: Settings,
    pub(crate) reals: Arithmetic,
    /// Operands without a shadow, as reals.
    pub(crate) scratch: [RealNumber; MAX_OPERANDS],
    pub(crate) threshold: Threshold,
    /// Rounding modes of x87's instructions and of all others.
    pub(crate) rounding: [Rounding; 2],
    pub(crate) parts: Vec<Part>,
    /// The erroneous operations that the operation being looked at depends on, where they are not among what is
    /// [`Made`] of it.
    pub(crate) influences_apart: Option<Influences>,
    pub(crate) operations: Operations,
    pub(crate) history: History,
    pub(crate) spots: Spots,
    pub(crate) conditioning: Conditioning,
    pub(crate) deferred: Vec<Deferred>,
    settling: settle::Settling,
    /// True if what is decided now is about how numbers are written.
    pub(crate) ignores_decisions: bool,
    /// The place where an error was noted last.
    pub(crate) noted: Option<Site>,
}

impl MpfrShadow {
    /// Nothing shadowed yet.
    pub fn new(settings: Settings) -> Self {
        let reals = Arithmetic::new(settings.precision, settings.fast);
        let mut operations = Operations::default();
        let negation = |format| operations.at(Site::NONE, What::Op(Op::Neg), (format, format));
        let history = History::new(Format::ALL.map(negation));
        let threshold = Threshold::new(settings.error_threshold);
        MpfrShadow {
            settings,
            scratch: std::array::from_fn(|_| reals.place()),
            reals,
            threshold,
            rounding: [Rounding::NearestEven; 2],
            parts: Vec::new(),
            influences_apart: None,
            operations,
            history,
            spots: Spots::default(),
            conditioning: Conditioning::default(),
            deferred: Vec::new(),
            settling: settle::Settling::default(),
            ignores_decisions: false,
            noted: None,
        }
    }

    /// Settings of the shadow.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Number of operations looked at.
    pub fn operations(&self) -> u64 {
        self.operations.iter().filter(|operation| operation.is_row()).map(|operation| operation.count).sum()
    }

    /// Number of those that were computed in the reals and left a shadow.
    pub fn shadowed(&self) -> u64 {
        self.operations.iter().map(|operation| operation.error.count).sum()
    }

    /// Tells whether reals have arithmetic of our own. Of others it is worth keeping a shadow that is of no use any
    /// more where the next is to be put: its digits' memory is used again.
    #[inline(always)]
    pub fn is_short(&self) -> bool {
        self.reals.short_precision().is_some()
    }

    /// The mode of the moment is that of floats of `format` from now on.
    pub(crate) fn round_as(&mut self, format: Format) {
        self.reals.mpfr.current = self.rounding[usize::from(format != Format::F80)];
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

    /// Keeps count of an execution that introduced error, and what it computed. Its result has error of so many bits, as a
    /// power of two.
    fn note_local_error(&mut self, id: Id, operands: &[Source], local_error: &LocalError, power: f64) {
        let operation = &mut self.operations[id];
        self.noted = Some(operation.site);
        operation.local_errors.count(local_error);
        if local_error.is_error() {
            operation.erroneous.add(power);
            operation.local_error.add(local_error.power);
        }
        let known = operation.expression.take();
        let trace = self.trace(id, self.settings.expr_depth, true);
        self.operations[id].expression = fitted(known, trace, operands, local_error.power);
    }

    /// Looks now and then at what an operation that was erroneous before computes when it is not.
    fn note_right(&mut self, id: Id, operands: &[Source]) {
        let Some(mut expression) = self.operations[id].expression.take() else { return };
        expression.fit(self.trace(id, self.settings.expr_depth, true), operands);
        self.operations[id].expression = Some(expression);
    }

    /// Now and then looks at what an operation computes, should its roundings turn out to matter.
    fn note_usual(&mut self, id: Id, operands: &[Source]) {
        let known = self.operations[id].usual.take();
        let trace = self.trace(id, USUAL_DEPTH, false);
        self.operations[id].usual = fitted(known, trace, operands, 0.0);
    }

    pub(crate) fn trace(&self, root: Id, depth: u32, loops: bool) -> Trace<'_> {
        Trace { history: &self.history, operations: &self.operations, depth, loops, root }
    }

    /// An operand out of its domain is a consequence of what made it wrong.
    fn note_causes(&mut self, id: Id, lane: &Lane<'_, Value>, local_error: &LocalError) {
        if local_error.kind != Kind::Invalid {
            return;
        }
        let operands = lane.shadows.iter().zip(lane.x);
        // What the reals have as well comes of nothing but what they have as well.
        let counts = |bits| local_error.is_error() || special::is_special(lane.from, bits);
        let seen = operands.filter(|&(_, &bits)| counts(bits)).map(|(&shadow, &bits)| Observed {
            format: lane.from,
            bits,
            shadow,
        });
        self.answered_for(id, &seen.collect::<Vec<_>>());
    }
}

/// Tells whether an operation is one of those that [`MpfrShadow::on_doubles`] is for.
#[inline(always)]
pub fn takes_fast_path(op: Op, from: Format, to: Format) -> bool {
    use Op::{Add, Div, Mul, Sqrt, Sub};
    matches!((op, from, to), (Add | Sub | Mul | Div | Sqrt, Format::F64, Format::F64))
}

/// Tells whether an operation adds: the only ones that cancel.
pub(crate) fn is_sum(op: Op) -> bool {
    matches!(op, Op::Add | Op::Sub | Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub)
}

/// An expression made to fit another execution, or made from the first.
pub(crate) fn fitted(
    known: Option<Box<Expression>>,
    trace: Trace<'_>,
    operands: &[Source],
    power: f64,
) -> Option<Box<Expression>> {
    match known {
        Some(mut expression) => {
            expression.generalise(trace, operands, power);
            Some(expression)
        }
        None => Some(Box::new(Expression::new(trace, operands, power))),
    }
}

impl Rule for MpfrShadow {
    type Value = Value;

    fn op(&mut self, lane: &Lane<'_, Value>) -> Option<Value> {
        let &Lane { site, op, r, .. } = lane;
        let double = |bits: u128| f64::from_bits(bits as u64);
        let (x, shadows) = match (lane.x, lane.shadows) {
            _ if !takes_fast_path(op, lane.from, lane.to) => return self.execute(lane),
            (&[a, b], &[first, second]) => ([double(a), double(b)], [first, second]),
            (&[a], &[shadow]) => ([double(a), 1.0], [shadow, None]),
            _ => return self.execute(lane),
        };
        let (at, r) = (&mut Recurring::new(site), double(r));
        if !self.is_short() {
            return self.on_doubles_at_length(Portable, (at, op), x, r, shadows, None);
        }
        let mut made = Made::NOTHING;
        let became = match op {
            Op::Add | Op::Sub => {
                let sum = Sum { subtract: op == Op::Sub };
                self.on_doubles(Portable, (at, sum), x, r, shadows, &mut made)
            }
            Op::Mul => self.on_doubles(Portable, (at, Product), x, r, shadows, &mut made),
            _ => self.on_doubles(Portable, (at, Any(op)), x, r, shadows, &mut made),
        };
        match became {
            Became::Odd => self.execute(lane),
            Became::Exact => None,
            Became::Shadow => {
                let mut shadow = None;
                self.put(made, &mut shadow);
                shadow
            }
        }
    }

    fn scale(&mut self, shadow: &Value, format: Format, negate: bool, power: i32) -> Option<Value> {
        Some(shadow.scaled(format, negate, power))
    }

    /// The real may be on the other side of zero than the float is.
    fn with_sign(&mut self, shadow: &Value, format: Format, negative: bool, turned: bool) -> Option<Value> {
        let negate = shadow.value().is_negative() != negative;
        let real = shadow.scaled(format, negate, 0);
        // What is known of the float is not so of the real.
        Some(if negate == turned { real } else { real.untraced() })
    }

    fn compare(&mut self, site: Site, predicate: Predicate, x: [Observed<'_, Value>; 2]) {
        self.compared(site, predicate, x);
    }

    fn to_integer(&mut self, site: Site, how: ToInteger, x: Observed<'_, Value>) {
        self.converted(site, how, x);
    }

    fn set_rounding(&mut self, x87: Rounding, others: Rounding) {
        self.rounding = [x87, others];
    }

    fn ignore_decisions(&mut self, ignore: bool) {
        self.ignores_decisions = ignore;
    }
}
