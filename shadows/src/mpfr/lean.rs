//! The commonest operations, `+ − × ÷` on doubles of moderate size, in as few steps as they need.
//!
//! What comes of them is what [`execute`](super::execute) makes of any operation, to the last bit: that is the slow
//! twin of what is here, and tests compare the two. Whatever is out of the ordinary is left to it.

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Lane;
use shadowgrind_core::site::Site;

use super::blame::{Gains, Part, Roundings};
use super::certainty::{self, Certainty};
use super::digits::Short;
use super::execute::ONE_ROUNDING;
use super::fault::{Fault, Outcome};
use super::influences::Influences;
use super::linear::{Linear, log2};
use super::number::RealNumber;
use super::operations::{Id, What};
use super::real::Real;
use super::{MpfrShadow, Value};

const F64: Format = Format::F64;
/// Exponents are moderate up to this, either way: no residual under- or overflows.
const MODERATE: u64 = 480;
/// The exponent field of 2^52, the larger addend of sums that are meant as roundings.
const ROUNDING_FIELD: u64 = 1023 + 52;

/// An operation on doubles.
struct Binary<'a> {
    site: Site,
    op: Op,
    x: [f64; 2],
    r: f64,
    shadows: [Option<&'a Real>; 2],
    /// What the operation's own rounding adds to the error.
    own: f64,
}

/// A real result, well within the range of doubles.
struct Computed {
    value: RealNumber,
    exponent: i32,
    /// The value as a double, and, where that is the program's, whether it is just that.
    rounded: u64,
    is_double: bool,
}

/// A result in the reals.
struct Found {
    value: RealNumber,
    exponent: i32,
    /// The value as a float, and the error bits of the float that the program has.
    rounded: u64,
    bits: f64,
}

fn field(x: f64) -> u64 {
    x.to_bits() >> 52 & 0x7ff
}

#[inline(always)]
fn is_moderate(x: f64) -> bool {
    field(x).wrapping_sub(1023 - MODERATE) <= 2 * MODERATE
}

impl MpfrShadow {
    /// Does what an operation of this kind usually takes, and says what its shadow is. False if it is out of the
    /// ordinary: then nothing was done.
    #[inline(always)]
    pub(super) fn lean(&mut self, lane: &Lane<'_, Value>, into: &mut Option<Real>) -> bool {
        let (&[a, b], &[first, second]) = (lane.x, lane.shadows) else { return false };
        let double = |bits: u128| f64::from_bits(bits as u64);
        let (a, b, r) = (double(a), double(b), double(lane.r));
        let all_moderate = is_moderate(a) & is_moderate(b) & is_moderate(r);
        if !all_moderate {
            return false;
        }
        let own = match lane.op {
            Op::Add => -sum_error(a, b, r),
            Op::Sub => -sum_error(a, -b, r),
            Op::Mul => -a.mul_add(b, -r),
            _ => -((-r).mul_add(b, a) / b),
        };
        let binary = Binary { site: lane.site, op: lane.op, x: [a, b], r, shadows: [first, second], own };
        if first.is_none() && second.is_none() && own == 0.0 {
            let id = self.counted(&binary);
            self.history.push_exact(id, lane);
            *into = None;
            return true;
        }
        self.lean_real(lane, &binary, into)
    }

    #[inline(always)]
    fn lean_real(&mut self, lane: &Lane<'_, Value>, binary: &Binary<'_>, into: &mut Option<Real>) -> bool {
        let computed = match self.reals.short_precision() {
            Some(precision) => lean_short(binary, precision),
            None => self.lean_long(lane, binary),
        };
        let Some(Computed { value, exponent, rounded, is_double }) = computed else { return false };
        let r = binary.r.to_bits();
        if (rounded ^ r) >> 63 != 0 {
            return false;
        }
        let floats = rounded.abs_diff(r);
        if floats == 0 && is_double {
            self.counted(binary);
            *into = None;
            return true;
        }
        let found = Found { value, exponent, rounded, bits: self.error_bits.of(floats) };
        let is_sum = matches!(binary.op, Op::Add | Op::Sub);
        let certainty = self.lean_certainty(lane, binary, &found);
        if is_sum && certainty.covers(exponent) {
            return false;
        }
        self.lean_inexact(lane, binary, found, certainty, into);
        true
    }

    /// The real result, as MPFR has it.
    #[inline(never)]
    fn lean_long(&mut self, lane: &Lane<'_, Value>, binary: &Binary<'_>) -> Option<Computed> {
        let is_usual = |shadow: Option<&Real>| shadow.is_none_or(|shadow| shadow.value().get_exp().is_some());
        let [first, second] = binary.shadows;
        if !(is_usual(first) && is_usual(second)) || binary.may_round() {
            return None;
        }
        let value = self.long_result(lane, None);
        let exponent = value.get_exp().filter(|exponent| exponent.unsigned_abs() < 1020)?;
        let rounded = value.round(F64) as u64;
        let is_double = rounded == binary.r.to_bits() && value.is_exactly(F64, lane.r);
        Some(Computed { value, exponent, rounded, is_double })
    }

    /// Counts an execution.
    #[inline(always)]
    fn counted(&mut self, binary: &Binary<'_>) -> Id {
        self.executed += 1;
        let id = self.operations.at(binary.site, What::Op(binary.op), (F64, F64));
        let operation = &mut self.operations[id];
        operation.count += 1;
        operation.operands[0].add(binary.x[0]);
        operation.operands[1].add(binary.x[1]);
        id
    }

    /// How sure the real is: see [`Certainty::of_result`].
    #[inline(always)]
    fn lean_certainty(&self, lane: &Lane<'_, Value>, binary: &Binary<'_>, found: &Found) -> Certainty {
        let [first, second] = binary.shadows;
        let noise = |shadow: Option<&Real>| shadow.and_then(|shadow| shadow.certainty.noise());
        let (a, b) = (noise(first), noise(second));
        if a.is_none() & b.is_none() {
            return exact_certainty(lane, found, self.settings.precision);
        }
        let exponent = found.exponent as f32;
        let own = exponent - self.settings.precision as f32;
        let relative = matches!(binary.op, Op::Mul | Op::Div);
        let brought = |noise: Option<f32>, shadow: Option<&Real>| match (noise, shadow) {
            (Some(noise), Some(shadow)) if relative => {
                noise - shadow.value().get_exp().unwrap_or(0) as f32 + exponent
            }
            (noise, _) => noise.unwrap_or(f32::NEG_INFINITY),
        };
        let bound = certainty::sum(certainty::sum(own, brought(a, first)), brought(b, second));
        Certainty::Below(bound.min(certainty::control(own, found.bits, F64)))
    }

    #[inline(always)]
    fn lean_inexact(
        &mut self,
        lane: &Lane<'_, Value>,
        binary: &Binary<'_>,
        found: Found,
        certainty: Certainty,
        into: &mut Option<Real>,
    ) {
        let id = self.counted(binary);
        self.shadowed += 1;
        let [a, b] = binary.x;
        let partials = match binary.op {
            Op::Add => [1.0, 1.0],
            Op::Sub => [1.0, -1.0],
            Op::Mul => [b, a],
            _ => [1.0 / b, -binary.r / b],
        };
        let brought = |index: usize| {
            let largest = binary.shadows[index].map_or(0.0, |shadow| shadow.roundings.largest());
            largest * partials[index].abs()
        };
        let (first, second, own) = (brought(0), brought(1), binary.own.abs());
        let foremost = usize::from(second > first);
        let most = if second > first { second } else { first };
        let gains = match binary.shadows[foremost] {
            Some(shadow) if most > own => {
                let gain = log2(partials[foremost] * binary.x[foremost]) - log2(binary.r);
                shadow.gains.with(id, gain)
            }
            _ => Gains::default(),
        };
        let operand = |index: usize| {
            let roundings = binary.shadows[index].map(|shadow| shadow.roundings);
            (roundings.unwrap_or_default(), partials[index])
        };
        let most = if most > own { most } else { own };
        let own = Part { operation: id, amount: binary.own };
        let roundings = Roundings::combine::<2, 7>(&[operand(0), operand(1)], own, most);
        let influenced = binary.shadows.iter().flatten().any(|shadow| shadow.is_influenced());
        let (fault, influences) =
            if found.bits > self.settings.error_threshold || influenced && found.bits > ONE_ROUNDING {
                self.lean_faulty(lane, binary, partials, &found, id)
            } else {
                (None, Influences::NONE)
            };
        let serial = |index: usize| binary.shadows[index].map_or(0, |shadow| shadow.serial);
        let serials = [serial(0), serial(1)];
        let serial = self.history.push_doubles(id, binary.x, serials, binary.r);
        let operation = &mut self.operations[id];
        operation.error.add(found.bits);
        operation.least_significant = operation.least_significant.min(certainty.bits_of(found.exponent));
        if matches!(binary.op, Op::Add | Op::Sub) {
            let [a, b, r] = [a.abs(), b.abs(), binary.r.abs()];
            operation.absorbed.0 += u64::from((r == a) | (r == b));
            operation.absorbed.1 += 1;
        }
        if fault.is_some() || operation.error.count.is_power_of_two() {
            self.explain_now(id, lane, fault, found.bits);
        }
        let value = found.value;
        *into = Some(Real::with(value, F64, certainty, serial, roundings, gains, influences));
    }

    /// Of a result with more than one rounding's error, or one that depends on faults.
    #[inline(never)]
    fn lean_faulty(
        &mut self,
        lane: &Lane<'_, Value>,
        binary: &Binary<'_>,
        [first, second]: [f64; 2],
        found: &Found,
        id: Id,
    ) -> (Option<Fault>, Influences) {
        let [a, b] = binary.x;
        let linear =
            Linear { x: [a, b, 0.0], r: binary.r, partials: [first, second, 0.0], own: Some(binary.own) };
        let (value, rounded) = (&found.value, found.rounded.into());
        let outcome = Outcome { lane, linear: &linear, value, rounded, bits: found.bits };
        let fault = outcome.fault(&self.reals.mpfr, self.settings.error_threshold);
        let followed = found.bits > ONE_ROUNDING || fault.is_some();
        (fault, if followed { self.influences(id, fault, &linear, lane, value) } else { Influences::NONE })
    }
}

impl Binary<'_> {
    /// Whether the operation may be a rounding in disguise: see [`rounds_to_integer`](super::exact::rounds_to_integer).
    #[inline(always)]
    fn may_round(&self) -> bool {
        let rounds = |index: usize| self.shadows[index].is_none() & (field(self.x[index]) == ROUNDING_FIELD);
        matches!(self.op, Op::Add | Op::Sub) & (rounds(0) | rounds(1))
    }
}

/// The real result, by arithmetic of our own.
#[inline(always)]
fn lean_short(binary: &Binary<'_>, precision: u32) -> Option<Computed> {
    let operand = |index: usize| match binary.shadows[index].map(Real::value) {
        Some(RealNumber::Short(short)) if short.is_ordinary() => Some(*short),
        Some(_) => None,
        None => Some(Short::of_double(binary.x[index])),
    };
    let (a, b) = (operand(0)?, operand(1)?);
    if a.exponent().is_none() || b.exponent().is_none() || binary.may_round() {
        return None;
    }
    let value = match binary.op {
        Op::Mul => Short::product(&a, &b, precision),
        Op::Div => Short::divide(&a, &b, precision),
        op => Short::sum(&a, &b, op == Op::Sub, precision),
    };
    let (exponent, rounded, is_double) = (value.exponent()?, value.double()?, value.is_double());
    Some(Computed { value: RealNumber::Short(value), exponent, rounded, is_double })
}

/// How sure the real is where those of the operands are exact.
#[inline(never)]
fn exact_certainty(lane: &Lane<'_, Value>, found: &Found, precision: u32) -> Certainty {
    let linear = Linear::new(lane);
    Certainty::of_result(lane, &linear, &found.value, precision, found.bits)
}

/// a + b − r: see TABLE 1's row.
#[inline(always)]
fn sum_error(a: f64, b: f64, r: f64) -> f64 {
    let b_seen = r - a;
    let a_seen = r - b_seen;
    (a - a_seen) + (b - b_seen)
}
