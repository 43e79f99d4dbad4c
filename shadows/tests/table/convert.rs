//! Reals to bits and back, for every format, against MPFR's own conversions and against the definition of rounding.

use rug::Float;
use rug::float::Special;
use shadowgrind_core::format::Format;
use shadowgrind_shadows::reals::convert::{from_bits, to_bits};

use crate::points::Random;

const BITS: u32 = 200;

/// Reals all over the range of `format` and beyond; many near its ends, many on or near the middle of two floats.
fn reals(format: Format) -> Vec<Float> {
    let mut random = Random::new(format as u64);
    let (low, high) = (format.least_exponent(), -format.least_exponent());
    (0..20_000)
        .map(|_| {
            let bits = [1, 24, 25, 53, 54, 64, 65, 130][random.below(8) as usize];
            let digits = Float::with_val(bits, random.unit());
            // On a midpoint, or just off it.
            let nudge = Float::with_val(BITS, random.below(3) as i32 - 1) >> (130 + random.below(60) as u32);
            let exponent = match random.below(3) {
                0 => low + random.below(70) as i32,
                1 => high - random.below(200) as i32,
                _ => (random.below(2 * high as u64) as i32) - high,
            };
            (Float::with_val(BITS, digits) * (nudge + 1u32)) << exponent
        })
        .collect()
}

#[test]
fn narrow_formats_are_rounded_as_mpfr_rounds_them() {
    for real in reals(Format::F64) {
        assert_eq!(to_bits(Format::F64, &real) as u64, real.to_f64().to_bits(), "{real}");
    }
    for real in reals(Format::F32) {
        assert_eq!(to_bits(Format::F32, &real) as u32, real.to_f32().to_bits(), "{real}");
    }
}

/// The largest finite float of `format`, and the least real that rounds to infinity.
fn limits(format: Format) -> (Float, Float) {
    let infinity =
        format.ordinal(to_bits(format, &Float::with_val(BITS, Special::Infinity))).expect("an ordinal");
    let largest = from_bits(format, bits_at(format, infinity - 1));
    let last_place =
        Float::with_val(BITS, 1) << (largest.get_exp().expect("finite") - format.precision() as i32);
    let limit = Float::with_val(BITS, &largest + last_place / 2u32);
    (largest, limit)
}

/// The float with this ordinal: the inverse of `Format::ordinal` by definition of the encodings.
fn bits_at(format: Format, ordinal: i128) -> u128 {
    let magnitude = ordinal.unsigned_abs();
    let sign = u128::from(ordinal < 0) << (format.width() - 1);
    match format {
        Format::F16 | Format::F32 | Format::F64 => sign | magnitude,
        Format::F80 => {
            let (exponent, fraction) = (magnitude >> 63, magnitude & ((1 << 63) - 1));
            sign | exponent << 64 | u128::from(exponent != 0) << 63 | fraction
        }
    }
}

#[test]
fn no_float_is_nearer() {
    for format in Format::ALL {
        let (_, limit) = limits(format);
        for real in reals(format) {
            let bits = to_bits(format, &real);
            let chosen = from_bits(format, bits);
            if chosen.is_infinite() {
                assert!(*real.as_abs() >= limit, "{real} in {format:?}");
                continue;
            }
            assert_eq!(chosen.is_sign_negative(), real.is_sign_negative());
            let distance = |x: &Float| Float::with_val(2 * BITS + 20_000, x - &real).abs();
            let here = distance(&chosen);
            let ordinal = format.ordinal(bits).expect("a number");
            for neighbour in [ordinal - 1, ordinal + 1] {
                let there = distance(&from_bits(format, bits_at(format, neighbour)));
                assert!(here < there || here == there && bits & 1 == 0, "{real} in {format:?}: {chosen}");
            }
        }
    }
}

#[test]
fn overflow_begins_half_an_ulp_beyond_the_largest() {
    for format in Format::ALL {
        let (largest, limit) = limits(format);
        let infinity = to_bits(format, &Float::with_val(BITS, Special::Infinity));
        let below = Float::with_val(BITS, &limit - (largest.clone() >> 100));
        assert_eq!(to_bits(format, &limit), infinity);
        assert_eq!(to_bits(format, &below), to_bits(format, &largest));
        assert_eq!(to_bits(format, &-limit), infinity | 1 << (format.width() - 1));
    }
}

#[test]
fn floats_survive_the_round_trip() {
    for format in Format::ALL {
        let mut random = Random::new(0);
        let infinity = to_bits(format, &Float::with_val(BITS, Special::Infinity));
        let count = format.ordinal(infinity).expect("an ordinal").unsigned_abs();
        for _ in 0..20_000 {
            let magnitude = (u128::from(random.bits()) << 64 | u128::from(random.bits())) % count;
            let bits =
                bits_at(format, magnitude as i128) | u128::from(random.below(2)) << (format.width() - 1);
            assert_eq!(to_bits(format, &from_bits(format, bits)), bits, "{format:?} {bits:x}");
        }
    }
}

#[test]
fn formats_convert_to_each_other_as_through_a_real() {
    for (from, to) in Format::ALL.into_iter().flat_map(|from| Format::ALL.map(|to| (from, to))) {
        for real in reals(from).iter().chain(&reals(to)) {
            let bits = to_bits(from, real);
            assert_eq!(
                from.convert(bits, to),
                to_bits(to, &from_bits(from, bits)),
                "{from:?} {bits:x} {to:?}"
            );
        }
    }
}
