//! Reals beyond the exponents that MPFR has, as e^(10¹¹) and what one divided by it is: of these the sign is known, and that they are
//! at least as large, or at most as large, as the number that stands for them.
//!
//! They are not infinite, nor zero: 1/e^(10¹¹) > 0.

use rug::Float;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Lane;

use super::error_bound::ErrorBound;
use super::execution::RealExecution;
use super::number::RealNumber;
use super::real::Real;

/// The exponent, either way, of a number that stands for those beyond: it can be multiplied a little before it is at MPFR's ends.
const END: i32 = (1 << 30) - (1 << 20);
/// Exponent, either way, of what is still taken for beyond when it was made of such a number.
const STILL: i32 = 1 << 29;

/// Side of the range on which a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Huge,
    Tiny,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Huge => Side::Tiny,
            Side::Tiny => Side::Huge,
        }
    }

    /// Side of a number with this exponent, if it is as far out.
    fn of(exponent: i32) -> Option<Side> {
        let side = if exponent > 0 { Side::Huge } else { Side::Tiny };
        (exponent.abs() >= STILL).then_some(side)
    }
}

/// The number that stands for the result of an operation on `x` if MPFR, which made `value` of it and rounded that or not, cannot
/// hold it.
pub(crate) fn standing_for(op: Op, x: &[&Float], value: &Float, is_rounded: bool) -> Option<Float> {
    let leaves = value.is_infinite() || value.is_zero() && is_rounded;
    if !leaves || !x.iter().all(|x| x.is_finite()) || !may_leave(op, x) {
        return None;
    }
    let end = Float::with_val(value.prec(), 1) << if value.is_infinite() { END } else { -END };
    Some(if value.is_sign_negative() { -end } else { end })
}

/// Tells whether an operation on these numbers has a result that is finite and not zero, if MPFR says that it is infinite or rounds
/// it to zero.
fn may_leave(op: Op, x: &[&Float]) -> bool {
    use Op::{Cosh, Erfc, Exp, Exp2, Exp2m1, Exp10, Expm1, Hypot, Ldexp, Mul, Sinh};
    match op {
        Exp | Exp2 | Exp10 | Expm1 | Exp2m1 | Sinh | Cosh | Erfc | Hypot | Ldexp | Mul => true,
        Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub => true,
        Op::Rcp | Op::Rsqrt | Op::Pow => !x[0].is_zero(),
        Op::Div => !x[1].is_zero(),
        Op::Tgamma => !x[0].is_zero() && (x[0].is_sign_positive() || !x[0].is_integer()),
        _ => false,
    }
}

/// The sign that says on which side of the number that stands for it a real is, if it is beyond the range.
pub(super) fn side_text(real: &Real) -> Option<&'static str> {
    let side = real.value().get_exp().filter(|_| real.error_bound.is_beyond()).and_then(Side::of)?;
    Some(if (side == Side::Huge) == real.value().is_negative() { "<" } else { ">" })
}

impl RealExecution {
    /// The number that stands for the result of an operation, and what is known of that, if it is beyond the range; `value` is what
    /// MPFR makes of it.
    pub(super) fn beyond(
        &self,
        lane: &Lane<'_, Real>,
        value: &RealNumber,
    ) -> Option<(RealNumber, ErrorBound)> {
        if let Some(exponent) = value.get_exp() {
            let is_any = lane.shadows.iter().flatten().any(|shadow| shadow.error_bound.is_beyond());
            let side = Side::of(exponent).filter(|&side| is_any && remains(lane) == Some(side))?;
            return Some((value.clone(), bound(side)));
        }
        if value.is_nan() {
            return None;
        }
        let operands: Vec<Float> = lane
            .shadows
            .iter()
            .zip(lane.x)
            .map(|(shadow, &bits)| match shadow {
                Some(shadow) => shadow.value().float().into_owned(),
                None => super::convert::from_bits(lane.from, bits),
            })
            .collect();
        let operands: Vec<&Float> = operands.iter().collect();
        let end = standing_for(lane.op, &operands, &value.float(), self.arithmetic.mpfr.rounded.get())?;
        let side = if value.is_infinite() { Side::Huge } else { Side::Tiny };
        Some((self.arithmetic.of_float(end), bound(side)))
    }
}

fn bound(side: Side) -> ErrorBound {
    ErrorBound::Beyond(match side {
        Side::Huge => f32::INFINITY,
        Side::Tiny => (1 - STILL) as f32,
    })
}

/// Side of the range on which the result of an operation is for sure, as an operand is beyond it.
fn remains(lane: &Lane<'_, Real>) -> Option<Side> {
    let side = |index: usize| {
        let shadow = lane.shadows[index].filter(|shadow| shadow.error_bound.is_beyond())?;
        shadow.value().get_exp().and_then(Side::of)
    };
    let either = |a: Option<Side>, b: Option<Side>| match (a, b) {
        (Some(a), Some(b)) => Some(a).filter(|_| a == b),
        _ => a.or(b),
    };
    match lane.op {
        Op::Neg | Op::Abs | Op::Narrow | Op::Widen | Op::CopySign | Op::Sqrt => side(0),
        Op::Rcp | Op::Rsqrt => side(0).map(Side::other),
        Op::Mul => either(side(0), side(1)),
        Op::Div => either(side(0), side(1).map(Side::other)),
        // Of two that are huge nothing is known but by their signs, and tiny ones are just what a sum may be off by.
        Op::Add | Op::Sub => match (side(0), side(1)) {
            (Some(Side::Huge), None | Some(Side::Tiny)) | (None | Some(Side::Tiny), Some(Side::Huge)) => {
                Some(Side::Huge)
            }
            _ => None,
        },
        _ => None,
    }
}
