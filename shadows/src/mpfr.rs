//! The shadow of reals: beside a float, the real number that exact arithmetic would have given.
//!
//! [`MpfrShadow`] is a rule over TABLE 1's real functions, applied *lazily*: a float without a shadow is its own real,
//! and stays so while operations on such floats are exact. Knows nothing of where shadows are kept, of instructions or
//! of report formats; all its state is its own, so that it can be moved to another thread.

mod blame;
mod certainty;
pub mod convert;
pub mod exact;
mod expression;
mod fault;
mod findings;
mod hints;
mod history;
mod linear;
pub mod measure;
mod operations;
mod ranges;
pub mod real;
pub mod reals;
mod spots;

use rug::Float;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::reals::{Reals, Rounding};
use shadowgrind_core::shadow::{Lane, Seen, Shadow};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, ToInteger};
use triomphe::Arc;

use blame::{Influences, Part, Roundings};
use certainty::Certainty;
use expression::{Expression, Trace};
use fault::{Fault, Kind, Outcome};
use history::{History, Source};
use linear::Linear;
use measure::Measured;
use operations::{Id, Operations, What};
use real::Real;
use reals::Mpfr;
pub use spots::{Spot, SpotKind};

/// How deep the expression of an operation goes that is not at fault itself.
const USUAL_DEPTH: u32 = 3;

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
    parts: Vec<Part>,
    operations: Operations,
    history: History,
    spots: spots::Spots,
    executed: u64,
    shadowed: u64,
}

impl MpfrShadow {
    /// Nothing shadowed yet.
    pub fn new(settings: Settings) -> Self {
        MpfrShadow {
            settings,
            reals: Mpfr::new(settings.precision),
            scratch: std::array::from_fn(|_| Float::new(64)),
            parts: Vec::new(),
            operations: Operations::default(),
            history: History::new(),
            spots: spots::Spots::default(),
            executed: 0,
            shadowed: 0,
        }
    }

    /// What the shadow was told.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// How many operations were looked at.
    pub fn operations(&self) -> u64 {
        self.executed
    }

    /// How many of those were computed in the reals and left a shadow.
    pub fn shadowed(&self) -> u64 {
        self.shadowed
    }

    /// From now on the guest rounds to integers so, where an operation asks for the rounding mode of the moment.
    pub fn set_rounding(&mut self, mode: Rounding) {
        self.reals.current = mode;
    }

    /// The shadow of a float that is to be followed from here on although it is exact: an input the user named, or a
    /// float a client request points to.
    pub fn force_track(&mut self, format: Format, bits: u128) -> Value {
        Arc::new(Real::exactly(format, bits))
    }

    /// How far a float is from its real.
    pub fn measure(&self, seen: &Seen<'_, Value>) -> Measured {
        measure::measure(seen.format, seen.bits, seen.shadow.map(|shadow| &**shadow))
    }

    /// The real of a float in decimal digits, as many as are worth showing.
    pub fn real_string(&self, seen: &Seen<'_, Value>) -> String {
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
        if let Some(index) = exact::rounds_to_integer(lane) {
            let integer = self.reals.round(operands[index], Rounding::Current);
            let operands = if index == 0 { [&integer, operands[1]] } else { [operands[0], &integer] };
            return lane.op.real(&self.reals, &operands);
        }
        lane.op.real(&self.reals, &operands[..lane.x.len()])
    }

    /// The real of a result, unless that is exact.
    fn real(&mut self, lane: &Lane<'_, Value>, linear: &Linear) -> Option<Real> {
        let value = self.real_of(lane);
        let rounded = measure::round(lane.to, &value);
        let floats = measure::floats_between(lane.to, lane.r, rounded);
        if floats == 0.0 && measure::is_exactly(&value, lane.to, lane.r) {
            return None;
        }
        let bits = measure::error_bits(lane.to, floats);
        let certainty = Certainty::of_result(lane, linear, &value, self.settings.precision, bits);
        let noise = is_sum(lane.op) && value.get_exp().is_some_and(|exponent| certainty.covers(exponent));
        if !noise {
            return Some(Real::new(value, lane.to, rounded, certainty));
        }
        // Nothing but the reals' own noise is left of the terms: as far as they can tell, zero.
        let zero = Float::new(self.settings.precision);
        let differs = linear.r != 0.0;
        differs.then(|| Real::new(zero, lane.to, 0, certainty))
    }

    /// Follows the error of a result that is not exact, and keeps count of it.
    fn inexact(&mut self, id: Id, linear: &Linear, lane: &Lane<'_, Value>, mut real: Real) -> Real {
        self.shadowed += 1;
        let rounded = real.rounded(lane.to);
        let bits = measure::error_bits(lane.to, measure::floats_between(lane.to, lane.r, rounded));
        let outcome = Outcome { lane, linear, value: real.value(), rounded, bits };
        let fault = outcome.fault(&self.reals, self.settings.error_threshold);
        self.follow_roundings(id, linear, lane, &mut real);
        if bits > 1.0 || fault.is_some() || fault::is_tiny(lane.to, linear.r) || linear.r.is_infinite() {
            real.set_influences(self.influences(id, fault, linear, lane, real.value()));
        }
        let sources: [Source; MAX_OPERANDS] = std::array::from_fn(|index| source(lane, index));
        let sources = &sources[..lane.x.len()];
        real.serial = self.history.push(id, sources, lane.to, lane.r);
        self.note(id, lane, linear, bits, &real);
        if self.operations[id].error.count.is_power_of_two() {
            self.note_usual(id, sources);
        }
        if let Some(fault) = fault {
            self.note_fault(id, sources, &fault, bits);
            self.note_causes(id, lane, &fault);
        }
        real
    }

    /// Whose roundings the result carries, and where the largest of them grew.
    fn follow_roundings(&mut self, id: Id, linear: &Linear, lane: &Lane<'_, Value>, real: &mut Real) {
        let own = linear.own.unwrap_or_else(|| self.own_rounding(linear, lane, real.value()));
        let mut largest = own.abs();
        for (index, shadow) in lane.shadows.iter().enumerate() {
            let Some(shadow) = shadow else { continue };
            let brought = shadow.roundings.largest() * linear.partials[index].abs();
            if brought > largest {
                largest = brought;
                real.gains = shadow.gains.with(id, linear.gain(index));
            }
        }
        let operands = lane.shadows.iter().zip(linear.partials);
        let operands = operands.filter_map(|(shadow, partial)| Some((&shadow.as_ref()?.roundings, partial)));
        real.roundings = Roundings::combine(operands, Part { operation: id, amount: own }, &mut self.parts);
    }

    /// What an operation without a residual rounds off: the error that its operands' errors do not explain, as far as
    /// rounding can be its cause.
    fn own_rounding(&self, linear: &Linear, lane: &Lane<'_, Value>, value: &Float) -> f64 {
        let mut own = real::difference(lane.to, lane.r, value);
        for (index, shadow) in lane.shadows.iter().enumerate() {
            if let Some(shadow) = shadow {
                own -= linear.partials[index] * shadow.error_of(lane.from, lane.x[index]);
            }
        }
        let most = 2.0 * linear.half_ulp(lane.to);
        if own.is_nan() { 0.0 } else { own.clamp(-most, most) }
    }

    fn influences(
        &mut self,
        id: Id,
        fault: Option<Fault>,
        linear: &Linear,
        lane: &Lane<'_, Value>,
        value: &Float,
    ) -> Option<Influences> {
        let kept = self.compensated(lane, value);
        let operands =
            lane.shadows.iter().zip(linear.partials).enumerate().filter_map(|(index, (shadow, p))| {
                let shadow = shadow.as_ref().filter(|_| kept.is_none_or(|kept| kept == index))?;
                Some((shadow.influences()?, p))
            });
        let own = fault.map(|fault| Part { operation: id, amount: fault.amount });
        Influences::combine(operands, own, &mut self.parts)
    }

    /// Which operand a compensating operation corrects: a sum that in the reals is one of its operands, because the
    /// other is zero there, and is nearer to its real than that operand was (Herbgrind's rule). What the correction
    /// was computed with is not to blame.
    fn compensated(&self, lane: &Lane<'_, Value>, value: &Float) -> Option<usize> {
        let ([Some(a), Some(b)], Op::Add | Op::Sub) = (lane.shadows, lane.op) else { return None };
        let sure = self.settings.precision as i32 / 2;
        let vanishes = |x: &Real| match (x.value().get_exp(), value.get_exp()) {
            (Some(x), Some(value)) => x < value - sure,
            _ => x.value().is_zero(),
        };
        let kept = if vanishes(b) { 0 } else { usize::from(vanishes(a)) };
        if kept == 0 && !vanishes(b) {
            return None;
        }
        let before = if kept == 0 { a } else { b }.error_of(lane.from, lane.x[kept]).abs();
        (real::difference(lane.to, lane.r, value).abs() < before).then_some(kept)
    }

    /// Keeps count of an execution.
    fn note(&mut self, id: Id, lane: &Lane<'_, Value>, linear: &Linear, bits: f64, real: &Real) {
        let operation = &mut self.operations[id];
        operation.error.add(bits);
        operation.least_significant = operation.least_significant.min(real.significant_bits());
        if matches!(lane.op, Op::Add | Op::Sub) {
            let [a, b, _] = linear.x.map(f64::abs);
            let r = linear.r.abs();
            operation.absorbed.0 += u64::from(a != 0.0 && b != 0.0 && (r == a || r == b));
            operation.absorbed.1 += 1;
        }
    }

    /// Keeps count of an execution that introduced error, and what it computed.
    fn note_fault(&mut self, id: Id, operands: &[Source], fault: &Fault, bits: f64) {
        let operation = &mut self.operations[id];
        operation.faults.count(fault);
        operation.fault_error.add(bits);
        operation.local_error.add(fault.bits);
        let known = operation.expression.take();
        let trace = self.trace(id, self.settings.expr_depth, true);
        self.operations[id].expression = fitted(known, trace, operands, fault.bits);
    }

    /// Now and then looks at what an operation computes, should its roundings turn out to matter.
    fn note_usual(&mut self, id: Id, operands: &[Source]) {
        let known = self.operations[id].usual.take();
        let trace = self.trace(id, USUAL_DEPTH, false);
        self.operations[id].usual = fitted(known, trace, operands, 0.0);
    }

    fn trace(&self, root: Id, depth: u32, loops: bool) -> Trace<'_> {
        Trace { history: &self.history, operations: &self.operations, depth, loops, root }
    }

    /// An operand out of its domain is a consequence of what made it wrong.
    fn note_causes(&mut self, id: Id, lane: &Lane<'_, Value>, fault: &Fault) {
        if fault.kind != Kind::Invalid {
            return;
        }
        for influences in lane.shadows.iter().flatten().filter_map(|shadow| shadow.influences()) {
            for part in influences.iter().filter(|part| part.operation != id) {
                let site = self.operations[part.operation].site;
                self.operations[id].caused_by(site);
            }
        }
    }
}

/// Whether an operation adds: the only ones that cancel.
fn is_sum(op: Op) -> bool {
    matches!(op, Op::Add | Op::Sub | Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub)
}

/// An expression made to fit another execution, or made from the first.
fn fitted(
    known: Option<Box<Expression>>,
    trace: Trace<'_>,
    operands: &[Source],
    bits: f64,
) -> Option<Box<Expression>> {
    match known {
        Some(mut expression) => {
            expression.generalise(trace, operands, bits);
            Some(expression)
        }
        None => Some(Box::new(Expression::new(trace, operands, bits))),
    }
}

/// Operand `index` of `lane` as the history knows it.
fn source(lane: &Lane<'_, Value>, index: usize) -> Source {
    let serial = lane.shadows.get(index).and_then(Option::as_ref).map_or(0, |shadow| shadow.serial);
    Source { format: lane.from, bits: lane.x.get(index).copied().unwrap_or(0), serial }
}

impl Shadow for MpfrShadow {
    type Value = Value;

    fn op(&mut self, lane: &Lane<'_, Value>) -> Option<Value> {
        self.executed += 1;
        let id = self.operations.at(lane.site, What::Op(lane.op), (lane.from, lane.to));
        let mut linear = Linear::new(lane);
        let operation = &mut self.operations[id];
        operation.count += 1;
        for (range, &x) in operation.operands.iter_mut().zip(&linear.x[..lane.x.len()]) {
            range.add(x);
        }
        let exact = linear.is_exact(lane);
        if exact == Some(true) && lane.shadows.iter().all(Option::is_none) {
            let sources: [Source; MAX_OPERANDS] = std::array::from_fn(|index| source(lane, index));
            self.history.push_exact(id, &sources[..lane.x.len()], lane.to, lane.r);
            return None;
        }
        if lane.shadows.iter().any(Option::is_some) {
            linear.differentiate(lane.op, lane.x.len());
        }
        let real = self.real(lane, &linear)?;
        Some(Arc::new(self.inexact(id, &linear, lane, real)))
    }

    fn scale(&mut self, shadow: &Value, format: Format, negate: bool, power: i32) -> Option<Value> {
        let mut scaled = shadow.scaled(format, negate, power);
        let before = self.history.result(shadow.serial).filter(|before| before.format == format);
        if let (true, 0, Some(before)) = (negate, power, before) {
            // A sign bit that was flipped reads as the negation it stands for.
            let id = self.operations.at(Site::NONE, What::Op(Op::Neg), (format, format));
            let bits = before.bits ^ 1 << (format.width() - 1);
            scaled.serial = self.history.push(id, &[before], format, bits);
        }
        Some(Arc::new(scaled))
    }

    fn compare(&mut self, site: Site, predicate: Predicate, x: [Seen<'_, Value>; 2]) {
        self.compared(site, predicate, x);
    }

    fn to_integer(&mut self, site: Site, how: ToInteger, x: Seen<'_, Value>) {
        self.converted(site, how, x);
    }
}
