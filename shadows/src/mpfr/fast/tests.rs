//! The fast path against its reference path, on chains of operations that no program has.

use std::fmt::Debug;

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Rule};
use shadowgrind_core::site::Site;

use crate::diagnosis::number::Attributed;
use crate::mpfr::{MpfrShadow, Settings, Value};

/// A double with its shadow by the fast path and by its reference path.
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

    fn op(&mut self, op: Op, operands: &[Pair]) -> Pair {
        let x: Vec<f64> = operands.iter().map(|pair| pair.x).collect();
        let r = match op {
            Op::Add => x[0] + x[1],
            Op::Sub => x[0] - x[1],
            Op::Mul => x[0] * x[1],
            Op::Div => x[0] / x[1],
            _ => x[0].sqrt(),
        };
        let bits: Vec<u128> = x.iter().map(|x| x.to_bits().into()).collect();
        let site = Site::from_bits(operands.len() as u32 + 2 * op as u32);
        let shadows = [0, 1].map(|path| {
            let shadows: Vec<_> = operands.iter().map(|pair| pair.shadows[path].as_ref()).collect();
            let (from, to, r) = (Format::F64, Format::F64, r.to_bits().into());
            self.0[path].op(&Lane { site, op, from, to, x: &bits, r, shadows: &shadows })
        });
        Pair { x: r, shadows }
    }
}

/// All that is known of a shadow, but for its number, which paths have by different arithmetic.
fn known(shadow: &Value) -> impl Debug + PartialEq + use<> {
    let roundings: Vec<_> = shadow.roundings.iter().collect();
    let (unit, parts) = (shadow.roundings.mark(), shadow.influences.parts());
    let amplifications: Vec<_> = shadow.amplifications.iter().collect();
    let nearest = f64::from_bits(shadow.rounded(Format::F64) as u64);
    // NaN has any sign.
    let nearest = Some(nearest.to_bits()).filter(|_| !nearest.is_nan());
    (nearest, shadow.error_bound, shadow.serial, roundings, amplifications, parts, unit)
}

/// Chains of operations whose errors grow, cancel and vanish, on floats of all sizes.
#[test]
fn any_chain_is_that_of_the_reference_path() {
    let mut state = 7_u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let (mut shadowed, mut at_fault, mut odd) = (0, 0, 0);
    for (round, precision) in [256, 128, 300, 64].into_iter().cycle().take(400).enumerate() {
        let mut paths = Paths::new(precision);
        // All near one; of all sizes; near the ends of the range.
        let reach = [1, 120, 1000][round % 3];
        let fresh = |below: &mut dyn FnMut(u64) -> u64| {
            let exponent = below(2 * reach) as i32 - reach as i32;
            let x = (1.0 + below(1 << 20) as f64 / 1e6) * 2f64.powi(exponent);
            Pair { x: if below(2) == 0 { x } else { -x }, shadows: [None, None] }
        };
        let mut pool: Vec<Pair> = (0..12).map(|_| fresh(&mut below)).collect();
        for _ in 0..3000 {
            let [a, b, place] = [0, 1, 2].map(|_| below(12) as usize);
            let op = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Sqrt, Op::Sub][below(6) as usize];
            let made = if op == Op::Sqrt {
                paths.op(op, &[pool[a].clone()])
            } else {
                paths.op(op, &[pool[a].clone(), pool[b].clone()])
            };
            let [fast, slow] = made.shadows.each_ref().map(|shadow| shadow.as_ref().map(known));
            assert_eq!(fast, slow, "{op:?} of {} and {}: {}", pool[a].x, pool[b].x, made.x);
            if let Some(shadow) = &made.shadows[0] {
                shadowed += 1;
                at_fault += u32::from(shadow.is_influenced());
                odd += u32::from(shadow.roundings.mark() != 0);
            }
            pool[place] = if made.x.is_finite() { made } else { fresh(&mut below) };
            if below(9) == 0 {
                pool[place] = fresh(&mut below);
            }
        }
    }
    assert!(shadowed > 500_000 && at_fault > 100_000 && odd > 5_000, "{shadowed} {at_fault} {odd}");
}
