//! A real number as it is kept beside a float: short, with arithmetic of our own, or long, as MPFR has it.
//!
//! Which of the two is a matter of speed alone: all results are the same.

use std::borrow::Cow;
use std::cmp::Ordering;

use rug::{Assign, Float};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};
use shadowgrind_core::reals::Reals;
use shadowgrind_core::shadow::Lane;

use super::bigfloat::{self, Kind, Short};
use super::mpfr::Mpfr;
use super::real::Real;
use super::{convert, measure};
use crate::diagnosis::number::Number;

/// Real number as it is kept beside a float.
#[derive(Clone, Debug)]
pub enum RealNumber {
    /// Up to 256 bits.
    Short(Short),
    /// Any number of bits.
    Long(Float),
}

use RealNumber::{Long, Short as Brief};

impl RealNumber {
    /// Exactly the float `bits`.
    pub fn from_bits(format: Format, bits: u128) -> RealNumber {
        Brief(Short::from_bits(format, bits))
    }

    /// The number as MPFR has it.
    pub fn float(&self) -> Cow<'_, Float> {
        match self {
            Brief(short) => Cow::Owned(short.to_float()),
            Long(float) => Cow::Borrowed(float),
        }
    }

    /// e where |x| ∈ [2^(e−1), 2^e); nothing for zero, infinities and NaN.
    #[inline(always)]
    pub(crate) fn get_exp(&self) -> Option<i32> {
        match self {
            Brief(short) => short.exponent(),
            Long(float) => float.get_exp(),
        }
    }

    #[inline(always)]
    pub(crate) fn is_nan(&self) -> bool {
        match self {
            Brief(short) => short.kind() == Kind::Nan,
            Long(float) => float.is_nan(),
        }
    }

    #[inline(always)]
    pub(crate) fn is_infinite(&self) -> bool {
        match self {
            Brief(short) => short.kind() == Kind::Infinite,
            Long(float) => float.is_infinite(),
        }
    }

    /// Tells whether it has a sign, be it that of a zero.
    pub(crate) fn is_negative(&self) -> bool {
        match self {
            Brief(short) => short.is_negative(),
            Long(float) => float.is_sign_negative(),
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Brief(short) => short.kind() == Kind::Zero,
            Long(float) => float.is_zero(),
        }
    }

    /// The float of `format` nearest to it.
    #[inline(always)]
    pub(super) fn round(&self, format: Format) -> u128 {
        match self {
            Brief(short) => short.bits(format),
            Long(float) => convert::round(format, float),
        }
    }

    /// The nearest double, if the number is short and well within their range.
    #[inline(always)]
    pub(crate) fn near_double(&self) -> Option<f64> {
        match self {
            Brief(short) if short.is_near() => short.double().map(f64::from_bits),
            _ => None,
        }
    }

    /// Tells whether it is the float `bits` itself, not merely near it. Both NaN counts.
    pub(crate) fn is_exactly(&self, format: Format, bits: u128) -> bool {
        match self {
            Brief(short) => {
                let float = Short::from_bits(format, bits);
                short.compare(&float) == Some(Ordering::Equal)
                    || short.kind() == Kind::Nan && float.kind() == Kind::Nan
            }
            Long(float) => measure::is_exactly(float, format, bits),
        }
    }

    /// The order of two numbers, unless one is NaN.
    pub(crate) fn compare(&self, other: &RealNumber) -> Option<Ordering> {
        match (self, other) {
            (Brief(a), Brief(b)) => a.compare(b),
            _ => (*self.float()).partial_cmp(&*other.float()),
        }
    }

    /// The [leading](Short::leading) bits, unless it is long and zero, infinite or NaN.
    #[inline(always)]
    pub(crate) fn leading(&self) -> Option<Short> {
        match self {
            Brief(short) => Some(*short),
            Long(float) => Short::leading(float),
        }
    }

    /// Tells whether the nearest float of `format`, `bits`, is nearer than [`ALONE`](bigfloat::ALONE) says.
    #[inline(always)]
    pub(crate) fn clings(&self, format: Format, bits: u128) -> bool {
        match self.leading() {
            Some(short) if short.is_well_within(format) => short.clings(format.precision()),
            // From zero any other number is as far as it is large.
            Some(_) if bits << (129 - format.width()) == 0 => false,
            _ => match (self, Short::from_bits(format, bits)) {
                (Brief(short), float) if short.is_ordinary() & float.is_ordinary() => {
                    let apart = Short::add(short, &float, true, 64);
                    is_near(apart.exponent(), short.exponent(), format)
                }
                _ => clings(&self.float(), format, bits),
            },
        }
    }

    /// The float `bits` less this, to as many bits as are [short](Short) and then to 53.
    #[inline]
    pub(crate) fn taken_from(&self, format: Format, bits: u128) -> f64 {
        match self {
            Brief(short) if short.is_ordinary() => {
                if short.vanishes() && matches!(format, Format::F32 | Format::F64) {
                    // Doubles are four times as far from each other at least.
                    let x = format.to_f64(bits);
                    let nothing = if short.is_negative() { 0.0 } else { -0.0 };
                    return if x == 0.0 { nothing } else { x };
                }
                let float = Short::from_bits(format, bits);
                if float.is_ordinary() {
                    let difference = Short::add(&float, short, true, bigfloat::BITS);
                    return f64::from_bits(difference.bits(Format::F64) as u64);
                }
            }
            _ => {}
        }
        let mut float = Float::new(bigfloat::BITS);
        convert::assign(&mut float, format, bits);
        float -= &*self.float();
        float.to_f64()
    }

    /// The number times ±2^power.
    pub(super) fn scaled(&self, negate: bool, power: i32) -> RealNumber {
        match self {
            Brief(short) => {
                let scaled = short.scaled(power);
                Brief(if negate { scaled.negated() } else { scaled })
            }
            Long(float) => {
                let scaled = float.clone() << power;
                Long(if negate { -scaled } else { scaled })
            }
        }
    }
}

impl Number for RealNumber {
    #[inline(always)]
    fn exponent(&self) -> Option<i32> {
        self.get_exp()
    }

    #[inline(always)]
    fn is_nan(&self) -> bool {
        RealNumber::is_nan(self)
    }

    #[inline(always)]
    fn is_infinite(&self) -> bool {
        RealNumber::is_infinite(self)
    }

    fn is_zero(&self) -> bool {
        RealNumber::is_zero(self)
    }

    fn is_negative(&self) -> bool {
        RealNumber::is_negative(self)
    }

    #[inline(always)]
    fn nearest(&self, format: Format) -> u128 {
        self.round(format)
    }

    fn nearest_off(&self, format: Format, amount: f64) -> u128 {
        let value = self.float();
        convert::round(format, &Float::with_val(value.prec(), &*value + amount))
    }

    fn error_of(&self, format: Format, bits: u128) -> f64 {
        self.taken_from(format, bits)
    }
}

#[inline(never)]
fn clings(real: &Float, format: Format, bits: u128) -> bool {
    let apart = Float::with_val(64, real - convert::from_bits(format, bits));
    is_near(apart.get_exp(), real.get_exp(), format)
}

/// Tells whether a float is as near to a real as [`ALONE`](bigfloat::ALONE) says, by the exponents of their difference and of the
/// real.
fn is_near(apart: Option<i32>, real: Option<i32>, format: Format) -> bool {
    match (apart, real) {
        (Some(apart), Some(exponent)) => apart <= exponent - format.precision() as i32 - bigfloat::ALONE,
        (apart, _) => apart.is_none(),
    }
}

/// The logarithm of how far a function is off the result `value` if its operand `index` is off by 2^bound.
pub(super) fn perturbed(
    reals: &Mpfr,
    lane: &Lane<'_, Real>,
    (index, bound): (usize, f32),
    value: &RealNumber,
) -> f32 {
    if !bound.is_finite() {
        return bound;
    }
    let real = |(shadow, &bits): (&Option<&Real>, &u128)| match shadow {
        Some(shadow) => Float::with_val(reals.precision, &*shadow.value().float()),
        None => convert::from_bits(lane.from, bits),
    };
    let x: Vec<Float> = lane.shadows.iter().zip(lane.x).map(real).collect();
    let step = Float::with_val(64, 1) << bound.ceil() as i32;
    let off = |step: &Float| {
        let mut x = x.clone();
        // Half a unit in its last place is not to be rounded off.
        x[index] = Float::with_val(2 * reals.precision, &x[index] + step);
        let off = Float::with_val(64, lane.op.real(reals, &x.iter().collect::<Vec<_>>()) - &*value.float());
        match off.get_exp() {
            Some(exponent) => exponent as f32,
            None if off.is_zero() => f32::NEG_INFINITY,
            None => f32::INFINITY,
        }
    };
    off(&step).max(off(&-step.clone()))
}

/// Arithmetic on numbers.
#[derive(Clone, Debug)]
pub(crate) struct Arithmetic {
    pub(crate) mpfr: Mpfr,
    /// True if numbers are short.
    short: bool,
}

impl Arithmetic {
    /// To `precision` bits; by MPFR alone if not `fast`.
    pub(super) fn new(precision: u32, fast: bool) -> Arithmetic {
        Arithmetic { mpfr: Mpfr::new(precision), short: fast && precision <= bigfloat::BITS }
    }

    /// Bits of results, if they are short.
    #[inline(always)]
    pub(crate) fn short_precision(&self) -> Option<u32> {
        self.short.then_some(self.mpfr.precision)
    }

    /// Zero, in the form that results have.
    pub(super) fn zero(&self) -> RealNumber {
        if self.short { Brief(Short::zero(false)) } else { Long(Float::new(self.mpfr.precision)) }
    }

    /// A place for operands without a shadow.
    pub(super) fn place(&self) -> RealNumber {
        if self.short { Brief(Short::zero(false)) } else { Long(Float::new(64)) }
    }

    /// Makes a place exactly the float `bits`.
    pub(crate) fn assign(&self, place: &mut RealNumber, format: Format, bits: u128) {
        match place {
            Brief(short) => *short = Short::from_bits(format, bits),
            Long(float) => convert::assign(float, format, bits),
        }
    }

    /// A result of MPFR.
    pub(super) fn of_float(&self, float: Float) -> RealNumber {
        if self.short { Brief(Short::from_float(&float)) } else { Long(float) }
    }

    /// Result of an operation in the reals, by MPFR.
    pub(super) fn long_result(&self, op: Op, x: &[&RealNumber]) -> RealNumber {
        let last = x.len() - 1;
        let long = |index: usize| match x[index.min(last)] {
            Long(float) => Some(float),
            Brief(_) => None,
        };
        if let (Some(a), Some(b), Some(c)) = (long(0), long(1), long(2)) {
            return self.of_float(op.real(&self.mpfr, &[a, b, c][..=last]));
        }
        let floats: [Cow<'_, Float>; MAX_OPERANDS] = std::array::from_fn(|index| x[index.min(last)].float());
        let operands: [&Float; MAX_OPERANDS] = std::array::from_fn(|index| &*floats[index]);
        self.of_float(op.real(&self.mpfr, &operands[..=last]))
    }

    /// The sum, difference, product or quotient of long numbers, or the root of the first, its digits where those of
    /// `place` are, if that is long too. The same as [`Arithmetic::long_result`].
    pub(crate) fn long_binary(
        &self,
        op: Op,
        x: [&RealNumber; 2],
        place: Option<RealNumber>,
    ) -> Option<RealNumber> {
        let [Long(a), Long(b)] = x else { return None };
        let precision = self.mpfr.precision;
        let mut result = match place {
            Some(Long(float)) if float.prec() == precision => float,
            _ => Float::new(precision),
        };
        match op {
            Op::Add => result.assign(a + b),
            Op::Sub => result.assign(a - b),
            Op::Mul => result.assign(a * b),
            Op::Div => result.assign(a / b),
            Op::Sqrt if !a.is_sign_negative() => result.assign(a.sqrt_ref()),
            _ => return None,
        }
        Some(Long(result))
    }

    /// Result of one of the commonest operations on short numbers, where those are ordinary.
    #[inline]
    pub(super) fn short_result(&self, lane: &Lane<'_, Real>) -> Option<Short> {
        if !self.short {
            return None;
        }
        match lane.op {
            Op::Add | Op::Sub | Op::Mul | Op::Div => {}
            Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub => return self.short_fused(lane),
            Op::Neg | Op::Abs => {
                let a = operand(lane, 0)?;
                return Some(if lane.op == Op::Neg { a.negated() } else { a.magnitude() });
            }
            Op::Sqrt => {
                let a = operand(lane, 0)?;
                return (a.kind() == Kind::Zero || !a.is_negative()).then(|| a.root(self.mpfr.precision));
            }
            _ => return None,
        }
        let (a, b) = (operand(lane, 0)?, operand(lane, 1)?);
        let p = self.mpfr.precision;
        Some(match lane.op {
            Op::Add | Op::Sub => Short::add(&a, &b, lane.op == Op::Sub, p),
            Op::Mul => Short::multiply(&a, &b, p),
            _ if b.kind() != Kind::Zero => Short::divide(&a, &b, p),
            _ => return None,
        })
    }

    /// Result of a fused operation on short numbers.
    #[inline]
    fn short_fused(&self, lane: &Lane<'_, Real>) -> Option<Short> {
        let (a, b, c) = (operand(lane, 0)?, operand(lane, 1)?, operand(lane, 2)?);
        let (sum, is_exact) = bigfloat::fused_result(lane.op, [&a, &b, &c], self.mpfr.precision)?;
        if !is_exact {
            self.mpfr.rounded.set(true);
        }
        Some(sum)
    }

    /// The integer that the guest's rounding mode makes of `x`.
    pub(super) fn rounded_to_integer(&self, x: &RealNumber) -> RealNumber {
        self.of_float(self.mpfr.round(&x.float(), shadowgrind_core::rounding::Rounding::Current))
    }
}

/// Operand `index` of `lane`, if it is short and ordinary.
#[inline(always)]
fn operand(lane: &Lane<'_, Real>, index: usize) -> Option<Short> {
    let short = match lane.shadows[index].map(Real::value) {
        Some(Brief(short)) => *short,
        Some(Long(_)) => return None,
        None => Short::from_bits(lane.from, lane.x[index]),
    };
    short.is_ordinary().then_some(short)
}
