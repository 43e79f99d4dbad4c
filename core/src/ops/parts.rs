//! Rounding errors of operations on numbers of more digits than arithmetic has: long doubles, as sums of two doubles.
//!
//! A long double is the sum of a double, which has the first 53 bits of its significand, and of one that has the other 11. All
//! products and differences of these that an error is made of are doubles but for the last few of 105 bits, counted from
//! the largest term on. So an exact result of exact operands has an error of none, which is what matters most: what rounds is a multiple
//! of the last bit of an operand, and of no more than 53 bits.
//!
//! Knows the formulas, over [`Arith`], and the numbers that they hold for; not what is made of an error.

use super::Op;
use super::rules::{difference_error, error_of_root, quotient_by, sum_error};
use crate::arith::Arith;
use crate::format::Format;

/// A number as the sum of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts<V> {
    /// The first bits.
    pub high: V,
    /// The others, with the same sign.
    pub low: V,
}

/// Bits of a long double's significand in the second part.
const LOW: u128 = (1 << 11) - 1;
/// Exponents, of 2, of the numbers that are told in parts: products of two, and what these are rounded by, are normal doubles.
pub const PARTED: std::ops::Range<i32> = -384..384;

impl Parts<f64> {
    /// The float of ten bytes `bits`; nothing for those that are not normal, or beyond [`PARTED`], but for zeros.
    pub fn of(bits: u128) -> Option<Parts<f64>> {
        const BIAS: i32 = 16383;
        let (significand, end) = (bits & u128::from(u64::MAX), (bits >> 64) as i32);
        let exponent = (end & 0x7fff) - BIAS;
        let sign = if end & 0x8000 != 0 { -1.0 } else { 1.0 };
        if significand == 0 {
            return (end & 0x7fff == 0).then_some(Parts { high: 0.0 * sign, low: 0.0 * sign });
        }
        let is_told = significand >> 63 == 1 && PARTED.contains(&exponent);
        let scaled = |part: u128| sign * libm::ldexp(part as f64, exponent - 63);
        is_told.then(|| Parts { high: scaled(significand & !LOW), low: scaled(significand & LOW) })
    }

    /// The float of this format, if it is one that is told in parts.
    pub fn of_format(format: Format, bits: u128) -> Option<Parts<f64>> {
        Parts::of(format.convert(bits, Format::F80))
    }
}

/// Operands, result and the operands' errors of an operation on numbers in parts.
#[derive(Clone, Copy, Debug)]
pub struct InParts<'a, V> {
    /// The operands.
    pub x: &'a [Parts<V>],
    /// The result.
    pub r: Parts<V>,
    /// Error of each operand: the real less the float.
    pub errors: &'a [V],
}

impl Op {
    /// The real result at operands + errors, less the result; nothing for other rows than those of which it takes arithmetic. Good to
    /// the precision of `k` but for 2^-104 of the largest term, and none if there is none.
    pub fn error_in_parts<K: Arith>(self, k: &K, given: InParts<'_, K::V>) -> Option<K::V> {
        let InParts { x, r, errors: e } = given;
        Some(match (self, x) {
            (Op::Add, &[a, b]) => {
                let sum = k.add(a.high, b.high);
                let lost = sum_error(k, a.high, b.high, sum);
                let lows = k.sub(k.add(a.low, b.low), r.low);
                k.add(k.add(k.add(k.sub(sum, r.high), lows), lost), k.add(e[0], e[1]))
            }
            (Op::Sub, &[a, b]) => {
                let difference = k.sub(a.high, b.high);
                let lost = difference_error(k, a.high, b.high, difference);
                let lows = k.sub(k.sub(a.low, b.low), r.low);
                k.add(k.add(k.add(k.sub(difference, r.high), lows), lost), k.sub(e[0], e[1]))
            }
            (Op::Mul, &[a, b]) => {
                let local = product_less(k, a, b, r);
                k.fma(k.add(a.high, e[0]), e[1], k.fma(b.high, e[0], local))
            }
            (Op::Div, &[a, b]) => {
                let rest = k.neg(product_less(k, r, b, a));
                quotient_by(k, [rest, k.fnma(r.high, e[1], e[0])], b.high, e[1])
            }
            (Op::Sqrt, &[a]) => {
                let rest = k.neg(product_less(k, r, r, a));
                error_of_root(k, rest, [a.high, e[0]], r.high)
            }
            (Op::Narrow, &[a]) => k.add(k.add(k.sub(a.high, r.high), a.low), e[0]),
            _ => return None,
        })
    }
}

/// a · b − c for a c that is close.
fn product_less<K: Arith>(k: &K, a: Parts<K::V>, b: Parts<K::V>, c: Parts<K::V>) -> K::V {
    let product = k.mul(a.high, b.high);
    let lost = k.fma(a.high, b.high, k.neg(product));
    let across = k.fma(a.high, b.low, k.mul(a.low, b.high));
    let lows = k.fma(a.low, b.low, k.sub(across, c.low));
    k.add(k.add(k.sub(product, c.high), lost), lows)
}
