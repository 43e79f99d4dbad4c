//! Nanoseconds per shadowed operation: `cargo run --release --example mpfr_speed [BITS]`.

use std::fs;
use std::hint::black_box;

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Shadow};
use shadowgrind_core::site::Site;
use shadowgrind_shadows::mpfr::{MpfrShadow, Settings, Value};

const ROUNDS: u32 = 2_000_000;

/// A float and its shadow.
#[derive(Clone)]
struct Tracked(f64, Option<Value>);

/// Nanoseconds of processor time so far: other processes do not count.
fn now() -> f64 {
    let times = fs::read_to_string("/proc/self/schedstat").expect("Linux");
    times.split(' ').next().and_then(|time| time.parse().ok()).expect("a number of nanoseconds")
}

fn step(shadow: &mut MpfrShadow, site: u32, op: Op, a: &Tracked, b: &Tracked) -> Tracked {
    let r = match op {
        Op::Add => a.0 + b.0,
        Op::Sub => a.0 - b.0,
        Op::Mul => a.0 * b.0,
        _ => a.0 / b.0,
    };
    let x = [a.0, b.0].map(|x| u128::from(x.to_bits()));
    let shadows = [a.1.clone(), b.1.clone()];
    let (site, f64) = (Site::from_bits(site), Format::F64);
    let lane = Lane { site, op, from: f64, to: f64, x: &x, r: r.to_bits().into(), shadows: &shadows };
    Tracked(r, shadow.op(&lane))
}

fn main() {
    let precision = std::env::args().nth(1).map_or(256, |bits| bits.parse().expect("a number of bits"));
    for op in [Op::Add, Op::Mul, Op::Div] {
        let mut shadow = MpfrShadow::new(Settings { precision, ..Settings::default() });
        let third = step(&mut shadow, 1, Op::Div, &Tracked(1.0, None), &Tracked(3.0, None));
        let shadowed: Vec<Tracked> = (1..17)
            .map(|i| step(&mut shadow, 2, Op::Mul, &third, &Tracked(f64::from(i) * 0.3, None)))
            .collect();
        let plain = Tracked(1.37, None);
        for (name, other) in [("shadowed", None), ("plain", Some(&plain))] {
            let start = now();
            for round in 0..ROUNDS {
                let a = &shadowed[round as usize % 16];
                let b = other.unwrap_or(&shadowed[(round as usize * 7 + 3) % 16]);
                black_box(step(&mut shadow, 3, op, a, b));
            }
            let nanoseconds = (now() - start) / f64::from(ROUNDS);
            println!("{:5} shadowed with {name:9} {nanoseconds:6.0} ns", op.name());
        }
    }
    let mut shadow = MpfrShadow::new(Settings { precision, ..Settings::default() });
    let start = now();
    for round in 0..ROUNDS {
        black_box(step(&mut shadow, 1, Op::Add, &Tracked(f64::from(round), None), &Tracked(0.5, None)));
    }
    println!("exact, without shadows {:12.0} ns", (now() - start) / f64::from(ROUNDS));
}
