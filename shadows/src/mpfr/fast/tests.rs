//! The fast path against its reference path, on chains of operations that no program has.

use std::fmt::Debug;

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Rule};
use shadowgrind_core::site::Site;

use crate::diagnosis::local_error::is_tiny;
use crate::diagnosis::number::Attributed;
use crate::ieee::{Double, Ieee, Single};
use crate::mpfr::{MpfrShadow, Settings, Value};

/// A float with its shadow by the fast path and by its reference path.
#[derive(Clone)]
struct Pair {
    x: f64,
    shadows: [Option<Value>; 2],
}

/// Both ways, side by side.
struct Paths([MpfrShadow; 2]);

impl Paths {
    fn new(precision: u32) -> Paths {
        let settings = |fast| Settings { precision, error_threshold: 2.0, fast, ..Settings::default() };
        Paths([true, false].map(|fast| MpfrShadow::new(settings(fast))))
    }

    fn op<F: Ieee>(&mut self, op: Op, operands: &[Pair]) -> Pair {
        let x: Vec<f64> = operands.iter().map(|pair| pair.x).collect();
        let r = match op {
            Op::Add => F::add(x[0], x[1]),
            Op::Sub => F::sub(x[0], x[1]),
            Op::Mul => F::mul(x[0], x[1]),
            Op::Div => F::div(x[0], x[1]),
            Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub => {
                let [a, c] = signs_of_terms(op).map(|minus| if minus { -1.0 } else { 1.0 });
                F::fma(a * x[0], x[1], c * x[2])
            }
            _ => F::sqrt(x[0]),
        };
        let bits: Vec<u128> = x.iter().map(|&x| F::bits(x).into()).collect();
        let site = Site::from_bits(operands.len() as u32 + 2 * op as u32);
        let shadows = [0, 1].map(|path| {
            let shadows: Vec<_> = operands.iter().map(|pair| pair.shadows[path].as_ref()).collect();
            let (from, to, r) = (F::FORMAT, F::FORMAT, F::bits(r).into());
            self.0[path].op(&Lane { site, op, from, to, x: &bits, r, shadows: &shadows })
        });
        Pair { x: r, shadows }
    }
}

/// Tells which terms of a fused operation are turned over.
fn signs_of_terms(op: Op) -> [bool; 2] {
    [matches!(op, Op::Fnmadd | Op::Fnmsub), matches!(op, Op::Fmsub | Op::Fnmsub)]
}

/// All that is known of a shadow, but for its number, which paths have by different arithmetic.
fn known(shadow: &Value) -> impl Debug + PartialEq + use<> {
    let roundings: Vec<_> = shadow.roundings.iter().collect();
    let (scale, terms) = (shadow.roundings.scale_code(), shadow.influences.terms());
    let amplifications: Vec<_> = shadow.amplifications.iter().collect();
    let nearest = f64::from_bits(shadow.rounded(Format::F64) as u64);
    // NaN has any sign.
    let nearest = Some(nearest.to_bits()).filter(|_| !nearest.is_nan());
    (nearest, shadow.error_bound, shadow.serial, roundings, amplifications, terms, scale)
}

/// Chains of operations whose errors grow, cancel and vanish, on floats of all sizes: near one, of many sizes, and near the ends of
/// the range. Exponents are `middle` and as far from that as `reaches` say. Counts those with a shadow, with an erroneous operation, with
/// absolute scales, and of floats that are zero or subnormal.
fn chains<F: Ieee>(operations: &[Op], middle: i32, reaches: [u64; 3], rounds: usize) -> [u32; 4] {
    let mut state = 7_u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let mut counts = [0; 4];
    for (round, precision) in [256, 128, 300, 64].into_iter().cycle().take(rounds).enumerate() {
        let mut paths = Paths::new(precision);
        let reach = reaches[round % 3];
        let fresh = |below: &mut dyn FnMut(u64) -> u64| {
            let exponent = middle + below(2 * reach) as i32 - reach as i32;
            // Two factors: powers of two are not computed below the normal ones.
            let power = 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2);
            let x = F::mul(1.0 + below(1 << 20) as f64 / 1048576.0, power);
            Pair { x: if below(2) == 0 { x } else { -x }, shadows: [None, None] }
        };
        let mut pool: Vec<Pair> = (0..12).map(|_| fresh(&mut below)).collect();
        for _ in 0..3000 {
            let [a, b, c, place] = [0, 1, 2, 3].map(|_| below(12) as usize);
            let op = operations[below(operations.len() as u64) as usize];
            let operands = [a, b, c].map(|n| pool[n].clone());
            let made = paths.op::<F>(op, &operands[..op.arity()]);
            let [fast, slow] = made.shadows.each_ref().map(|shadow| shadow.as_ref().map(known));
            assert_eq!(fast, slow, "{op:?} of {} and {}: {}", pool[a].x, pool[b].x, made.x);
            if let Some(shadow) = &made.shadows[0] {
                counts[0] += 1;
                counts[1] += u32::from(shadow.is_influenced());
                counts[2] += u32::from(shadow.roundings.scale_code() != 0);
                counts[3] += u32::from(is_tiny(F::FORMAT, made.x));
            }
            pool[place] = if made.x.is_finite() { made } else { fresh(&mut below) };
            if below(9) == 0 {
                pool[place] = fresh(&mut below);
            }
        }
    }
    counts
}

const COMMON: [Op; 6] = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Sqrt, Op::Sub];

#[test]
fn any_chain_of_doubles_is_that_of_the_reference_path() {
    let [shadowed, at_fault, odd, _] = chains::<Double>(&COMMON, 0, [1, 120, 1000], 400);
    assert!(shadowed > 500_000 && at_fault > 100_000 && odd > 5_000, "{shadowed} {at_fault} {odd}");
}

#[test]
fn any_chain_of_singles_is_that_of_the_reference_path() {
    let [shadowed, at_fault, odd, _] = chains::<Single>(&COMMON, 0, [1, 16, 120], 400);
    assert!(shadowed > 500_000 && at_fault > 100_000 && odd > 5_000, "{shadowed} {at_fault} {odd}");
}

#[test]
fn any_chain_of_fused_operations_is_that_of_the_reference_path() {
    let fused = [Op::Fmadd, Op::Fmsub, Op::Fnmadd, Op::Fnmsub, Op::Sub, Op::Div];
    for [shadowed, at_fault, odd, _] in
        [chains::<Double>(&fused, 0, [1, 120, 500], 100), chains::<Single>(&fused, 0, [1, 16, 60], 100)]
    {
        assert!(shadowed > 100_000 && at_fault > 10_000 && odd > 500, "{shadowed} {at_fault} {odd}");
    }
}

/// Products of these become subnormal and zero, and their reals go on from there.
#[test]
fn any_chain_of_values_that_die_out_is_that_of_the_reference_path() {
    let dying = [Op::Mul, Op::Add, Op::Mul, Op::Sub, Op::Div];
    for [shadowed, at_fault, odd, tiny] in [
        chains::<Double>(&dying, -450, [20, 100, 600], 60),
        chains::<Double>(&dying, -1020, [20, 54, 300], 30),
        chains::<Single>(&dying, -50, [10, 40, 90], 60),
        chains::<Single>(&dying, -130, [4, 19, 60], 30),
    ] {
        assert!(
            shadowed > 30_000 && at_fault > 15_000 && odd > 15_000 && tiny > 15_000,
            "{shadowed} {at_fault} {odd} {tiny}"
        );
    }
}
