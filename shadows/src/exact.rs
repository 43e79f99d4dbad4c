//! Conditions under which TABLE 1's residuals tell what an operation rounds off, without asking MPFR.

use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Lane;
use shadowgrind_core::step::Sums;

/// The arithmetic that residuals of `lane` are computed in: what a narrowing takes away is a number of the wider
/// format.
#[inline(always)]
pub(crate) fn residual_host<V>(lane: &Lane<'_, V>) -> Host {
    Host::new(if lane.op == Op::Narrow { lane.from } else { lane.to })
}

/// Tells whether residuals of operands `x` and result `r` are to be had: in the two narrower formats, where nothing
/// comes near the ends of the range.
#[inline(always)]
pub(crate) fn residuals_hold(from: Format, to: Format, x: &[f64], r: f64) -> bool {
    let bound = match (from, to) {
        (Format::F16 | Format::F80, _) | (_, Format::F16 | Format::F80) => return false,
        // An f32 residual may be 2⁴⁸ times smaller than the result, a product twice as far out as its factors.
        (Format::F32, _) | (_, Format::F32) => 60,
        (Format::F64, Format::F64) => 480,
    };
    x.iter().chain([&r]).all(|&x| is_moderate(x, bound))
}

/// Zero, or 2^±bound at most.
#[inline(always)]
fn is_moderate(x: f64, bound: u64) -> bool {
    let exponent = x.to_bits() >> 52 & 0x7ff;
    exponent.abs_diff(1023) <= bound || x == 0.0
}

/// The operand that a sum rounds to an integer: the other is a number so large, and so often used for just that, that
/// the sum is meant as a rounding (1.5·2^(p−1) or 2^(p−1) for a format of p bits, and a much smaller operand). A number
/// that was computed may be as large by chance: `sums` says where the code around a sum tells that it is no more than that.
#[inline(always)]
pub(crate) fn rounds_to_integer<V>(lane: &Lane<'_, V>, sums: Sums) -> Option<usize> {
    if !matches!(lane.op, Op::Add | Op::Sub) || lane.from == Format::F80 || sums == Sums::Plain {
        return None;
    }
    let unit = 2f64.powi(lane.from.precision() as i32 - 1);
    let is_magic = |index: usize| {
        let x = to_f64(lane.from, lane.x[index]).abs();
        lane.shadows[index].is_none() && (x == unit || x == 1.5 * unit)
    };
    let is_small = |index: usize| to_f64(lane.from, lane.x[index]).abs() < unit / 2.0;
    [(0, 1), (1, 0)].into_iter().find(|&(x, magic)| is_magic(magic) && is_small(x)).map(|(x, _)| x)
}

/// The operand that an operation leaves as it is: what zero is added to, or taken from.
#[inline(always)]
pub(crate) fn left_alone<V>(lane: &Lane<'_, V>) -> Option<usize> {
    let (&[a, b], &[first, second]) = (lane.x, lane.shadows) else { return None };
    let magnitude = u128::MAX >> (129 - lane.from.width());
    let is_zero = |bits| bits & magnitude == 0;
    match lane.op {
        Op::Add | Op::Sub if second.is_none() && is_zero(b) && lane.r == a => Some(0),
        Op::Add if first.is_none() && is_zero(a) && lane.r == b => Some(1),
        _ => None,
    }
}

/// A float as an `f64`; exactly, for the two narrower formats.
#[inline(always)]
pub(crate) fn to_f64(format: Format, bits: u128) -> f64 {
    match format {
        Format::F32 => f64::from(f32::from_bits(bits as u32)),
        Format::F64 => f64::from_bits(bits as u64),
        Format::F16 | Format::F80 => format.to_f64(bits),
    }
}
