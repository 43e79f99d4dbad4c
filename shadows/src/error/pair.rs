//! Double-double numbers: the unevaluated sum of two doubles, of which the second is at most half an ulp of the first.
//!
//! After Dekker, "A floating-point technique for extending the available precision" (1971), and Hida, Li and Bailey's library
//! (2000); products by fma. Each operation is good to a few units of 2^-104.

/// The sum of two doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) high: f64,
    pub(super) low: f64,
}

impl Pair {
    /// A pair whose second number is small beside the first.
    pub(super) const fn new(high: f64, low: f64) -> Pair {
        Pair { high, low }
    }

    /// 1/n, for an integer n.
    pub(super) const fn inverse(n: f64) -> Pair {
        // Without fma, since this is for constants: n has few bits, and so has the quotient's upper half.
        const UPPER: u64 = !((1 << 27) - 1);
        let high = 1.0 / n;
        let upper = f64::from_bits(high.to_bits() & UPPER);
        Pair { high, low: ((1.0 - upper * n) - (high - upper) * n) / n }
    }

    /// a + b, exactly (Knuth, TAOCP 2, 4.2.2, Theorem B).
    #[inline(always)]
    pub(super) fn sum(a: f64, b: f64) -> Pair {
        let high = a + b;
        let b_seen = high - a;
        Pair { high, low: (a - (high - b_seen)) + (b - b_seen) }
    }

    /// a · b, exactly.
    #[inline(always)]
    pub(super) fn product(a: f64, b: f64) -> Pair {
        let high = a * b;
        Pair { high, low: a.mul_add(b, -high) }
    }

    /// The sum of `high` and `low`, where `low` may not be small enough yet, but is smaller than `high`.
    #[inline(always)]
    pub(super) fn settled(high: f64, low: f64) -> Pair {
        let sum = high + low;
        Pair { high: sum, low: low - (sum - high) }
    }

    /// The sum with a number that is not larger than this one.
    #[inline(always)]
    pub(super) fn plus_less(self, other: Pair) -> Pair {
        let sum = Pair::settled(self.high, other.high);
        Pair::settled(sum.high, sum.low + (self.low + other.low))
    }

    /// The sum where terms may cancel: good to a few units of 2^-104 of the larger term.
    #[inline(always)]
    pub(super) fn plus(self, other: Pair) -> Pair {
        let sum = Pair::sum(self.high, other.high);
        Pair::settled(sum.high, sum.low + (self.low + other.low))
    }

    /// The difference as one double: where both are close, what is left of their first numbers is exact.
    #[inline(always)]
    pub(super) fn less(self, other: Pair) -> f64 {
        (self.high - other.high) + (self.low - other.low)
    }

    #[inline(always)]
    pub(super) fn negated(self) -> Pair {
        Pair { high: -self.high, low: -self.low }
    }

    #[inline(always)]
    pub(super) fn times(self, other: Pair) -> Pair {
        let product = Pair::product(self.high, other.high);
        let low = self.high.mul_add(other.low, self.low.mul_add(other.high, product.low));
        Pair::settled(product.high, low)
    }

    /// The pair · 2ⁿ, where no part of it leaves the format's range.
    #[inline(always)]
    pub(super) fn scaled(self, n: i32) -> Pair {
        let power = f64::from_bits(((1023 + i64::from(n)) as u64) << 52);
        Pair { high: self.high * power, low: self.low * power }
    }
}

impl From<f64> for Pair {
    #[inline(always)]
    fn from(x: f64) -> Pair {
        Pair { high: x, low: 0.0 }
    }
}
