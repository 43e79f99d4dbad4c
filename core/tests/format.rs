//! Formats against the processor: every conversion that x87 can make, on numbers of all kinds, and Rust's own casts.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use shadowgrind_core::format::{Format, Number};

/// Marsaglia's xorshift64*.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// Bits that are often all ones or all zeros from some place on: midpoints of rounding and their neighbours.
    fn pattern(&mut self) -> u64 {
        let (bits, place) = (self.bits(), self.below(64));
        match self.below(4) {
            0 => bits,
            1 => bits >> place << place,
            2 => bits | ((1 << place) - 1),
            _ => (bits >> place << place).wrapping_add(self.below(3)).wrapping_sub(1),
        }
    }
}

/// 80-bit floats that are interesting when narrowed: near the ends of the double's and the float's exponents, too.
fn f80_samples() -> Vec<u128> {
    let mut random = Random(1);
    let near = |random: &mut Random, place: u64| place - 70 + random.below(140);
    (0..60_000)
        .map(|_| {
            let exponent = match random.below(8) {
                0 => random.below(3),
                1 => 0x7fff - random.below(2),
                2 => near(&mut random, 0x3fff - 1074),
                3 => near(&mut random, 0x3fff + 1024),
                4 => near(&mut random, 0x3fff - 149),
                5 => near(&mut random, 0x3fff + 128),
                6 => near(&mut random, 0x3fff),
                _ => random.below(0x8000),
            };
            // One in sixteen without its integer bit: subnormal, or no number since the 80387.
            let integer = u64::from(random.below(16) > 0 && exponent > 0 || random.below(16) == 0) << 63;
            let significand = random.pattern() >> 1 | integer;
            u128::from(random.below(2) << 15 | exponent) << 64 | u128::from(significand)
        })
        .collect()
}

/// The processor's answers, a line each.
fn native(input: &str) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/f80.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("f80-{}", std::process::id()));
    let built =
        Command::new("cc").arg("-O1").arg("-o").arg(&program).arg(&source).status().expect("a C compiler");
    assert!(built.success(), "{} does not compile", source.display());
    let mut child =
        Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the helper runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).expect("the helper reads"));
    let output = child.wait_with_output().expect("the helper ends");
    writer.join().expect("all was written");
    std::fs::remove_file(&program).expect("the helper can be removed");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

fn is_nan(format: Format, bits: u128) -> bool {
    matches!(format.decode(bits), Number::Nan { .. })
}

/// An 80-bit encoding that the processor answers with its own NaN.
fn is_refused(bits: u128) -> bool {
    bits >> 64 & 0x7fff != 0 && bits >> 63 & 1 == 0
}

/// Every conversion out of or into 80 bits, in one run of the helper.
#[test]
fn conversions_are_the_processors() {
    let mut random = Random(2);
    let wide = f80_samples();
    let doubles: Vec<u64> = (0..20_000).map(|_| random.pattern() >> random.below(2)).collect();
    let singles: Vec<u32> = (0..20_000).map(|_| random.pattern() as u32 >> random.below(2)).collect();
    let mut input = String::new();
    for &bits in &wide {
        writeln!(input, "e {:x} {:x}", bits >> 64, bits as u64).expect("memory");
    }
    doubles.iter().for_each(|bits| writeln!(input, "d {bits:x}").expect("memory"));
    singles.iter().for_each(|bits| writeln!(input, "f {bits:x}").expect("memory"));
    let answers = native(&input);
    let (narrowed, widened) = answers.split_at(wide.len());

    for (&bits, answer) in wide.iter().zip(narrowed) {
        for (to, answer) in [Format::F64, Format::F32].into_iter().zip(answer.split(' ')) {
            let want = u128::from_str_radix(answer, 16).expect("hexadecimal");
            let got = Format::F80.convert(bits, to);
            let both_nan = is_refused(bits) && is_nan(to, want) && is_nan(to, got);
            assert!(got == want || both_nan, "{bits:020x}: {got:x}, not {want:x}");
        }
    }
    let inputs = doubles.iter().map(|&bits| (Format::F64, u128::from(bits)));
    let inputs = inputs.chain(singles.iter().map(|&bits| (Format::F32, u128::from(bits))));
    assert_eq!(widened.len(), doubles.len() + singles.len());
    for ((from, bits), answer) in inputs.zip(widened) {
        let want = u128::from_str_radix(answer, 16).expect("hexadecimal");
        assert_eq!(from.convert(bits, Format::F80), want, "{from:?} {bits:x}");
    }
}

#[test]
fn double_to_single_is_rusts_cast() {
    let mut random = Random(3);
    for _ in 0..200_000 {
        let x = f64::from_bits(random.pattern());
        // Around the float's range as often as anywhere.
        let x =
            if random.below(2) == 0 { f64::from_bits((x.to_bits() % (1 << 58)) | (0x3400 << 48)) } else { x };
        let want = u128::from((x as f32).to_bits());
        let got = Format::F32.from_f64(x);
        assert!(got == want || x.is_nan() && is_nan(Format::F32, got), "{x:e}: {got:x}, not {want:x}");
        assert!(x.is_nan() || Format::F32.to_f64(got) == f64::from(x as f32));
    }
}

#[test]
fn decoding_and_encoding_are_inverse() {
    let mut random = Random(4);
    for format in Format::ALL.into_iter().chain([Format::F16]) {
        for _ in 0..50_000 {
            let bits = match format {
                Format::F80 => f80_bits(&mut random),
                _ => u128::from(random.bits() >> (64 - format.width())),
            };
            // The quiet bit is the one thing that does not survive.
            let quiet = u128::from(is_nan(format, bits)) << (format.precision() - 2);
            assert_eq!(format.encode(format.decode(bits)), bits | quiet, "{format:?} {bits:x}");
        }
    }
}

/// Canonical 80-bit encodings.
fn f80_bits(random: &mut Random) -> u128 {
    let top = random.below(0x10000);
    let integer = u64::from(top & 0x7fff != 0) << 63;
    u128::from(top) << 64 | u128::from(random.bits() >> 1 | integer)
}

/// IEEE 754-2019, table 3.5: p = 11, emax = 15.
#[test]
fn halves_by_definition() {
    let two = |exponent: i32| 2f64.powi(exponent);
    for (bits, x) in [
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x7bff, 65504.0),
        (0x0001, two(-24)),
        (0x83ff, -(two(-14) - two(-24))),
        (0x0400, two(-14)),
        (0x3555, 1365.0 * two(-12)),
        (0x7c00, f64::INFINITY),
        (0x8000, -0.0),
    ] {
        assert_eq!(Format::F16.to_f64(bits).to_bits(), f64::to_bits(x), "{bits:x}");
        assert_eq!(Format::F16.from_f64(x), bits, "{x}");
    }
    // Ties to even, overflow from half a unit beyond the largest on, and ties at the other end.
    for (x, bits) in
        [(2049.0, 0x6800), (2051.0, 0x6802), (65519.0, 0x7bff), (65520.0, 0x7c00), (-1e9, 0xfc00)]
    {
        assert_eq!(Format::F16.from_f64(x), bits, "{x}");
    }
    for (x, bits) in [(two(-25), 0), (3.0 * two(-25), 2), (two(-25).next_up(), 1), (1e-300, 0)] {
        assert_eq!(Format::F16.from_f64(x), bits, "{x:e}");
    }
}

#[test]
fn odd_80_bit_encodings() {
    let decode = |top: u128, significand: u64| Format::F80.decode(top << 64 | u128::from(significand));
    let finite = |significand, exponent| Number::Finite { negative: false, significand, exponent };
    assert_eq!(decode(0, 1), finite(1, -16445));
    // A pseudo-denormal is the normal number with exponent field 1.
    assert_eq!(decode(0, 1 << 63), decode(1, 1 << 63));
    assert_eq!(Format::F80.ordinal(1 << 63), Format::F80.ordinal(1 << 64 | 1 << 63));
    assert_eq!(decode(1, 1 << 63), finite(1 << 63, -16445));
    assert!(matches!(decode(1, 1), Number::Nan { .. }), "an unnormal");
    assert!(matches!(decode(0x7fff, 0), Number::Nan { .. }), "a pseudo-infinity");
    assert!(matches!(decode(0x7fff, 1), Number::Nan { .. }), "a pseudo-NaN");
    assert_eq!(decode(0xffff, 1 << 63), Number::Infinite { negative: true });
    assert_eq!(Format::F80.bits_of(&[0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f, 7]), 0x3fff << 64 | 1 << 63);
}

#[test]
fn extreme_exponents_are_zero_or_infinite() {
    for format in Format::ALL.into_iter().chain([Format::F16]) {
        let finite = |exponent| Number::Finite { negative: true, significand: u64::MAX, exponent };
        assert_eq!(format.decode(format.encode(finite(i32::MAX))), Number::Infinite { negative: true });
        assert_eq!(format.ordinal(format.encode(finite(i32::MIN))), Some(0));
        assert!(format.is_negative(format.encode(finite(i32::MIN))));
    }
}

#[test]
fn ordinals_count_floats() {
    let ordinal = |x: f64| Format::F64.ordinal(x.to_bits().into());
    assert_eq!((ordinal(0.0), ordinal(-0.0)), (Some(0), Some(0)));
    assert_eq!((ordinal(5e-324), ordinal(-5e-324)), (Some(1), Some(-1)));
    assert_eq!(ordinal(f64::NAN), None);
    let mut random = Random(5);
    for _ in 0..10_000 {
        let x = f64::from_bits(random.bits());
        if x.is_finite() {
            assert_eq!(ordinal(x.next_up()).unwrap() - ordinal(x).unwrap(), 1);
        }
    }
    // One, and the floats next to it, across a power of two.
    let one = 0x3fff << 64 | 1 << 63;
    let below = 0x3ffe << 64 | u128::from(u64::MAX);
    assert_eq!(Format::F80.ordinal(one).unwrap() - Format::F80.ordinal(below).unwrap(), 1);
    assert_eq!(
        Format::F80.ordinal(1 << 64 | 1 << 63).unwrap() - Format::F80.ordinal((1 << 63) - 1).unwrap(),
        1
    );
}

#[test]
fn error_bits_by_definition() {
    let bits = |x: f32| u128::from(x.to_bits());
    let error = |x: f32, real: f32| Format::F32.error_bits(bits(x), bits(real));
    assert_eq!(error(1.0, 1.0), 0.0);
    assert_eq!(error(0.0, -0.0), 0.0);
    assert_eq!(error(1.0, 1.0 + f32::EPSILON), 1.0);
    assert_eq!(error(f32::from_bits(1), -f32::from_bits(2)), 2.0);
    assert_eq!(error(f32::NAN, 1.0), 32.0);
    assert_eq!(error(f32::NAN, f32::NAN), 0.0);
    assert_eq!(Format::F80.error_bits(0x7fff << 64, 0), 80.0);
    assert!((error(f32::MAX, f32::INFINITY) - 1.0).abs() < 1e-12);
}
