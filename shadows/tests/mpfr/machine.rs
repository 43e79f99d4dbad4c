//! A program without a processor: operations on floats that are performed natively, shadowed, and computed a second
//! time with 2600 bits by nothing but MPFR.

use std::cell::{Cell, RefCell};

use rug::Float;
use rug::float::Round;
use rug::ops::Pow;
use shadowgrind_core::findings::{Finding, FindingKind};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Observed, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_shadows::mpfr::{MpfrShadow, Settings, Value};
use shadowgrind_shadows::reals::convert::{from_bits, to_bits};
use shadowgrind_shadows::reals::measure::Measured;

/// Bits of the truth.
const TRUTH: u32 = 2600;

/// A float of the program.
#[derive(Clone)]
pub(crate) struct Tracked {
    pub(crate) format: Format,
    pub(crate) bits: u128,
    pub(crate) shadow: Option<Value>,
    pub(crate) truth: Float,
}

impl Tracked {
    /// The float as a number.
    pub(crate) fn float(&self) -> f64 {
        self.format.to_f64(self.bits)
    }

    pub(crate) fn seen(&self) -> Observed<'_, Value> {
        Observed { format: self.format, bits: self.bits, shadow: self.shadow.as_ref() }
    }

    /// Error bits against the truth, by the definition, spelt out for each format.
    pub(crate) fn true_error_bits(&self) -> f64 {
        let count = |a: i128, b: i128| (1.0 + a.abs_diff(b) as f64).log2();
        let number = |bits: u64, sign: u32| {
            let magnitude = i128::from(bits & !(1 << sign));
            if bits >> sign & 1 == 1 { -magnitude } else { magnitude }
        };
        match self.format {
            _ if self.float().is_nan() && self.truth.is_nan() => 0.0,
            Format::F32 => {
                let (x, r) = (f32::from_bits(self.bits as u32), self.truth.to_f32());
                if x.is_nan() != r.is_nan() {
                    return 32.0;
                }
                count(number(x.to_bits().into(), 31), number(r.to_bits().into(), 31))
            }
            Format::F64 => {
                let (x, r) = (f64::from_bits(self.bits as u64), self.truth.to_f64());
                if x.is_nan() != r.is_nan() {
                    return 64.0;
                }
                count(number(x.to_bits(), 63), number(r.to_bits(), 63))
            }
            Format::F16 => panic!("nothing is computed in halves"),
            Format::F80 => count(number80(&from_bits(Format::F80, self.bits)), number80(&self.truth)),
        }
    }
}

/// Number of 80-bit floats between zero and the one nearest to `x`, which is zero or normal: 2⁶³ in each binade
/// from 2⁻¹⁶³⁸² up, and as many below.
fn number80(x: &Float) -> i128 {
    let rounded = Float::with_val(64, x.abs_ref());
    let Some(exponent) = rounded.get_exp() else { return 0 };
    let binade = i128::from(exponent + 16382);
    let in_binade: Float = ((rounded >> exponent) - 0.5f64) << 64;
    let high = in_binade.to_f64_round(Round::Zero);
    let low = (in_binade - high).to_f64();
    let magnitude = (binade << 63) + high as i128 + low as i128;
    if x.is_sign_negative() { -magnitude } else { magnitude }
}

/// Runs operations.
pub(crate) struct Machine {
    pub(crate) shadow: RefCell<MpfrShadow>,
    pub(crate) outputs: Cell<u64>,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        Machine::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Machine {
        Machine { shadow: RefCell::new(MpfrShadow::new(settings)), outputs: Cell::new(0) }
    }

    pub(crate) fn lit(&self, format: Format, x: f64) -> Tracked {
        let bits = format.from_f64(x);
        Tracked { format, bits, shadow: None, truth: Float::with_val(TRUTH, from_bits(format, bits)) }
    }

    /// `op` at source line `line`, operands and result of one format.
    pub(crate) fn op(&self, line: u32, op: Op, x: &[&Tracked]) -> Tracked {
        let format = x[0].format;
        self.op_to(line, op, x, format)
    }

    pub(crate) fn op_to(&self, line: u32, op: Op, x: &[&Tracked], to: Format) -> Tracked {
        let from = x[0].format;
        let bits: Vec<u128> = x.iter().map(|x| x.bits).collect();
        let shadows: Vec<Option<&Value>> = x.iter().map(|x| x.shadow.as_ref()).collect();
        let r = native(op, from, to, &bits);
        let site = Site::from_bits(line);
        let lane = Lane { site, op, from, to, x: &bits, r, shadows: &shadows };
        let shadow = self.shadow.borrow_mut().op(&lane);
        let truths: Vec<&Float> = x.iter().map(|x| &x.truth).collect();
        Tracked { format: to, bits: r, shadow, truth: truth(TRUTH, op, &truths) }
    }

    /// The float `x` in a wider format.
    pub(crate) fn widen(&self, x: &Tracked, to: Format) -> Tracked {
        Tracked { format: to, bits: x.format.convert(x.bits, to), ..x.clone() }
    }
}

macro_rules! binary {
    ($($name:ident => $op:ident;)+) => { impl Machine { $(
        pub(crate) fn $name(&self, line: u32, a: &Tracked, b: &Tracked) -> Tracked {
            self.op(line, Op::$op, &[a, b])
        }
    )+ } };
}

binary! { add => Add; sub => Sub; mul => Mul; div => Div; }

impl Machine {
    pub(crate) fn sqrt(&self, line: u32, a: &Tracked) -> Tracked {
        self.op(line, Op::Sqrt, &[a])
    }
}

/// The float result as a processor and a libm give it.
fn native(op: Op, from: Format, to: Format, x: &[u128]) -> u128 {
    if from == Format::F64 && to == Format::F64 {
        let x: Vec<f64> = x.iter().map(|&bits| f64::from_bits(bits as u64)).collect();
        return u128::from(native64(op, &x).to_bits());
    }
    if from == Format::F32 && to == Format::F32 {
        let x: Vec<f32> = x.iter().map(|&bits| f32::from_bits(bits as u32)).collect();
        return u128::from(native32(op, &x).to_bits());
    }
    // 300 bits hold sums and products of moderate numbers exactly, and quotients well enough not to round twice.
    let x: Vec<Float> = x.iter().map(|&bits| from_bits(from, bits)).collect();
    to_bits(to, &truth(300, op, &x.iter().collect::<Vec<_>>()))
}

fn native64(op: Op, x: &[f64]) -> f64 {
    match op {
        Op::Add => x[0] + x[1],
        Op::Sub => x[0] - x[1],
        Op::Mul => x[0] * x[1],
        Op::Div => x[0] / x[1],
        Op::Sqrt => x[0].sqrt(),
        Op::Fmadd => x[0].mul_add(x[1], x[2]),
        Op::Neg => -x[0],
        Op::Abs => x[0].abs(),
        Op::Floor => x[0].floor(),
        Op::Max => x[if x[0] > x[1] { 0 } else { 1 }],
        Op::Min => x[if x[0] < x[1] { 0 } else { 1 }],
        Op::Exp => x[0].exp(),
        Op::Log => x[0].ln(),
        Op::Sin => x[0].sin(),
        Op::Cos => x[0].cos(),
        Op::Acos => x[0].acos(),
        Op::Tanh => x[0].tanh(),
        Op::Pow => x[0].powf(x[1]),
        _ => panic!("no native {op:?}"),
    }
}

fn native32(op: Op, x: &[f32]) -> f32 {
    match op {
        Op::Fmadd => x[0].mul_add(x[1], x[2]),
        // Innocuous double rounding: 53 ≥ 2 · 24 + 2.
        _ => native64(op, &x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>()) as f32,
    }
}

/// The real result, straight from MPFR.
fn truth(precision: u32, op: Op, x: &[&Float]) -> Float {
    let p = precision;
    match op {
        Op::Add => Float::with_val(p, x[0] + x[1]),
        Op::Sub => Float::with_val(p, x[0] - x[1]),
        Op::Mul => Float::with_val(p, x[0] * x[1]),
        Op::Div => Float::with_val(p, x[0] / x[1]),
        Op::Sqrt => Float::with_val(p, x[0].sqrt_ref()),
        Op::Fmadd => Float::with_val(p, x[0].mul_add_ref(x[1], x[2])),
        Op::Neg => Float::with_val(p, -x[0]),
        Op::Abs => Float::with_val(p, x[0].abs_ref()),
        Op::Floor => Float::with_val(p, x[0].floor_ref()),
        Op::Max => Float::with_val(p, x[0].max_ref(x[1])),
        Op::Min => Float::with_val(p, x[0].min_ref(x[1])),
        Op::Exp => Float::with_val(p, x[0].exp_ref()),
        Op::Log => Float::with_val(p, x[0].ln_ref()),
        Op::Sin => Float::with_val(p, x[0].sin_ref()),
        Op::Cos => Float::with_val(p, x[0].cos_ref()),
        Op::Acos => Float::with_val(p, x[0].acos_ref()),
        Op::Tanh => Float::with_val(p, x[0].tanh_ref()),
        Op::Pow => Float::with_val(p, x[0].pow(x[1])),
        Op::Narrow => Float::with_val(p, x[0]),
        _ => panic!("no truth for {op:?}"),
    }
}

/// Measures an output of the program against the truth: error bits agree, digits fit, decimals are the truth's.
pub(crate) fn check(machine: &Machine, x: &Tracked) -> Measured {
    let measured = machine.shadow.borrow().measure(&x.seen());
    let truth = x.true_error_bits();
    assert!((measured.error_bits - truth).abs() < 1e-6, "{} bits, in truth {truth}", measured.error_bits);
    let decimal = Float::parse(&measured.real).map(|parsed| Float::with_val(TRUTH, parsed));
    if x.truth.is_finite() && !x.truth.is_zero() {
        let decimal = decimal.expect("a decimal number");
        let relative = (Float::with_val(TRUTH, &decimal - &x.truth) / &x.truth).abs();
        assert!(relative < 1e-24, "{} is not {}", measured.real, x.truth.to_string_radix(10, Some(30)));
    }
    measured
}

impl Machine {
    /// Prints `x`, after checking what is measured.
    pub(crate) fn print(&self, x: &Tracked) -> Measured {
        check(self, x);
        let index = self.outputs.replace(self.outputs.get() + 1);
        self.shadow.borrow_mut().leaves(Some(index), &x.seen(), None).measured
    }

    /// The findings, what contributes most first: kind and line.
    pub(crate) fn ranked(&self) -> Vec<(FindingKind, u32)> {
        let mut findings = self.shadow.borrow_mut().findings();
        findings.sort_by(|a, b| b.contribution.total_cmp(&a.contribution));
        findings.iter().map(|finding| (finding.kind, finding.site.bits())).collect()
    }

    /// The finding at `line`.
    pub(crate) fn finding(&self, line: u32) -> Finding {
        let found =
            self.shadow.borrow_mut().findings().into_iter().find(|finding| finding.site.bits() == line);
        found.unwrap_or_else(|| panic!("nothing at {line}: {:?}", self.ranked()))
    }

    pub(crate) fn f64(&self, x: f64) -> Tracked {
        self.lit(Format::F64, x)
    }
}
