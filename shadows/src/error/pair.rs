//! Double-double numbers: the unevaluated sum of two doubles, of which the second is at most a few ulps of the first.
//!
//! After Dekker, "A floating-point technique for extending the available precision" (1971), and Hida, Li and Bailey's library
//! (2000); products by fma. Each operation is good to a few units of 2^-104. Results are not normalised, since the next operation would
//! have to wait for that: where first numbers cancel, the second may be as large as what is left.

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
        Pair::new(sum.high, sum.low + (self.low + other.low))
    }

    /// The sum where terms may cancel: good to a few units of 2^-104 of the larger term.
    #[inline(always)]
    pub(super) fn plus(self, other: Pair) -> Pair {
        let sum = Pair::sum(self.high, other.high);
        Pair::new(sum.high, sum.low + (self.low + other.low))
    }

    /// The sum with a double that is smaller than this one's first number, normalised.
    #[inline(always)]
    pub(super) fn plus_low(self, low: f64) -> Pair {
        Pair::settled(self.high, self.low + low)
    }

    /// self · a + b · c: good to a few units of 2^-104 of the larger product.
    #[inline(always)]
    pub(super) fn products(self, a: Pair, b: Pair, c: Pair) -> Pair {
        let (first, second) = (Pair::product(self.high, a.high), Pair::product(b.high, c.high));
        let sum = Pair::sum(first.high, second.high);
        let firsts = self.high.mul_add(a.low, self.low.mul_add(a.high, first.low));
        let seconds = b.high.mul_add(c.low, b.low.mul_add(c.high, second.low));
        Pair::new(sum.high, sum.low + (firsts + seconds))
    }

    /// 1 − this.
    #[inline(always)]
    pub(super) fn one_less(self) -> Pair {
        self.negated().plus_1()
    }

    /// The sum with 1.
    #[inline(always)]
    pub(super) fn plus_1(self) -> Pair {
        self.plus(Pair::from(1.0))
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

    /// Number of the same value with a second one of at most half an ulp, whatever it was.
    #[inline(always)]
    pub(super) fn normalised(self) -> Pair {
        Pair::sum(self.high, self.low)
    }

    /// The pair as one double.
    #[inline(always)]
    pub(super) fn rounded(self) -> f64 {
        self.high + self.low
    }

    /// The pair with its sign turned over if that is asked, without a branch.
    #[inline(always)]
    pub(super) fn negated_if(self, negative: bool) -> Pair {
        let sign = u64::from(negative) << 63;
        let turned = |x: f64| f64::from_bits(x.to_bits() ^ sign);
        Pair { high: turned(self.high), low: turned(self.low) }
    }

    /// The square root of a positive number: one step of Newton's method (Karp and Markstein, "High-precision division and square
    /// root", 1997).
    #[inline(always)]
    pub(super) fn sqrt(self) -> Pair {
        let root = self.high.sqrt();
        let rest = root.mul_add(-root, self.high) + self.low;
        Pair::settled(root, rest / (2.0 * root))
    }

    #[inline(always)]
    pub(super) fn times(self, other: Pair) -> Pair {
        let product = Pair::product(self.high, other.high);
        Pair::new(product.high, self.high.mul_add(other.low, self.low.mul_add(other.high, product.low)))
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
