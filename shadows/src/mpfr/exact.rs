//! Whether an operation on plain floats rounds, without asking MPFR.

use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{Op, Residual};
use shadowgrind_core::shadow::Lane;

/// Whether the result is exactly the operation on the operands' floats, by TABLE 1's residual. `None` where that does
/// not tell: 80-bit lanes, library functions, numbers near the ends of the range.
pub fn is_exact<V>(lane: &Lane<'_, V>) -> Option<bool> {
    let (x, r) = plain(lane)?;
    // What a narrowing takes away is a number of the wider format.
    let host = Host::new(if lane.op == Op::Narrow { lane.from } else { lane.to });
    match lane.op.residual(&host, &x[..lane.x.len()], r) {
        Residual::Never => Some(true),
        Residual::Exact(lost) | Residual::Rounded(lost) => Some(lost == 0.0),
        Residual::Unknown => None,
    }
}

/// Operands and result as `f64`, if residuals hold for them.
fn plain<V>(lane: &Lane<'_, V>) -> Option<([f64; 3], f64)> {
    let bound = match (lane.from, lane.to) {
        (Format::F80, _) | (_, Format::F80) => return None,
        (Format::F32, _) | (_, Format::F32) => 60,
        _ => 480,
    };
    let mut x = [0.0; 3];
    for (x, &bits) in x.iter_mut().zip(lane.x) {
        *x = to_f64(lane.from, bits);
    }
    let r = to_f64(lane.to, lane.r);
    (x.iter().chain([&r]).all(|&x| is_moderate(x, bound))).then_some((x, r))
}

/// Zero, or 2^±bound at most.
fn is_moderate(x: f64, bound: u64) -> bool {
    let exponent = x.to_bits() >> 52 & 0x7ff;
    exponent.abs_diff(1023) <= bound || x == 0.0
}

/// A float of one of the two narrower formats as it is.
pub(super) fn to_f64(format: Format, bits: u128) -> f64 {
    match format {
        Format::F32 => f64::from(f32::from_bits(bits as u32)),
        Format::F64 => f64::from_bits(bits as u64),
        Format::F80 => format.to_f64(bits),
    }
}
