//! Nanoseconds per shadowed operation: `cargo run --release --example mpfr_speed [BITS [ROUNDS]]`.

use std::fs;
use std::hint::black_box;

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::Slots;
use shadowgrind_shadows::mpfr::{MpfrShadow, Settings, Value};

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
    let shadows = [a.1.as_ref(), b.1.as_ref()];
    let (site, f64) = (Site::from_bits(site), Format::F64);
    let lane = Lane { site, op, from: f64, to: f64, x: &x, r: r.to_bits().into(), shadows: &shadows };
    Tracked(r, shadow.op(&lane))
}

/// A program: floats with handles, and what those stand for.
struct Program {
    shadow: MpfrShadow,
    slots: Slots<Value>,
    fresh: [u64; AHEAD],
    operations: u32,
}

/// Number of handles handed out before they are needed.
const AHEAD: usize = 256;

/// A float and its handle.
#[derive(Clone, Copy, Default)]
struct WithHandle(f64, u64);

impl Program {
    fn step(&mut self, site: u32, op: Op, a: WithHandle, b: WithHandle) -> WithHandle {
        let r = match op {
            Op::Add => a.0 + b.0,
            Op::Sub => a.0 - b.0,
            Op::Mul => a.0 * b.0,
            _ => a.0 / b.0,
        };
        let (site, f64) = (Site::from_bits(site), Format::F64);
        let x = [a.0, b.0].map(|x| u128::from(x.to_bits()));
        let shadows = [self.slots.get(a.1, f64, x[0]), self.slots.get(b.1, f64, x[1])];
        let handle = self.fresh[self.operations as usize % AHEAD];
        let lane = Lane { site, op, from: f64, to: f64, x: &x, r: r.to_bits().into(), shadows: &shadows };
        let made = self.shadow.op(&lane);
        self.slots.assign(handle, f64, r.to_bits().into(), made);
        self.fresh[self.operations as usize % AHEAD] = self.slots.reserve();
        self.operations += 1;
        WithHandle(r, handle)
    }

    /// Orthogonalises the columns of a matrix, as `tests/guests/bench/gram_schmidt.c` does.
    fn gram_schmidt(&mut self, a: &mut [[WithHandle; SIZE]; SIZE]) {
        for k in 0..SIZE {
            for j in 0..k {
                let mut dot = WithHandle::default();
                let (done, rest) = a.split_at_mut(k);
                for (&x, &y) in done[j].iter().zip(&rest[0]) {
                    let product = self.step(4, Op::Mul, x, y);
                    dot = self.step(5, Op::Add, dot, product);
                }
                for (&x, y) in done[j].iter().zip(&mut rest[0]) {
                    let product = self.step(6, Op::Mul, dot, x);
                    *y = self.step(7, Op::Sub, *y, product);
                }
            }
            let mut norm = WithHandle::default();
            for &x in &a[k] {
                let product = self.step(8, Op::Mul, x, x);
                norm = self.step(9, Op::Add, norm, product);
            }
            for x in &mut a[k] {
                *x = self.step(10, Op::Div, *x, norm);
            }
            if self.slots.wants_sweep() {
                self.slots.sweep(a.iter().flatten().map(|x| x.1));
            }
        }
    }
}

/// Rows and columns.
const SIZE: usize = 60;

fn program(settings: Settings) -> f64 {
    let (shadow, mut slots) = (MpfrShadow::new(settings), Slots::new());
    let fresh = std::array::from_fn(|_| slots.reserve());
    let mut program = Program { shadow, slots, fresh, operations: 0 };
    let start = now();
    for round in 0..4 {
        let mut a: Box<[[WithHandle; SIZE]; SIZE]> = Box::new([[WithHandle::default(); SIZE]; SIZE]);
        let mut x = 12345_u32 + round;
        for value in a.iter_mut().flatten() {
            x = x.wrapping_mul(1103515245).wrapping_add(12345);
            *value = WithHandle(f64::from(x >> 8) / 1e7 - 0.5, 0);
        }
        program.gram_schmidt(&mut a);
    }
    (now() - start) / f64::from(program.operations)
}

fn main() {
    let rounds: u32 = std::env::args().nth(2).map_or(2_000_000, |rounds| rounds.parse().expect("a number"));
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
            for round in 0..rounds {
                let a = &shadowed[round as usize % 16];
                let b = other.unwrap_or(&shadowed[(round as usize * 7 + 3) % 16]);
                black_box(step(&mut shadow, 3, op, a, b));
            }
            let nanoseconds = (now() - start) / f64::from(rounds);
            println!("{:5} shadowed with {name:9} {nanoseconds:6.0} ns", op.name());
        }
    }
    println!("Gram-Schmidt {:23.0} ns", program(Settings { precision, ..Settings::default() }));
    let mut shadow = MpfrShadow::new(Settings { precision, ..Settings::default() });
    let start = now();
    for round in 0..rounds {
        black_box(step(&mut shadow, 1, Op::Add, &Tracked(f64::from(round), None), &Tracked(0.5, None)));
    }
    println!("exact, without shadows {:12.0} ns", (now() - start) / f64::from(rounds));
}
