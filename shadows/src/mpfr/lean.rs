//! The commonest operations, `+ − × ÷` on doubles of moderate size, in as few steps as they need.
//!
//! What comes of them is what [`execute`](super::execute) makes of any operation, to the last bit: that is the slow
//! twin of what is here, and tests compare the two. Whatever is out of the ordinary is left to it.

mod faults;

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Lane;
use shadowgrind_core::site::Site;

use super::blame::{Gains, Part, Roundings};
use super::certainty::{self, Certainty};
use super::digits::Short;
use super::linear::{Linear, exponent, log2};
use super::number::RealNumber;
use super::operations::{Id, What};
use super::real::Real;
use super::{MpfrShadow, Value};

const F64: Format = Format::F64;
/// Exponents are moderate up to this, either way: no residual under- or overflows.
const MODERATE: u64 = 480;
/// The exponent field of 2^52, the larger addend of sums that are meant as roundings.
const ROUNDING_FIELD: u64 = 1023 + 52;

/// What stands for an operand without a shadow, but for its value.
static NOTHING: Real = Real::NOTHING;

/// An operation on doubles.
struct Binary<'a> {
    site: Site,
    op: Op,
    x: [f64; 2],
    r: f64,
    shadows: [Option<&'a Real>; 2],
    /// The shadows, or what stands for them.
    reals: [&'a Real; 2],
    /// What the operation's own rounding adds to the error.
    own: f64,
}

/// A result in the reals, well within the range of doubles.
struct Found {
    exponent: i32,
    /// The value as a double, and whether it is just that.
    rounded: u64,
    is_double: bool,
    /// Exponents of the operands.
    exponents: [i32; 2],
}

fn field(x: f64) -> u64 {
    x.to_bits() >> 52 & 0x7ff
}

#[inline(always)]
fn is_moderate(x: f64) -> bool {
    field(x).wrapping_sub(1023 - MODERATE) <= 2 * MODERATE
}

impl MpfrShadow {
    /// Does what an operation on doubles usually takes, and says what its shadow is. False if it is out of the
    /// ordinary: then nothing was done.
    #[inline(always)]
    pub(super) fn lean(
        &mut self,
        (site, op): (Site, Op),
        [a, b]: [f64; 2],
        r: f64,
        shadows: [Option<&Real>; 2],
        into: &mut Option<Real>,
    ) -> bool {
        let all_moderate = is_moderate(a) & is_moderate(b) & is_moderate(r);
        if !all_moderate {
            return false;
        }
        let own = match op {
            Op::Add => -sum_error(a, b, r),
            Op::Sub => -sum_error(a, -b, r),
            Op::Mul => -a.mul_add(b, -r),
            _ => -((-r).mul_add(b, a) / b),
        };
        if own == 0.0 && shadows[0].is_none() && shadows[1].is_none() {
            self.lean_exact((site, op), [a, b], r);
            *into = None;
            return true;
        }
        let reals = shadows.map(|shadow| shadow.unwrap_or(&NOTHING));
        let binary = Binary { site, op, x: [a, b], r, shadows, reals, own };
        if binary.may_round() {
            return false;
        }
        match self.reals.short_precision() {
            Some(precision) => self.lean_short(&binary, precision, into),
            None => {
                let Some((value, found)) = self.long_found(&binary, into) else { return false };
                self.lean_real(&binary, value, &found, into)
            }
        }
    }

    /// An exact operation on floats without shadows.
    #[inline(always)]
    fn lean_exact(&mut self, (site, op): (Site, Op), x: [f64; 2], r: f64) {
        let id = self.counted((site, op), x);
        self.history.push_exact_doubles(id, x, r);
    }

    /// By arithmetic of our own.
    #[inline(always)]
    fn lean_short(&mut self, binary: &Binary<'_>, precision: u32, into: &mut Option<Real>) -> bool {
        let (first, second);
        let a = match binary.shadows[0].map(Real::value) {
            Some(RealNumber::Short(short)) => short,
            Some(RealNumber::Long(_)) => return false,
            None => {
                first = Short::of_double(binary.x[0]);
                &first
            }
        };
        let b = match binary.shadows[1].map(Real::value) {
            Some(RealNumber::Short(short)) => short,
            Some(RealNumber::Long(_)) => return false,
            None => {
                second = Short::of_double(binary.x[1]);
                &second
            }
        };
        if !(a.is_near() & b.is_near()) {
            return false;
        }
        let value = match binary.op {
            Op::Mul => Short::product(a, b, precision),
            Op::Div => Short::divide(a, b, precision),
            op => Short::sum(a, b, op == Op::Sub, precision),
        };
        let (Some(exponent), Some(rounded)) = (value.exponent(), value.double()) else { return false };
        let exponents = [a.scale(), b.scale()];
        let found = Found { exponent, rounded, is_double: value.is_double(), exponents };
        self.lean_real(binary, RealNumber::Short(value), &found, into)
    }

    /// The real result by MPFR, which takes so long that it is called rather than inlined. Its digits are put where
    /// those of what is in `into` are.
    #[inline(never)]
    fn long_found(&mut self, binary: &Binary<'_>, into: &mut Option<Real>) -> Option<(RealNumber, Found)> {
        let exponent = |n: usize| match binary.shadows[n] {
            Some(shadow) => shadow.value().get_exp(),
            None => Some(exponent(binary.x[n]) + 1),
        };
        let exponents = [exponent(0)?, exponent(1)?];
        for (n, shadow) in binary.shadows.iter().enumerate() {
            if shadow.is_none() {
                self.reals.assign(&mut self.scratch[n], F64, binary.x[n].to_bits().into());
            }
        }
        let operand = |n: usize| binary.shadows[n].map_or(&self.scratch[n], Real::value);
        let place = into.take().map(Real::into_value);
        let value = self.reals.long_binary(binary.op, [operand(0), operand(1)], place)?;
        let exponent = value.get_exp().filter(|exponent| exponent.unsigned_abs() < 1020)?;
        let rounded = value.round(F64) as u64;
        let is_double = rounded == binary.r.to_bits() && value.is_exactly(F64, binary.r.to_bits().into());
        Some((value, Found { exponent, rounded, is_double, exponents }))
    }

    #[inline(always)]
    fn lean_real(
        &mut self,
        binary: &Binary<'_>,
        value: RealNumber,
        found: &Found,
        into: &mut Option<Real>,
    ) -> bool {
        let r = binary.r.to_bits();
        if (found.rounded ^ r) >> 63 != 0 {
            return false;
        }
        let floats = found.rounded.abs_diff(r);
        if floats == 0 && found.is_double {
            self.counted((binary.site, binary.op), binary.x);
            *into = None;
            return true;
        }
        let bits = self.error_bits.of(floats);
        let precision = self.settings.precision;
        let noises = binary.reals.map(Real::noise);
        let any_noise = (noises[0] != f32::NEG_INFINITY) | (noises[1] != f32::NEG_INFINITY);
        let vouched = any_noise & certainty::is_vouched_for(precision, bits);
        let certainty = if vouched {
            Certainty::Below(certainty::control(found.exponent as f32 - precision as f32, bits, F64))
        } else {
            let certainty = self.lean_certainty(binary, &value, found, bits);
            if binary.is_sum() && certainty.covers(found.exponent) {
                return false;
            }
            certainty
        };
        let id = self.counted((binary.site, binary.op), binary.x);
        self.shadowed += 1;
        let partials = binary.partials();
        let (roundings, gains) = binary.roundings(id, partials);
        let (fault, influences) = self.lean_influences(binary, partials, &value, found, bits, id);
        let serials = [binary.reals[0].serial, binary.reals[1].serial];
        let serial = self.history.push_doubles(id, binary.x, serials, binary.r);
        let operation = &mut self.operations[id];
        operation.error.add(bits);
        if !vouched {
            operation.least_significant = operation.least_significant.min(certainty.bits_of(found.exponent));
        }
        if binary.is_sum() {
            let [a, b, r] = [binary.x[0].abs(), binary.x[1].abs(), binary.r.abs()];
            operation.absorbed.0 += u64::from((r == a) | (r == b));
            operation.absorbed.1 += 1;
        }
        if fault.is_some() | operation.error.count.is_power_of_two() {
            binary.with_lane(|lane| self.explain_now(id, lane, fault, bits));
        }
        *into = Some(Real::with(value, F64, certainty, serial, roundings, gains, influences));
        true
    }

    /// Counts an execution.
    #[inline(always)]
    fn counted(&mut self, (site, op): (Site, Op), [a, b]: [f64; 2]) -> Id {
        self.executed += 1;
        let id = self.operations.at(site, What::Op(op), (F64, F64));
        let operation = &mut self.operations[id];
        operation.count += 1;
        operation.operands[0].add(a);
        operation.operands[1].add(b);
        id
    }

    /// How sure the real is: see [`Certainty::of_result`].
    #[inline(never)]
    fn lean_certainty(&self, binary: &Binary<'_>, value: &RealNumber, found: &Found, bits: f64) -> Certainty {
        let precision = self.settings.precision;
        let (a, b) = (binary.reals[0].noise(), binary.reals[1].noise());
        if (a == f32::NEG_INFINITY) & (b == f32::NEG_INFINITY) {
            return binary.with_lane(|lane| {
                let linear = Linear::new(lane);
                Certainty::of_result(lane, &linear, value, precision, bits)
            });
        }
        let exponent = found.exponent as f32;
        let own = exponent - precision as f32;
        let relative = matches!(binary.op, Op::Mul | Op::Div);
        let [first, second] =
            found.exponents.map(|before| if relative { exponent - before as f32 } else { 0.0 });
        let bound = certainty::sum(certainty::sum(own, a + first), b + second);
        Certainty::Below(bound.min(certainty::control(own, bits, F64)))
    }
}

impl Binary<'_> {
    #[inline(always)]
    fn is_sum(&self) -> bool {
        matches!(self.op, Op::Add | Op::Sub)
    }

    /// Whether the operation may be a rounding in disguise: see [`rounds_to_integer`](super::exact::rounds_to_integer).
    #[inline(always)]
    fn may_round(&self) -> bool {
        let rounds = |index: usize| self.shadows[index].is_none() & (field(self.x[index]) == ROUNDING_FIELD);
        self.is_sum() & (rounds(0) | rounds(1))
    }

    /// As any operation is described.
    #[inline(always)]
    fn with_lane<T>(&self, then: impl FnOnce(&Lane<'_, Value>) -> T) -> T {
        let x = self.x.map(|x| x.to_bits().into());
        let r = self.r.to_bits().into();
        then(&Lane { site: self.site, op: self.op, from: F64, to: F64, x: &x, r, shadows: &self.shadows })
    }

    #[inline(always)]
    fn partials(&self) -> [f64; 2] {
        let [a, b] = self.x;
        match self.op {
            Op::Add => [1.0, 1.0],
            Op::Sub => [1.0, -1.0],
            Op::Mul => [b, a],
            _ => [1.0 / b, -self.r / b],
        }
    }

    /// Whose roundings the result carries, and where the largest of them grew.
    #[inline(always)]
    fn roundings(&self, id: Id, partials: [f64; 2]) -> (Roundings, Gains) {
        let brought = |index: usize| self.reals[index].roundings.largest() * partials[index].abs();
        let (first, second, own) = (brought(0), brought(1), self.own.abs());
        let (foremost, most) = if second > first { (1, second) } else { (0, first) };
        let gains = match most > own {
            true if self.is_sum() => {
                let gain = log2(partials[foremost] * self.x[foremost]) - log2(self.r);
                self.reals[foremost].gains.with(id, gain)
            }
            true => self.reals[foremost].gains,
            false => Gains::NONE,
        };
        let most = if most > own { most } else { own };
        let own = Part { operation: id, amount: self.own };
        let operand = |index: usize| (&self.reals[index].roundings, partials[index]);
        let roundings = match self.shadows {
            [Some(_), Some(_)] => Roundings::combine([operand(0), operand(1)], own, most),
            [None, Some(_)] => Roundings::combine([operand(1)], own, most),
            _ => Roundings::combine([operand(0)], own, most),
        };
        (roundings, gains)
    }
}

/// a + b − r: see TABLE 1's row.
#[inline(always)]
fn sum_error(a: f64, b: f64, r: f64) -> f64 {
    let b_seen = r - a;
    let a_seen = r - b_seen;
    (a - a_seen) + (b - b_seen)
}
