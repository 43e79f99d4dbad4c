//! Tests of what bit patterns of floats mean, on floats picked by hand.

use super::*;

const FRACTION: u64 = 0x000f_ffff_ffff_ffff;

fn relation_by(by: Bitwise, x: f64, other: u64, y: f64) -> Option<(bool, i32)> {
    relation(by, Format::F64, x.to_bits().into(), other.into(), y.to_bits().into())
}

fn relation64(x: f64, y: f64) -> Option<(bool, i32)> {
    relation_by(Bitwise::Other, x, 0, y)
}

#[test]
fn signs_and_powers_of_two_are_recognised() {
    assert_eq!(relation64(1.75, 1.75), Some((false, 0)));
    assert_eq!(relation64(1.75, -1.75), Some((true, 0)));
    assert_eq!(relation64(1.75, 14.0), Some((false, 3)));
    assert_eq!(relation64(-1.75, 0.4375), Some((true, -2)));
    assert_eq!(relation64(1.0, -8.0), Some((true, 3)));
    assert_eq!(relation64(0.0, -0.0), Some((true, 0)));
    assert_eq!(relation64(f64::NEG_INFINITY, f64::INFINITY), Some((true, 0)));
}

#[test]
fn other_numbers_are_not() {
    assert_eq!(relation64(1.75, 1.5), None);
    assert_eq!(relation64(1.0, 0.0), None);
    assert_eq!(relation64(1.0, f64::INFINITY), None);
}

#[test]
fn a_significand_survives_being_cut_out_and_put_back() {
    for (x, k) in [(44.0_f64, 5), (4.0, 2), (-0.5, -1)] {
        let cut = f64::from_bits(x.to_bits() & FRACTION);
        let back = f64::from_bits(cut.to_bits() | 0x3ff0_0000_0000_0000);
        assert_eq!(relation_by(Bitwise::And, x, FRACTION, cut), Some((x < 0.0, -k)));
        assert_eq!(relation_by(Bitwise::Low, x, 52, cut), Some((x < 0.0, -k)));
        assert_eq!(relation64(cut, back), Some((false, 0)));
        assert_eq!(back, x.abs() * f64::from(-k).exp2());
    }
}

#[test]
fn a_significand_survives_an_exponent_of_ones() {
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    const CLEARED: u64 = 0x3fff_ffff_ffff_ffff;
    for (x, k) in [(44.0_f64, 5), (2.5, 1), (4.0, 2), (-10.0, 3)] {
        let set = f64::from_bits(x.to_bits() | ONE);
        let back = f64::from_bits(set.to_bits() & CLEARED);
        assert_eq!(relation_by(Bitwise::Other, x, ONE, set), Some((false, -k)));
        assert_eq!(relation_by(Bitwise::And, set, CLEARED, back), Some((x < 0.0, 0)));
        assert_eq!(back, x.abs() * f64::from(-k).exp2());
    }
}

#[test]
fn what_is_masked_away_is_no_significand() {
    assert_eq!(relation_by(Bitwise::And, 4.0, 0, 0.0), None);
    assert_eq!(relation_by(Bitwise::And, 4.0, FRACTION >> 1, 0.0), None);
    assert_eq!(relation_by(Bitwise::Low, 4.0, 32, 0.0), None);
}

#[test]
fn exclusive_disjunction_scales_nothing() {
    assert_eq!(relation_by(Bitwise::Xor, 1.75, 1 << 63, -1.75), Some((true, 0)));
    assert_eq!(relation_by(Bitwise::Xor, 1.75, 1.0_f64.to_bits() ^ 2.0_f64.to_bits(), 3.5), None);
}

#[test]
fn flips_turn_signs_and_set_exponents() {
    let flip = |x: f64, by: u64, is_float| {
        let before = x.to_bits();
        flip(Format::F64, before.into(), (before ^ by).into(), is_float)
    };
    assert_eq!(flip(1.75, 1 << 63 | 0x1234, false), Some((true, 0)));
    let cut = f64::from_bits((-12.5_f64).to_bits() & !(0x7ff << 52));
    assert_eq!(flip(cut, 0xc01 << 52, true), Some((true, 2)));
    // The complement will be turned over again.
    assert_eq!([flip(cut, 0xc01 << 52, false), flip(1.75, u64::MAX, true)], [None; 2]);
    // Digits that are turned off are those of another number.
    assert_eq!(flip(1.75, 0x4018 << 48, true), None);
}

#[test]
fn significands_are_given_exponents() {
    let given = |x: f64, by: u64| {
        let before = x.to_bits();
        given_exponent(Format::F64, before.into(), (before ^ by).into())
    };
    let cut = f64::from_bits((-12.5_f64).to_bits() & !(0x7ff << 52));
    assert_eq!(given(cut, 0xc01 << 52), Some((true, 2)));
    assert_eq!(given(0.0, 0x401 << 52), Some((false, 2)));
    assert_eq!(given(12.5, 0x402 << 52), Some((false, -3)));
    assert_eq!(given(12.5, 0x3 << 52), None);
    // The digits of another number: a hash.
    assert_eq!(given(cut, 0xc01 << 52 | 1), None);
}

#[test]
fn magic_numbers_round_what_is_small() {
    let magic = 1.5 * 2.0_f64.powi(52);
    assert!(rounds(Format::F64, magic, magic + 2.5));
    assert!(rounds(Format::F64, -magic, 2.5 - magic));
    assert!(rounds(Format::F64, 2.0_f64.powi(52), 2.0_f64.powi(52) + 7.0));
    assert!(rounds(Format::F32, 8388608.0, 8388610.0));
    assert!(rounds(Format::F80, 1.5 * 2.0_f64.powi(63), 1.5 * 2.0_f64.powi(63)));
    // What was added is large itself, or was taken off again.
    assert!(!rounds(Format::F64, magic, magic + magic));
    assert!(!rounds(Format::F64, -magic, 3.0));
    assert!(!rounds(Format::F64, 1e16, 1e16));
    assert!(!rounds(Format::F64, 8388608.0, 8388610.0));
}

/// By what is left when the number is taken off again: a multiple of its last place, as near as there is one.
#[test]
fn numbers_that_are_taken_off_round_to_fractions() {
    let rounds = |magic: f64, x: f64| {
        let bits = |x: f64| u128::from(x.to_bits());
        rounds_to_fractions(Format::F64, bits(magic), bits(magic + x))
    };
    for power in 44..=52 {
        let (magic, place) = (1.5 * f64::from(power).exp2(), f64::from(power - 52).exp2());
        for x in [0.3, -7.1, 1e6 / 3.0] {
            assert!(rounds(magic, x) && rounds(-magic, x), "{power}");
            assert_eq!(magic + x - magic, (x / place).round_ties_even() * place);
        }
        assert!(!rounds(magic, magic) && !rounds(magic, magic / 16.0) && !rounds(magic * 4.0 / 3.0, 0.3));
    }
    assert!(!rounds(1.5 * 43_f64.exp2(), 0.3) && !rounds(1.5 * 53_f64.exp2(), 0.3));
    for (power, bias) in [(45, 1023.0), (52, 1023.0), (45, -1023.0)] {
        let magic = 1.5 * f64::from(power).exp2() + bias;
        assert_eq!(rounds(magic, 0.3), bias > 0.0, "{power} {bias}");
    }
    assert!(!rounds(1.5 * 45_f64.exp2() + 1022.0, 0.3));
    // A bias above more places than a sum has fractions, and single digits, as vector libraries have them.
    for added in [2046.0, 0.125, 2.0] {
        assert!(rounds(1.5 * 49_f64.exp2() + added, 0.3), "{added}");
    }
    assert!(!rounds(1.5 * 49_f64.exp2() + 0.375, 0.3) && !rounds(1.5 * 49_f64.exp2() + 64.0, 0.3));
    let single = |x: f32| u128::from(x.to_bits());
    assert!(rounds_to_fractions(Format::F32, single(196735.0), single(196735.3)));
    assert!(rounds_to_fractions(Format::F32, single(786432.0), single(786432.3)));
    assert!(!rounds_to_fractions(Format::F32, single(24576.0), single(24576.3)));
}

#[test]
fn an_unchanged_pattern_keeps_any_shadow() {
    let nan = u128::from(f64::NAN.to_bits());
    let ones = u128::from(u64::MAX);
    for by in [Bitwise::And, Bitwise::Xor, Bitwise::Other, Bitwise::Sum] {
        assert_eq!(relation(by, Format::F64, nan, ones, nan), Some((false, 0)));
        assert_eq!(relation(by, Format::F64, 0, ones, 0), Some((false, 0)));
    }
    assert_eq!(relation_by(Bitwise::Product, 1.5, 1, 1.5), Some((false, 0)));
}

#[test]
fn a_pattern_that_is_the_same_by_chance_keeps_nothing() {
    for mask in [0, 1 << 63, FRACTION, 0x7ff0_0000_0000_0000] {
        assert_eq!(relation_by(Bitwise::And, 0.0, mask, 0.0), None, "{mask:x}");
    }
    assert_eq!(relation_by(Bitwise::And, 0.0, (1 << 63) - 1, 0.0), Some((false, 0)));
    assert_eq!(relation_by(Bitwise::And, 4.0, 0x7ff0_0000_0000_0000, 4.0), None);
    assert_eq!(relation_by(Bitwise::Product, 0.0, 3, 0.0), None);
    assert_eq!(relation_by(Bitwise::Product, 1.0, 2, f64::from_bits(1.0_f64.to_bits() << 1)), None);
    assert_eq!(relation_by(Bitwise::Low, 0.0, 32, 0.0), None);
    assert_eq!(relation_by(Bitwise::Low, 0.0, 64, 0.0), Some((false, 0)));
}

/// By difference quotients: a sum with a constant is linear as long as no exponent changes.
#[test]
fn sums_move_along_with_their_floats() {
    let sum = |x: f64, c: u64| f64::from_bits(x.to_bits().wrapping_add(c));
    let difference = |x: f64, c: u64| f64::from_bits(c.wrapping_sub(x.to_bits()));
    let slope = |f: &dyn Fn(f64) -> f64, x: f64| (f(x * (1.0 + 1e-6)) - f(x)) / (x * 1e-6);
    for x in [0.8_f64, -2.3, 1.0123] {
        for c in [1, 12345, (1 << 51) + 3, 3 << 52, 1 << 63, 0x7ff0_0000_0000_0000] {
            for (subtracted, made) in [(false, sum as fn(f64, u64) -> f64), (true, difference)] {
                let (before, after) = (x.to_bits().into(), made(x, c).to_bits().into());
                if !made(x, c).is_normal() {
                    continue;
                }
                let (turned, power) = moves_along(Format::F64, before, after, subtracted).unwrap();
                let expected = f64::exp2(power.into()) * if turned { -1.0 } else { 1.0 };
                let actual = slope(&|x| made(x, c), x);
                assert!((actual / expected - 1.0).abs() < 1e-3, "{x} {c:x} {actual} {expected}");
            }
        }
    }
}

#[test]
fn shifts_leave_digits_or_none() {
    for x in [0.3_f64, -1.7] {
        let bits = u128::from(x.to_bits());
        assert!(has_no_digits(Format::F64, [bits; 2], bits >> 52));
        assert!(has_no_digits(Format::F64, [bits; 2], ((x.to_bits() as i64) >> 63) as u64 as u128));
        assert!(!has_no_digits(Format::F64, [bits; 2], bits >> 1));
        assert!(has_no_digits(Format::F32, [bits >> 32; 2], bits >> 52));
    }
}

#[test]
fn the_upper_end_of_a_float_tells_of_its_exponent() {
    for (x, y) in [(0.75_f64, 6.0_f64), (-2.5, -0.625), (1.3, -1.3)] {
        let shadow = -0.3_f64;
        for bytes in [1, 2, 4] {
            let upper = |x: f64| (x.to_bits() >> (64 - 8 * bytes)) as u32;
            let change = exponent_change(bytes, upper(x), upper(y));
            if bytes == 1 && x.to_bits() >> 52 & 15 != y.to_bits() >> 52 & 15 {
                continue;
            }
            let end = with_exponent_change(bytes, upper(shadow), change.unwrap()).unwrap();
            assert_eq!(end, upper(shadow * (y / x)), "{x} {y} {bytes}");
        }
    }
    assert_eq!(exponent_change(4, 0x3ff8_0000, 0x3ff8_0001), None);
    assert_eq!(with_exponent_change(2, 0x0010, (false, -0x20)), None);
}

/// As fdlibm's successors have it: the carry of a sum goes into the exponent, and is taken off again.
#[test]
fn upper_halves_take_exponents_along() {
    const ONE: u32 = 0x3ff0_0000;
    const ROOT: u32 = 0x3fe6_a09e;
    let change = |by, before: u32, other: u32| {
        let after = match by {
            Bitwise::Sum => before.wrapping_add(other),
            Bitwise::And => before & other,
            _ => before | other,
        };
        (after, upper_half_change(by, before, other, after).expect("digits are kept, or move along").1)
    };
    for x in [0.7, 1.7, -3.25e-4, 1.0, 4e200, 1.1, 0.6] {
        let before = (f64::to_bits(x) >> 32) as u32;
        let (summed, first) = change(Bitwise::Sum, before, ONE - ROOT);
        let (cut, second) = change(Bitwise::And, summed, UPPER_DIGITS);
        let (made, third) = change(Bitwise::Sum, cut, ROOT);
        let scaled = f64::from_bits(u64::from(made) << 32 | x.to_bits() & 0xffff_ffff);
        let power = (scaled / x.abs()).log2() as i32;
        assert_eq!((first + second + third, scaled), (power << 20, x.abs() * f64::from(power).exp2()));
    }
    assert_eq!(upper_half_change(Bitwise::And, ONE | 7, 0xf_ff00, 0), None, "digits are cut off");
    assert_eq!(upper_half_change(Bitwise::Other, ONE, 5, ONE | 5), None, "digits are put in");
}

#[test]
fn masks_and_exponents_tell_upper_halves() {
    assert!(is_for_upper_half(Bitwise::And, 0x3ffb_3333, UPPER_DIGITS));
    assert!(is_for_upper_half(Bitwise::And, 0x0012_3456, 0x10_0000));
    assert!(is_for_upper_half(Bitwise::Other, 0x000b_3333, 0x3fe0_0000));
    assert!(is_for_upper_half(Bitwise::Sum, 0x000b_3333, 0x3fe6_a09e));
    // As logf has it.
    assert!(!is_for_upper_half(Bitwise::And, 0x3fd9_999a, 0x007f_ffff));
    assert!(!is_for_upper_half(Bitwise::Sum, 0x0009_999a, 0x3f35_04f3));
    assert!(!is_for_upper_half(Bitwise::Other, 0x0009_999a, 0x3f80_0000));
}
