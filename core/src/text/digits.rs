//! A magnitude in digits, and its rounding to any number of them: to nearest, ties to even.
//!
//! Knows bases ten and sixteen, no signs and no notation.

use crate::format::{Format, Number};

/// Base of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Decimal.
    Ten,
    /// Hexadecimal.
    Sixteen,
}

impl Base {
    /// The number of different digits.
    pub fn radix(self) -> u8 {
        match self {
            Base::Ten => 10,
            Base::Sixteen => 16,
        }
    }
}

/// 0.d₁d₂d₃… · baseᵖᵒⁱⁿᵗ, cut off after the last digit. The first digit is not zero; zero has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digits {
    /// The base.
    pub base: Base,
    /// The digits' values, not their characters.
    pub digits: Vec<u8>,
    /// Position of the point: so many digits are before it.
    pub point: i64,
    /// Something that is not zero was cut off.
    pub more: bool,
}

impl Digits {
    /// Zero.
    pub fn zero(base: Base) -> Digits {
        Digits { base, digits: Vec::new(), point: 0, more: false }
    }

    /// Rounded to `count` digits, or, where that carries into a new one, to one more. Fewer than none are zero. No more
    /// than there are may be asked for, where `more` says that something was cut off.
    pub fn rounded(&self, count: i64) -> Digits {
        let (base, point) = (self.base, self.point);
        let Ok(count) = usize::try_from(count) else { return Digits::zero(base) };
        if self.digits.is_empty() {
            return Digits::zero(base);
        }
        if count >= self.digits.len() {
            let mut digits = self.digits.clone();
            digits.resize(count, 0);
            return Digits { base, digits, point, more: false };
        }
        let mut digits = self.digits[..count].to_vec();
        if !self.rounds_up(count) {
            let point = if count == 0 { 0 } else { point };
            return Digits { base, digits, point, more: false };
        }
        let carries = increment(&mut digits, base.radix());
        if carries {
            digits.insert(0, 1);
        }
        Digits { base, digits, point: point + i64::from(carries), more: false }
    }

    /// Tells whether what follows the first `count` digits is more than half of the last, or half and the last is odd.
    fn rounds_up(&self, count: usize) -> bool {
        let half = self.base.radix() / 2;
        let rest = &self.digits[count + 1..];
        let odd = count > 0 && self.digits[count - 1] % 2 == 1;
        match self.digits[count] {
            next if next == half => self.more || odd || rest.iter().any(|&digit| digit != 0),
            next => next > half,
        }
    }
}

/// Adds one to the last digit; true when that carries out of the first, and all are zero now.
fn increment(digits: &mut [u8], radix: u8) -> bool {
    for digit in digits.iter_mut().rev() {
        *digit += 1;
        if *digit < radix {
            return false;
        }
        *digit = 0;
    }
    true
}

/// Class of a number, as far as notation is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// No number.
    Nan,
    /// Infinite.
    Infinite,
    /// Zero.
    Zero,
    /// Any other.
    Finite,
}

/// A number that can be written down.
pub trait Expand {
    /// The class of the number.
    fn class(&self) -> Class;
    /// Tells whether its sign is set.
    fn is_negative(&self) -> bool;
    /// e where its magnitude is in [2^(e−1), 2^e), if it is [`Class::Finite`].
    fn exponent(&self) -> i64;
    /// 2^shift times its magnitude, if it is [`Class::Finite`]: all digits, or at least the first `most`.
    fn expand(&self, base: Base, shift: i64, most: usize) -> Digits;
    /// The bits of the float of `format` that is nearest to it.
    fn nearest(&self, format: Format) -> u128;
}

/// A float as a number to be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Float {
    /// The format.
    pub format: Format,
    /// The bits.
    pub bits: u128,
}

impl Float {
    fn parts(&self) -> (u64, i64) {
        match self.format.decode(self.bits) {
            Number::Finite { significand, exponent, .. } => (significand, exponent.into()),
            _ => (0, 0),
        }
    }
}

impl Expand for Float {
    fn class(&self) -> Class {
        match self.format.decode(self.bits) {
            Number::Nan { .. } => Class::Nan,
            Number::Infinite { .. } => Class::Infinite,
            Number::Finite { significand: 0, .. } => Class::Zero,
            Number::Finite { .. } => Class::Finite,
        }
    }

    fn is_negative(&self) -> bool {
        self.format.is_negative(self.bits)
    }

    fn exponent(&self) -> i64 {
        let (significand, exponent) = self.parts();
        exponent + 64 - i64::from(significand.leading_zeros())
    }

    fn expand(&self, base: Base, shift: i64, _most: usize) -> Digits {
        let (significand, exponent) = self.parts();
        match base {
            Base::Ten => decimal(significand, exponent + shift),
            Base::Sixteen => hexadecimal(significand, exponent + shift),
        }
    }

    fn nearest(&self, format: Format) -> u128 {
        self.format.convert(self.bits, format)
    }
}

fn hexadecimal(significand: u64, exponent: i64) -> Digits {
    let wide = u128::from(significand) << exponent.rem_euclid(4);
    let text: Vec<u8> = (0..32).rev().map(|i| (wide >> (4 * i) & 15) as u8).collect();
    trimmed(Base::Sixteen, text, 32 + exponent.div_euclid(4))
}

/// significand · 2^exponent in decimal, all of it.
fn decimal(significand: u64, exponent: i64) -> Digits {
    // m · 2^−k = m · 5^k · 10^−k: an integer either way.
    let mut number = Integer::from(significand);
    number.multiply(if exponent < 0 { 5 } else { 2 }, exponent.unsigned_abs());
    let digits = number.digits();
    let point = digits.len() as i64 + exponent.min(0);
    trimmed(Base::Ten, digits, point)
}

/// Without zeros before and after.
fn trimmed(base: Base, mut digits: Vec<u8>, point: i64) -> Digits {
    let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
    digits.drain(..zeros);
    while digits.last() == Some(&0) {
        digits.pop();
    }
    Digits { base, digits, point: point - zeros as i64, more: false }
}

/// Limbs hold nine decimal digits.
const LIMB: u64 = 1_000_000_000;

/// A natural number in limbs of base 10⁹, least significant first.
struct Integer(Vec<u64>);

impl Integer {
    fn from(mut n: u64) -> Self {
        let mut limbs = Vec::new();
        while n > 0 {
            limbs.push(n % LIMB);
            n /= LIMB;
        }
        Integer(limbs)
    }

    /// Multiplies by factor^times, as many factors at once as fit 32 bits.
    fn multiply(&mut self, factor: u64, times: u64) {
        let at_once = if factor == 5 { 13 } else { 29 };
        let mut left = times;
        while left > 0 {
            let now = left.min(at_once);
            self.multiply_small(factor.pow(now as u32));
            left -= now;
        }
    }

    fn multiply_small(&mut self, factor: u64) {
        let mut carry = 0;
        for limb in &mut self.0 {
            let product = *limb * factor + carry;
            *limb = product % LIMB;
            carry = product / LIMB;
        }
        self.0.extend(Integer::from(carry).0);
    }

    /// The digits, most significant first, some zeros before them.
    fn digits(&self) -> Vec<u8> {
        let mut digits = vec![0; 9 * self.0.len()];
        for (chunk, limb) in digits.chunks_mut(9).zip(self.0.iter().rev()) {
            let mut limb = *limb;
            for digit in chunk.iter_mut().rev() {
                *digit = (limb % 10) as u8;
                limb /= 10;
            }
        }
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(x: f64) -> Digits {
        Float { format: Format::F64, bits: x.to_bits().into() }.expand(Base::Ten, 0, 1)
    }

    fn text(digits: &Digits) -> (String, i64) {
        (digits.digits.iter().map(|&digit| char::from(b'0' + digit)).collect(), digits.point)
    }

    #[test]
    fn floats_are_written_out_in_full() {
        assert_eq!(text(&digits(0.125)), ("125".into(), 0));
        assert_eq!(text(&digits(1e22)), ("1".into(), 23));
        assert_eq!(text(&digits(0.1)).0, "1000000000000000055511151231257827021181583404541015625");
        let least = text(&digits(5e-324));
        assert_eq!((least.0.len(), least.1, &least.0[..9]), (751, -323, "494065645"));
    }

    #[test]
    fn rounding_is_to_nearest_even() {
        let rounded = |x: f64, count| text(&digits(x).rounded(count));
        assert_eq!(rounded(0.125, 2), ("12".into(), 0));
        assert_eq!(rounded(0.375, 2), ("38".into(), 0));
        assert_eq!(rounded(0.5, 0), (String::new(), 0));
        assert_eq!(rounded(0.75, 0), ("1".into(), 1));
        assert_eq!(rounded(0.999, 2), ("100".into(), 1));
        assert_eq!(rounded(3.0, 3), ("300".into(), 1));
        assert_eq!(rounded(3.0, -1), (String::new(), 0));
        let cut = Digits { more: true, ..digits(0.125) };
        assert_eq!(text(&cut.rounded(2)), ("13".into(), 0));
    }
}
