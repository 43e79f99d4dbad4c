//! Conversions of shadows against Rust's own conversions, or for f16, which Rust has none for, the table's.

use super::super::super::vector::{Mem, Place};
use super::super::{Binding, Conversion, Rest, convert, mark_double};
use super::stage::{AFTER, BEFORE, OPERANDS, QUIET, STATUS, Stage, runs};
use super::{Format, lanes};
use shadowgrind_core::words::{WIDENED, WIDENED_DOUBLE, WIDENED_DOUBLE_BITS};

/// The lane converted as the processor does with all exceptions masked, rounding to nearest.
fn converted([from, to]: [Format; 2], bits: u64) -> u64 {
    match (from, to) {
        (Format::F64, _) => (f64::from_bits(bits) as f32).to_bits().into(),
        (_, Format::F64) => f64::from(f32::from_bits(bits as u32)).to_bits(),
        _ => from.convert(bits.into(), to) as u64,
    }
}

fn is_nan(format: Format, bits: u64) -> bool {
    format.to_f64(bits.into()).is_nan()
}

/// Runs one conversion on random lanes and compares.
fn check(stage: &mut Stage, binding: Binding, job: Conversion) {
    let (low, bytes) = if binding == Binding::Evex { (16, 64) } else { (0, 32) };
    let source = match job.shadow {
        Place::Reg(register) => BEFORE + 64 * u64::from(register),
        Place::Mem(_) => OPERANDS,
    };
    for start in (0..32).map(|n| BEFORE + 64 * n).chain([OPERANDS]) {
        for lane in 0..64 / job.from.bytes() {
            let bits = stage.random.lane(job.from).to_le_bytes();
            stage.write(start + (lane * job.from.bytes()) as u64, &bits[..job.from.bytes()]);
        }
    }
    stage.write(STATUS + 8, &((1u64 << job.count) - 1).to_le_bytes());
    let operand = stage.read::<64>(source);
    let before = stage.read::<64>(BEFORE + 64 * u64::from(job.to));
    let status = stage.run();
    assert!(binding == Binding::Vex || status == QUIET, "flags raised by {job:?}");
    let to = job.result;
    let after = stage.read::<64>(AFTER + 64 * u64::from(job.to));
    let count = usize::from(job.count);
    for (got, bits) in lanes(to, &after).zip(lanes(job.from, &operand)).take(count) {
        let mark = if job.mark.is_some() && bits != 0 { WIDENED } else { 0 };
        let want = converted([job.from, to], bits) | mark;
        assert!(
            got == want || is_nan(to, got) && is_nan(to, want),
            "{bits:x} gave {got:x}, not {want:x}: {job:?}"
        );
    }
    let rest = count * to.bytes()..bytes;
    let kept = if job.rest == Rest::Keep { before } else { [0; 64] };
    assert_eq!(after[rest.clone()], kept[rest], "beyond the lanes: {job:?}");
    for n in (low..low + 14).filter(|&n| n != job.to) {
        let [after, before] = [AFTER, BEFORE].map(|base| stage.read::<64>(base + 64 * u64::from(n)));
        assert_eq!(after[..bytes], before[..bytes], "register {n}: {job:?}");
    }
}

fn every_conversion(binding: Binding, counts: &[u8]) {
    if !runs(binding) {
        return;
    }
    let mut stage = Stage::new(3);
    let (own, temp) = if binding == Binding::Evex { (17, 30) } else { (7, 14) };
    let places = [Place::Reg(own), Place::Mem(Mem::rip(stage.at(OPERANDS)))];
    let pairs = [(Format::F32, Format::F64), (Format::F64, Format::F32)];
    let halves = [(Format::F16, Format::F32), (Format::F32, Format::F16)];
    let wide = pairs.into_iter().flat_map(|pair| counts.iter().map(move |&count| (pair, count)));
    let narrow = halves.into_iter().flat_map(|pair| [4, 8].map(move |count| (pair, count)));
    for ((from, result), count) in wide.chain(narrow) {
        let rests: &[Rest] =
            if halves.contains(&(from, result)) { &[Rest::Zero] } else { &[Rest::Zero, Rest::Keep] };
        for (rest, shadow) in rests.iter().flat_map(|&rest| places.map(|shadow| (rest, shadow))) {
            for (to, lanes) in [(own, None), (own, Some(7)), (own + 2, None), (own + 2, Some(7))] {
                let lanes = lanes.filter(|_| binding == Binding::Evex);
                let marks = [None, (result == Format::F64).then_some([15, 2])];
                for mark in marks {
                    let job =
                        Conversion { from, result, count, shadow, to, rest, temp, mask: 1, lanes, mark };
                    stage.assemble(binding, |asm| convert(asm, binding, &job, &stage.constants()));
                    for _ in 0..200 {
                        check(&mut stage, binding, job);
                    }
                }
            }
        }
    }
}

/// Marks shadows of every kind, none among them and one that is marked as an `f32`'s.
fn every_mark(binding: Binding) {
    if !runs(binding) {
        return;
    }
    let mut stage = Stage::new(5);
    let to = if binding == Binding::Evex { 17 } else { 7 };
    let constants = stage.constants();
    stage.assemble(binding, |asm| mark_double(asm, binding, to, [14, 2], constants));
    for n in 0..200 {
        let bits = match n {
            0 => 0,
            1 => f64::NAN.to_bits(),
            2 => 1.5f64.to_bits() | WIDENED,
            _ => stage.random.lane(Format::F64),
        };
        stage.write(BEFORE + 64 * u64::from(to), &bits.to_le_bytes());
        stage.run();
        let after = u64::from_le_bytes(stage.read::<8>(AFTER + 64 * u64::from(to)));
        let want = if bits == 0 { 0 } else { bits & !WIDENED_DOUBLE_BITS | WIDENED_DOUBLE };
        assert_eq!(after, want, "{bits:x}");
        assert!(bits & ((1 << 29) - 1) != WIDENED || after == bits, "what is an f32's stays so: {bits:x}");
    }
}

#[test]
fn evex_marks_are_where_shadows_are() {
    every_mark(Binding::Evex);
}

#[test]
fn vex_marks_are_where_shadows_are() {
    every_mark(Binding::Vex);
}

#[test]
fn evex_conversions_are_the_processors_and_quiet() {
    every_conversion(Binding::Evex, &[1, 2, 4, 8]);
}

#[test]
fn vex_conversions_are_the_processors() {
    every_conversion(Binding::Vex, &[1, 2, 4]);
}
