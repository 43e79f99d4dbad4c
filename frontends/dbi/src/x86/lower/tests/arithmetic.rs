//! Results, on the host, of each op of TABLE 1 that instructions have.

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

/// Closeness that an instruction's result must have.
enum Close {
    Equal,
    /// Relative.
    Within(f64),
}

/// Says so if `r` is not `op` of `x`: bit for bit where the host has the operation in that format, to some 40 bits
/// for x87, to 11 for estimates; to a unit in the last of 11 where the instruction says how to round to half precision, and to one of the
/// last place of a difference where it is `directed`.
pub(super) fn disagreement(
    op: Op,
    [from, to]: [Format; 2],
    x: &[u128],
    r: u128,
    is_directed: bool,
) -> Option<String> {
    let values: Vec<f64> = x.iter().map(|&bits| from.to_f64(bits)).collect();
    let (expected, close) = match (op, from) {
        (Op::Rcp | Op::Rsqrt, _) => (wide(op, &values), Close::Within(1.0 / 2048.0)),
        (Op::Narrow, _) if to == Format::F16 => (wide(op, &values), Close::Within(f64::exp2(-10.0))),
        (Op::Sub, Format::F32) if is_directed => (wide(op, &values), Close::Within(f32::EPSILON.into())),
        (Op::Sub, _) if is_directed => (wide(op, &values), Close::Within(f64::EPSILON)),
        (_, Format::F80) => (wide(op, &values), Close::Within(1e-12)),
        (_, Format::F32) => (f64::from(narrow(op, &values)), Close::Equal),
        _ => (wide(op, &values), Close::Equal),
    };
    let found = to.to_f64(r);
    let expected = if to == Format::F32 { f64::from(expected as f32) } else { expected };
    let agrees = match close {
        _ if expected.is_nan() => found.is_nan(),
        Close::Equal => expected == found,
        Close::Within(bound) => {
            expected == found || (expected - found).abs() <= bound * expected.abs().max(1e-300)
        }
    };
    (!agrees).then(|| format!("{op:?} {values:?} = {found:e}, not {expected:e}"))
}

fn narrow(op: Op, x: &[f64]) -> f32 {
    let v: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    match op {
        Op::Add => v[0] + v[1],
        Op::Sub => v[0] - v[1],
        Op::Mul => v[0] * v[1],
        Op::Div => v[0] / v[1],
        Op::Sqrt => v[0].sqrt(),
        Op::Fmadd => v[0].mul_add(v[1], v[2]),
        Op::Fmsub => v[0].mul_add(v[1], -v[2]),
        Op::Fnmadd => (-v[0]).mul_add(v[1], v[2]),
        Op::Fnmsub => (-v[0]).mul_add(v[1], -v[2]),
        // Selections and roundings to integers do not depend on the format.
        _ => wide(op, x) as f32,
    }
}

fn wide(op: Op, x: &[f64]) -> f64 {
    match op {
        Op::Add => x[0] + x[1],
        Op::Sub => x[0] - x[1],
        Op::Mul => x[0] * x[1],
        Op::Div => x[0] / x[1],
        Op::Sqrt => x[0].sqrt(),
        Op::Fmadd => x[0].mul_add(x[1], x[2]),
        Op::Fmsub => x[0].mul_add(x[1], -x[2]),
        Op::Fnmadd => (-x[0]).mul_add(x[1], x[2]),
        Op::Fnmsub => (-x[0]).mul_add(x[1], -x[2]),
        Op::Min => {
            if x[0] < x[1] {
                x[0]
            } else {
                x[1]
            }
        }
        Op::Max => {
            if x[0] > x[1] {
                x[0]
            } else {
                x[1]
            }
        }
        Op::Fmin => x[0].min(x[1]),
        Op::Fmax => x[0].max(x[1]),
        // Of numbers of different size.
        Op::Fminmag => [x[0], x[1]][usize::from(x[1].abs() < x[0].abs())],
        Op::Fmaxmag => [x[0], x[1]][usize::from(x[0].abs() < x[1].abs())],
        Op::CopySign => x[0].copysign(x[1]),
        Op::Abs => x[0].abs(),
        Op::Neg => -x[0],
        Op::RoundEven | Op::Rint => x[0].round_ties_even(),
        Op::Floor => x[0].floor(),
        Op::Ceil => x[0].ceil(),
        Op::Trunc => x[0].trunc(),
        Op::Rcp => 1.0 / x[0],
        Op::Rsqrt => 1.0 / x[0].sqrt(),
        // Of ordinary numbers.
        Op::Logb => (x[0].to_bits() >> 52 & 0x7ff) as f64 - 1023.0,
        Op::Narrow => x[0],
        Op::Sin => x[0].sin(),
        Op::Cos => x[0].cos(),
        Op::Tan => x[0].tan(),
        Op::Exp2m1 => (x[0] * std::f64::consts::LN_2).exp_m1(),
        Op::YLog2 => x[0] * x[1].log2(),
        Op::YLog2p1 => x[0] * x[1].ln_1p() * std::f64::consts::LOG2_E,
        Op::Atan2 => x[0].atan2(x[1]),
        Op::Ldexp => x[0] * x[1].trunc().exp2(),
        Op::Fmod => x[0] % x[1],
        Op::Remainder => x[0] - x[1] * (x[0] / x[1]).round_ties_even(),
        _ => panic!("no instruction has {op:?}"),
    }
}
