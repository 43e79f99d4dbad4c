//! Random operands for every op, and how a derivative is compared.

use rug::Float;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_shadows::reals::convert::{from_bits, to_bits};
use shadowgrind_shadows::reals::mpfr::Mpfr;

/// Marsaglia's xorshift64*: the tests meet the same points on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(0x9e37_79b9_7f4a_7c15 ^ (seed + 1))
    }

    /// For the points of a row: the others' are what they are whether it is there or not.
    pub(crate) fn of(op: Op) -> Self {
        Random::new(op.name().bytes().fold(0, |seed, byte| seed.rotate_left(7) ^ u64::from(byte)))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// Uniform in (−1, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Of any size up to 2^±exponent.
    pub(crate) fn wide(&mut self, exponent: f64) -> f64 {
        self.unit().signum() * (exponent * self.unit()).exp2()
    }
}

/// Operands of `op` as floats of `format` (80-bit ones as `f64`): of all sizes, near 1, near each other, whole numbers.
pub(crate) fn operands(random: &mut Random, op: Op, format: Format) -> Vec<f64> {
    let mut x: Vec<f64> = op.operands().iter().map(|operand| one(random, operand.integer)).collect();
    if x.len() > 1 && !op.operands()[1].integer && random.below(8) == 0 {
        x[1] = x[0] * (1.0 + random.unit() / (1u64 << random.below(40)) as f64);
    }
    x.iter().map(|&x| nearest(format, &Float::with_val(53, x))).collect()
}

fn one(random: &mut Random, integer: bool) -> f64 {
    let unit = random.unit();
    if integer {
        return (unit * 20.0).round();
    }
    match random.below(8) {
        0 | 1 => unit,
        2 | 3 => 10.0 * unit,
        4 => 300.0 * unit,
        5 => (10.0 * unit).round(),
        6 => 1.0 + unit / (1u64 << random.below(50)) as f64,
        _ => random.wide(60.0),
    }
}

/// The float of `format` nearest to `real`, as `f64`.
pub(crate) fn nearest(format: Format, real: &Float) -> f64 {
    from_bits(format, to_bits(format, real)).to_f64()
}

/// The real function at reals.
pub(crate) fn real(op: Op, precision: u32, x: &[Float]) -> Float {
    op.real(&Mpfr::new(precision), &x.iter().collect::<Vec<_>>())
}

/// Exactly these floats.
pub(crate) fn exact(precision: u32, x: &[f64]) -> Vec<Float> {
    x.iter().map(|&x| Float::with_val(precision, x)).collect()
}

/// Below this size the derivative of `op` is near one of its zeros and relative accuracy means nothing: there an error
/// relative to the function's own scale is asked for. 0 for functions whose derivatives are no harder near zeros.
pub(crate) fn scale(op: Op, x: &[f64], r: f64) -> f64 {
    let wave = |n: f64, x: f64| if x.abs() > n.abs() { (x.abs() * 1.57).sqrt().recip() } else { 0.0 };
    match op {
        Op::Lgamma => 1.0,
        Op::Tgamma => r.abs(),
        Op::J0 | Op::Y0 => wave(0.0, x[0]),
        Op::J1 | Op::Y1 => wave(1.0, x[0]),
        Op::Jn | Op::Yn => wave(x[0], x[1]),
        _ => 0.0,
    }
}

/// The error of `got` relative to `want` or, if that is larger, to `scale`.
pub(crate) fn relative_error(got: f64, want: &Float, scale: f64) -> f64 {
    if got == want.to_f64() {
        return 0.0;
    }
    let error = Float::with_val(want.prec(), got - want).abs();
    (error / want.to_f64().abs().max(scale)).to_f64()
}
