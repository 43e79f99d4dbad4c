//! Numbers of this arithmetic as MPFR has them.

use rug::integer::Order;
use rug::{Assign, Float, Integer};

use super::{BITS, Kind, Short, WORDS};

impl Short {
    /// The number `real`, of 256 bits at most.
    pub fn from_float(real: &Float) -> Short {
        if let Some(leading) = Short::leading(real) {
            return leading;
        }
        let negative = real.is_sign_negative();
        match real.is_zero() {
            true => Short::zero(negative),
            false if real.is_nan() => Short::special(Kind::Nan, false),
            false => Short::special(Kind::Infinite, negative),
        }
    }

    /// The leading 256 bits of `real`, the last of them set if any below is: what is asked of fewer bits than that, and
    /// whether there are any more, has the same answer. Nothing of zero, infinities and NaN.
    #[inline]
    pub(in crate::reals) fn leading(real: &Float) -> Option<Short> {
        let significand = real.get_significand()?;
        let limbs = significand.as_limbs();
        let (below, leading) = limbs.split_at(limbs.len().saturating_sub(WORDS));
        let mut words = [0; WORDS];
        words[WORDS - leading.len()..].copy_from_slice(leading);
        words[0] |= u64::from(below.iter().fold(0, |any, limb| any | limb) != 0);
        let (exponent, negative) = (real.get_exp()?, real.is_sign_negative());
        Some(Short { words, exponent, kind: Kind::Finite, negative })
    }

    /// The number as MPFR has it.
    pub fn to_float(self) -> Float {
        let mut real = Float::new(BITS);
        match self.kind {
            Kind::Nan => real.assign(rug::float::Special::Nan),
            Kind::Infinite => real.assign(rug::float::Special::Infinity),
            Kind::Zero => {}
            Kind::Finite => {
                real.assign(Integer::from_digits(&self.words, Order::Lsf));
                real <<= self.exponent - BITS as i32;
            }
        }
        if self.negative { -real } else { real }
    }
}
