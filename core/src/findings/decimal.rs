//! x87 80-bit floats in decimal, exactly rounded.
//!
//! Rust has no 80-bit float, and an `f64` in between would lose the digits that were asked for.

/// Significant digits that tell any two 80-bit floats apart: 1 + ⌈64 · log10 2⌉.
const DIGITS: usize = 21;

/// Limbs hold nine decimal digits.
const BASE: u64 = 1_000_000_000;

/// What the ten bytes of an 80-bit float say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// significand · 2^exponent.
    Finite { negative: bool, significand: u64, exponent: i32 },
    /// ±∞.
    Infinite { negative: bool },
    /// NaN, or an encoding the processor refuses since the 80387 (the integer bit missing where it must be set).
    Nan,
}

/// Takes an 80-bit float apart.
pub(crate) fn parts(bits: [u8; 10]) -> Parts {
    let significand = u64::from_le_bytes(std::array::from_fn(|i| bits[i]));
    let top = u16::from_le_bytes([bits[8], bits[9]]);
    let (negative, biased) = (top >> 15 == 1, i32::from(top & 0x7fff));
    match (biased, significand >> 63, significand << 1) {
        (0x7fff, 1, 0) => Parts::Infinite { negative },
        (0x7fff, ..) => Parts::Nan,
        (0, ..) => Parts::Finite { negative, significand, exponent: 1 - 16383 - 63 },
        (_, 0, _) => Parts::Nan,
        _ => Parts::Finite { negative, significand, exponent: biased - 16383 - 63 },
    }
}

/// `d.dddde±xx` with 21 digits, rounded to nearest even, as C's `%.20Le` writes it; or NaN, Infinity, -Infinity.
pub(crate) fn digits21(bits: [u8; 10]) -> String {
    let (negative, significand, exponent) = match parts(bits) {
        Parts::Finite { negative, significand, exponent } => (negative, significand, exponent),
        Parts::Infinite { negative } => return if negative { "-Infinity" } else { "Infinity" }.into(),
        Parts::Nan => return "NaN".into(),
    };
    let (digits, power) = if significand == 0 {
        (vec![b'0'; DIGITS], 0)
    } else {
        // m · 2^−k = m · 5^k · 10^−k: an integer either way.
        let mut number = Decimal::from(significand);
        number.multiply(if exponent < 0 { 5 } else { 2 }, exponent.unsigned_abs());
        number.round(exponent.min(0))
    };
    let text: String = digits.into_iter().map(char::from).collect();
    let sign = if negative { "-" } else { "" };
    format!("{sign}{}.{}e{}{:02}", &text[..1], &text[1..], if power < 0 { '-' } else { '+' }, power.abs())
}

/// A natural number in limbs of base 10⁹, least significant first.
struct Decimal(Vec<u64>);

impl Decimal {
    fn from(mut n: u64) -> Self {
        let mut limbs = Vec::new();
        while n > 0 {
            limbs.push(n % BASE);
            n /= BASE;
        }
        Decimal(limbs)
    }

    /// Multiplies by factor^times, as many factors at once as fit 32 bits.
    fn multiply(&mut self, factor: u64, times: u32) {
        let at_once = if factor == 5 { 13 } else { 29 };
        let mut left = times;
        while left > 0 {
            let now = left.min(at_once);
            self.multiply_small(factor.pow(now));
            left -= now;
        }
    }

    fn multiply_small(&mut self, factor: u64) {
        let mut carry = 0;
        for limb in &mut self.0 {
            let product = *limb * factor + carry;
            *limb = product % BASE;
            carry = product / BASE;
        }
        self.0.extend(Decimal::from(carry).0);
    }

    /// The leading 21 digits of self · 10^power, rounded, and the decimal exponent of the first.
    fn round(&self, power: i32) -> (Vec<u8>, i32) {
        let mut all: Vec<u8> =
            self.0.iter().rev().flat_map(|limb| format!("{limb:09}").into_bytes()).collect();
        let zeros = all.iter().take_while(|&&d| d == b'0').count();
        all.drain(..zeros);
        let mut first = all.len() as i32 - 1 + power;
        let rest = all.split_off(DIGITS.min(all.len()));
        all.resize(DIGITS, b'0');
        let odd = (all[DIGITS - 1] - b'0') % 2 == 1;
        let up = match rest.split_first() {
            Some((b'5', tail)) => odd || tail.iter().any(|&d| d != b'0'),
            Some((&d, _)) => d > b'5',
            None => false,
        };
        if up && increment(&mut all) {
            first += 1;
        }
        (all, first)
    }
}

/// Adds one in the last place; true when the number grew a digit and is now 100…0 with one power more.
fn increment(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return false;
        }
        *digit = b'0';
    }
    digits[0] = b'1';
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(sign_exponent: u16, significand: u64) -> String {
        let mut bits = [0; 10];
        bits[..8].copy_from_slice(&significand.to_le_bytes());
        bits[8..].copy_from_slice(&sign_exponent.to_le_bytes());
        digits21(bits)
    }

    /// Expected strings are glibc's `printf("%.20Le")` of the same bits.
    #[test]
    fn as_printf_writes_them() {
        assert_eq!(text(0x4000, 0xc90fdaa22168c235), "3.14159265358979323851e+00");
        assert_eq!(text(0x7ffe, u64::MAX), "1.18973149535723176502e+4932");
        assert_eq!(text(0x0001, 1 << 63), "3.36210314311209350626e-4932");
        assert_eq!(text(0x0000, 1), "3.64519953188247460253e-4951");
        assert_eq!(text(0x403e, u64::MAX), "1.84467440737095516150e+19");
        assert_eq!(text(0xc005, 0xfc00000000000000), "-1.26000000000000000000e+02");
        assert_eq!(text(0x0000, 0), "0.00000000000000000000e+00");
        assert_eq!(text(0x8000, 0), "-0.00000000000000000000e+00");
    }

    #[test]
    fn rounding_carries_through_nines() {
        // 1 − 2^−64: 0.99999999999999999994579…
        assert_eq!(text(0x3ffe, u64::MAX), "9.99999999999999999946e-01");
        // 10^22 − 2^10, the float below 10^22, has 22 digits: 9999999999999999998976.
        assert_eq!(text(0x4048, 0x878678326eac8fff), "9.99999999999999999898e+21");
        let mut nines = [b'9'; DIGITS];
        assert!(increment(&mut nines));
        assert_eq!(&nines[..2], b"10");
    }

    #[test]
    fn invalid_encodings_are_nan() {
        assert_eq!(text(0x3fff, 1), "NaN", "unnormal");
        assert_eq!(text(0x7fff, 0), "NaN", "pseudo-infinity");
        assert_eq!(text(0x0000, 1 << 63), "3.36210314311209350626e-4932", "a pseudo-denormal is a number");
    }
}
