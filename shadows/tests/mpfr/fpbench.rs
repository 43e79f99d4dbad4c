//! Formulas of the kind that benchmark suites of floating-point tools are made of (FPTaylor's, Rosa's, Herbie's), and
//! loops: the error measured is the true one, sample by sample, in all formats.

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Rule};
use shadowgrind_core::site::Site;

use crate::formulas::Number;
use crate::machine::{Machine, Tracked};

/// Samples of each formula in each format.
const SAMPLES: u32 = 40;

/// A reproducible sequence in (0, 1): additive recurrence with the golden ratio.
struct Sequence(f64);

impl Sequence {
    fn within(&mut self, range: (f64, f64)) -> f64 {
        self.0 = (self.0 + 0.618_033_988_749_894_9).fract();
        range.0 + (range.1 - range.0) * self.0
    }
}

/// Evaluates `formula` on samples of `ranges`; printing compares what is measured with the truth.
fn measured<const N: usize>(
    ranges: [(f64, f64); N],
    formula: impl for<'m> Fn(&[Number<'m>; N]) -> Number<'m>,
) {
    for format in Format::ALL {
        let machine = Machine::new();
        let mut next = Sequence(0.1);
        for _ in 0..SAMPLES {
            let x = std::array::from_fn(|i| machine.number(format, next.within(ranges[i])));
            machine.print(&formula(&x).1);
        }
    }
}

#[test]
fn doppler_and_rigid_body() {
    measured([(-100.0, 100.0), (20.0, 20_000.0), (-30.0, 50.0)], |[u, v, t]| {
        let t1 = 331.4 + 0.6 * t;
        -t1.clone() * v / ((&t1 + u) * (&t1 + u))
    });
    measured([(-15.0, 15.0); 3], |[x, y, z]| 2.0 * x * y * z + 3.0 * z * z - y * x * y * z + 3.0 * z * z - y);
    measured([(-15.0, 15.0); 3], |[x, y, z]| -(x * y) - 2.0 * y * z - x - z);
}

#[test]
fn jet_engine_and_turbine() {
    measured([(-5.0, 5.0), (-20.0, 5.0)], |[x, y]| {
        let (t, d) = (3.0 * x * x + 2.0 * y - x, x * x + 1.0);
        let s = &t / &d;
        let s2 = (3.0 * x * x - 2.0 * y - x) / &d;
        x + (2.0 * x * &s * (&s - 3.0) + x * x * (4.0 * &s - 6.0)) * &d
            + 3.0 * x * x * &s
            + x * x * x
            + x
            + 3.0 * s2
    });
    measured([(-4.5, -0.3), (0.4, 0.9), (3.8, 7.8)], |[v, w, r]| {
        3.0 + 2.0 / (r * r) - 0.125 * (3.0 - 2.0 * v) * (w * w * r * r) / (1.0 - v) - 4.5
    });
}

#[test]
fn series_and_populations() {
    measured([(-1.5, 1.5)], |[x]| x - (x * x * x) / 6.0 + (x * x * x * x * x) / 120.0 - x.pow(7.0) / 5040.0);
    measured([(0.0, 1.0)], |[x]| {
        1.0 + 0.5 * x - 0.125 * x * x + 0.0625 * x * x * x - 0.0390625 * x * x * x * x
    });
    measured([(0.1, 0.3)], |[x]| (4.0 * x * x) / (1.0 + (x / 1.11) * (x / 1.11)));
    measured([(0.1, 0.5)], |[v]| {
        (35_000_000.0 + 0.401 * (1000.0 / v) * (1000.0 / v)) * (v - 1000.0 * 42.7e-6)
            - 1.380_650_3e-20 * 1000.0 * 300.0
    });
}

/// Formulas near points where cancellation matters.
#[test]
fn near_critical_points() {
    measured([(1e5, 1e15)], |[x]| (x + 1.0).sqrt() - x.sqrt());
    measured([(1e-9, 1e-3)], |[x]| (1.0 - x.cos()) / (x * x));
    measured([(1e-9, 1e-3)], |[x]| (x.exp() - 1.0) / x);
    measured([(1e-9, 1e-3)], |[x]| (1.0 - x).log() / (1.0 + x).log());
    measured([(1e3, 1e9), (1.0, 2.0)], |[x, eps]| (x + eps).sin() - x.sin());
    measured([(0.5, 1.0), (1e4, 1e8), (0.1, 3.0)], |[a, b, c]| {
        (-b.clone() + (b * b - 4.0 * a * c).sqrt()) / (2.0 * a)
    });
    measured([(100.0, 1e7)], |[n]| (n + 1.0).log() * (n + 1.0) - n * n.log() - 1.0);
}

/// Matrix exponential of a 2 × 2 matrix with a large norm by its series, one entry.
#[test]
fn an_exponential_by_its_series() {
    measured([(8.0, 20.0)], |[x]| {
        let (mut term, mut sum) = (x / x, x / x);
        for k in 1..90 {
            term = -term * x / f64::from(k);
            sum = sum + &term;
        }
        sum
    });
}

#[test]
fn loops() {
    // Euler's method on the pendulum.
    measured([(0.5, 2.0)], |[angle]| {
        let (mut t, mut w) = (angle.clone(), angle - angle.clone());
        for _ in 0..100 {
            let force = -9.80665 / 2.0 * t.sin();
            t = t + 0.01 * &w;
            w = w + 0.01 * force;
        }
        t
    });
    // A PID controller.
    measured([(-10.0, 10.0)], |[m]| {
        let (mut m, mut integral, mut before) = (m.clone(), m - m.clone(), m - m.clone());
        for _ in 0..100 {
            let error = 5.0 - &m;
            integral = integral + 0.69006 * 0.2 * &error;
            let control = 9.4514 * &error + &integral + 2.8454 / 0.2 * (&error - &before);
            before = error;
            m = &m + 0.01 * control;
        }
        m
    });
    // Newton's method for a root, with the stopping rule the program has.
    measured([(0.1, 100.0)], |[a]| {
        let mut x = a.clone();
        for _ in 0..12 {
            x = (&x + a / &x) * 0.5;
        }
        x
    });
}

/// Gram–Schmidt on columns of the Hilbert matrix: the last products should be zero.
#[test]
fn gram_schmidt_on_hilbert_columns() {
    for format in [Format::F32, Format::F64] {
        let machine = Machine::new();
        let n = 6;
        let one = machine.number(format, 1.0);
        let mut q: Vec<Vec<Number>> = Vec::new();
        for j in 0..n {
            let mut v: Vec<Number> = (0..n).map(|i| &one / f64::from(i + j + 1)).collect();
            for base in &q {
                let along = base.iter().zip(&v).fold(&one - 1.0, |sum, (a, b)| sum + a * b);
                v = v.iter().zip(base).map(|(v, base)| v - &along * base).collect();
            }
            let norm = v.iter().fold(&one - 1.0, |sum, x| sum + x * x).sqrt();
            q.push(v.iter().map(|x| x / &norm).collect());
        }
        for row in &q[n as usize - 1] {
            machine.print(&row.1);
        }
        assert!(!machine.ranked().is_empty());
    }
}

/// Complex quotient and square root as textbooks have them.
#[test]
fn complex_arithmetic() {
    measured([(0.5, 2.0), (0.5, 2.0), (1e-6, 1.0), (1.0, 1e6)], |[a, b, c, d]| {
        (a * c + b * d) / (c * c + d * d) - (b * c - a * d) / (c * c + d * d)
    });
    measured([(-1e8, -1e3), (1e-3, 1.0)], |[x, y]| ((x + (x * x + y * y).sqrt()) * 0.5).sqrt());
}

#[test]
fn magic_numbers_round_and_are_not_to_blame() {
    for (format, magic) in
        [(Format::F64, 6755399441055744.0), (Format::F64, 4503599627370496.0), (Format::F32, 12582912.0)]
    {
        let machine = Machine::new();
        for x in [0.3, 1.7, 100.2, 2.5] {
            let x = machine.number(format, x);
            let rounded = (&x + magic) - magic;
            assert!(rounded.1.shadow.is_none(), "{} is the integer it should be", rounded.1.float());
        }
        let third = machine.number(format, 1.0) / 3.0;
        assert!(((&third + magic) - magic).1.shadow.is_none());
    }
}

#[test]
fn roundings_of_rough_reciprocals_are_chosen() {
    const PLACES: f64 = 512.0;
    for (op, is_chosen) in [(Op::Rcp, true), (Op::Div, false)] {
        let machine = Machine::new();
        // The real is on the other side of a half.
        let (x, found) = (PLACES / 300.49, 300.51 / PLACES);
        let [one, x] = [1.0, x].map(|x| Format::F32.from_f64(x));
        let operands = if is_chosen { vec![x] } else { vec![one, x] };
        let r = Format::F32.from_f64(found);
        let lane = Lane {
            site: Site::from_bits(1),
            op,
            from: Format::F32,
            to: Format::F32,
            x: &operands,
            r,
            shadows: &[None; 2][..operands.len()],
        };
        let shadow = machine.shadow.borrow_mut().op(&lane);
        let rough = Tracked { bits: r, shadow, ..machine.lit(Format::F32, found) };
        let wide = machine.widen(&rough, Format::F64);
        let scaled = machine.mul(2, &wide, &machine.lit(Format::F64, PLACES));
        let magic = machine.lit(Format::F64, 6755399441055744.0);
        let rounded = |x: &Tracked| machine.sub(4, &machine.add(3, x, &magic), &magic);
        let place = rounded(&scaled);
        assert_eq!((place.float(), place.shadow.is_none()), (301.0, is_chosen));
        // Of three times as much nothing is known.
        let thrice = machine.mul(5, &wide, &machine.lit(Format::F64, 3.0 * PLACES));
        assert!(rounded(&thrice).shadow.is_some());
    }
}

#[test]
fn a_comparison_of_formats_shares_one_machine() {
    let machine = Machine::new();
    let x = machine.number(Format::F64, 1.0) / 3.0;
    let narrow = machine.op_to(5, Op::Narrow, &[&x.1], Format::F32);
    machine.print(&narrow);
    assert_eq!(machine.shadow.borrow().measure(&narrow.seen()).error_bits, 0.0);
}
