//! `Host` against the processor's own arithmetic, and the guarded verbs against their definition.

use shadowgrind_core::arith::{Arith, Host};
use shadowgrind_core::format::Format;
use shadowgrind_core::functions::Functions;

fn single() -> Host {
    Host::new(Format::F32)
}

/// Floats of every size, subnormal, infinite and NaN ones included.
fn singles() -> impl Iterator<Item = [f32; 3]> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = (state >> 32) as u32;
        // Half of them close enough to each other for sums to be interesting.
        f32::from_bits(if bits & 1 == 0 { bits } else { bits & 0x81ff_ffff | 0x3e00_0000 })
    };
    (0..200_000).map(move |_| [next(), next(), next()])
}

fn same(got: f64, want: f32) -> bool {
    got.to_bits() == f64::from(want).to_bits() || got.is_nan() && want.is_nan()
}

#[test]
fn single_precision_is_the_processors() {
    let k = single();
    for [a, b, c] in singles() {
        let [x, y, z] = [a, b, c].map(f64::from);
        let results = [
            ("add", k.add(x, y), a + b),
            ("sub", k.sub(x, y), a - b),
            ("mul", k.mul(x, y), a * b),
            ("div", k.div(x, y), a / b),
            ("sqrt", k.sqrt(x), a.sqrt()),
            ("fma", k.fma(x, y, z), a.mul_add(b, c)),
            ("fnma", k.fnma(x, y, z), (-a).mul_add(b, c)),
            ("flip", k.flip(x, y), if b.is_sign_negative() { -a } else { a }),
        ];
        for (verb, got, want) in results {
            assert!(same(got, want), "{verb} {a:e} {b:e} {c:e}: {got:e}, not {want:e}");
        }
        assert_eq!((k.lt(x, y), k.eq(x, y)), (a < b, a == b));
    }
}

#[test]
fn constants_are_rounded_to_the_format() {
    assert_eq!(single().lit(0.1), f64::from(0.1f32));
    assert_eq!(Host::new(Format::F80).lit(0.1), 0.1);
}

#[test]
fn what_is_not_there_is_not_computed_with() {
    let k = Host::new(Format::F64);
    for p in [f64::INFINITY, f64::NAN, -1.0, -0.0, 0.0] {
        assert_eq!(k.scaled(p, 0.0).to_bits(), 0);
        assert_eq!(k.plus_scaled(-0.0, p, 0.0).to_bits(), (-0.0f64).to_bits());
        assert_eq!(k.minus_scaled(3.0, p, 0.0), 3.0);
        assert_eq!(k.over(0.0, p).to_bits(), 0);
        assert_eq!(k.signed(0.0, p).to_bits(), 0);
    }
    assert_eq!(k.opposite(0.0).to_bits(), 0);
    assert!(k.scaled(f64::NAN, 1.0).is_nan());
    assert!(k.plus_scaled(1.0, 0.0, f64::INFINITY).is_nan());
    assert_eq!(k.plus_scaled(1.0, 2.0, 3.0), 7.0);
    assert_eq!(k.minus_scaled(1.0, 2.0, 3.0), -5.0);
    assert_eq!(k.over(1.0, 0.0), f64::INFINITY);
    assert_eq!((k.opposite(2.0), k.signed(2.0, -0.0)), (-2.0, -2.0));
}

#[test]
fn negative_zero_is_there() {
    let k = Host::new(Format::F32);
    assert!(k.absent(0.0) && !k.absent(-0.0) && !k.absent(f64::from(f32::from_bits(1))));
    assert!(k.scaled(f64::INFINITY, -0.0).is_nan());
    assert!(k.plus_scaled(1.0, f64::INFINITY, -0.0).is_nan());
    assert!(k.minus_scaled(1.0, f64::NAN, -0.0).is_nan());
    assert!(k.over(-0.0, 0.0).is_nan());
    assert_eq!((k.opposite(-0.0).to_bits(), k.signed(-0.0, -1.0).to_bits()), (0, 0));
}

#[test]
fn functions_in_single_precision_round_once() {
    let k = single();
    for [a, _, _] in singles().take(2000) {
        let x = f64::from(a);
        assert!(same(k.exp(x), x.exp() as f32));
        assert!(same(k.sin(x), x.sin() as f32));
        assert!(same(k.hypot(x, 1.0), x.hypot(1.0) as f32));
    }
}

#[test]
fn powers_of_two_are_exact() {
    let k = Host::new(Format::F64);
    assert_eq!(k.ldexp(1.0, -1074.0), 5e-324);
    assert_eq!(k.ldexp(5e-324, 2097.0), 2f64.powi(1023));
    assert_eq!(k.ldexp(1.0, f64::NEG_INFINITY), 0.0);
    assert_eq!(k.ldexp(1.0, 1e300), f64::INFINITY);
}

/// MPFR at a precision where its own errors do not matter.
#[test]
fn digamma_to_full_precision() {
    let k = Host::new(Format::F64);
    let mut worst: f64 = 0.0;
    for i in 1..20_000 {
        let x = (f64::from(i) - 6_000.3) / 500.0;
        let want = rug::Float::with_val(200, x).digamma();
        let error = (rug::Float::with_val(200, k.digamma(x)) - &want).to_f64().abs();
        worst = worst.max(error / want.to_f64().abs().max(1.0));
    }
    assert!(worst <= 1e-15, "{worst:e}");
}
