//! Memory is bounded by live floats; the shadow can go to another thread.

use std::fs;

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::Slots;
use shadowgrind_shadows::mpfr::{MpfrShadow, Settings, Value};

/// One after the other: both ask how much memory the process has.
#[test]
fn memory_is_bounded() {
    live_floats_are_small();
    a_long_chain_does_not_grow();
}

fn is_send<T: Send>() {}
fn is_shared<T: Send + Sync>() {}

#[test]
fn state_may_move_between_threads() {
    is_send::<MpfrShadow>();
    is_shared::<Value>();
    is_send::<Slots<Value>>();
}

/// Resident memory of this process, in bytes.
fn resident() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux");
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("a number of pages") * 4096
}

/// x ← a x + b on floats and shadows.
fn turn(shadow: &mut MpfrShadow, x: f64, real: Option<&Value>) -> (f64, Option<Value>) {
    let (a, b) = (0.999_f64, 0.1_f64);
    let mut op = |site, op, x: [f64; 2], r: f64, real: Option<&Value>| {
        let x = x.map(|x| u128::from(x.to_bits()));
        let (site, from, to) = (Site::from_bits(site), Format::F64, Format::F64);
        shadow.op(&Lane { site, op, from, to, x: &x, r: r.to_bits().into(), shadows: &[real, None] })
    };
    let product = x * a;
    let real = op(1, Op::Mul, [x, a], product, real);
    (product + b, op(2, Op::Add, [product, b], product + b, real.as_ref()))
}

fn a_long_chain_does_not_grow() {
    let mut shadow = MpfrShadow::new(Settings::default());
    let mut slots = Slots::new();
    let (mut x, mut real) = (0.3, None);
    let mut early = 0;
    for step in 0..5_000_000 {
        (x, real) = turn(&mut shadow, x, real.as_ref());
        let handle = slots.insert(Format::F64, x.to_bits().into(), real.clone());
        if slots.wants_sweep() {
            slots.sweep([handle]);
        }
        if step == 1_000_000 {
            early = resident();
        }
    }
    let grown = resident().saturating_sub(early);
    assert!(grown < 8 << 20, "{grown} bytes in four million turns");
    assert!(shadow.measure(&seen(x, &real)).error_bits < 12.0);
}

fn seen(x: f64, real: &Option<Value>) -> shadowgrind_core::shadow::Observed<'_, Value> {
    shadowgrind_core::shadow::Observed {
        format: Format::F64,
        bits: x.to_bits().into(),
        shadow: real.as_ref(),
    }
}

/// A live inexact double costs few bytes: a million of them are weighed.
fn live_floats_are_small() {
    let mut shadow = MpfrShadow::new(Settings::default());
    let mut slots = Slots::new();
    let before = resident();
    let mut x = 0.3;
    let mut real = None;
    let count = 1_000_000;
    for _ in 0..count {
        (x, real) = turn(&mut shadow, x, real.as_ref());
        if let Some(real) = &real {
            slots.insert(Format::F64, x.to_bits().into(), real.clone());
        }
    }
    let each = (resident() - before) / count;
    assert_eq!(slots.live(), count);
    assert!(each < 215, "{each} bytes for each");
}
