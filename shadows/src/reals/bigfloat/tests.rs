//! The arithmetic against MPFR's: the same results to the last bit.

use std::cmp::Ordering;

use rug::Float;
use rug::float::Round;
use rug::ops::{CompleteRound, NegAssign};
use shadowgrind_core::format::Format;

use super::super::convert;
use super::super::number::RealNumber;
use super::{BITS, Short};

/// A reproducible sequence (Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0.rotate_left(32)
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 8) % bound
    }

    /// A word with long runs of equal bits as often as not: those are what carries and ties are made of.
    fn word(&mut self) -> u64 {
        match self.below(5) {
            0 => 0,
            1 => u64::MAX,
            2 => u64::MAX << self.below(64),
            3 => 1 << self.below(64),
            _ => self.next(),
        }
    }

    fn real(&mut self, precision: u32) -> Float {
        let mut real = Float::new(320);
        let words = 1 + self.below(4);
        for _ in 0..words {
            real <<= 64;
            real += self.word();
        }
        let mut real = Float::with_val(precision, real);
        real <<= self.below(60) as i32 - 30 - if self.below(4) == 0 { self.below(300) as i32 } else { 64 };
        if self.below(2) == 0 {
            real.neg_assign();
        }
        real
    }
}

/// Asserts that two numbers are one, zeros by their sign too.
fn assert_same(got: Short, expected: &Float, what: &str) {
    let got = got.to_float();
    let same = got == *expected && got.is_sign_negative() == expected.is_sign_negative();
    assert!(same, "{what}: {got:?}, not {expected:?}");
}

#[test]
fn arithmetic_is_that_of_mpfr() {
    let mut numbers = Numbers(3);
    for round in 0..200_000 {
        let precision = if round % 2 == 0 { BITS } else { 64 + numbers.below(193) as u32 };
        let (a, b) = (numbers.real(precision), numbers.real(precision));
        let (x, y) = (Short::from_float(&a), Short::from_float(&b));
        let what = |op: &str| format!("{a:?} {op} {b:?} to {precision} bits");
        assert_same(Short::add(&x, &y, false, precision), &Float::with_val(precision, &a + &b), &what("+"));
        assert_same(Short::add(&x, &y, true, precision), &Float::with_val(precision, &a - &b), &what("-"));
        assert_same(Short::multiply(&x, &y, precision), &Float::with_val(precision, &a * &b), &what("*"));
        if !b.is_zero() {
            assert_same(Short::divide(&x, &y, precision), &Float::with_val(precision, &a / &b), &what("/"));
        }
        if !a.is_sign_negative() {
            assert_same(x.root(precision), &Float::with_val(precision, a.sqrt_ref()), &what("root"));
        }
        assert_same(x.rounded(64), &Float::with_val(64, &a), &what("rounded"));
        assert_eq!(x.compare(&y), a.partial_cmp(&b), "{}", what("?"));
    }
}

/// Sums of numbers that nearly or wholly cancel.
#[test]
fn differences_of_neighbours_are_those_of_mpfr() {
    let mut numbers = Numbers(5);
    for _ in 0..50_000 {
        let a = numbers.real(BITS);
        let mut b = a.clone();
        let Some(exponent) = a.get_exp() else { continue };
        b += Float::with_val(64, numbers.below(3) as i32 - 1) << (exponent - numbers.below(300) as i32);
        let (x, y) = (Short::from_float(&a), Short::from_float(&b));
        let expected = Float::with_val(BITS, &a - &b);
        assert_same(Short::add(&x, &y, true, BITS), &expected, "a difference");
    }
}

/// Products with a number added that may cancel them, or leave little of them.
#[test]
fn fused_operations_are_those_of_mpfr() {
    let mut numbers = Numbers(13);
    for round in 0..200_000 {
        let precision = if round % 2 == 0 { BITS } else { 64 + numbers.below(193) as u32 };
        let (a, b) = (numbers.real(precision), numbers.real(precision));
        let mut c = numbers.real(precision) << (numbers.below(1400) as i32 - 700);
        let product = Float::with_val(2 * BITS, &a * &b);
        if let (0, Some(exponent)) = (round % 3, product.get_exp()) {
            let beside =
                Float::with_val(64, numbers.below(3) as i32 - 1) << (exponent - numbers.below(300) as i32);
            c = Float::with_val(precision, beside - &product);
        }
        let minus = [numbers.below(2) == 1, numbers.below(2) == 1];
        let signed = |x: &Float, minus| if minus { -x.clone() } else { x.clone() };
        let (x, z) = (signed(&a, minus[0]), signed(&c, minus[1]));
        let sum = x.mul_add_ref(&b, &z);
        let (expected, order) = sum.complete_round(precision, Round::Nearest);
        let [a, b, c] = [a, b, c].map(|x| Short::from_float(&x));
        let (fused, is_exact) = Short::fused([&a, &b, &c], minus, precision);
        let what = format!("{a:?} * {b:?} + {c:?}, {minus:?} to {precision} bits");
        assert_same(fused, &expected, &what);
        assert_eq!(is_exact, order == Ordering::Equal, "{what}");
    }
}

/// Roots of squares and of their neighbours: what is left is nothing, or as little or as much as can be.
#[test]
fn roots_of_squares_are_those_of_mpfr() {
    let mut numbers = Numbers(11);
    for round in 0..50_000 {
        let bits = if round % 2 == 0 { BITS / 2 } else { 1 + numbers.below(BITS.into()) as u32 };
        let root = Float::with_val(bits, numbers.real(bits).abs());
        let mut square = Float::with_val(BITS, root.square_ref());
        let Some(exponent) = square.get_exp() else { continue };
        square += Float::with_val(64, numbers.below(3) as i32 - 1) << (exponent - numbers.below(300) as i32);
        if !square.is_sign_negative() {
            let expected = Float::with_val(BITS, square.sqrt_ref());
            assert_same(Short::from_float(&square).root(BITS), &expected, "a root");
        }
    }
}

#[test]
fn floats_come_and_go_as_with_mpfr() {
    let mut numbers = Numbers(7);
    let special = [0, 1, 1 << 63, 0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48, 0x000f_ffff_ffff_ffff];
    for round in 0..100_000 {
        for format in Format::ALL {
            let high = u128::from(numbers.word()) << 64;
            let bits = high | u128::from(*special.get(round).unwrap_or(&numbers.word()));
            let (short, float) = (Short::from_bits(format, bits), convert::from_bits(format, bits));
            assert!(short.to_float() == float || float.is_nan(), "{format:?} {bits:x}");
            assert_eq!(short.kind() == super::Kind::Nan, float.is_nan());
            let real = numbers.real(BITS) << (numbers.below(2400) as i32 - 1200);
            let short = Short::from_float(&real);
            assert_eq!(short.bits(format), convert::round(format, &real), "{format:?} {real:?}");
        }
    }
}

/// Errors of floats are MPFR's, too, where the real is too small to change them.
#[test]
fn errors_of_floats_beside_tiny_reals_are_those_of_mpfr() {
    let floats = [0.0, 5e-324, 1.5e-323, f64::MIN_POSITIVE, 1.0, 3e-310, f64::MAX];
    let significand = Short::from_bits(Format::F64, 1.75_f64.to_bits().into());
    for exponent in [-3, -1070, -1073, -1074, -1075, -1076, -1077, -1078, -1079, -5000, -1_000_000] {
        for (negate, x) in floats.iter().flat_map(|&x| [(false, x), (true, x), (false, -x), (true, -x)]) {
            let short = significand.scaled(exponent);
            let real = RealNumber::Short(if negate { short.negated() } else { short });
            let long = RealNumber::Long(real.float().into_owned());
            let error = |real: &RealNumber| real.taken_from(Format::F64, x.to_bits().into()).to_bits();
            assert_eq!(error(&real), error(&long), "{x:e} less 1.75 · 2^{exponent}");
        }
    }
}
